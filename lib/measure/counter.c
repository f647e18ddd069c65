/* SPDX-License-Identifier: MIT
 *
 * Why a rung of the ladder has no counter, in words.
 */
#include "measure/counter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "isa/isa.h"

static const char *explain_own(int error)
{
	switch ((enum counter_error)error) {
	case COUNTER_NO_PAGE:
		return "the counter's page cannot be mapped; raise kernel.perf_event_mlock_kb";
	case COUNTER_NOT_READABLE: /* with the set's own advice */
		return "counters may not be read in user mode; ";
	case COUNTER_OFF:
		return "the event is on no counter; another program has taken them all, or the "
		       "CPU is of another kind";
	case COUNTER_WIDTH:
		return "the kernel says nothing sensible about the counter's width";
	case COUNTER_UNSTEADY:
		return "the counter's page never stops changing";
	case COUNTER_EMPTY:
		return "a pinned event was refused a counter; another program has taken them all";
	case COUNTER_SHARED:
		return "events take turns on the counter; end other programs that count";
	case COUNTER_STILL:
		return "the counter opens but stands still, as in a virtual machine without a PMU";
	case COUNTER_FAULTS:
		return "the kernel offers the counter in user mode, but reading it faults";
	case COUNTER_WRONG:
		return "the counter counts something else than cycles: a known chain of "
		       "multiplications takes too few or too many";
	case COUNTER_NO_DEVICE:
		return "perf's msr device has no aperf: the CPU or the hypervisor does not offer "
		       "it";
	}
	return "unknown";
}

void counter_explain(int error, enum tact_rung rung, char *text, size_t size)
{
	const char *advice = "";

	/* Where programs must ask for that, an event that they may not read has no number. */
	if (error == COUNTER_OFF && rung == TACT_RUNG_RDPMC && isa_native()->native->user_access)
		error = COUNTER_NOT_READABLE;
	if (error >= COUNTER_FIRST) {
		snprintf(text, size, "%s%s", explain_own(error),
			 error == COUNTER_NOT_READABLE ? isa_native()->native->user_counter : "");
		return;
	}
	switch (error) {
	case EACCES:
		advice = rung == TACT_RUNG_APERF ? "; sysctl kernel.perf_event_paranoid=1"
						 : "; sysctl kernel.perf_event_paranoid=2";
		break;
	case EPERM:
		advice = "; in a container, allow perf_event_open in the seccomp profile";
		break;
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		snprintf(text, size,
			 "there is no counter of cycles, as in a virtual machine without a PMU "
			 "(perf_event_open: %s)",
			 strerror(error));
		return;
	case ENOSYS:
		advice = ": the kernel has no perf events, or a filter hides them";
		break;
	case EBUSY:
		advice = "; another program has taken the counters";
		break;
	case EMFILE:
	case ENFILE:
		advice = "; ulimit -n";
		break;
	default:
		break;
	}
	snprintf(text, size, "perf_event_open: %s%s", strerror(error), advice);
}

/* SPDX-License-Identifier: MIT
 *
 * The counter of cycles, if there is one.  measure/counter.h says when a reading counts.
 */
#include <asm/unistd.h>
#include <sys/mman.h>

#include "runner.h"

/* Reads perf's counter by a system call.  It counts user mode only, so the call itself hardly
 * shows.  Returns what read returns.
 */
static long read_perf(const struct runner *r, struct counter_reading *reading)
{
	reading->value = reading->enabled = reading->running = 0;
	return gate_syscall(__NR_read, r->counter, (long)reading, sizeof(*reading), 0, 0, 0);
}

static const volatile struct perf_event_mmap_page *perf_page(void)
{
	return (const volatile struct perf_event_mmap_page *)MEASURE_PERF_BASE;
}

HOT int counting_begin(const struct runner *r, struct counting *c)
{
	int error = 0;

	if (r->rung == TACT_RUNG_RDPMC) {
		error = r->counter < 0 ? COUNTER_OFF : counter_look(perf_page(), &c->view);
	} else if (r->rung != TACT_RUNG_TSC && r->counter < 0) {
		error = COUNTER_OFF; /* time stamps are no cycles */
	} else if (r->counter >= 0) {
		const struct counter_reading none = {0};

		error = counter_check(&none, &c->before, read_perf(r, &c->before));
		if (error == COUNTER_SHARED)
			error = 0; /* before this run, which is no matter */
	}
	return error;
}

HOT int counting_end(const struct runner *r, const struct counting *c, uint64_t begin, uint64_t end,
		     uint64_t *cycles)
{
	struct counter_reading after;
	int error;

	if (r->rung == TACT_RUNG_RDPMC) {
		*cycles = counter_difference(begin, end, c->view.width);
		return counter_is_same(perf_page(), &c->view) ? 0 : COUNTER_SHARED;
	}
	*cycles = end - begin;
	if (r->counter < 0)
		return 0;
	error = counter_check(&c->before, &after, read_perf(r, &after));
	*cycles = after.value - c->before.value;
	return error;
}

/* The shortest of some tries of a chain of this length, as the counter sees it.  Returns 0, or why
 * that cannot be counted.
 */
static int count_chain(struct runner *r, unsigned links, uint64_t *shortest)
{
	int error = COUNTER_SHARED;

	*shortest = ~0ull;
	for (int i = 0; i < COUNTER_TRIES; i++) {
		struct counting counting;
		uint64_t begin = 0, end = 0, cycles = 0;
		int failure = counting_begin(r, &counting);

		r->host.counter_void = 0;
		if (!failure) {
			if (r->rung == TACT_RUNG_RDPMC)
				gate_count_chain(links, counting.view.index - 1u, &begin, &end);
			else
				gate_run_chain(links);
			failure = counting_end(r, &counting, begin, end, &cycles);
			failure = r->host.counter_void ? r->host.counter_void : failure;
		}
		if (failure) {
			error = *shortest == ~0ull ? failure : error;
			continue;
		}
		error = 0;
		*shortest = cycles < *shortest ? cycles : *shortest;
	}
	return error;
}

/* That an event opens proves nothing: it must count a chain whose cycles are known. */
static int try_counter(struct runner *r)
{
	uint64_t short_chain, long_chain;
	int error = count_chain(r, COUNTER_SHORT, &short_chain);

	if (!error)
		error = count_chain(r, COUNTER_LONG, &long_chain);
	return error ? error : counter_judge(short_chain, long_chain);
}

static long open_event(const struct measure_start *start, uint32_t core_type, bool excludes)
{
	const struct counter_place place = {start->aperf_type, start->aperf_config, core_type};
	struct perf_event_attr attr;

	counter_describe(&attr, (enum tact_rung)start->rung, &place, excludes);
	if (start->rung == TACT_RUNG_RDPMC)
		attr.config1 = gate_user_access;
	return gate_syscall(__NR_perf_event_open, (long)&attr, 0, -1, -1, 0, 0);
}

/* Opens the counter of a kind of cores, and tries it. */
static int open_kind(struct runner *r, const struct measure_start *start, uint32_t core_type)
{
	long result = open_event(start, core_type, true);

	if (result < 0 && counter_may_not_exclude((enum tact_rung)r->rung, -result))
		result = open_event(start, core_type, false);
	if (result < 0)
		return (int)-result;
	r->counter = (int)result;
	if (r->rung == TACT_RUNG_RDPMC &&
	    gate_syscall(__NR_mmap, MEASURE_PERF_BASE, MEASURE_PAGE, PROT_READ, MAP_SHARED,
			 r->counter, 0) != (long)MEASURE_PERF_BASE)
		return COUNTER_NO_PAGE;
	return try_counter(r);
}

static void close_kind(struct runner *r)
{
	if (r->rung == TACT_RUNG_RDPMC)
		gate_syscall(__NR_munmap, MEASURE_PERF_BASE, MEASURE_PAGE, 0, 0, 0, 0);
	gate_syscall(__NR_close, r->counter, 0, 0, 0, 0, 0);
	r->counter = -1;
}

int counting_open(struct runner *r, const struct measure_start *start)
{
	int error;

	r->rung = start->rung;
	r->counter = -1;
	if (r->rung == TACT_RUNG_TSC)
		return 0;
	error = open_kind(r, start, 0);
	for (int i = 0; i < MEASURE_CORE_TYPES && start->core_type[i] &&
			counter_may_be_elsewhere((enum tact_rung)r->rung, error);
	     i++) {
		close_kind(r);
		error = open_kind(r, start, start->core_type[i]);
	}
	return error;
}

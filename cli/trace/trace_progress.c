/* SPDX-License-Identifier: MIT
 *
 * Progress of a run: on a terminal, nothing elsewhere.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tracer.h"

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void trace_progress_init(struct trace_progress *p, bool is_quiet)
{
	*p = (struct trace_progress){.is_shown = !is_quiet && isatty(STDERR_FILENO)};
	p->start = p->last = seconds();
}

/* True if it is time for another line. */
static bool is_due(struct trace_progress *p, double *now)
{
	enum { PER_SECOND = 4 };

	if (!p->is_shown)
		return false;
	*now = seconds();
	return *now - p->last >= 1.0 / PER_SECOND;
}

void trace_progress_show(struct trace_progress *p, const struct tact_cycles *cycles)
{
	struct tact_cycles_totals t = TACT_CYCLES_TOTALS_INIT;
	struct text line = {0};
	double now;

	if (!is_due(p, &now))
		return;
	tact_cycles_get_totals(cycles, &t);
	text_printf(&line, "\r\033[K%.1f million instructions, %.1f million a second, IPC %.2f",
		    (double)t.instructions / 1e6,
		    (double)(t.instructions - p->shown) / 1e6 / (now - p->last),
		    t.cycles > 0 ? (double)t.instructions / t.cycles : 0);
	text_to_stderr(&line);
	text_free(&line);
	p->last = now;
	p->shown = t.instructions;
	p->was_shown = true;
}

void trace_progress_words(struct trace_progress *p, uint64_t words)
{
	struct text line = {0};
	double now;

	if (!is_due(p, &now))
		return;
	text_printf(&line, "\r\033[K%.1f million events, %.1f million a second",
		    (double)words / 1e6, (double)words / 1e6 / (now - p->start));
	text_to_stderr(&line);
	text_free(&line);
	p->last = now;
	p->was_shown = true;
}

void trace_progress_clear(struct trace_progress *p)
{
	struct text line = {0};

	if (!p->was_shown)
		return;
	text_add(&line, "\r\033[K");
	text_to_stderr(&line);
	text_free(&line);
}

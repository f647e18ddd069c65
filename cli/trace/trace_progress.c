/* SPDX-License-Identifier: MIT
 *
 * Progress of a run: instructions or events, whose number nobody knows before the end.
 */
#include <unistd.h>

#include "tracer.h"

void trace_progress_init(struct trace_progress *p, bool is_quiet, bool is_program)
{
	/* A program may write to the same terminal at any time. */
	progress_init(&p->line, "", 0, is_quiet || (is_program && isatty(STDOUT_FILENO)));
	p->last = p->line.start;
	p->shown = 0;
}

void trace_progress_show(struct trace_progress *p, const struct tact_cycles *cycles)
{
	struct tact_cycles_totals t = TACT_CYCLES_TOTALS_INIT;
	double now;

	if (!progress_is_due(&p->line))
		return;
	now = progress_seconds();
	tact_cycles_get_totals(cycles, &t);
	progress_say(&p->line, "%.1f million instructions, %.1f million a second, IPC %.2f",
		     (double)t.instructions / 1e6,
		     (double)(t.instructions - p->shown) / 1e6 / (now - p->last),
		     t.cycles > 0 ? (double)t.instructions / t.cycles : 0);
	p->last = now;
	p->shown = t.instructions;
}

void trace_progress_words(struct trace_progress *p, uint64_t words)
{
	progress_say(&p->line, "%.1f million events, %.1f million a second", (double)words / 1e6,
		     (double)words / 1e6 / (progress_seconds() - p->line.start));
}

void trace_progress_clear(struct trace_progress *p)
{
	progress_clear(&p->line);
}

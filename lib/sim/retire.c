/* SPDX-License-Identifier: MIT
 *
 * Retirement: in order, out of the reorder buffer; ends iterations.
 */
#include "sim/sim.h"

void sim_retire(struct sim_state *s)
{
	for (int n = 0; n < s->params->retire_width && s->rob_count; n++) {
		const struct sim_rob_entry *e = &s->rob[s->rob_head];

		if (e->remaining || e->finish >= s->clock)
			return;
		if (s->watch)
			sim_watch_retire(s, e);
		if (e->ends_insn && sim_insn_of(s, e->id)->memory_outputs)
			sim_schedule_unblock(s, e->id);
		if (e->ends_insn && sim_number(e->id) + 1 == sim_program_of(s, e->id)->n_insns)
			s->retired = sim_iteration(e->id) + 1;
		s->rob_head = (s->rob_head + 1) & (SIM_ROB - 1);
		s->rob_count--;
	}
}

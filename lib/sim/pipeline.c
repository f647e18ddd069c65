/* SPDX-License-Identifier: MIT
 *
 * The cycle: one call a stage, retirement first, fetch last; and the steady state.
 */
#include <string.h>

#include "sim/sim.h"

void sim_cycle(struct sim_state *s)
{
	sim_retire(s);
	sim_rename(s);
	sim_schedule(s);
	sim_fetch(s);
	s->clock++;
}

static void clear_stats(struct sim_state *s)
{
	memset(s->stats, 0, s->program->n_insns * sizeof(*s->stats));
}

void sim_init(struct sim_state *s, const struct arch_params *params)
{
	memset(s, 0, offsetof(struct sim_state, iq));
	memset(s->slot_id, 0xff, sizeof(s->slot_id));
	s->params = params;
	s->rob_full = s->rs_full = -1;
}

static void init(struct sim_state *s, const struct tact_block *block,
		 const struct sim_program *program, const struct sim_run_options *opt)
{
	sim_init(s, &block->arch->params);
	s->block = block;
	s->program = program;
	s->source = block_source_of(block);
	s->stats = opt->stats;
	s->watch = opt->on_uop != NULL;
	s->on_uop = opt->on_uop;
	s->on_uop_arg = opt->arg;
	clear_stats(s);
}

/* The state to compare with, at the end of an iteration.  It moves on to the present one whenever
 * twice as many iterations have passed (Brent's way of finding a cycle): no table of states is
 * needed.
 */
struct reference {
	uint64_t outline, state, iteration;
	int32_t clock;
};

static bool repeats(struct sim_state *s, struct reference *r, uint64_t iteration)
{
	uint64_t outline = sim_outline_hash(s, iteration);

	if (r->iteration && outline == r->outline &&
	    sim_state_hash(s, iteration, outline) == r->state)
		return true;
	if (iteration >= 2 * r->iteration) {
		r->outline = outline;
		r->state = sim_state_hash(s, iteration, outline);
		r->iteration = iteration;
		r->clock = s->clock;
		clear_stats(s); /* they are those since here */
	}
	return false;
}

int sim_run(struct sim_state *s, const struct tact_block *block, const struct sim_program *program,
	    const struct sim_run_options *opt, struct sim_result *out)
{
	struct reference reference = {.iteration = 0};
	uint64_t iteration = 0, half_iteration = 0;
	int32_t half_clock = 0;

	memset(out, 0, sizeof(*out));
	init(s, block, program, opt);
	while ((uint64_t)s->clock < opt->max_cycles && !s->overflow && !s->stop) {
		sim_cycle(s);
		if (s->retired == iteration)
			continue;
		iteration = s->retired;
		if (repeats(s, &reference, iteration) && iteration >= opt->min_iterations) {
			out->repeats = true;
			break;
		}
		if (!half_clock && (uint64_t)s->clock > opt->max_cycles / 2) {
			half_clock = s->clock;
			half_iteration = iteration;
		}
	}
	out->cycles = (uint64_t)s->clock;
	out->iterations = iteration;
	out->counted = iteration - reference.iteration;
	if (!out->repeats) {
		reference.iteration = half_iteration;
		reference.clock = half_clock;
	}
	if (iteration <= reference.iteration)
		return -TACT_E_LIMIT;
	out->period = iteration - reference.iteration;
	out->cycles_per_iteration = (double)(s->clock - reference.clock) / (double)out->period;
	return 0;
}

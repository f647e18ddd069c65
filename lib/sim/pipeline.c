/* SPDX-License-Identifier: MIT
 *
 * The cycle: one call a stage, retirement first, fetch last; and the steady state.
 */
#include <math.h>
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

void sim_init(struct sim_state *s, const struct tact_arch *arch)
{
	const struct arch_params *params = &arch->params;

	memset(s, 0, offsetof(struct sim_state, iq));
	memset(s->slot_id, 0xff, sizeof(s->slot_id));
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		s->ready[p][0] = 0;
	s->params = params;
	s->registers = &arch->isa->registers;
	s->rob_size = (unsigned)params->rob_size < SIM_ROB ? (unsigned)params->rob_size : SIM_ROB;
	sim_rename_init(s);
	s->rob_full = s->rs_full = s->serialized = -1;
}

static void init(struct sim_state *s, const struct tact_block *block,
		 const struct sim_program *program, const struct sim_run_options *opt)
{
	sim_init(s, block->arch);
	s->block = block;
	s->program = program;
	s->source = block_source_of(block);
	s->stats = opt->stats;
	s->watch = opt->on_uop != NULL;
	s->on_uop = opt->on_uop;
	s->on_uop_arg = opt->arg;
	clear_stats(s);
}

/* The state to compare with, at the end of an iteration.  It moves on to the present one when twice
 * as many iterations have passed (Brent's way of finding a cycle), or when the outline of the state
 * was there before and had its time to come again: states themselves cost too much to remember
 * them all.
 */
enum { OUTLINES = 512 };

struct reference {
	uint64_t outline, state, iteration;
	uint64_t period; /* iterations after which its outline should come again */
	int32_t clock;
	struct {
		uint64_t outline, iteration;
	} seen[OUTLINES];
};

/* Iterations since this outline was last there; 0: not remembered. */
static uint64_t outline_period(struct reference *r, uint64_t outline, uint64_t iteration)
{
	unsigned at = (unsigned)(outline >> 32) & (OUTLINES - 1);
	uint64_t period = r->seen[at].outline == outline ? iteration - r->seen[at].iteration : 0;

	r->seen[at].outline = outline;
	r->seen[at].iteration = iteration;
	return period;
}

static bool repeats(struct sim_state *s, struct reference *r, uint64_t iteration)
{
	uint64_t outline = sim_outline_hash(s, iteration);
	uint64_t period = outline_period(r, outline, iteration);

	if (r->iteration && outline == r->outline &&
	    sim_state_hash(s, iteration, outline) == r->state)
		return true;
	if (iteration >= 2 * r->iteration || (period && iteration > r->iteration + 2 * r->period)) {
		r->period = period ? period : iteration;
		r->outline = outline;
		r->state = sim_state_hash(s, iteration, outline);
		r->iteration = iteration;
		r->clock = s->clock;
		clear_stats(s); /* they are those since here */
	}
	return false;
}

/* Blocks whose state does not come again for long may still have settled: in three stretches one
 * behind the other iterations take as long, and neither reservation station nor reorder buffer
 * fills up any more.
 */
enum { STRETCHES = 3, STRETCH_CYCLES = 64, STRETCH_ITERATIONS = 4 };
static const double SETTLED_SHARE = 0.005;

struct checkpoint {
	uint64_t iteration;
	int32_t clock;
	unsigned rs, rob;
};

struct settling {
	struct checkpoint last[STRETCHES + 1]; /* the newest one last */
	unsigned n;
};

static double stretch(const struct checkpoint *from, const struct checkpoint *to)
{
	return (double)(to->clock - from->clock) / (double)(to->iteration - from->iteration);
}

static bool has_filled(const struct checkpoint *from, const struct checkpoint *to)
{
	return to->rs > from->rs || to->rob > from->rob;
}

/* At the end of an iteration; true if the last stretches agree. */
static bool has_settled(const struct sim_state *s, struct settling *t, uint64_t iteration)
{
	const struct checkpoint now = {iteration, s->clock,
				       s->rs_count + s->vec_count + s->vec_queued, s->rob_count};
	struct checkpoint *last = t->last;
	double all;

	if (t->n && (now.clock - last[t->n - 1].clock < STRETCH_CYCLES ||
		     iteration - last[t->n - 1].iteration < STRETCH_ITERATIONS))
		return false;
	if (t->n > STRETCHES)
		memmove(last, last + 1, STRETCHES * sizeof(*last));
	else
		t->n++;
	last[t->n - 1] = now;
	if (t->n <= STRETCHES || has_filled(&last[0], &now))
		return false;
	all = stretch(&last[0], &now);
	for (unsigned i = 0; i < STRETCHES; i++)
		if (fabs(stretch(&last[i], &last[i + 1]) - all) > SETTLED_SHARE * all)
			return false;
	return true;
}

int sim_run(struct sim_state *s, const struct tact_block *block, const struct sim_program *program,
	    const struct sim_run_options *opt, struct sim_result *out)
{
	struct reference reference = {.iteration = 0}; /* no outline is 0 before the first */
	struct settling settling = {.n = 0};
	uint64_t iteration = 0, half_iteration = 0;
	int32_t half_clock = 0, end_clock = 0; /* at the ends of iterations */

	memset(out, 0, sizeof(*out));
	init(s, block, program, opt);
	while ((uint64_t)s->clock < opt->max_cycles && !s->overflow && !s->stop) {
		sim_cycle(s);
		if (s->retired == iteration)
			continue;
		iteration = s->retired;
		end_clock = s->clock;
		if (repeats(s, &reference, iteration) && iteration >= opt->min_iterations) {
			out->repeats = true;
			break;
		}
		if (has_settled(s, &settling, iteration) && iteration >= opt->min_iterations) {
			half_clock = settling.last[0].clock;
			half_iteration = settling.last[0].iteration;
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
	out->cycles_per_iteration = (double)(end_clock - reference.clock) / (double)out->period;
	return 0;
}

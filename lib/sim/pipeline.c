/* SPDX-License-Identifier: MIT
 *
 * The cycle: one call per stage, retirement first, fetch last; and the steady state.
 */
#include <math.h>
#include <string.h>

#include "sim/sim.h"

static inline void run_stages(struct sim_state *s)
{
	sim_retire(s);
	sim_rename(s);
	sim_schedule(s);
}

/* CPUs of LLVM hold units; some issue in order. */
static void run_units(struct sim_state *s)
{
	if (s->stream && s->stream->follows_trips)
		sim_trip_leave(s);
	if (s->params->in_order) {
		sim_retire_quietly(s);
		sim_issue(s);
		return;
	}
	sim_hold_ports(s);
	run_stages(s);
	if (s->stream && sim_wrong_path_is_open(&s->stream->wrong))
		sim_wrong_path_run(s);
}

void sim_cycle(struct sim_state *s)
{
	if (s->in_order.llvm) {
		run_units(s);
	} else if (s->stream) {
		if (s->stream->follows_trips)
			sim_trip_leave(s);
		run_stages(s);
		if (sim_wrong_path_is_open(&s->stream->wrong))
			sim_wrong_path_run(s);
	} else {
		run_stages(s);
	}
	sim_fetch(s);
	s->clock++;
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
	sim_bind_init(s);
	sim_issue_init(s, arch);
	s->rob_full = s->rs_full = s->serialized = -1;
	s->stores_full = -2; /* not in the cycle before the first one either */
	s->line.window = UINT64_MAX;
}

static void init(struct sim_state *s, const struct tact_block *block,
		 const struct sim_program *program, const struct sim_run_options *opt)
{
	const struct arch_params *params = &block->arch->params;

	sim_init(s, block->arch);
	s->block = block;
	s->program = program;
	s->source = block_not_from_lsd(block, block_source_of(block));
	s->cached = (uint32_t)block_cached_insns(block);
	if (s->cached)
		s->source = BLOCK_FROM_DSB;
	sim_moves_init(s);
	/* Where it matters what is issued together, the front end begins with a lead: blocks that
	 * do not wait for it soon lose that again, the others would have it only after long.
	 */
	for (size_t i = 0; i < program->n_insns && params->late_flags; i++)
		if (program->insns[i].takes_late_flags)
			s->held_until = params->idq_size / params->dsb_width;
	s->stats = opt->stats;
	s->watch = opt->on_uop != NULL;
	s->on_uop = opt->on_uop;
	s->on_uop_arg = opt->arg;
	memset(s->stats, 0, SIM_STATS * program->n_insns * sizeof(*s->stats));
}

/* The state to compare with, at the end of an iteration.  It moves on to the current state when
 * twice as many iterations have passed (Brent's way of finding a cycle): remembering all states
 * would cost too much.  The statistics at that time, and at the previous reference, are kept: their
 * difference from the final ones is what happened since.
 */
struct reference {
	struct sim_mark mark;
	uint64_t iteration;
	int32_t clock;
	struct sim_stats *stats; /* borrowed */
	struct {
		struct sim_stats *stats; /* borrowed */
		uint64_t iteration;
	} before;
};

static void move_reference(const struct sim_state *s, struct reference *r, uint64_t iteration)
{
	struct sim_stats *oldest = r->before.stats;

	r->before.stats = r->stats;
	r->before.iteration = r->iteration;
	r->stats = oldest;
	memcpy(r->stats, s->stats, s->program->n_insns * sizeof(*s->stats));
	r->iteration = iteration;
	r->clock = s->clock;
}

static bool repeats(struct sim_state *s, struct reference *r, uint64_t iteration)
{
	if (r->iteration && sim_is_marked(s, iteration, &r->mark))
		return true;
	if (iteration >= 2 * r->iteration) {
		r->mark = sim_mark_state(s, iteration);
		move_reference(s, r, iteration);
	}
	return false;
}

/* Blocks whose state does not recur for a long time may still have settled: in consecutive stretches,
 * iterations take equally long, and neither the reservation station nor the reorder buffer fills up
 * any more, but for the sixteenth by which they go up and down.
 *
 * FACILE's bounds hold in the pipeline, too.  A pace that has come down to the largest of them needs
 * fewer witnesses: it gets no faster, and the bound says it more exactly than a count of cycles.  If
 * it is one of the front end, what follows has time to spare, and nothing builds up that would slow
 * it down later.
 */
enum { MOST_STRETCHES = 3 };
static const double SETTLED_SHARE = 0.005;

static const struct rule {
	unsigned stretches;
	int32_t cycles; /* of each, at least */
	uint64_t iterations;
} alone = {MOST_STRETCHES, 64, 4}, at_bound = {2, 64, 4}, at_front_end = {2, 32, 2};

struct checkpoint {
	uint64_t iteration;
	int32_t clock;
	unsigned rs, rob;
};

struct settling {
	struct checkpoint last[MOST_STRETCHES + 1]; /* the newest one last */
	unsigned n;
};

static double stretch(const struct checkpoint *from, const struct checkpoint *to)
{
	return (double)(to->clock - from->clock) / (double)(to->iteration - from->iteration);
}

static bool has_filled(const struct checkpoint *from, const struct checkpoint *to)
{
	return to->rs > from->rs + from->rs / 16 || to->rob > from->rob + from->rob / 16;
}

/* The cycles by which a stretch may differ from its pace: iterations end at whole cycles. */
static double slack(double cycles)
{
	return SETTLED_SHARE * cycles > 1 ? SETTLED_SHARE * cycles : 1;
}

static bool agrees(const struct checkpoint *from, const struct checkpoint *to, double pace)
{
	const double cycles = pace * (double)(to->iteration - from->iteration);

	return fabs((double)(to->clock - from->clock) - cycles) <= slack(cycles);
}

/* At the end of an iteration: returns whether the last stretches, and all of them together, have the
 * same pace; `bound` 0: whichever that is.
 */
static bool has_settled(const struct rule *rule, struct settling *t, const struct checkpoint *now,
			double bound)
{
	struct checkpoint *last = t->last;
	double pace;

	if (t->n && (now->clock - last[t->n - 1].clock < rule->cycles ||
		     now->iteration - last[t->n - 1].iteration < rule->iterations))
		return false;
	if (t->n > rule->stretches)
		memmove(last, last + 1, rule->stretches * sizeof(*last));
	else
		t->n++;
	last[t->n - 1] = *now;
	if (t->n <= rule->stretches || has_filled(&last[0], now))
		return false;
	pace = bound > 0 ? bound : stretch(&last[0], now);
	for (unsigned i = 0; i < rule->stretches; i++)
		if (!agrees(&last[i], &last[i + 1], pace))
			return false;
	return agrees(&last[0], now, pace);
}

enum { BATCHES = 4 };

/* A run from its beginning to its result. */
struct run {
	struct sim_state *s;
	const struct sim_run_options *opt;
	struct sim_result *out;
	struct reference reference;
	struct settling alone, bounded;
	uint64_t iteration; /* that ended last */
	int32_t end;	    /* clock then */
	/* The first ends of iterations after 4, 5, 6 and 7 eighths of the budget: where the second
	 * half begins, and what divides it into batches.
	 */
	struct checkpoint mark[BATCHES];
	unsigned n_marks;
	uint64_t budget; /* cycles */
};

/* Replaces `from` by what the instructions did since then. */
static void count_since(struct run *run, struct sim_stats *from, uint64_t iteration)
{
	const struct sim_stats *now = run->s->stats;

	for (size_t i = 0; i < run->s->program->n_insns; i++) {
		for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
			from[i].port[p] = now[i].port[p] - from[i].port[p];
		from[i].divider = now[i].divider - from[i].divider;
		from[i].wait_operand = now[i].wait_operand - from[i].wait_operand;
		from[i].wait_port = now[i].wait_port - from[i].wait_port;
		from[i].spent = now[i].spent - from[i].spent;
	}
	run->out->stats = from;
	run->out->counted = run->iteration - iteration;
}

/* Returns half of the 95% interval of a mean over n - 1 batches between checkpoints: Student's t
 * over the batches' own means (batch means; Law and Carson 1979).  It is not less than a cycle
 * over all iterations, which is how exactly the ends of a stretch are known.
 */
static double half_width(const struct checkpoint *at, unsigned n)
{
	static const double t[] = {0, 12.706, 4.303, 3.182}; /* by degrees of freedom */
	const double all = stretch(&at[0], &at[n - 1]),
		     least = 1 / (double)(at[n - 1].iteration - at[0].iteration);
	const unsigned batches = n - 1;
	double squares = 0, width;

	if (batches < 2)
		return all * least; /* an iteration more or less */
	for (unsigned i = 0; i < batches; i++)
		squares += pow(stretch(&at[i], &at[i + 1]) - all, 2);
	width = t[batches - 1] * sqrt(squares / (batches - 1) / batches);
	return width > least ? width : least;
}

/* Notes the figure.  Everything that is simulated afterwards is for the sink. */
static void conclude(struct run *run, uint64_t from_iteration, int32_t from_clock)
{
	enum { LEAST_COUNTED = 4 };
	struct reference *r = &run->reference;
	struct sim_result *out = run->out;

	if (run->iteration <= from_iteration)
		return;
	out->is_known = true;
	out->period = run->iteration - from_iteration;
	out->cycles_per_iteration = (double)(run->end - from_clock) / (double)out->period;
	/* A reference that was just moved has seen nothing yet. */
	if (out->repeats || run->iteration >= r->iteration + LEAST_COUNTED)
		count_since(run, r->stats, r->iteration);
	else
		count_since(run, r->before.stats, r->before.iteration);
}

/* Note the figure of a pipeline that has settled, alone or at a bound. */
static void conclude_settled(struct run *run, const struct settling *t)
{
	run->out->has_settled = true;
	conclude(run, t->last[0].iteration, t->last[0].clock);
	run->out->uncertainty = half_width(t->last, t->n);
}

static void conclude_bounded(struct run *run, const struct settling *t, double bound)
{
	struct sim_result *out = run->out;

	out->has_settled = true;
	conclude(run, t->last[0].iteration, t->last[0].clock);
	out->cycles_per_iteration = bound;
	out->uncertainty = slack(bound * (double)out->period) / (double)out->period;
}

/* A pace that only lasts until something is full. */
static bool is_too_fast(const struct run *run, const struct settling *t)
{
	return run->opt->is_bound_exact &&
	       stretch(&t->last[0], &t->last[t->n - 1]) < run->opt->bound;
}

static bool look_for_pace(struct run *run)
{
	const struct sim_state *s = run->s;
	const struct sim_run_options *opt = run->opt;
	const struct checkpoint now = {run->iteration, s->clock,
				       s->rs_count + s->vec_count + s->vec_queued, s->rob_count};

	if (opt->bound > 0 && has_settled(opt->is_front_end ? &at_front_end : &at_bound,
					  &run->bounded, &now, opt->bound))
		conclude_bounded(run, &run->bounded, opt->bound);
	else if (has_settled(&alone, &run->alone, &now, 0) && !is_too_fast(run, &run->alone))
		conclude_settled(run, &run->alone);
	return run->out->has_settled;
}

/* At the end of an iteration. */
static void look_for_steady_state(struct run *run)
{
	if (repeats(run->s, &run->reference, run->iteration)) {
		run->out->repeats = true;
		conclude(run, run->reference.iteration, run->reference.clock);
	} else if (!run->opt->is_exact && look_for_pace(run)) {
		return;
	} else if (run->n_marks < BATCHES &&
		   (uint64_t)run->s->clock >
			   run->budget * (BATCHES + run->n_marks) / (2 * BATCHES)) {
		run->mark[run->n_marks++] =
			(struct checkpoint){.iteration = run->iteration, .clock = run->s->clock};
	}
}

/* At the end of the budget: the mean over its second half. */
static void conclude_mean(struct run *run)
{
	struct checkpoint at[BATCHES + 1];
	unsigned n = run->n_marks;

	memcpy(at, run->mark, n * sizeof(*at));
	if (at[n - 1].iteration < run->iteration)
		at[n++] = (struct checkpoint){.iteration = run->iteration, .clock = run->end};
	conclude(run, at[0].iteration, at[0].clock);
	if (run->out->is_known)
		run->out->uncertainty = half_width(at, n);
}

/* Iterations for the sink take as long as they take, unless the caller has set the budget. */
static bool wants_more(const struct run *run)
{
	enum { STUCK_AFTER = 1 << 20 /* cycles without the end of an iteration */ };

	return run->iteration < run->opt->min_iterations && !run->opt->is_strict &&
	       run->s->clock < SIM_MAX_CLOCK && run->s->clock - run->end < STUCK_AFTER;
}

/* At the end of the budget: a mean that is faster than can be needs more iterations. */
static bool is_extended(struct run *run)
{
	enum { MOST = 64 };
	const struct sim_run_options *opt = run->opt;

	if (!opt->is_bound_exact || opt->is_strict || run->budget >= MOST * opt->max_cycles ||
	    run->budget > SIM_MAX_CLOCK / 2 ||
	    stretch(&run->mark[0], &(struct checkpoint){.iteration = run->iteration,
							.clock = run->end}) >= opt->bound)
		return false;
	run->budget *= 2;
	run->n_marks = 0;
	return true;
}

static bool goes_on(struct run *run)
{
	if (run->s->overflow || run->s->stop)
		return false;
	if ((uint64_t)run->s->clock < run->budget)
		return !run->out->is_known || run->iteration < run->opt->min_iterations;
	if (!run->out->is_known && run->n_marks) {
		if (is_extended(run))
			return true;
		conclude_mean(run);
	}
	return run->out->is_known && wants_more(run);
}

int sim_run(struct sim_state *s, const struct tact_block *block, const struct sim_program *program,
	    const struct sim_run_options *opt, struct sim_result *out)
{
	struct run run = {.s = s, .opt = opt, .out = out, .budget = opt->max_cycles};

	memset(out, 0, sizeof(*out));
	init(s, block, program, opt);
	run.reference.stats = s->stats + program->n_insns;
	run.reference.before.stats = s->stats + 2 * program->n_insns;
	while (goes_on(&run)) {
		sim_cycle(s);
		if (s->retired == run.iteration)
			continue;
		run.iteration = s->retired;
		run.end = s->clock;
		if (!out->is_known && !s->overflow)
			look_for_steady_state(&run);
	}
	out->cycles = (uint64_t)s->clock;
	out->iterations = run.iteration;
	out->is_stopped = s->stop;
	if (s->stop)
		return 0;
	if (run.iteration < opt->min_iterations && !opt->is_strict)
		return -TACT_E_LIMIT;
	return out->is_known ? 0 : -TACT_E_LIMIT;
}

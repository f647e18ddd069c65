/* SPDX-License-Identifier: MIT
 *
 * The public side of the pipeline: simulates a block, and says which of FACILE's bounds explains
 * the result, if any.
 */
#include <math.h>
#include <stdlib.h>

#include <tact/simulate.h>

#include "sim/sim.h"

struct tact_simulator {
	struct sim_program program;
	struct sim_stats *stats; /* owned; SIM_STATS for each instruction of the program */
	size_t stats_capacity;

	/* Of the last call. */
	bool has_figure;
	double cycles; /* per iteration */
	double uncertainty;
	double spent; /* of all instructions, according to the statistics */
	size_t n_stores;
	enum tact_uop_source source;
	struct tact_prediction bounds;
	struct sim_result result;
	struct sim_state state;
};

int tact_simulator_create(struct tact_simulator **out, struct tact_diag *diag)
{
	if (!out)
		return tact_fail(diag, TACT_E_INVAL, "no place for the result");
	*out = NULL;
	return tact_new(out, sizeof(**out), true, "", diag);
}

void tact_simulator_destroy(struct tact_simulator *simulator)
{
	if (!simulator)
		return;
	sim_program_fini(&simulator->program);
	FREE_ALL(simulator->stats, simulator);
}

const char *tact_sim_method_name(enum tact_sim_method method)
{
	static const char *const names[TACT_N_SIM_METHODS] = {"none", "repeats", "settled", "mean"};

	return (unsigned)method < TACT_N_SIM_METHODS ? names[method] : "unknown";
}

/* Returns how many cycles are worth simulating: enough to fill the reorder buffer and to see some
 * iterations, which take longer than their bounds where nothing overlaps out of order.
 */
static uint64_t budget(const struct tact_prediction *bounds, bool in_order, uint64_t asked)
{
	enum { FILL = 500, ITERATIONS = 16, IN_ORDER = 64 };
	const int iterations = in_order ? IN_ORDER : ITERATIONS;
	uint64_t cycles =
		asked ? asked : FILL + (uint64_t)(iterations * bounds->cycles_per_iteration);

	return cycles < SIM_MAX_CLOCK ? cycles : SIM_MAX_CLOCK;
}

/* Finds the bounds that the result is close to; none: the pipeline loses more than any of them
 * says.
 */
static void find_bottlenecks(struct tact_simulation *out)
{
	const double near = 0.98;

	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		if (out->bounds->applies >> b & 1 &&
		    out->bounds->bound[b] >= near * out->cycles_per_iteration)
			out->bottlenecks |= 1u << b;
	out->scheduling = !out->bottlenecks;
}

/* Finds the largest of the bounds that the pipeline must keep: it has no store buffer. */
static void find_bound(const struct tact_prediction *bounds, struct sim_run_options *options)
{
	enum {
		FRONT_END = 1 << TACT_BOUND_PREDECODE | 1 << TACT_BOUND_DECODE |
			    1 << TACT_BOUND_DSB | 1 << TACT_BOUND_LSD | 1 << TACT_BOUND_ISSUE
	};

	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		if (!(bounds->applies >> b & 1) || b == TACT_BOUND_STORES)
			continue;
		if (bounds->bound[b] > options->bound) {
			options->bound = bounds->bound[b];
			options->is_front_end = false;
		}
		options->is_front_end |= FRONT_END >> b & 1 && bounds->bound[b] == options->bound;
	}
}

/* The pipeline keeps its bounds: a mean over too few iterations may miss them by a little. */
static void keep_bound(struct sim_result *result, double bound)
{
	if (result->is_known && !result->repeats && bound > result->cycles_per_iteration &&
	    bound <= result->cycles_per_iteration + result->uncertainty)
		result->cycles_per_iteration = bound;
}

static int run(struct tact_simulator *simulator, struct tact_block *block,
	       const struct tact_sim_options *opt)
{
	struct sim_run_options options = {.max_cycles = budget(&simulator->bounds,
							       block->arch->params.in_order != 0,
							       opt->max_cycles),
					  .is_strict = opt->max_cycles != 0,
					  .is_exact = opt->only_repeats,
					  .min_iterations = opt->min_iterations,
					  .on_uop = opt->on_uop,
					  .arg = opt->arg};
	int status = sim_program_build(&simulator->program, block, false);

	if (status < 0)
		return status;
	find_bound(&simulator->bounds, &options);
	options.is_bound_exact = block->arch->llvm != NULL;
	if (tact_grow(&simulator->stats, &simulator->stats_capacity,
		      SIM_STATS * simulator->program.n_insns, sizeof(*simulator->stats)) < 0)
		return -TACT_E_NOMEM;
	options.stats = simulator->stats;
	status = sim_run(&simulator->state, block, &simulator->program, &options,
			 &simulator->result);
	if (status >= 0)
		keep_bound(&simulator->result, options.bound);
	return status;
}

static void describe(const struct tact_simulator *simulator, const struct tact_block *block,
		     struct tact_simulation *out)
{
	const struct sim_result *result = &simulator->result;

	*out = (struct tact_simulation){.size = sizeof(*out),
					.cycles_per_iteration = simulator->cycles,
					.coverage = tact_block_coverage(block),
					.mode = block->mode,
					.repeats = result->repeats,
					.period = result->period,
					.cycles = result->cycles,
					.iterations = result->iterations,
					.source = simulator->source,
					.bounds = &simulator->bounds,
					.stopped = result->is_stopped,
					.method = !result->is_known	? TACT_SIM_NONE
						  : result->repeats	? TACT_SIM_REPEATS
						  : result->has_settled ? TACT_SIM_SETTLED
									: TACT_SIM_MEAN,
					.uncertainty = simulator->uncertainty};
	if (result->is_known)
		find_bottlenecks(out);
}

/* Keeps what tact_simulated_insn needs: the block may change or go. */
static void remember(struct tact_simulator *simulator, const struct tact_block *block)
{
	static const enum tact_uop_source sources[] = {[BLOCK_FROM_MITE] = TACT_SOURCE_MITE,
						       [BLOCK_FROM_LSD] = TACT_SOURCE_LSD,
						       [BLOCK_FROM_DSB] = TACT_SOURCE_DSB,
						       [BLOCK_FROM_ANYWHERE] = TACT_SOURCE_DSB};
	const struct sim_result *result = &simulator->result;

	simulator->source = sources[block_not_from_lsd(block, block_source_of(block))];
	simulator->cycles = NAN;
	simulator->uncertainty = 0;
	simulator->has_figure = result->is_known;
	if (!result->is_known)
		return;
	simulator->cycles = result->cycles_per_iteration;
	simulator->uncertainty = result->uncertainty;
	/* Leaving the store buffer comes after retirement: a separate limit. */
	if (block->store_cycles > simulator->cycles) {
		const double high = simulator->cycles + simulator->uncertainty;

		simulator->cycles = block->store_cycles;
		simulator->uncertainty = high > simulator->cycles ? high - simulator->cycles : 0;
	}
	simulator->spent = 0;
	simulator->n_stores = 0;
	for (size_t i = 0; i < simulator->program.n_insns; i++) {
		simulator->spent += (double)result->stats[i].spent;
		simulator->n_stores += simulator->program.insns[i].memory_outputs != 0;
	}
}

int tact_simulate(struct tact_simulator *simulator, struct tact_block *block,
		  const struct tact_sim_options *opt, struct tact_simulation *out)
{
	/* The pipeline itself binds uops to ports. */
	const struct tact_predict_options bounds = {.size = sizeof(bounds),
						    .bounds = ((1u << TACT_N_BOUNDS) - 1) &
							      ~(1u << TACT_BOUND_BINDING)};
	struct tact_sim_options options;
	struct tact_simulation all;
	int status;

	if (!simulator || !block || !block->n_insns || !tact_can_fill(out) ||
	    tact_read_options(&options, sizeof(options), opt) < 0)
		return -TACT_E_INVAL;
	simulator->has_figure = false;
	simulator->bounds.size = sizeof(simulator->bounds);
	status = tact_predict(block, &bounds, &simulator->bounds);
	if (status >= 0)
		status = run(simulator, block, &options);
	if (status < 0)
		return status;
	remember(simulator, block);
	describe(simulator, block, &all);
	return tact_fill(out, &all, sizeof(all));
}

/* ---- instructions ---- */

/* Returns the cycles from the retirement of the previous instruction to its own.  They add up to
 * the figure: if the figure is a mean over other iterations than the statistics, they are scaled to
 * it.
 */
static double spent(const struct tact_simulator *simulator, size_t i)
{
	const struct sim_result *result = &simulator->result;
	double cycles = result->cycles_per_iteration;

	cycles *= simulator->spent > 0 ? (double)result->stats[i].spent / simulator->spent
				       : 1 / (double)simulator->program.n_insns;
	if (simulator->program.insns[i].memory_outputs)
		cycles += (simulator->cycles - result->cycles_per_iteration) /
			  (double)simulator->n_stores;
	return cycles;
}

/* The uops of an instruction that share ports with `ports`, directly or by others: how many cycles of
 * ports an execution takes for them.  Adds their ports.
 */
static uint64_t share_ports(const struct tact_simulator *simulator, const struct sim_insn *insn,
			    unsigned *ports)
{
	const struct sim_uop *uops = simulator->program.uops + insn->first_uop;
	uint64_t cycles;
	unsigned before;

	do {
		before = *ports;
		cycles = 0;
		for (unsigned u = 0; u < insn->n_uops; u++) {
			if (!(uops[u].ports & *ports))
				continue;
			*ports |= uops[u].ports;
			cycles += uops[u].need == SIM_NEEDS_PORT ? uops[u].divider : 1;
		}
	} while (*ports != before);
	return cycles;
}

/* Instructions may run ahead of those that end the iterations that were counted: where the state does
 * not repeat, more or fewer of a uop were executed than iterations ended.  Each execution sends the
 * same uops to ports, but for moves that may be eliminated, and for what may have another uop before
 * it that joins a register or the stack pointer.
 */
static void even_out(const struct tact_simulator *simulator, const struct sim_insn *insn,
		     const struct sim_stats *stats, struct tact_sim_insn *out)
{
	const struct sim_uop *uops = simulator->program.uops + insn->first_uop;
	unsigned done = 0;
	uint64_t all = 0, all_executed = 0;

	if (simulator->result.repeats || insn->eliminated || insn->stack_sync ||
	    insn->merge_key != SIM_NO_KEY)
		return;
	out->divider = 0;
	for (unsigned u = 0; u < insn->n_uops; u++) {
		unsigned ports = uops[u].ports;
		uint64_t cycles, executed = 0;

		if (uops[u].need == SIM_NEEDS_DIVIDER)
			out->divider += uops[u].divider;
		if (!ports || ports & done)
			continue;
		cycles = share_ports(simulator, insn, &ports);
		done |= ports;
		for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
			executed += ports >> p & 1 ? stats->port[p] : 0;
		for (unsigned p = 0; p < TACT_MAX_PORTS && executed; p++)
			if (ports >> p & 1)
				out->port[p] =
					(double)stats->port[p] * (double)cycles / (double)executed;
		all += cycles;
		all_executed += executed;
	}
	if (all_executed) {
		const double share =
			(double)(all * simulator->result.counted) / (double)all_executed;

		out->wait_operand *= share;
		out->wait_port *= share;
	}
}

int tact_simulated_insn(const struct tact_simulator *simulator, size_t i, struct tact_sim_insn *out)
{
	struct tact_sim_insn all = {.size = sizeof(all)};
	const struct sim_insn *insn;
	const struct sim_stats *stats;
	size_t number;
	double n;

	if (!simulator || !simulator->has_figure || i >= simulator->program.n_raws ||
	    !tact_can_fill(out))
		return -TACT_E_INVAL;
	if (simulator->program.raws[i].fused_prev) /* the first one of the pair has it all */
		return tact_fill(out, &all, sizeof(all));
	number = simulator->program.raws[i].insn;
	insn = &simulator->program.insns[number];
	stats = &simulator->result.stats[number];
	n = (double)simulator->result.counted;
	all.by_source[simulator->source] = insn->mite;
	all.by_source[TACT_SOURCE_MS] = insn->ms;
	all.by_source[TACT_SOURCE_SE] = insn->stack_sync;
	all.issued = insn->fused + insn->stack_sync;
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		all.port[p] = (double)stats->port[p] / n;
	all.divider = (double)stats->divider / n;
	all.wait_operand = (double)stats->wait_operand / n;
	all.wait_port = (double)stats->wait_port / n;
	all.spent = spent(simulator, number);
	even_out(simulator, insn, stats, &all);
	return tact_fill(out, &all, sizeof(all));
}

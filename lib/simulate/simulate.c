/* SPDX-License-Identifier: MIT
 *
 * The public side of the pipeline: simulates a block, and says which of FACILE's bounds explains
 * the result, if any.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/simulate.h>

#include "sim/sim.h"

struct tact_simulator {
	struct sim_program program;
	struct sim_stats *stats; /* owned; one an instruction of the program */
	size_t stats_capacity;
	const struct tact_block *block; /* of the last call; borrowed */
	struct sim_result result;
	struct sim_state state;
};

int tact_simulator_create(struct tact_simulator **out, struct tact_diag *diag)
{
	if (!out)
		return tact_fail(diag, TACT_E_INVAL, "no place for the result");
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

void tact_simulator_destroy(struct tact_simulator *simulator)
{
	if (!simulator)
		return;
	sim_program_fini(&simulator->program);
	FREE_ALL(simulator->stats, simulator);
}

/* Cycles that are worth simulating: enough to fill the reorder buffer and to see some iterations.
 */
static uint64_t budget(const struct tact_simulation *out, uint64_t asked)
{
	enum { FILL = 500, ITERATIONS = 16 };

	return asked ? asked : FILL + (uint64_t)(ITERATIONS * out->bounds.cycles_per_iteration);
}

/* Which bounds the result is near; none: the pipeline loses more than any of them says. */
static void find_bottlenecks(struct tact_simulation *out)
{
	const double near = 0.98;

	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		if (out->bounds.applies >> b & 1 &&
		    out->bounds.bound[b] >= near * out->cycles_per_iteration)
			out->bottlenecks |= 1u << b;
	out->scheduling = !out->bottlenecks;
}

int tact_simulate(struct tact_simulator *simulator, struct tact_block *block,
		  const struct tact_sim_options *opt, struct tact_simulation *out)
{
	static const enum tact_uop_source sources[] = {[BLOCK_FROM_MITE] = TACT_SOURCE_MITE,
						       [BLOCK_FROM_LSD] = TACT_SOURCE_LSD,
						       [BLOCK_FROM_DSB] = TACT_SOURCE_DSB};
	struct tact_sim_options options;
	struct sim_run_options run = {.max_cycles = 0};
	struct sim_result *result;
	int status;

	if (!simulator || !block || !block->n_insns || !out ||
	    tact_read_options(&options, sizeof(options), opt) < 0)
		return -TACT_E_INVAL;
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	simulator->block = NULL;
	status = tact_predict(block, NULL, &out->bounds);
	if (status >= 0)
		status = sim_program_build(&simulator->program, block, false);
	if (status < 0)
		return status;
	if (tact_grow(&simulator->stats, &simulator->stats_capacity, simulator->program.n_insns,
		      sizeof(*simulator->stats)) < 0)
		return -TACT_E_NOMEM;
	run.stats = simulator->stats;
	run.max_cycles = budget(out, options.max_cycles);
	run.min_iterations = options.min_iterations;
	run.on_uop = options.on_uop;
	run.arg = options.arg;
	result = &simulator->result;
	status = sim_run(&simulator->state, block, &simulator->program, &run, result);
	if (status < 0)
		return status;
	simulator->block = block;
	out->cycles_per_iteration = result->cycles_per_iteration;
	/* Leaving the store buffer comes behind retirement: a limit of its own. */
	if (block->store_cycles > out->cycles_per_iteration)
		out->cycles_per_iteration = block->store_cycles;
	out->coverage = tact_block_coverage(block);
	out->mode = block->mode;
	out->repeats = result->repeats;
	out->period = result->period;
	out->cycles = result->cycles;
	out->iterations = result->iterations;
	out->source = sources[block_source_of(block)];
	find_bottlenecks(out);
	return 0;
}

int tact_simulated_insn(const struct tact_simulator *simulator, size_t i, struct tact_sim_insn *out)
{
	const struct tact_block *block = simulator ? simulator->block : NULL;
	const struct sim_insn *insn;
	const struct sim_stats *stats;
	double n;

	if (!block || !out || i >= block->n_insns)
		return -TACT_E_INVAL;
	memset(out, 0, sizeof(*out));
	if (block->insns[i].fused_prev)
		return 0; /* the first of the pair has it all */
	insn = &simulator->program.insns[simulator->program.raws[i].insn];
	stats = &simulator->stats[simulator->program.raws[i].insn];
	n = simulator->result.counted ? (double)simulator->result.counted : 1;
	out->by_source[block_source_of(block) == BLOCK_FROM_LSD	  ? TACT_SOURCE_LSD
		       : block_source_of(block) == BLOCK_FROM_DSB ? TACT_SOURCE_DSB
								  : TACT_SOURCE_MITE] = insn->mite;
	out->by_source[TACT_SOURCE_MS] = insn->ms;
	out->by_source[TACT_SOURCE_SE] = insn->stack_sync;
	out->issued = block->insns[i].lowered->fused + insn->stack_sync;
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		out->port[p] = (double)stats->port[p] / n;
	out->divider = (double)stats->divider / n;
	out->wait_operand = (double)stats->wait_operand / n;
	out->wait_port = (double)stats->wait_port / n;
	return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * When the instructions of a block retire: from the simulated pipeline, for the block repeated, in
 * its steady state.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/block.h>
#include <tact/simulate.h>

#include "mix/virtual.h"

enum {
	FALLBACK_WIDTH =
		4, /* instructions a cycle: all cores of the tables retire at least so many */
	MAX_CYCLES = 4000, /* of a simulation */
	ITERATIONS = 12	   /* the last but one is taken: the pipeline has filled by then */
};

struct mix_retirement {
	struct tact_block *block;
	struct tact_simulator *simulator;
};

/* Retirement of the last two iterations that were seen. */
struct watcher {
	size_t n;
	uint64_t iteration;
	int64_t *now; /* of this iteration */
	int64_t end_before;
	uint16_t *at; /* of the last whole iteration, relative */
	bool has_any;
};

int mix_retirement_create(struct mix_retirement **out, const struct tact_arch *arch,
			  struct tact_diag *diag)
{
	struct tact_block_options o = {.size = sizeof(o), .mode = TACT_MODE_UNROLL};
	struct mix_retirement *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = tact_block_create(&r->block, arch, &o, diag);
	if (status >= 0)
		status = tact_simulator_create(&r->simulator, diag);
	if (status < 0) {
		mix_retirement_destroy(r);
		return status;
	}
	*out = r;
	return 0;
}

void mix_retirement_destroy(struct mix_retirement *r)
{
	if (!r)
		return;
	tact_simulator_destroy(r->simulator);
	tact_block_destroy(r->block);
	free(r);
}

static void end_iteration(struct watcher *w)
{
	int64_t last = w->end_before;

	for (size_t i = 0; i < w->n; i++) {
		/* Of a macro-fused pair the second has no uops: it retires with the first. */
		if (w->now[i] < last)
			w->now[i] = last;
		last = w->now[i];
		if (w->iteration) {
			int64_t cycles = last - w->end_before;

			w->at[i] = (uint16_t)(cycles < UINT16_MAX ? cycles : UINT16_MAX);
		}
	}
	w->has_any |= w->iteration > 0;
	w->end_before = last;
}

static int on_uop(void *arg, const struct tact_sim_uop *u)
{
	struct watcher *w = arg;

	if (u->iteration != w->iteration) {
		end_iteration(w);
		w->iteration = u->iteration;
		memset(w->now, 0, w->n * sizeof(*w->now));
	}
	if (u->insn < w->n && u->retired > w->now[u->insn])
		w->now[u->insn] = u->retired;
	return w->iteration >= ITERATIONS;
}

int mix_retirement_of(struct mix_retirement *r, const uint8_t *code, size_t size, uint16_t *at,
		      size_t n)
{
	struct watcher w = {.n = n, .at = at};
	struct tact_sim_options o = {.size = sizeof(o),
				     .max_cycles = MAX_CYCLES,
				     .min_iterations = ITERATIONS + 1,
				     .on_uop = on_uop,
				     .arg = &w};
	struct tact_simulation x = {.size = sizeof(x)};

	if (tact_block_load(r->block, code, size, NULL) >= 0 && tact_block_length(r->block) == n) {
		w.now = calloc(n, sizeof(*w.now));
		if (!w.now)
			return -TACT_E_NOMEM;
		/* Stopped by the watcher or by the budget: what was seen counts. */
		(void)tact_simulate(r->simulator, r->block, &o, &x);
		free(w.now);
	}
	for (size_t i = 0; !w.has_any && i < n; i++)
		at[i] = (uint16_t)((i + 1) / FALLBACK_WIDTH);
	return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * Loads: a core follows so many loads from issue until some cycles after their data have come.  Loads
 * that wait for their addresses are among them, so that chains of loads keep others from being
 * issued (experiments on Zen 3: chains of 2 to 32 loads, loads behind a chain of multiplications).
 *
 * Uops issue at an even pace, T cycles per iteration, and everything else is there in time.  Then a
 * load is in flight from its place in the iteration until its address is known, and as long as a
 * load takes that waits for nothing.  T is what it takes for the sum of these times to be that of
 * the window.  Times are integers, in units of a cycle divided by the size of the window; in these,
 * the cycles that all loads of an iteration spend in the window are T.
 */
#include "facile/facile.h"

enum {
	/* Cycles from issue to the earliest dispatch, as in sim, and that of the dispatch. */
	BEFORE = 6,
	PASSES = 2, /* values come from an iteration before at most */
	STEPS = 4   /* of the search; most blocks need one or two */
};

struct window {
	const struct tact_block *block;
	const struct block_node *nodes;
	int64_t *
		ready; /* of each node: when its value is there, from the iteration's first issue */
	int64_t size;  /* of the window */
	int64_t alone; /* cycles of a load that waits for nothing */
	unsigned uops; /* that an iteration issues */
};

/* Returns when an instruction that issues at `issue` has an output. */
static int64_t output_time(const struct window *w, const struct block_insn *bi, unsigned output,
			   int64_t issue)
{
	const struct block_lowered *l = bi->lowered;
	int64_t time = issue;

	for (unsigned k = 0; k < l->n_in; k++) {
		int64_t ready = w->ready[bi->first_node + k];

		ready = (ready > issue ? ready : issue) +
			l->latency[k * l->n_out + output] * w->size;
		time = ready > time ? ready : time;
	}
	return time;
}

static unsigned issued(const struct block_insn *bi)
{
	return bi->fused_prev ? 0 : bi->lowered->fused;
}

/* Finds when values are there if an iteration takes `pace`. */
static void follow(struct window *w, int64_t *issue, int64_t pace)
{
	const struct tact_block *block = w->block;
	unsigned before = 0;

	for (size_t i = 0; i < block->n_insns; i++) {
		issue[i] = pace * before / w->uops;
		before += issued(&block->insns[i]);
	}
	for (size_t v = 0; v < block->n_nodes; v++)
		w->ready[v] = 0;
	for (unsigned pass = 0; pass < PASSES; pass++)
		for (size_t v = 0; v < block->n_nodes; v++) {
			const struct block_node *node = &w->nodes[v];
			int64_t time;

			if (node->producer == BLOCK_NO_PRODUCER || node->iterations > 1 ||
			    block->insns[node->insn].lowered->in[node->input].kind == VALUE_MEMORY)
				continue;
			time = output_time(w, &block->insns[node->producer], node->output,
					   issue[node->producer]) -
			       node->iterations * pace;
			w->ready[v] = time > 0 ? time : 0;
		}
}

/* Returns the cycles that the loads of an iteration which takes `pace` spend in the window, rounded
 * up.
 */
static int64_t spent(struct window *w, int64_t *issue, int64_t pace)
{
	const struct tact_block *block = w->block;
	int64_t sum = 0;

	follow(w, issue, pace);
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];
		int64_t address = issue[i];

		for (unsigned k = 0; bi->lowered->n_loads && k < bi->lowered->n_in; k++) {
			int64_t ready = w->ready[bi->first_node + k];

			if (bi->lowered->in[k].kind == VALUE_ADDRESS && ready > address)
				address = ready;
		}
		sum += bi->lowered->n_loads * (address - issue[i] + w->alone * w->size);
	}
	return (sum + w->size - 1) / w->size;
}

/* Does a load wait for the result of another one, or of something that takes as long? */
static bool has_chain(const struct tact_block *block)
{
	for (size_t v = 0; v < block->n_nodes; v++) {
		const struct block_node *node = &block_nodes(block)[v];
		const struct block_lowered *l = block->insns[node->insn].lowered, *made;

		if (!l->n_loads || l->in[node->input].kind != VALUE_ADDRESS ||
		    node->producer == BLOCK_NO_PRODUCER || node->iterations > 1)
			continue;
		made = block->insns[node->producer].lowered;
		for (unsigned k = 0; k < made->n_in; k++)
			if (made->latency[k * made->n_out + node->output] > 2)
				return true;
	}
	return false;
}

/* Returns the cycles that an iteration's loads spend in the window, 0: it does not matter, or -1. */
static int64_t find_spent(struct tact_block *block)
{
	const struct arch_params *p = &block->arch->params;
	struct window w = {.block = block,
			   .size = p->load_window,
			   .alone = BEFORE + p->load_latency + p->load_window_hold};
	int64_t pace, found, *issue;

	if (!p->load_window || block->counts.loads < 2)
		return 0;
	block_connect(block);
	if (!has_chain(block))
		return 0;
	w.nodes = block_nodes(block);
	w.ready = block_scratch(block, (block->n_nodes + block->n_insns) * sizeof(*w.ready));
	if (!w.ready)
		return -1;
	issue = w.ready + block->n_nodes;
	for (size_t i = 0; i < block->n_insns; i++)
		w.uops += issued(&block->insns[i]);
	if (!w.uops)
		return 0;
	pace = w.size * w.uops / p->issue_width;
	if (pace < w.alone * (int64_t)block->counts.loads)
		pace = w.alone * (int64_t)block->counts.loads;
	found = spent(&w, issue, pace);
	/* The slower the pace, the less time they spend: the right one is between the two. */
	for (unsigned step = 0; step < STEPS && found > pace + 1; step++) {
		const int64_t high = spent(&w, issue, found);
		const int64_t next =
			pace + (found - pace) * (found - pace) / (2 * found - pace - high);

		pace = next;
		found = spent(&w, issue, pace);
	}
	return found;
}

double facile_loads(struct tact_block *block, const struct tact_predict_options *opt)
{
	const int64_t cycles = find_spent(block);

	(void)opt;
	return cycles <= 0 ? (double)cycles : (double)cycles / block->arch->params.load_window;
}

int facile_derive_loads(struct tact_block *block, const struct tact_predict_options *opt,
			struct tact_derivation *out)
{
	const int64_t cycles = find_spent(block);

	(void)opt;
	if (cycles < 0)
		return -TACT_E_NOMEM;
	out->counted = TACT_COUNTED_CYCLES;
	out->amount = (unsigned)cycles;
	out->per = cycles ? (unsigned)block->arch->params.load_window : 1;
	return 0;
}

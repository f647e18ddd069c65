/* SPDX-License-Identifier: MIT
 *
 * Dependencies and Forwarding: the bounds, the chains behind them, and how critical instructions
 * are to them.
 */
#include <math.h>
#include <string.h>

#include "facile/cycle_search.h"

/* Where the time of a load from the store buffer depends on when it comes, only Forwarding knows it.
 */
static enum facile_memory memory_of(const struct tact_block *block)
{
	return block->arch->params.store_forward_late && !block->opt.paper ? FACILE_NO_MEMORY
									   : FACILE_MEMORY;
}

/* Searches with the latency of store-to-load forwarding.  If the front end is slow enough for
 * loads that come late, they do come late.
 */
static int search_forwarding(struct search *s, struct tact_block *block)
{
	const struct block_node *nodes = block_nodes(block);
	bool has_late = false;
	double pace;

	for (size_t v = 0; v < block->n_nodes && block->has_forwarding; v++)
		has_late |= nodes[v].late > 0;
	if (has_late) {
		pace = facile_pace(block);
		if (pace < 0 ||
		    facile_search(s, block, nodes, !block->opt.paper, FACILE_LATE_MEMORY) < 0)
			return -TACT_E_NOMEM;
		if (s->ratio <= pace + 1e-9)
			return 0;
	}
	return facile_search(s, block, nodes, !block->opt.paper, FACILE_MEMORY);
}

double facile_precedence(struct tact_block *block, const struct tact_predict_options *opt)
{
	struct search s;
	double ratio;

	(void)opt;
	if (block->is_free)
		return 0;
	if (facile_search(&s, block, block->nodes, false, memory_of(block)) < 0)
		return -1;
	ratio = s.ratio;
	if (!block->has_better)
		return ratio;
	/* What the paper takes for the same place may be known to be overwritten in between.  What
	 * it misses is left to facile_forwarding.
	 */
	if (facile_search(&s, block, block->better, false, memory_of(block)) < 0)
		return -1;
	return s.ratio < ratio ? s.ratio : ratio;
}

/* Does the best cycle pass through memory? */
static bool through_memory(const struct search *s)
{
	uint32_t u = s->on_cycle;
	bool memory = false;

	do {
		const struct block_node *node = &s->nodes[s->number[u]];

		memory |= s->block->insns[node->insn].lowered->in[node->input].kind == VALUE_MEMORY;
		u = s->edges[s->best[u]].from;
	} while (u != s->on_cycle);
	return memory;
}

/* The same cycle ratio with the latency of store-to-load forwarding, if memory is on the cycle. */
double facile_forwarding(struct tact_block *block, const struct tact_predict_options *opt)
{
	struct search s;

	(void)opt;
	if (!block->has_forwarding)
		return 0;
	if (search_forwarding(&s, block) < 0)
		return -1;
	return s.ratio > 0 && through_memory(&s) ? s.ratio : 0;
}

/* ---- explanation ---- */

static void describe(const struct lowered_value *v, uint8_t *kind, uint8_t *reg)
{
	*kind = v->kind;
	*reg = v->kind == VALUE_REG || v->kind == VALUE_ADDRESS ? v->key : TACT_REG_NONE;
}

const char *tact_explain_value(const struct tact_block *block, unsigned kind, unsigned reg)
{
	if (kind == VALUE_FLAGS)
		return "flags";
	if (kind == VALUE_MEMORY)
		return "memory";
	return !block || reg == TACT_REG_NONE ? "?" : tact_isa_reg_name(block->arch->isa, reg);
}

/* Fills in the best cycle, along which the policy of that time leads backwards. */
static void follow(const struct search *s, struct tact_chain *out)
{
	const struct tact_block *block = s->block;
	uint32_t u = s->on_cycle;
	size_t n = 0;

	do {
		const struct block_node *node = &s->nodes[s->number[u]];
		const struct block_insn *producer = &block->insns[node->producer];
		const struct edge *e = &s->edges[s->best[u]];
		struct tact_chain_link *link = &s->links[n++];

		link->insn = node->producer;
		link->latency = e->latency;
		link->iterations = node->iterations;
		link->input = (uint8_t)(s->number[e->from] - producer->first_node);
		link->output = node->output;
		describe(&producer->lowered->in[link->input], &link->from_kind, &link->from_reg);
		describe(&producer->lowered->out[node->output], &link->to_kind, &link->to_reg);
		out->latency += e->latency;
		out->iterations += node->iterations;
		u = e->from;
	} while (u != s->on_cycle);
	for (size_t i = 0; i < n / 2; i++) {
		struct tact_chain_link swap = s->links[i];

		s->links[i] = s->links[n - 1 - i];
		s->links[n - 1 - i] = swap;
	}
	out->links = s->links;
	out->n_links = n;
}

static bool is_of(const struct search *s, uint32_t v, size_t insn)
{
	return s->nodes[s->number[v]].insn == insn;
}

/* Shortens distances from `origin`, a node of instruction i, up to the next node of that
 * instruction, by one round; returns whether any changed.
 */
static bool shorten(struct search *s, size_t i, uint32_t origin, double cycles)
{
	const double epsilon = 1e-9;
	bool changed = false;

	for (uint32_t v = 0; v < s->n; v++) {
		const double weight = cycles * s->nodes[s->number[v]].iterations;

		for (uint32_t e = s->first[v]; e < s->first[v + 1]; e++) {
			const uint32_t from = s->edges[e].from;
			double candidate;

			if (from != origin && is_of(s, from, i))
				continue;
			candidate = (from == origin ? 0 : s->potential[from]) + weight -
				    s->edges[e].latency;
			if (candidate < s->potential[v] - epsilon) {
				s->potential[v] = candidate;
				changed = true;
			}
		}
	}
	return changed;
}

/* Returns the smallest mean weight of a cycle in a small graph, by Karp's theorem (1978). */
static double smallest_mean(double (*weight)[LOWERED_MAX_IN], unsigned n)
{
	double distance[LOWERED_MAX_IN + 1][LOWERED_MAX_IN] = {{0}}, smallest = HUGE_VAL;

	for (unsigned k = 1; k <= n; k++)
		for (unsigned v = 0; v < n; v++) {
			distance[k][v] = HUGE_VAL;
			for (unsigned u = 0; u < n; u++)
				distance[k][v] =
					fmin(distance[k][v], distance[k - 1][u] + weight[u][v]);
		}
	for (unsigned v = 0; v < n; v++) {
		double largest = -HUGE_VAL;

		if (distance[n][v] == HUGE_VAL)
			continue;
		for (unsigned k = 0; k < n; k++)
			largest = fmax(largest, (distance[n][v] - distance[k][v]) / (n - k));
		smallest = fmin(smallest, largest);
	}
	return smallest;
}

/* A cycle may pass through the instruction more than once, by different inputs.  So this finds the
 * shortest way from each input to each other one, and among these ways the cycle with the smallest
 * mean.
 */
int facile_slack(struct tact_block *block, size_t i, double cycles, double *slack)
{
	double weight[LOWERED_MAX_IN][LOWERED_MAX_IN];
	uint32_t inputs[LOWERED_MAX_IN];
	unsigned n = 0;
	struct search s;

	block_connect(block);
	if (search_forwarding(&s, block) < 0)
		return -TACT_E_NOMEM;
	if (cycles < s.ratio)
		cycles = s.ratio; /* so that no cycle weighs less than nothing: distances settle */
	for (uint32_t v = 0; v < s.n; v++)
		if (is_of(&s, v, i))
			inputs[n++] = v;
	for (unsigned a = 0; a < n; a++) {
		for (uint32_t v = 0; v < s.n; v++)
			s.potential[v] = HUGE_VAL;
		for (uint32_t round = 0; round <= s.n; round++)
			if (!shorten(&s, i, inputs[a], cycles))
				break;
		for (unsigned b = 0; b < n; b++)
			weight[a][b] = s.potential[inputs[b]];
	}
	*slack = smallest_mean(weight, n);
	if (*slack < 1e-6)
		*slack = 0; /* rounding */
	return 0;
}

/* Solves for the bound: the search is left as it was when the bound was found. */
static int solve_for(struct search *s, struct tact_block *block, enum tact_bound bound)
{
	double ratio;

	if (bound == TACT_BOUND_FORWARDING) {
		if (!block->has_forwarding) {
			memset(s, 0, sizeof(*s));
			return 0;
		}
		if (search_forwarding(s, block) < 0)
			return -TACT_E_NOMEM;
		if (s->ratio > 0 && !through_memory(s))
			s->ratio = 0;
		return 0;
	}
	if (facile_search(s, block, block->nodes, false, memory_of(block)) < 0)
		return -TACT_E_NOMEM;
	ratio = s->ratio;
	if (!block->has_better)
		return 0;
	if (facile_search(s, block, block->better, false, memory_of(block)) < 0)
		return -TACT_E_NOMEM;
	if (s->ratio < ratio)
		return 0;
	return facile_search(s, block, block->nodes, false, memory_of(block)) < 0 ? -TACT_E_NOMEM
										  : 0;
}

int tact_explain_chain_of(struct tact_block *block, enum tact_bound bound, struct tact_chain *out)
{
	struct tact_chain c = TACT_CHAIN_INIT;
	struct search s;

	if (!block || !block->n_insns || !tact_can_fill(out) ||
	    (bound != TACT_BOUND_PRECEDENCE && bound != TACT_BOUND_FORWARDING))
		return -TACT_E_INVAL;
	block_connect(block);
	if (solve_for(&s, block, bound) < 0)
		return -TACT_E_NOMEM;
	c.cycles_per_iteration = s.ratio;
	if (s.ratio > 0)
		follow(&s, &c);
	return tact_fill(out, &c, sizeof(c));
}

static int derive(struct tact_block *block, enum tact_bound bound, struct tact_derivation *out)
{
	struct tact_chain c = TACT_CHAIN_INIT;
	int status = tact_explain_chain_of(block, bound, &c);

	if (status >= 0 && c.iterations) {
		out->amount = c.latency;
		out->per = c.iterations;
	}
	return status;
}

int facile_derive_precedence(struct tact_block *block, const struct tact_predict_options *opt,
			     struct tact_derivation *out)
{
	(void)opt;
	return derive(block, TACT_BOUND_PRECEDENCE, out);
}

int facile_derive_forwarding(struct tact_block *block, const struct tact_predict_options *opt,
			     struct tact_derivation *out)
{
	(void)opt;
	return derive(block, TACT_BOUND_FORWARDING, out);
}

int tact_explain_chain(struct tact_block *block, struct tact_chain *out)
{
	struct tact_chain c = TACT_CHAIN_INIT;
	struct search s;
	double precedence;

	if (!block || !block->n_insns || !tact_can_fill(out))
		return -TACT_E_INVAL;
	block_connect(block);
	if (solve_for(&s, block, TACT_BOUND_PRECEDENCE) < 0)
		return -TACT_E_NOMEM;
	precedence = s.ratio;
	if (search_forwarding(&s, block) < 0)
		return -TACT_E_NOMEM;
	/* The tables' latencies through memory may be the longer ones. */
	if (s.ratio < precedence && solve_for(&s, block, TACT_BOUND_PRECEDENCE) < 0)
		return -TACT_E_NOMEM;
	c.cycles_per_iteration = s.ratio;
	if (s.ratio > 0)
		follow(&s, &c);
	return tact_fill(out, &c, sizeof(c));
}

int tact_block_edge(const struct tact_block *block, size_t *cursor, struct tact_edge *out)
{
	if (!block || !cursor || !out)
		return -TACT_E_INVAL;
	block_connect(block);
	while (*cursor < block->n_nodes) {
		const struct block_node *node = &block_nodes(block)[(*cursor)++];
		const struct block_lowered *l;
		unsigned latency, longest = 0;

		if (node->producer == BLOCK_NO_PRODUCER)
			continue;
		l = block->insns[node->producer].lowered;
		for (unsigned in = 0; in < l->n_in; in++)
			if (block_latency(block, node->producer, in, node->output, node,
					  !block->opt.paper, &latency) &&
			    latency > longest)
				longest = latency;
		*out = (struct tact_edge){.from = node->producer,
					  .to = node->insn,
					  .latency = longest,
					  .iterations = node->iterations};
		describe(&block->insns[node->insn].lowered->in[node->input], &out->kind, &out->reg);
		return 1;
	}
	return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * The cycle in the dependence graph with the largest ratio of latency to iterations (FACILE,
 * section 4.9), by Howard's policy iteration (Dasdan 2004).
 *
 * A node is an input of an instruction; its predecessors are the inputs of the one instruction that
 * produces its value.  Nodes that cannot be on a cycle are left out first, which for most blocks
 * leaves little; the rest is numbered anew and its edges are written down once, with their
 * latencies.  A policy picks one edge into every node; its cycles are found by walking backwards.
 */
#include <string.h>

#include "facile/cycle_search.h"

#define NOT_THERE UINT32_MAX

/* Finds the instructions that can be on a cycle: those that wait for such an instruction and that
 * such an instruction waits for.  One bit per instruction; blocks with more than 64 are left to
 * the search.  It is cheap and leaves next to nothing of most blocks.
 */
static uint64_t cyclic_insns(const struct tact_block *block)
{
	size_t n = block->n_insns;
	uint64_t cyclic = n < 64 ? (1ull << n) - 1 : ~0ull, before;

	if (n > 64)
		return ~0ull;
	do {
		uint64_t awaited = 0;

		before = cyclic;
		for (size_t i = 0; i < n; i++) {
			uint64_t waits = block->insns[i].producers & cyclic;

			if (!(cyclic >> i & 1))
				continue;
			if (waits)
				awaited |= waits;
			else
				cyclic &= ~(1ull << i);
		}
		cyclic &= awaited;
	} while (cyclic && cyclic != before);
	return cyclic;
}

static bool is_cyclic(uint64_t cyclic, uint32_t insn)
{
	return insn >= 64 || cyclic >> insn & 1;
}

/* Lays the arrays out in the block's scratch. */
static int lay_out(struct search *s, struct tact_block *block, size_t n, size_t n_edges)
{
	size_t size = n * (sizeof(double) + sizeof(struct tact_chain_link)) +
		      n_edges * sizeof(struct edge) +
		      (5 * n + 1 + block->n_nodes) * sizeof(uint32_t);
	char *p = block_scratch(block, size);

	if (!p)
		return -TACT_E_NOMEM;
	s->potential = (double *)(void *)p;
	s->links = (struct tact_chain_link *)(s->potential + n);
	s->edges = (struct edge *)(s->links + n);
	s->first = (uint32_t *)(s->edges + n_edges);
	s->number = s->first + n + 1;
	s->mark = s->number + n;
	s->choice = s->mark + n;
	s->best = s->choice + n;
	s->place = s->best + n;
	return 0;
}

static bool is_from_memory(const struct tact_block *block, uint32_t insn, uint32_t node)
{
	const struct block_insn *bi = &block->insns[insn];

	return bi->lowered->in[node - bi->first_node].kind == VALUE_MEMORY;
}

/* Gathers the nodes of instructions that can be on a cycle.  Returns 1, 0 if there are none, or
 * -TACT_E_NOMEM.
 */
static int gather(struct search *s, struct tact_block *block)
{
	const uint64_t cyclic = cyclic_insns(block);
	size_t most_inputs = 0;

	if (!cyclic)
		return 0;
	for (uint32_t i = 0; i < block->n_insns; i++)
		if (is_cyclic(cyclic, i) && block->insns[i].lowered->n_in > most_inputs)
			most_inputs = block->insns[i].lowered->n_in;
	if (!block->n_nodes)
		return 0;
	if (lay_out(s, block, block->n_nodes, block->n_nodes * most_inputs) < 0)
		return -TACT_E_NOMEM;
	for (uint32_t i = 0; i < block->n_insns; i++) {
		const uint32_t first = block->insns[i].first_node;

		if (!is_cyclic(cyclic, i))
			continue;
		for (uint32_t v = first; v < first + block->insns[i].lowered->n_in; v++) {
			const uint32_t producer = s->nodes[v].producer;

			s->place[v] = NOT_THERE;
			if (producer != BLOCK_NO_PRODUCER && is_cyclic(cyclic, producer) &&
			    (s->memory != FACILE_NO_MEMORY || !is_from_memory(block, i, v))) {
				s->place[v] = s->n;
				s->number[s->n++] = v;
			}
		}
	}
	return s->n > 0;
}

/* Returns by how much a load that comes late is faster than the graph says. */
static unsigned gained(const struct search *s, uint32_t from)
{
	const struct block_node *node = &s->nodes[s->number[from]];

	return s->memory == FACILE_LATE_MEMORY && node->late
		       ? node->late + block_mean_early(s->block, node->early)
		       : 0u;
}

/* Lists the edges between these nodes, each with its latency. */
static void connect(struct search *s)
{
	const struct tact_block *block = s->block;
	uint32_t n = 0;

	for (uint32_t v = 0; v < s->n; v++) {
		const struct block_node *node = &s->nodes[s->number[v]];
		const struct block_insn *producer = &block->insns[node->producer];

		s->first[v] = n;
		for (unsigned in = 0; in < producer->lowered->n_in; in++) {
			uint32_t from = s->place[producer->first_node + in];
			unsigned latency;

			if (from != NOT_THERE &&
			    block_latency(block, node->producer, in, node->output, node,
					  s->forwarding, &latency))
				s->edges[n++] = (struct edge){from, latency - gained(s, from)};
		}
	}
	s->first[s->n] = n;
}

/* Removes nodes that no edge leads to until every node has one: latencies of zero have left some
 * without.  Returns whether any was removed.
 */
static bool prune(struct search *s)
{
	bool *is_gone = (bool *)s->mark, any = false, changed;

	memset(is_gone, 0, s->n);
	do {
		changed = false;
		for (uint32_t v = 0; v < s->n; v++) {
			uint32_t e = s->first[v];

			if (is_gone[v])
				continue;
			while (e < s->first[v + 1] && is_gone[s->edges[e].from])
				e++;
			if (e == s->first[v + 1])
				is_gone[v] = changed = any = true;
		}
	} while (changed);
	return any;
}

/* Numbers the nodes that are left and lists their edges again. */
static void compact(struct search *s)
{
	const bool *is_gone = (const bool *)s->mark;
	uint32_t n = 0;

	for (uint32_t v = 0; v < s->n; v++) {
		if (is_gone[v]) {
			s->place[s->number[v]] = NOT_THERE;
			continue;
		}
		s->place[s->number[v]] = n;
		s->number[n++] = s->number[v];
	}
	s->n = n;
	connect(s);
}

/* The first policy takes the longest edge into each node. */
static void choose_longest(struct search *s)
{
	for (uint32_t v = 0; v < s->n; v++) {
		uint32_t longest = s->first[v];

		for (uint32_t e = longest + 1; e < s->first[v + 1]; e++)
			if (s->edges[e].latency > s->edges[longest].latency)
				longest = e;
		s->choice[v] = longest;
		s->potential[v] = s->edges[longest].latency;
	}
}

/* Returns the ratio of the policy's cycle through v. */
static double cycle_ratio(const struct search *s, uint32_t v)
{
	unsigned sum = 0, iterations = 0;
	uint32_t u = v;

	do {
		const struct edge *e = &s->edges[s->choice[u]];

		sum += e->latency;
		iterations += s->nodes[s->number[u]].iterations;
		u = e->from;
	} while (u != v);
	return iterations ? (double)sum / iterations : 0;
}

/* Looks at the cycles of the policy; true if one is better than the best so far. */
static bool find_better_cycle(struct search *s)
{
	bool better = false;

	memset(s->mark, 0, s->n * sizeof(*s->mark));
	for (uint32_t v = 0; v < s->n; v++) {
		uint32_t u = v;
		double ratio;

		if (s->mark[v])
			continue;
		while (!s->mark[u]) {
			s->mark[u] = v + 1;
			u = s->edges[s->choice[u]].from;
		}
		if (s->mark[u] != v + 1)
			continue;
		ratio = cycle_ratio(s, u);
		if (ratio > s->ratio) {
			s->ratio = ratio;
			s->on_cycle = u;
			better = true;
		}
	}
	return better;
}

/* Improves the policy by one round under the present ratio; returns whether it changed. */
static bool improve(struct search *s)
{
	/* Latencies are whole numbers and cycles shorter than 65536 nodes, so two ratios differ by
	 * more than this; it keeps rounding from going on for ever.
	 */
	const double epsilon = 1e-7;
	bool changed = false;

	for (uint32_t v = 0; v < s->n; v++) {
		const double reduction = s->ratio * s->nodes[s->number[v]].iterations;

		for (uint32_t e = s->first[v]; e < s->first[v + 1]; e++) {
			double candidate =
				s->potential[s->edges[e].from] + s->edges[e].latency - reduction;

			if (candidate > s->potential[v] + epsilon) {
				s->potential[v] = candidate;
				s->choice[v] = e;
				changed = true;
			}
		}
	}
	return changed;
}

int facile_search(struct search *s, struct tact_block *block, const struct block_node *nodes,
		  bool forwarding, enum facile_memory memory)
{
	int status;

	memset(s, 0, sizeof(*s));
	s->block = block;
	s->nodes = nodes;
	s->forwarding = forwarding;
	s->memory = memory;
	status = gather(s, block);
	if (status <= 0)
		return status;
	connect(s);
	if (prune(s))
		compact(s);
	if (!s->n)
		return 0;
	choose_longest(s);
	/* Policies get better with every round, and there are finitely many; the limit only guards
	 * against rounding.
	 */
	for (size_t round = 0; round < 16 * block->n_nodes + 64; round++) {
		if (find_better_cycle(s))
			memcpy(s->best, s->choice, s->n * sizeof(*s->best));
		if (!improve(s))
			break;
	}
	return 0;
}

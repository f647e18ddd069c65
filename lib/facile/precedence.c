/* SPDX-License-Identifier: MIT
 *
 * The cycle in the dependence graph with the largest ratio of latency to iterations (FACILE,
 * section 4.9), by Howard's policy iteration (Dasdan 2004).
 *
 * The graph is implicit: a node is an input of an instruction; its predecessors are the inputs of
 * the one instruction that produces its value, so the producer, which the block knows, and its
 * table of latencies are all the edges.  A policy picks one predecessor for every node; its cycles
 * are found by walking backwards.
 */
#include <string.h>

#include "facile/facile.h"

enum { NO_CHOICE = 255 };

struct search {
	const struct tact_block *block;
	const struct block_node *nodes; /* of the block: one of its two views */
	bool forwarding;		/* memory latencies are those of forwarding */
	size_t n;
	double *potential;
	uint32_t *mark; /* walk that has seen the node */
	uint32_t *list; /* nodes that may be on a cycle, in order */
	size_t n_list;
	uint8_t *choice; /* input of the producer; NO_CHOICE: the node is on no cycle */
	uint8_t *best;	 /* the policy that the best cycle belongs to */
	double ratio;
	uint32_t on_cycle; /* a node of the best cycle, if ratio > 0 */
	struct tact_chain_link *links;
};

static uint32_t predecessor(const struct search *s, uint32_t v, unsigned in)
{
	return s->block->insns[s->nodes[v].producer].first_node + in;
}

static bool edge(const struct search *s, uint32_t v, unsigned in, unsigned *latency)
{
	const struct block_node *node = &s->nodes[v];

	return block_latency(s->block, node->producer, in, node->output, node, s->forwarding,
			     latency);
}

/* Instructions that can be on a cycle: those that wait for one that can be, and that one that can
 * be waits for.  A bit an instruction; blocks with more than 64 are left to the nodes.  Cheap, and
 * leaves most blocks with next to nothing.
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

/* The same for nodes, where latencies of zero tell: fills list with those that are left. */
static void prune(struct search *s)
{
	const struct tact_block *block = s->block;
	uint64_t cyclic = cyclic_insns(block);
	unsigned latency;
	size_t before;

	if (!cyclic)
		return;
	memset(s->choice, NO_CHOICE, s->n);
	for (uint32_t v = 0; v < s->n; v++) {
		const struct block_node *node = &s->nodes[v];

		if (node->producer != BLOCK_NO_PRODUCER && is_cyclic(cyclic, node->insn) &&
		    is_cyclic(cyclic, node->producer)) {
			s->choice[v] = 0;
			s->list[s->n_list++] = v;
		}
	}
	do {
		before = s->n_list;
		s->n_list = 0;
		for (size_t i = 0; i < before; i++) {
			uint32_t v = s->list[i];
			unsigned in, n_in = block->insns[s->nodes[v].producer].lowered->n_in;

			for (in = 0; in < n_in; in++)
				if (s->choice[predecessor(s, v, in)] != NO_CHOICE &&
				    edge(s, v, in, &latency))
					break;
			s->choice[v] = in < n_in ? (uint8_t)in : NO_CHOICE;
			if (in < n_in)
				s->list[s->n_list++] = v;
		}
	} while (s->n_list && s->n_list != before);
}

/* First policy: the longest edge into each node. */
static void choose_longest(struct search *s)
{
	for (size_t i = 0; i < s->n_list; i++) {
		uint32_t v = s->list[i];
		const struct block_node *node = &s->nodes[v];
		unsigned n_in, latency;
		int longest = -1;

		n_in = s->block->insns[node->producer].lowered->n_in;
		for (unsigned in = 0; in < n_in; in++) {
			if (s->choice[predecessor(s, v, in)] == NO_CHOICE ||
			    !edge(s, v, in, &latency))
				continue;
			if ((int)latency > longest) {
				longest = (int)latency;
				s->choice[v] = (uint8_t)in;
			}
		}
		s->potential[v] = longest;
	}
}

/* Ratio of the policy's cycle through v. */
static double cycle_ratio(const struct search *s, uint32_t v)
{
	unsigned latency, sum = 0, iterations = 0;
	uint32_t u = v;

	do {
		edge(s, u, s->choice[u], &latency);
		sum += latency;
		iterations += s->nodes[u].iterations;
		u = predecessor(s, u, s->choice[u]);
	} while (u != v);
	return iterations ? (double)sum / iterations : 0;
}

/* Looks at the cycles of the policy; true if one is better than the best so far. */
static bool find_better_cycle(struct search *s)
{
	bool better = false;

	for (size_t i = 0; i < s->n_list; i++)
		s->mark[s->list[i]] = 0;
	for (size_t i = 0; i < s->n_list; i++) {
		uint32_t v = s->list[i], u = v;
		double ratio;

		if (s->mark[v])
			continue;
		while (!s->mark[u]) {
			s->mark[u] = v + 1;
			u = predecessor(s, u, s->choice[u]);
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

/* One round of improvements of the policy under the present ratio. */
static bool improve(struct search *s)
{
	/* Latencies are whole numbers and cycles shorter than 65536 nodes, so that two ratios
	 * differ by more than this; it keeps rounding from going on for ever.
	 */
	const double epsilon = 1e-7;
	bool changed = false;

	for (size_t i = 0; i < s->n_list; i++) {
		uint32_t v = s->list[i];
		const struct block_node *node = &s->nodes[v];
		double reduction = s->ratio * node->iterations;
		unsigned n_in, latency;

		n_in = s->block->insns[node->producer].lowered->n_in;
		for (unsigned in = 0; in < n_in; in++) {
			uint32_t u = predecessor(s, v, in);
			double candidate;

			if (s->choice[u] == NO_CHOICE || !edge(s, v, in, &latency))
				continue;
			candidate = s->potential[u] + latency - reduction;
			if (candidate > s->potential[v] + epsilon) {
				s->potential[v] = candidate;
				s->choice[v] = (uint8_t)in;
				changed = true;
			}
		}
	}
	return changed;
}

/* Lays the arrays out in the block's scratch. */
static int init(struct search *s, struct tact_block *block, const struct block_node *nodes,
		bool forwarding)
{
	size_t n = block->n_nodes;
	size_t size =
		n * (sizeof(double) + sizeof(struct tact_chain_link) + 2 * sizeof(uint32_t) + 2);
	char *p = block_scratch(block, size);

	if (!p && n)
		return -TACT_E_NOMEM;
	memset(s, 0, sizeof(*s));
	s->block = block;
	s->nodes = nodes;
	s->forwarding = forwarding;
	s->n = n;
	s->potential = (double *)p;
	s->links = (struct tact_chain_link *)(s->potential + n);
	s->mark = (uint32_t *)(s->links + n);
	s->list = s->mark + n;
	s->choice = (uint8_t *)(s->list + n);
	s->best = s->choice + n;
	return 0;
}

static void solve(struct search *s)
{
	if (!s->n)
		return;
	prune(s);
	if (!s->n_list)
		return;
	choose_longest(s);
	/* Policies get better with every round, and there are finitely many; the limit only guards
	 * against rounding.
	 */
	for (size_t round = 0; round < 16 * s->n + 64; round++) {
		if (find_better_cycle(s))
			memcpy(s->best, s->choice, s->n);
		if (!improve(s))
			break;
	}
}

double facile_precedence(struct tact_block *block, const struct tact_predict_options *opt)
{
	struct search s;
	double ratio;

	(void)opt;
	if (init(&s, block, block->nodes, false) < 0)
		return -1;
	solve(&s);
	ratio = s.ratio;
	if (!block->has_better)
		return ratio;
	/* What the paper takes for the same place may be known to be overwritten in between.  What
	 * it misses is left to facile_forwarding.
	 */
	if (init(&s, block, block->better, false) < 0)
		return -1;
	solve(&s);
	return s.ratio < ratio ? s.ratio : ratio;
}

/* Does the best cycle pass through memory? */
static bool through_memory(struct search *s)
{
	uint32_t u = s->on_cycle;
	bool memory = false;

	memcpy(s->choice, s->best, s->n);
	do {
		const struct block_node *node = &s->nodes[u];

		memory |= s->block->insns[node->insn].lowered->in[node->input].kind == VALUE_MEMORY;
		u = predecessor(s, u, s->choice[u]);
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
	if (init(&s, block, block_nodes(block), true) < 0)
		return -1;
	solve(&s);
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

/* The best cycle.  The search has changed its policy since it found it: it is followed again from
 * there, which goes backwards.
 */
static void follow(struct search *s, struct tact_chain *out)
{
	const struct tact_block *block = s->block;
	struct tact_chain_link *links = s->links;
	uint32_t u = s->on_cycle;
	size_t n = 0;

	memcpy(s->choice, s->best, s->n);
	do {
		const struct block_node *node = &s->nodes[u];
		const struct block_lowered *l = block->insns[node->producer].lowered;
		struct tact_chain_link *link = &links[n++];
		unsigned latency;

		edge(s, u, s->choice[u], &latency);
		link->insn = node->producer;
		link->latency = latency;
		link->iterations = node->iterations;
		link->input = s->choice[u];
		link->output = node->output;
		describe(&l->in[s->choice[u]], &link->from_kind, &link->from_reg);
		describe(&l->out[node->output], &link->to_kind, &link->to_reg);
		out->latency += latency;
		out->iterations += node->iterations;
		u = predecessor(s, u, s->choice[u]);
	} while (u != s->on_cycle);
	for (size_t i = 0; i < n / 2; i++) {
		struct tact_chain_link swap = links[i];

		links[i] = links[n - 1 - i];
		links[n - 1 - i] = swap;
	}
	out->links = links;
	out->n_links = n;
}

int tact_explain_chain(struct tact_block *block, struct tact_chain *out)
{
	struct tact_chain c = TACT_CHAIN_INIT;
	struct search s;

	if (!block || !block->n_insns || !tact_can_fill(out))
		return -TACT_E_INVAL;
	block_connect(block);
	if (init(&s, block, block_nodes(block), !block->opt.paper) < 0)
		return -TACT_E_NOMEM;
	solve(&s);
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

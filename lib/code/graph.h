/* SPDX-License-Identifier: MIT
 *
 * Control flow of one function: basic blocks and where they lead.  Calls do not end a block.
 */
#ifndef TACT_GRAPH_H
#define TACT_GRAPH_H

#include "code/map.h"

struct code_graph {
	struct code_blocks blocks; /* sorted by address, covering all code */
	/* Owned; for each block: its target, and the next block in memory; CODE_NONE if there is
	 * none.
	 */
	uint32_t (*successors)[2];
	/* Owned; for each block that nothing else leads to: the indirect jump before it, which may
	 * lead there, as through a table, and the next such block of the same jump; CODE_NONE for
	 * all others.  The first two of a jump are its successors.
	 */
	uint32_t *from, *also;
};

/* Returns the first block that only an indirect jump leads to, which others follow; CODE_NONE: the
 * block does not end in such a jump.
 */
static inline uint32_t code_table_of(const struct code_graph *graph, uint32_t block)
{
	const uint32_t to = graph->successors[block][0];

	return to != CODE_NONE && graph->from[to] == block ? to : CODE_NONE;
}

/* Builds a graph.  `is_relocatable`: targets that the linker still has to fill in lead nowhere.
 * Returns 0, -TACT_E_NOMEM, or -TACT_E_LIMIT for 4 GiB of code or more.
 */
int code_graph_create(struct code_graph *graph, const struct tact_isa *isa, const uint8_t *code,
		      size_t size, bool is_relocatable);
void code_graph_destroy(struct code_graph *graph);

/* The dominator tree, in a form that answers "does a dominate b?" at once. */
struct code_dominators {
	uint32_t *place; /* owned: preorder place of each block in the dominator tree */
	uint32_t *
		span; /* number of blocks that it dominates, including itself; in the same memory */
};

/* Builds the tree.  Returns 0 or -TACT_E_NOMEM. */
int code_dominators_create(struct code_dominators *dom, const struct code_graph *graph);
void code_dominators_destroy(struct code_dominators *dom);

static inline bool code_dominates(const struct code_dominators *dom, uint32_t a, uint32_t b)
{
	return dom->place[b] - dom->place[a] < dom->span[a];
}

/* Predecessors of all blocks: those of b are list[first[b]] .. list[first[b + 1] - 1]. */
struct code_predecessors {
	uint32_t *first; /* owned */
	uint32_t *list;	 /* in the same memory */
};

int code_predecessors_create(struct code_predecessors *pred, const struct code_graph *graph);
void code_predecessors_destroy(struct code_predecessors *pred);

#endif /* TACT_GRAPH_H */

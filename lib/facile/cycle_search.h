/* SPDX-License-Identifier: MIT
 *
 * The search for the cycle in the dependence graph with the largest ratio of latency to iterations.
 */
#ifndef TACT_FACILE_CYCLE_SEARCH_H
#define TACT_FACILE_CYCLE_SEARCH_H

#include "facile/facile.h"

/* How the search takes memory. */
enum facile_memory {
	FACILE_MEMORY,	    /* as the graph has it */
	FACILE_NO_MEMORY,   /* not at all */
	FACILE_LATE_MEMORY, /* loads come when the data of stores are about to come */
};

struct edge {
	uint32_t from; /* node of the search */
	uint32_t latency;
};

struct search {
	const struct tact_block *block;
	const struct block_node *nodes; /* of the block: one of its two views */
	bool forwarding;		/* memory latencies are those of forwarding */
	enum facile_memory memory;
	uint32_t n; /* nodes of the search, in the order of the block's */
	double *potential;
	struct tact_chain_link *links; /* room for the cycle */
	struct edge *edges;
	uint32_t *first;  /* edge into each node; one more than there are nodes */
	uint32_t *number; /* of each node in the block */
	uint32_t *mark;	  /* walk that has seen the node */
	uint32_t *choice; /* edge of the policy into each node */
	uint32_t *best;	  /* the policy that the best cycle belongs to */
	uint32_t *place;  /* of each node of the block in the search, or NOT_THERE */
	double ratio;
	uint32_t on_cycle; /* a node of the best cycle, if ratio > 0 */
};

/* Finds the largest ratio and a cycle that has it.  Returns 0 or -TACT_E_NOMEM. */
int facile_search(struct search *s, struct tact_block *block, const struct block_node *nodes,
		  bool forwarding, enum facile_memory memory);

#endif /* TACT_FACILE_CYCLE_SEARCH_H */

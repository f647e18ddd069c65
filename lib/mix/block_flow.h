/* SPDX-License-Identifier: MIT
 *
 * Where execution goes after each block, and how often.
 */
#ifndef MIX_BLOCK_FLOW_H
#define MIX_BLOCK_FLOW_H

#include "mix/mix.h"

/* From one block to another. */
struct mix_way {
	uint32_t from, to; /* nodes */
	double weight;	   /* executions */
};

/* A block that ran. */
struct mix_node {
	uint32_t profile;
	uint32_t first_way, n_ways; /* in ways, by `from` */
	uint32_t first_in, n_in;    /* in `ins`: numbers of the ways that lead to it */
	uint32_t back;		    /* the node that a call comes back to; MIX_NONE: none */
	uint8_t flow;		    /* enum tact_flow of its last instruction */
	bool is_indirect;	    /* the instruction does not say where it goes */
	bool is_far;		    /* and goes to a function: a call, or a jump by a pointer */
	bool is_entry;		    /* a function begins here */
	uint32_t first, end;	    /* nodes of the same function */
	uint32_t last;	  /* where it went last, if it is indirect; MIX_NONE: nowhere yet */
	uint64_t address; /* different for each block of a profile */
	double executions, missing; /* missing: executions that no way explains */
};

struct mix_flow {
	struct mix_node *nodes; /* owned; by module, code and address */
	uint32_t n;
	struct mix_way *ways; /* owned */
	size_t n_ways, capacity;
	uint32_t *ins;	  /* owned */
	double *executed; /* owned; executions up to and including a node */
	double *entered;  /* owned; the same of what no way explains, where functions begin */
	double *missing;  /* owned; elsewhere */
	double *returned; /* owned; the same of places that calls come back to */
};

/* Finds the ways between the blocks of a profile that ran.  Recorded branches tell them; without
 * these, they follow from the executions of the blocks.  Returns 0 or -TACT_E_NOMEM.
 */
int mix_flow_create(struct mix_flow **out, const struct tact_mix *mix);
void mix_flow_destroy(struct mix_flow *flow); /* NULL is allowed */

/* Returns the node before which this share of all executions lies; MIX_NONE if there is none. */
uint32_t mix_flow_at(const struct mix_flow *flow, double share);

/* Choose by chance, with a state of base/random.h.  They return a node; MIX_NONE if there is none. */
/* The node after a node, other than by a return. */
uint32_t mix_flow_after(struct mix_flow *flow, uint32_t node, uint64_t *random);
/* The node before a node. */
uint32_t mix_flow_before(const struct mix_flow *flow, uint32_t node, uint64_t *random);
/* A place that calls of a node's function come back to; of any function, if no call is known. */
uint32_t mix_flow_back(const struct mix_flow *flow, uint32_t node, uint64_t *random);

#endif /* MIX_BLOCK_FLOW_H */

/* SPDX-License-Identifier: MIT
 *
 * Who called whom: a tree of call paths with their cycles.
 *
 * Calls and returns are followed on a stack for each thread, by the last instruction of each block.
 * A node of the tree is a function below the path of its callers; a function that calls itself stays
 * in its node.  Memory is bounded: when the tree is full, the paths with the fewest cycles are
 * summed up below their callers.
 */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include <tact/symbols.h>
#include <tact/trace.h>

#include "base/base.h"
#include "base/hash.h"

enum {
	CALLS_ROOT = 0,		/* node: its cycles are of no function */
	CALLS_NODES = 1 << 17,	/* at most */
	CALLS_DEPTH = 192,	/* of the tree: what is deeper becomes a neighbour there */
	CALLS_FRAMES = 1 << 12, /* of a thread; calls below are counted, and not told apart */
	CALLS_RECENT = 1 << 12, /* chosen: they fit the second-level cache */
	CALLS_REST = 0		/* function: calls that were summed up */
};

struct calls_node {
	uint32_t parent; /* less than its own number; of the root: itself */
	uint32_t function;
	uint32_t depth;
	uint32_t callee; /* the last one that was looked for; 0: none */
	uint64_t calls, instructions;
	double cycles; /* of the function itself */
};

/* A function.  Generated code has one for each block that is called. */
struct calls_function {
	const char *module, *name;	      /* borrowed from the trace and the symbols */
	size_t length;			      /* of the name, without ".cold" */
	const struct tact_trace_block *entry; /* a block of it */
};

struct calls_code {
	uint32_t function; /* plus 1; 0: not looked at */
	uint8_t flow;	   /* enum tact_flow of its last instruction */
	bool is_entry;	   /* of its function */
	bool is_inside;	   /* of its function, which begins elsewhere */
	bool is_plain;	   /* it neither calls nor returns */
	uint64_t target;   /* of a direct branch; 0: unknown */
};

/* Who was called, a moment ago: the table of all nodes is large, and slow to look into. */
struct calls_recent {
	uint32_t parent, function, node; /* 0: none */
};

struct calls_frame {
	uint32_t node, function;
	uint64_t back; /* address to which it returns; 0: unknown */
};

struct calls_thread {
	uint32_t id;
	bool is_over, is_begun;
	bool can_stay; /* the last block neither called nor returned, and no frame is lost */
	uint8_t flow;  /* of the last block, as are the next ones */
	uint32_t function;
	uint64_t end, target;	    /* address behind it */
	struct calls_frame *frames; /* owned */
	size_t n, capacity;
	uint64_t lost; /* frames that did not fit */
};

/* Finds the place of a block.  Returns 0 or -TACT_E_NOMEM. */
typedef int calls_place_fn(void *arg, const struct tact_trace_block *block, struct tact_place *out);

struct calls {
	calls_place_fn *place_of;
	void *arg;
	struct calls_node *nodes; /* owned, as is everything below */
	size_t n_nodes, max_nodes;
	struct hash node_of;
	struct calls_recent recent[CALLS_RECENT];
	struct calls_function *functions;
	size_t n_functions, functions_capacity;
	struct hash function_of;
	struct calls_code *codes; /* by number in the trace */
	size_t n_codes, codes_capacity;
	struct calls_thread *threads;
	size_t n_threads, threads_capacity, last;
};

/* max_nodes 0: CALLS_NODES.  Returns 0 or -TACT_E_NOMEM. */
int calls_create(struct calls **out, calls_place_fn *place_of, void *arg, size_t max_nodes);
void calls_destroy(struct calls *calls); /* NULL is allowed */

/* Takes an execution of a block.  *node is where its cycles belong.  Returns 0 or -TACT_E_NOMEM. */
int calls_enter(struct calls *calls, const struct tact_trace_event *event, uint32_t *node);

/* The same for a block that stays in the function that its thread is in: most do.  Otherwise returns
 * false, and calls_enter is to be called.
 */
static inline bool calls_stay(struct calls *calls, const struct tact_trace_event *event,
			      uint32_t *node)
{
	const struct tact_trace_block *b = event->block;
	const struct calls_code *code;
	const struct calls_frame *top;
	struct calls_thread *t;

	if (calls->last >= calls->n_threads || b->number >= calls->n_codes)
		return false;
	t = &calls->threads[calls->last];
	code = &calls->codes[b->number];
	if (t->id != event->thread || !t->can_stay || t->is_over)
		return false;
	top = &t->frames[t->n - 1];
	if (top->function + 1 != code->function)
		return false;
	t->flow = code->flow;
	t->function = top->function;
	t->end = b->address + b->code_size;
	t->target = code->target;
	t->can_stay = code->is_plain;
	*node = top->node;
	calls->nodes[top->node].instructions += b->n_insns;
	return true;
}

/* A thread has ended. */
void calls_end(struct calls *calls, uint32_t thread);

/* The program has ended: what is known of its blocks is dropped, the tree stays. */
void calls_finish(struct calls *calls);

static inline void calls_count(struct calls *calls, uint32_t node, double cycles)
{
	calls->nodes[node].cycles += cycles;
}

static inline bool calls_are_full(const struct calls *calls)
{
	return calls->n_nodes >= calls->max_nodes;
}

/* Makes room by summing up paths.  Nodes get new numbers: *map, which the caller frees, says which,
 * by old number.  Returns 0 or -TACT_E_NOMEM.
 */
int calls_prune(struct calls *calls, uint32_t **map);

/* Adds up cycles with those of all callees, by node: out has room for n_nodes. */
void calls_sum(const struct calls *calls, double *out);

#endif /* TRACE_CALLS_H */

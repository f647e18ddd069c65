/* SPDX-License-Identifier: MIT
 *
 * From what was executed to basic blocks.
 *
 * The blocks that QEMU translates overlap, and end where there is no branch: at the ends of pages,
 * after a number of instructions.  So each instruction becomes a node with the sum of all
 * executions that went through it; consecutive nodes are one block unless something separates them:
 * a branch, a target of a branch, or a count that changes, which means that execution entered or
 * left here (a fault, the end of the program).
 *
 * Code that was overwritten at the same address goes to another layer: a layer has one instruction
 * at an address.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "code/code.h"
#include "code/transfers.h"

enum { MAX_LAYERS = 256, LAYOUTS = 32 };

struct node {
	uint64_t place;
	uint64_t count;
	uint32_t space, layer;
	uint8_t length;
	uint8_t flow;	/* enum tact_flow */
	bool is_target; /* a branch leads here */
	uint8_t bytes[TACT_MAX_INSN_BYTES];
};

struct target {
	uint64_t place;
	uint32_t space, layer;
};

struct code_nodes {
	const struct tact_isa *isa;
	struct node *nodes; /* owned */
	size_t n_nodes, capacity;
	struct hash index;	/* of nodes */
	struct target *targets; /* owned */
	size_t n_targets, targets_capacity;
	uint32_t n_layers;
	uint8_t *code; /* owned: for the block that is being made */
	size_t code_capacity;
};

int code_nodes_create(struct code_nodes **out, const struct tact_isa *isa)
{
	struct code_nodes *n = calloc(1, sizeof(*n));

	if (!n)
		return -TACT_E_NOMEM;
	n->isa = isa;
	n->n_layers = 1;
	*out = n;
	return 0;
}

void code_nodes_destroy(struct code_nodes *n)
{
	if (!n)
		return;
	free(n->nodes);
	hash_free(&n->index);
	FREE_ALL(n->targets, n->code, n);
}

static uint64_t hash_of(uint32_t space, uint32_t layer, uint64_t place)
{
	return hash_number(place ^ (uint64_t)space << 48 ^ (uint64_t)layer << 40);
}

static struct node *find(const struct code_nodes *n, uint32_t space, uint32_t layer, uint64_t place)
{
	const uint64_t hash = hash_of(space, layer, place);
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&n->index, hash, &at)) != HASH_NONE) {
		struct node *x = &n->nodes[i];

		if (x->place == place && x->space == space && x->layer == layer)
			return x;
	}
	return NULL;
}

/* Returns whether another instruction than that of this code begins here in a layer. */
static bool differs(const struct code_nodes *n, uint32_t layer, uint32_t space, uint64_t place,
		    const uint8_t *code, size_t size)
{
	const struct node *x = find(n, space, layer, place);

	return x && (x->length > size || memcmp(x->bytes, code, x->length));
}

/* Returns whether a layer has other code where this would go. */
static bool conflicts(const struct code_nodes *n, uint32_t layer, uint32_t space, uint64_t place,
		      const uint8_t *code, size_t size)
{
	struct isa_layout layouts[LAYOUTS];
	size_t at = 0;

	while (at < size) {
		const size_t n_layouts = n->isa->lay_out(layouts, LAYOUTS, code + at, size - at);

		for (size_t i = 0; i < n_layouts; i++) {
			size_t length = layouts[i].length;
			struct isa_step step;

			if (!length) {
				n->isa->scan(&step, 1, code + at, size - at);
				if (!step.is_valid)
					return false;
				length = step.length;
			}
			if (differs(n, layer, space, place + at, code + at, size - at))
				return true;
			at += length;
		}
	}
	return false;
}

static uint32_t layer_for(struct code_nodes *n, uint32_t space, uint64_t place, const uint8_t *code,
			  size_t size)
{
	uint32_t layer;

	for (layer = 0; layer < n->n_layers && layer < MAX_LAYERS; layer++)
		if (!conflicts(n, layer, space, place, code, size))
			return layer;
	/* An address that is overwritten again and again gets a layer for each block. */
	return n->n_layers++;
}

static int add_node(struct code_nodes *n, struct node *node, const struct isa_step *step)
{
	if (step->is_direct) {
		if (tact_grow(&n->targets, &n->targets_capacity, n->n_targets + 1,
			      sizeof(*n->targets)))
			return -TACT_E_NOMEM;
		n->targets[n->n_targets++] = (struct target){node->place + (uint64_t)step->target,
							     node->space, node->layer};
	}
	if (n->n_nodes >= HASH_NONE ||
	    tact_grow(&n->nodes, &n->capacity, n->n_nodes + 1, sizeof(*n->nodes)) ||
	    hash_add(&n->index, hash_of(node->space, node->layer, node->place),
		     (uint32_t)n->n_nodes))
		return -TACT_E_NOMEM;
	n->nodes[n->n_nodes++] = *node;
	return 0;
}

int code_nodes_add(struct code_nodes *n, uint32_t space, uint64_t place, const uint8_t *code,
		   size_t size, uint64_t count, uint64_t *undecoded)
{
	const uint32_t layer = layer_for(n, space, place, code, size);
	struct isa_step step;
	size_t at = 0;

	while (at < size) {
		struct node *x = find(n, space, layer, place + at);
		struct node new = {
			.place = place + at, .count = count, .space = space, .layer = layer};

		if (x) {
			x->count += count;
			at += x->length;
			continue;
		}
		n->isa->scan(&step, 1, code + at, size - at);
		if (!step.is_valid) {
			++*undecoded;
			return 0;
		}
		new.length = step.length;
		new.flow = step.flow;
		memcpy(new.bytes, code + at, step.length);
		if (add_node(n, &new, &step))
			return -TACT_E_NOMEM;
		at += step.length;
	}
	return 0;
}

/* ---- blocks ---- */

/* Finds the node that is in one block with the previous one; NULL if a block ends here. */
static struct node *next_of(const struct code_nodes *n, const struct node *a)
{
	struct node *b;

	if (a->flow != TACT_FLOW_NEXT)
		return NULL;
	b = find(n, a->space, a->layer, a->place + a->length);
	return b && !b->is_target && b->count == a->count ? b : NULL;
}

static void mark_targets(struct code_nodes *n)
{
	for (size_t i = 0; i < n->n_targets; i++) {
		struct node *x =
			find(n, n->targets[i].space, n->targets[i].layer, n->targets[i].place);

		/* Code that was overwritten is entered from code that was not. */
		if (!x && n->targets[i].layer)
			x = find(n, n->targets[i].space, 0, n->targets[i].place);
		if (x)
			x->is_target = true;
	}
}

static int visit_block(struct code_nodes *n, const struct node *first, code_visit_run *visit,
		       void *self)
{
	struct code_run run = {.space = first->space, .place = first->place, .count = first->count};
	size_t size = 0;

	for (const struct node *x = first; x; x = next_of(n, x)) {
		if (tact_grow(&n->code, &n->code_capacity, size + x->length, 1))
			return -TACT_E_NOMEM;
		memcpy(n->code + size, x->bytes, x->length);
		size += x->length;
		run.n_insns++;
		run.transfer_size = x->flow == TACT_FLOW_NEXT ? 0 : x->length;
	}
	run.code = n->code;
	run.code_size = (uint32_t)size;
	return visit(self, &run);
}

int code_nodes_finish(struct code_nodes *n, code_visit_run *visit, void *self)
{
	uint8_t *is_inner; /* not the first one of its block */
	int status = 0;

	is_inner = calloc(n->n_nodes + 1, 1);
	if (!is_inner)
		return -TACT_E_NOMEM;
	mark_targets(n);
	for (size_t i = 0; i < n->n_nodes; i++) {
		const struct node *next = next_of(n, &n->nodes[i]);

		if (next && is_inner[next - n->nodes]++) {
			/* Two ways of reading the same bytes meet here. */
			n->nodes[next - n->nodes].is_target = true;
		}
	}
	for (size_t i = 0; i < n->n_nodes; i++)
		if (n->nodes[i].is_target)
			is_inner[i] = 0;
	for (size_t i = 0; i < n->n_nodes && !status; i++)
		if (!is_inner[i])
			status = visit_block(n, &n->nodes[i], visit, self);
	free(is_inner);
	return status;
}

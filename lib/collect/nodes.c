/* SPDX-License-Identifier: MIT
 *
 * From what QEMU translated to basic blocks.
 *
 * QEMU's blocks overlap, and end where no branch is: at the ends of pages, after a number of
 * instructions.  So each instruction becomes a node with the sum of all executions that went
 * through it; consecutive nodes are one block unless something separates them: a branch, a target
 * of a branch, or a count that changes, which means that somebody came from elsewhere or did not go
 * on (a fault, the end of the program).
 *
 * Code that was written anew at the same address goes to another layer: in a layer there is one
 * instruction at an address.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "isa/isa.h"

#define NO_NODE UINT32_MAX

enum { MAX_LAYERS = 256 };

struct node {
	uint64_t place;
	uint64_t count;
	uint32_t space, layer;
	uint8_t length;
	uint8_t flow;	/* enum isa_flow */
	bool is_target; /* a branch leads here */
	uint8_t bytes[TACT_MAX_INSN_BYTES];
};

struct target {
	uint64_t place;
	uint32_t space, layer;
};

struct collect_nodes {
	struct node *nodes; /* owned */
	size_t n_nodes, capacity;
	uint32_t *table; /* owned: node numbers by hash, NO_NODE: free; table_size is a power of two
			  */
	size_t table_size;
	struct target *targets; /* owned */
	size_t n_targets, targets_capacity;
	uint32_t n_layers;
};

int collect_nodes_create(struct collect_nodes **out)
{
	struct collect_nodes *n = calloc(1, sizeof(*n));

	if (!n)
		return -TACT_E_NOMEM;
	n->table_size = 1 << 16;
	n->table = malloc(n->table_size * sizeof(*n->table));
	if (!n->table) {
		free(n);
		return -TACT_E_NOMEM;
	}
	memset(n->table, 0xff, n->table_size * sizeof(*n->table));
	n->n_layers = 1;
	*out = n;
	return 0;
}

void collect_nodes_destroy(struct collect_nodes *n)
{
	if (!n)
		return;
	free(n->nodes);
	free(n->table);
	free(n->targets);
	free(n);
}

static size_t hash_of(uint32_t space, uint32_t layer, uint64_t place)
{
	uint64_t h =
		(place ^ (uint64_t)space << 48 ^ (uint64_t)layer << 40) * 0x9e3779b97f4a7c15ull;

	return (size_t)(h ^ h >> 29);
}

/* Place in the table of the node, or of the gap where it belongs. */
static size_t slot_of(const struct collect_nodes *n, uint32_t space, uint32_t layer, uint64_t place)
{
	size_t i = hash_of(space, layer, place) & (n->table_size - 1);

	for (; n->table[i] != NO_NODE; i = (i + 1) & (n->table_size - 1)) {
		const struct node *x = &n->nodes[n->table[i]];

		if (x->place == place && x->space == space && x->layer == layer)
			break;
	}
	return i;
}

static struct node *find(const struct collect_nodes *n, uint32_t space, uint32_t layer,
			 uint64_t place)
{
	const uint32_t i = n->table[slot_of(n, space, layer, place)];

	return i == NO_NODE ? NULL : &n->nodes[i];
}

static int grow_table(struct collect_nodes *n)
{
	const size_t size = 4 * n->table_size;
	uint32_t *larger;

	if (n->n_nodes * 2 < n->table_size)
		return 0;
	larger = malloc(size * sizeof(*larger));
	if (!larger)
		return -TACT_E_NOMEM;
	memset(larger, 0xff, size * sizeof(*larger));
	free(n->table);
	n->table = larger;
	n->table_size = size;
	for (size_t i = 0; i < n->n_nodes; i++) {
		const struct node *x = &n->nodes[i];

		n->table[slot_of(n, x->space, x->layer, x->place)] = (uint32_t)i;
	}
	return 0;
}

static int length_at(const uint8_t *code, size_t size, struct tact_insn *insn)
{
	const int length = tact_decode(insn, code, size);

	return length > 0 ? length : 0;
}

/* The length as far as it can be told without decoding, or 0. */
static int lay_out_one(struct isa_layout *layout, const uint8_t *code, size_t size)
{
	return tact_isa_next(NULL)->lay_out(layout, 1, code, size) ? layout->length : 0;
}

/* Whether a layer has other code where this would go. */
static bool conflicts(const struct collect_nodes *n, uint32_t layer, uint32_t space, uint64_t place,
		      const uint8_t *code, size_t size)
{
	struct isa_layout layout;
	struct tact_insn insn;
	size_t at = 0;

	while (at < size) {
		int length = lay_out_one(&layout, code + at, size - at);
		const struct node *x;

		if (!length)
			length = length_at(code + at, size - at, &insn);
		if (!length)
			return false;
		x = find(n, space, layer, place + at);
		if (x && (x->length > size - at || memcmp(x->bytes, code + at, x->length)))
			return true;
		at += (size_t)length;
	}
	return false;
}

static uint32_t layer_for(struct collect_nodes *n, uint32_t space, uint64_t place,
			  const uint8_t *code, size_t size)
{
	uint32_t layer;

	for (layer = 0; layer < n->n_layers && layer < MAX_LAYERS; layer++)
		if (!conflicts(n, layer, space, place, code, size))
			return layer;
	/* One that is written over and over gets a layer for each block. */
	return n->n_layers++;
}

static int add_node(struct collect_nodes *n, struct node *node, const struct tact_insn *insn)
{
	int64_t offset;

	if (isa_flow_target(insn, &offset)) {
		if (tact_grow(&n->targets, &n->targets_capacity, n->n_targets + 1,
			      sizeof(*n->targets)))
			return -TACT_E_NOMEM;
		n->targets[n->n_targets++] =
			(struct target){node->place + (uint64_t)offset, node->space, node->layer};
	}
	if (n->n_nodes >= NO_NODE || grow_table(n) ||
	    tact_grow(&n->nodes, &n->capacity, n->n_nodes + 1, sizeof(*n->nodes)))
		return -TACT_E_NOMEM;
	n->table[slot_of(n, node->space, node->layer, node->place)] = (uint32_t)n->n_nodes;
	n->nodes[n->n_nodes++] = *node;
	return 0;
}

int collect_nodes_add(struct collect_nodes *n, uint32_t space, uint64_t place, const uint8_t *code,
		      size_t size, uint64_t count, uint64_t *undecoded)
{
	const uint32_t layer = layer_for(n, space, place, code, size);
	struct tact_insn insn;
	size_t at = 0;

	while (at < size) {
		struct node *x = find(n, space, layer, place + at);
		struct node new = {
			.place = place + at, .count = count, .space = space, .layer = layer};
		int length;

		if (x) {
			x->count += count;
			at += x->length;
			continue;
		}
		length = length_at(code + at, size - at, &insn);
		if (!length) {
			++*undecoded;
			return 0;
		}
		new.length = (uint8_t)length;
		new.flow = (uint8_t)isa_flow_of(&insn);
		memcpy(new.bytes, code + at, (size_t)length);
		if (add_node(n, &new, &insn))
			return -TACT_E_NOMEM;
		at += (size_t)length;
	}
	return 0;
}

/* ---- blocks ---- */

/* The node that is one block with the one before it; NULL if a block ends here. */
static struct node *next_of(const struct collect_nodes *n, const struct node *a)
{
	struct node *b;

	if (a->flow != ISA_FLOW_NEXT)
		return NULL;
	b = find(n, a->space, a->layer, a->place + a->length);
	return b && !b->is_target && b->count == a->count ? b : NULL;
}

static void mark_targets(struct collect_nodes *n)
{
	for (size_t i = 0; i < n->n_targets; i++) {
		struct node *x =
			find(n, n->targets[i].space, n->targets[i].layer, n->targets[i].place);

		/* Code that was written anew is entered from code that was not. */
		if (!x && n->targets[i].layer)
			x = find(n, n->targets[i].space, 0, n->targets[i].place);
		if (x)
			x->is_target = true;
	}
}

static int add_item(struct collect_nodes *n, struct tact_collect *c, const struct node *first)
{
	struct collect_item item = {
		.count = first->count,
		.file = first->space,
		.section = UINT32_MAX,
		.place = first->place,
	};
	const struct node *x, *last = NULL;
	size_t size = 0;
	uint8_t *code;

	for (x = first; x; x = next_of(n, x)) {
		if (c->no_branch && x->flow != ISA_FLOW_NEXT)
			break;
		size += x->length;
		item.n_insns++;
		last = x;
	}
	if (!last)
		return 0;
	code = tact_arena_take(&c->memory, size);
	if (!code)
		return -TACT_E_NOMEM;
	item.code = code;
	item.code_size = (uint32_t)size;
	for (x = first; code < item.code + size; x = next_of(n, x)) {
		memcpy(code, x->bytes, x->length);
		code += x->length;
	}
	if (first->space) {
		struct collect_file *file = &c->files[first->space - 1];

		if (!file->is_tried)
			collect_file_open(file, NULL);
		collect_file_locate(file, first->place, &item.section, &item.place);
	}
	return collect_add_item(c, &item);
}

int collect_nodes_finish(struct collect_nodes *n, struct tact_collect *c)
{
	uint8_t *is_inner; /* not the first of its block */
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
			status = add_item(n, c, &n->nodes[i]);
	free(is_inner);
	return status;
}

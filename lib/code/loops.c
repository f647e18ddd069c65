/* SPDX-License-Identifier: MIT
 *
 * Innermost natural loops (Aho, Lam, Sethi, Ullman, "Compilers", 9.6.6): the blocks from which
 * the source of a back edge is reached without passing its target, the header.
 */
#include <stdlib.h>

#include "base/base.h"
#include "code/cfg.h"
#include "code/code.h"

struct finder {
	struct cfg cfg;
	struct cfg_predecessors pred;
	struct cfg_dominators dom;
	uint8_t *is_header;
	uint32_t *mark;	 /* header + 1 of the loop in which a block was last seen */
	uint32_t *stack; /* each block at most once for a loop */
};

static bool is_back_edge(const struct finder *f, uint32_t from, uint32_t to)
{
	return to != CFG_NONE && cfg_dominates(&f->dom, to, from);
}

static void mark_headers(struct finder *f)
{
	size_t i;
	int s;

	for (i = 0; i < f->cfg.n_blocks; i++)
		for (s = 0; s < 2; s++)
			if (is_back_edge(f, (uint32_t)i, f->cfg.blocks[i].successor[s]))
				f->is_header[f->cfg.blocks[i].successor[s]] = 1;
}

static bool push(struct finder *f, uint32_t header, uint32_t block, size_t *depth)
{
	if (f->mark[block] == header + 1)
		return true;
	if (f->is_header[block])
		return false; /* a loop inside: this one is not innermost */
	f->mark[block] = header + 1;
	f->stack[(*depth)++] = block;
	return true;
}

/* Collects the loop of a header: first and last block in memory.  False if it has a loop inside. */
static bool collect(struct finder *f, uint32_t header, uint32_t *low, uint32_t *high)
{
	size_t depth = 0;
	uint32_t i;

	*low = *high = header;
	f->mark[header] = header + 1;
	for (i = f->pred.first[header]; i < f->pred.first[header + 1]; i++)
		if (is_back_edge(f, f->pred.list[i], header) &&
		    !push(f, header, f->pred.list[i], &depth))
			return false;
	while (depth) {
		const uint32_t block = f->stack[--depth];

		if (block < *low)
			*low = block;
		if (block > *high)
			*high = block;
		for (i = f->pred.first[block]; i < f->pred.first[block + 1]; i++)
			if (!push(f, header, f->pred.list[i], &depth))
				return false;
	}
	return true;
}

/* In one piece: ends in the branch to its first byte, and all of it is code.  The header need not
 * come first: compilers enter a loop at its condition, which they put at the end.
 */
static bool is_in_one_piece(const struct finder *f, uint32_t low, uint32_t high)
{
	uint32_t i;

	if (f->cfg.blocks[high].successor[0] != low)
		return false;
	for (i = low; i <= high; i++)
		if (f->cfg.blocks[i].flow == CFG_BAD)
			return false;
	return true;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct obj_range *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int collect_all(struct finder *f, const struct obj_range *function,
		       struct code_ranges *loops)
{
	const size_t first = loops->count;
	uint32_t header, low, high;

	for (header = 0; header < f->cfg.n_blocks; header++) {
		if (!f->is_header[header] || !collect(f, header, &low, &high) ||
		    !is_in_one_piece(f, low, high))
			continue;
		if (code_ranges_add(loops, function->section,
				    function->begin + f->cfg.blocks[low].begin,
				    function->begin + f->cfg.blocks[high].end))
			return -TACT_E_NOMEM;
	}
	if (loops->count > first)
		qsort(loops->items + first, loops->count - first, sizeof(*loops->items),
		      compare_ranges);
	return 0;
}

int code_find_loops(const struct obj_file *obj, const struct obj_range *function,
		    struct code_ranges *loops)
{
	const uint8_t *code = obj->sections[function->section].data + function->begin;
	struct finder f = {0};
	int status;

	status = cfg_create(&f.cfg, code, function->end - function->begin,
			    obj->type == OBJ_RELOCATABLE);
	if (status < 0)
		return status == -TACT_E_LIMIT ? 0 : status;
	status = -TACT_E_NOMEM;
	f.is_header = calloc(f.cfg.n_blocks + 1, sizeof(*f.is_header));
	f.mark = calloc(f.cfg.n_blocks + 1, sizeof(*f.mark));
	f.stack = calloc(f.cfg.n_blocks + 1, sizeof(*f.stack));
	if (!f.is_header || !f.mark || !f.stack || cfg_predecessors_create(&f.pred, &f.cfg) ||
	    cfg_dominators_create(&f.dom, &f.cfg))
		goto out_free;
	mark_headers(&f);
	status = collect_all(&f, function, loops);
out_free:
	cfg_dominators_destroy(&f.dom);
	cfg_predecessors_destroy(&f.pred);
	free(f.stack);
	free(f.mark);
	free(f.is_header);
	cfg_destroy(&f.cfg);
	return status;
}

static int stop_inside(void *self, size_t offset, const struct cfg_insn *insn)
{
	const size_t *size = self;

	return insn->flow != CFG_NEXT && offset + insn->length < *size;
}

bool code_is_block(const struct obj_file *obj, const struct obj_range *range)
{
	size_t size = range->end - range->begin;

	return !cfg_walk(obj->sections[range->section].data + range->begin, size,
			 obj->type == OBJ_RELOCATABLE, stop_inside, &size);
}

int code_ranges_add(struct code_ranges *ranges, size_t section, size_t begin, size_t end)
{
	if (tact_grow(&ranges->items, &ranges->capacity, ranges->count + 1, sizeof(*ranges->items)))
		return -TACT_E_NOMEM;
	ranges->items[ranges->count++] = (struct obj_range){section, begin, end};
	return 0;
}

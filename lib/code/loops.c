/* SPDX-License-Identifier: MIT
 *
 * Innermost natural loops (Aho, Lam, Sethi, Ullman, "Compilers", 9.6.6): the blocks from which the
 * source of a back edge is reached without passing its target, the header.
 */
#include <stdlib.h>

#include "base/base.h"
#include "code/code.h"
#include "code/graph.h"
#include "code/transfers.h"

struct finder {
	struct code_graph graph;
	struct code_predecessors pred;
	struct code_dominators dom;
	uint8_t *is_header;
	uint32_t *mark;	 /* header + 1 of the loop in which a block was last seen */
	uint32_t *stack; /* each block at most once per loop */
};

static bool is_back_edge(const struct finder *f, uint32_t from, uint32_t to)
{
	return to != CODE_NONE && code_dominates(&f->dom, to, from);
}

static void mark_headers(struct finder *f)
{
	size_t i;
	int s;

	for (i = 0; i < f->graph.blocks.n; i++)
		for (s = 0; s < 2; s++)
			if (is_back_edge(f, (uint32_t)i, f->graph.successors[i][s]))
				f->is_header[f->graph.successors[i][s]] = 1;
}

static bool push(struct finder *f, uint32_t header, uint32_t block, size_t *depth)
{
	if (f->mark[block] == header + 1)
		return true;
	if (f->is_header[block])
		return false; /* an inner loop: this one is not innermost */
	f->mark[block] = header + 1;
	f->stack[(*depth)++] = block;
	return true;
}

/* Collects the loop of a header: first and last block in memory.  Returns false if it has an inner
 * loop.
 */
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

/* Tells whether all of a loop is code.  Blocks between its first and its last one may belong to
 * something else.  The header need not come first: compilers enter a loop at its condition, which
 * they put at the end.
 */
static bool is_code(const struct finder *f, uint32_t header, uint32_t low, uint32_t high)
{
	for (uint32_t i = low; i <= high; i++)
		if (f->mark[i] == header + 1 && f->graph.blocks.items[i].is_bad)
			return false;
	return true;
}

static int compare_loops(const void *a, const void *b)
{
	const struct code_loop *x = a, *y = b;

	return 4 * ORDER(x->range.begin, y->range.begin) + 2 * ORDER(x->range.end, y->range.end) +
	       ORDER(x->head, y->head);
}

static int collect_all(struct finder *f, const struct obj_range *function, struct code_loops *loops)
{
	const struct code_block *blocks = f->graph.blocks.items;
	const size_t first = loops->count;
	uint32_t header, low, high;

	for (header = 0; header < f->graph.blocks.n; header++) {
		if (!f->is_header[header] || !collect(f, header, &low, &high) ||
		    !is_code(f, header, low, high))
			continue;
		if (tact_grow(&loops->items, &loops->capacity, loops->count + 1,
			      sizeof(*loops->items)))
			return -TACT_E_NOMEM;
		loops->items[loops->count++] = (struct code_loop){
			.range = {function->section, function->begin + blocks[low].begin,
				  function->begin + blocks[high].end},
			.head = function->begin + blocks[header].begin};
	}
	if (loops->count > first)
		qsort(loops->items + first, loops->count - first, sizeof(*loops->items),
		      compare_loops);
	return 0;
}

int code_find_loops(const struct obj_file *obj, const struct obj_range *function,
		    struct code_loops *loops)
{
	const uint8_t *code = obj->sections[function->section].data + function->begin;
	struct finder f = {0};
	int status;

	status = code_graph_create(&f.graph, code_isa_of(obj), code,
				   function->end - function->begin, obj->type == OBJ_RELOCATABLE);
	if (status < 0)
		return status == -TACT_E_LIMIT ? 0 : status;
	status = -TACT_E_NOMEM;
	f.is_header = calloc(f.graph.blocks.n + 1, sizeof(*f.is_header));
	f.mark = calloc(f.graph.blocks.n + 1, sizeof(*f.mark));
	f.stack = calloc(f.graph.blocks.n + 1, sizeof(*f.stack));
	if (!f.is_header || !f.mark || !f.stack || code_predecessors_create(&f.pred, &f.graph) ||
	    code_dominators_create(&f.dom, &f.graph))
		goto out_free;
	mark_headers(&f);
	status = collect_all(&f, function, loops);
out_free:
	code_dominators_destroy(&f.dom);
	code_predecessors_destroy(&f.pred);
	FREE_ALL(f.stack, f.mark, f.is_header);
	code_graph_destroy(&f.graph);
	return status;
}

bool code_is_block(const struct obj_file *obj, const struct obj_range *range)
{
	const uint8_t *code = obj->sections[range->section].data + range->begin;
	const size_t size = range->end - range->begin;
	const struct isa_step *step;
	struct code_walk walk;

	code_walk_init(&walk, code_isa_of(obj), code, size);
	while ((step = code_walk_next(&walk)))
		if (step->flow != TACT_FLOW_NEXT && !code_comes_back((enum tact_flow)step->flow) &&
		    walk.next < size)
			return false;
	return true;
}

bool code_is_padding(const struct obj_file *obj, const struct obj_range *range)
{
	const struct isa_step *step;
	struct code_walk walk;

	code_walk_init(&walk, code_isa_of(obj), obj->sections[range->section].data + range->begin,
		       range->end - range->begin);
	while ((step = code_walk_next(&walk)))
		if (!step->is_padding)
			return false;
	return true;
}

int code_ranges_add(struct code_ranges *ranges, size_t section, size_t begin, size_t end)
{
	if (tact_grow(&ranges->items, &ranges->capacity, ranges->count + 1, sizeof(*ranges->items)))
		return -TACT_E_NOMEM;
	ranges->items[ranges->count++] = (struct obj_range){section, begin, end};
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "code/graph.h"

#include <stdlib.h>

#include "base/base.h"
#include "code/transfers.h"

/* A target between two instructions, or outside the function, is not a successor. */
static uint32_t block_at(const struct code_graph *graph, uint32_t target)
{
	const uint32_t number =
		target == CODE_NONE ? CODE_NONE : code_blocks_find(&graph->blocks, target);

	if (number == CODE_NONE || graph->blocks.items[number].begin != target)
		return CODE_NONE;
	return number;
}

static void connect(struct code_graph *graph)
{
	for (size_t i = 0; i < graph->blocks.n; i++) {
		const struct code_block *block = &graph->blocks.items[i];
		const bool goes_on = code_goes_on((enum tact_flow)block->flow);

		graph->successors[i][0] = block_at(graph, block->target);
		graph->successors[i][1] =
			goes_on && i + 1 < graph->blocks.n ? (uint32_t)i + 1 : CODE_NONE;
	}
}

static bool is_padding(const struct tact_isa *isa, const uint8_t *code,
		       const struct code_block *block)
{
	const struct isa_step *step;
	struct code_walk walk;

	code_walk_init(&walk, isa, code + block->begin, block->end - block->begin);
	while ((step = code_walk_next(&walk)))
		if (!step->is_padding)
			return false;
	return true;
}

static bool is_indirect(const struct tact_isa *isa, const uint8_t *code,
			const struct code_block *block)
{
	struct isa_step step;

	if (block->flow != TACT_FLOW_JUMP || block->target != CODE_NONE)
		return false;
	isa->scan(&step, 1, code + block->last, block->end - block->last);
	return step.is_valid && !step.is_direct;
}

/* Where a table of jumps leads is not read: what nothing else leads to, up to the next such jump,
 * are its targets; what stands before the first one belongs to it as well.  Without this, they would
 * enter the loop around the jump from nowhere.
 */
static void connect_tables(struct code_graph *graph, const struct tact_isa *isa,
			   const uint8_t *code, const bool *is_reached)
{
	const uint32_t n = (uint32_t)graph->blocks.n;
	uint32_t first = 0, jump, last = CODE_NONE;

	while (first < n && !is_indirect(isa, code, &graph->blocks.items[first]))
		first++;
	jump = first < n ? first : CODE_NONE;
	for (uint32_t i = 0; i < n; i++) {
		const struct code_block *block = &graph->blocks.items[i];

		graph->from[i] = graph->also[i] = CODE_NONE;
		if (i && jump != CODE_NONE && !is_reached[i] && !block->is_bad &&
		    !is_padding(isa, code, block)) {
			graph->from[i] = jump;
			if (last == CODE_NONE)
				graph->successors[jump][0] = i;
			else if (graph->successors[jump][1] == CODE_NONE)
				graph->successors[jump][1] = i;
			if (last != CODE_NONE)
				graph->also[last] = i;
			last = i;
		}
		if (i > first && is_indirect(isa, code, block)) {
			jump = i;
			last = CODE_NONE;
		}
	}
}

/* Padding behind a jump is not executed: without this, it would lead into the loop that it aligns,
 * as if the loop were entered there.  Returns 0 or -TACT_E_NOMEM.
 */
static int cut_padding(struct code_graph *graph, const struct tact_isa *isa, const uint8_t *code)
{
	const size_t n = graph->blocks.n;
	bool *is_reached = calloc(n + 1, sizeof(*is_reached));

	if (!is_reached)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < n; i++)
		for (int s = 0; s < 2; s++)
			if (graph->successors[i][s] != CODE_NONE)
				is_reached[graph->successors[i][s]] = true;
	for (size_t i = 1; i < n; i++)
		if (!is_reached[i] && graph->blocks.items[i].flow == TACT_FLOW_NEXT &&
		    is_padding(isa, code, &graph->blocks.items[i]))
			graph->successors[i][1] = CODE_NONE;
	connect_tables(graph, isa, code, is_reached);
	free(is_reached);
	return 0;
}

int code_graph_create(struct code_graph *graph, const struct tact_isa *isa, const uint8_t *code,
		      size_t size, bool is_relocatable)
{
	struct code_map map;
	int status = code_map_create(&map, isa, code, size);

	*graph = (struct code_graph){0};
	if (status < 0)
		return status;
	map.is_relocatable = is_relocatable;
	if (size)
		status = code_map_sweep(&map, 0, size);
	if (status >= 0)
		status = code_map_cut(&map, 0, size, &graph->blocks);
	code_map_destroy(&map);
	if (status >= 0) {
		graph->successors = malloc((graph->blocks.n + 1) * sizeof(*graph->successors));
		graph->from = malloc((graph->blocks.n + 1) * sizeof(*graph->from));
		graph->also = malloc((graph->blocks.n + 1) * sizeof(*graph->also));
		status = graph->successors && graph->from && graph->also ? 0 : -TACT_E_NOMEM;
	}
	if (status >= 0) {
		connect(graph);
		status = cut_padding(graph, isa, code);
	}
	if (status < 0)
		code_graph_destroy(graph);
	return status;
}

void code_graph_destroy(struct code_graph *graph)
{
	FREE_ALL(graph->blocks.items, graph->successors, graph->from, graph->also);
	*graph = (struct code_graph){0};
}

/* Whether an indirect jump leads to a block and does not have it as one of its successors. */
static bool is_further(const struct code_graph *graph, uint32_t block)
{
	const uint32_t jump = graph->from[block];

	return jump != CODE_NONE && graph->successors[jump][0] != block &&
	       graph->successors[jump][1] != block;
}

int code_predecessors_create(struct code_predecessors *pred, const struct code_graph *graph)
{
	const uint32_t n = (uint32_t)graph->blocks.n;
	uint32_t *memory = calloc((size_t)n + 2 + 3 * (size_t)n, sizeof(*memory));
	uint32_t i;
	int s;

	if (!memory)
		return -TACT_E_NOMEM;
	pred->first = memory;
	pred->list = memory + n + 2;
	/* Counting sort; counts are stored two places up, so that filling moves them down by one.
	 */
	for (i = 0; i < n; i++) {
		for (s = 0; s < 2; s++)
			if (graph->successors[i][s] != CODE_NONE)
				pred->first[graph->successors[i][s] + 2]++;
		pred->first[i + 2] += is_further(graph, i);
	}
	for (i = 2; i < n + 2; i++)
		pred->first[i] += pred->first[i - 1];
	for (i = 0; i < n; i++) {
		for (s = 0; s < 2; s++)
			if (graph->successors[i][s] != CODE_NONE)
				pred->list[pred->first[graph->successors[i][s] + 1]++] = i;
		if (is_further(graph, i))
			pred->list[pred->first[i + 1]++] = graph->from[i];
	}
	return 0;
}

void code_predecessors_destroy(struct code_predecessors *pred)
{
	free(pred->first);
	*pred = (struct code_predecessors){0};
}

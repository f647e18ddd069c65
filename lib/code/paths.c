/* SPDX-License-Identifier: MIT
 *
 * Ways through code with branches.  They are counted from each block on, and the i-th is found by
 * these counts, so that code with millions of ways costs no more than code with two.
 */
#include <stdlib.h>

#include "base/base.h"
#include "code/survey.h"
#include "code/transfers.h"

enum color { WHITE, GREY, BLACK };

/* Adds without going beyond CODE_MANY. */
static uint32_t add(uint32_t a, uint32_t b)
{
	return a + b < CODE_MANY ? a + b : CODE_MANY;
}

static uint32_t ways_from(const struct code_paths *p, uint32_t block)
{
	return add(p->n_ways[block][0], p->n_ways[block][1]);
}

/* Returns where a way goes on after a block: to the next one, or to the target of its transfer. */
static uint32_t follow(const struct code_paths *p, uint32_t block, int edge)
{
	return p->graph.successors[block][edge ? 0 : 1];
}

/* Counts the ways that an edge begins; all blocks that follow are counted. */
static uint32_t count_edge(const struct code_paths *p, uint32_t block, int edge)
{
	const struct code_block *b = &p->graph.blocks.items[block];
	const enum tact_flow flow = (enum tact_flow)b->flow;
	const uint32_t to = follow(p, block, edge);

	if (b->is_bad)
		return 0;
	if (p->is_loop)
		return to == CODE_NONE ? 0 : to == p->head ? 1 : ways_from(p, to);
	if (to != CODE_NONE)
		return ways_from(p, to);
	/* What leaves the code ends a way: a transfer, or the end of the code. */
	return edge ? flow == TACT_FLOW_BRANCH || !code_goes_on(flow) : code_goes_on(flow);
}

static void count_ways(struct code_paths *p, uint32_t block)
{
	const uint32_t next = count_edge(p, block, 0), target = count_edge(p, block, 1);

	p->n_ways[block][0] = next;
	p->n_ways[block][1] = target;
}

/* Visits blocks in depth, and counts each once all that follow it are counted.  An edge to a block
 * that is still being visited closes an inner loop: it begins no way, because the count is still 0.
 */
static void count_all(struct code_paths *p, uint32_t *stack, uint8_t *color)
{
	size_t depth = 0;

	stack[depth++] = p->head;
	while (depth) {
		const uint32_t block = stack[depth - 1];

		if (color[block] != WHITE) {
			depth--;
			if (color[block] == GREY)
				count_ways(p, block);
			color[block] = BLACK;
			continue;
		}
		color[block] = GREY;
		for (int s = 0; s < 2; s++) {
			const uint32_t to = p->graph.successors[block][s];

			if (to != CODE_NONE && color[to] == WHITE)
				stack[depth++] = to;
		}
	}
	p->n = ways_from(p, p->head);
}

int code_paths_create(struct code_paths *paths, const struct tact_isa *isa, const uint8_t *code,
		      size_t size, bool is_relocatable, bool is_loop, size_t head)
{
	uint32_t *stack = NULL;
	uint8_t *color = NULL;
	size_t n;
	int status;

	*paths = (struct code_paths){.is_loop = is_loop};
	status = code_graph_create(&paths->graph, isa, code, size, is_relocatable);
	if (status < 0)
		return status;
	n = paths->graph.blocks.n;
	paths->head = n && is_loop ? code_blocks_find(&paths->graph.blocks, head) : 0;
	paths->n_ways = calloc(n + 1, sizeof(*paths->n_ways));
	paths->blocks = calloc(n + 1, sizeof(*paths->blocks));
	stack = calloc(2 * n + 2, sizeof(*stack)); /* a block at most once for each edge into it */
	color = calloc(n + 1, 1);
	status = paths->n_ways && paths->blocks && stack && color ? 0 : -TACT_E_NOMEM;
	if (status >= 0 && n && paths->head != CODE_NONE)
		count_all(paths, stack, color);
	FREE_ALL(stack, color);
	if (status < 0)
		code_paths_destroy(paths);
	return status;
}

void code_paths_destroy(struct code_paths *paths)
{
	code_graph_destroy(&paths->graph);
	FREE_ALL(paths->n_ways, paths->blocks);
	*paths = (struct code_paths){0};
}

static void reverse(uint32_t *a, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		const uint32_t t = a[i];

		a[i] = a[n - 1 - i];
		a[n - 1 - i] = t;
	}
}

/* Turns the way so that its least block comes first. */
static void rotate(struct code_paths *p)
{
	size_t least = 0;

	for (size_t k = 1; k < p->n_blocks; k++)
		if (p->blocks[k] < p->blocks[least])
			least = k;
	/* The part before it goes behind the rest, which three reversals do. */
	reverse(p->blocks, least);
	reverse(p->blocks + least, p->n_blocks - least);
	reverse(p->blocks, p->n_blocks);
}

void code_paths_take(struct code_paths *p, uint32_t i)
{
	uint32_t block = p->head;

	p->n_blocks = 0;
	do {
		const uint32_t next = p->n_ways[block][0];
		const int edge = i >= next;

		p->blocks[p->n_blocks++] = block;
		if (edge)
			i -= next;
		block = follow(p, block, edge);
	} while (block != CODE_NONE && block != p->head && p->n_blocks < p->graph.blocks.n);
	if (p->is_loop)
		rotate(p);
}

bool code_paths_is_taken(const struct code_paths *p, size_t k)
{
	return k + 1 < p->n_blocks && p->blocks[k + 1] == p->graph.successors[p->blocks[k]][0] &&
	       p->blocks[k + 1] != p->graph.successors[p->blocks[k]][1];
}

/* SPDX-License-Identifier: MIT
 *
 * Dominators by Lengauer and Tarjan, "A fast algorithm for finding dominators in a flowgraph",
 * TOPLAS 1(1), 1979, the simple version: O(m log n) for any file, while the usual iteration is
 * quadratic for functions with a thousand jumps to one error label.
 */
#include <stdlib.h>

#include "base/base.h"
#include "code/graph.h"

/* Nodes are numbered in preorder of a depth-first search; 0 is an additional root that leads to the
 * entry and to every block without a known predecessor (jump tables, exception handlers).
 */
struct tree {
	const struct code_graph *graph;
	struct code_predecessors pred;
	uint32_t n;	    /* nodes, including our root */
	uint32_t *number;   /* of a block; 0: not reached yet */
	uint32_t *block;    /* of a number */
	uint32_t *parent;   /* in the depth-first tree */
	uint32_t *semi;	    /* semidominator */
	uint32_t *idom;	    /* immediate dominator */
	uint32_t *ancestor; /* in the forest that is being linked; CODE_NONE: it is a root there */
	uint32_t *best;	    /* node of least semidominator on the path to the ancestor */
	uint32_t *bucket;   /* first node that has this one as its semidominator; CODE_NONE: none */
	uint32_t *chain;    /* next node of the same bucket */
	uint32_t *stack;
	void *memory;
};

static int tree_create(struct tree *tree, const struct code_graph *graph)
{
	const size_t n = graph->blocks.n + 1;
	uint32_t **const arrays[] = {&tree->number, &tree->block,    &tree->parent, &tree->semi,
				     &tree->idom,   &tree->ancestor, &tree->best,   &tree->bucket,
				     &tree->chain,  &tree->stack};
	uint32_t *memory;
	size_t i;

	*tree = (struct tree){.graph = graph, .n = 1};
	/* The stack may hold each block once for each edge into it: two per block, and twice those
	 * that only an indirect jump leads to.
	 */
	memory = calloc(n * (ARRAY_SIZE(arrays) + 4), sizeof(*memory));
	if (!memory)
		return -TACT_E_NOMEM;
	tree->memory = memory;
	for (i = 0; i < ARRAY_SIZE(arrays); i++)
		*arrays[i] = memory + n * i;
	if (code_predecessors_create(&tree->pred, graph)) {
		free(memory);
		return -TACT_E_NOMEM;
	}
	return 0;
}

static void tree_destroy(struct tree *tree)
{
	code_predecessors_destroy(&tree->pred);
	free(tree->memory);
}

/* `chain` is not in use yet: it holds the parent that a block was last pushed from.  Returns the
 * depth of the stack.
 */
static size_t push(struct tree *tree, uint32_t block, uint32_t parent, size_t depth)
{
	if (block == CODE_NONE || tree->number[block])
		return depth;
	tree->chain[block] = parent;
	tree->stack[depth] = block;
	return depth + 1;
}

static void search_from(struct tree *tree, uint32_t root)
{
	uint32_t *const stack = tree->stack, *const from = tree->chain;
	size_t depth = 0;
	int s;

	from[root] = 0;
	stack[depth++] = root;
	while (depth) {
		const uint32_t block = stack[--depth];
		uint32_t number, next;

		if (tree->number[block])
			continue;
		number = tree->n++;
		tree->number[block] = number;
		tree->block[number] = block;
		tree->parent[number] = from[block];
		for (s = 0; s < 2; s++)
			depth = push(tree, tree->graph->successors[block][s], number, depth);
		next = code_table_of(tree->graph, block);
		for (; next != CODE_NONE; next = tree->graph->also[next])
			depth = push(tree, next, number, depth);
	}
}

/* The entry first, then blocks without predecessors, then what is left: cycles that nothing enters.
 * Later roots are children of ours, too.
 */
static void search(struct tree *tree)
{
	const size_t n = tree->graph->blocks.n;
	size_t i;

	if (n)
		search_from(tree, 0);
	for (i = 0; i < n; i++)
		if (tree->pred.first[i] == tree->pred.first[i + 1] && !tree->number[i])
			search_from(tree, (uint32_t)i);
	for (i = 0; i < n; i++)
		if (!tree->number[i])
			search_from(tree, (uint32_t)i);
}

/* Finds the node of least semidominator between v and its root in the forest, with path
 * compression.
 */
static uint32_t eval(struct tree *tree, uint32_t v)
{
	uint32_t *const ancestor = tree->ancestor, *const best = tree->best;
	uint32_t u = v;
	size_t depth = 0;

	if (ancestor[v] == CODE_NONE)
		return v;
	while (ancestor[ancestor[u]] != CODE_NONE) {
		tree->stack[depth++] = u;
		u = ancestor[u];
	}
	while (depth) {
		const uint32_t w = tree->stack[--depth], up = ancestor[w];

		if (tree->semi[best[up]] < tree->semi[best[w]])
			best[w] = best[up];
		ancestor[w] = ancestor[up];
	}
	return best[v];
}

static void solve(struct tree *tree)
{
	uint32_t w, v, i;

	for (w = 0; w < tree->n; w++) {
		tree->semi[w] = tree->best[w] = w;
		tree->ancestor[w] = tree->bucket[w] = tree->chain[w] = CODE_NONE;
	}
	for (w = tree->n - 1; w > 0; w--) {
		const uint32_t block = tree->block[w], up = tree->parent[w];

		if (up == 0)
			tree->semi[w] = 0;
		for (i = tree->pred.first[block]; i < tree->pred.first[block + 1]; i++) {
			const uint32_t u = eval(tree, tree->number[tree->pred.list[i]]);

			if (tree->semi[u] < tree->semi[w])
				tree->semi[w] = tree->semi[u];
		}
		tree->chain[w] = tree->bucket[tree->semi[w]];
		tree->bucket[tree->semi[w]] = w;
		tree->ancestor[w] = up;
		for (v = tree->bucket[up]; v != CODE_NONE; v = tree->chain[v]) {
			const uint32_t u = eval(tree, v);

			tree->idom[v] = tree->semi[u] < tree->semi[v] ? u : up;
		}
		tree->bucket[up] = CODE_NONE;
	}
	for (w = 1; w < tree->n; w++)
		if (tree->idom[w] != tree->semi[w])
			tree->idom[w] = tree->idom[tree->idom[w]];
}

/* Numbers the dominator tree in preorder without recursion: idom[w] < w, so sizes add up from the
 * end, and each node hands out places to its children from the beginning.
 */
static void number_tree(struct tree *tree, struct code_dominators *dom)
{
	uint32_t *const size = tree->semi, *const place = tree->best, *const next = tree->bucket;
	uint32_t w;

	for (w = 0; w < tree->n; w++)
		size[w] = 1;
	for (w = tree->n - 1; w > 0; w--)
		size[tree->idom[w]] += size[w];
	place[0] = 0;
	next[0] = 1;
	for (w = 1; w < tree->n; w++) {
		place[w] = next[tree->idom[w]];
		next[tree->idom[w]] += size[w];
		next[w] = place[w] + 1;
		dom->place[tree->block[w]] = place[w];
		dom->span[tree->block[w]] = size[w];
	}
}

int code_dominators_create(struct code_dominators *dom, const struct code_graph *graph)
{
	struct tree tree;

	if (tree_create(&tree, graph))
		return -TACT_E_NOMEM;
	dom->place = calloc(2 * graph->blocks.n + 1, sizeof(*dom->place));
	if (!dom->place) {
		tree_destroy(&tree);
		return -TACT_E_NOMEM;
	}
	dom->span = dom->place + graph->blocks.n;
	search(&tree);
	solve(&tree);
	number_tree(&tree, dom);
	tree_destroy(&tree);
	return 0;
}

void code_dominators_destroy(struct code_dominators *dom)
{
	free(dom->place);
	*dom = (struct code_dominators){0};
}

/* SPDX-License-Identifier: MIT
 *
 * See calls.h.
 */
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "isa/isa.h"

enum { NO_BACK = 0, SHARE_KEPT = 4 };

int calls_create(struct calls **out, calls_place_fn *place_of, void *arg, size_t max_nodes)
{
	struct calls *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (!c)
		return -TACT_E_NOMEM;
	c->place_of = place_of;
	c->arg = arg;
	c->max_nodes = max_nodes ? max_nodes : CALLS_NODES;
	c->nodes = tact_table_create(c->max_nodes, sizeof(*c->nodes));
	if (!c->nodes || hash_reserve(&c->node_of, c->max_nodes) ||
	    tact_grow(&c->functions, &c->functions_capacity, 1, sizeof(*c->functions))) {
		calls_destroy(c);
		return -TACT_E_NOMEM;
	}
	c->functions[CALLS_REST] = (struct calls_function){.module = "", .name = ""};
	c->n_functions = 1;
	c->nodes[CALLS_ROOT] = (struct calls_node){.function = CALLS_REST};
	c->n_nodes = 1;
	*out = c;
	return 0;
}

void calls_destroy(struct calls *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_threads; i++)
		free(c->threads[i].frames);
	hash_free(&c->node_of);
	hash_free(&c->function_of);
	tact_table_destroy(c->nodes, c->max_nodes, sizeof(*c->nodes));
	tact_table_destroy(c->codes, c->codes_capacity, sizeof(*c->codes));
	FREE_ALL(c->functions, c->threads, c);
}

void calls_finish(struct calls *c)
{
	tact_table_destroy(c->codes, c->codes_capacity, sizeof(*c->codes));
	c->codes = NULL;
	c->n_codes = c->codes_capacity = 0;
}

/* ---- functions ---- */

/* Cold parts of a function belong to it. */
static size_t length_of(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && cold > name ? (size_t)(cold - name) : strlen(name);
}

/* Returns the number of a function, or HASH_NONE without memory.  `apart`: the block is one. */
static uint32_t find_function(struct calls *c, const struct tact_trace_block *b,
			      const struct tact_place *place, bool apart)
{
	const size_t length = length_of(place->function);
	const uint64_t hash = hash_bytes(place->function, length) ^
			      (apart ? (uint64_t)b->number * 0x9e3779b97f4a7c15u : 0);
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&c->function_of, hash, &at)) != HASH_NONE) {
		const struct calls_function *f = &c->functions[i];

		if (f->length == length && !memcmp(f->name, place->function, length) &&
		    (apart ? f->entry == b : !strcmp(f->module, place->module)))
			return i;
	}
	if (tact_grow(&c->functions, &c->functions_capacity, c->n_functions + 1,
		      sizeof(*c->functions)) ||
	    hash_reserve(&c->function_of, c->n_functions + 1))
		return HASH_NONE;
	c->functions[c->n_functions] = (struct calls_function){
		.module = place->module, .name = place->function, .length = length, .entry = b};
	hash_add(&c->function_of, hash, (uint32_t)c->n_functions);
	return (uint32_t)c->n_functions++;
}

static int look_at(struct calls *c, const struct tact_trace_block *b)
{
	struct calls_code *code = &c->codes[b->number];
	struct tact_place place = TACT_PLACE_INIT;
	struct isa_step last;
	uint32_t function;

	if (c->place_of(c->arg, b, &place))
		return -TACT_E_NOMEM;
	function = find_function(c, b, &place, !*place.module);
	if (function == HASH_NONE)
		return -TACT_E_NOMEM;
	*code = (struct calls_code){.function = function + 1,
				    .is_entry = place.begin && place.address == place.begin,
				    .is_inside = place.begin && place.address != place.begin};
	if (b->last_offset < b->code_size &&
	    b->isa->scan(&last, 1, b->code + b->last_offset, b->code_size - b->last_offset) &&
	    last.is_valid) {
		code->flow = last.flow;
		if (last.is_direct)
			code->target = b->address + b->last_offset + (uint64_t)last.target;
	}
	code->is_plain = code->flow != TACT_FLOW_CALL && code->flow != TACT_FLOW_RETURN;
	return 0;
}

static const struct calls_code *find_code(struct calls *c, const struct tact_trace_block *b)
{
	const size_t n = c->n_codes;

	if (b->number >= n) {
		if (tact_table_grow(&c->codes, &c->codes_capacity, b->number + 1,
				    sizeof(*c->codes)))
			return NULL;
		c->n_codes = b->number + 1;
	}
	if (!c->codes[b->number].function && look_at(c, b))
		return NULL;
	return &c->codes[b->number];
}

/* ---- the tree ---- */

static uint64_t node_hash(uint32_t parent, uint32_t function)
{
	const uint64_t h = ((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15u;

	return h ^ h >> 31;
}

/* Returns the node of a function that this node calls.  If the tree is full: that node itself. */
static uint32_t child_of(struct calls *c, uint32_t parent, uint32_t function)
{
	struct calls_recent *recent;
	uint64_t hash;
	size_t at = 0;
	uint32_t i;

	if (parent != CALLS_ROOT && c->nodes[parent].function == function)
		return parent;
	if (c->nodes[parent].depth >= CALLS_DEPTH)
		parent = c->nodes[parent].parent;
	i = c->nodes[parent].callee;
	if (i && c->nodes[i].function == function)
		return i;
	hash = node_hash(parent, function);
	recent = &c->recent[hash % CALLS_RECENT];
	if (recent->node && recent->parent == parent && recent->function == function)
		return c->nodes[parent].callee = recent->node;
	while ((i = hash_next(&c->node_of, hash, &at)) != HASH_NONE)
		if (c->nodes[i].parent == parent && c->nodes[i].function == function) {
			*recent = (struct calls_recent){parent, function, i};
			return c->nodes[parent].callee = i;
		}
	if (c->n_nodes >= c->max_nodes)
		return parent;
	c->nodes[parent].callee = (uint32_t)c->n_nodes;
	c->nodes[c->n_nodes] = (struct calls_node){
		.parent = parent, .function = function, .depth = c->nodes[parent].depth + 1};
	hash_add(&c->node_of, hash, (uint32_t)c->n_nodes);
	return (uint32_t)c->n_nodes++;
}

void calls_sum(const struct calls *c, double *out)
{
	for (size_t i = 0; i < c->n_nodes; i++)
		out[i] = c->nodes[i].cycles;
	for (size_t i = c->n_nodes; i-- > 1;)
		out[c->nodes[i].parent] += out[i];
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Returns the cycles above which a node is kept. */
static double find_least(const struct calls *c, const double *sums, double *space)
{
	memcpy(space, sums, c->n_nodes * sizeof(*space));
	qsort(space, c->n_nodes, sizeof(*space), compare);
	return space[c->n_nodes / SHARE_KEPT];
}

/* Copies the nodes that stay, in order, and adds the others to a sum below their callers. */
static void copy_nodes(struct calls *c, const struct calls_node *from, size_t n, const bool *stays,
		       uint32_t *map)
{
	c->n_nodes = 1;
	memset(c->node_of.slots, 0, c->node_of.n_slots * sizeof(*c->node_of.slots));
	c->node_of.n = 0;
	memset(c->recent, 0, sizeof(c->recent));
	c->nodes[CALLS_ROOT] = from[CALLS_ROOT];
	c->nodes[CALLS_ROOT].callee = 0;
	map[CALLS_ROOT] = CALLS_ROOT;
	for (size_t i = 1; i < n; i++) {
		const uint32_t parent = map[from[i].parent];
		const bool is_rest =
			c->nodes[parent].function == CALLS_REST && parent != CALLS_ROOT;
		struct calls_node *to;

		map[i] = is_rest ? parent
				 : child_of(c, parent, stays[i] ? from[i].function : CALLS_REST);
		to = &c->nodes[map[i]];
		to->calls += from[i].calls;
		to->instructions += from[i].instructions;
		to->cycles += from[i].cycles;
	}
}

int calls_prune(struct calls *c, uint32_t **out)
{
	const size_t n = c->n_nodes;
	double *sums = malloc(2 * n * sizeof(*sums));
	bool *stays = calloc(n, sizeof(*stays));
	struct calls_node *copy = malloc(n * sizeof(*copy));
	uint32_t *map = malloc(n * sizeof(*map));
	double least;

	*out = NULL;
	if (!sums || !stays || !copy || !map) {
		FREE_ALL(sums, stays, copy, map);
		return -TACT_E_NOMEM;
	}
	calls_sum(c, sums);
	least = find_least(c, sums, sums + n);
	for (size_t i = 1; i < n; i++)
		stays[i] = sums[i] > least;
	for (size_t t = 0; t < c->n_threads; t++)
		for (size_t k = 0; k < c->threads[t].n; k++)
			for (uint32_t i = c->threads[t].frames[k].node; i && !stays[i];
			     i = c->nodes[i].parent)
				stays[i] = true;
	memcpy(copy, c->nodes, n * sizeof(*copy));
	copy_nodes(c, copy, n, stays, map);
	for (size_t t = 0; t < c->n_threads; t++)
		for (size_t k = 0; k < c->threads[t].n; k++)
			c->threads[t].frames[k].node = map[c->threads[t].frames[k].node];
	FREE_ALL(sums, stays, copy);
	*out = map;
	return 0;
}

/* ---- the stack of a thread ---- */

static struct calls_thread *find_thread(struct calls *c, uint32_t id)
{
	if (c->last < c->n_threads && c->threads[c->last].id == id && !c->threads[c->last].is_over)
		return &c->threads[c->last];
	for (c->last = 0; c->last < c->n_threads; c->last++)
		if (c->threads[c->last].id == id && !c->threads[c->last].is_over)
			return &c->threads[c->last];
	/* The place of a thread that has ended is free. */
	for (c->last = 0; c->last < c->n_threads && !c->threads[c->last].is_over; c->last++)
		;
	if (c->last == c->n_threads) {
		if (tact_grow(&c->threads, &c->threads_capacity, c->n_threads + 1,
			      sizeof(*c->threads)))
			return NULL;
		c->n_threads++;
	}
	c->threads[c->last] = (struct calls_thread){.id = id};
	return &c->threads[c->last];
}

void calls_end(struct calls *c, uint32_t thread)
{
	for (size_t i = 0; i < c->n_threads; i++) {
		struct calls_thread *t = &c->threads[i];

		if (t->id != thread || t->is_over)
			continue;
		free(t->frames);
		*t = (struct calls_thread){.id = thread, .is_over = true};
	}
}

static int push(struct calls *c, struct calls_thread *t, uint32_t function, uint64_t back)
{
	const uint32_t parent = t->n ? t->frames[t->n - 1].node : CALLS_ROOT;
	uint32_t node;

	if (t->n >= CALLS_FRAMES) {
		t->lost++;
		return 0;
	}
	if (tact_grow(&t->frames, &t->capacity, t->n + 1, sizeof(*t->frames)))
		return -TACT_E_NOMEM;
	node = child_of(c, parent, function);
	c->nodes[node].calls++;
	t->frames[t->n++] = (struct calls_frame){node, function, back};
	return 0;
}

/* Another function in the place of the topmost one. */
static void replace(struct calls *c, struct calls_thread *t, uint32_t function)
{
	struct calls_frame *top = &t->frames[t->n - 1];

	top->function = function;
	top->node = child_of(c, t->n > 1 ? top[-1].node : CALLS_ROOT, function);
	c->nodes[top->node].calls++;
}

/* Returns from the innermost function that was called from there, if any was. */
static void go_back(struct calls_thread *t, uint64_t address)
{
	for (size_t i = t->n; i-- > 1;)
		if (t->frames[i].back == address) {
			t->n = i;
			return;
		}
}

/* Whether a block may follow the last one without an interruption. */
static bool is_expected(const struct calls_thread *t, uint64_t address)
{
	switch ((enum tact_flow)t->flow) {
	case TACT_FLOW_NEXT:
	case TACT_FLOW_KERNEL:
		return address == t->end;
	case TACT_FLOW_BRANCH:
		return address == t->end || address == t->target || !t->target;
	default:
		return true;
	}
}

/* Goes on in another function, though nobody called it and nobody returned to it: a tail call, a
 * longjmp, a signal, or the end of its handler.
 */
static int move(struct calls *c, struct calls_thread *t, const struct calls_code *code,
		uint64_t address)
{
	const uint32_t function = code->function - 1;

	if (t->frames[t->n - 1].function == function)
		return 0;
	if (code->is_entry && !is_expected(t, address))
		return push(c, t, function, NO_BACK);
	for (size_t i = t->n; i-- > 0 && !code->is_entry;)
		if (t->frames[i].function == function) {
			t->n = i + 1;
			t->lost = 0;
			return 0;
		}
	/* Blocks of generated code that follow each other are one function. */
	if (!*c->functions[function].module && !*c->functions[t->frames[t->n - 1].function].module)
		return 0;
	replace(c, t, function);
	return 0;
}

/* Follows the thread to the function of the block. */
static int follow(struct calls *c, struct calls_thread *t, const struct calls_code *code,
		  uint64_t address)
{
	const uint32_t function = code->function - 1;

	if (!t->is_begun) {
		t->is_begun = true;
		return push(c, t, function, NO_BACK);
	}
	/* Not to the next instruction, which only asks for its address.  Nor into a function: then the
	 * callee was not traced, and did not return.
	 */
	if (t->flow == TACT_FLOW_CALL && address != t->end &&
	    (!code->is_inside || address == t->target))
		return push(c, t, function, t->end);
	if (t->flow == TACT_FLOW_RETURN && t->lost) {
		t->lost--;
		return 0;
	}
	if (t->flow == TACT_FLOW_RETURN)
		go_back(t, address);
	/* Among frames that are not known, only a longjmp leads anywhere. */
	if (t->lost && (t->flow != TACT_FLOW_JUMP || t->target || t->function == function))
		return 0;
	return move(c, t, code, address);
}

int calls_enter(struct calls *c, const struct tact_trace_event *event, uint32_t *node)
{
	const struct tact_trace_block *b = event->block;
	const struct calls_code *code;
	struct calls_thread *t;

	if (calls_stay(c, event, node))
		return 0;
	code = find_code(c, b);
	t = code ? find_thread(c, event->thread) : NULL;
	if (!t || follow(c, t, code, b->address))
		return -TACT_E_NOMEM;
	t->flow = code->flow;
	t->function = code->function - 1;
	t->end = b->address + b->code_size;
	t->target = code->target;
	t->can_stay = code->is_plain && !t->lost;
	*node = t->frames[t->n - 1].node;
	c->nodes[*node].instructions += b->n_insns;
	return 0;
}

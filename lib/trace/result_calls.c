/* SPDX-License-Identifier: MIT
 *
 * The calls of a result: the tree of the run with names, in order, without what is too small to see.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/calls.h"
#include "trace/result.h"

enum { MAX_CALLS = 1 << 13 };

/* Share of all cycles below which a path is summed up with its neighbours. */
static const double LEAST_SHARE = 1e-6;

static const char REST[] = "[other calls]";

/* What becomes of a node. */
struct twig {
	double self, cycles;	      /* cycles: with those of its callees */
	uint64_t calls, instructions; /* instructions: with those of its callees */
	uint32_t parent, first, next; /* first callee, and next one of the same caller; 0: none */
	uint32_t function;
	bool is_gone; /* part of its caller, or of a sum below it */
	uint32_t row;
};

struct maker {
	struct tact_result *r;
	const struct calls *calls;
	struct twig *twigs;	/* owned; more than nodes: sums of what is small come behind them */
	uint32_t *order, *rest; /* owned; rest: the sum below a twig, 0: none */
	size_t n;
};

/* Stubs of the dynamic linker jump on: who looks at calls does not want to see them. */
static bool is_stub(const struct calls_function *f)
{
	return f->name[0] == '[' && strstr(f->name, " .plt");
}

static void copy_twigs(struct maker *m)
{
	m->n = m->calls->n_nodes;
	for (size_t i = 0; i < m->n; i++) {
		const struct calls_node *node = &m->calls->nodes[i];
		struct twig *t = &m->twigs[i];

		*t = (struct twig){.self = node->cycles,
				   .calls = node->calls,
				   .instructions = node->instructions,
				   .parent = node->parent,
				   .function = node->function};
		if (i && m->twigs[t->parent].is_gone)
			t->parent = m->twigs[t->parent].parent;
		t->is_gone = i && t->parent && is_stub(&m->calls->functions[t->function]);
		if (t->is_gone) {
			m->twigs[t->parent].self += t->self;
			m->twigs[t->parent].instructions += t->instructions;
		}
		t->cycles = 0;
	}
}

static void add_up(struct maker *m)
{
	for (size_t i = m->n; i-- > 0;) {
		struct twig *t = &m->twigs[i];

		if (t->is_gone)
			continue;
		t->cycles += t->self;
		if (i) {
			m->twigs[t->parent].cycles += t->cycles;
			m->twigs[t->parent].instructions += t->instructions;
		}
	}
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Returns the cycles below which a twig is summed up; < 0: out of memory. */
static double find_least(const struct maker *m)
{
	double *all = malloc(m->n * sizeof(*all)), least = LEAST_SHARE * m->twigs[0].cycles;

	if (!all)
		return -1;
	for (size_t i = 0; i < m->n; i++)
		all[i] = m->twigs[i].is_gone ? 0 : m->twigs[i].cycles;
	qsort(all, m->n, sizeof(*all), compare_doubles);
	if (m->n > MAX_CALLS && all[MAX_CALLS] > least)
		least = all[MAX_CALLS];
	free(all);
	return least;
}

/* Sums up what is small below its caller.  Sums that were there before take part. */
static void cut(struct maker *m, double least)
{
	const size_t n = m->n;

	for (size_t i = 1; i < n; i++) {
		struct twig *t = &m->twigs[i], *sum;

		if (t->is_gone)
			continue;
		if (m->twigs[t->parent].is_gone) { /* in a sum already, with its caller */
			t->is_gone = true;
			continue;
		}
		if (t->cycles > least && t->function != CALLS_REST)
			continue;
		if (!m->rest[t->parent]) {
			m->rest[t->parent] = (uint32_t)m->n;
			m->twigs[m->n++] =
				(struct twig){.parent = t->parent, .function = CALLS_REST};
		}
		sum = &m->twigs[m->rest[t->parent]];
		sum->self += t->cycles;
		sum->cycles += t->cycles;
		sum->calls += t->calls;
		sum->instructions += t->instructions;
		t->is_gone = true;
	}
}

struct key {
	double cycles;
	uint32_t number;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles < y->cycles ? -1 : 1;
	return (x->number < y->number) - (x->number > y->number);
}

/* Links callees to their callers, the one with the most cycles first. */
static int link_twigs(struct maker *m)
{
	struct key *keys = malloc(m->n * sizeof(*keys));
	size_t n = 0;

	if (!keys)
		return -TACT_E_NOMEM;
	for (size_t i = 1; i < m->n; i++)
		if (!m->twigs[i].is_gone)
			keys[n++] = (struct key){m->twigs[i].cycles, (uint32_t)i};
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < n; i++) {
		struct twig *t = &m->twigs[keys[i].number], *parent = &m->twigs[t->parent];

		t->next = parent->first;
		parent->first = keys[i].number;
	}
	free(keys);
	return 0;
}

/* Finds the name of a function, which may have become known since: that of generated code. */
static int name(struct maker *m, uint32_t function, calls_place_fn *place_of, void *arg,
		struct tact_result_call *out)
{
	const struct calls_function *f = &m->calls->functions[function];
	struct tact_place place = TACT_PLACE_INIT;
	char *cut_name;

	if (function == CALLS_REST) {
		out->module = "";
		out->function = result_string(m->r, REST);
		return out->function ? 0 : -TACT_E_NOMEM;
	}
	if (place_of(arg, f->entry, &place))
		return -TACT_E_NOMEM;
	out->module = result_string(m->r, place.module);
	cut_name =
		strndup(place.function, *f->module && !strncmp(f->name, place.function, f->length)
						? f->length
						: strlen(place.function));
	out->function = cut_name ? result_string(m->r, cut_name) : NULL;
	free(cut_name);
	return out->module && out->function ? 0 : -TACT_E_NOMEM;
}

static int put(struct maker *m, uint32_t i, size_t parent, unsigned depth, calls_place_fn *place_of,
	       void *arg)
{
	const struct twig *t = &m->twigs[i];
	struct tact_result_call *c = result_add_call(m->r);

	if (!c)
		return -TACT_E_NOMEM;
	m->twigs[i].row = (uint32_t)m->r->n_calls - 1;
	c->parent = parent;
	c->depth = depth;
	c->calls = t->calls;
	c->instructions = t->instructions;
	c->cycles = t->cycles;
	c->self = t->self;
	return name(m, t->function, place_of, arg, c);
}

/* Callers first. */
static int put_all(struct maker *m, calls_place_fn *place_of, void *arg)
{
	unsigned depth = 0;
	uint32_t i = m->twigs[0].first, up;

	while (i) {
		const size_t parent = depth ? m->order[depth - 1] : TACT_NO_ROW;

		m->order[depth] = (uint32_t)m->r->n_calls;
		if (put(m, i, parent, depth, place_of, arg))
			return -TACT_E_NOMEM;
		if (m->twigs[i].first) {
			i = m->twigs[i].first;
			depth++;
			continue;
		}
		for (up = i; up && !m->twigs[up].next; depth--)
			up = m->twigs[up].parent;
		i = up ? m->twigs[up].next : 0;
		if (!up)
			break;
	}
	return 0;
}

/* Finds the row of each node: that of a small one is the sum below its caller. */
static int find_rows(const struct maker *m, uint32_t **out)
{
	const size_t n = m->calls->n_nodes;
	uint32_t *rows = malloc(n * sizeof(*rows));

	*out = rows;
	if (!rows)
		return -TACT_E_NOMEM;
	rows[CALLS_ROOT] = RESULT_NO_CALL;
	for (size_t i = 1; i < n; i++) {
		const struct twig *t = &m->twigs[i];
		const uint32_t rest = m->rest[t->parent];

		rows[i] = !t->is_gone ? t->row
			  : rest && !m->twigs[t->parent].is_gone &&
					  !is_stub(&m->calls->functions[t->function])
				  ? m->twigs[rest].row
				  : rows[t->parent];
	}
	return 0;
}

int result_add_calls(struct tact_result *r, const struct calls *calls, calls_place_fn *place_of,
		     void *arg, uint32_t **row_of)
{
	const size_t n = calls->n_nodes;
	struct maker m = {.r = r,
			  .calls = calls,
			  .twigs = calloc(2 * n + 1, sizeof(*m.twigs)),
			  .order = calloc(CALLS_DEPTH + 2, sizeof(*m.order)),
			  .rest = calloc(2 * n + 1, sizeof(*m.rest))};
	int status = m.twigs && m.order && m.rest ? 0 : -TACT_E_NOMEM;
	double least = 0;

	if (!status) {
		copy_twigs(&m);
		add_up(&m);
		least = find_least(&m);
		status = least < 0 ? -TACT_E_NOMEM : 0;
	}
	if (!status) {
		cut(&m, least);
		status = link_twigs(&m);
	}
	if (!status)
		status = put_all(&m, place_of, arg);
	if (!status && row_of)
		status = find_rows(&m, row_of);
	FREE_ALL(m.twigs, m.order, m.rest);
	return status;
}

/* ---- reading ---- */

struct tact_result_call *result_add_call(struct tact_result *r)
{
	struct tact_result_call *c;

	if (tact_grow(&r->calls, &r->calls_capacity, r->n_calls + 1, sizeof(*r->calls)))
		return NULL;
	c = &r->calls[r->n_calls++];
	*c = (struct tact_result_call){
		.size = sizeof(*c), .parent = TACT_NO_ROW, .module = "", .function = ""};
	return c;
}

size_t tact_result_count_calls(const struct tact_result *r)
{
	return r ? r->n_calls : 0;
}

int tact_result_get_call(const struct tact_result *r, size_t i, struct tact_result_call *out)
{
	if (i >= tact_result_count_calls(r))
		return -TACT_E_INVAL;
	return tact_fill(out, &r->calls[i], sizeof(r->calls[i]));
}

/* SPDX-License-Identifier: MIT
 *
 * Who called whom: the tree of calls, and functions with their callers.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "report/report.h"

enum { MOST_LINES = 100, DEFAULT_TOP = 15, MOST_CALLERS = 5, MOST_INDENT = 40 };

static const double LEAST_SHARE = 0.005;

static void add_count(struct text *out, uint64_t n, int width)
{
	if (n < 1000000)
		report_count(out, (double)n, width);
	else if (n < 10000000000u)
		text_printf(out, "%*.2fM", width - 1, (double)n / 1e6);
	else
		text_printf(out, "%*.2fG", width - 1, (double)n / 1e9);
}

/* Writes "deflate (gzip)", in `width` columns; 0: whole. */
static void add_function(struct text *out, const struct tact_run_report *r, const char *module,
			 const char *function, size_t width)
{
	char *name = report_name(function, r->is_mangled, false);
	struct text whole = {0};

	text_add(&whole, name ? name : function);
	if (*module && function[0] != '[')
		text_printf(&whole, " (%s)", file_base_name(module));
	if (!width || whole.size <= width)
		text_append(out, &whole);
	else
		report_short(out, name ? name : function, width);
	text_free(&whole);
	free(name);
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Returns the cycles that a path needs for a line of its own. */
static double find_least(const struct tact_run_report *r)
{
	const struct tact_result *result = r->result;
	const size_t most = r->top ? r->top : MOST_LINES;
	double least = r->top ? 0 : LEAST_SHARE * result->totals.cycles;
	double *all;

	if (result->n_calls <= most)
		return least;
	all = malloc(result->n_calls * sizeof(*all));
	if (!all)
		return least;
	for (size_t i = 0; i < result->n_calls; i++)
		all[i] = result->calls[i].cycles;
	qsort(all, result->n_calls, sizeof(*all), compare);
	if (all[most - 1] > least)
		least = all[most - 1];
	free(all);
	return least;
}

static void add_tree(const struct tact_run_report *r, struct text *out)
{
	const struct tact_result *result = r->result;
	const double all = result->totals.cycles, least = find_least(r);
	const size_t before = 37; /* columns */
	size_t hidden = 0;

	text_printf(out, "\n%7s%8s%10s%10s  %s\n", "Total", "Self", "Cycles", "Calls", "Function");
	for (size_t i = 0; i < result->n_calls; i++) {
		const struct tact_result_call *c = &result->calls[i];
		const int indent = c->depth * 2 < MOST_INDENT ? (int)c->depth * 2 : MOST_INDENT;
		const size_t used = before + (size_t)indent;
		size_t width = 0;

		if (c->cycles < least) {
			hidden++;
			continue;
		}
		if (r->is_cut && r->width > 0)
			width = (size_t)r->width > used + 16 ? (size_t)r->width - used : 16;
		text_printf(out, "%6.1f%%%7.1f%%", 100 * report_ratio(c->cycles, all),
			    100 * report_ratio(c->self, all));
		add_count(out, (uint64_t)c->cycles, 10);
		add_count(out, c->calls, 10);
		text_printf(out, "  %*s", indent, "");
		add_function(out, r, c->module, c->function, width);
		text_add(out, "\n");
	}
	if (hidden)
		text_printf(out,
			    "        ... and %zu paths with less than %.1f%% (--top N shows "
			    "more)\n",
			    hidden, 100 * report_ratio(least, all));
}

/* ---- functions with their callers ---- */

struct function {
	const char *module, *name; /* strings of the result: equal ones are the same */
	double self, cycles;
	uint64_t calls;
};

/* A function as one caller calls it. */
struct edge {
	uint32_t callee, caller; /* caller HASH_NONE: nobody */
	double self, cycles;
	uint64_t calls;
};

struct sums {
	const struct tact_result *r;
	struct function *functions; /* owned, as is everything below */
	struct edge *edges;
	uint32_t *of; /* function, by call */
	size_t n_functions, n_edges;
	struct hash function_of, edge_of;
};

static void free_sums(struct sums *s)
{
	hash_free(&s->function_of);
	hash_free(&s->edge_of);
	FREE_ALL(s->functions, s->edges, s->of);
}

static uint32_t find_function(struct sums *s, const struct tact_result_call *c)
{
	const uint64_t key[] = {(uintptr_t)c->module, (uintptr_t)c->function};
	const uint64_t hash = hash_bytes(key, sizeof(key));
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&s->function_of, hash, &at)) != HASH_NONE)
		if (s->functions[i].module == c->module && s->functions[i].name == c->function)
			return i;
	s->functions[s->n_functions] = (struct function){c->module, c->function, 0, 0, 0};
	hash_add(&s->function_of, hash, (uint32_t)s->n_functions);
	return (uint32_t)s->n_functions++;
}

static struct edge *find_edge(struct sums *s, uint32_t callee, uint32_t caller)
{
	const uint64_t key = (uint64_t)callee << 32 | caller, hash = hash_bytes(&key, sizeof(key));
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&s->edge_of, hash, &at)) != HASH_NONE)
		if (s->edges[i].callee == callee && s->edges[i].caller == caller)
			return &s->edges[i];
	s->edges[s->n_edges] = (struct edge){callee, caller, 0, 0, 0};
	hash_add(&s->edge_of, hash, (uint32_t)s->n_edges);
	return &s->edges[s->n_edges++];
}

/* Whether the function is among the callers of the path: then its cycles count there. */
static bool is_recursive(const struct sums *s, size_t i)
{
	for (size_t up = s->r->calls[i].parent; up != TACT_NO_ROW; up = s->r->calls[up].parent)
		if (s->of[up] == s->of[i])
			return true;
	return false;
}

static int add_up(struct sums *s)
{
	const size_t n = s->r->n_calls;

	s->functions = calloc(n + 1, sizeof(*s->functions));
	s->edges = calloc(n + 1, sizeof(*s->edges));
	s->of = calloc(n + 1, sizeof(*s->of));
	if (!s->functions || !s->edges || !s->of || hash_reserve(&s->function_of, n + 1) ||
	    hash_reserve(&s->edge_of, n + 1))
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct tact_result_call *c = &s->r->calls[i];
		const uint32_t f = s->of[i] = find_function(s, c);
		struct edge *e =
			find_edge(s, f, c->parent == TACT_NO_ROW ? HASH_NONE : s->of[c->parent]);
		const bool counts = !is_recursive(s, i);

		s->functions[f].self += c->self;
		s->functions[f].calls += c->calls;
		s->functions[f].cycles += counts ? c->cycles : 0;
		e->self += c->self;
		e->calls += c->calls;
		e->cycles += counts ? c->cycles : 0;
	}
	return 0;
}

/* Most cycles of its own first; edges: of the same function together, most cycles first. */
static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	return (x->caller > y->caller) - (x->caller < y->caller);
}

struct rank {
	double self;
	uint32_t function;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static void add_callers(const struct tact_run_report *r, const struct sums *s, uint32_t f,
			struct text *out)
{
	const double all = r->result->totals.cycles;
	size_t i = 0, n = 0;

	while (i < s->n_edges && s->edges[i].callee != f)
		i++;
	for (; i < s->n_edges && s->edges[i].callee == f; i++) {
		const struct edge *e = &s->edges[i];

		if (e->caller == HASH_NONE)
			continue;
		if (n++ >= MOST_CALLERS)
			continue;
		text_printf(out, "%6.1f%%%7.1f%%", 100 * report_ratio(e->self, all),
			    100 * report_ratio(e->cycles, all));
		add_count(out, e->calls, 10);
		text_add(out, "    from ");
		add_function(out, r, s->functions[e->caller].module, s->functions[e->caller].name,
			     r->is_cut && r->width > 50 ? (size_t)r->width - 34 : 0);
		text_add(out, "\n");
	}
	if (n > MOST_CALLERS)
		text_printf(out, "%25s    ... and %zu callers more\n", "", n - MOST_CALLERS);
}

static void add_functions(const struct tact_run_report *r, struct sums *s, struct text *out)
{
	const double all = r->result->totals.cycles;
	const size_t most = r->top ? r->top : DEFAULT_TOP;
	struct rank *ranks = calloc(s->n_functions + 1, sizeof(*ranks));

	if (!ranks)
		return;
	qsort(s->edges, s->n_edges, sizeof(*s->edges), compare_edges);
	for (size_t i = 0; i < s->n_functions; i++)
		ranks[i] = (struct rank){s->functions[i].self, (uint32_t)i};
	qsort(ranks, s->n_functions, sizeof(*ranks), compare_ranks);
	text_printf(out, "\n%7s%8s%10s  %s\n", "Self", "Total", "Calls", "Function");
	for (size_t i = 0; i < s->n_functions && i < most; i++) {
		const struct function *f = &s->functions[ranks[i].function];

		text_printf(out, "%6.1f%%%7.1f%%", 100 * report_ratio(f->self, all),
			    100 * report_ratio(f->cycles, all));
		add_count(out, f->calls, 10);
		text_add(out, "  ");
		add_function(out, r, f->module, f->name,
			     r->is_cut && r->width > 43 ? (size_t)r->width - 27 : 0);
		text_add(out, "\n");
		add_callers(r, s, ranks[i].function, out);
	}
	if (s->n_functions > most)
		text_printf(out, "        ... and %zu more (--top %zu shows all)\n",
			    s->n_functions - most, s->n_functions);
	free(ranks);
}

void report_calls_text(struct report *report, const struct tact_run_report *r)
{
	struct text *out = &report->text;
	struct sums s = {.r = r->result};

	if (r->by == TACT_REPORT_TREE) {
		add_tree(r, out);
		return;
	}
	if (add_up(&s))
		report->status = -TACT_E_NOMEM;
	else
		add_functions(r, &s, out);
	free_sums(&s);
}

/* ---- CSV ---- */

static void add_csv_function(struct text *out, const struct tact_run_report *r, const char *module,
			     const char *function)
{
	char *name = report_name(function, r->is_mangled, true);

	text_csv_field(out, module, strlen(module), false);
	text_add(out, ",");
	text_csv_field(out, name ? name : function, strlen(name ? name : function), false);
	text_add(out, ",");
	free(name);
}

static void add_csv_tree(struct report *report, const struct tact_run_report *r)
{
	struct text *out = &report->text;

	text_add(out,
		 "number,caller,depth,module,function,calls,instructions,cycles,self_cycles\n");
	for (size_t i = 0; i < r->result->n_calls && report_flush(report); i++) {
		const struct tact_result_call *c = &r->result->calls[i];

		text_printf(out, "%zu,%zu,%u,", i + 1, c->parent == TACT_NO_ROW ? 0 : c->parent + 1,
			    c->depth);
		add_csv_function(out, r, c->module, c->function);
		text_printf(out, "%" PRIu64 ",%" PRIu64 ",%.2f,%.2f\n", c->calls, c->instructions,
			    c->cycles, c->self);
	}
}

void report_calls_csv(struct report *report, const struct tact_run_report *r)
{
	struct text *out = &report->text;
	struct sums s = {.r = r->result};

	if (r->by == TACT_REPORT_TREE) {
		add_csv_tree(report, r);
		return;
	}
	if (add_up(&s))
		report->status = -TACT_E_NOMEM;
	qsort(s.edges, s.n_edges, s.edges ? sizeof(*s.edges) : 1, compare_edges);
	text_add(out, "module,function,caller_module,caller_function,calls,cycles,self_cycles\n");
	for (size_t i = 0; i < s.n_edges && report_flush(report); i++) {
		const struct edge *e = &s.edges[i];
		const struct function *f = &s.functions[e->callee];
		const bool has_caller = e->caller != HASH_NONE;

		add_csv_function(out, r, f->module, f->name);
		add_csv_function(out, r, has_caller ? s.functions[e->caller].module : "",
				 has_caller ? s.functions[e->caller].name : "");
		text_printf(out, "%" PRIu64 ",%.2f,%.2f\n", e->calls, e->cycles, e->self);
	}
	free_sums(&s);
}

/* SPDX-License-Identifier: MIT
 *
 * See run_page.h.  The page of a run, and what it shares with the page of two runs.
 */
#include "report/run_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tact/arch.h>
#include <tact/insn.h>

#include "trace/analysis.h"

/* At most, so that a page has a few megabytes. */
enum { MAX_FUNCTIONS = 400, MAX_BLOCKS = 80, MAX_INSNS = 64, MAX_CALLS = 6000 };

/* ---- strings ---- */

uint32_t page_string(struct page_data *p, const char *text)
{
	struct page_strings *s = &p->strings;
	uint64_t hash;
	size_t at = 0;
	uint32_t i;
	char *copy;

	if (!text) {
		s->is_failed = true;
		return 0;
	}
	hash = hash_bytes(text, strlen(text));
	while ((i = hash_next(&s->number_of, hash, &at)) != HASH_NONE)
		if (!strcmp(s->items[i], text))
			return i;
	copy = strdup(text);
	if (!copy || tact_grow(&s->items, &s->capacity, s->n + 1, sizeof(*s->items)) ||
	    hash_reserve(&s->number_of, s->n + 1)) {
		free(copy);
		s->is_failed = true;
		return 0;
	}
	s->items[s->n] = copy;
	hash_add(&s->number_of, hash, (uint32_t)s->n);
	return (uint32_t)s->n++;
}

uint32_t page_function(struct page_data *p, const char *symbol)
{
	char *name = report_name(symbol, p->is_mangled, false);
	const uint32_t number = page_string(p, name ? name : symbol);

	free(name);
	return number;
}

void page_put_strings(struct page_data *p)
{
	json_begin_array(&p->json, "strings");
	for (size_t i = 0; i < p->strings.n; i++)
		json_put_string(&p->json, NULL, p->strings.items[i]);
	json_end(&p->json);
}

void page_free(struct page_data *p)
{
	for (size_t i = 0; i < p->strings.n; i++)
		free(p->strings.items[i]);
	free(p->strings.items);
	hash_free(&p->strings.number_of);
}

/* ---- parts ---- */

void page_put_stalls(struct page_data *p, const char *key, const double *stalls)
{
	json_begin_array(&p->json, key);
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		json_put_fixed(&p->json, NULL, stalls[i], 0);
	json_end(&p->json);
}

void page_put_stall_names(struct page_data *p)
{
	json_begin_array(&p->json, "stalls");
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		json_put_string(&p->json, NULL, tact_stall_name((enum tact_stall)i));
	json_end(&p->json);
}

void page_put_bounds(struct page_data *p, const struct tact_result_row *row)
{
	struct text text = {0};

	report_bounds(&text, tact_arch_find(p->result->info.arch), row->bottlenecks);
	json_put_count(&p->json, NULL, page_string(p, text_string(&text)));
	text_free(&text);
}

/* Writes what the result leaves out, and what was never measured. */
static void put_names(struct page_data *p, const char *key,
		      const char *(*get)(const struct tact_result *result, size_t i))
{
	const char *name;

	json_begin_array(&p->json, key);
	for (size_t i = 0; (name = get(p->result, i)); i++)
		json_put_string(&p->json, NULL, name);
	json_end(&p->json);
}

void page_put_summary(struct page_data *p)
{
	const struct tact_result_info *info = &p->result->info;
	const struct tact_cycles_totals *t = &p->result->totals;
	const struct tact_arch *arch = tact_arch_find(info->arch);
	struct json *j = &p->json;

	json_put_string(j, "command", info->command);
	json_put_string(j, "arch", info->arch);
	json_put_string(j, "cpu", arch ? tact_arch_full_name(arch) : info->arch);
	json_put_string(j, "caveat", arch ? tact_arch_caveat(arch) : "");
	json_put_fixed(j, "cycles", t->cycles, 0);
	json_put_fixed(j, "error", t->error, 0);
	json_put_count(j, "instructions", t->instructions);
	json_put_count(j, "simulated", t->simulated);
	json_put_count(j, "unknown", t->unknown);
	json_put_count(j, "threads", t->n_threads);
	json_put_count(j, "accesses", t->accesses);
	json_put_bool(j, "exact", info->is_exact);
	json_put_bool(j, "caches", info->has_caches);
	json_put_bool(j, "branches", info->has_branches);
	json_put_bool(j, "partial", info->is_partial);
	json_begin_array(j, "misses");
	for (unsigned i = 0; i < 3 && info->has_caches; i++)
		json_put_count(j, NULL, t->misses[i]);
	json_end(j);
	json_put_count(j, "tlb_misses", t->tlb_misses);
	json_put_count(j, "page_walks", t->page_walks);
	json_put_count(j, "page_faults", t->page_faults);
	json_put_count(j, "executed_branches", t->branches);
	json_put_count(j, "mispredicted", t->mispredicted);
	json_put_count(j, "followed_branches", t->followed);
	put_names(p, "unmodelled", tact_result_unmodelled);
	put_names(p, "unmeasured", tact_result_unmeasured);
	page_put_stalls(p, "stalled", t->stalls);
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Returns the cycles below which a path is left out. */
static double least_call(const struct tact_result *r)
{
	double *all, least = 0;

	if (r->n_calls <= MAX_CALLS)
		return 0;
	all = malloc(r->n_calls * sizeof(*all));
	for (size_t i = 0; all && i < r->n_calls; i++)
		all[i] = r->calls[i].cycles;
	if (all) {
		qsort(all, r->n_calls, sizeof(*all), compare_doubles);
		least = all[MAX_CALLS];
	}
	free(all);
	return least;
}

/* Callers have at least the cycles of their callees: if a path is left out, so is all below it. */
void page_put_calls(struct page_data *p)
{
	const struct tact_result *r = p->result;
	const double least = least_call(r);
	struct json *j = &p->json;

	json_begin_array(j, "calls");
	for (size_t i = 0; i < r->n_calls; i++) {
		const struct tact_result_call *c = &r->calls[i];

		if (c->cycles < least || c->cycles <= 0)
			continue;
		json_begin_array(j, NULL);
		json_put_count(j, NULL, i);
		json_put_integer(j, NULL, c->parent == TACT_NO_ROW ? -1 : (int64_t)c->parent);
		json_put_count(j, NULL, page_function(p, c->function));
		json_put_count(j, NULL, page_string(p, c->module));
		json_put_count(j, NULL, c->calls);
		json_put_count(j, NULL, c->instructions);
		json_put_fixed(j, NULL, c->cycles, 0);
		json_put_fixed(j, NULL, c->self, 0);
		json_end(j);
	}
	json_end(j);
}

/* Returns the call, or the innermost caller of it that the page has; -1: none. */
static int64_t shown_call(const struct tact_result *r, uint32_t call, double least)
{
	size_t i = call == RESULT_NO_CALL ? TACT_NO_ROW : call;

	while (i != TACT_NO_ROW && (r->calls[i].cycles < least || r->calls[i].cycles <= 0))
		i = r->calls[i].parent;
	return i == TACT_NO_ROW ? -1 : (int64_t)i;
}

void page_put_slices(struct page_data *p)
{
	const struct tact_result *r = p->result;
	const double least = least_call(r);
	struct json *j = &p->json;

	json_begin_array(j, "slices");
	for (size_t i = 0; i < r->n_slices; i++) {
		const struct result_slice *s = &r->slices[i];
		const bool is_first = !i || s[-1].thread != s->thread;

		if (is_first) {
			if (i) {
				json_end(j);
				json_end(j);
			}
			json_begin_object(j, NULL);
			json_put_count(j, "thread", s->thread);
			json_begin_array(j, "at");
		}
		json_begin_array(j, NULL);
		json_put_fixed(j, NULL, s->cycles, 0);
		json_put_count(j, NULL, s->instructions);
		for (unsigned k = 0; k < 3; k++)
			json_put_count(j, NULL, s->misses[k]);
		json_put_count(j, NULL, s->mispredicted);
		json_put_integer(j, NULL, shown_call(r, s->call, least));
		json_end(j);
	}
	if (r->n_slices) {
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

/* ---- the page of a run ---- */

static void put_place(struct page_data *p, const struct tact_result_row *row)
{
	struct json *j = &p->json;

	json_put_count(j, NULL, page_function(p, row->function));
	json_put_count(j, NULL, page_string(p, row->module));
	json_put_fixed(j, NULL, row->cycles, 0);
	json_put_count(j, NULL, row->instructions);
	json_put_count(j, NULL, row->executions);
	page_put_bounds(p, row);
	page_put_stalls(p, NULL, row->stalls);
}

static void put_functions(struct page_data *p)
{
	size_t n;
	const struct tact_result_row *rows = result_rows(p->result, TACT_RESULT_FUNCTION, &n);

	json_begin_array(&p->json, "functions");
	for (size_t i = 0; i < n && i < MAX_FUNCTIONS; i++) {
		json_begin_array(&p->json, NULL);
		put_place(p, &rows[i]);
		json_end(&p->json);
	}
	json_end(&p->json);
	json_put_count(&p->json, "more_functions", n > MAX_FUNCTIONS ? n - MAX_FUNCTIONS : 0);
}

static void put_code(struct page_data *p, const struct tact_result_row *row)
{
	struct json *j = &p->json;
	size_t at = 0;

	json_begin_array(j, NULL);
	for (uint32_t i = 0; at < row->code_size && i < MAX_INSNS; i++) {
		char text[160];
		struct tact_insn insn;
		const int n = tact_isa_decode(row->isa, &insn, row->code + at, row->code_size - at);

		if (n <= 0 || tact_isa_format(row->isa, row->code + at, (size_t)n,
					      row->address + at, text, sizeof(text)) < 0)
			break;
		json_begin_array(j, NULL);
		json_put_count(j, NULL, page_string(p, text));
		json_put_fixed(j, NULL, row->insns && i < row->n_insns ? (double)row->insns[i] : 0,
			       0);
		json_end(j);
		at += (size_t)n;
	}
	json_end(j);
}

static void put_blocks(struct page_data *p)
{
	size_t n, shown = 0;
	const struct tact_result_row *rows = result_rows(p->result, TACT_RESULT_BLOCK, &n);
	struct json *j = &p->json;

	json_begin_array(j, "blocks");
	for (size_t i = 0; i < n && shown < MAX_BLOCKS; i++) {
		if (!rows[i].code_size)
			continue;
		shown++;
		json_begin_array(j, NULL);
		put_place(p, &rows[i]);
		json_printf_string(j, NULL, "0x%" PRIx64, rows[i].address);
		json_put_count(j, NULL, page_string(p, rows[i].source));
		json_put_integer(j, NULL, rows[i].line);
		json_put_fixed(j, NULL, rows[i].bound, 0);
		put_code(p, &rows[i]);
		json_end(j);
	}
	json_end(j);
}

static void put_uop(struct page_data *p, const struct tact_window_uop *x, int64_t base)
{
	const struct tact_sim_uop *u = &x->uop;
	const int64_t cycles[] = {u->delivered,	 u->issued,   u->ready,
				  u->dispatched, u->executed, u->retired};
	struct json *j = &p->json;

	json_begin_array(j, NULL);
	json_put_integer(j, NULL, *x->text ? (int64_t)page_string(p, x->text) : -1);
	json_put_integer(j, NULL, x->begins ? (int64_t)page_function(p, x->function) : -1);
	json_put_integer(j, NULL, u->port);
	for (size_t i = 0; i < ARRAY_SIZE(cycles); i++)
		json_put_integer(j, NULL, cycles[i] < 0 ? -1 : cycles[i] - base);
	json_end(j);
}

static void put_views(struct page_data *p, struct tact_analysis *analysis, int *status)
{
	struct json *j = &p->json;
	struct view *v;

	json_begin_array(j, "views");
	for (size_t i = 0; analysis && (*status = analysis_view(analysis, i, &v)) > 0; i++) {
		int64_t base = INT64_MAX;

		for (size_t k = 0; k < v->n; k++) {
			const struct tact_sim_uop *u = &v->uops[k].uop;
			const int64_t first = u->delivered >= 0 ? u->delivered : u->issued;

			base = first >= 0 && first < base ? first : base;
		}
		json_begin_object(j, NULL);
		json_put_count(j, "thread", v->thread);
		json_put_fixed(j, "at", v->at, 0);
		json_begin_array(j, "uops");
		for (size_t k = 0; k < v->n; k++)
			put_uop(p, &v->uops[k], base);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

int tact_report_run_page(const struct tact_page_report *opt,
			 int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	struct report report = {.write = write, .arg = arg};
	struct page_data p = {.json = {.out = &report.text}};
	struct tact_page_report r;
	int status = 0;

	if (!write || tact_read_options(&r, sizeof(r), opt) || !r.result)
		return -TACT_E_INVAL;
	p.result = r.result;
	p.is_mangled = r.is_mangled;
	json_begin_object(&p.json, NULL);
	json_put_string(&p.json, "schema", "tact.page/1");
	page_put_summary(&p);
	page_put_stall_names(&p);
	put_functions(&p);
	put_blocks(&p);
	page_put_calls(&p);
	page_put_slices(&p);
	page_put_listings(&p, r.analysis);
	put_views(&p, r.analysis, &status);
	page_put_strings(&p);
	json_end_line(&p.json);
	report.status = status < 0 || p.strings.is_failed ? -TACT_E_NOMEM : 0;
	page_free(&p);
	return report_end(&report);
}

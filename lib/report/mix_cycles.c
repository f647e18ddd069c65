/* SPDX-License-Identifier: MIT
 *
 * Where the cycles of a mix go, and why.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "report/mix_report.h"
#include "trace/result.h"

enum { DEFAULT_TOP = 30 };

struct cycles_context {
	const struct tact_mix_costs_totals *totals;
	const struct tact_arch *arch;
};

static struct cell take_text(const struct cell_at *at, struct text *text)
{
	struct cell cell =
		cell_printf(at->table, "%.*s", (int)text->size, text->data ? text->data : "");

	at->table->out->failed |= text->failed;
	text_free(text);
	return cell;
}

/* Returns the bounds that limit a block and, for people, its stalls. */
static struct cell get_limits(const struct cell_at *at)
{
	const struct tact_mix_cost *c = at->row;
	struct text text = {0};

	if (at->table->format == FORMAT_CSV)
		for (uint32_t bounds = c->bottlenecks; bounds; bounds &= bounds - 1)
			text_printf(&text, "%s%s", text.size ? "+" : "",
				    tact_bound_name((enum tact_bound)__builtin_ctz(bounds)));
	else
		report_limits(&text, ((const struct cycles_context *)at->table->context)->arch,
			      c->bottlenecks, c->stalls, c->cycles, 0);
	return take_text(at, &text);
}

/* Returns the longest stall of a block that no bound explains. */
static struct cell get_stall(const struct cell_at *at)
{
	const struct tact_mix_cost *c = at->row;
	unsigned most = 0;

	for (unsigned i = 1; i < TACT_N_STALLS; i++)
		if (c->stalls[i] > c->stalls[most])
			most = i;
	return cell_string(c->bottlenecks || !(c->stalls[most] > 0)
				   ? ""
				   : result_stall_column((enum tact_stall)most));
}

static struct cell get_arch(const struct cell_at *at)
{
	return cell_string(
		tact_arch_name(((const struct cycles_context *)at->table->context)->arch));
}

static double share_of(const struct cell_at *at, double cycles)
{
	const struct tact_mix_costs_totals *t =
		((const struct cycles_context *)at->table->context)->totals;

	return t->cycles > 0 ? cycles / t->cycles : 0;
}

static struct cell get_share(const struct cell_at *at)
{
	return cell_number(share_of(at, ((const struct tact_mix_cost *)at->row)->total));
}

static struct cell get_gain(const struct cell_at *at)
{
	return cell_number(share_of(at, ((const struct tact_mix_cost *)at->row)->gain));
}

static struct cell get_address(const struct cell_at *at)
{
	const struct tact_mix_cost *c = at->row;

	return cell_printf(at->table, "0x%" PRIx64, c->address);
}

static struct cell get_loop(const struct cell_at *at)
{
	return cell_integer(((const struct tact_mix_cost *)at->row)->is_loop);
}

static struct cell get_place(const struct cell_at *at)
{
	const struct tact_mix_cost *c = at->row;
	const char *file = file_base_name(c->module);
	char blocks[32] = "";

	if (c->n_blocks > 1)
		snprintf(blocks, sizeof(blocks), " of %u blocks", c->n_blocks);
	return cell_printf(at->table, "%s+0x%" PRIx64 " %s (%u instruction%s%s%s%s)",
			   *file ? file : c->module, c->address, c->function, c->length,
			   c->length == 1 ? "" : "s", c->is_loop ? ", loop" : "", blocks,
			   c->coverage < 1 ? ", at least" : "");
}

#define COST(member, kind) COLUMN_FIELD(struct tact_mix_cost, member, kind)

/* clang-format off: a column stays together */
static const struct column columns[] = {
	{NULL, "module", COST(module, STRING)},
	{NULL, "function", COST(function, STRING)},
	{NULL, "address", .get = get_address},
	{NULL, "instructions", COST(length, UNSIGNED)},
	{NULL, "is_loop", .get = get_loop},
	{NULL, "blocks", COST(n_blocks, UNSIGNED)},
	{"cycles", NULL, .get = get_share, .width = 8, .decimals = 2, .flags = COLUMN_PERCENT},
	{"executions", "executions", COST(executions, DOUBLE), .width = 10,
	 .flags = COLUMN_SEPARATED | COLUMN_FIT, .form = FORM_DECIMALS(0)},
	{"each", "cycles_per_execution", COST(cycles, DOUBLE), .width = 7, .decimals = 2,
	 .flags = COLUMN_FIT},
	{NULL, "cycles", COST(total, DOUBLE), .form = FORM_DECIMALS(0)},
	{NULL, "share", .get = get_share, .form = FORM_DECIMALS(6)},
	{"gain", "gain", .get = get_gain, .width = 8, .decimals = 2, .flags = COLUMN_PERCENT,
	 .form = FORM_DECIMALS(6), .rank = 2},
	{"limited by", "bottlenecks", .get = get_limits, .width = 10, .least = 14},
	{NULL, "coverage", COST(coverage, DOUBLE), .form = FORM_DECIMALS(4)},
	{NULL, "arch", .get = get_arch},
	{NULL, "stall", .get = get_stall},
	{"block", NULL, .get = get_place, .least = 24},
};
/* clang-format on */

/* Writes cycles by what limits them: bounds, and stalls that no bound explains. */
static void add_bottlenecks(const struct tact_arch *arch, const struct tact_mix_costs_totals *t,
			    struct text *out)
{
	enum { ALL = TACT_N_BOUNDS + TACT_N_STALLS };
	bool is_shown[ALL] = {false};

	text_printf(out, "%-14s  %8s  %s\n", "limited by", "cycles", "gained if it were gone");
	for (;;) {
		unsigned best = ALL;
		double most = 0, gain;

		for (unsigned i = 0; i < ALL; i++) {
			const double cycles =
				i < TACT_N_BOUNDS ? t->by_bound[i] : t->by_stall[i - TACT_N_BOUNDS];

			if (!is_shown[i] && cycles > most) {
				best = i;
				most = cycles;
			}
		}
		if (best == ALL)
			break;
		gain = best < TACT_N_BOUNDS ? t->gain_by_bound[best]
					    : t->gain_by_stall[best - TACT_N_BOUNDS];
		text_printf(out, "%-14s  %7.2f%%  %7.2f%%\n",
			    best < TACT_N_BOUNDS
				    ? tact_bound_name_on(arch, (enum tact_bound)best)
				    : tact_stall_name((enum tact_stall)(best - TACT_N_BOUNDS)),
			    100 * most / t->cycles, 100 * gain / t->cycles);
		is_shown[best] = true;
	}
	text_add(out, "\n");
}

static void add_rows(struct report *report, const struct tact_mix_costs_report *r,
		     const struct tact_mix_costs_totals *totals)
{
	const struct cycles_context context = {totals, r->arch};
	struct table table = {.columns = columns,
			      .n_columns = ARRAY_SIZE(columns),
			      .format = (int)r->format,
			      .out = &report->text,
			      .screen = r->width,
			      .is_cut = r->is_cut,
			      .context = &context};
	struct tact_mix_cost cost = TACT_MIX_COST_INIT;

	for (size_t i = 0; i < r->top && table.format == FORMAT_TEXT; i++) {
		tact_mix_costs_get_row(r->costs, i, &cost);
		table_fit(&table, &cost);
	}
	if (table.format != FORMAT_CSV || !r->is_continued)
		table_header(&table);
	for (size_t i = 0; i < r->top && report_flush(report); i++) {
		tact_mix_costs_get_row(r->costs, i, &cost);
		table_row(&table, &cost);
	}
	table_fini(&table);
}

static void add_text(struct report *report, const struct tact_mix_costs_report *r,
		     const struct tact_mix_costs_totals *t)
{
	const size_t n = tact_mix_costs_count(r->costs);
	struct text *out = &report->text;
	const struct tact_mix_summary *s = r->summary;

	if (s->recordings > 1)
		text_printf(out, "Recordings: %zu, added up\n", s->recordings);
	text_add(out, "CPU: ");
	report_cpu(out, r->arch);
	text_printf(out, "; rung: %s; error to expect of executions: %s\n",
		    tact_mix_rung_name(s->rung), tact_mix_rung_error(s->rung));
	text_add(out, s->is_relative ? "Core cycles (relative): " : "Core cycles: ");
	report_count(out, rint(t->cycles), 0);
	text_printf(out, " of %zu %s; cache misses and mispredictions come on top", n,
		    t->is_walked ? "blocks" : "blocks, each alone");
	if (t->failed)
		text_printf(out, "; %zu blocks have no prediction", t->failed);
	text_add(out, "\n\n");
	if (!(t->cycles > 0))
		return;
	add_bottlenecks(r->arch, t, out);
	add_rows(report, r, t);
	if (r->top < n)
		text_printf(out, "(%zu more blocks)\n", n - r->top);
}

static void add_json_row(const struct tact_mix_cost *c, struct json *json)
{
	json_begin_object(json, NULL);
	json_put_string(json, "module", c->module);
	json_put_string(json, "function", c->function);
	json_printf_string(json, "address", "0x%" PRIx64, c->address);
	json_put_count(json, "instructions", c->length);
	json_put_bool(json, "is_loop", c->is_loop);
	json_put_count(json, "blocks", c->n_blocks);
	json_put_fixed(json, "executions", c->executions, 0);
	json_put_number(json, "cycles_per_execution", c->cycles);
	json_put_fixed(json, "cycles", c->total, 0);
	json_put_fixed(json, "gain", c->gain, 0);
	json_begin_array(json, "bottlenecks");
	for (uint32_t bounds = c->bottlenecks; bounds; bounds &= bounds - 1)
		json_put_string(json, NULL,
				tact_bound_name((enum tact_bound)__builtin_ctz(bounds)));
	json_end(json);
	json_put_fixed(json, "coverage", c->coverage, 4);
	json_begin_object(json, "stalls");
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		json_put_number(json, result_stall_column((enum tact_stall)i),
				c->stalls[i] * c->executions);
	json_end(json);
	json_end(json);
}

static void add_json(struct report *report, const struct tact_mix_costs_report *r,
		     const struct tact_mix_costs_totals *t)
{
	struct json json = {.out = &report->text};
	const struct tact_mix_summary *s = r->summary;
	struct tact_mix_cost cost = TACT_MIX_COST_INIT;

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.mix.cycles/1");
	json_put_string(&json, "arch", tact_arch_name(r->arch));
	json_put_bool(&json, "verified", tact_arch_is_verified(r->arch));
	json_put_string(&json, "rung", tact_mix_rung_name(s->rung));
	json_put_bool(&json, "is_relative", s->is_relative);
	json_put_count(&json, "recordings", s->recordings);
	json_put_fixed(&json, "cycles", t->cycles, 0);
	json_put_count(&json, "failed_blocks", t->failed);
	json_put_bool(&json, "alone", !t->is_walked);
	json_begin_array(&json, "blocks");
	for (size_t i = 0; i < r->top && report_flush(report); i++) {
		tact_mix_costs_get_row(r->costs, i, &cost);
		add_json_row(&cost, &json);
	}
	json_end_line(&json);
}

int tact_report_mix_costs(const struct tact_mix_costs_report *opt,
			  int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	struct report report = {.write = write, .arg = arg};
	struct tact_mix_costs_report r;
	struct tact_mix_costs_totals t = TACT_MIX_COSTS_TOTALS_INIT;

	if (!write || tact_read_options(&r, sizeof(r), opt) || !r.summary || !r.costs || !r.arch)
		return -TACT_E_INVAL;
	tact_mix_costs_get_totals(r.costs, &t);
	if (!r.top)
		r.top = r.format == TACT_FORMAT_TEXT ? DEFAULT_TOP : SIZE_MAX;
	if (r.top > tact_mix_costs_count(r.costs))
		r.top = tact_mix_costs_count(r.costs);
	if (r.format == TACT_FORMAT_CSV)
		add_rows(&report, &r, &t);
	else if (r.format == TACT_FORMAT_JSON)
		add_json(&report, &r, &t);
	else
		add_text(&report, &r, &t);
	return report_end(&report);
}

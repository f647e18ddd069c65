/* SPDX-License-Identifier: MIT
 *
 * Code and its baseline, row by row: the table for people, CSV and JSON.
 */
#include <string.h>

#include <tact/version.h>

#include "base/tabular.h"
#include "check/check.h"
#include "report/report.h"
#include "view/view.h"

static const struct check_row *row_of(const struct cell_at *at)
{
	return at->row;
}

/* Makes a cell of what `add` writes. */
static struct cell cell_of(const struct cell_at *at,
			   void (*add)(struct text *out, const struct check_row *row))
{
	text_reset(&at->table->scratch);
	add(&at->table->scratch, row_of(at));
	at->table->out->failed |= at->table->scratch.failed;
	return cell_chars(at->table->scratch.data ? at->table->scratch.data : "",
			  at->table->scratch.size);
}

static struct cell get_section(const struct cell_at *at)
{
	return cell_string(row_of(at)->section->name);
}

static struct cell get_place(const struct cell_at *at)
{
	return cell_of(at, report_check_place);
}

static struct cell get_why(const struct cell_at *at)
{
	return cell_of(at, report_check_why);
}

static struct cell get_limit(const struct cell_at *at)
{
	return cell_of(at, report_check_limit);
}

static struct cell get_arch(const struct cell_at *at)
{
	return cell_string(tact_arch_name(row_of(at)->section->archs[row_of(at)->arch]));
}

static struct cell get_status(const struct cell_at *at)
{
	return cell_string(check_status_name(row_of(at)->status));
}

/* A lower bound looks like one. */
static struct cell get_shown(const struct cell_at *at)
{
	const struct check_row *row = row_of(at);
	const unsigned k = at->column->argument;

	if (row->cycles[k] < 0)
		return cell_string("-");
	return cell_printf(at->table, "%s%.2f", row->is_lower_bound[k] ? ">=" : "", row->cycles[k]);
}

static struct cell get_change(const struct cell_at *at)
{
	const struct check_row *row = row_of(at);

	if (!(row->ratio > 0))
		return cell_string("-");
	return cell_printf(at->table, "%+.1f%%%s", 100 * (row->ratio - 1),
			   check_is_unsure(row) ? "?" : "");
}

/* ---- for programs ---- */

static struct cell get_name(const struct cell_at *at)
{
	return cell_string(check_piece(row_of(at))->name);
}

static struct cell get_function(const struct cell_at *at)
{
	return cell_string(check_piece(row_of(at))->function);
}

static struct cell get_source(const struct cell_at *at)
{
	return cell_string(check_piece(row_of(at))->source);
}

static struct cell get_was(const struct cell_at *at)
{
	return row_of(at)->is_renamed ? cell_string(check_old_name(row_of(at))) : cell_none();
}

static struct cell get_cycles(const struct cell_at *at)
{
	const double cycles = row_of(at)->cycles[at->column->argument];

	return cycles < 0 ? cell_none() : cell_number(cycles);
}

static struct cell get_coverage(const struct cell_at *at)
{
	const struct check_row *row = row_of(at);
	const unsigned k = at->column->argument;

	return row->cycles[k] < 0 ? cell_none()
				  : cell_number(row->code->cost[k][row->arch].coverage);
}

static struct cell get_bottlenecks(const struct cell_at *at)
{
	const struct check_row *row = row_of(at);
	const unsigned k = at->column->argument;

	if (row->cycles[k] < 0)
		return cell_none();
	text_reset(&at->table->scratch);
	report_code_limit(&at->table->scratch, NULL, &row->code->cost[k][row->arch]);
	at->table->out->failed |= at->table->scratch.failed;
	return cell_chars(at->table->scratch.data ? at->table->scratch.data : "",
			  at->table->scratch.size);
}

static struct cell get_stored(const struct cell_at *at)
{
	return row_of(at)->stored < 0 ? cell_none() : cell_number(row_of(at)->stored);
}

static struct cell get_ratio(const struct cell_at *at)
{
	return row_of(at)->ratio > 0 ? cell_number(row_of(at)->ratio) : cell_none();
}

static struct cell get_limit_value(const struct cell_at *at)
{
	const struct check_limit *limit = &row_of(at)->section->limit;

	return limit->is_none || limit->is_percent != (at->column->argument == 0)
		       ? cell_none()
		       : cell_number(limit->value);
}

static struct cell get_max(const struct cell_at *at)
{
	const double most = row_of(at)->section->max_cycles;

	return most > 0 ? cell_number(most) : cell_none();
}

static struct cell get_moved(const struct cell_at *at)
{
	return cell_bool(row_of(at)->is_moved);
}

static struct cell get_verified(const struct cell_at *at)
{
	return cell_bool(tact_arch_is_verified(row_of(at)->section->archs[row_of(at)->arch]));
}

static struct cell get_model(const struct cell_at *at)
{
	return cell_string(row_of(at)->section->model);
}

/* clang-format off */
static const struct column columns[] = {
	{"Result", "result", .get = get_status, .width = 7},
	{"Section", NULL, .get = get_section, .width = 8, .least = 7, .rank = 2},
	{"Code", NULL, .get = get_place, .width = 10, .least = 10},
	{"CPU", NULL, .get = get_arch, .width = 4, .least = 4},
	{"Baseline", NULL, .get = get_shown, .argument = 0, .width = 8, .flags = COLUMN_RIGHT},
	{"Now", NULL, .get = get_shown, .argument = 1, .width = 7, .flags = COLUMN_RIGHT},
	{"Change", NULL, .get = get_change, .width = 8, .flags = COLUMN_RIGHT},
	{"Limit", NULL, .get = get_limit, .width = 10, .flags = COLUMN_RIGHT, .rank = 3},
	{"Why", NULL, .get = get_why, .rank = 1},
	{NULL, "section", .get = get_section},
	{NULL, "name", .get = get_name},
	{NULL, "function", .get = get_function},
	{NULL, "source", .get = get_source, .flags = COLUMN_SKIP_EMPTY},
	{NULL, "renamed_from", .get = get_was},
	{NULL, "arch", .get = get_arch},
	{NULL, "verified", .get = get_verified},
	{NULL, "model", .get = get_model},
	{NULL, "cycles_per_iteration_baseline", .get = get_cycles, .argument = 0},
	{NULL, "cycles_per_iteration", .get = get_cycles, .argument = 1},
	{NULL, "ratio", .get = get_ratio, .form = FORM_DECIMALS(6)},
	{NULL, "coverage_baseline", .get = get_coverage, .argument = 0},
	{NULL, "coverage", .get = get_coverage, .argument = 1},
	{NULL, "bottlenecks_baseline", .get = get_bottlenecks, .argument = 0},
	{NULL, "bottlenecks", .get = get_bottlenecks, .argument = 1},
	{NULL, "limit_percent", .get = get_limit_value, .argument = 0},
	{NULL, "limit_cycles", .get = get_limit_value, .argument = 1},
	{NULL, "max_cycles", .get = get_max},
	{NULL, "stored_cycles", .get = get_stored},
	{NULL, "moved", .get = get_moved},
};
/* clang-format on */

static struct table make_table(struct report *report, const struct tact_check_report *r)
{
	return (struct table){
		.columns = columns,
		.n_columns = ARRAY_SIZE(columns),
		.format = (int)r->format,
		.out = &report->text,
		.schema = "tact.check/1",
		.kind = "code",
		.screen = r->width > 0 ? (size_t)r->width : 0,
		.is_cut = r->is_cut,
	};
}

static void add_cpus(struct text *out, const struct tact_codecheck *check)
{
	size_t n = 0;

	text_add(out, "\nCPU: ");
	for (size_t i = 0; i < check->n; i++) {
		for (size_t k = 0; k < check->sections[i].n_archs; k++) {
			const struct tact_arch *arch = check->sections[i].archs[k];
			bool is_said = false;

			for (size_t j = 0; j <= i && !is_said; j++)
				for (size_t l = 0; l < (j < i ? check->sections[j].n_archs : k);
				     l++)
					is_said |= check->sections[j].archs[l] == arch;
			if (is_said)
				continue;
			text_add(out, n++ ? ", " : "");
			report_cpu(out, arch);
		}
	}
	text_add(out, "\n");
}

static void add_remarks(struct text *out, const struct tact_check_report *r)
{
	const struct tact_codecheck *check = r->check;

	for (size_t i = 0; i < tact_remarks_count(check->remarks); i++) {
		const size_t start = out->size;

		text_add(out, "Remark: ");
		text_wrap_to(out, tact_remarks_text(check->remarks, i), 8, start,
			     r->width > 0 ? (size_t)r->width : 0);
	}
	for (size_t i = 0; i < check->n; i++)
		if (check->sections[i].failure)
			text_printf(out, "Failed: [%s] %s: %s\n", check->sections[i].name,
				    check->sections[i].file, check->sections[i].failure);
	if (check->summary.n_lower_bounds)
		text_add(out, ">= is a lower bound: tact has no data for some instructions, which "
			      "'tact predict' names.\n");
}

void report_check_text(struct report *report, const struct tact_check_report *r)
{
	const struct tact_codecheck *check = r->check;
	struct table table = make_table(report, r);
	size_t n = 0;

	report_check_verdict(&report->text, check);
	text_add(&report->text, "\n");
	while (n < check->n_rows && (r->is_all || !check_is_plain(&check->rows[n])))
		table_fit(&table, &check->rows[n++]);
	if (n) {
		text_add(&report->text, "\n");
		table_header(&table);
	}
	for (size_t i = 0; i < n && report_flush(report); i++)
		table_row(&table, &check->rows[i]);
	table_fini(&table);
	add_cpus(&report->text, check);
	add_remarks(&report->text, r);
}

void report_check_csv(struct report *report, const struct tact_check_report *r)
{
	struct table table = make_table(report, r);

	table_header(&table);
	for (size_t i = 0; i < r->check->n_rows && report_flush(report); i++)
		table_row(&table, &r->check->rows[i]);
	table_fini(&table);
}

static void put_totals(struct json *json, const struct tact_codecheck *check)
{
	const struct tact_codecheck_summary *s = &check->summary;

	json_begin_object(json, NULL);
	json_put_string(json, "schema", "tact.check/1");
	json_put_string(json, "kind", "totals");
	json_printf_string(json, "tact", "%d.%d.%d", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
			   TACT_VERSION_PATCH);
	if (check->has_baseline)
		json_put_string(json, "baseline_tact", check->tact);
	json_put_count(json, "compared", s->n);
	json_put_count(json, "over", s->n_over);
	json_put_count(json, "slower", s->n_slower);
	json_put_count(json, "faster", s->n_faster);
	json_put_count(json, "same", s->n_same);
	json_put_count(json, "new", s->n_new);
	json_put_count(json, "gone", s->n_gone);
	json_put_count(json, "failed", s->n_failed);
	json_put_count(json, "unknown", s->n_unknown);
	json_put_count(json, "lower_bounds", s->n_lower_bounds);
	json_begin_array(json, "failed_sections");
	for (size_t i = 0; i < check->n; i++) {
		if (!check->sections[i].failure)
			continue;
		json_begin_object(json, NULL);
		json_put_string(json, "section", check->sections[i].name);
		json_put_string(json, "file", check->sections[i].file);
		json_put_string(json, "reason", check->sections[i].failure);
		json_end(json);
	}
	json_end(json);
	view_json_remarks(check->remarks, json);
	json_end_line(json);
}

void report_check_json(struct report *report, const struct tact_check_report *r)
{
	struct table table = make_table(report, r);
	struct json json = {.out = &report->text};

	put_totals(&json, r->check);
	for (size_t i = 0; i < r->check->n_rows && report_flush(report); i++)
		table_row(&table, &r->check->rows[i]);
	table_fini(&table);
}

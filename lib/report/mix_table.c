/* SPDX-License-Identifier: MIT
 *
 * A mix as text, CSV and JSON.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/mix_report.h"

/* ---- text ---- */

static void add_quality(const struct tact_mix_summary *s, struct text *out)
{
	if (s->windows)
		text_printf(out, "Windows: %" PRIu64 "\n", s->windows);
	if (!s->samples) {
		text_printf(out, "Outside of known code: %" PRIu64 " executions of blocks\n",
			    s->outside_samples);
		return;
	}
	text_add(out, "Samples: ");
	if (s->ebs_samples)
		text_printf(out, "%" PRIu64 " of %s", s->ebs_samples, s->ebs_event);
	if (s->lbr_samples)
		text_printf(out, "%s%" PRIu64 " branch stacks of %s", s->ebs_samples ? ", " : "",
			    s->lbr_samples, s->lbr_event);
	text_add(out, "\n");
	text_printf(out, "Outside of known code: %" PRIu64 " samples", s->outside_samples);
	if (s->ebs_samples)
		text_printf(out, " (%.2f%%)",
			    100 * (double)s->outside_samples / (double)s->ebs_samples);
	if (s->streams)
		text_printf(out, ", %" PRIu64 " of %" PRIu64 " streams (%.2f%%)",
			    s->outside_streams, s->streams,
			    100 * (double)s->outside_streams / (double)s->streams);
	text_add(out, "\n");
	if (!s->streams)
		return;
	text_printf(out, "Impossible streams: %.2f%% of the newest pairs, %.3f%% of the others%s\n",
		    100 * s->newest_impossible, 100 * s->other_impossible,
		    s->newest_dropped ? "; newest pairs are left out" : "");
	text_printf(out, "Bias: %zu of %zu blocks end in a branch that is too often the oldest\n",
		    s->biased_blocks, s->blocks);
	if (s->flow_error >= 0)
		text_printf(
			out,
			"Flow: what enters a block and what leaves it differ by %.2f%%; %" PRIu64
			" of %" PRIu64 " blocks by more than sampling explains\n",
			100 * s->flow_error, s->flow_outliers, s->flow_blocks);
}

void mix_summary_add(const struct tact_mix_summary *s, struct text *out)
{
	if (s->recordings > 1)
		text_printf(out, "Recordings: %zu, added up\n", s->recordings);
	text_printf(out, "Rung: %s; error to expect: %s\n", tact_mix_rung_name(s->rung),
		    tact_mix_rung_error(s->rung));
	text_printf(out, "Method: %s", tact_mix_method_name(s->method));
	if (s->method == TACT_MIX_HYBRID)
		text_printf(out,
			    " (%zu blocks by branch stacks with %.1f%% of the instructions, %zu "
			    "by samples)",
			    s->blocks_by_lbr, 100 * s->instructions_by_lbr, s->blocks_by_ebs);
	text_add(out, "\n");
	if (s->command[0])
		text_printf(out, "Command: %s\n", s->command);
	add_quality(s, out);
	text_add(out, s->is_relative ? "Instructions (relative): " : "Instructions: ");
	report_count(out, rint(s->instructions), 0);
	text_printf(out, " in %zu blocks of %zu files\n", s->blocks, s->modules);
}

void mix_figures_add(const struct tact_mix_figures *f, struct text *out)
{
	text_printf(
		out,
		"In vector registers: %.1f%% of the instructions, %.1f%% of these packed (moves "
		"included)\n"
		"FLOP per instruction: %.3f, %.1f%% of them by packed instructions\n"
		"Branches: %.1f%%   loads: %.1f%%   stores: %.1f%%   block: %.2f instructions\n",
		100 * f->simd_density, 100 * f->vectorisation, f->flops_per_instruction,
		100 * f->packed_flops, 100 * f->branch_density, 100 * f->load_density,
		100 * f->store_density, f->instructions_per_block);
}

/* ---- the table ---- */

enum { LEAST_WIDTH = 16 };

void mix_columns_init(struct mix_columns *c, const enum tact_mix_key *keys, size_t n_keys,
		      size_t offset, const struct column *rest, size_t n)
{
	c->n_keys = n_keys;
	for (size_t k = 0; k < n_keys; k++) {
		const char *name = tact_mix_key_name(keys[k]);

		c->items[k] = (struct column){.title = name,
					      .name = name,
					      .field = FIELD_STRING,
					      .offset = offset + k * sizeof(const char *),
					      .width = strlen(name),
					      .least = LEAST_WIDTH};
	}
	if (n)
		memcpy(c->items + n_keys, rest, n * sizeof(*rest));
	c->n = n_keys + n;
}

void mix_columns_json(const struct mix_columns *c, struct json *json)
{
	json_begin_array(json, "keys");
	for (size_t k = 0; k < c->n_keys; k++)
		json_put_string(json, NULL, c->items[k].name);
	json_end(json);
}

static void get_row(const void *of, size_t i, void *row)
{
	((struct tact_mix_row *)row)->size = sizeof(struct tact_mix_row);
	tact_mix_pivot_get_row(of, i, row);
}

union mix_row {
	struct tact_mix_row of_pivot;
	struct tact_mix_diff_row of_diff;
};

void mix_rows_write(struct report *report, const struct mix_rows *rows, struct table *table)
{
	union mix_row row;

	for (size_t i = 0; i < rows->n && table->format == FORMAT_TEXT; i++) {
		rows->get(rows->of, i, &row);
		table_fit(table, &row);
	}
	table_header(table);
	for (size_t i = 0; i < rows->n && report_flush(report); i++) {
		rows->get(rows->of, i, &row);
		table_row(table, &row);
	}
}

void mix_rows_json(struct report *report, const struct mix_rows *rows, struct table *table,
		   struct json *json)
{
	union mix_row row;

	json_begin_array(json, "rows");
	for (size_t i = 0; i < rows->n && report_flush(report); i++) {
		rows->get(rows->of, i, &row);
		json_begin_array(json, NULL);
		table_values(table, &row, json);
		json_end(json);
	}
	json_end(json);
}

/* ---- JSON ---- */

void mix_summary_json(const struct tact_mix_summary *s, struct json *json)
{
	json_put_string(json, "rung", tact_mix_rung_name(s->rung));
	json_put_string(json, "expected_error", tact_mix_rung_error(s->rung));
	json_put_string(json, "method", tact_mix_method_name(s->method));
	json_put_string(json, "command", s->command);
	json_put_string(json, "ebs_event", s->ebs_event);
	json_put_string(json, "lbr_event", s->lbr_event);
	json_put_count(json, "samples", s->samples);
	json_put_count(json, "ebs_samples", s->ebs_samples);
	json_put_count(json, "lbr_samples", s->lbr_samples);
	json_put_count(json, "lost", s->lost);
	json_put_count(json, "unknown_records", s->unknown_records);
	json_put_count(json, "bad_records", s->bad_records);
	json_put_count(json, "outside_samples", s->outside_samples);
	json_put_count(json, "streams", s->streams);
	json_put_count(json, "outside_streams", s->outside_streams);
	json_put_count(json, "impossible_streams", s->impossible_streams);
	json_put_fixed(json, "newest_impossible", s->newest_impossible, 6);
	json_put_fixed(json, "other_impossible", s->other_impossible, 6);
	json_put_bool(json, "newest_dropped", s->newest_dropped);
	json_put_count(json, "blocks", s->blocks);
	json_put_count(json, "biased_blocks", s->biased_blocks);
	json_put_count(json, "blocks_by_lbr", s->blocks_by_lbr);
	json_put_count(json, "blocks_by_ebs", s->blocks_by_ebs);
	json_put_fixed(json, "instructions", s->instructions, 0);
	json_put_bool(json, "is_relative", s->is_relative);
	json_put_count(json, "recordings", s->recordings);
	if (s->windows)
		json_put_count(json, "windows", s->windows);
	if (s->flow_error < 0)
		return;
	json_put_fixed(json, "flow_error", s->flow_error, 6);
	json_put_count(json, "flow_blocks", s->flow_blocks);
	json_put_count(json, "flow_outliers", s->flow_outliers);
}

void mix_figures_json(const struct tact_mix_figures *f, struct json *json)
{
	json_begin_object(json, "figures");
	json_put_fixed(json, "vectorisation", f->vectorisation, 6);
	json_put_fixed(json, "flops_per_instruction", f->flops_per_instruction, 6);
	json_put_fixed(json, "branch_density", f->branch_density, 6);
	json_put_fixed(json, "load_density", f->load_density, 6);
	json_put_fixed(json, "store_density", f->store_density, 6);
	json_put_fixed(json, "instructions_per_block", f->instructions_per_block, 4);
	json_put_fixed(json, "simd_density", f->simd_density, 6);
	json_put_fixed(json, "packed_flops", f->packed_flops, 6);
	json_end(json);
}

static void add_json(struct report *report, const struct tact_mix_report *r,
		     const struct mix_rows *rows, struct table *table,
		     const struct mix_columns *columns)
{
	struct json json = {.out = &report->text};
	struct tact_mix_figures figures = TACT_MIX_FIGURES_INIT;

	tact_mix_pivot_get_figures(r->pivot, &figures);
	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.mix/1");
	mix_summary_json(r->summary, &json);
	mix_figures_json(&figures, &json);
	mix_columns_json(columns, &json);
	mix_values_json(columns, &json);
	mix_rows_json(report, rows, table, &json);
	json_end_line(&json);
}

/* ---- all of it ---- */

static void add_text(struct report *report, const struct tact_mix_report *r,
		     const struct mix_rows *rows, struct table *table)
{
	const size_t n = tact_mix_pivot_count(r->pivot);
	struct text *out = &report->text;
	struct tact_mix_figures figures = TACT_MIX_FIGURES_INIT;

	tact_mix_pivot_get_figures(r->pivot, &figures);
	mix_summary_add(r->summary, out);
	mix_figures_add(&figures, out);
	text_add(out, "\n");
	mix_rows_write(report, rows, table);
	if (rows->n < n)
		text_printf(out, "(%zu more rows)\n", n - rows->n);
}

int tact_report_mix(const struct tact_mix_report *opt,
		    int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	struct report report = {.write = write, .arg = arg};
	struct mix_rows rows = {.get = get_row};
	struct tact_mix_report r;
	struct mix_columns columns;
	struct table table;

	if (!write || tact_read_options(&r, sizeof(r), opt) || !r.summary || !r.pivot)
		return -TACT_E_INVAL;
	if (r.format >= TACT_FORMAT_FOLDED) {
		const int status = report_mix_stacks(&report, &r);

		return status < 0 ? status : report_end(&report);
	}
	if (r.cross) {
		mix_cross_write(&report, &r);
		return report_end(&report);
	}
	rows.of = r.pivot;
	rows.n = tact_mix_pivot_count(r.pivot);
	if (r.top && r.top < rows.n)
		rows.n = r.top;
	mix_row_columns(&columns, &r);
	table = (struct table){.columns = columns.items,
			       .n_columns = columns.n,
			       .format = (int)r.format,
			       .screen = r.width,
			       .is_cut = r.is_cut,
			       .out = &report.text};
	if (r.format == TACT_FORMAT_CSV)
		mix_rows_write(&report, &rows, &table);
	else if (r.format == TACT_FORMAT_JSON)
		add_json(&report, &r, &rows, &table, &columns);
	else
		add_text(&report, &r, &rows, &table);
	table_fini(&table);
	return report_end(&report);
}

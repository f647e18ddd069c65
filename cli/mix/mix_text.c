/* SPDX-License-Identifier: MIT
 *
 * A report as text, CSV and JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mixer.h"

void mix_put_count(struct text *out, double value, int width)
{
	char digits[40], shown[56];
	int n = snprintf(digits, sizeof(digits), "%.0f", value > 0 && value < 1e18 ? value : 0),
	    k = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			shown[k++] = ',';
		shown[k++] = digits[i];
	}
	shown[k] = '\0';
	text_printf(out, "%*s", width, shown);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void warn_modules(const struct mixer *m)
{
	struct tact_mix_missing missing;

	for (size_t i = 0; !tact_mix_missing_module(m->mix, i, &missing); i++)
		if (missing.samples)
			cli_message("%s: %s; %" PRIu64 " samples and streams in it are not counted",
				    missing.path, missing.why, missing.samples);
}

void mix_warn(const struct mixer *m)
{
	const struct tact_mix_summary *s = &m->summary;

	warn_modules(m);
	if (s->unknown_records)
		cli_message("%" PRIu64 " record%s of an unknown type skipped", s->unknown_records,
			    plural(s->unknown_records));
	if (s->bad_records)
		cli_message("%" PRIu64 " malformed record%s skipped", s->bad_records,
			    plural(s->bad_records));
	if (s->lost)
		cli_message("%" PRIu64
			    " sample%s lost while recording: larger buffers or periods help",
			    s->lost, plural(s->lost));
	if (s->is_relative && !m->is_quiet)
		cli_message("no event of the recording counts instructions or taken branches: only "
			    "shares mean something");
}

/* ---- text ---- */

static void add_quality(const struct tact_mix_summary *s, struct text *out)
{
	if (s->rung == TACT_MIX_RUNG_EXACT) {
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

static void add_summary(const struct mixer *m, struct text *out)
{
	const struct tact_mix_summary *s = &m->summary;

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
	mix_put_count(out, s->instructions, 0);
	text_printf(out, " in %zu blocks of %zu files\n", s->blocks, s->modules);
}

static void add_figures(const struct mixer *m, struct text *out)
{
	const struct tact_mix_figures *f = &m->figures;

	text_printf(out,
		    "Vectorisation: %.1f%%   FLOP/instruction: %.3f   branches: %.1f%%   loads: "
		    "%.1f%%   stores: %.1f%%   block: %.2f instructions\n",
		    100 * f->vectorisation, f->flops_per_instruction, 100 * f->branch_density,
		    100 * f->load_density, 100 * f->store_density, f->instructions_per_block);
}

/* ---- the table ---- */

void mixer_columns_init(struct mixer_columns *c, const struct mixer_table *t, size_t offset,
			const struct column *rest, size_t n)
{
	c->n_keys = t->n_keys ? t->n_keys : 1;
	for (size_t k = 0; k < c->n_keys; k++) {
		const char *name = tact_mix_key_name(t->n_keys ? t->keys[k] : TACT_MIX_BY_MNEMONIC);

		c->items[k] = (struct column){.title = name,
					      .name = name,
					      .field = FIELD_STRING,
					      .offset = offset + k * sizeof(const char *),
					      .width = strlen(name),
					      .max = MIXER_MAX_COLUMN};
	}
	memcpy(c->items + c->n_keys, rest, n * sizeof(*rest));
	c->n = c->n_keys + n;
}

void mixer_columns_json(const struct mixer_columns *c, struct json *json)
{
	json_begin_array(json, "keys");
	for (size_t k = 0; k < c->n_keys; k++)
		json_put_string(json, NULL, c->items[k].name);
	json_end(json);
}

static struct cell get_error(const struct cell_at *at)
{
	const struct tact_mix_row *row = at->row;

	return row->error >= 0 ? cell_number(row->error) : cell_none();
}

#define ROW_FIELD(member, kind) COLUMN_FIELD(struct tact_mix_row, member, kind)

/* clang-format off: a column stays together */
static const struct column row_columns[] = {
	{"executions", "executions", ROW_FIELD(executions, DOUBLE), .width = 18,
	 .flags = COLUMN_SEPARATED, .form = FORM_DECIMALS(0)},
	{"share", "share", ROW_FIELD(share, DOUBLE), .width = 7, .decimals = 2,
	 .flags = COLUMN_PERCENT, .form = FORM_DECIMALS(6)},
	{"error", "relative_error", .get = get_error, .width = 6, .decimals = 1,
	 .flags = COLUMN_PERCENT, .form = FORM_DECIMALS(4), .none = "?"},
};
/* clang-format on */

static void add_rows(const struct mixer *m, int format, struct text *out)
{
	struct mixer_columns c;
	struct table table = {.columns = c.items, .format = format, .out = out};
	struct tact_mix_row row;

	mixer_columns_init(&c, &m->table, offsetof(struct tact_mix_row, key), row_columns,
			   CLI_ARRAY_SIZE(row_columns));
	table.n_columns = c.n;
	for (size_t i = 0; i < mixer_rows(m) && format == FORMAT_TEXT; i++) {
		tact_mix_pivot_row(m->pivot, i, &row);
		table_fit(&table, c.items, &row);
	}
	table_header(&table);
	for (size_t i = 0; i < mixer_rows(m); i++) {
		tact_mix_pivot_row(m->pivot, i, &row);
		table_row(&table, &row);
	}
	table_fini(&table);
}

void mix_text(const struct mixer *m, struct text *out)
{
	add_summary(m, out);
	add_figures(m, out);
	text_add(out, "\n");
	add_rows(m, FORMAT_TEXT, out);
	if (mixer_rows(m) < tact_mix_pivot_rows(m->pivot))
		text_printf(out, "(%zu more rows)\n",
			    tact_mix_pivot_rows(m->pivot) - mixer_rows(m));
}

void mix_csv(const struct mixer *m, struct text *out)
{
	add_rows(m, FORMAT_CSV, out);
}

/* ---- JSON ---- */

static void json_summary(const struct tact_mix_summary *s, struct json *json)
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
	if (s->flow_error < 0)
		return;
	json_put_fixed(json, "flow_error", s->flow_error, 6);
	json_put_count(json, "flow_blocks", s->flow_blocks);
	json_put_count(json, "flow_outliers", s->flow_outliers);
}

static void json_figures(const struct tact_mix_figures *f, struct json *json)
{
	json_begin_object(json, "figures");
	json_put_fixed(json, "vectorisation", f->vectorisation, 6);
	json_put_fixed(json, "flops_per_instruction", f->flops_per_instruction, 6);
	json_put_fixed(json, "branch_density", f->branch_density, 6);
	json_put_fixed(json, "load_density", f->load_density, 6);
	json_put_fixed(json, "store_density", f->store_density, 6);
	json_put_fixed(json, "instructions_per_block", f->instructions_per_block, 4);
	json_end(json);
}

void mix_json(const struct mixer *m, struct text *out)
{
	struct json json = {.out = out};
	struct mixer_columns c;
	struct table table = {.columns = c.items};
	struct tact_mix_row row;

	mixer_columns_init(&c, &m->table, offsetof(struct tact_mix_row, key), row_columns,
			   CLI_ARRAY_SIZE(row_columns));
	table.n_columns = c.n;
	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.mix/1");
	json_summary(&m->summary, &json);
	json_figures(&m->figures, &json);
	mixer_columns_json(&c, &json);
	json_begin_array(&json, "rows");
	for (size_t i = 0; i < mixer_rows(m); i++) {
		tact_mix_pivot_row(m->pivot, i, &row);
		json_begin_array(&json, NULL);
		table_values(&table, &row, &json);
		json_end(&json);
	}
	json_end_line(&json);
}

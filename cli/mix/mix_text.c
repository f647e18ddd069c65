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

enum { MAX_COLUMN = 60 };

/* Widths of the key columns, from the rows that are shown. */
static void measure_columns(const struct mixer *m, size_t n_keys, size_t *width)
{
	struct tact_mix_row row;

	for (size_t k = 0; k < n_keys; k++)
		width[k] = strlen(tact_mix_key_name(m->table.n_keys ? m->table.keys[k]
								    : TACT_MIX_BY_MNEMONIC));
	for (size_t i = 0; i < mixer_rows(m); i++) {
		tact_mix_pivot_row(m->pivot, i, &row);
		for (size_t k = 0; k < n_keys; k++) {
			size_t n = strlen(row.key[k]);

			if (n > width[k])
				width[k] = n < MAX_COLUMN ? n : MAX_COLUMN;
		}
	}
}

void mix_text(const struct mixer *m, struct text *out)
{
	size_t n_keys = m->table.n_keys ? m->table.n_keys : 1, width[TACT_MIX_MAX_KEYS];
	struct tact_mix_row row;

	add_summary(m, out);
	add_figures(m, out);
	text_add(out, "\n");
	measure_columns(m, n_keys, width);
	for (size_t k = 0; k < n_keys; k++)
		text_printf(out, "%-*s  ", (int)width[k],
			    tact_mix_key_name(m->table.n_keys ? m->table.keys[k]
							      : TACT_MIX_BY_MNEMONIC));
	text_printf(out, "%18s  %7s  %6s\n", "executions", "share", "error");
	for (size_t i = 0; i < mixer_rows(m); i++) {
		tact_mix_pivot_row(m->pivot, i, &row);
		for (size_t k = 0; k < n_keys; k++)
			text_printf(out, "%-*.*s  ", (int)width[k], MAX_COLUMN, row.key[k]);
		mix_put_count(out, row.executions, 18);
		text_printf(out, "  %6.2f%%", 100 * row.share);
		if (row.error >= 0)
			text_printf(out, "  %5.1f%%\n", 100 * row.error);
		else
			text_add(out, "       ?\n");
	}
	if (mixer_rows(m) < tact_mix_pivot_rows(m->pivot))
		text_printf(out, "(%zu more rows)\n",
			    tact_mix_pivot_rows(m->pivot) - mixer_rows(m));
}

/* ---- CSV ---- */

void mix_csv(const struct mixer *m, struct text *out)
{
	size_t n_keys = m->table.n_keys ? m->table.n_keys : 1;
	struct tact_mix_row row;

	for (size_t k = 0; k < n_keys; k++)
		text_printf(out, "%s,",
			    tact_mix_key_name(m->table.n_keys ? m->table.keys[k]
							      : TACT_MIX_BY_MNEMONIC));
	text_add(out, "executions,share,relative_error\n");
	for (size_t i = 0; i < mixer_rows(m); i++) {
		tact_mix_pivot_row(m->pivot, i, &row);
		for (size_t k = 0; k < n_keys; k++) {
			text_csv_field(out, row.key[k], strlen(row.key[k]), false);
			text_add(out, ",");
		}
		text_printf(out, "%.0f,%.6f,", row.executions, row.share);
		if (row.error >= 0)
			text_printf(out, "%.4f", row.error);
		text_add(out, "\n");
	}
}

/* ---- JSON ---- */

static void add_string(struct text *out, const char *key, const char *value)
{
	text_printf(out, ",\"%s\":", key);
	text_json_string(out, value, strlen(value));
}

static void json_summary(const struct mixer *m, struct text *out)
{
	const struct tact_mix_summary *s = &m->summary;

	add_string(out, "rung", tact_mix_rung_name(s->rung));
	add_string(out, "expected_error", tact_mix_rung_error(s->rung));
	add_string(out, "method", tact_mix_method_name(s->method));
	add_string(out, "command", s->command);
	add_string(out, "ebs_event", s->ebs_event);
	add_string(out, "lbr_event", s->lbr_event);
	text_printf(out,
		    ",\"samples\":%" PRIu64 ",\"ebs_samples\":%" PRIu64 ",\"lbr_samples\":%" PRIu64
		    ",\"lost\":%" PRIu64 ",\"unknown_records\":%" PRIu64 ",\"bad_records\":%" PRIu64
		    ",\"outside_samples\":%" PRIu64 ",\"streams\":%" PRIu64
		    ",\"outside_streams\":%" PRIu64 ",\"impossible_streams\":%" PRIu64,
		    s->samples, s->ebs_samples, s->lbr_samples, s->lost, s->unknown_records,
		    s->bad_records, s->outside_samples, s->streams, s->outside_streams,
		    s->impossible_streams);
	text_printf(
		out,
		",\"newest_impossible\":%.6f,\"other_impossible\":%.6f,\"newest_dropped\":%s"
		",\"blocks\":%zu,\"biased_blocks\":%zu,\"blocks_by_lbr\":%zu,\"blocks_by_ebs\":%zu"
		",\"instructions\":%.0f,\"is_relative\":%s",
		s->newest_impossible, s->other_impossible, s->newest_dropped ? "true" : "false",
		s->blocks, s->biased_blocks, s->blocks_by_lbr, s->blocks_by_ebs, s->instructions,
		s->is_relative ? "true" : "false");
	if (s->flow_error >= 0)
		text_printf(out,
			    ",\"flow_error\":%.6f,\"flow_blocks\":%" PRIu64
			    ",\"flow_outliers\":%" PRIu64,
			    s->flow_error, s->flow_blocks, s->flow_outliers);
}

static void json_figures(const struct mixer *m, struct text *out)
{
	const struct tact_mix_figures *f = &m->figures;

	text_printf(out,
		    ",\"figures\":{\"vectorisation\":%.6f,\"flops_per_instruction\":%.6f,"
		    "\"branch_density\":%.6f,\"load_density\":%.6f,\"store_density\":%.6f,"
		    "\"instructions_per_block\":%.4f}",
		    f->vectorisation, f->flops_per_instruction, f->branch_density, f->load_density,
		    f->store_density, f->instructions_per_block);
}

void mix_json(const struct mixer *m, struct text *out)
{
	size_t n_keys = m->table.n_keys ? m->table.n_keys : 1;
	struct tact_mix_row row;

	text_add(out, "{\"schema\":\"tact.mix/1\"");
	json_summary(m, out);
	json_figures(m, out);
	text_add(out, ",\"keys\":[");
	for (size_t k = 0; k < n_keys; k++)
		text_printf(out, "%s\"%s\"", k ? "," : "",
			    tact_mix_key_name(m->table.n_keys ? m->table.keys[k]
							      : TACT_MIX_BY_MNEMONIC));
	text_add(out, "],\"rows\":[");
	for (size_t i = 0; i < mixer_rows(m); i++) {
		tact_mix_pivot_row(m->pivot, i, &row);
		text_add(out, i ? ",[" : "[");
		for (size_t k = 0; k < n_keys; k++) {
			text_json_string(out, row.key[k], strlen(row.key[k]));
			text_add(out, ",");
		}
		text_printf(out, "%.0f,%.6f,", row.executions, row.share);
		if (row.error >= 0)
			text_printf(out, "%.4f]", row.error);
		else
			text_add(out, "null]");
	}
	text_add(out, "]}\n");
}

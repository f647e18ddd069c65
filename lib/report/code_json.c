/* SPDX-License-Identifier: MIT
 *
 * Two versions of code side by side, for programs: JSON and CSV.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff/codediff.h"
#include "report/report.h"
#include "view/view.h"

static const char *where(const struct codediff_row *row)
{
	return !row->side[0] ? "b" : !row->side[1] ? "a" : "both";
}

static const char *status_name(int status)
{
	switch (-status) {
	case TACT_OK:
		return "ok";
	case TACT_E_DECODE:
		return "decode_error";
	case TACT_E_LIMIT:
		return "too_long";
	default:
		return "failed";
	}
}

/* ---- JSON ---- */

static void put_totals(struct json *json, const struct tact_code_report *r)
{
	const struct tact_codediff_summary *s = &r->diff->summary;

	json_begin_object(json, NULL);
	json_put_string(json, "schema", "tact.codediff/1");
	json_put_string(json, "kind", "totals");
	json_put_string(json, "a", r->names[0]);
	json_put_string(json, "b", r->names[1]);
	json_begin_array(json, "arch");
	for (size_t i = 0; i < r->diff->n_archs; i++)
		json_put_string(json, NULL, tact_arch_name(r->diff->archs[i]));
	json_end(json);
	json_begin_array(json, "verified");
	for (size_t i = 0; i < r->diff->n_archs; i++)
		json_put_bool(json, NULL, tact_arch_is_verified(r->diff->archs[i]));
	json_end(json);
	json_put_count(json, "compared", s->n_pairs);
	json_put_count(json, "slower", s->n_slower);
	json_put_count(json, "faster", s->n_faster);
	json_put_count(json, "same", s->n_same);
	json_put_count(json, "failed", s->n_failed);
	json_put_count(json, "only_a", s->n_only[0]);
	json_put_count(json, "only_b", s->n_only[1]);
	if (s->worst > 0) {
		json_put_fixed(json, "worst_ratio", s->worst, 6);
		json_put_string(json, "worst_name", s->worst_name);
		json_put_string(json, "worst_arch", tact_arch_name(s->worst_cpu));
	}
	if (r->threshold > 0) {
		json_put_fixed(json, "threshold", r->threshold, 6);
		json_put_bool(json, "over", s->worst > r->threshold);
	}
	json_end_line(json);
}

static void put_side(struct json *json, const char *key, const struct code_piece *p)
{
	if (!p)
		return;
	json_begin_object(json, key);
	json_put_string(json, "name", p->name);
	json_put_string(json, "function", p->function);
	if (*p->source)
		json_put_string(json, "source", p->source);
	if (p->line)
		json_put_count(json, "line", p->line);
	json_printf_string(json, "address", "0x%" PRIx64, p->address);
	json_put_count(json, "instructions", p->n_insns);
	json_put_hex(json, "hex", p->code, p->code_size);
	view_json_remarks(p->remarks, json);
	json_end(json);
}

static void put_cost(struct json *json, const char *key, const struct code_cost *cost)
{
	struct text limit = {0};

	if (!cost)
		return;
	json_begin_object(json, key);
	json_put_string(json, "status", status_name(cost->status));
	if (!cost->status) {
		report_code_limit(&limit, NULL, cost);
		json_put_number(json, "cycles_per_iteration", cost->cycles);
		json_put_bytes(json, "bottlenecks", limit.size ? limit.data : "", limit.size);
		json_put_number(json, "coverage", cost->coverage);
		json->out->failed |= limit.failed;
		text_free(&limit);
	}
	json_end(json);
}

static void put_insns(struct json *json, const char *key, const struct tact_isa *isa,
		      const struct code_piece *piece, const bool *common)
{
	struct text text = {0};

	json_begin_array(json, key);
	for (size_t i = 0; i < piece->n_insns; i++) {
		if (common[i])
			continue;
		text_reset(&text);
		report_code_insn(&text, isa, piece, i);
		json_put_bytes(json, NULL, text.size ? text.data : "", text.size);
	}
	json->out->failed |= text.failed;
	text_free(&text);
	json_end(json);
}

static void put_row(struct json *json, const struct tact_code_report *r,
		    const struct codediff_row *row)
{
	struct codediff_common common;
	const struct code_piece *some = row->side[1] ? row->side[1] : row->side[0];

	json_begin_object(json, NULL);
	json_put_string(json, "schema", "tact.codediff/1");
	json_put_string(json, "kind", some->is_loop ? "loop" : "function");
	json_put_string(json, "in", where(row));
	put_side(json, "a", row->side[0]);
	put_side(json, "b", row->side[1]);
	json_begin_array(json, "cycles");
	for (size_t i = 0; i < r->diff->n_archs; i++) {
		const double ratio = codediff_ratio(row, i);

		json_begin_object(json, NULL);
		json_put_string(json, "arch", tact_arch_name(r->diff->archs[i]));
		json_put_bool(json, "verified", tact_arch_is_verified(r->diff->archs[i]));
		put_cost(json, "a", row->cost[0] ? &row->cost[0][i] : NULL);
		put_cost(json, "b", row->cost[1] ? &row->cost[1][i] : NULL);
		if (ratio > 0)
			json_put_fixed(json, "ratio", ratio, 6);
		json_end(json);
	}
	json_end(json);
	if (row->side[0] && row->side[1]) {
		if (codediff_common(&common, row)) {
			json->out->failed = true;
		} else {
			put_insns(json, "went", r->diff->side[0]->isa, row->side[0],
				  common.side[0]);
			put_insns(json, "came", r->diff->side[1]->isa, row->side[1],
				  common.side[1]);
			free(common.side[0]);
		}
	}
	json_end_line(json);
}

void report_code_json(struct report *report, const struct tact_code_report *r)
{
	struct json json = {.out = &report->text};

	put_totals(&json, r);
	for (size_t i = 0; i < r->diff->n_rows && report_flush(report); i++)
		put_row(&json, r, &r->diff->rows[i]);
}

/* ---- CSV ---- */

static void add_field(struct text *out, const char *field)
{
	text_csv_field(out, field, strlen(field), false);
	text_add(out, ",");
}

static void add_side(struct text *out, const struct code_piece *p)
{
	add_field(out, p ? p->name : "");
	add_field(out, p ? p->source : "");
	if (p)
		text_printf(out, "0x%" PRIx64 ",%zu,", p->address, p->n_insns);
	else
		text_add(out, ",,");
}

static void add_cost(struct text *out, const struct code_cost *cost)
{
	struct text limit = {0};

	if (!cost || cost->status) {
		text_add(out, ",,");
		return;
	}
	text_number(out, cost->cycles);
	text_add(out, ",");
	report_code_limit(&limit, NULL, cost);
	text_csv_field(out, limit.size ? limit.data : "", limit.size, false);
	out->failed |= limit.failed;
	text_free(&limit);
	text_add(out, ",");
}

/* Writes the names of the remarks about both versions, joined by +. */
static void add_remark_names(struct text *out, const struct codediff_row *row)
{
	const size_t start = out->size;

	for (unsigned k = 0; k < 2; k++) {
		const struct tact_remarks *own = row->side[k] ? row->side[k]->remarks : NULL;
		const struct tact_remarks *first = k && row->side[0] ? row->side[0]->remarks : NULL;

		for (size_t i = 0; i < tact_remarks_count(own); i++) {
			size_t n = 0;

			while (n < tact_remarks_count(first) &&
			       strcmp(tact_remarks_name(first, n), tact_remarks_name(own, i)) != 0)
				n++;
			if (n == tact_remarks_count(first))
				text_printf(out, "%s%s", out->size > start ? "+" : "",
					    tact_remarks_name(own, i));
		}
	}
}

static void add_csv_row(struct text *out, const struct tact_code_report *r,
			const struct codediff_row *row, size_t i)
{
	const struct code_piece *some = row->side[1] ? row->side[1] : row->side[0];
	const double ratio = codediff_ratio(row, i);

	add_field(out, some->function);
	text_printf(out, "%s,%s,%s,", some->is_loop ? "loop" : "function", where(row),
		    tact_arch_name(r->diff->archs[i]));
	add_cost(out, row->cost[0] ? &row->cost[0][i] : NULL);
	add_cost(out, row->cost[1] ? &row->cost[1][i] : NULL);
	if (ratio > 0)
		text_printf(out, "%.6f", ratio);
	text_add(out, ",");
	add_side(out, row->side[0]);
	add_side(out, row->side[1]);
	for (unsigned k = 0; k < 2; k++) {
		if (row->side[k])
			text_hex(out, row->side[k]->code, row->side[k]->code_size);
		text_add(out, ",");
	}
	add_remark_names(out, row);
	text_add(out, "\n");
}

void report_code_csv(struct report *report, const struct tact_code_report *r)
{
	struct text *out = &report->text;

	text_add(out,
		 "function,kind,in,arch,cycles_per_iteration_a,bottlenecks_a,"
		 "cycles_per_iteration_b,bottlenecks_b,ratio,name_a,source_a,address_a,"
		 "instructions_a,name_b,source_b,address_b,instructions_b,hex_a,hex_b,remarks\n");
	for (size_t i = 0; i < r->diff->n_rows; i++)
		for (size_t k = 0; k < r->diff->n_archs && report_flush(report); k++)
			add_csv_row(out, r, &r->diff->rows[i], k);
}

/* SPDX-License-Identifier: MIT
 *
 * Two runs side by side, for programs.
 */
#include <inttypes.h>
#include <string.h>

#include "common/cli.h"
#include "differ.h"

enum { MAX_INSNS = 64 };

static void begin(struct text *out, const char *kind)
{
	text_printf(out, "{\"schema\":\"tact.diff/1\",\"kind\":\"%s\"", kind);
}

static void add_text(struct text *out, const char *key, const char *text)
{
	text_printf(out, ",\"%s\":", key);
	text_json_string(out, text, strlen(text));
}

static void add_numbers(struct text *out, const char *key, double a, double b)
{
	text_printf(out, ",\"%s\":[", key);
	text_number(out, a);
	text_add(out, ",");
	text_number(out, b);
	text_add(out, "]");
}

static void add_counts(struct text *out, const char *key, uint64_t a, uint64_t b)
{
	text_printf(out, ",\"%s\":[%" PRIu64 ",%" PRIu64 "]", key, a, b);
}

static void add_stalls(struct text *out, const double *a, const double *b)
{
	text_add(out, ",\"stalls\":{");
	for (unsigned i = 0; i < TACT_N_STALLS; i++) {
		text_printf(out, "%s\"%s\":[", i ? "," : "", tact_stall_column((enum tact_stall)i));
		text_number(out, a[i]);
		text_add(out, ",");
		text_number(out, b[i]);
		text_add(out, "]");
	}
	text_add(out, "}");
}

static void add_totals(const struct diff_view *v, struct text *out)
{
	const struct tact_result_info *a = tact_result_get_info(v->results[0]);
	const struct tact_result_info *b = tact_result_get_info(v->results[1]);

	begin(out, "totals");
	text_printf(out, ",\"ratio\":%.6f", diff_ratio(v));
	add_numbers(out, "cycles", a->totals.cycles, b->totals.cycles);
	add_counts(out, "instructions", a->totals.instructions, b->totals.instructions);
	add_numbers(out, "ipc", trace_ratio((double)a->totals.instructions, a->totals.cycles),
		    trace_ratio((double)b->totals.instructions, b->totals.cycles));
	text_add(out, ",\"arch\":[");
	text_json_string(out, a->arch, strlen(a->arch));
	text_add(out, ",");
	text_json_string(out, b->arch, strlen(b->arch));
	text_add(out, "]");
	add_text(out, "a", v->names[0]);
	add_text(out, "b", v->names[1]);
	if (v->threshold > 0)
		text_printf(out, ",\"threshold\":%.6f,\"over\":%s", v->threshold,
			    diff_is_over(v) ? "true" : "false");
	add_stalls(out, a->totals.stalls, b->totals.stalls);
	text_add(out, "}\n");
}

static void add_insns(const struct diff_view *v, const struct tact_diff_row *row, struct text *out)
{
	struct tact_diff_insn insns[MAX_INSNS];
	const long n = tact_diff_insns(v->diff, row, insns, MAX_INSNS);
	bool is_first = true;

	if (n < 0)
		cli_out_of_memory();
	text_add(out, ",\"executed\":{");
	for (long i = 0; i < n && i < MAX_INSNS; i++) {
		if (insns[i].executed[0] == insns[i].executed[1])
			break;
		text_add(out, is_first ? "" : ",");
		text_json_string(out, insns[i].mnemonic, strlen(insns[i].mnemonic));
		text_printf(out, ":[%" PRIu64 ",%" PRIu64 "]", insns[i].executed[0],
			    insns[i].executed[1]);
		is_first = false;
	}
	text_add(out, "}");
}

static void add_bottlenecks(const struct tact_diff_row *row, struct text *out)
{
	struct text names = {0};

	text_add(out, ",\"bottlenecks\":[");
	for (unsigned k = 0; k < 2; k++) {
		const struct tact_result_row *side = k ? row->b : row->a;

		names.size = 0;
		if (side)
			trace_add_bounds(&names, side->bottlenecks);
		text_add(out, k ? "," : "");
		text_json_string(out, names.data ? names.data : "", names.size);
	}
	text_add(out, "]");
	text_free(&names);
}

static void add_hex(const char *key, const struct tact_result_row *row, struct text *out)
{
	if (!row || !row->code_size)
		return;
	text_printf(out, ",\"%s\":\"", key);
	text_hex(out, row->code, row->code_size);
	text_add(out, "\"");
}

static void add_row(const struct diff_view *v, const struct tact_diff_row *row, bool is_block,
		    bool with_insns, struct text *out)
{
	const struct tact_result_row *some = diff_some(row);
	const enum tact_stall cause = diff_cause(row->stalls, row->cycles[1] - row->cycles[0]);

	begin(out, is_block ? "block" : "function");
	add_text(out, "function", some->function);
	add_text(out, "module", some->module);
	text_printf(out, ",\"in\":\"%s\"", !row->a ? "b" : !row->b ? "a" : "both");
	if (row->a && row->b && row->cycles[0] > 0)
		text_printf(out, ",\"ratio\":%.6f", row->cycles[1] / row->cycles[0]);
	add_numbers(out, "cycles", row->cycles[0], row->cycles[1]);
	add_counts(out, "executions", row->executions[0], row->executions[1]);
	add_counts(out, "instructions", row->instructions[0], row->instructions[1]);
	if (cause != TACT_N_STALLS)
		add_text(out, "cause", tact_stall_column(cause));
	add_bottlenecks(row, out);
	add_stalls(out, row->stalls[0], row->stalls[1]);
	if (is_block) {
		add_hex("hex_a", row->a, out);
		add_hex("hex_b", row->b, out);
	} else if (with_insns) {
		add_insns(v, row, out);
	}
	text_add(out, "}\n");
}

void diff_print_json(const struct diff_view *v, struct text *out, struct output *to)
{
	size_t n;
	const struct tact_diff_row *rows = tact_diff_rows(v->diff, TACT_RESULT_FUNCTION, &n);

	add_totals(v, out);
	/* Of the instructions only where it matters: they are counted anew for each function. */
	for (size_t i = 0; i < n; i++)
		add_row(v, &rows[i], false, i < v->top && rows[i].cycles[0] != rows[i].cycles[1],
			out);
	rows = tact_diff_rows(v->diff, TACT_RESULT_BLOCK, &n);
	for (size_t i = 0; i < n; i++) {
		add_row(v, &rows[i], true, false, out);
		if (out->size >= TRACE_WRITE_SIZE)
			output_write(to, out);
	}
}

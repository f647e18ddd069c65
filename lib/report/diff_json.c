/* SPDX-License-Identifier: MIT
 *
 * Two runs side by side, for programs.
 */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

enum { MAX_INSNS = 64 };

static void begin(struct json *json, const char *kind)
{
	json_begin_object(json, NULL);
	json_put_string(json, "schema", "tact.diff/1");
	json_put_string(json, "kind", kind);
}

/* Writes a value of both sides. */
static void put_strings(struct json *json, const char *key, const char *a, const char *b)
{
	json_begin_array(json, key);
	json_put_string(json, NULL, a);
	json_put_string(json, NULL, b);
	json_end(json);
}

static void put_numbers(struct json *json, const char *key, double a, double b)
{
	json_begin_array(json, key);
	json_put_number(json, NULL, a);
	json_put_number(json, NULL, b);
	json_end(json);
}

static void put_counts(struct json *json, const char *key, uint64_t a, uint64_t b)
{
	json_begin_array(json, key);
	json_put_count(json, NULL, a);
	json_put_count(json, NULL, b);
	json_end(json);
}

static void put_stalls(struct json *json, const double *a, const double *b)
{
	json_begin_object(json, "stalls");
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		put_numbers(json, result_stall_column((enum tact_stall)i), a[i], b[i]);
	json_end(json);
}

static void put_totals(struct json *json, const struct tact_diff_report *r)
{
	const struct tact_result *a = tact_diff_side(r->diff, 0);
	const struct tact_result *b = tact_diff_side(r->diff, 1);

	begin(json, "totals");
	json_put_fixed(json, "ratio", tact_diff_ratio(r->diff), 6);
	put_numbers(json, "cycles", a->totals.cycles, b->totals.cycles);
	put_counts(json, "instructions", a->totals.instructions, b->totals.instructions);
	put_numbers(json, "ipc", report_ratio((double)a->totals.instructions, a->totals.cycles),
		    report_ratio((double)b->totals.instructions, b->totals.cycles));
	put_strings(json, "arch", a->info.arch, b->info.arch);
	json_begin_array(json, "verified");
	json_put_bool(json, NULL, tact_arch_is_verified(tact_arch_find(a->info.arch)));
	json_put_bool(json, NULL, tact_arch_is_verified(tact_arch_find(b->info.arch)));
	json_end(json);
	json_put_string(json, "a", r->names[0]);
	json_put_string(json, "b", r->names[1]);
	put_numbers(json, "error", a->totals.error, b->totals.error);
	result_put_left_out(json, a->info.has_caches && !b->info.has_caches ? b : a);
	if (r->threshold > 0) {
		json_put_fixed(json, "threshold", r->threshold, 6);
		json_put_bool(json, "over", report_diff_is_over(r));
	}
	put_stalls(json, a->totals.stalls, b->totals.stalls);
	json_end_line(json);
}

static void put_insns(struct json *json, const struct tact_diff_report *r,
		      const struct diff_row *row)
{
	struct tact_diff_insn insns[MAX_INSNS];
	const long n = tact_diff_get_insns(r->diff, row->function, insns, MAX_INSNS);

	if (n < 0)
		json->out->failed = true;
	json_begin_object(json, "executed");
	for (long i = 0; i < n && i < MAX_INSNS; i++) {
		if (insns[i].executed[0] == insns[i].executed[1])
			break;
		json_put_key(json, insns[i].mnemonic, strlen(insns[i].mnemonic));
		put_counts(json, NULL, insns[i].executed[0], insns[i].executed[1]);
	}
	json_end(json);
}

static void put_bottlenecks(struct json *json, const struct diff_row *row)
{
	struct text names[2] = {{0}, {0}};

	for (unsigned k = 0; k < 2; k++) {
		const struct tact_result_row *side = k ? row->b : row->a;

		if (side)
			report_bounds(&names[k], NULL, side->bottlenecks);
	}
	if (text_string(&names[0]) && text_string(&names[1]))
		put_strings(json, "bottlenecks", names[0].data, names[1].data);
	else
		json->out->failed = true;
	text_free(&names[0]);
	text_free(&names[1]);
}

static void put_row(struct json *json, const struct tact_diff_report *r, const struct diff_row *row,
		    bool is_block, bool with_insns)
{
	const struct tact_result_row *some = report_diff_some(row);
	const enum tact_stall cause = report_diff_cause(row);

	char *name = report_name(some->function, r->is_mangled, true);

	begin(json, is_block ? "block" : "function");
	json_put_string(json, "function", name ? name : some->function);
	if (name)
		json_put_string(json, "symbol", some->function);
	free(name);
	json_put_string(json, "module", some->module);
	json_put_string(json, "in", !row->a ? "b" : !row->b ? "a" : "both");
	if (row->a && row->b && row->cycles[0] > 0)
		json_put_fixed(json, "ratio", row->cycles[1] / row->cycles[0], 6);
	put_numbers(json, "cycles", row->cycles[0], row->cycles[1]);
	put_counts(json, "executions", row->executions[0], row->executions[1]);
	put_counts(json, "instructions", row->instructions[0], row->instructions[1]);
	if (cause != TACT_N_STALLS)
		json_put_string(json, "cause", result_stall_column(cause));
	put_bottlenecks(json, row);
	put_stalls(json, row->stalls[0], row->stalls[1]);
	if (is_block && row->a && row->a->code_size)
		json_put_hex(json, "hex_a", row->a->code, row->a->code_size);
	if (is_block && row->b && row->b->code_size)
		json_put_hex(json, "hex_b", row->b->code, row->b->code_size);
	if (!is_block && with_insns)
		put_insns(json, r, row);
	json_end_line(json);
}

void report_diff_json(struct report *report, const struct tact_diff_report *r)
{
	struct json json = {.out = &report->text};
	size_t n;
	const struct diff_row *rows = diff_rows(r->diff, TACT_RESULT_FUNCTION, &n);

	put_totals(&json, r);
	/* Instructions only where it matters: they are counted anew for each function. */
	for (size_t i = 0; i < n && report_flush(report); i++)
		put_row(&json, r, &rows[i], false,
			i < r->top && rows[i].cycles[0] != rows[i].cycles[1]);
	rows = diff_rows(r->diff, TACT_RESULT_BLOCK, &n);
	for (size_t i = 0; i < n && report_flush(report); i++)
		put_row(&json, r, &rows[i], true, false);
}

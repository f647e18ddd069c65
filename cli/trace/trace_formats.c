/* SPDX-License-Identifier: MIT
 *
 * The result of a run for programs: CSV and JSON, which is also the stored form.
 */
#include <inttypes.h>
#include <string.h>

#include <tact/insn.h>
#include <tact/predict.h>

#include "common/cli.h"
#include "tracer.h"

/* ---- CSV ---- */

static void add_csv_text(struct text *out, const char *text)
{
	text_csv_field(out, text, strlen(text), false);
	text_add(out, ",");
}

static void add_csv_numbers(struct text *out, uint64_t executions, uint64_t instructions,
			    double cycles, double all, const double *uops, const double *stalls)
{
	text_printf(out, "%" PRIu64 ",%" PRIu64 ",%.2f,%.6f,%.4f", executions, instructions, cycles,
		    trace_ratio(cycles, all), trace_ratio((double)instructions, cycles));
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		text_printf(out, ",%.2f", stalls[i]);
	for (unsigned i = 0; i < TACT_MAX_PORTS; i++)
		text_printf(out, ",%.2f", uops[i]);
	text_add(out, "\n");
}

static void add_csv_place(struct text *out, const char *kind, const struct tact_result_row *row,
			  uint64_t address, const uint8_t *code, size_t size)
{
	text_printf(out, "%s,", kind);
	add_csv_text(out, row->module);
	add_csv_text(out, row->function);
	add_csv_text(out, row->source);
	if (row->line)
		text_printf(out, "%d", row->line);
	text_add(out, ",");
	if (address)
		text_printf(out, "0x%" PRIx64, address);
	text_add(out, ",");
	if (size) {
		text_hex(out, code, size);
	}
	text_add(out, ",");
}

/* A row for each instruction of a block; of its ports and stalls nothing is known. */
static void add_csv_insns(struct text *out, const struct tact_result_row *row, double all)
{
	size_t at = 0;

	for (uint32_t i = 0; i < row->n_insns && at < row->code_size; i++) {
		struct tact_insn insn;
		const int n = tact_decode(&insn, row->code + at, row->code_size - at);

		if (n <= 0)
			return;
		add_csv_place(out, "insn", row, row->address + at, row->code + at, (size_t)n);
		text_printf(out, "%" PRIu64 ",%" PRIu64 ",%.2f,%.6f,%.4f", row->executions,
			    row->executions, (double)row->insns[i],
			    trace_ratio((double)row->insns[i], all),
			    trace_ratio((double)row->executions, (double)row->insns[i]));
		for (unsigned k = 0; k < TACT_N_STALLS + 16; k++)
			text_add(out, ",");
		text_add(out, "\n");
		at += (size_t)n;
	}
}

void trace_print_csv(const struct tact_result *r, int by, size_t top, struct text *out,
		     struct output *to)
{
	static const char *const names[] = {"function", "block", "line"};
	const struct tact_cycles_totals *t = &tact_result_get_info(r)->totals;
	const struct tact_result_row *rows;
	size_t n;

	text_add(out, "kind,module,function,source,line,address,hex,executions,instructions,"
		      "cycles,share,ipc");
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		text_printf(out, ",stall_%s_cycles", tact_stall_column((enum tact_stall)i));
	for (unsigned i = 0; i < TACT_MAX_PORTS; i++)
		text_printf(out, ",uops_port%u", i);
	text_add(out, "\ntotal,,,,,,,");
	add_csv_numbers(out, t->executions, t->instructions, t->cycles, t->cycles, t->uops,
			t->stalls);
	rows = tact_result_rows(r, by == BY_INSN ? TACT_RESULT_BLOCK : (enum tact_result_kind)by,
				&n);
	for (size_t i = 0; i < n && (!top || i < top); i++) {
		const struct tact_result_row *row = &rows[i];

		if (by == BY_INSN && row->insns) {
			add_csv_insns(out, row, t->cycles);
		} else {
			add_csv_place(out, by == BY_INSN ? "block" : names[by], row, row->address,
				      row->code, row->code_size);
			add_csv_numbers(out, row->executions, row->instructions, row->cycles,
					t->cycles, row->uops, row->stalls);
		}
		if (out->size >= TRACE_WRITE_SIZE)
			output_write(to, out);
	}
}

/* ---- JSON ---- */

static void add_text(struct text *out, const char *key, const char *text)
{
	if (!*text)
		return;
	text_printf(out, ",\"%s\":", key);
	text_json_string(out, text, strlen(text));
}

static void add_count(struct text *out, const char *key, uint64_t n)
{
	text_printf(out, ",\"%s\":%" PRIu64, key, n);
}

static void add_number(struct text *out, const char *key, double n)
{
	text_printf(out, ",\"%s\":", key);
	text_number(out, n);
}

static void add_flag(struct text *out, const char *key, bool is)
{
	text_printf(out, ",\"%s\":%s", key, is ? "true" : "false");
}

static void add_uops(struct text *out, const double uops[TACT_MAX_PORTS],
		     const double stalls[TACT_N_STALLS])
{
	bool is_first = true;

	text_add(out, ",\"ports\":{");
	for (unsigned i = 0; i < TACT_MAX_PORTS; i++) {
		if (uops[i] <= 0)
			continue;
		text_printf(out, "%s\"%u\":", is_first ? "" : ",", i);
		text_number(out, uops[i]);
		is_first = false;
	}
	text_add(out, "},\"stalls\":{");
	for (unsigned i = 0; i < TACT_N_STALLS; i++) {
		text_printf(out, "%s\"%s\":", i ? "," : "", tact_stall_column((enum tact_stall)i));
		text_number(out, stalls[i]);
	}
	text_add(out, "}");
}

static void begin(struct text *out, const char *kind)
{
	text_printf(out, "{\"schema\":\"tact.trace/1\",\"kind\":\"%s\"", kind);
}

static void add_totals(const struct tact_result_info *info, struct text *out)
{
	const struct tact_cycles_totals *t = &info->totals;

	begin(out, "totals");
	add_count(out, "instructions", t->instructions);
	add_number(out, "cycles", t->cycles);
	if (t->error > 0)
		add_number(out, "error", t->error);
	add_number(out, "ipc", trace_ratio((double)t->instructions, t->cycles));
	add_text(out, "arch", info->arch);
	add_text(out, "command", info->command);
	add_flag(out, "exact", info->is_exact);
	add_flag(out, "caches", info->has_caches);
	add_flag(out, "branches", info->has_branches);
	add_flag(out, "partial", info->is_partial);
	add_count(out, "threads", t->n_threads);
	add_count(out, "executions", t->executions);
	add_count(out, "simulated", t->simulated);
	add_count(out, "unknown", t->unknown);
	add_count(out, "accesses", t->accesses);
	if (info->has_caches) {
		text_printf(out, ",\"misses\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", t->misses[0],
			    t->misses[1], t->misses[2]);
	}
	if (info->has_branches) {
		add_count(out, "executed_branches", t->branches);
		add_count(out, "mispredicted", t->mispredicted);
	}
	add_uops(out, t->uops, t->stalls);
	text_add(out, "}\n");
}

static void add_bottlenecks(const struct tact_result_row *row, struct text *out)
{
	unsigned n = 0;

	text_add(out, ",\"bottlenecks\":[");
	for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
		if (row->bottlenecks >> i & 1)
			text_printf(out, "%s\"%s\"", n++ ? "," : "",
				    tact_bound_name((enum tact_bound)i));
	text_add(out, "]");
}

static void add_insns(const struct tact_result_row *row, struct text *out)
{
	text_add(out, ",\"insns\":[");
	for (uint32_t i = 0; i < row->n_insns; i++) {
		text_add(out, i ? "," : "");
		text_number(out, (double)row->insns[i]);
	}
	text_add(out, "]");
}

static void add_row(const struct tact_result_row *row, enum tact_result_kind kind, double all,
		    struct text *out)
{
	static const char *const names[TACT_N_RESULT_KINDS] = {"function", "block", "line",
							       "thread"};

	begin(out, names[kind]);
	add_text(out, "module", row->module);
	add_text(out, "function", row->function);
	add_text(out, "source", row->source);
	if (row->line)
		text_printf(out, ",\"line\":%d", row->line);
	if (row->address)
		text_printf(out, ",\"address\":\"0x%" PRIx64 "\"", row->address);
	if (row->code_size) {
		text_add(out, ",\"hex\":\"");
		text_hex(out, row->code, row->code_size);
		text_add(out, "\"");
	}
	if (row->bottlenecks)
		add_bottlenecks(row, out);
	if (kind == TACT_RESULT_THREAD) {
		add_count(out, "process", row->process);
		add_count(out, "thread", row->thread);
	} else {
		add_count(out, "executions", row->executions);
	}
	add_count(out, "instructions", row->instructions);
	add_number(out, "cycles", row->cycles);
	text_printf(out, ",\"share\":%.6f", trace_ratio(row->cycles, all));
	if (kind != TACT_RESULT_THREAD) {
		add_number(out, "bound", row->bound);
		if (row->unknown)
			add_count(out, "unknown", row->unknown);
		add_uops(out, row->uops, row->stalls);
	}
	if (row->insns)
		add_insns(row, out);
	text_add(out, "}\n");
}

void trace_print_json(const struct tact_result *r, struct text *out, struct output *to)
{
	static const enum tact_result_kind order[] = {TACT_RESULT_THREAD, TACT_RESULT_FUNCTION,
						      TACT_RESULT_LINE, TACT_RESULT_BLOCK};
	const struct tact_result_info *info = tact_result_get_info(r);

	add_totals(info, out);
	for (size_t k = 0; k < CLI_ARRAY_SIZE(order); k++) {
		size_t n;
		const struct tact_result_row *rows = tact_result_rows(r, order[k], &n);

		for (size_t i = 0; i < n; i++) {
			add_row(&rows[i], order[k], info->totals.cycles, out);
			if (out->size >= TRACE_WRITE_SIZE)
				output_write(to, out);
		}
	}
}

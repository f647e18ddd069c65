/* SPDX-License-Identifier: MIT
 *
 * The result of a run as CSV.
 */
#include <inttypes.h>
#include <string.h>

#include <tact/insn.h>

#include "common/cli.h"
#include "tracer.h"

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
	for (unsigned i = 0; i < 16; i++)
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
	for (unsigned i = 0; i < 16; i++)
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

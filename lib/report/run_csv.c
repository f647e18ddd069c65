/* SPDX-License-Identifier: MIT
 *
 * The result of a run as CSV.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "report/report.h"

static void add_csv_text(struct text *out, const char *text)
{
	text_csv_field(out, text, strlen(text), false);
	text_add(out, ",");
}

/* Common to all rows. */
struct csv_rows {
	struct text *out;
	double all;	  /* cycles */
	unsigned n_ports; /* columns for ports: at least 16 */
	bool is_mangled;
	const char *cpu; /* the first column; NULL: there is none */
};

static unsigned count_ports(const char *name)
{
	const struct tact_arch *arch = tact_arch_find(name);
	const uint32_t ports = arch ? tact_arch_ports(arch) : 0;
	unsigned n = 16;

	while (n < TACT_MAX_PORTS && ports >> n)
		n++;
	return n;
}

static void add_csv_numbers(const struct csv_rows *csv, uint64_t executions, uint64_t instructions,
			    double cycles, const double *uops, const double *stalls)
{
	struct text *out = csv->out;

	text_printf(out, "%" PRIu64 ",%" PRIu64 ",%.2f,%.6f,%.4f", executions, instructions, cycles,
		    report_ratio(cycles, csv->all), report_ratio((double)instructions, cycles));
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		text_printf(out, ",%.2f", stalls[i]);
	for (unsigned i = 0; i < csv->n_ports; i++)
		text_printf(out, ",%.2f", uops[i]);
	text_add(out, "\n");
}

/* Begins a row. */
static void add_csv_kind(const struct csv_rows *csv, const char *kind)
{
	if (csv->cpu)
		text_printf(csv->out, "%s,", csv->cpu);
	text_printf(csv->out, "%s,", kind);
}

static void add_csv_place(const struct csv_rows *csv, const char *kind,
			  const struct tact_result_row *row, uint64_t address, const uint8_t *code,
			  size_t size)
{
	struct text *out = csv->out;
	char *name = report_name(row->function, csv->is_mangled, true);

	add_csv_kind(csv, kind);
	add_csv_text(out, row->module);
	add_csv_text(out, name ? name : row->function);
	free(name);
	add_csv_text(out, row->source);
	if (row->line)
		text_printf(out, "%d", row->line);
	text_add(out, ",");
	if (address)
		text_printf(out, "0x%" PRIx64, address);
	text_add(out, ",");
	text_hex(out, code, size);
	text_add(out, ",");
}

/* Writes one row per instruction of a block; its ports and stalls are unknown. */
static void add_csv_insns(const struct csv_rows *csv, const struct tact_result_row *row)
{
	struct text *out = csv->out;
	size_t at = 0;

	for (uint32_t i = 0; i < row->n_insns && at < row->code_size; i++) {
		struct tact_insn insn;
		const int n = tact_isa_decode(row->isa, &insn, row->code + at, row->code_size - at);

		if (n <= 0)
			return;
		add_csv_place(csv, "insn", row, row->address + at, row->code + at, (size_t)n);
		text_printf(out, "%" PRIu64 ",%" PRIu64 ",%.2f,%.6f,%.4f", row->executions,
			    row->executions, (double)row->insns[i],
			    report_ratio((double)row->insns[i], csv->all),
			    report_ratio((double)row->executions, (double)row->insns[i]));
		for (unsigned k = 0; k < TACT_N_STALLS + csv->n_ports; k++)
			text_add(out, ",");
		text_add(out, "\n");
		at += (size_t)n;
	}
}

static void add_csv_header(const struct csv_rows *csv)
{
	struct text *out = csv->out;

	text_printf(out,
		    "%skind,module,function,source,line,address,hex,executions,instructions,"
		    "cycles,share,ipc",
		    csv->cpu ? "arch," : "");
	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		text_printf(out, ",stall_%s_cycles", result_stall_column((enum tact_stall)i));
	for (unsigned i = 0; i < csv->n_ports; i++)
		text_printf(out, ",uops_port%u", i);
	text_add(out, "\n");
}

void report_run_csv(struct report *report, const struct tact_run_report *r, const char *cpu,
		    bool is_first)
{
	static const char *const names[] = {"function", "block", "line"};
	const bool by_insn = r->by == TACT_REPORT_INSNS;
	const struct tact_cycles_totals *t = &r->result->totals;
	const struct tact_result_row *rows;
	struct text *out = &report->text;
	/* All CPUs have the same columns. */
	const struct csv_rows csv = {out, t->cycles,
				     cpu ? TACT_MAX_PORTS : count_ports(r->result->info.arch),
				     r->is_mangled, cpu};
	size_t n;

	if (is_first)
		add_csv_header(&csv);
	add_csv_kind(&csv, "total");
	text_add(out, ",,,,,,");
	add_csv_numbers(&csv, t->executions, t->instructions, t->cycles, t->uops, t->stalls);
	rows = result_rows(r->result, by_insn ? TACT_RESULT_BLOCK : (enum tact_result_kind)r->by,
			   &n);
	for (size_t i = 0; i < n && (!r->top || i < r->top) && report_flush(report); i++) {
		const struct tact_result_row *row = &rows[i];

		if (by_insn && row->insns) {
			add_csv_insns(&csv, row);
			continue;
		}
		add_csv_place(&csv, by_insn ? "block" : names[r->by], row, row->address, row->code,
			      row->code_size);
		add_csv_numbers(&csv, row->executions, row->instructions, row->cycles, row->uops,
				row->stalls);
	}
}

/* SPDX-License-Identifier: MIT
 *
 * A run on several CPUs side by side, for people.
 */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

enum { DEFAULT_TOP = 15, CELL = 13 };

/* Returns the row of another CPU for the same code; NULL: it has none. */
static const struct tact_result_row *find(const struct tact_result *r, enum tact_result_kind kind,
					  const struct tact_result_row *row)
{
	size_t n;
	const struct tact_result_row *rows = result_rows(r, kind, &n);

	for (size_t i = 0; i < n; i++)
		if (rows[i].address == row->address && rows[i].line == row->line &&
		    !strcmp(rows[i].function, row->function) &&
		    !strcmp(rows[i].module, row->module) && !strcmp(rows[i].source, row->source))
			return &rows[i];
	return NULL;
}

/* One line per CPU. */
static void add_totals(const struct tact_result *const *results, size_t n, size_t width,
		       struct text *out)
{
	text_add(out, "Instructions:       ");
	report_count(out, (double)results[0]->totals.instructions, 0);
	text_printf(out, "\n\n%-5s%18s%8s%17s\n", "CPU", "Cycles", "IPC", "Standard error");
	for (size_t i = 0; i < n; i++) {
		const struct tact_cycles_totals *t = &results[i]->totals;
		const char *caveat;

		text_printf(out, "%-5s", results[i]->info.arch);
		report_count(out, t->cycles, 18);
		text_printf(out, "%8.2f%16.2f%%", report_ratio((double)t->instructions, t->cycles),
			    100 * report_ratio(t->error, t->cycles));
		caveat = tact_arch_caveat(tact_arch_find(results[i]->info.arch));
		text_printf(out, "%s%s\n", *caveat ? "  " : "", caveat);
	}
	text_add(out, "\n");
	report_left_out(out, results, n, width);
	if (results[0]->info.is_partial)
		text_add(out, "The run is not complete.\n");
}

void report_runs_text(struct report *report, const struct tact_run_report *r,
		      const struct tact_result *const *results, size_t n)
{
	const enum tact_result_kind kind =
		r->by == TACT_REPORT_INSNS ? TACT_RESULT_BLOCK : (enum tact_result_kind)r->by;
	struct text *out = &report->text;
	const struct tact_result_row *rows;
	/* As many CPUs as fit; all are in the list above, in CSV and in JSON. */
	const size_t room =
		r->width > 0 ? ((size_t)r->width > 35 ? (size_t)r->width - 22 : CELL) : SIZE_MAX;
	const size_t columns = n < room / CELL ? n : room / CELL;
	size_t n_rows, shown;

	add_totals(results, n, r->width > 0 ? (size_t)r->width : 80, out);
	rows = result_rows(results[0], kind, &n_rows);
	shown = r->top ? r->top : DEFAULT_TOP;
	shown = n_rows < shown ? n_rows : shown;
	if (!shown)
		return;
	text_add(out, "\nCycles\n");
	for (size_t k = 0; k < columns; k++)
		text_printf(out, "%*s", CELL, results[k]->info.arch);
	text_printf(out, "  %s\n",
		    kind == TACT_RESULT_FUNCTION ? "Function"
		    : kind == TACT_RESULT_BLOCK	 ? "Block"
						 : "Source line");
	for (size_t i = 0; i < shown && report_flush(report); i++) {
		char *name = report_name(rows[i].function, r->is_mangled, false);

		for (size_t k = 0; k < columns; k++) {
			const struct tact_result_row *row = find(results[k], kind, &rows[i]);

			report_count(out, row ? row->cycles : 0, CELL);
		}
		text_add(out, "  ");
		report_place(out, &rows[i], (int)kind, name);
		text_add(out, "\n");
		free(name);
	}
	if (n_rows > shown)
		text_printf(out, "        ... and %zu more (--top %zu shows all)\n", n_rows - shown,
			    n_rows);
	if (columns < n)
		text_printf(out, "%zu more CPUs do not fit here; CSV and JSON have all.\n",
			    n - columns);
}

/* SPDX-License-Identifier: MIT
 *
 * Code and its baseline as Markdown, for a pull request.
 */
#include <string.h>

#include "check/check.h"
#include "report/report.h"

/* Adds text that has no meaning for Markdown. */
static void add_plain(struct text *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\`*_[]<>|#", *text))
			text_add(out, "\\");
		text_add_bytes(out, *text == '\n' ? " " : text, 1);
	}
}

static void add_finished(struct text *out, struct text *piece,
			 void (*add)(struct text *, const char *))
{
	if (text_string(piece))
		add(out, piece->data);
	else
		out->failed = true;
	text_free(piece);
	*piece = (struct text){0};
}

static void add_cycles(struct text *out, const struct check_row *row, unsigned k)
{
	if (row->cycles[k] < 0)
		text_add(out, " - |");
	else
		text_printf(out, " %s%.2f |", row->is_lower_bound[k] ? "≥ " : "", row->cycles[k]);
}

/* The section is told where there are several. */
static void add_row(struct text *out, const struct check_row *row, bool has_sections)
{
	const bool is_bad = row->status == CHECK_OVER || row->status == CHECK_FAILED;
	struct text piece = {0};

	text_printf(out, "| %s%s%s | ", is_bad ? "**" : "", check_status_name(row->status),
		    is_bad ? "**" : "");
	if (has_sections) {
		add_plain(out, row->section->name);
		text_add(out, " | ");
	}
	report_check_place(&piece, row);
	add_finished(out, &piece, report_quoted);
	text_printf(out, " | %s |", tact_arch_name(row->section->archs[row->arch]));
	add_cycles(out, row, 0);
	add_cycles(out, row, 1);
	if (row->ratio > 0)
		text_printf(out, " %+.1f%%%s | ", 100 * (row->ratio - 1),
			    check_is_unsure(row) ? "?" : "");
	else
		text_add(out, " - | ");
	report_check_limit(out, row);
	text_add(out, " | ");
	report_check_why(&piece, row);
	add_finished(out, &piece, add_plain);
	text_add(out, " |\n");
}

void report_check_markdown(struct report *report, const struct tact_check_report *r)
{
	const struct tact_codecheck *check = r->check;
	struct text *out = &report->text;
	const size_t n_said = check->summary.n_files_failed + tact_remarks_count(check->remarks);
	size_t n = 0;

	text_add(out, "### Cycles: ");
	report_check_verdict(out, check);
	text_add(out, "\n\n");
	while (n < check->n_rows && (r->is_all || !check_is_plain(&check->rows[n])))
		n++;
	if (n)
		text_printf(out,
			    "| Result |%s Code | CPU | Baseline | Now | Change | Limit | Why |\n"
			    "|---|%s---|---|---:|---:|---:|---:|---|\n",
			    check->n > 1 ? " Section |" : "", check->n > 1 ? "---|" : "");
	for (size_t i = 0; i < n && report_flush(report); i++)
		add_row(out, &check->rows[i], check->n > 1);
	if (n)
		text_add(out, "\n");
	for (size_t i = 0; i < check->n; i++) {
		if (!check->sections[i].failure)
			continue;
		text_add(out, "- **Failed**: ");
		report_quoted(out, check->sections[i].file);
		text_add(out, ": ");
		add_plain(out, check->sections[i].failure);
		text_add(out, "\n");
	}
	for (size_t i = 0; i < tact_remarks_count(check->remarks); i++) {
		text_add(out, "- ");
		add_plain(out, tact_remarks_text(check->remarks, i));
		text_add(out, "\n");
	}
	if (n_said)
		text_add(out, "\n");
	text_add(out, "Cycles per iteration, predicted by tact; no program was run.");
	if (check->summary.n_lower_bounds)
		text_add(out, " ≥ is a lower bound: tact has no data for some instructions.");
	text_add(out, "\n");
}

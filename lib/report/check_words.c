/* SPDX-License-Identifier: MIT
 *
 * What became of a piece of code, in words that all formats of a check share.
 */
#include <inttypes.h>
#include <string.h>

#include "check/check.h"
#include "report/report.h"

static void add_count_of(struct text *out, size_t n, const char *what)
{
	if (n)
		text_printf(out, ", %zu %s", n, what);
}

void report_check_verdict(struct text *out, const struct tact_codecheck *check)
{
	const struct tact_codecheck_summary *s = &check->summary;

	if (s->n_over)
		text_printf(out, "%zu of %zu %s over %s", s->n_over, s->n,
			    s->n_over == 1 ? "is" : "are",
			    s->n_over == 1 ? "its limit" : "their limits");
	else
		text_printf(out, "0 of %zu are over their limits", s->n);
	text_printf(out, "; %s%zu slower, %zu faster, %zu the same",
		    s->n_over ? "of the others, " : "", s->n_slower, s->n_faster, s->n_same);
	add_count_of(out, s->n_new, "new");
	add_count_of(out, s->n_gone, "gone");
	add_count_of(out, s->n_failed + s->n_unknown, "without a prediction");
	if (s->n_files_failed)
		text_printf(out, "; %zu section%s could not be read", s->n_files_failed,
			    s->n_files_failed == 1 ? "" : "s");
}

void report_check_place(struct text *out, const struct check_row *row)
{
	const struct code_piece *p = check_piece(row);

	if (*p->name)
		text_add(out, p->name);
	else if (p->line)
		text_printf(out, "line %" PRIu64, p->line);
	else
		text_add(out, "all code");
	if (*p->source)
		text_printf(out, " (%s)", p->source);
	else if (*p->name && p->line)
		text_printf(out, " (line %" PRIu64 ")", p->line);
}

void report_check_limit(struct text *out, const struct check_row *row)
{
	const struct check_section *s = row->section;

	if (row->is_over_max) {
		text_add(out, "max ");
		text_number(out, s->max_cycles);
	} else if (s->limit.is_none) {
		text_add(out, "-");
	} else {
		text_printf(out, "%g%s", s->limit.value, s->limit.is_percent ? "%" : " cycles");
	}
}

static void begin_part(struct text *out, size_t start)
{
	if (out->size > start)
		text_add(out, "; ");
}

/* Writes "Ports -> Dependencies", or one name if nothing changed. */
static void add_limits(struct text *out, const struct check_row *row)
{
	struct text side[2] = {{0}};

	for (unsigned k = 0; k < 2; k++)
		if (row->cycles[k] >= 0)
			report_code_limit(&side[k], row->section->archs[row->arch],
					  &row->code->cost[k][row->arch]);
	out->failed |= side[1].failed;
	text_append(out, &side[0]);
	if (side[0].size != side[1].size ||
	    (side[0].size && memcmp(side[0].data, side[1].data, side[0].size) != 0)) {
		text_add(out, side[0].size && side[1].size ? " -> " : "");
		text_append(out, &side[1]);
	}
	text_free(&side[0]);
	text_free(&side[1]);
}

static void add_names(struct text *out, const struct check_row *row, size_t start)
{
	begin_part(out, start);
	text_printf(out, "was %s", check_old_name(row));
}

/* What makes the cycles a lower bound, and of which side. */
static void add_coverage(struct text *out, const struct check_row *row, size_t start)
{
	begin_part(out, start);
	text_printf(out, "lower bound%s: instructions without data",
		    row->is_lower_bound[0] && row->is_lower_bound[1] ? ""
		    : row->is_lower_bound[1] ? (row->cycles[0] >= 0 ? " now" : "")
					     : " in the baseline");
}

void report_check_why(struct text *out, const struct check_row *row)
{
	const size_t start = out->size;
	const struct code_cost *now = row->code->cost[1] ? &row->code->cost[1][row->arch] : NULL;

	if (now && now->status)
		text_printf(out, "%s", tact_strerror(now->status));
	else if (row->status != CHECK_GONE)
		add_limits(out, row);
	if (row->is_renamed)
		add_names(out, row, start);
	if (row->is_moved && row->ratio != 1) {
		begin_part(out, start);
		text_printf(out, "same code at another address (offset %u -> %u in 64 bytes)",
			    row->code->side[0]->alignment, row->code->side[1]->alignment);
	}
	if (row->has_other_tact) {
		begin_part(out, start);
		if (row->stored < 0)
			text_add(out, "no cycles in the baseline");
		else
			text_printf(out, "%.2f in the baseline", row->stored);
	}
	if (check_is_unsure(row))
		add_coverage(out, row, start);
}

void report_check_sentence(struct text *out, const struct check_row *row)
{
	const char *arch = tact_arch_name(row->section->archs[row->arch]);
	struct text why = {0};

	report_check_place(out, row);
	switch (row->status) {
	case CHECK_GONE:
		text_printf(out, " is in the baseline, and not in %s any more", row->section->file);
		break;
	case CHECK_NEW:
		text_printf(out, " is not in the baseline: %s%.2f cycles on %s",
			    row->is_lower_bound[1] ? "at least " : "", row->cycles[1], arch);
		break;
	case CHECK_FAILED:
	case CHECK_UNKNOWN:
		text_printf(out, " has no prediction on %s", arch);
		break;
	default:
		text_printf(out, " takes %s%.2f cycles on %s",
			    row->is_lower_bound[1] ? "at least " : "", row->cycles[1], arch);
		if (row->cycles[0] >= 0)
			text_printf(out, ", %s%.2f before",
				    row->is_lower_bound[0] ? "at least " : "", row->cycles[0]);
		if (row->ratio > 0)
			text_printf(out, " (%+.1f%%%s)", 100 * (row->ratio - 1),
				    check_is_unsure(row) ? "?" : "");
		if (row->status == CHECK_OVER) {
			text_add(out, "; the limit is ");
			report_check_limit(out, row);
		}
	}
	report_check_why(&why, row);
	if (why.size)
		text_add(out, ": ");
	text_append(out, &why);
	text_free(&why);
}

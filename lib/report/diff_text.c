/* SPDX-License-Identifier: MIT
 *
 * Two runs side by side, for people: text, and Markdown for a pull request.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/report.h"

#define MIN_PERCENT 0.005 /* of the cycles of A; less is shown as 0.00% */

enum { MAX_INSNS = 5, MAX_BLOCKS = 3, MAX_CODE = 10, MAX_LISTED = 64 };

bool report_diff_is_over(const struct tact_diff_report *r)
{
	return r->threshold > 0 && tact_diff_ratio(r->diff) > r->threshold;
}

const struct tact_result_row *report_diff_some(const struct diff_row *row)
{
	/* Without symbols, a function is "[file address]": the other side may have a name for it. */
	if (row->a && row->b && row->b->function[0] == '[')
		return row->a;
	return row->b ? row->b : row->a;
}

enum tact_stall report_diff_cause(const struct diff_row *row)
{
	const double change = row->cycles[1] - row->cycles[0];
	enum tact_stall best = TACT_N_STALLS;
	double most = 0;

	for (unsigned i = 0; i < TACT_N_STALLS; i++) {
		const double x = row->stalls[1][i] - row->stalls[0][i];

		if ((change < 0 ? -x : x) <= most)
			continue;
		most = change < 0 ? -x : x;
		best = (enum tact_stall)i;
	}
	return best;
}

static void add_signed(struct text *out, double value)
{
	text_add(out, value < 0 ? "-" : "+");
	report_count(out, value < 0 ? -value : value, 0);
}

/* The CPU of a side, for its vendor's words. */
static const struct tact_arch *arch_of(const struct tact_diff_report *view, unsigned side)
{
	return tact_arch_find(tact_diff_side(view->diff, side)->info.arch);
}

/* Writes what limits one side: bounds that it runs at, or its largest stall, if it takes a tenth of
 * the cycles.
 */
static void add_limit(struct text *out, const struct tact_arch *arch,
		      const struct tact_result_row *row)
{
	unsigned most = 0;

	if (report_bounds(out, arch, row->bottlenecks))
		return;
	for (unsigned i = 1; i < TACT_N_STALLS; i++)
		if (row->stalls[i] > row->stalls[most])
			most = i;
	if (row->cycles > 0 && row->stalls[most] >= 0.1 * row->cycles)
		text_add(out, tact_stall_name((enum tact_stall)most));
}

/* Writes "loads -> Ports", or what is the same on both sides; false if nothing is known. */
static bool add_limits(struct text *out, const struct tact_diff_report *view,
		       const struct diff_row *row)
{
	const size_t start = out->size;
	struct text before = {0}, after = {0};

	if (!row->a || !row->b) /* the stalls follow */
		return report_bounds(out, arch_of(view, row->a ? 0 : 1),
				     (row->a ? row->a : row->b)->bottlenecks);
	add_limit(&before, arch_of(view, 0), row->a);
	add_limit(&after, arch_of(view, 1), row->b);
	text_append(out, &before);
	if (before.size != after.size ||
	    (before.size && memcmp(before.data, after.data, before.size))) {
		if (before.size && after.size)
			text_add(out, " -> ");
		text_append(out, &after);
	}
	text_free(&before);
	text_free(&after);
	return out->size > start;
}

/* Writes it in words: "Ports -> Dependencies; loads +1,234". */
static void add_cause(struct text *out, const struct tact_diff_report *view,
		      const struct diff_row *row)
{
	const double change = row->cycles[1] - row->cycles[0];
	const enum tact_stall cause = report_diff_cause(row);
	const double stall =
		cause == TACT_N_STALLS ? 0 : row->stalls[1][cause] - row->stalls[0][cause];
	bool is_said = add_limits(out, view, row);

	/* Stalls that explain a tenth of the change. */
	if (cause != TACT_N_STALLS && (is_said ? stall / change >= 0.1 : true)) {
		text_printf(out, "%s%s ", is_said ? "; " : "", tact_stall_name(cause));
		add_signed(out, stall);
		is_said = true;
	}
	if (!is_said)
		text_add(out, "-");
}

/* Writes "imul +100,000, lea -50,000": up to `n` mnemonics whose number changed; false if none did.
 */
static bool add_insns(struct text *out, const struct tact_diff_report *view,
		      const struct diff_row *row, size_t n)
{
	struct tact_diff_insn insns[MAX_LISTED];
	long found = tact_diff_get_insns(view->diff, row->function, insns, MAX_LISTED);
	size_t said = 0;

	if (found < 0)
		out->failed = true;
	for (long i = 0; i < found && i < MAX_LISTED && said < n; i++) {
		if (insns[i].executed[0] == insns[i].executed[1])
			break;
		text_printf(out, "%s%s ", said++ ? ", " : "", insns[i].mnemonic);
		add_signed(out, (double)insns[i].executed[1] - (double)insns[i].executed[0]);
	}
	return said > 0;
}

static double total(const struct tact_diff_report *view, unsigned side)
{
	return tact_diff_side(view->diff, side)->totals.cycles;
}

/* Returns the cycles that were added or saved, as a share of those of A. */
static double weight(const struct tact_diff_report *view, const struct diff_row *row)
{
	return 100 * report_ratio(row->cycles[1] - row->cycles[0], total(view, 0));
}

static void add_row_ratio(struct text *out, const struct diff_row *row, int width)
{
	if (!row->a || !row->b || row->cycles[0] <= 0)
		text_printf(out, "%*s", width, !row->a ? "new" : !row->b ? "gone" : "-");
	else
		text_printf(out, "%*.3f", width, row->cycles[1] / row->cycles[0]);
}

/* Counts the rows whose change shows in the output: the rest is not worth a line. */
static size_t count_changed(const struct tact_diff_report *view, const struct diff_row *rows,
			    size_t n)
{
	size_t k = 0;

	while (k < n &&
	       (weight(view, &rows[k]) >= MIN_PERCENT || weight(view, &rows[k]) <= -MIN_PERCENT))
		k++;
	return k;
}

/* ---- text ---- */

/* Chance alone moves the ratio by as much. */
static void add_errors(const struct tact_result *a, const struct tact_result *b, struct text *out)
{
	const double x = report_ratio(a->totals.error, a->totals.cycles),
		     y = report_ratio(b->totals.error, b->totals.cycles);

	if (x > 0 || y > 0)
		text_printf(out, "Standard error:     %.2f%% of the ratio, from samples\n",
			    100 * sqrt(x * x + y * y));
}

static void add_totals(const struct tact_diff_report *view, struct text *out)
{
	const struct tact_result *a = tact_diff_side(view->diff, 0);
	const struct tact_result *b = tact_diff_side(view->diff, 1);
	const struct tact_result *const both[] = {a, b};

	text_printf(out, "Ratio of cycles, B to A: %.4f (%+.2f%%)\n\n", tact_diff_ratio(view->diff),
		    100 * (tact_diff_ratio(view->diff) - 1));
	text_printf(out, "A: %s\nB: %s\nCPU: ", view->names[0], view->names[1]);
	report_cpu_named(out, a->info.arch);
	if (strcmp(a->info.arch, b->info.arch) != 0) {
		text_add(out, ", ");
		report_cpu_named(out, b->info.arch);
	}
	text_add(out, "\n");
	add_errors(a, b, out);
	report_left_out(out, both, 2, view->width > 0 ? (size_t)view->width : 80);
	text_add(out, "\n");
	text_printf(out, "%-14s%18s%18s%9s\n", "", "A", "B", "Ratio");
	text_printf(out, "%-14s", "Cycles");
	report_count(out, a->totals.cycles, 18);
	report_count(out, b->totals.cycles, 18);
	text_printf(out, "%9.4f\n%-14s", tact_diff_ratio(view->diff), "Instructions");
	report_count(out, (double)a->totals.instructions, 18);
	report_count(out, (double)b->totals.instructions, 18);
	text_printf(out, "%9.4f\n",
		    report_ratio((double)b->totals.instructions, (double)a->totals.instructions));
	text_printf(out, "%-14s%18.3f%18.3f\n", "IPC",
		    report_ratio((double)a->totals.instructions, a->totals.cycles),
		    report_ratio((double)b->totals.instructions, b->totals.cycles));
	text_add(out, "Stalls (cycles)\n");
	for (unsigned i = 0; i < TACT_N_STALLS; i++) {
		if (a->totals.stalls[i] <= 0 && b->totals.stalls[i] <= 0)
			continue;
		text_printf(out, "  %-12s", tact_stall_name((enum tact_stall)i));
		report_count(out, a->totals.stalls[i], 18);
		report_count(out, b->totals.stalls[i], 18);
		text_add(out, "\n");
	}
}

/* Lines below a function. */
enum { INDENT = 12, CODE_INDENT = 16 };

/* Columns of the table that fit: below 80, without the ratio, then without the cycles. */
struct columns {
	bool has_ratio, has_cycles;
	size_t name_width; /* 0: names are not cut */
};

static struct columns choose_columns(const struct tact_diff_report *view)
{
	enum { LEAST_NAME = 20, SHARE = 11, CYCLES = 28, RATIO = 8 };
	const size_t width = view->width > 0 ? (size_t)view->width : 0;
	struct columns c = {true, true, 0};
	size_t used = SHARE + CYCLES + RATIO;

	if (width && used + LEAST_NAME > width) {
		c.has_ratio = false;
		used -= RATIO;
	}
	if (width && used + LEAST_NAME > width) {
		c.has_cycles = false;
		used -= CYCLES;
	}
	if (width && view->is_cut)
		c.name_width = width > used + 8 ? width - used : 8;
	return c;
}

static void add_below(struct text *out, const struct tact_diff_report *view, struct text *words)
{
	const size_t width = view->width > 0 && view->width < 80 ? (size_t)view->width : 79;

	if (text_string(words))
		text_wrap_to(out, words->data, INDENT, out->size, width);
	else
		out->failed = true;
	text_free(words);
}

static void add_block(const struct tact_diff_report *view, const struct diff_row *row,
		      struct text *out)
{
	const struct tact_result_row *some = report_diff_some(row);
	struct text words = {0};

	text_printf(&words, "%s 0x%" PRIx64,
		    !row->a   ? "only in B:"
		    : !row->b ? "only in A:"
			      : "in both:",
		    some->address);
	if (some->line)
		text_printf(&words, " %s:%d", file_base_name(some->source), some->line);
	text_printf(&words, ", %+.2f%%, executed ", weight(view, row));
	report_count(&words, (double)row->executions[0], 0);
	text_add(&words, " and ");
	report_count(&words, (double)row->executions[1], 0);
	text_add(&words, " times, cause: ");
	add_cause(&words, view, row);
	add_below(out, view, &words);
	report_code(out, some, CODE_INDENT, MAX_CODE);
}

static void add_blocks(const struct tact_diff_report *view, const struct diff_row *function,
		       struct text *out)
{
	unsigned said = 0;
	size_t n;
	const struct diff_row *rows = diff_rows(view->diff, TACT_RESULT_BLOCK, &n);

	for (size_t i = 0; i < n && said < MAX_BLOCKS; i++) {
		if (rows[i].function != function->function)
			continue;
		if (weight(view, &rows[i]) < 0.1 && weight(view, &rows[i]) > -0.1)
			break;
		add_block(view, &rows[i], out);
		said++;
	}
}

static void add_function(const struct tact_diff_report *view, const struct diff_row *row,
			 struct text *out)
{
	const struct tact_result_row *some = report_diff_some(row);
	char *name = report_name(some->function, view->is_mangled, false);
	const struct columns columns = choose_columns(view);
	struct text place = {0}, cause = {0}, insns = {0};

	text_printf(out, "%+8.2f%%", weight(view, row));
	if (columns.has_cycles) {
		report_count(out, row->cycles[0], 14);
		report_count(out, row->cycles[1], 14);
	}
	if (columns.has_ratio)
		add_row_ratio(out, row, 8);
	text_add(out, "  ");
	report_place(&place, some, TACT_RESULT_FUNCTION, name);
	free(name);
	if (text_string(&place))
		report_short(out, place.data, columns.name_width ? columns.name_width : SIZE_MAX);
	out->failed |= place.failed;
	text_add(out, "\n");
	text_free(&place);
	text_add(&cause, "cause: ");
	add_cause(&cause, view, row);
	add_below(out, view, &cause);
	text_add(&insns, "executed: ");
	if (add_insns(&insns, view, row, MAX_INSNS))
		add_below(out, view, &insns);
	else
		text_free(&insns);
	add_blocks(view, row, out);
}

/* Returns how many functions differ, which come first; says so if none does. */
static size_t find_changed(const struct tact_diff_report *view, const struct diff_row **rows,
			   struct text *out)
{
	size_t n, changed;

	*rows = diff_rows(view->diff, TACT_RESULT_FUNCTION, &n);
	changed = count_changed(view, *rows, n);
	if (!changed)
		text_add(out, "\nNo function differs by 0.01% of the cycles.\n");
	return changed;
}

void report_diff_text(struct report *report, const struct tact_diff_report *view)
{
	const struct columns columns = choose_columns(view);
	struct text *out = &report->text;
	const struct diff_row *rows;
	size_t changed;

	add_totals(view, out);
	changed = find_changed(view, &rows, out);
	if (!changed)
		return;
	text_printf(out, "\n%9s", "Of all A");
	if (columns.has_cycles)
		text_printf(out, "%14s%14s", "Cycles A", "Cycles B");
	text_printf(out, "%*s  Function\n", columns.has_ratio ? 8 : 0,
		    columns.has_ratio ? "Ratio" : "");
	for (size_t i = 0; i < changed && i < view->top; i++)
		add_function(view, &rows[i], out);
	if (changed > view->top)
		text_printf(out, "        ... and %zu more (--top %zu shows all)\n",
			    changed - view->top, changed);
}

/* ---- Markdown ---- */

static void add_markdown_row(const struct tact_diff_report *view, const struct diff_row *row,
			     struct text *out)
{
	const char *symbol = report_diff_some(row)->function;
	char *name = report_name(symbol, view->is_mangled, false);

	text_add(out, "| ");
	report_quoted(out, name ? name : symbol);
	free(name);
	text_printf(out, " | %+.2f%% | ", weight(view, row));
	report_count(out, row->cycles[0], 0);
	text_add(out, " | ");
	report_count(out, row->cycles[1], 0);
	text_add(out, " | ");
	add_row_ratio(out, row, 0);
	text_add(out, " | ");
	add_cause(out, view, row);
	text_add(out, " | ");
	if (!add_insns(out, view, row, MAX_INSNS))
		text_add(out, "-");
	text_add(out, " |\n");
}

static void add_markdown_totals(const struct tact_diff_report *view, struct text *out)
{
	const struct tact_result *a = tact_diff_side(view->diff, 0);
	const struct tact_result *b = tact_diff_side(view->diff, 1);

	text_printf(out, "### Cycles: %+.2f%%%s\n\nPredicted for ",
		    100 * (tact_diff_ratio(view->diff) - 1),
		    !view->threshold		? ""
		    : report_diff_is_over(view) ? " (over the limit)"
						: " (within the limit)");
	report_cpu_named(out, a->info.arch);
	text_add(out, ", of A ");
	report_quoted(out, view->names[0]);
	text_add(out, " and B ");
	report_quoted(out, view->names[1]);
	text_add(out, ".\n\n| | A | B | B/A |\n|---|---:|---:|---:|\n| Cycles | ");
	report_count(out, a->totals.cycles, 0);
	text_add(out, " | ");
	report_count(out, b->totals.cycles, 0);
	text_printf(out, " | %.4f |\n| Instructions | ", tact_diff_ratio(view->diff));
	report_count(out, (double)a->totals.instructions, 0);
	text_add(out, " | ");
	report_count(out, (double)b->totals.instructions, 0);
	text_printf(out, " | %.4f |\n| IPC | %.3f | %.3f | |\n",
		    report_ratio((double)b->totals.instructions, (double)a->totals.instructions),
		    report_ratio((double)a->totals.instructions, a->totals.cycles),
		    report_ratio((double)b->totals.instructions, b->totals.cycles));
}

void report_diff_markdown(struct report *report, const struct tact_diff_report *view)
{
	struct text *out = &report->text;
	const struct diff_row *rows;
	size_t changed;

	add_markdown_totals(view, out);
	changed = find_changed(view, &rows, out);
	if (!changed)
		return;
	text_add(out, "\n| Function | Of all A | Cycles A | Cycles B | B/A | Cause (cycles) | "
		      "Executed instructions |\n|---|---:|---:|---:|---:|---|---|\n");
	for (size_t i = 0; i < changed && i < view->top; i++)
		add_markdown_row(view, &rows[i], out);
	if (changed > view->top)
		text_printf(out, "\n%zu more functions changed.\n", changed - view->top);
}

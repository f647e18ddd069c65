/* SPDX-License-Identifier: MIT
 *
 * Two versions of code side by side, for people: text, and Markdown for a pull request.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/codediff.h"
#include "report/report.h"

enum { MAX_INSNS = 16 };

void report_code_insn(struct text *out, const struct tact_isa *isa, const struct code_piece *piece,
		      size_t i)
{
	const size_t at = piece->offsets[i], size = piece->offsets[i + 1] - at;
	char text[200];

	if (tact_isa_format(isa, piece->code + at, size, piece->address + at, text, sizeof(text)) <
	    0)
		text_hex(out, piece->code + at, size);
	else
		text_add(out, text);
}

void report_code_limit(struct text *out, const struct tact_arch *arch, const struct code_cost *cost)
{
	if (!report_bounds(out, arch, cost->bottlenecks) && cost->scheduling)
		text_add(out, "Scheduling");
}

/* The piece of B, or of A. */
static const struct code_piece *some(const struct codediff_row *row)
{
	return row->side[1] ? row->side[1] : row->side[0];
}

/* Writes "hash+0x10 (hash.c:12)", or "0x4010", "line 12". */
static void add_place(struct text *out, const struct codediff_row *row)
{
	const struct code_piece *p = some(row);

	if (*p->name)
		text_add(out, p->name);
	else if (p->address)
		text_printf(out, "0x%" PRIx64, p->address);
	else if (p->line)
		text_printf(out, "line %" PRIu64, p->line);
	else
		text_add(out, "all code");
	if (*p->source)
		text_printf(out, " (%s)", p->source);
	else if (*p->name && p->line)
		text_printf(out, " (line %" PRIu64 ")", p->line);
}

static void add_kind(struct text *out, const struct codediff_row *row)
{
	const struct code_piece *a = row->side[0], *b = row->side[1], *p = some(row);

	text_printf(out, "%s, ", p->is_loop ? "loop" : "no loop");
	if (a && b && a->n_insns != b->n_insns)
		text_printf(out, "%zu -> %zu instructions", a->n_insns, b->n_insns);
	else
		text_printf(out, "%zu instruction%s", p->n_insns, p->n_insns == 1 ? "" : "s");
	if (a && b && strcmp(a->function, b->function) != 0)
		text_printf(out, ", %s in A", a->function);
}

/* ---- causes ---- */

static bool is_same_text(const struct text *a, const struct text *b)
{
	return a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}

/* Writes "Ports 2.00 -> Dependencies 4.00". */
static void add_cause(const struct tact_code_report *r, const struct codediff_row *row, size_t i,
		      struct text *out)
{
	const struct code_cost *a = &row->cost[0][i], *b = &row->cost[1][i];
	struct text before = {0}, after = {0};

	report_code_limit(&before, r->diff->archs[i], a);
	report_code_limit(&after, r->diff->archs[i], b);
	text_append(out, &before);
	text_printf(out, "%s%.2f -> ", before.size ? " " : "", a->cycles);
	if (!is_same_text(&before, &after)) {
		text_append(out, &after);
		text_add(out, after.size ? " " : "");
	}
	text_printf(out, "%.2f", b->cycles);
	if (row->side[0]->content == row->side[1]->content)
		text_printf(out, "; same code at another address (offset %u -> %u in 64 bytes)",
			    row->side[0]->alignment, row->side[1]->alignment);
	if (a->coverage < 1 || b->coverage < 1)
		text_add(out, "; at least: some instructions have no data");
	text_free(&before);
	text_free(&after);
}

/* Writes "+100.0%". */
static void add_change(struct text *out, double ratio, int width)
{
	text_printf(out, "%+*.1f%%", width - 1, 100 * (ratio - 1));
}

/* ---- text ---- */

struct colors {
	const char *slower, *faster, *bold, *plain;
};

static struct colors colors_of(const struct tact_code_report *r)
{
	return r->color ? (struct colors){"\033[1;31m", "\033[1;32m", "\033[1m", "\033[0m"}
			: (struct colors){"", "", "", ""};
}

/* Writes the words from a column on, broken as the report is wide, and frees them. */
static void add_words(const struct tact_code_report *r, struct text *words, size_t column,
		      size_t line_start, struct text *out)
{
	if (text_string(words))
		text_wrap_to(out, words->data, column, line_start,
			     r->width > 0 ? (size_t)r->width : 0);
	else
		out->failed = true;
	text_free(words);
}

static void add_summary(const struct tact_code_report *r, struct text *out)
{
	const struct tact_codediff_summary *s = &r->diff->summary;
	struct text words = {0};

	if (!s->n_pairs)
		text_add(out, "A and B have no loop or function in common.\n");
	else if (!s->n_slower && !s->n_faster && s->n_pairs - s->n_failed == 1)
		text_add(out, "B takes the same cycles in the one loop or function that can be "
			      "compared.\n");
	else if (!s->n_slower && !s->n_faster)
		text_printf(out,
			    "B takes the same cycles in all %zu loops and functions that can "
			    "be compared.\n",
			    s->n_pairs - s->n_failed);
	else
		text_printf(out, "B is slower in %zu of %zu loops and functions, faster in %zu.\n",
			    s->n_slower, s->n_pairs, s->n_faster);
	text_printf(out, "\nA: %s (%s)\nB: %s (%s)\nCPU: ", r->names[0],
		    tact_code_description(r->diff->side[0]), r->names[1],
		    tact_code_description(r->diff->side[1]));
	for (size_t i = 0; i < r->diff->n_archs; i++) {
		text_add(out, i ? ", " : "");
		report_cpu(out, r->diff->archs[i]);
	}
	text_add(out, "\n");
	if (s->worst > 1) {
		text_printf(&words, "Largest increase: %+.1f%%, %s on %s", 100 * (s->worst - 1),
			    s->worst_name, tact_arch_name(s->worst_cpu));
		add_words(r, &words, 0, out->size, out);
	}
}

/* The columns of the longest name of a CPU. */
static int name_columns(const struct tact_codediff *diff)
{
	size_t most = 5;

	for (size_t i = 0; i < diff->n_archs; i++) {
		const size_t n = strlen(tact_arch_name(diff->archs[i]));

		most = n > most ? n : most;
	}
	return (int)most;
}

/* One line per CPU on which the cycles changed; the others together. */
static void add_costs(const struct tact_code_report *r, const struct codediff_row *row,
		      struct text *out)
{
	enum { FIGURES = 32, NARROW = 2 };
	const struct colors c = colors_of(r);
	const bool is_narrow = r->width > 0 && r->width < 80; /* causes are below the figures */
	const int name = name_columns(r->diff);
	const size_t cause = (size_t)(is_narrow ? NARROW : FIGURES) + (size_t)name;
	struct text words = {0};
	size_t n_same = 0;

	text_printf(out, "  %-*s%9s%9s%10s%s\n", name, "CPU", "A", "B", "Change",
		    is_narrow ? "" : "  Cause");
	for (size_t i = 0; i < r->diff->n_archs; i++) {
		const double ratio = codediff_ratio(row, i);

		if (ratio == 1) {
			n_same++;
			continue;
		}
		text_printf(out, "  %-*s", name, tact_arch_name(r->diff->archs[i]));
		if (!(ratio > 0)) {
			const int status = row->cost[0][i].status ? row->cost[0][i].status
								  : row->cost[1][i].status;

			text_printf(out, "%9s%9s%10s  %s\n", "-", "-", "-",
				    status ? tact_strerror(status) : "no cycles");
			continue;
		}
		text_cycles2(out, row->cost[0][i].cycles, 9);
		text_cycles2(out, row->cost[1][i].cycles, 9);
		text_add(out, ratio > 1 ? c.slower : c.faster);
		add_change(out, ratio, 10);
		text_printf(out, "%s%s", c.plain, is_narrow ? "" : "  ");
		add_cause(r, row, i, &words);
		if (is_narrow)
			text_add(out, "\n");
		/* Colours take no columns. */
		add_words(r, &words, cause, is_narrow ? out->size : out->size - cause, out);
	}
	if (!n_same)
		return;
	text_add(&words, "the same on");
	for (size_t i = 0, said = 0; i < r->diff->n_archs; i++)
		if (codediff_ratio(row, i) == 1)
			text_printf(&words, "%s %s", said++ ? "," : "",
				    tact_arch_name(r->diff->archs[i]));
	add_words(r, &words, 2, out->size, out);
}

/* Writes what went and what came, where it stands. */
static void add_insns(const struct tact_code_report *r, const struct codediff_row *row,
		      struct text *out)
{
	const struct code_piece *a = row->side[0], *b = row->side[1];
	const struct colors c = colors_of(r);
	struct codediff_common common;
	size_t i = 0, k = 0, said = 0, left;

	if (codediff_common(&common, row)) {
		out->failed = true;
		return;
	}
	left = a->n_insns + b->n_insns - 2 * common.n;
	while (said < left && said < MAX_INSNS) {
		if (i < a->n_insns && !common.side[0][i]) {
			text_printf(out, "      %s- ", c.slower);
			report_code_insn(out, r->diff->side[0]->isa, a, i++);
		} else if (k < b->n_insns && !common.side[1][k]) {
			text_printf(out, "      %s+ ", c.faster);
			report_code_insn(out, r->diff->side[1]->isa, b, k++);
		} else {
			i++;
			k++;
			continue;
		}
		text_printf(out, "%s\n", c.plain);
		said++;
	}
	if (said < left)
		text_printf(out, "      ... and %zu more instructions\n", left - said);
	free(common.side[0]);
}

/* Writes what was assumed about a piece, once if both versions have it. */
static void add_remarks(const struct tact_code_report *r, const struct codediff_row *row,
			struct text *out)
{
	struct text words = {0};

	for (unsigned k = 0; k < 2; k++) {
		const struct tact_remarks *own = row->side[k]->remarks;
		const struct tact_remarks *first = k ? row->side[0]->remarks : NULL;

		for (size_t i = 0; i < tact_remarks_count(own); i++) {
			size_t n = 0;

			while (n < tact_remarks_count(first) &&
			       strcmp(tact_remarks_text(first, n), tact_remarks_text(own, i)) != 0)
				n++;
			if (n < tact_remarks_count(first))
				continue;
			text_printf(&words, "Remark: %s [%s]", tact_remarks_text(own, i),
				    tact_remarks_name(own, i));
			add_words(r, &words, 2, out->size, out);
		}
	}
}

static void add_row(const struct tact_code_report *r, const struct codediff_row *row,
		    struct text *out)
{
	const struct colors c = colors_of(r);
	struct text kind = {0};
	size_t start, end;

	text_printf(out, "\n%s", c.bold);
	start = out->size;
	add_place(out, row);
	end = out->size;
	text_printf(out, "%s: ", c.plain);
	add_kind(&kind, row);
	if (r->width > 0 && end - start + 2 + kind.size > (size_t)r->width) {
		text_trim(out, start);
		text_add(out, "\n");
		add_words(r, &kind, 2, out->size, out);
	} else {
		add_words(r, &kind, 0, out->size, out);
	}
	add_costs(r, row, out);
	add_remarks(r, row, out);
	add_insns(r, row, out);
}

/* Writes "1.00", or "1.00 to 2.00" if CPUs differ; "-" if there is no prediction. */
static void add_range(const struct tact_code_report *r, const struct codediff_row *row,
		      struct text *out)
{
	const struct code_cost *cost = row->cost[row->side[0] ? 0 : 1];
	double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < r->diff->n_archs; i++) {
		if (cost[i].status)
			continue;
		low = fmin(low, cost[i].cycles);
		high = fmax(high, cost[i].cycles);
	}
	if (low > high)
		text_add(out, "-");
	else if (high - low < 0.005)
		text_printf(out, "%.2f", low);
	else
		text_printf(out, "%.2f to %.2f", low, high);
}

static void add_only(const struct tact_code_report *r, unsigned side, struct text *out)
{
	struct text words = {0};
	size_t said = 0;

	for (size_t i = 0; i < r->diff->n_rows && said < r->top; i++) {
		const struct codediff_row *row = &r->diff->rows[i];

		if (row->kind != CODEDIFF_ONLY || !row->side[side])
			continue;
		if (!said++)
			text_printf(out, "\nOnly in %s:\n", side ? "B" : "A");
		add_place(&words, row);
		text_add(&words, ": ");
		add_kind(&words, row);
		text_add(&words, ", cycles: ");
		add_range(r, row, &words);
		add_words(r, &words, 2, out->size, out);
	}
	if (r->diff->summary.n_only[side] > said)
		text_printf(out, "  ... and %zu more (--top N)\n",
			    r->diff->summary.n_only[side] - said);
}

/* Returns how many pieces have the same cycles, but other instructions. */
static size_t count_rewritten(const struct tact_codediff *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_rows; i++)
		n += d->rows[i].kind == CODEDIFF_SAME &&
		     d->rows[i].side[0]->content != d->rows[i].side[1]->content;
	return n;
}

static size_t count_shown(const struct tact_codediff *d)
{
	size_t n = 0;

	while (n < d->n_rows && d->rows[n].kind < CODEDIFF_ONLY)
		n++;
	return n;
}

void report_code_text(struct report *report, const struct tact_code_report *r)
{
	struct text *out = &report->text;
	const size_t n = count_shown(r->diff), rewritten = count_rewritten(r->diff);

	add_summary(r, out);
	for (size_t i = 0; i < n && i < r->top && report_flush(report); i++)
		add_row(r, &r->diff->rows[i], out);
	if (n > r->top)
		text_printf(out, "\n... and %zu more (--top %zu shows all)\n", n - r->top, n);
	add_only(r, 0, out);
	add_only(r, 1, out);
	if (r->diff->summary.n_same)
		text_printf(out, "\nThe same cycles: %zu", r->diff->summary.n_same);
	if (rewritten)
		text_printf(out, " (%zu of them with other instructions)", rewritten);
	if (r->diff->summary.n_same)
		text_add(out, "\n");
}

/* ---- Markdown ---- */

static void add_markdown_row(const struct tact_code_report *r, const struct codediff_row *row,
			     struct text *out)
{
	struct text place = {0};

	add_place(&place, row);
	for (size_t i = 0; i < r->diff->n_archs; i++) {
		const double ratio = codediff_ratio(row, i);

		if (!(ratio > 0) || ratio == 1)
			continue;
		text_add(out, "| ");
		if (text_string(&place))
			report_quoted(out, place.data);
		else
			out->failed = true;
		text_printf(out, " | %s | %.2f | %.2f | %+.1f%% | ",
			    tact_arch_name(r->diff->archs[i]), row->cost[0][i].cycles,
			    row->cost[1][i].cycles, 100 * (ratio - 1));
		add_cause(r, row, i, out);
		text_add(out, " |\n");
	}
	text_free(&place);
}

void report_code_markdown(struct report *report, const struct tact_code_report *r)
{
	const struct tact_codediff_summary *s = &r->diff->summary;
	struct text *out = &report->text;
	const size_t n = count_shown(r->diff);

	text_printf(out, "### Cycles: %zu slower, %zu faster, %zu the same%s\n\nA ", s->n_slower,
		    s->n_faster, s->n_same,
		    !r->threshold	      ? ""
		    : s->worst > r->threshold ? " (over the limit)"
					      : " (within the limit)");
	report_quoted(out, r->names[0]);
	text_add(out, ", B ");
	report_quoted(out, r->names[1]);
	text_printf(out, "; only in A: %zu, only in B: %zu.\n", s->n_only[0], s->n_only[1]);
	if (s->n_slower || s->n_faster)
		text_add(out, "\n| Code | CPU | Cycles A | Cycles B | Change | Cause |\n"
			      "|---|---|---:|---:|---:|---|\n");
	for (size_t i = 0; i < n && i < r->top && report_flush(report); i++)
		add_markdown_row(r, &r->diff->rows[i], out);
	if (n > r->top)
		text_printf(out, "\n%zu more changed.\n", n - r->top);
}

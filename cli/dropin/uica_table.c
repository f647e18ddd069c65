/* SPDX-License-Identifier: MIT
 *
 * uiCA's table: where uops come from, how many are issued, and which ports execute them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "uica_front.h"

enum { MOST_COLUMNS = TACT_MAX_PORTS + 8 };

struct column {
	char name[16];
	bool begins; /* a vertical line is before it */
	double sum;
	size_t width;
};

struct table {
	const struct dropin_run *run;
	const struct dropin_region *region;
	struct column column[MOST_COLUMNS];
	unsigned n;
	bool has_divider, has_notes, has_jcc, has_fused, has_unknown;
};

static const char *note_of(const struct table *t, size_t i)
{
	const unsigned notes = t->run->costs[i].notes;

	return notes & TACT_NOTE_UNKNOWN      ? "X"
	       : notes & TACT_NOTE_FUSED_PREV ? "M"
	       : notes & TACT_NOTE_JCC	      ? "J"
					      : "";
}

static double executed_of(const struct tact_sim_insn *x)
{
	double sum = 0;

	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		sum += x->port[p];
	return sum;
}

/* The columns in their order: four sources, issued, executed, ports, divider. */
static double value_of(const struct table *t, unsigned k, size_t i)
{
	static const enum tact_uop_source sources[] = {TACT_SOURCE_MITE, TACT_SOURCE_MS,
						       TACT_SOURCE_DSB, TACT_SOURCE_LSD};
	const struct tact_sim_insn *x = &t->run->insns[i];

	if (k < 4)
		return x->by_source[sources[k]];
	if (k == 4)
		return x->issued;
	if (k == 5)
		return executed_of(x);
	if (!strcmp(t->column[k].name, "Div"))
		return x->divider;
	return x->port[atoi(t->column[k].name + 5)];
}

/* "1", "0.5", "0.33"; nothing for 0. */
static void write_value(double value, char *text, size_t size)
{
	size_t n;

	snprintf(text, size, "%.2f", value);
	for (n = strlen(text); n && text[n - 1] == '0'; n--)
		text[n - 1] = '\0';
	if (n && text[n - 1] == '.')
		text[n - 1] = '\0';
	if (!strcmp(text, "0") || !strcmp(text, "-0"))
		text[0] = '\0';
}

static void add_column(struct table *t, const char *name, bool begins)
{
	struct column *c = &t->column[t->n];
	char text[32];

	*c = (struct column){.begins = begins, .width = strlen(name)};
	snprintf(c->name, sizeof(c->name), "%s", name);
	t->n++;
	if (!strcmp(name, "Notes"))
		goto pad;
	for (size_t i = 0; i < t->run->n; i++) {
		const double value = value_of(t, t->n - 1, i);

		c->sum += value;
		write_value(value, text, sizeof(text));
		c->width = strlen(text) > c->width ? strlen(text) : c->width;
	}
pad:
	c->width += 2;
}

static void add_columns(struct table *t)
{
	static const char *const first[] = {"MITE", "MS", "DSB", "LSD", "Issued", "Exec."};
	bool begins = true;
	char name[16];

	for (size_t i = 0; i < t->run->n; i++) {
		const char *note = note_of(t, i);

		t->has_jcc |= *note == 'J';
		t->has_fused |= *note == 'M';
		t->has_unknown |= *note == 'X';
		t->has_notes |= *note != '\0';
		t->has_divider |= t->run->insns[i].divider > 0;
	}
	for (size_t k = 0; k < CLI_ARRAY_SIZE(first); k++)
		add_column(t, first[k], k == 0 || k >= 4);
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++) {
		if (!(tact_arch_ports(t->run->arch) >> p & 1))
			continue;
		snprintf(name, sizeof(name), "Port %u", p);
		add_column(t, name, begins);
		begins = false;
	}
	if (t->has_divider)
		add_column(t, "Div", false);
	if (t->has_notes)
		add_column(t, "Notes", true);
}

static void add_border(const struct table *t, const char *left, const char *middle,
		       const char *right, struct text *out)
{
	for (unsigned k = 0; k < t->n; k++) {
		text_add(out, k == 0 ? left : t->column[k].begins ? middle : "─");
		for (size_t i = 0; i < t->column[k].width; i++)
			text_add(out, "─");
	}
	text_printf(out, "%s\n", right);
}

/* As Python centres: the odd blank goes behind. */
static void add_cell(const struct column *c, const char *text, struct text *out)
{
	const size_t length = strlen(text);
	const size_t left = length < c->width ? (c->width - length) / 2 : 0;

	text_printf(out, "%s%*s%s%*s", c->begins ? "│" : " ", (int)left, "", text,
		    (int)(c->width > length + left ? c->width - length - left : 0), "");
}

static void add_line(const struct table *t, long i, struct text *out)
{
	char text[32];

	for (unsigned k = 0; k < t->n; k++) {
		const bool is_notes = !strcmp(t->column[k].name, "Notes");

		if (is_notes)
			snprintf(text, sizeof(text), "%s", i < 0 ? "" : note_of(t, (size_t)i));
		else
			write_value(i < 0 ? t->column[k].sum : value_of(t, k, (size_t)i), text,
				    sizeof(text));
		add_cell(&t->column[k], text, out);
	}
	text_printf(out, "│ %s\n", i < 0 ? "Total" : t->region->insns[i].text);
}

void uica_table(const struct dropin_run *run, const struct dropin_region *region, struct text *out)
{
	struct table t = {.run = run, .region = region};

	add_columns(&t);
	if (t.has_jcc)
		text_add(out, "J - Block not in DSB due to JCC erratum\n");
	if (t.has_fused)
		text_add(out, "M - Macro-fused with previous instruction\n");
	if (t.has_unknown)
		text_add(out, "X - Instruction not supported\n");
	if (t.has_notes)
		text_add(out, "\n");
	add_border(&t, "┌", "┬", "┐", out);
	for (unsigned k = 0; k < t.n; k++)
		add_cell(&t.column[k], t.column[k].name, out);
	text_add(out, "│\n");
	add_border(&t, "├", "┼", "┤", out);
	for (size_t i = 0; i < run->n && i < region->n_insns; i++)
		add_line(&t, (long)i, out);
	add_border(&t, "├", "┼", "┤", out);
	add_line(&t, -1, out);
	add_border(&t, "└", "┴", "┘", out);
	text_add(out, "\n");
}

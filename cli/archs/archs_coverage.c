/* SPDX-License-Identifier: MIT
 *
 * tact archs --coverage: which instructions of some code have no data.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "archs.h"
#include "base/tabular.h"
#include "common/cli.h"

enum { TOP = 30, NAME_SIZE = 96 };

/* One form, or one kind of instruction that is none. */
struct gap {
	char name[NAME_SIZE];
	unsigned form;	  /* TACT_FORM_NONE: the tables do not know it */
	size_t count;	  /* of instructions */
	uint64_t missing; /* bit i: without data on list.arch[i] */
	char example[2 * TACT_MAX_INSN_BYTES + 1];
};

struct coverage {
	const struct archs *a;
	size_t n_blocks, n_failed, n_insns;
	bool is_unable;
	size_t *of_form;		       /* owned: instructions of each form */
	uint8_t (*bytes)[TACT_MAX_INSN_BYTES]; /* owned: an example of each form */
	uint8_t *length;		       /* owned: of the example */
	struct gap *gaps; /* owned: first instructions without a form, later everything */
	size_t n_gaps;
	struct text err;
};

static const char *operand_letter(const struct tact_operand *o)
{
	switch (o->kind) {
	case TACT_OPERAND_MEM:
		return "M";
	case TACT_OPERAND_AGEN:
		return "AGEN";
	case TACT_OPERAND_IMM:
		return "I";
	}
	return "R";
}

/* "VPXX (R256, M256)" for what the tables have no name for. */
static void name_unknown(const struct tact_insn *insn, const uint8_t *code, char *name)
{
	struct text text = {0};
	char line[112] = "?", *p = line;
	bool first = true;

	tact_format(code, insn->length, 0, line, sizeof(line));
	for (; *p && *p != ' '; p++)
		*p = (char)toupper((unsigned char)*p);
	text_add_bytes(&text, line, (size_t)(p - line));
	for (unsigned i = 0; i < insn->n_operands; i++) {
		if (!insn->operand[i].explicit_operand)
			continue;
		text_printf(&text, "%s%s%u", first ? " (" : ", ", operand_letter(&insn->operand[i]),
			    insn->operand[i].bits);
		first = false;
	}
	text_printf(&text, "%s (not in the tables)", first ? "" : ")");
	snprintf(name, NAME_SIZE, "%.*s", (int)text.size, text.data);
	text_free(&text);
}

static struct gap *add_gap(struct coverage *c)
{
	c->gaps = cli_realloc(c->gaps, (c->n_gaps + 1) * sizeof(*c->gaps));
	c->gaps[c->n_gaps] = (struct gap){.form = TACT_FORM_NONE};
	return &c->gaps[c->n_gaps++];
}

/* There are few of these: a list will do. */
static void count_unknown(struct coverage *c, const struct tact_insn *insn, const uint8_t *code)
{
	char name[NAME_SIZE];
	struct gap *gap;

	name_unknown(insn, code, name);
	for (size_t i = 0; i < c->n_gaps; i++) {
		if (!strcmp(c->gaps[i].name, name)) {
			c->gaps[i].count++;
			return;
		}
	}
	gap = add_gap(c);
	memcpy(gap->name, name, sizeof(name));
	gap->count = 1;
	*put_hex(gap->example, code, insn->length) = '\0';
}

static void count_insn(struct coverage *c, const struct tact_insn *insn, const uint8_t *code)
{
	c->n_insns++;
	if (insn->form == TACT_FORM_NONE || insn->form >= tact_form_count()) {
		count_unknown(c, insn, code);
		return;
	}
	if (!c->of_form[insn->form]++) {
		memcpy(c->bytes[insn->form], code, insn->length);
		c->length[insn->form] = insn->length;
	}
}

static void count_block(struct coverage *c, const struct source_block *block)
{
	const struct tact_region *r = &block->region;
	struct tact_insn insn;

	if (block->status < 0) {
		c->n_failed++;
		c->is_unable |= block->status == -TACT_E_NO_TOOL;
		source_complain(&c->err, block, block->diag.text);
		return;
	}
	for (size_t offset = 0; offset < r->code_size; offset += insn.length) {
		char why[80];

		if (tact_decode(&insn, r->code + offset, r->code_size - offset) >= 0) {
			count_insn(c, &insn, r->code + offset);
			continue;
		}
		c->n_failed++;
		snprintf(why, sizeof(why), "no instruction, or one that is cut short, at byte %zu",
			 offset);
		source_complain(&c->err, block, why);
		return;
	}
	c->n_blocks++;
}

static int by_count(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Adds the forms that some CPU has no data for, and sorts. */
static void find_gaps(struct coverage *c)
{
	const struct archlist *list = &c->a->list;
	uint64_t all = list->n < 64 ? ((uint64_t)1 << list->n) - 1 : UINT64_MAX;

	for (size_t i = 0; i < c->n_gaps; i++)
		c->gaps[i].missing = all;
	for (unsigned form = 0; form < tact_form_count(); form++) {
		uint64_t missing = 0;
		struct gap *gap;

		for (size_t i = 0; i < list->n && c->of_form[form]; i++)
			if (!tact_arch_has_form(list->arch[i], form))
				missing |= (uint64_t)1 << i;
		if (!missing)
			continue;
		gap = add_gap(c);
		snprintf(gap->name, sizeof(gap->name), "%s", tact_form_name(form));
		gap->form = form;
		gap->count = c->of_form[form];
		gap->missing = missing;
		*put_hex(gap->example, c->bytes[form], c->length[form]) = '\0';
	}
	if (c->n_gaps)
		qsort(c->gaps, c->n_gaps, sizeof(*c->gaps), by_count);
}

static size_t missing_on(const struct coverage *c, size_t arch)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_gaps; i++)
		if (c->gaps[i].missing >> arch & 1)
			n += c->gaps[i].count;
	return n;
}

static double share(const struct coverage *c, size_t missing)
{
	return c->n_insns ? 100.0 * (double)(c->n_insns - missing) / (double)c->n_insns : 100.0;
}

/* What a CPU has data for, or a form that it has none for. */
struct row {
	const char *arch, *name, *example;
	size_t count;
	double percent;
};

static const struct column columns[] = {
	{NULL, "arch", COLUMN_FIELD(struct row, arch, STRING)},
	{NULL, "instruction", COLUMN_FIELD(struct row, name, STRING)},
	{NULL, "count", COLUMN_FIELD(struct row, count, SIZE)},
	{NULL, "percent_of_instructions", COLUMN_FIELD(struct row, percent, DOUBLE),
	 .form = FORM_DECIMALS(4)},
	{NULL, "example", COLUMN_FIELD(struct row, example, STRING)},
};

static void print_rows(const struct coverage *c, struct text *out)
{
	const struct archlist *list = &c->a->list;
	struct table table = {.columns = columns,
			      .n_columns = CLI_ARRAY_SIZE(columns),
			      .format = c->a->format,
			      .out = out,
			      .schema = "tact.archs/1",
			      .kind = "coverage"};

	table_header(&table);
	for (size_t a = 0; a < list->n; a++) {
		struct row row = {.arch = tact_arch_name(list->arch[a]),
				  .name = "covered",
				  .count = c->n_insns - missing_on(c, a),
				  .percent = share(c, missing_on(c, a))};

		table_row(&table, &row);
		for (size_t i = 0; i < c->n_gaps; i++) {
			const struct gap *gap = &c->gaps[i];

			row = (struct row){row.arch, gap->name, gap->example, gap->count,
					   100 - share(c, gap->count)};
			if (gap->missing >> a & 1)
				table_row(&table, &row);
		}
	}
	table_fini(&table);
}

static void add_archs(const struct coverage *c, uint64_t missing, struct text *out)
{
	const struct archlist *list = &c->a->list;
	uint64_t all = list->n < 64 ? ((uint64_t)1 << list->n) - 1 : UINT64_MAX;

	if (missing == all && list->n > 1) {
		text_add(out, "all");
		return;
	}
	for (bool first = true; missing; missing &= missing - 1, first = false)
		text_printf(out, "%s%s", first ? "" : " ",
			    tact_arch_name(list->arch[__builtin_ctzll(missing)]));
}

static void print_text(const struct coverage *c, struct text *out)
{
	const struct archlist *list = &c->a->list;
	size_t shown = c->a->is_all || c->n_gaps <= TOP ? c->n_gaps : TOP;

	text_printf(out, "%zu instructions in %zu blocks\n\nArch  With data  Without\n", c->n_insns,
		    c->n_blocks);
	for (size_t a = 0; a < list->n; a++)
		text_printf(out, "%-4s  %8.3f%%  %7zu\n", tact_arch_name(list->arch[a]),
			    share(c, missing_on(c, a)), missing_on(c, a));
	if (!c->n_gaps)
		return;
	text_printf(out, "\n  Count  %-40s  %-16s  No data on\n", "Instruction", "Example");
	for (size_t i = 0; i < shown; i++) {
		text_printf(out, "%7zu  %-40s  %-16s  ", c->gaps[i].count, c->gaps[i].name,
			    c->gaps[i].example);
		add_archs(c, c->gaps[i].missing, out);
		text_add(out, "\n");
	}
	if (shown < c->n_gaps)
		text_printf(out, "... and %zu more (--all shows them)\n", c->n_gaps - shown);
}

int archs_coverage(const struct archs *a, struct text *out)
{
	size_t forms = tact_form_count();
	struct coverage c = {.a = a};
	struct source_block block;
	struct source source;

	c.of_form = cli_alloc(forms * sizeof(*c.of_form));
	memset(c.of_form, 0, forms * sizeof(*c.of_form));
	c.bytes = cli_alloc(forms * sizeof(*c.bytes));
	c.length = cli_alloc(forms);
	source_init(&source, &a->source, a->is_quiet);
	while (source_next(&source, &block)) {
		count_block(&c, &block);
		text_to_stderr(&c.err);
	}
	source_fini(&source);
	find_gaps(&c);
	if (a->format)
		print_rows(&c, out);
	else
		print_text(&c, out);
	free(c.of_form);
	free(c.bytes);
	free(c.length);
	free(c.gaps);
	text_free(&c.err);
	if (c.is_unable)
		return CLI_UNABLE;
	return c.n_failed ? CLI_FAILED : CLI_GOOD;
}

/* SPDX-License-Identifier: MIT
 *
 * tact archs --coverage: which instructions of some code have no data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact-program/coverage.h>

#include "archs.h"
#include "base/tabular.h"
#include "common/cli.h"

enum { TOP = 30 };

/* The counts. */
struct counted {
	const struct archs *a;
	const struct tact_coverage *coverage;
	const struct tact_gap *gaps;
	size_t n_gaps, n_insns;
};

static double share(const struct counted *c, size_t missing)
{
	return c->n_insns ? 100.0 * (double)(c->n_insns - missing) / (double)c->n_insns : 100.0;
}

/* The share of instructions that a CPU has data for, or a form without data. */
struct row {
	const char *arch, *name;
	size_t count;
	double percent;
	const struct tact_gap *gap; /* NULL: none */
};

static struct cell get_example(const struct cell_at *at)
{
	const struct tact_gap *gap = ((const struct row *)at->row)->gap;

	return gap ? cell_hex(gap->example, gap->example_size) : cell_none();
}

static const struct column columns[] = {
	{NULL, "arch", COLUMN_FIELD(struct row, arch, STRING)},
	{NULL, "instruction", COLUMN_FIELD(struct row, name, STRING)},
	{NULL, "count", COLUMN_FIELD(struct row, count, SIZE)},
	{NULL, "percent_of_instructions", COLUMN_FIELD(struct row, percent, DOUBLE),
	 .form = FORM_DECIMALS(4)},
	{NULL, "example", .get = get_example},
};

static void print_rows(const struct counted *c, struct text *out)
{
	const struct archlist *list = &c->a->list;
	struct table table = archs_table(c->a, columns, CLI_ARRAY_SIZE(columns), "coverage", out);

	table_header(&table);
	for (size_t a = 0; a < list->n; a++) {
		struct row row = {.arch = tact_arch_name(list->arch[a]),
				  .name = "covered",
				  .count = c->n_insns - tact_coverage_missing(c->coverage, a),
				  .percent = share(c, tact_coverage_missing(c->coverage, a))};

		table_row(&table, &row);
		for (size_t i = 0; i < c->n_gaps; i++) {
			const struct tact_gap *gap = &c->gaps[i];

			row = (struct row){row.arch, gap->name, gap->count,
					   100 - share(c, gap->count), gap};
			if (gap->missing >> a & 1)
				table_row(&table, &row);
		}
	}
	table_fini(&table);
}

static void add_archs(const struct counted *c, uint64_t missing, struct text *out)
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

static void print_text(const struct counted *c, struct text *out)
{
	const struct archlist *list = &c->a->list;
	size_t shown = c->a->is_all || c->n_gaps <= TOP ? c->n_gaps : TOP;

	text_printf(out, "%zu instructions in %zu blocks\n\nArch  With data  Without\n", c->n_insns,
		    tact_coverage_blocks(c->coverage));
	for (size_t a = 0; a < list->n; a++)
		text_printf(out, "%-4s  %8.3f%%  %7zu\n", tact_arch_name(list->arch[a]),
			    share(c, tact_coverage_missing(c->coverage, a)),
			    tact_coverage_missing(c->coverage, a));
	if (!c->n_gaps)
		return;
	text_printf(out, "\n  Count  %-40s  %-16s  No data on\n", "Instruction", "Example");
	for (size_t i = 0; i < shown; i++) {
		const struct tact_gap *gap = &c->gaps[i];
		char example[2 * TACT_MAX_INSN_BYTES + 1];

		*put_hex(example, gap->example, gap->example_size) = '\0';
		text_printf(out, "%7zu  %-40s  %-16s  ", gap->count, gap->name, example);
		add_archs(c, c->gaps[i].missing, out);
		text_add(out, "\n");
	}
	if (shown < c->n_gaps)
		text_printf(out, "... and %zu more (--all shows them)\n", c->n_gaps - shown);
}

static int add_block(struct tact_coverage *coverage, const struct source_block *block)
{
	struct tact_diag diag = block->diag;
	struct text err = {0};
	int status = block->status;

	if (status >= 0)
		status = tact_coverage_add(coverage, block->region.code, block->region.code_size,
					   &diag);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0)
		source_complain(&err, block, diag.text);
	text_to_stderr(&err);
	text_free(&err);
	return status >= 0 ? CLI_GOOD : status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED;
}

int archs_coverage(const struct archs *a, struct text *out)
{
	struct tact_coverage *coverage;
	struct source_options options = a->source;
	struct counted c = {.a = a};
	struct source_block block;
	struct source source;
	int status = CLI_GOOD;

	if (tact_coverage_create(&coverage, a->list.arch, a->list.n, NULL) < 0)
		cli_out_of_memory();
	options.isa = tact_arch_isa(a->list.arch[0]);
	source_init(&source, &options, a->is_quiet);
	while (source_next(&source, &block)) {
		const int code = add_block(coverage, &block);

		status = code > status ? code : status;
	}
	source_fini(&source);
	if (tact_coverage_gaps(coverage, &c.gaps, &c.n_gaps) < 0)
		cli_out_of_memory();
	c.coverage = coverage;
	c.n_insns = tact_coverage_insns(coverage);
	if (!c.n_insns && status)
		; /* the complaints say it all */
	else if (a->format)
		print_rows(&c, out);
	else
		print_text(&c, out);
	tact_coverage_destroy(coverage);
	return status;
}

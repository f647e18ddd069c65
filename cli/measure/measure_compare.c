/* SPDX-License-Identifier: MIT
 *
 * Predictions next to measurements, largest disagreement first.
 */
#include <tact-program/evaluate.h>
#include <tact-program/rows.h>

#include "base/json.h"
#include "common/cli.h"
#include "measurer.h"

enum { SHOWN_ROWS = 20 };

/* What makes a number differ from that of an ideal machine, which is what a model predicts. */
enum {
	SET_APART = TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_ALIAS_PAGE | TACT_MFLAG_PARTIAL |
		    TACT_MFLAG_MANY_PAGES | TACT_MFLAG_MODES | TACT_MFLAG_SHORT
};

/* ---- rows ---- */

static struct tact_comparison *create(void)
{
	struct tact_comparison *c;

	if (tact_comparison_create(&c, "facile", NULL) < 0)
		cli_out_of_memory();
	return c;
}

/* The CPU of --arch, or the one that was measured; if that is not modelled, the default of
 * predictions without --arch.
 */
static const struct tact_arch *choose_arch(struct measurer *p, const char *machine_arch)
{
	const struct tact_arch *arch = NULL;

	if (!p->archs.names && !p->archs.params && *machine_arch)
		arch = tact_arch_find(machine_arch);
	if (!arch && !p->archs.n)
		archlist_resolve(&p->archs, NULL, p->is_quiet); /* reports which one it is */
	return arch ? arch : p->archs.arch[0];
}

static void add(struct measurer *p, struct tact_comparison *c, const struct tact_row *row,
		const char *name)
{
	const struct tact_arch *arch = tact_row_has_number(row) ? choose_arch(p, row->arch) : NULL;

	if (tact_comparison_add(c, row, name, arch) == -TACT_E_NOMEM)
		cli_out_of_memory();
}

/* ---- output ---- */

static void add_bottlenecks(struct text *out, uint32_t bits, const char *separator)
{
	const char *between = "";

	for (; bits; bits &= bits - 1, between = separator)
		text_printf(out, "%s%s", between,
			    tact_bound_name((enum tact_bound)__builtin_ctz(bits)));
}

static void text_table(const struct measurer *p, const struct tact_comparison *c, struct text *out)
{
	size_t shown = p->is_verbose || c->n <= SHOWN_ROWS ? c->n : SHOWN_ROWS;
	char flags[TACT_MEASURE_FLAGS_SIZE];

	text_printf(out, "%9s %10s %8s  %-6s %-4s %-5s %-14s %s\n", "Measured", "Predicted",
		    "Error", "Mode", "CPU", "Flags", "Bottleneck", "Block");
	for (size_t i = 0; i < shown; i++) {
		const struct tact_compared *r = &c->row[i];
		size_t start;

		text_cycles2(out, r->measured, 9);
		text_cycles2(out, r->predicted, 10);
		text_printf(out, "%s %+7.1f%%  %-6s %-4s %-5s ", r->coverage < 1 ? "+" : " ",
			    100 * r->error, tact_mode_name(r->mode), tact_arch_name(r->arch),
			    tact_measure_flags_text(r->flags, flags));
		start = out->size;
		add_bottlenecks(out, r->bottlenecks & -r->bottlenecks, "");
		text_pad(out, 15, start);
		measure_add_label(out, r->name, r->code, r->code_size, 48);
		text_add(out, "\n");
	}
	if (shown < c->n)
		text_printf(out, "... and %zu more; -v shows all\n", c->n - shown);
	text_add(out, "\n");
}

static void csv_table(const struct tact_comparison *c, struct text *out)
{
	char flags[TACT_MEASURE_FLAGS_SIZE];

	text_add(out, "hex,mode,init,arch,measured_cycles_per_iteration,"
		      "predicted_cycles_per_iteration,relative_error,coverage,bottlenecks,flags\n");
	for (size_t i = 0; i < c->n; i++) {
		const struct tact_compared *r = &c->row[i];

		text_hex(out, r->code, r->code_size);
		text_printf(out, ",%s,%s,%s,", tact_mode_name(r->mode), tact_init_name(r->init),
			    tact_arch_name(r->arch));
		text_number(out, r->measured);
		text_add(out, ",");
		text_number(out, r->predicted);
		text_printf(out, ",%.5f,", r->error);
		text_number(out, r->coverage);
		text_add(out, ",");
		add_bottlenecks(out, r->bottlenecks, "+");
		text_printf(out, ",%s\n", tact_measure_flags_text(r->flags, flags));
	}
}

static void json_row(const struct tact_compared *r, struct text *out)
{
	struct json json = {.out = out};
	char flags[TACT_MEASURE_FLAGS_SIZE];

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.compare/1");
	json_put_hex(&json, "hex", r->code, r->code_size);
	if (r->name[0])
		json_put_string(&json, "name", r->name);
	json_put_string(&json, "mode", tact_mode_name(r->mode));
	json_put_string(&json, "init", tact_init_name(r->init));
	json_put_string(&json, "arch", tact_arch_name(r->arch));
	json_put_number(&json, "measured_cycles_per_iteration", r->measured);
	json_put_number(&json, "predicted_cycles_per_iteration", r->predicted);
	json_put_fixed(&json, "relative_error", r->error, 5);
	json_put_number(&json, "coverage", r->coverage);
	json_begin_array(&json, "bottlenecks");
	for (uint32_t bits = r->bottlenecks; bits; bits &= bits - 1)
		json_put_string(&json, NULL, tact_bound_name((enum tact_bound)__builtin_ctz(bits)));
	json_end(&json);
	json_put_string(&json, "flags", tact_measure_flags_text(r->flags, flags));
	json_end_line(&json);
}

/* Summary of all rows, or of the rows without any of the flags. */
static void add_summary(const struct measurer *p, const struct tact_comparison *c, const char *name,
			uint32_t without, struct text *out)
{
	struct tact_agreement a = {.size = sizeof(a)};
	struct json json = {.out = out};
	int status = tact_comparison_agreement(c, without, &a);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0)
		return;
	if (p->format == FORMAT_JSON) {
		json_begin_object(&json, NULL);
		json_put_string(&json, "schema", "tact.compare/1");
		json_put_string(&json, "summary", name);
		json_put_count(&json, "blocks", a.n);
		json_put_fixed(&json, "mape", a.mape, 5);
		json_put_fixed(&json, "median_error", a.median, 5);
		if (a.has_tau)
			json_put_fixed(&json, "kendall_tau", a.tau, 4);
		json_end_line(&json);
		return;
	}
	text_printf(out, "%-12s %7zu blocks  MAPE %.2f%%  median error %.2f%%  Kendall's tau ",
		    name, a.n, 100 * a.mape, 100 * a.median);
	if (a.has_tau)
		text_printf(out, "%.4f\n", a.tau);
	else
		text_add(out, "-\n");
}

static void print(const struct measurer *p, struct tact_comparison *c, struct output *out)
{
	struct text text = {0}, summary = {0};

	tact_comparison_sort(c);
	if (p->format == FORMAT_CSV)
		csv_table(c, &text);
	for (size_t i = 0; i < c->n && p->format == FORMAT_JSON; i++)
		json_row(&c->row[i], &text);
	if (p->format == FORMAT_TEXT)
		text_table(p, c, &text);
	add_summary(p, c, "all", 0, &summary);
	add_summary(p, c, "undisturbed", SET_APART, &summary);
	if (p->format != FORMAT_CSV)
		text_append(&text, &summary);
	else if (!p->is_quiet) /* a CSV file has rows of one kind */
		text_to_stderr(&summary);
	output_write(out, &text);
	text_free(&text);
	text_free(&summary);
}

/* ---- both ways ---- */

int measure_compare_check(struct measurer *p)
{
	int status = CLI_GOOD;

	if (p->archs.names || p->archs.params)
		status = archlist_resolve(&p->archs, NULL, p->is_quiet);
	if (!status && p->archs.n > 1) {
		cli_message("--compare predicts for one microarchitecture; --arch names %zu",
			    p->archs.n);
		status = CLI_USAGE;
	}
	return status;
}

static int end(struct measurer *p, struct tact_comparison *c, struct output *out)
{
	int status = CLI_GOOD;

	if (c->n) {
		print(p, c, out);
	} else {
		cli_message("no measurement has a number to compare with");
		status = CLI_FAILED;
	}
	if (!p->is_quiet && (c->n_numberless || c->n_unpredicted))
		cli_message("left out: %zu blocks without a number, %zu without a prediction",
			    c->n_numberless, c->n_unpredicted);
	tact_comparison_destroy(c);
	return status;
}

int measure_compare_results(struct measurer *p, const struct measure_outcome *o, struct output *out)
{
	struct tact_comparison *c = create();

	for (size_t i = 0; i < o->list->n; i++) {
		const struct measure_block *b = &o->list->block[i];
		const struct tact_measurement *m = o->results[i];

		if (m)
			add(p, c,
			    &(struct tact_row){.size = sizeof(struct tact_row),
					       .code = b->code,
					       .code_size = b->code_size,
					       .cycles = m->cycles_per_iteration,
					       .has_cycles = m->status == TACT_MEASURE_OK,
					       .mode = m->mode,
					       .init = (int)m->init,
					       .flags = m->flags,
					       .arch = ""},
			    b->name);
	}
	return end(p, c, out);
}

static int read_store(struct measurer *p, struct tact_comparison *c, struct tact_store *store,
		      struct tact_diag *diag)
{
	struct tact_rows *rows;
	struct tact_row row;
	int status = tact_rows_open_store(&rows, store, NULL, diag);

	if (status < 0)
		return status;
	while ((status = tact_rows_next(rows, &row, diag)) > 0)
		add(p, c, &row, "");
	tact_rows_close(rows);
	return status;
}

int measure_compare_store(struct measurer *p, const char *path, struct output *out)
{
	struct tact_diag diag = {0};
	struct tact_comparison *c;
	struct tact_store *store;
	int status = tact_store_open(&store, path, TACT_STORE_READONLY, &diag);

	if (status == -TACT_E_VERSION) /* a store of an older version is upgraded */
		status = tact_store_open(&store, path, 0, &diag);
	if (status < 0) {
		cli_message("%s: %s", path, diag.text);
		return CLI_FAILED;
	}
	status = CLI_GOOD;
	c = create();
	if (read_store(p, c, store, &diag) < 0) {
		cli_message("%s: %s", path, diag.text);
		status = CLI_FAILED;
	}
	if (end(p, c, out))
		status = CLI_FAILED;
	tact_store_close(store);
	return status;
}

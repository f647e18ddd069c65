/* SPDX-License-Identifier: MIT
 *
 * Predictions next to measurements, largest disagreement first.
 */
#include <string.h>

#include <tact-program/evaluate.h>
#include <tact-program/rows.h>
#include <tact/doctor.h>
#include <tact/remark.h>

#include "base/json.h"
#include "common/cli.h"
#include "measurer.h"

enum { SHOWN_ROWS = 20 };

/* What makes a number differ from that of an ideal machine, which is what a model predicts. */
enum {
	SET_APART = TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_ALIAS_PAGE | TACT_MFLAG_PARTIAL |
		    TACT_MFLAG_MANY_PAGES | TACT_MFLAG_MODES | TACT_MFLAG_SHORT |
		    TACT_MFLAG_COMPENSATED | TACT_MFLAG_STACK_FAULT
};

/* ---- rows ---- */

static struct tact_comparison *create(void)
{
	struct tact_comparison *c;

	if (tact_comparison_create(&c, "facile", NULL) < 0)
		cli_out_of_memory();
	return c;
}

/* A CPU that no model knows has no name among those of rows. */
static const char nameless[] = "unknown";

static bool is_asked(const struct measurer *p)
{
	return p->archs.names || p->archs.params;
}

static bool is_other(const char *measured_on, const struct tact_arch *arch)
{
	return *measured_on && strcmp(measured_on, tact_arch_name(arch)) != 0;
}

/* The CPU that was measured; if that is not modelled, the default of predictions. */
static const struct tact_arch *choose_arch(struct measurer *p, const char *machine_arch)
{
	const struct tact_arch *arch = *machine_arch ? tact_arch_find(machine_arch) : NULL;

	if (!arch && !p->archs.n)
		archlist_resolve(&p->archs, NULL, true); /* a remark says which one it is */
	return arch ? arch : p->archs.arch[0];
}

/* A row for each CPU of --arch, or one. */
static void add(struct measurer *p, struct tact_comparison *c, const struct tact_row *row,
		const char *name)
{
	const size_t n = is_asked(p) && tact_row_has_number(row) ? p->archs.n : 1;

	for (size_t i = 0; i < n; i++) {
		const struct tact_arch *arch = NULL;

		if (tact_row_has_number(row))
			arch = is_asked(p) ? p->archs.arch[i] : choose_arch(p, row->arch);
		if (tact_comparison_add(c, row, name, arch) == -TACT_E_NOMEM)
			cli_out_of_memory();
	}
}

/* ---- what is compared with what ---- */

static const char *remark_of(const struct tact_compared *r)
{
	if (is_other(r->measured_on, r->arch))
		return "other-cpu";
	return *r->measured_on ? "" : "cpu-assumed";
}

static const char *this_cpu(struct tact_host *host)
{
	*host = (struct tact_host){.size = sizeof(*host)};
	return tact_host_probe(host) >= 0 && host->brand[0] ? host->brand : "this CPU";
}

static void add_cpu_remarks(const struct measurer *p, const struct tact_comparison *c,
			    struct tact_remarks *remarks)
{
	const struct tact_compared *other = NULL, *assumed = NULL;
	size_t n_other = 0, n_assumed = 0;
	struct text names = {0};
	struct tact_host host;
	int status = 0;

	for (size_t i = 0; i < p->archs.n; i++)
		text_printf(&names, "%s%s", i ? ", " : "", tact_arch_full_name(p->archs.arch[i]));
	for (size_t i = 0; i < c->n; i++) {
		const struct tact_compared *r = &c->row[i];

		if (is_other(r->measured_on, r->arch)) {
			other = r;
			n_other++;
		} else if (!*r->measured_on) {
			assumed = r;
			n_assumed++;
		}
	}
	if (n_other && !strcmp(other->measured_on, nameless))
		status = tact_remarks_add(
			remarks, "other-cpu",
			"no model knows %s, which was measured; the predictions are for %s",
			this_cpu(&host), cli_string(&names));
	else if (n_other)
		status = tact_remarks_add(
			remarks, "other-cpu",
			"%zu rows were measured on another CPU (%s) than the predictions are for "
			"(%s)",
			n_other, other->measured_on, cli_string(&names));
	if (status >= 0 && n_assumed)
		status = tact_remarks_add(
			remarks, "cpu-assumed",
			"%zu rows do not name a CPU with a model; they are compared with %s",
			n_assumed, tact_arch_full_name(assumed->arch));
	text_free(&names);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
}

static void add_remarks(const struct measurer *p, const struct tact_comparison *c, struct text *out)
{
	struct tact_remarks *remarks;

	if (tact_remarks_create(&remarks) < 0)
		cli_out_of_memory();
	add_cpu_remarks(p, c, remarks);
	if (p->n_moving &&
	    tact_remarks_add(remarks, "addresses-kept",
			     "of %zu block%s, a loop around changes registers of addresses; here "
			     "they keep their values, measured and predicted",
			     p->n_moving, p->n_moving == 1 ? "" : "s") < 0)
		cli_out_of_memory();
	for (size_t i = 0; i < tact_remarks_count(remarks); i++)
		text_printf(out, "Remark: %s [%s]\n", tact_remarks_text(remarks, i),
			    tact_remarks_name(remarks, i));
	tact_remarks_destroy(remarks);
}

/* Letters that rows have, and what they mean. */
static void add_legend(const struct tact_comparison *c, size_t shown, struct text *out)
{
	char letter[TACT_MEASURE_FLAGS_SIZE];
	uint32_t bits = 0;

	for (size_t i = 0; i < shown; i++)
		bits |= c->row[i].flags;
	for (const struct measure_flag *f = measure_flags; f->bit; f++)
		if (bits & f->bit)
			text_printf(out, "  %s - %s\n", tact_measure_flags_text(f->bit, letter),
				    f->help);
}

/* ---- output ---- */

/* In the words of a CPU's vendor; arch NULL: as in formats for programs. */
static void add_bottlenecks(struct text *out, const struct tact_arch *arch, uint32_t bits,
			    const char *separator)
{
	const char *between = "";

	for (; bits; bits &= bits - 1, between = separator)
		text_printf(out, "%s%s", between,
			    tact_bound_name_on(arch, (enum tact_bound)__builtin_ctz(bits)));
}

static void text_table(const struct measurer *p, const struct tact_comparison *c, struct text *out)
{
	size_t shown = p->is_verbose || c->n <= SHOWN_ROWS ? c->n : SHOWN_ROWS;
	char flags[TACT_MEASURE_FLAGS_SIZE];

	text_printf(out, "%9s %10s %8s  %-6s %6s  %-4s %-5s %-14s %s\n", "Measured", "Predicted",
		    "Error", "Mode", "Offset", "CPU", "Flags", "Bottleneck", "Block");
	for (size_t i = 0; i < shown; i++) {
		const struct tact_compared *r = &c->row[i];
		size_t start;

		text_cycles2(out, r->measured, 9);
		text_cycles2(out, r->predicted, 10);
		text_printf(out, "%s %+7.1f%%  %-6s %6u  %-4s %-5s ", r->coverage < 1 ? "+" : " ",
			    100 * r->error, tact_mode_name(r->mode), r->alignment,
			    tact_arch_name(r->arch), tact_measure_flags_text(r->flags, flags));
		start = out->size;
		add_bottlenecks(out, r->arch, r->bottlenecks & -r->bottlenecks, "");
		text_pad(out, 15, start);
		measure_add_label(out, r->name, r->code, r->code_size, 48);
		text_add(out, "\n");
	}
	if (shown < c->n)
		text_printf(out, "... and %zu more; -v shows all\n", c->n - shown);
	add_legend(c, shown, out);
	text_add(out, "\n");
}

static void csv_table(const struct tact_comparison *c, struct text *out)
{
	char flags[TACT_MEASURE_FLAGS_SIZE];

	text_add(out, "hex,mode,init,arch,measured_cycles_per_iteration,"
		      "predicted_cycles_per_iteration,relative_error,coverage,bottlenecks,flags,"
		      "alignment,measured_on,remarks\n");
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
		add_bottlenecks(out, NULL, r->bottlenecks, "+");
		text_printf(out, ",%s,%u,%s,%s\n", tact_measure_flags_text(r->flags, flags),
			    r->alignment, r->measured_on, remark_of(r));
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
	json_put_string(&json, "measured_on", r->measured_on);
	json_put_count(&json, "alignment", r->alignment);
	json_put_number(&json, "measured_cycles_per_iteration", r->measured);
	json_put_number(&json, "predicted_cycles_per_iteration", r->predicted);
	json_put_fixed(&json, "relative_error", r->error, 5);
	json_put_number(&json, "coverage", r->coverage);
	json_begin_array(&json, "bottlenecks");
	for (uint32_t bits = r->bottlenecks; bits; bits &= bits - 1)
		json_put_string(&json, NULL, tact_bound_name((enum tact_bound)__builtin_ctz(bits)));
	json_end(&json);
	json_put_string(&json, "flags", tact_measure_flags_text(r->flags, flags));
	if (remark_of(r)[0]) {
		json_begin_array(&json, "remarks");
		json_begin_object(&json, NULL);
		json_put_string(&json, "name", remark_of(r));
		json_printf_string(&json, "text", "measured on %s, predicted for %s",
				   *r->measured_on ? r->measured_on : "a CPU that is not named",
				   tact_arch_name(r->arch));
		json_end(&json);
		json_end(&json);
	}
	json_end_line(&json);
}

/* Summary of all rows for a CPU, or of the rows without any of the flags. */
static void add_summary(const struct measurer *p, const struct tact_comparison *c,
			const struct tact_arch *arch, uint32_t without, struct text *out)
{
	const char *name = without ? "undisturbed" : "all";
	struct tact_agreement a = {.size = sizeof(a)};
	struct json json = {.out = out};
	int status = tact_comparison_agreement(c, arch, without, &a);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0)
		return;
	if (p->format == FORMAT_JSON) {
		json_begin_object(&json, NULL);
		json_put_string(&json, "schema", "tact.compare/1");
		json_put_string(&json, "summary", name);
		json_put_string(&json, "arch", tact_arch_name(arch));
		json_put_count(&json, "blocks", a.n);
		json_put_fixed(&json, "mape", a.mape, 5);
		json_put_fixed(&json, "median_error", a.median, 5);
		if (a.has_tau)
			json_put_fixed(&json, "kendall_tau", a.tau, 4);
		json_end_line(&json);
		return;
	}
	text_printf(out, "%-4s %-11s %6zu blocks  MAPE %.2f%%  median %.2f%%  Kendall's tau ",
		    tact_arch_name(arch), name, a.n, 100 * a.mape, 100 * a.median);
	if (a.has_tau)
		text_printf(out, "%.4f\n", a.tau);
	else
		text_add(out, "-\n");
}

/* Returns the CPU of the rows whose name comes next; NULL after the last one. */
static const struct tact_arch *next_arch(const struct tact_comparison *c,
					 const struct tact_arch *after)
{
	const struct tact_arch *next = NULL;

	for (size_t i = 0; i < c->n; i++) {
		const char *name = tact_arch_name(c->row[i].arch);

		if ((!after || strcmp(name, tact_arch_name(after)) > 0) &&
		    (!next || strcmp(name, tact_arch_name(next)) < 0))
			next = c->row[i].arch;
	}
	return next;
}

static void print(const struct measurer *p, struct tact_comparison *c, struct output *out)
{
	struct text text = {0}, summary = {0}, summary_of_remarks = {0};

	tact_comparison_sort(c);
	if (p->format == FORMAT_CSV)
		csv_table(c, &text);
	for (size_t i = 0; i < c->n && p->format == FORMAT_JSON; i++)
		json_row(&c->row[i], &text);
	if (p->format == FORMAT_TEXT) {
		add_remarks(p, c, &text);
		text_table(p, c, &text);
	} else {
		add_remarks(p, c, &summary_of_remarks);
		if (!p->is_quiet)
			text_to_stderr(&summary_of_remarks);
		text_free(&summary_of_remarks);
	}
	for (const struct tact_arch *a = next_arch(c, NULL); a; a = next_arch(c, a)) {
		add_summary(p, c, a, 0, &summary);
		add_summary(p, c, a, SET_APART, &summary);
	}
	if (p->format != FORMAT_CSV)
		text_append(&text, &summary);
	else if (!p->is_quiet) /* a CSV file has rows of one kind */
		text_to_stderr(&summary);
	output_write(out, &text);
	text_free(&text);
	text_free(&summary);
}

/* ---- both ways ---- */

/* Refuses to compare what was measured on one CPU with what is predicted for another one. */
static int check_cpu(const struct measurer *p, const char *measured_on, const char *what)
{
	for (size_t i = 0; i < p->archs.n && !p->is_forced; i++)
		if (is_other(measured_on, p->archs.arch[i]))
			return cli_wrong("%s was measured on %s, not on %s; --force compares them "
					 "nevertheless",
					 what, measured_on, tact_arch_name(p->archs.arch[i]));
	return CLI_GOOD;
}

static const char *host_name(void)
{
	const struct tact_arch *arch = tact_arch_host();

	return arch ? tact_arch_name(arch) : nameless;
}

int measure_compare_check(struct measurer *p, const char *store)
{
	struct tact_host host;
	int status = CLI_GOOD;

	if (!is_asked(p))
		return CLI_GOOD;
	status = archlist_resolve(&p->archs, NULL, p->is_quiet);
	for (size_t i = 0; i < p->archs.n && !status && !store; i++)
		if (tact_arch_isa(p->archs.arch[i]) != tact_isa_default())
			status = cli_wrong(
				"%s executes %s code, and this machine %s: nothing that is "
				"measured here can be compared with it",
				tact_arch_name(p->archs.arch[i]),
				tact_isa_title(tact_arch_isa(p->archs.arch[i])),
				tact_isa_title(tact_isa_default()));
	for (size_t i = 0; i < p->archs.n && !status && !store && !p->is_forced; i++)
		if (is_other(host_name(), p->archs.arch[i]))
			status = cli_wrong("this CPU, %s, is not %s; --force compares them "
					   "nevertheless",
					   this_cpu(&host), tact_arch_full_name(p->archs.arch[i]));
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

	p->n_moving = o->list->n_moving;
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
					       .alignment = m->alignment,
					       .arch = host_name()},
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
	while ((status = tact_rows_next(rows, &row, diag)) > 0) {
		if (is_asked(p) && tact_row_has_number(&row) &&
		    check_cpu(p, row.arch, "the store")) {
			status = -TACT_E_INVAL;
			break;
		}
		add(p, c, &row, "");
	}
	tact_rows_close(rows);
	return status;
}

int measure_compare_store(struct measurer *p, const char *path, struct output *out)
{
	struct tact_diag diag = {0};
	struct tact_comparison *c;
	struct tact_store *store;
	int status = tact_store_open(&store, path, TACT_STORE_READONLY, &diag), read;

	if (status == -TACT_E_VERSION) /* a store of an older version is upgraded */
		status = tact_store_open(&store, path, 0, &diag);
	if (status < 0) {
		cli_message("%s: %s", path, diag.text);
		return CLI_FAILED;
	}
	status = CLI_GOOD;
	c = create();
	read = read_store(p, c, store, &diag);
	if (read == -TACT_E_INVAL) {
		tact_comparison_destroy(c);
		tact_store_close(store);
		return CLI_USAGE;
	}
	if (read < 0) {
		cli_message("%s: %s", path, diag.text);
		status = CLI_FAILED;
	}
	if (end(p, c, out))
		status = CLI_FAILED;
	tact_store_close(store);
	return status;
}

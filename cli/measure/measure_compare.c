/* SPDX-License-Identifier: MIT
 *
 * Predictions beside measurements, the largest disagreement first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact/evaluate.h>
#include <tact/model.h>

#include "common/cli.h"
#include "measurer.h"

enum { SHOWN_ROWS = 20 };

/* What makes a number differ from that of an ideal machine, which is what a model predicts. */
enum {
	SET_APART = TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_ALIAS_PAGE | TACT_MFLAG_PARTIAL |
		    TACT_MFLAG_MANY_PAGES | TACT_MFLAG_MODES | TACT_MFLAG_SHORT
};

struct row {
	const uint8_t *code; /* borrowed, or own_code */
	size_t code_size;
	const char *name;  /* borrowed */
	uint8_t *own_code; /* owned; NULL: there is none */
	enum tact_mode mode;
	enum tact_init init;
	uint32_t flags, bottlenecks;
	double measured, predicted, coverage, error;
	const struct tact_arch *arch;
};

struct comparison {
	struct measurer *p;
	struct row *rows; /* owned */
	size_t n, capacity;
	size_t n_numberless, n_unpredicted;
	struct tact_block *block;	  /* owned; NULL until there is a row */
	struct tact_estimator *estimator; /* owned; likewise */
};

/* ---- prediction ---- */

/* Of --arch, or of the machine that it was measured on; if that is not modelled, what a prediction
 * without --arch takes.
 */
static const struct tact_arch *choose_arch(struct comparison *c, const char *machine_arch)
{
	struct archlist *archs = &c->p->archs;
	const struct tact_arch *arch = NULL;

	if (!archs->names && !archs->params && *machine_arch)
		arch = tact_arch_find(machine_arch);
	if (!arch && !archs->n)
		archlist_resolve(archs, NULL, c->p->is_quiet); /* says which one it is */
	return arch ? arch : archs->arch[0];
}

/* Loads the code as it ran.  A block that does not end in its branch shows by what auto says. */
static int load(struct comparison *c, const struct row *row)
{
	struct tact_block_options options = {
		.size = sizeof(options), .mode = TACT_MODE_AUTO, .init = row->init};
	uint8_t *looped;
	int status;

	if (c->block)
		status = tact_block_rebind(c->block, row->arch, &options);
	else
		status = tact_block_create(&c->block, row->arch, &options, NULL);
	if (status >= 0)
		status = tact_block_load(c->block, row->code, row->code_size, NULL);
	if (status < 0 || tact_block_mode(c->block) == row->mode)
		return status;
	if (row->mode == TACT_MODE_LOOP) {
		looped = cli_alloc(row->code_size + TACT_MEASURE_LOOP_BYTES);
		status = tact_block_load(c->block, looped,
					 tact_measure_loop(tact_arch_isa(row->arch), looped,
							   row->code, row->code_size),
					 NULL);
		free(looped);
	}
	options.mode = row->mode;
	return status < 0 ? status : tact_block_rebind(c->block, row->arch, &options);
}

static bool predict(struct comparison *c, struct row *row)
{
	struct tact_estimate x = {.size = sizeof(x)};
	int status = load(c, row);

	if (status >= 0 && !c->estimator)
		status = tact_model_open(&c->estimator, "facile", NULL, NULL);
	if (status >= 0)
		status = tact_model_estimate(c->estimator, c->block, &x);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0)
		return false;
	row->predicted = x.cycles_per_iteration;
	row->coverage = x.coverage;
	row->bottlenecks = x.bottlenecks;
	row->error = (row->predicted - row->measured) / row->measured;
	return true;
}

/* Takes the row over, or counts why it does not. */
static void add(struct comparison *c, struct row row, const struct tact_measurement *m,
		const char *machine_arch)
{
	if (m->status != TACT_MEASURE_OK || !(m->cycles_per_iteration > 0)) {
		c->n_numberless++;
		free(row.own_code);
		return;
	}
	row.mode = m->mode;
	row.init = m->init;
	row.flags = m->flags;
	row.measured = m->cycles_per_iteration;
	row.arch = choose_arch(c, machine_arch);
	if (!predict(c, &row)) {
		c->n_unpredicted++;
		free(row.own_code);
		return;
	}
	if (c->n == c->capacity) {
		c->capacity = c->capacity ? 2 * c->capacity : 64;
		c->rows = cli_realloc(c->rows, c->capacity * sizeof(*c->rows));
	}
	c->rows[c->n++] = row;
}

/* ---- output ---- */

static void add_bottlenecks(struct text *out, uint32_t bits, const char *separator)
{
	const char *between = "";

	for (; bits; bits &= bits - 1, between = separator)
		text_printf(out, "%s%s", between,
			    tact_bound_name((enum tact_bound)__builtin_ctz(bits)));
}

static void text_table(const struct comparison *c, struct text *out)
{
	size_t shown = c->p->is_verbose || c->n <= SHOWN_ROWS ? c->n : SHOWN_ROWS;
	char flags[16];

	text_printf(out, "%9s %10s %8s  %-6s %-4s %-5s %-14s %s\n", "Measured", "Predicted",
		    "Error", "Mode", "CPU", "Flags", "Bottleneck", "Block");
	for (size_t i = 0; i < shown; i++) {
		const struct row *r = &c->rows[i];
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

static void csv_table(const struct comparison *c, struct text *out)
{
	char flags[16];

	text_add(out, "hex,mode,init,arch,measured_cycles_per_iteration,"
		      "predicted_cycles_per_iteration,relative_error,coverage,bottlenecks,flags\n");
	for (size_t i = 0; i < c->n; i++) {
		const struct row *r = &c->rows[i];

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

static void json_table(const struct comparison *c, struct text *out)
{
	char flags[16];

	for (size_t i = 0; i < c->n; i++) {
		const struct row *r = &c->rows[i];

		text_add(out, "{\"schema\":\"tact.compare/1\",\"hex\":\"");
		text_hex(out, r->code, r->code_size);
		text_add(out, "\"");
		if (r->name[0])
			measure_json_string(out, "name", r->name);
		measure_json_string(out, "mode", tact_mode_name(r->mode));
		measure_json_string(out, "init", tact_init_name(r->init));
		measure_json_string(out, "arch", tact_arch_name(r->arch));
		text_add(out, ",\"measured_cycles_per_iteration\":");
		text_number(out, r->measured);
		text_add(out, ",\"predicted_cycles_per_iteration\":");
		text_number(out, r->predicted);
		text_printf(out, ",\"relative_error\":%.5f,\"coverage\":", r->error);
		text_number(out, r->coverage);
		text_add(out, ",\"bottlenecks\":[");
		if (r->bottlenecks) {
			text_add(out, "\"");
			add_bottlenecks(out, r->bottlenecks, "\",\"");
			text_add(out, "\"");
		}
		text_printf(out, "],\"flags\":\"%s\"}\n", tact_measure_flags_text(r->flags, flags));
	}
}

/* Agreement of all rows, or of those without one of the flags. */
static bool agreement(const struct comparison *c, uint32_t without, struct tact_agreement *a)
{
	double *predicted = cli_alloc(c->n * sizeof(double));
	double *measured = cli_alloc(c->n * sizeof(double));
	size_t n = 0;
	int status;

	for (size_t i = 0; i < c->n; i++) {
		if (c->rows[i].flags & without)
			continue;
		predicted[n] = c->rows[i].predicted;
		measured[n++] = c->rows[i].measured;
	}
	status = tact_agreement_compute(predicted, measured, n, a);
	free(predicted);
	free(measured);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	return status >= 0;
}

static void add_summary(const struct comparison *c, const char *name, uint32_t without,
			struct text *out)
{
	struct tact_agreement a = {.size = sizeof(a)};

	if (!agreement(c, without, &a))
		return;
	if (c->p->format == FORMAT_JSON) {
		text_printf(out,
			    "{\"schema\":\"tact.compare/1\",\"summary\":\"%s\",\"blocks\":%zu,"
			    "\"mape\":%.5f,\"median_error\":%.5f",
			    name, a.n, a.mape, a.median);
		if (a.has_tau)
			text_printf(out, ",\"kendall_tau\":%.4f", a.tau);
		text_add(out, "}\n");
		return;
	}
	text_printf(out, "%-12s %7zu blocks  MAPE %.2f%%  median error %.2f%%  Kendall's tau ",
		    name, a.n, 100 * a.mape, 100 * a.median);
	if (a.has_tau)
		text_printf(out, "%.4f\n", a.tau);
	else
		text_add(out, "-\n");
}

static int by_error(const void *a, const void *b)
{
	const struct row *r = a, *s = b;
	double x = fabs(r->error), y = fabs(s->error);
	size_t n = r->code_size < s->code_size ? r->code_size : s->code_size;
	int order;

	if (x != y)
		return x < y ? 1 : -1;
	order = memcmp(r->code, s->code, n); /* so that the order is always the same */
	return order ? order : (r->code_size > s->code_size) - (r->code_size < s->code_size);
}

static void print(struct comparison *c, struct output *out)
{
	struct text text = {0}, summary = {0};

	qsort(c->rows, c->n, sizeof(*c->rows), by_error);
	switch (c->p->format) {
	case FORMAT_CSV:
		csv_table(c, &text);
		break;
	case FORMAT_JSON:
		json_table(c, &text);
		break;
	default:
		text_table(c, &text);
	}
	add_summary(c, "all", 0, &summary);
	add_summary(c, "undisturbed", SET_APART, &summary);
	if (c->p->format != FORMAT_CSV)
		text_add_bytes(&text, summary.data, summary.size);
	else if (!c->p->is_quiet) /* a CSV file has rows of one kind */
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
		cli_message("--compare predicts for one CPU; --arch has %zu", p->archs.n);
		status = CLI_USAGE;
	}
	return status;
}

static int end(struct comparison *c, struct output *out)
{
	int status = CLI_GOOD;

	if (c->n) {
		print(c, out);
	} else {
		cli_message("there is no number to compare with");
		status = CLI_FAILED;
	}
	if (!c->p->is_quiet && (c->n_numberless || c->n_unpredicted))
		cli_message("left out: %zu blocks without a number, %zu without a prediction",
			    c->n_numberless, c->n_unpredicted);
	for (size_t i = 0; i < c->n; i++)
		free(c->rows[i].own_code);
	free(c->rows);
	tact_model_close(c->estimator);
	tact_block_destroy(c->block);
	return status;
}

int measure_compare_results(struct measurer *p, const struct measure_outcome *o, struct output *out)
{
	struct comparison c = {.p = p};

	for (size_t i = 0; i < o->list->n; i++) {
		const struct measure_block *b = &o->list->block[i];

		if (o->results[i])
			add(&c,
			    (struct row){
				    .code = b->code, .code_size = b->code_size, .name = b->name},
			    o->results[i], "");
	}
	return end(&c, out);
}

static int read_store(struct comparison *c, struct tact_store *store, struct tact_diag *diag)
{
	struct tact_store_iter *iter;
	struct tact_store_row from = {.size = sizeof(from)};
	int status = tact_store_iter_create(&iter, store, diag);

	if (status < 0)
		return status;
	while ((status = tact_store_iter_next(iter, &from, diag)) > 0) {
		struct row row = {.code_size = from.code_size, .name = ""};

		row.own_code = cli_alloc(from.code_size);
		memcpy(row.own_code, from.code, from.code_size);
		row.code = row.own_code;
		add(c, row, &from.measurement, from.machine->arch);
	}
	tact_store_iter_destroy(iter);
	return status;
}

int measure_compare_store(struct measurer *p, const char *path, struct output *out)
{
	struct tact_diag diag = {0};
	struct comparison c = {.p = p};
	struct tact_store *store;
	int status = tact_store_open(&store, path, TACT_STORE_READONLY, &diag);

	if (status == -TACT_E_VERSION) /* an older one is brought up to date */
		status = tact_store_open(&store, path, 0, &diag);
	if (status < 0) {
		cli_message("%s: %s", path, diag.text);
		return CLI_FAILED;
	}
	status = CLI_GOOD;
	if (read_store(&c, store, &diag) < 0) {
		cli_message("%s: %s", path, diag.text);
		status = CLI_FAILED;
	}
	if (end(&c, out))
		status = CLI_FAILED;
	tact_store_close(store);
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * What tact tune found, as text, CSV and JSON.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact-program/evaluate.h>
#include <tact/insn.h>

#include "base/json.h"
#include "common/cli.h"
#include "tuning.h"

enum { N_TABLES = TUNING_N_TABLES, MAX_LABELS = 64, MAX_POINTS = 64 };
static const char *const tables[N_TABLES] = {"default", "start", "learned"};
static const char *const parts[TACT_TUNE_N_PARTS] = {"train", "validation", "test"};

/* The rows as arrays, for scores. */
struct rows {
	size_t n;
	double *measured, *predicted[N_TABLES]; /* owned */
	uint32_t *group;			/* owned */
	uint8_t *part;				/* owned */
};

static void rows_make(struct rows *r, const struct tuning *p)
{
	struct tact_tune_row row = TACT_TUNE_ROW_INIT;

	*r = (struct rows){.n = p->n_rows};
	r->measured = cli_alloc(r->n * sizeof(*r->measured));
	r->group = cli_alloc(r->n * sizeof(*r->group));
	r->part = cli_alloc(r->n);
	for (int t = 0; t < N_TABLES; t++)
		r->predicted[t] = cli_alloc(r->n * sizeof(double));
	for (size_t i = 0; i < r->n && !tact_tuner_get_row(p->tuner, i, &row); i++) {
		r->measured[i] = row.measured;
		r->predicted[0][i] = row.defaults;
		r->predicted[1][i] = row.start;
		r->predicted[2][i] = row.learned;
		r->part[i] = (uint8_t)row.part;
	}
}

static void rows_free(struct rows *r)
{
	free(r->measured);
	free(r->group);
	free(r->part);
	for (int t = 0; t < N_TABLES; t++)
		free(r->predicted[t]);
}

static void score(const struct rows *r, int table, size_t n_groups, struct tact_scores *out)
{
	const struct tact_pairs pairs = {
		.n = r->n, .predicted = r->predicted[table], .measured = r->measured};

	for (size_t g = 0; g < n_groups; g++)
		out[g] = (struct tact_scores){.size = sizeof(*out)};
	if (tact_scores_by_group(&pairs, r->group, n_groups, out) == -TACT_E_NOMEM)
		cli_out_of_memory();
}

/* ---- by application and category ---- */

struct labels {
	const char *name[MAX_LABELS];
	size_t n;
	struct tact_scores scores[N_TABLES][MAX_LABELS];
};

/* Test rows by label; those beyond the first labels, and those without, are left out. */
static void by_label(struct labels *l, struct rows *r, char **of)
{
	l->n = 0;
	for (size_t i = 0; i < r->n; i++) {
		size_t k = 0;

		r->group[i] = TACT_NO_GROUP;
		if (r->part[i] != TACT_TUNE_TEST || !of[i][0])
			continue;
		while (k < l->n && strcmp(l->name[k], of[i]))
			k++;
		if (k == l->n && l->n < MAX_LABELS)
			l->name[l->n++] = of[i];
		if (k < l->n)
			r->group[i] = (uint32_t)k;
	}
	for (int t = 0; t < N_TABLES && l->n; t++)
		score(r, t, l->n, l->scores[t]);
}

static void group_by_part(struct rows *r)
{
	for (size_t i = 0; i < r->n; i++)
		r->group[i] = r->part[i];
}

/* ---- runs with other seeds ---- */

struct over_seeds {
	double mean[N_TABLES], deviation[N_TABLES];
};

/* The deviation is that of a sample: n - 1. */
static void over_seeds(const struct tuning *p, struct over_seeds *out)
{
	for (int t = 0; t < N_TABLES; t++) {
		double sum = 0, squares = 0;

		for (unsigned i = 0; i < p->seeds; i++)
			sum += p->by_seed[i][t];
		out->mean[t] = sum / p->seeds;
		for (unsigned i = 0; i < p->seeds; i++)
			squares += (p->by_seed[i][t] - out->mean[t]) *
				   (p->by_seed[i][t] - out->mean[t]);
		out->deviation[t] = sqrt(squares / (p->seeds - 1));
	}
}

/* ---- text ---- */

static void text_seed(struct text *out, const char *name, const double *error)
{
	text_printf(out, "%-20s", name);
	for (int t = 0; t < N_TABLES; t++)
		text_printf(out, " %7.2f%%", 100 * error[t]);
	text_add(out, "\n");
}

static void text_seeds(struct text *out, const struct tuning *p)
{
	struct over_seeds all;

	if (p->seeds < 2)
		return;
	over_seeds(p, &all);
	text_printf(out, "\n%-20s %8s %8s %8s\n", "Test error by seed", tables[0], tables[1],
		    tables[2]);
	for (unsigned i = 0; i < p->seeds; i++) {
		char seed[16];

		snprintf(seed, sizeof(seed), "%u", p->seed + i);
		text_seed(out, seed, p->by_seed[i]);
	}
	text_seed(out, "mean", all.mean);
	text_seed(out, "standard deviation", all.deviation);
}

static void text_tau(struct text *out, const struct tact_scores *s)
{
	if (s->has_tau)
		text_printf(out, " %8.3f", s->tau);
	else
		text_printf(out, " %8s", "-");
}

static void text_scores(struct text *out, struct rows *r)
{
	struct tact_scores scores[TACT_TUNE_N_PARTS];

	group_by_part(r);
	text_printf(out, "\n%-12s %8s %11s %8s %8s %8s\n", "Mean error", "train", "validation",
		    "test", "median", "tau");
	for (int t = 0; t < N_TABLES; t++) {
		score(r, t, TACT_TUNE_N_PARTS, scores);
		text_printf(out, "%-12s %7.2f%% %10.2f%% %7.2f%% %7.2f%%", tables[t],
			    100 * scores[0].mape, 100 * scores[1].mape, 100 * scores[2].mape,
			    100 * scores[2].median);
		text_tau(out, &scores[TACT_TUNE_TEST]);
		text_add(out, "\n");
	}
}

static void text_labels(struct text *out, const char *title, struct rows *r, char **of)
{
	struct labels *l = cli_alloc(sizeof(*l));

	by_label(l, r, of);
	if (l->n)
		text_printf(out, "\n%-24s %8s %8s %8s %8s\n", title, "blocks", tables[0], tables[1],
			    tables[2]);
	for (size_t k = 0; k < l->n; k++)
		text_printf(out, "%-24.24s %8zu %7.2f%% %7.2f%% %7.2f%%\n", l->name[k],
			    l->scores[0][k].n, 100 * l->scores[0][k].mape,
			    100 * l->scores[1][k].mape, 100 * l->scores[2][k].mape);
	free(l);
}

static void add_hex(struct text *out, const struct tact_tune_row *row)
{
	enum { MOST = 24 };
	size_t n = row->code_size < MOST ? row->code_size : MOST;

	text_hex(out, row->code, n);
	if (n < row->code_size)
		text_add(out, "...");
}

static void text_changes(struct text *out, const struct tuning *p)
{
	struct tact_tune_change c = TACT_TUNE_CHANGE_INIT;
	struct tact_tune_row row = TACT_TUNE_ROW_INIT;

	if (tact_tuner_get_change(p->tuner, 0, &c)) {
		text_add(out, "\nNothing changed.\n");
		return;
	}
	text_printf(out, "\n%-52s %8s    %-8s %7s %9s\n", "Change", "from", "to", "blocks",
		    "saves");
	for (size_t i = 0; i < p->n_changes && !tact_tuner_get_change(p->tuner, i, &c); i++) {
		text_printf(out, "%-52.52s %8s -> %-8s %7zu %9.2f\n", c.name, c.from, c.to,
			    c.n_rows, c.saved);
		for (size_t k = 0; k < c.n_proofs; k++) {
			tact_tuner_get_row(p->tuner, c.proof[k], &row);
			text_printf(out, "    %.2f measured, %.2f at the start, %.2f now: ",
				    row.measured, row.start, row.learned);
			add_hex(out, &row);
			text_add(out, "\n");
		}
	}
	text_add(out, "\n"
		      "blocks: blocks of the training set with the instruction; saves: relative "
		      "error, summed over them,\n"
		      "that returns if this change alone is undone.\n");
}

static void text_histograms(struct text *out, const struct tuning *p)
{
	struct tact_tune_histogram h = TACT_TUNE_HISTOGRAM_INIT;

	text_add(out, "\nValues, number of parameters:\n");
	for (size_t i = 0; !tact_tuner_get_histogram(p->tuner, i, &h); i++) {
		text_printf(out, "%-14s", h.kind);
		for (int v = 0; v < TACT_TUNE_VALUES; v++)
			text_printf(out, " %6d%s", v, v + 1 == TACT_TUNE_VALUES ? "+" : "");
		text_add(out, "\n  default     ");
		for (int v = 0; v < TACT_TUNE_VALUES; v++)
			text_printf(out, " %6zu", h.defaults[v]);
		text_add(out, "\n  learned     ");
		for (int v = 0; v < TACT_TUNE_VALUES; v++)
			text_printf(out, " %6zu", h.learned[v]);
		text_add(out, "\n");
	}
}

/* Around the defaults, then around what was learned. */
enum { N_SWEEPS = 2 };
static const char *const sweeps[N_SWEEPS] = {"default", "learned"};

static int points(const struct tuning *p, int sweep, struct tact_tune_point *out)
{
	if (!p->is_sensitivity)
		return 0;
	return sweep ? tact_tuner_sensitivity(p->tuner, out, MAX_POINTS)
		     : tact_tuner_default_sensitivity(p->tuner, out, MAX_POINTS);
}

static void text_points(struct text *out, const struct tuning *p)
{
	struct tact_tune_point list[N_SWEEPS][MAX_POINTS];
	int n[N_SWEEPS], most = 0;

	for (int s = 0; s < N_SWEEPS; s++) {
		n[s] = points(p, s, list[s]);
		most = n[s] > most ? n[s] : most;
	}
	if (most > 0)
		text_add(out, "\nTest error with other values of the machine (*: its own):\n"
			      "Around the defaults                     Around what was learned\n");
	for (int i = 0; i < most; i++) {
		const size_t start = out->size;

		for (int s = 0; s < N_SWEEPS; s++) {
			text_pad(out, 40 * (size_t)s, start);
			if (i < n[s])
				text_printf(out, "%-20s %6d %7.2f%%%s", list[s][i].name,
					    list[s][i].value, 100 * list[s][i].error,
					    list[s][i].is_learned ? " *" : "");
		}
		text_add(out, "\n");
	}
}

static void print_text(struct tuning *p, struct rows *r, const struct tact_tune_summary *s,
		       struct text *out)
{
	text_printf(out,
		    "Model %s of %s, method %s: %zu blocks, %zu to learn from, %zu for "
		    "validation, %zu for the test\n",
		    p->model, tact_arch_name(p->arch), tuning_methods[p->method], r->n, s->n[0],
		    s->n[1], s->n[2]);
	text_printf(out, "%zu parameters of %zu instructions, %zu changed, %llu blocks evaluated\n",
		    s->n_parameters, s->n_forms, s->n_changed, (unsigned long long)s->evaluations);
	if (s->unit > 1)
		text_printf(out, "Micro-ops, width and buffer are counted in parts: %u are one.\n",
			    s->unit);
	if (isfinite(s->surrogate))
		text_printf(out, "The surrogate is %.2f%% off the model.\n", 100 * s->surrogate);
	text_scores(out, r);
	text_seeds(out, p);
	text_labels(out, "Application (test)", r, p->apps);
	text_labels(out, "Category (test)", r, p->categories);
	text_changes(out, p);
	text_histograms(out, p);
	text_points(out, p);
}

/* ---- CSV: one table, long form ---- */

struct csv_table {
	struct text *out;
	const char *arch;
};

static void csv_row(const struct csv_table *csv, const char *kind, const char *name,
		    const char *table, const char *key, const char *value)
{
	const char *fields[] = {kind, name, table, key, value, csv->arch};

	for (size_t i = 0; i < CLI_ARRAY_SIZE(fields); i++) {
		if (i)
			text_add(csv->out, ",");
		text_csv_field(csv->out, fields[i], strlen(fields[i]), false);
	}
	text_add(csv->out, "\n");
}

static void csv_number(const struct csv_table *csv, const char *kind, const char *name,
		       const char *table, const char *key, double value)
{
	struct text number = {0};

	text_printf(&number, "%.6g", value);
	csv_row(csv, kind, name, table, key, cli_string(&number));
	text_free(&number);
}

static void csv_labels(const struct csv_table *csv, const char *kind, struct rows *r, char **of)
{
	struct labels *l = cli_alloc(sizeof(*l));

	by_label(l, r, of);
	for (size_t k = 0; k < l->n; k++)
		for (int t = 0; t < N_TABLES; t++)
			csv_number(csv, kind, l->name[k], tables[t], "mape", l->scores[t][k].mape);
	free(l);
}

static void csv_changes(const struct csv_table *csv, const struct tuning *p)
{
	struct tact_tune_change c = TACT_TUNE_CHANGE_INIT;

	for (size_t i = 0; !tact_tuner_get_change(p->tuner, i, &c); i++) {
		csv_row(csv, "change", c.name, "start", "value", c.from);
		csv_row(csv, "change", c.name, "learned", "value", c.to);
		csv_number(csv, "change", c.name, "learned", "blocks", (double)c.n_rows);
		csv_number(csv, "change", c.name, "learned", "saves", c.saved);
	}
}

static void csv_seeds(const struct csv_table *csv, const struct tuning *p)
{
	struct over_seeds all;

	if (p->seeds < 2)
		return;
	over_seeds(p, &all);
	for (int t = 0; t < N_TABLES; t++) {
		for (unsigned i = 0; i < p->seeds; i++) {
			char seed[16];

			snprintf(seed, sizeof(seed), "%u", p->seed + i);
			csv_number(csv, "seed", seed, tables[t], "mape", p->by_seed[i][t]);
		}
		csv_number(csv, "seeds", "test", tables[t], "mean", all.mean[t]);
		csv_number(csv, "seeds", "test", tables[t], "deviation", all.deviation[t]);
	}
}

static void csv_points(const struct csv_table *csv, const struct tuning *p)
{
	struct tact_tune_point list[MAX_POINTS];

	for (int s = 0; s < N_SWEEPS; s++) {
		const int n = points(p, s, list);

		for (int i = 0; i < n; i++) {
			char value[16];

			snprintf(value, sizeof(value), "%d", list[i].value);
			csv_number(csv, "sensitivity", list[i].name, sweeps[s], value,
				   list[i].error);
		}
	}
}

static void print_csv(struct tuning *p, struct rows *r, struct text *out)
{
	const struct csv_table csv = {out, tact_arch_name(p->arch)};
	struct tact_scores scores[TACT_TUNE_N_PARTS];
	struct tact_tune_histogram h = TACT_TUNE_HISTOGRAM_INIT;

	if (!p->n_printed)
		text_add(out, "kind,name,table,key,value,arch\n");
	group_by_part(r);
	for (int t = 0; t < N_TABLES; t++) {
		score(r, t, TACT_TUNE_N_PARTS, scores);
		for (int part = 0; part < TACT_TUNE_N_PARTS; part++) {
			csv_number(&csv, "part", parts[part], tables[t], "blocks",
				   (double)scores[part].n);
			csv_number(&csv, "part", parts[part], tables[t], "mape", scores[part].mape);
			if (scores[part].has_tau)
				csv_number(&csv, "part", parts[part], tables[t], "tau",
					   scores[part].tau);
		}
	}
	csv_seeds(&csv, p);
	csv_labels(&csv, "application", r, p->apps);
	csv_labels(&csv, "category", r, p->categories);
	csv_changes(&csv, p);
	for (size_t i = 0; !tact_tuner_get_histogram(p->tuner, i, &h); i++) {
		for (int v = 0; v < TACT_TUNE_VALUES; v++) {
			char value[16];

			value[0] = (char)('0' + v / 10);
			value[1] = (char)('0' + v % 10);
			value[2] = 0;
			csv_number(&csv, "values", h.kind, tables[0], value, (double)h.defaults[v]);
			csv_number(&csv, "values", h.kind, tables[2], value, (double)h.learned[v]);
		}
	}
	csv_points(&csv, p);
}

/* ---- JSON ---- */

static void json_value(struct json *json, const char *key, double value)
{
	if (isfinite(value))
		json_printf(json, key, "%.6g", value);
	else
		json_put_null(json, key);
}

static void json_scores(struct json *json, struct rows *r)
{
	struct tact_scores scores[TACT_TUNE_N_PARTS];

	group_by_part(r);
	json_begin_array(json, "scores");
	for (int t = 0; t < N_TABLES; t++) {
		score(r, t, TACT_TUNE_N_PARTS, scores);
		for (int part = 0; part < TACT_TUNE_N_PARTS; part++) {
			const struct tact_scores *s = &scores[part];

			json_begin_object(json, NULL);
			json_put_string(json, "table", tables[t]);
			json_put_string(json, "part", parts[part]);
			json_value(json, "blocks", (double)s->n);
			json_value(json, "mape", s->mape);
			json_value(json, "median", s->median);
			json_value(json, "tau", s->has_tau ? s->tau : NAN);
			json_end(json);
		}
	}
	json_end(json);
}

static void json_labels(struct json *json, const char *key, struct rows *r, char **of)
{
	struct labels *l = cli_alloc(sizeof(*l));

	by_label(l, r, of);
	json_begin_array(json, key);
	for (size_t k = 0; k < l->n; k++) {
		json_begin_object(json, NULL);
		json_put_string(json, "name", l->name[k]);
		json_value(json, "blocks", (double)l->scores[0][k].n);
		for (int t = 0; t < N_TABLES; t++)
			json_value(json, tables[t], l->scores[t][k].mape);
		json_end(json);
	}
	json_end(json);
	free(l);
}

static void json_changes(struct json *json, const struct tuning *p)
{
	struct tact_tune_change c = TACT_TUNE_CHANGE_INIT;
	struct tact_tune_row row = TACT_TUNE_ROW_INIT;

	json_begin_array(json, "changes");
	for (size_t i = 0; !tact_tuner_get_change(p->tuner, i, &c); i++) {
		json_begin_object(json, NULL);
		json_put_string(json, "name", c.name);
		json_put_string(json, "from", c.from);
		json_put_string(json, "to", c.to);
		json_value(json, "blocks", (double)c.n_rows);
		json_value(json, "saves", c.saved);
		json_begin_array(json, "proofs");
		for (size_t k = 0; k < c.n_proofs; k++) {
			tact_tuner_get_row(p->tuner, c.proof[k], &row);
			json_begin_object(json, NULL);
			json_put_hex(json, "hex", row.code, row.code_size);
			json_value(json, "measured", row.measured);
			json_value(json, "start", row.start);
			json_value(json, "learned", row.learned);
			json_end(json);
		}
		json_end(json);
		json_end(json);
	}
	json_end(json);
}

static void json_counts(struct json *json, const char *key, const size_t *counts)
{
	json_begin_array(json, key);
	for (int v = 0; v < TACT_TUNE_VALUES; v++)
		json_put_count(json, NULL, counts[v]);
	json_end(json);
}

static void json_histograms(struct json *json, const struct tuning *p)
{
	struct tact_tune_histogram h = TACT_TUNE_HISTOGRAM_INIT;

	json_begin_array(json, "values");
	for (size_t i = 0; !tact_tuner_get_histogram(p->tuner, i, &h); i++) {
		json_begin_object(json, NULL);
		json_put_string(json, "kind", h.kind);
		json_counts(json, "default", h.defaults);
		json_counts(json, "learned", h.learned);
		json_end(json);
	}
	json_end(json);
}

static void json_seeds(struct json *json, const struct tuning *p)
{
	struct over_seeds all;

	json_begin_array(json, "seeds");
	if (p->seeds > 1)
		over_seeds(p, &all);
	for (int t = 0; t < N_TABLES && p->seeds > 1; t++) {
		json_begin_object(json, NULL);
		json_put_string(json, "table", tables[t]);
		json_value(json, "mean", all.mean[t]);
		json_value(json, "deviation", all.deviation[t]);
		json_begin_array(json, "mape");
		for (unsigned i = 0; i < p->seeds; i++)
			json_value(json, NULL, p->by_seed[i][t]);
		json_end(json);
		json_end(json);
	}
	json_end(json);
}

static void json_points(struct json *json, const struct tuning *p)
{
	struct tact_tune_point list[MAX_POINTS];

	json_begin_array(json, "sensitivity");
	for (int s = N_SWEEPS; s-- > 0;) {
		const int n = points(p, s, list);

		for (int i = 0; i < n; i++) {
			json_begin_object(json, NULL);
			json_put_string(json, "table", sweeps[s]);
			json_put_string(json, "name", list[i].name);
			json_value(json, "value", list[i].value);
			json_value(json, "mape", list[i].error);
			json_put_bool(json, "learned", s && list[i].is_learned);
			json_end(json);
		}
	}
	json_end(json);
}

static void print_json(struct tuning *p, struct rows *r, const struct tact_tune_summary *s,
		       struct text *out)
{
	struct json json = {.out = out};

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.tune/1");
	json_put_string(&json, "arch", tact_arch_name(p->arch));
	json_put_bool(&json, "verified", tact_arch_is_verified(p->arch));
	json_put_string(&json, "model", p->model);
	json_put_string(&json, "method", tuning_methods[p->method]);
	json_value(&json, "seed", p->seed);
	json_value(&json, "parameters", (double)s->n_parameters);
	json_value(&json, "instructions", (double)s->n_forms);
	json_value(&json, "changed", (double)s->n_changed);
	json_value(&json, "evaluations", (double)s->evaluations);
	json_value(&json, "surrogate_mape", s->surrogate);
	json_value(&json, "unit", s->unit);
	json_scores(&json, r);
	json_seeds(&json, p);
	json_labels(&json, "applications", r, p->apps);
	json_labels(&json, "categories", r, p->categories);
	json_changes(&json, p);
	json_histograms(&json, p);
	json_points(&json, p);
	json_end_line(&json);
}

int tuning_print(struct tuning *p, struct text *out)
{
	struct tact_tune_summary s = {.size = sizeof(s)};
	struct rows r;

	tact_tuner_get_summary(p->tuner, &s);
	rows_make(&r, p);
	if (p->format == FORMAT_CSV)
		print_csv(p, &r, out);
	else if (p->format == FORMAT_JSON)
		print_json(p, &r, &s, out);
	else
		print_text(p, &r, &s, out);
	rows_free(&r);
	return CLI_GOOD;
}

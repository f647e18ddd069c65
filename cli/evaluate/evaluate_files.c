/* SPDX-License-Identifier: MIT
 *
 * Tables of tact evaluate for programs: CSV, JSON, and all rows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "common/cli.h"
#include "evaluator.h"

const char *evaluate_kind_name(enum tact_grouping kind)
{
	return kind == TACT_BY_APP ? "app" : kind == TACT_BY_CATEGORY ? "category" : "all";
}

/* What a group is called: CPU and mode, or "all" for all of them together. */
static const char *arch_of(const struct evaluator *p, const struct tact_evaluated_group *group)
{
	return group->set == TACT_ALL_SETS ? "all" : tact_arch_name(p->e->set[group->set].arch);
}

static const char *mode_of(const struct evaluator *p, const struct tact_evaluated_group *group)
{
	return group->set == TACT_ALL_SETS ? "all" : tact_mode_name(p->e->set[group->set].mode);
}

/* Calls add for all groups and models, in the order of the text. */
static void walk(const struct evaluator *p, struct text *out,
		 void (*add)(const struct evaluator *p, enum tact_grouping kind, size_t model,
			     uint32_t group, struct text *out))
{
	for (int step = TACT_BY_SET; step <= TACT_N_GROUPINGS; step++) {
		enum tact_grouping kind =
			step == TACT_N_GROUPINGS ? TACT_BY_NOTHING : (enum tact_grouping)step;
		uint32_t *order;
		size_t n;

		if (kind == TACT_BY_NOTHING && p->e->n_sets < 2)
			continue; /* the same as its only set */
		n = evaluate_order(p, kind, TACT_ALL_SETS, &order);
		for (size_t i = 0; i < n; i++)
			for (size_t m = 0; m < p->e->n_models; m++)
				add(p, kind, m, order[i], out);
		free(order);
	}
}

/* ---- CSV ---- */

static void add_csv(const struct evaluator *p, enum tact_grouping kind, size_t model,
		    uint32_t number, struct text *out)
{
	const struct tact_evaluated_group *group = &p->e->by[kind].group[number];
	const struct tact_scores *s = &p->e->model[model].scores[kind][number];
	const char *name = p->e->model[model].name, *label = group->label ? group->label : "";

	text_csv_field(out, name, strlen(name), false);
	text_printf(out, ",%s,%s,%s,", arch_of(p, group), mode_of(p, group),
		    evaluate_kind_name(kind));
	text_csv_field(out, label, strlen(label), false);
	text_printf(out, ",%zu,", s->n);
	if (s->n)
		text_printf(out, "%.9g,%.6f,%.6f,%.6f,%.6f,%.6f,", s->weight, s->mape, s->median,
			    s->bias, s->within_5, s->within_10);
	else
		text_add(out, ",,,,,,");
	if (s->n && s->has_tau)
		text_printf(out, "%.6f", s->tau);
	text_printf(out, ",%zu", tact_scores_failed(s));
	for (int i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++)
		text_printf(out, ",%zu", s->outcomes[i]);
	text_add(out, "\n");
}

void evaluate_csv(const struct evaluator *p, struct text *out)
{
	text_add(out,
		 "model,arch,mode,by,name,blocks,weight,mape,median_error,bias,within_5_percent,"
		 "within_10_percent,kendall_tau,failed");
	for (int i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++)
		text_printf(out, ",%s", tact_outcome_name((enum tact_outcome)i));
	text_add(out, "\n");
	walk(p, out, add_csv);
}

/* ---- JSON ---- */

static void begin(struct json *json, const char *kind)
{
	json_begin_object(json, NULL);
	json_put_string(json, "schema", "tact.evaluate/1");
	json_put_string(json, "kind", kind);
}

static void add_json(const struct evaluator *p, enum tact_grouping kind, size_t model,
		     uint32_t number, struct text *out)
{
	const struct tact_evaluated_group *group = &p->e->by[kind].group[number];
	const struct tact_scores *s = &p->e->model[model].scores[kind][number];
	struct json json = {.out = out};

	begin(&json, "scores");
	json_put_string(&json, "model", p->e->model[model].name);
	json_put_string(&json, "arch", arch_of(p, group));
	json_put_string(&json, "mode", mode_of(p, group));
	json_put_string(&json, "by", evaluate_kind_name(kind));
	if (group->label)
		json_put_string(&json, "name", group->label);
	json_put_count(&json, "blocks", s->n);
	if (s->n) {
		json_printf(&json, "weight", "%.9g", s->weight);
		json_put_fixed(&json, "mape", s->mape, 6);
		json_put_fixed(&json, "median_error", s->median, 6);
		json_put_fixed(&json, "bias", s->bias, 6);
		json_put_fixed(&json, "within_5_percent", s->within_5, 6);
		json_put_fixed(&json, "within_10_percent", s->within_10, 6);
	}
	if (s->n && s->has_tau)
		json_put_fixed(&json, "kendall_tau", s->tau, 6);
	json_put_count(&json, "failed", tact_scores_failed(s));
	for (int i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++)
		if (s->outcomes[i])
			json_put_count(&json, tact_outcome_name((enum tact_outcome)i),
				       s->outcomes[i]);
	json_end_line(&json);
}

static void add_json_bottlenecks(const struct tact_evaluated_bottlenecks *at, struct text *out)
{
	struct json json = {.out = out};

	begin(&json, "bottlenecks");
	json_put_string(&json, "arch", tact_arch_name(at->arch));
	json_begin_object(&json, "shares");
	for (unsigned k = 0; k < TACT_N_BOTTLENECKS; k++)
		json_put_fixed(&json, tact_bottleneck_name(k), at->share[k], 6);
	json_end(&json);
	json_begin_object(&json, "ideal_speedups");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		json_put_fixed(&json, tact_bottleneck_name(b), at->speedup[b], 6);
	json_end_line(&json);
}

static void add_json_flow(const struct evaluator *p, size_t a, struct text *out)
{
	enum { N = TACT_N_BOTTLENECKS };
	struct json json = {.out = out};
	double flow[N * N], sum = 0;

	tact_evaluation_flow(p->e, a, flow);
	for (unsigned k = 0; k < N * N; k++)
		sum += flow[k];
	begin(&json, "flow");
	json_put_string(&json, "from_arch", tact_arch_name(p->e->bottlenecks[a].arch));
	json_put_string(&json, "to_arch", tact_arch_name(p->e->bottlenecks[a + 1].arch));
	json_begin_array(&json, "flows");
	for (unsigned k = 0; k < N * N; k++) {
		if (!(flow[k] > 0))
			continue;
		json_begin_object(&json, NULL);
		json_put_string(&json, "from", tact_bottleneck_name(k / N));
		json_put_string(&json, "to", tact_bottleneck_name(k % N));
		json_put_fixed(&json, "share", flow[k] / sum, 6);
		json_end(&json);
	}
	json_end_line(&json);
}

void evaluate_json(const struct evaluator *p, struct text *out)
{
	walk(p, out, add_json);
	if (!p->bottleneck_archs)
		return;
	for (size_t a = 0; a < p->e->n_bottlenecks; a++)
		add_json_bottlenecks(&p->e->bottlenecks[a], out);
	for (size_t a = 0; a + 1 < p->e->n_bottlenecks; a++)
		add_json_flow(p, a, out);
}

/* ---- rows ---- */

/* The i-th row: the columns that tact evaluate reads itself, then every model's. */
static void add_row(const struct evaluator *p, size_t i, struct text *out)
{
	const struct tact_evaluated_row *row = &p->e->row[i];
	const struct tact_evaluated_set *set = &p->e->set[row->set];

	text_hex(out, p->e->row[i].code, row->code_size);
	text_printf(out, ",%s,%s,%.6g", tact_arch_name(set->arch), tact_mode_name(set->mode),
		    p->e->measured[i]);
	for (size_t m = 0; m < p->e->n_models; m++) {
		const struct tact_evaluated_model *model = &p->e->model[m];

		text_add(out, ",");
		if (model->outcomes[i] == TACT_OUTCOME_GOOD)
			text_number(out, model->predicted[i]);
		else
			text_add(out, tact_outcome_name((enum tact_outcome)model->outcomes[i]));
	}
	text_add(out, "\n");
}

int evaluate_write_rows(const struct evaluator *p)
{
	enum { WRITE_AT = 1 << 16 };
	struct output out;
	struct text text = {0};

	if (output_open(&out, p->rows_path))
		return CLI_FAILED;
	text_add(&text, "hex,arch,mode,cycles");
	for (size_t m = 0; m < p->e->n_models; m++) {
		text_add(&text, ",");
		text_csv_field(&text, p->e->model[m].name, strlen(p->e->model[m].name), false);
	}
	text_add(&text, "\n");
	for (size_t i = 0; i < p->e->n; i++) {
		add_row(p, i, &text);
		if (text.size > WRITE_AT)
			output_write(&out, &text);
	}
	output_write(&out, &text);
	text_free(&text);
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

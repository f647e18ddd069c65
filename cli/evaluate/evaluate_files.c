/* SPDX-License-Identifier: MIT
 *
 * Tables of tact evaluate for programs: CSV, JSON, and all rows.
 */
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "evaluator.h"

const char *evaluate_kind_name(int kind)
{
	return kind == BY_APP ? "app" : kind == BY_CATEGORY ? "category" : "all";
}

/* What a group is called: CPU and mode, or "all" for all of them together. */
static const char *arch_of(const struct evaluator *p, const struct evaluate_group *group)
{
	return group->set == EVALUATE_NONE ? "all"
					   : tact_arch_name(p->arch[p->rows.set[group->set].arch]);
}

static const char *mode_of(const struct evaluator *p, const struct evaluate_group *group)
{
	return group->set == EVALUATE_NONE ? "all" : tact_mode_name(p->rows.set[group->set].mode);
}

/* Calls add for all groups and models, in the order of the text. */
static void walk(const struct evaluator *p, struct text *out,
		 void (*add)(const struct evaluator *p, int kind, size_t model, uint32_t group,
			     struct text *out))
{
	for (int step = BY_SET; step <= EVALUATE_KINDS; step++) {
		int kind = step == EVALUATE_KINDS ? BY_NOTHING : step;
		uint32_t *order;
		size_t n;

		if (kind == BY_NOTHING && p->rows.n_sets < 2)
			continue; /* the same as its only set */
		n = evaluate_order(p, kind, EVALUATE_NONE, &order);
		for (size_t i = 0; i < n; i++)
			for (size_t m = 0; m < p->n_models; m++)
				add(p, kind, m, order[i], out);
		free(order);
	}
}

/* ---- CSV ---- */

static void add_csv(const struct evaluator *p, int kind, size_t model, uint32_t number,
		    struct text *out)
{
	const struct evaluate_group *group = &p->rows.by[kind].group[number];
	const struct tact_scores *s = &p->scores[kind][model][number];
	const char *name = p->models[model].name, *label = group->label ? group->label : "";

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
	text_printf(out, ",%zu", evaluate_failed(s));
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

static void add_string(struct text *out, const char *key, const char *value)
{
	text_printf(out, ",\"%s\":", key);
	text_json_string(out, value, strlen(value));
}

static void begin(struct text *out, const char *kind)
{
	text_printf(out, "{\"schema\":\"tact.evaluate/1\",\"kind\":\"%s\"", kind);
}

static void add_json(const struct evaluator *p, int kind, size_t model, uint32_t number,
		     struct text *out)
{
	const struct evaluate_group *group = &p->rows.by[kind].group[number];
	const struct tact_scores *s = &p->scores[kind][model][number];

	begin(out, "scores");
	add_string(out, "model", p->models[model].name);
	add_string(out, "arch", arch_of(p, group));
	add_string(out, "mode", mode_of(p, group));
	add_string(out, "by", evaluate_kind_name(kind));
	if (group->label)
		add_string(out, "name", group->label);
	text_printf(out, ",\"blocks\":%zu", s->n);
	if (s->n)
		text_printf(out,
			    ",\"weight\":%.9g,\"mape\":%.6f,\"median_error\":%.6f,\"bias\":%.6f,"
			    "\"within_5_percent\":%.6f,\"within_10_percent\":%.6f",
			    s->weight, s->mape, s->median, s->bias, s->within_5, s->within_10);
	if (s->n && s->has_tau)
		text_printf(out, ",\"kendall_tau\":%.6f", s->tau);
	text_printf(out, ",\"failed\":%zu", evaluate_failed(s));
	for (int i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++)
		if (s->outcomes[i])
			text_printf(out, ",\"%s\":%zu", tact_outcome_name((enum tact_outcome)i),
				    s->outcomes[i]);
	text_add(out, "}\n");
}

static void add_json_bottlenecks(const struct evaluator *p, size_t a, struct text *out)
{
	const struct evaluate_bottlenecks *at = &p->bottlenecks[a];
	double share[EVALUATE_N_BOTTLENECKS];

	evaluate_shares(p, a, share);
	begin(out, "bottlenecks");
	add_string(out, "arch", tact_arch_name(at->arch));
	text_add(out, ",\"shares\":{");
	for (unsigned k = 0; k < EVALUATE_N_BOTTLENECKS; k++)
		text_printf(out, "%s\"%s\":%.6f", k ? "," : "", evaluate_bottleneck_name(k),
			    share[k]);
	text_add(out, "},\"ideal_speedups\":{");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		text_printf(out, "%s\"%s\":%.6f", b ? "," : "", evaluate_bottleneck_name(b),
			    evaluate_speedup(at, b));
	text_add(out, "}}\n");
}

static void add_json_flow(const struct evaluator *p, size_t a, struct text *out)
{
	enum { N = EVALUATE_N_BOTTLENECKS };
	double flow[N * N], sum = 0;
	const char *comma = "";

	evaluate_flow(p, a, flow);
	for (unsigned k = 0; k < N * N; k++)
		sum += flow[k];
	begin(out, "flow");
	add_string(out, "from_arch", tact_arch_name(p->bottlenecks[a].arch));
	add_string(out, "to_arch", tact_arch_name(p->bottlenecks[a + 1].arch));
	text_add(out, ",\"flows\":[");
	for (unsigned k = 0; k < N * N; k++) {
		if (!(flow[k] > 0))
			continue;
		text_printf(out, "%s{\"from\":\"%s\",\"to\":\"%s\",\"share\":%.6f}", comma,
			    evaluate_bottleneck_name(k / N), evaluate_bottleneck_name(k % N),
			    flow[k] / sum);
		comma = ",";
	}
	text_add(out, "]}\n");
}

void evaluate_json(const struct evaluator *p, struct text *out)
{
	walk(p, out, add_json);
	if (!p->bottleneck_archs)
		return;
	for (size_t a = 0; a < p->n_bottlenecks; a++)
		add_json_bottlenecks(p, a, out);
	for (size_t a = 0; a + 1 < p->n_bottlenecks; a++)
		add_json_flow(p, a, out);
}

/* ---- rows ---- */

/* The i-th row: the columns that tact evaluate reads itself, then every model's. */
static void add_row(const struct evaluator *p, size_t i, struct text *out)
{
	const struct evaluate_row *row = &p->rows.row[i];
	const struct evaluate_set *set = &p->rows.set[row->set];

	text_hex(out, evaluate_code(&p->rows, i), row->size);
	text_printf(out, ",%s,%s,%.6g", tact_arch_name(p->arch[set->arch]),
		    tact_mode_name(set->mode), p->rows.measured[i]);
	for (size_t m = 0; m < p->n_models; m++) {
		const struct evaluate_model *model = &p->models[m];

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
	for (size_t m = 0; m < p->n_models; m++) {
		text_add(&text, ",");
		text_csv_field(&text, p->models[m].name, strlen(p->models[m].name), false);
	}
	text_add(&text, "\n");
	for (size_t i = 0; i < p->rows.n; i++) {
		add_row(p, i, &text);
		if (text.size > WRITE_AT)
			output_write(&out, &text);
	}
	output_write(&out, &text);
	text_free(&text);
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

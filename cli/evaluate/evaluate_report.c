/* SPDX-License-Identifier: MIT
 *
 * --report: one page with everything in it.  Its data are JSON in a script element, which < could
 * end: every < becomes \u003c, so that no text of an input can escape.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tact/version.h>

#include "base/json.h"
#include "common/cli.h"
#include "common/page.h"
#include "evaluator.h"
#include "predict/predictor.h"

static void add_scores(struct json *json, const char *key, const struct tact_scores *s)
{
	const char *between = "";
	struct text why = {0};

	json_begin_object(json, key);
	json_put_count(json, "n", s->n);
	json_put_count(json, "failed", tact_scores_failed(s));
	if (s->n) {
		json_put_fixed(json, "mape", s->mape, 6);
		json_put_fixed(json, "median", s->median, 6);
		json_put_fixed(json, "bias", s->bias, 6);
		json_put_fixed(json, "within5", s->within_5, 6);
		json_put_fixed(json, "within10", s->within_10, 6);
	}
	if (s->n && s->has_tau)
		json_put_fixed(json, "tau", s->tau, 6);
	else
		json_put_null(json, "tau");
	for (int i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++) {
		if (!s->outcomes[i])
			continue;
		text_printf(&why, "%s%s: %zu", between, tact_outcome_name((enum tact_outcome)i),
			    s->outcomes[i]);
		between = ", ";
	}
	json_put_bytes(json, "why", why.size ? why.data : "", why.size);
	json_end(json);
	text_free(&why);
}

/* ---- pictures ---- */

static void add_map(struct json *json, const struct tact_heatmap *map)
{
	json_begin_object(json, "map");
	json_put_count(json, "bins", TACT_HEAT_BINS);
	json_printf(json, "low", "%g", map->low);
	json_printf(json, "high", "%g", map->high);
	json_printf(json, "most", "%.6g", map->most);
	json_begin_array(json, "cells");
	for (unsigned y = 0; y < TACT_HEAT_BINS; y++)
		for (unsigned x = 0; x < TACT_HEAT_BINS; x++)
			if (map->count[y][x] > 0)
				json_printf(json, NULL, "[%u,%u,%.6g]", x, y, map->count[y][x]);
	json_end(json);
	json_end(json);
}

static void add_errors(struct json *json, const struct tact_errors *errors)
{
	json_begin_array(json, "errors");
	for (unsigned i = 0; i < TACT_ERROR_BINS; i++)
		json_printf(json, NULL, "%.6g", errors->count[i]);
	json_end(json);
}

/* ---- the largest disagreement ---- */

/* The blocks shown, each once, however many models mispredict it. */
struct shown {
	const struct tact_evaluated_worst **row; /* owned; they are the evaluation's */
	size_t n, capacity;
};

static size_t show(struct shown *shown, const struct tact_evaluated_worst *row)
{
	for (size_t i = 0; i < shown->n; i++)
		if (shown->row[i]->number == row->number)
			return i;
	if (shown->n == shown->capacity) {
		shown->capacity = shown->capacity ? 2 * shown->capacity : 64;
		shown->row = cli_realloc(shown->row,
					 shown->capacity * sizeof(struct tact_evaluated_worst *));
	}
	shown->row[shown->n] = row;
	return shown->n++;
}

static void add_worst(const struct tact_evaluated_model *model, struct shown *shown,
		      struct json *json)
{
	json_begin_array(json, "worst");
	for (size_t i = 0; i < model->n_worst; i++)
		json_put_count(json, NULL, show(shown, &model->worst[i]));
	json_end(json);
}

static void add_bounds(struct json *json, const struct tact_prediction *x)
{
	json_begin_array(json, "bounds");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		if (!(x->applies >> b & 1) || !(x->bound[b] > 0))
			continue;
		json_begin_array(json, NULL);
		json_put_string(json, NULL, tact_bound_name((enum tact_bound)b));
		json_put_number(json, NULL, x->bound[b]);
		json_end(json);
	}
	json_end(json);
}

/* FACILE's explanation of a block, whichever model is wrong. */
static void add_explanation(struct tact_block *block, const struct tact_arch *arch,
			    struct json *json)
{
	struct tact_prediction x = TACT_PREDICTION_INIT;
	const struct tact_view view = {
		.size = sizeof(view), .block = block, .arch = arch, .prediction = &x};
	struct tact_listing listing = predict_listing(block, 0);
	struct text why = {0};
	int status;

	json_begin_array(json, "listing");
	for (size_t i = 0; i < listing.n; i++)
		json_put_string(json, NULL, listing.line[i]);
	json_end(json);
	status = tact_predict(block, NULL, &x);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status >= 0) {
		text_add(&why,
			 x.bottlenecks & (x.bottlenecks - 1) ? "Bottlenecks: " : "Bottleneck: ");
		predict_names_on(&why, arch, x.bottlenecks, ", ");
		text_add(&why, "\n");
		predict_view_add(&view, TACT_VIEW_EXPLANATION, &why);
	}
	if (why.failed)
		cli_out_of_memory();
	add_bounds(json, &x);
	json_put_bytes(json, "why", why.size ? why.data : "", why.size);
	text_free(&why);
	tact_listing_fini(&listing);
}

static void add_block(const struct evaluator *p, struct tact_block *block,
		      const struct tact_evaluated_worst *worst, struct json *json)
{
	const struct tact_evaluated_row *row = &worst->row;
	const struct tact_evaluated_set *set = &p->e->set[row->set];
	const char *path = p->inputs[row->input].path;
	int status;

	json_begin_object(json, NULL);
	json_put_hex(json, "hex", row->code, row->code_size);
	json_put_string(json, "arch", tact_arch_name(set->arch));
	json_put_string(json, "mode", tact_mode_name(set->mode));
	if (row->line)
		json_printf_string(json, "place", "%s:%u", path, row->line);
	else
		json_put_string(json, "place", path);
	json_put_number(json, "measured", worst->measured);
	json_begin_array(json, "predicted");
	for (size_t m = 0; m < p->e->n_models; m++) {
		if (worst->outcomes[m] == TACT_OUTCOME_GOOD)
			json_put_number(json, NULL, worst->predicted[m]);
		else
			json_put_null(json, NULL);
	}
	json_end(json);
	status = tact_evaluation_load_row(p->e, row, block);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status >= 0) {
		add_explanation(block, set->arch, json);
	} else {
		json_begin_array(json, "listing");
		json_end(json);
		json_begin_array(json, "bounds");
		json_end(json);
		json_put_string(json, "why", "");
	}
	json_end(json);
}

/* ---- the page ---- */

static void add_models(const struct evaluator *p, struct shown *shown, struct json *json)
{
	json_begin_array(json, "models");
	for (size_t m = 0; m < p->e->n_models; m++) {
		const struct tact_evaluated_model *model = &p->e->model[m];

		json_begin_object(json, NULL);
		json_put_string(json, "name", model->name);
		add_scores(json, "scores", &model->scores[TACT_BY_NOTHING][0]);
		add_map(json, model->map);
		add_errors(json, model->errors);
		add_worst(model, shown, json);
		json_end(json);
	}
	json_end(json);
}

static void add_score_list(const struct evaluator *p, enum tact_grouping kind, uint32_t group,
			   struct json *json)
{
	json_begin_array(json, "scores");
	for (size_t m = 0; m < p->e->n_models; m++)
		add_scores(json, NULL, &p->e->model[m].scores[kind][group]);
	json_end(json);
}

static void add_groups(const struct evaluator *p, enum tact_grouping kind, uint32_t set,
		       const char *key, struct json *json)
{
	uint32_t *order;
	size_t n = evaluate_order(p, kind, set, &order);

	json_begin_array(json, key);
	for (size_t i = 0; i < n; i++) {
		json_begin_object(json, NULL);
		json_put_string(json, "name", p->e->by[kind].group[order[i]].label);
		add_score_list(p, kind, order[i], json);
		json_end(json);
	}
	json_end(json);
	free(order);
}

static void add_sets(const struct evaluator *p, struct json *json)
{
	json_begin_array(json, "sets");
	for (uint32_t i = 0; i < p->e->n_sets; i++) {
		const struct tact_evaluated_set *set = &p->e->set[i];

		json_begin_object(json, NULL);
		json_put_count(json, "n", set->n);
		json_put_string(json, "arch", tact_arch_name(set->arch));
		json_put_string(json, "cpu", tact_arch_full_name(set->arch));
		json_put_string(json, "caveat", tact_arch_caveat(set->arch));
		json_put_string(json, "mode", tact_mode_name(set->mode));
		add_score_list(p, TACT_BY_SET, i, json);
		add_groups(p, TACT_BY_APP, i, "apps", json);
		add_groups(p, TACT_BY_CATEGORY, i, "categories", json);
		json_end(json);
	}
	json_end(json);
}

static void add_stages(const struct evaluator *p, struct json *json)
{
	json_begin_array(json, "bottlenecks");
	for (unsigned k = 0; k < TACT_N_BOTTLENECKS; k++)
		json_put_string(json, NULL, tact_bottleneck_name(k));
	json_end(json);
	json_begin_array(json, "stages");
	for (size_t a = 0; a < p->e->n_bottlenecks; a++) {
		const struct tact_evaluated_bottlenecks *at = &p->e->bottlenecks[a];

		json_begin_object(json, NULL);
		json_put_string(json, "arch", tact_arch_name(at->arch));
		json_begin_array(json, "shares");
		for (unsigned k = 0; k < TACT_N_BOTTLENECKS; k++)
			json_put_fixed(json, NULL, at->share[k], 6);
		json_end(json);
		json_begin_array(json, "ideal");
		for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
			json_put_fixed(json, NULL, at->speedup[b], 4);
		json_end(json);
		json_end(json);
	}
	json_end(json);
}

static void add_flows(const struct evaluator *p, struct json *json)
{
	enum { N = TACT_N_BOTTLENECKS };
	double flow[N * N];

	json_begin_array(json, "flows");
	for (size_t a = 0; a + 1 < p->e->n_bottlenecks; a++) {
		double sum = 0;

		tact_evaluation_flow(p->e, a, flow);
		for (unsigned k = 0; k < N * N; k++)
			sum += flow[k];
		json_begin_array(json, NULL);
		for (unsigned k = 0; k < N * N; k++)
			if (flow[k] > 0)
				json_printf(json, NULL, "[%u,%u,%.6f]", k / N, k % N,
					    flow[k] / sum);
		json_end(json);
	}
	json_end(json);
}

static void add_blocks(const struct evaluator *p, const struct shown *shown, struct json *json)
{
	struct tact_block *block;

	if (tact_block_create(&block, p->e->set[0].arch, NULL, NULL) < 0)
		cli_out_of_memory();
	json_begin_array(json, "blocks");
	for (size_t i = 0; i < shown->n; i++)
		add_block(p, block, shown->row[i], json);
	tact_block_destroy(block);
}

static void add_data(const struct evaluator *p, struct text *out)
{
	struct json json = {.out = out};
	struct shown shown = {0};

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.evaluate.page/1");
	json_printf_string(&json, "version", "%d.%d.%d", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
			   TACT_VERSION_PATCH);
	json_put_count(&json, "rows", p->e->n);
	json_put_bool(&json, "weighted", p->options.is_weighted);
	json_put_bool(&json, "common", p->options.is_common);
	json_put_bool(&json, "clean", p->options.is_clean);
	json_put_bool(&json, "confirmed", p->options.is_confirmed);
	json_put_bool(&json, "rounded", p->options.is_rounded);
	json_begin_array(&json, "files");
	for (size_t i = 0; i < p->n_inputs; i++) {
		const char *slash = strrchr(p->inputs[i].path, '/');

		json_put_string(&json, NULL, slash && slash[1] ? slash + 1 : p->inputs[i].path);
	}
	json_end(&json);
	add_models(p, &shown, &json);
	add_sets(p, &json);
	add_stages(p, &json);
	add_flows(p, &json);
	add_blocks(p, &shown, &json);
	json_end_line(&json);
	free(shown.row);
}

int evaluate_write_report(struct evaluator *p)
{
	struct text path = {0}, json = {0}, page = {0};
	struct output out = {.fd = -1};
	int status = CLI_FAILED;

	text_printf(&path, "%s/index.html", p->report);
	cli_string(&path);
	if (mkdir(p->report, 0777) && errno != EEXIST) {
		cli_message("%s: %s", p->report, strerror(errno));
	} else if (!output_open(&out, path.data)) {
		add_data(p, &json);
		page_write(&page_evaluate, &json, &page);
		output_write(&out, &page);
		status = output_close(&out) ? CLI_FAILED : CLI_GOOD;
	}
	if (!status && !p->is_quiet)
		cli_message("the report is %s", path.data);
	text_free(&path);
	text_free(&json);
	text_free(&page);
	return status;
}

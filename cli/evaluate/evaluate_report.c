/* SPDX-License-Identifier: MIT
 *
 * --report: one page with everything in it.  Its data are JSON in a script element, where < would
 * end it: every < is written as \u003c, so that no text of an input can get out.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <tact/version.h>

#include "common/cli.h"
#include "common/page.h"
#include "evaluator.h"
#include "predict/predictor.h"

static void add_string(struct text *out, const char *key, const char *value)
{
	text_printf(out, ",\"%s\":", key);
	text_json_string(out, value, strlen(value));
}

static void add_scores(struct text *out, const struct tact_scores *s)
{
	const char *between = "";
	struct text why = {0};

	text_printf(out, "{\"n\":%zu,\"failed\":%zu", s->n, tact_scores_failed(s));
	if (s->n)
		text_printf(out,
			    ",\"mape\":%.6f,\"median\":%.6f,\"bias\":%.6f,\"within5\":%.6f,"
			    "\"within10\":%.6f",
			    s->mape, s->median, s->bias, s->within_5, s->within_10);
	if (s->n && s->has_tau)
		text_printf(out, ",\"tau\":%.6f", s->tau);
	else
		text_add(out, ",\"tau\":null");
	for (int i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++) {
		if (!s->outcomes[i])
			continue;
		text_printf(&why, "%s%s: %zu", between, tact_outcome_name((enum tact_outcome)i),
			    s->outcomes[i]);
		between = ", ";
	}
	text_add(out, ",\"why\":");
	text_json_string(out, why.data, why.size);
	text_add(out, "}");
	text_free(&why);
}

/* ---- pictures ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* From where to where the maps go: nearly all measured values, to powers of two. */
static void find_range(const struct evaluator *p, double *low, double *high)
{
	size_t n = p->e->n;
	double *values = cli_alloc(n * sizeof(*values));

	memcpy(values, p->e->measured, n * sizeof(*values));
	qsort(values, n, sizeof(*values), by_value);
	*low = exp2(floor(log2(values[n / 1000]) + 1e-9));
	*high = exp2(ceil(log2(values[n - 1 - n / 500]) - 1e-9));
	free(values);
	if (*high < 8 * *low)
		*high = 8 * *low;
}

static void add_map(struct text *out, const struct tact_heatmap *map)
{
	const char *comma = "";

	text_printf(out, ",\"map\":{\"bins\":%d,\"low\":%g,\"high\":%g,\"most\":%.6g,\"cells\":[",
		    TACT_HEAT_BINS, map->low, map->high, map->most);
	for (unsigned y = 0; y < TACT_HEAT_BINS; y++) {
		for (unsigned x = 0; x < TACT_HEAT_BINS; x++) {
			if (!(map->count[y][x] > 0))
				continue;
			text_printf(out, "%s[%u,%u,%.6g]", comma, x, y, map->count[y][x]);
			comma = ",";
		}
	}
	text_add(out, "]}");
}

static void add_errors(struct text *out, const struct tact_errors *errors)
{
	text_add(out, ",\"errors\":[");
	for (unsigned i = 0; i < TACT_ERROR_BINS; i++)
		text_printf(out, "%s%.6g", i ? "," : "", errors->count[i]);
	text_add(out, "]");
}

/* ---- the largest disagreement ---- */

struct bad_block {
	size_t row;
	double error;
};

/* Blocks that are shown, each once however many models are wrong about it. */
struct shown {
	size_t *row; /* owned */
	size_t n, capacity;
};

static int by_error(const void *a, const void *b)
{
	const struct bad_block *x = a, *y = b;

	if (x->error != y->error)
		return x->error < y->error ? 1 : -1;
	return (x->row > y->row) - (x->row < y->row);
}

static size_t show(struct shown *shown, size_t row)
{
	for (size_t i = 0; i < shown->n; i++)
		if (shown->row[i] == row)
			return i;
	if (shown->n == shown->capacity) {
		shown->capacity = shown->capacity ? 2 * shown->capacity : 64;
		shown->row = cli_realloc(shown->row, shown->capacity * sizeof(*shown->row));
	}
	shown->row[shown->n] = row;
	return shown->n++;
}

static void add_worst(const struct evaluator *p, const struct tact_evaluated_model *model,
		      struct shown *shown, struct text *out)
{
	struct bad_block *bad = cli_alloc(p->e->n * sizeof(*bad));
	size_t n = 0;

	for (size_t i = 0; i < p->e->n; i++) {
		if (model->outcomes[i] != TACT_OUTCOME_GOOD)
			continue;
		bad[n++] = (struct bad_block){i, fabs(model->predicted[i] - p->e->measured[i]) /
							 p->e->measured[i]};
	}
	qsort(bad, n, sizeof(*bad), by_error);
	text_add(out, ",\"worst\":[");
	for (size_t i = 0; i < n && i < p->worst; i++)
		text_printf(out, "%s%zu", i ? "," : "", show(shown, bad[i].row));
	text_add(out, "]");
	free(bad);
}

static void add_bounds(struct text *out, const struct tact_prediction *x)
{
	const char *comma = "";

	text_add(out, ",\"bounds\":[");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		if (!(x->applies >> b & 1) || !(x->bound[b] > 0))
			continue;
		text_printf(out, "%s[\"%s\",", comma, tact_bound_name((enum tact_bound)b));
		text_number(out, x->bound[b]);
		text_add(out, "]");
		comma = ",";
	}
	text_add(out, "]");
}

/* What FACILE says about a block, whichever model is wrong. */
static void add_explanation(struct tact_block *block, const struct tact_arch *arch,
			    struct text *out)
{
	struct tact_prediction x = {0};
	const struct tact_view view = {
		.size = sizeof(view), .block = block, .arch = arch, .prediction = &x};
	struct tact_listing listing = predict_listing(block, 0);
	struct text why = {0};

	text_add(out, ",\"listing\":[");
	for (size_t i = 0; i < listing.n; i++) {
		text_add(out, i ? "," : "");
		text_json_string(out, listing.line[i], strlen(listing.line[i]));
	}
	text_add(out, "]");
	if (tact_predict(block, NULL, &x) >= 0) {
		text_add(&why,
			 x.bottlenecks & (x.bottlenecks - 1) ? "Bottlenecks: " : "Bottleneck: ");
		predict_names(&why, x.bottlenecks, ", ");
		text_add(&why, "\n");
		predict_view_add(&view, TACT_VIEW_EXPLANATION, &why);
	}
	add_bounds(out, &x);
	text_add(out, ",\"why\":");
	text_json_string(out, why.data, why.size);
	text_free(&why);
	tact_listing_fini(&listing);
}

static void add_block(const struct evaluator *p, struct tact_block *block, size_t i,
		      struct text *out)
{
	const struct tact_evaluated_row *row = &p->e->row[i];
	const struct tact_evaluated_set *set = &p->e->set[row->set];
	struct text place = {0};

	text_add(out, "{\"hex\":\"");
	text_hex(out, p->e->row[i].code, row->code_size);
	text_add(out, "\"");
	add_string(out, "arch", tact_arch_name(set->arch));
	add_string(out, "mode", tact_mode_name(set->mode));
	text_printf(&place, row->line ? "%s:%u" : "%s", p->inputs[row->input].path, row->line);
	text_add(out, ",\"place\":");
	text_json_string(out, place.data, place.size);
	text_free(&place);
	text_add(out, ",\"measured\":");
	text_number(out, p->e->measured[i]);
	text_add(out, ",\"predicted\":[");
	for (size_t m = 0; m < p->e->n_models; m++) {
		text_add(out, m ? "," : "");
		if (p->e->model[m].outcomes[i] == TACT_OUTCOME_GOOD)
			text_number(out, p->e->model[m].predicted[i]);
		else
			text_add(out, "null");
	}
	text_add(out, "]");
	if (tact_evaluation_load(p->e, i, block) >= 0)
		add_explanation(block, set->arch, out);
	else
		text_add(out, ",\"listing\":[],\"bounds\":[],\"why\":\"\"");
	text_add(out, "}");
}

/* ---- the page ---- */

static void add_models(const struct evaluator *p, struct shown *shown, struct text *out)
{
	struct tact_heatmap *map = cli_alloc(sizeof(*map));
	double low, high;

	find_range(p, &low, &high);
	text_add(out, ",\"models\":[");
	for (size_t m = 0; m < p->e->n_models; m++) {
		struct tact_pairs pairs;
		struct tact_errors errors;
		void *memory;

		if (tact_evaluation_pairs(p->e, m, &pairs, &memory) < 0)
			cli_out_of_memory();
		text_add(out, m ? ",\n{\"name\":" : "\n{\"name\":");
		text_json_string(out, p->e->model[m].name, strlen(p->e->model[m].name));
		text_add(out, ",\"scores\":");
		add_scores(out, &p->e->model[m].scores[TACT_BY_NOTHING][0]);
		if (tact_heatmap_compute(&pairs, low, high, map) >= 0)
			add_map(out, map);
		if (tact_errors_compute(&pairs, &errors) >= 0)
			add_errors(out, &errors);
		add_worst(p, &p->e->model[m], shown, out);
		text_add(out, "}");
		free(memory);
	}
	text_add(out, "]");
	free(map);
}

static void add_score_list(const struct evaluator *p, enum tact_grouping kind, uint32_t group,
			   struct text *out)
{
	text_add(out, ",\"scores\":[");
	for (size_t m = 0; m < p->e->n_models; m++) {
		text_add(out, m ? "," : "");
		add_scores(out, &p->e->model[m].scores[kind][group]);
	}
	text_add(out, "]");
}

static void add_groups(const struct evaluator *p, enum tact_grouping kind, uint32_t set,
		       const char *key, struct text *out)
{
	uint32_t *order;
	size_t n = evaluate_order(p, kind, set, &order);

	text_printf(out, ",\"%s\":[", key);
	for (size_t i = 0; i < n; i++) {
		const char *label = p->e->by[kind].group[order[i]].label;

		text_add(out, i ? ",{\"name\":" : "{\"name\":");
		text_json_string(out, label, strlen(label));
		add_score_list(p, kind, order[i], out);
		text_add(out, "}");
	}
	text_add(out, "]");
	free(order);
}

static void add_sets(const struct evaluator *p, struct text *out)
{
	text_add(out, ",\"sets\":[");
	for (uint32_t i = 0; i < p->e->n_sets; i++) {
		const struct tact_evaluated_set *set = &p->e->set[i];

		text_printf(out, "%s\n{\"n\":%zu", i ? "," : "", set->n);
		add_string(out, "arch", tact_arch_name(set->arch));
		add_string(out, "cpu", tact_arch_full_name(set->arch));
		add_string(out, "mode", tact_mode_name(set->mode));
		add_score_list(p, TACT_BY_SET, i, out);
		add_groups(p, TACT_BY_APP, i, "apps", out);
		add_groups(p, TACT_BY_CATEGORY, i, "categories", out);
		text_add(out, "}");
	}
	text_add(out, "]");
}

static void add_stages(const struct evaluator *p, struct text *out)
{
	text_add(out, ",\"bottlenecks\":[");
	for (unsigned k = 0; k < TACT_N_BOTTLENECKS; k++)
		text_printf(out, "%s\"%s\"", k ? "," : "", tact_bottleneck_name(k));
	text_add(out, "],\"stages\":[");
	for (size_t a = 0; a < p->e->n_bottlenecks; a++) {
		text_printf(out, "%s{\"arch\":\"%s\",\"shares\":[", a ? "," : "",
			    tact_arch_name(p->e->bottlenecks[a].arch));
		for (unsigned k = 0; k < TACT_N_BOTTLENECKS; k++)
			text_printf(out, "%s%.6f", k ? "," : "", p->e->bottlenecks[a].share[k]);
		text_add(out, "],\"ideal\":[");
		for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
			text_printf(out, "%s%.4f", b ? "," : "", p->e->bottlenecks[a].speedup[b]);
		text_add(out, "]}");
	}
	text_add(out, "]");
}

static void add_flows(const struct evaluator *p, struct text *out)
{
	enum { N = TACT_N_BOTTLENECKS };
	double flow[N * N];

	text_add(out, ",\"flows\":[");
	for (size_t a = 0; a + 1 < p->e->n_bottlenecks; a++) {
		const char *comma = "";
		double sum = 0;

		tact_evaluation_flow(p->e, a, flow);
		for (unsigned k = 0; k < N * N; k++)
			sum += flow[k];
		text_add(out, a ? ",[" : "[");
		for (unsigned k = 0; k < N * N; k++) {
			if (!(flow[k] > 0))
				continue;
			text_printf(out, "%s[%u,%u,%.6f]", comma, k / N, k % N, flow[k] / sum);
			comma = ",";
		}
		text_add(out, "]");
	}
	text_add(out, "]");
}

static void add_data(const struct evaluator *p, struct text *out)
{
	struct tact_block *block;
	struct shown shown = {0};

	text_printf(out,
		    "{\"schema\":\"tact.evaluate.page/1\",\"version\":\"%d.%d.%d\",\"rows\":%zu,"
		    "\"weighted\":%s,\"common\":%s,\"clean\":%s,\"rounded\":%s,\"files\":[",
		    TACT_VERSION_MAJOR, TACT_VERSION_MINOR, TACT_VERSION_PATCH, p->e->n,
		    p->is_weighted ? "true" : "false", p->is_common ? "true" : "false",
		    p->is_clean ? "true" : "false", p->is_rounded ? "true" : "false");
	for (size_t i = 0; i < p->n_inputs; i++) {
		const char *slash = strrchr(p->inputs[i].path, '/');
		const char *name = slash && slash[1] ? slash + 1 : p->inputs[i].path;

		text_add(out, i ? "," : "");
		text_json_string(out, name, strlen(name));
	}
	text_add(out, "]");
	add_models(p, &shown, out);
	add_sets(p, out);
	add_stages(p, out);
	add_flows(p, out);
	if (tact_block_create(&block, p->e->set[0].arch, NULL, NULL) < 0)
		cli_out_of_memory();
	text_add(out, ",\"blocks\":[");
	for (size_t i = 0; i < shown.n; i++) {
		text_add(out, i ? ",\n" : "\n");
		add_block(p, block, shown.row[i], out);
	}
	text_add(out, "]}\n");
	tact_block_destroy(block);
	free(shown.row);
}

int evaluate_write_report(struct evaluator *p)
{
	struct text path = {0}, json = {0}, page = {0};
	struct output out = {.fd = -1};
	int status = CLI_FAILED;

	text_printf(&path, "%s/index.html", p->report);
	text_add_bytes(&path, "", 1);
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

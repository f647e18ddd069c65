/* SPDX-License-Identifier: MIT
 *
 * Scores of all groups, shares of bottlenecks and their flow.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "evaluator.h"

/* As the papers do; what would become nothing stays as it is. */
static double round_2(const struct evaluator *p, double value)
{
	double rounded = round(value * 100) / 100;

	return p->is_rounded && rounded > 0 ? rounded : value;
}

static bool is_common(const struct evaluator *p, size_t row)
{
	for (size_t m = 0; m < p->n_models; m++)
		if (p->models[m].outcomes[row] != TACT_OUTCOME_GOOD)
			return false;
	return true;
}

/* Members of a grouping as pairs; with --common only of rows that all models predict. */
struct gathered {
	struct tact_pairs pairs;
	double *memory; /* owned */
	uint8_t *outcomes;
	uint32_t *group;
};

static void gather(const struct evaluator *p, const struct evaluate_model *model,
		   const struct evaluate_grouping *g, bool round_measured, struct gathered *out)
{
	size_t n = 0, room = g->n_members;
	double *predicted, *measured, *weights;

	out->memory = cli_alloc(3 * room * sizeof(double));
	out->outcomes = cli_alloc(room);
	out->group = cli_alloc(room * sizeof(*out->group));
	predicted = out->memory;
	measured = predicted + room;
	weights = measured + room;
	for (size_t i = 0; i < g->n_members; i++) {
		size_t row = g->row[i];
		double x = model->predicted[row];

		if (p->is_common && !is_common(p, row))
			continue;
		predicted[n] = round_2(p, x);
		measured[n] =
			round_measured ? round_2(p, p->rows.measured[row]) : p->rows.measured[row];
		weights[n] = g->weight[i];
		out->outcomes[n] = model->outcomes[row];
		out->group[n++] = g->of[i];
	}
	out->pairs = (struct tact_pairs){.n = n,
					 .predicted = predicted,
					 .measured = measured,
					 .weights = p->is_weighted ? weights : NULL,
					 .outcomes = out->outcomes};
}

static void gathered_fini(struct gathered *g)
{
	free(g->memory);
	free(g->outcomes);
	free(g->group);
}

void evaluate_pairs(const struct evaluator *p, size_t model, struct tact_pairs *pairs,
		    void **memory)
{
	struct gathered *g = cli_alloc(sizeof(*g));

	gather(p, &p->models[model], &p->rows.by[BY_NOTHING], false, g);
	*pairs = g->pairs;
	*memory = g;
}

void evaluate_pairs_free(void *memory)
{
	gathered_fini(memory);
	free(memory);
}

static int score_model(const struct evaluator *p, int kind, size_t m, bool round_measured,
		       struct tact_scores *out)
{
	const struct evaluate_grouping *g = &p->rows.by[kind];
	struct gathered x;
	int status;

	gather(p, &p->models[m], g, round_measured, &x);
	status = tact_scores_by_group(&x.pairs, x.group, g->n, out);
	gathered_fini(&x);
	return status;
}

/* Errors are against what was measured; for the order with --round two digits of it count, so that
 * noise in the others does not break ties.
 */
static int score(struct evaluator *p, int kind)
{
	size_t n = p->rows.by[kind].n;
	struct tact_scores *rounded = cli_alloc(n * sizeof(*rounded));
	int status = 0;

	p->scores[kind] = cli_alloc(p->n_models * sizeof(*p->scores[kind]));
	memset(p->scores[kind], 0, p->n_models * sizeof(*p->scores[kind]));
	for (size_t m = 0; m < p->n_models && !status; m++) {
		struct tact_scores *out = cli_alloc(n * sizeof(*out));

		p->scores[kind][m] = out;
		status = score_model(p, kind, m, false, out);
		if (!status && p->is_rounded)
			status = score_model(p, kind, m, true, rounded);
		for (size_t i = 0; i < n && !status && p->is_rounded; i++) {
			out[i].tau = rounded[i].tau;
			out[i].has_tau = rounded[i].has_tau;
		}
	}
	free(rounded);
	return status;
}

int evaluate_score(struct evaluator *p)
{
	for (int kind = 0; kind < EVALUATE_KINDS; kind++) {
		int status = score(p, kind);

		if (status == -TACT_E_NOMEM)
			cli_out_of_memory();
		if (status < 0) {
			cli_message("scores: %s", tact_strerror(status));
			return CLI_FAILED;
		}
	}
	return CLI_GOOD;
}

void evaluate_score_fini(struct evaluator *p)
{
	for (int kind = 0; kind < EVALUATE_KINDS; kind++) {
		for (size_t m = 0; p->scores[kind] && m < p->n_models; m++)
			free(p->scores[kind][m]);
		free(p->scores[kind]);
	}
}

size_t evaluate_failed(const struct tact_scores *s)
{
	size_t n = 0;

	for (int i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++)
		n += s->outcomes[i];
	return n;
}

/* ---- order of groups ---- */

static int by_label(const void *a, const void *b, void *context)
{
	const struct evaluate_grouping *g = context;
	const struct evaluate_group *x = &g->group[*(const uint32_t *)a];
	const struct evaluate_group *y = &g->group[*(const uint32_t *)b];

	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	return x->label && y->label ? strcmp(x->label, y->label) : 0;
}

size_t evaluate_order(const struct evaluator *p, int kind, uint32_t set, uint32_t **order)
{
	const struct evaluate_grouping *g = &p->rows.by[kind];
	size_t n = 0;

	*order = cli_alloc(g->n * sizeof(**order));
	for (size_t i = 0; i < g->n; i++)
		if (set == EVALUATE_NONE || g->group[i].set == set)
			(*order)[n++] = (uint32_t)i;
	qsort_r(*order, n, sizeof(**order), by_label, (void *)(uintptr_t)g);
	return n;
}

/* ---- bottlenecks ---- */

const char *evaluate_bottleneck_name(unsigned kind)
{
	return kind < TACT_N_BOUNDS ? tact_bound_name((enum tact_bound)kind) : "no data";
}

void evaluate_shares(const struct evaluator *p, size_t i, double *share)
{
	const uint8_t *kind = p->bottlenecks[i].kind;
	double sum = 0;

	memset(share, 0, EVALUATE_N_BOTTLENECKS * sizeof(*share));
	for (size_t row = 0; row < p->rows.n; row++) {
		double weight = p->is_weighted ? p->rows.weight[row] : 1;

		share[kind[row]] += weight;
		sum += weight;
	}
	for (unsigned k = 0; k < EVALUATE_N_BOTTLENECKS; k++)
		share[k] /= sum;
}

void evaluate_flow(const struct evaluator *p, size_t i, double *flow)
{
	tact_flow_compute(p->bottlenecks[i].kind, p->bottlenecks[i + 1].kind,
			  p->is_weighted ? p->rows.weight : NULL, p->rows.n, EVALUATE_N_BOTTLENECKS,
			  flow);
}

/* The mean that Table 4 of the FACILE paper has: its figures are near this one and not the others.
 */
double evaluate_speedup(const struct evaluate_bottlenecks *at, unsigned b)
{
	return at->weight[b] > 0 ? exp(at->gain[b] / at->weight[b]) : 1;
}

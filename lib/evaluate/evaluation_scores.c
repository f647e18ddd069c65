/* SPDX-License-Identifier: MIT
 *
 * Computes the scores of all models and groups.
 */
#include <math.h>
#include <stdlib.h>

#include "evaluate/evaluation.h"

/* Rounds as the papers do; a value that would become 0 stays as it is. */
static double round_2(const struct evaluation *e, double value)
{
	double rounded = round(value * 100) / 100;

	return e->opt.is_rounded && rounded > 0 ? rounded : value;
}

static bool is_common(const struct tact_evaluation *view, size_t row)
{
	for (size_t m = 0; m < view->n_models; m++)
		if (view->model[m].outcomes[row] != TACT_OUTCOME_GOOD)
			return false;
	return true;
}

/* The members of a grouping as pairs, in one allocation. */
struct gathered {
	struct tact_pairs pairs;
	uint32_t *group;
	double numbers[];
};

/* Returns NULL if out of memory. */
static struct gathered *gather(const struct evaluation *e, size_t m, enum tact_grouping kind,
			       bool round_measured)
{
	const struct tact_evaluated_model *model = &e->view.model[m];
	const struct evaluation_members *g = &e->by[kind];
	size_t n = 0, room = g->n;
	struct gathered *out = malloc(sizeof(*out) + room * (3 * sizeof(double) + sizeof(uint32_t) +
							     2 * sizeof(uint8_t)));
	double *predicted, *measured, *weights;
	uint8_t *outcomes, *held;

	if (!out)
		return NULL;
	predicted = out->numbers;
	measured = predicted + room;
	weights = measured + room;
	out->group = (uint32_t *)(weights + room);
	outcomes = (uint8_t *)(out->group + room);
	held = outcomes + room;
	for (size_t i = 0; i < g->n; i++) {
		size_t row = g->row[i];
		double value = e->view.measured[row];

		if (e->opt.is_common && !is_common(&e->view, row))
			continue;
		predicted[n] = round_2(e, model->predicted[row]);
		measured[n] = round_measured ? round_2(e, value) : value;
		weights[n] = g->weight[i];
		outcomes[n] = model->outcomes[row];
		held[n] = model->held ? model->held[row] : TACT_HELD_UNKNOWN;
		out->group[n++] = g->of[i];
	}
	out->pairs = (struct tact_pairs){.n = n,
					 .predicted = predicted,
					 .measured = measured,
					 .weights = e->opt.is_weighted ? weights : NULL,
					 .outcomes = outcomes,
					 .held = held};
	return out;
}

int tact_evaluation_pairs(const struct tact_evaluation *view, size_t model,
			  struct tact_pairs *pairs, void **memory)
{
	struct gathered *g;

	if (!view || !pairs || !memory || model >= view->n_models)
		return -TACT_E_INVAL;
	g = gather(evaluation_of_const(view), model, TACT_BY_NOTHING, false);
	if (!g)
		return -TACT_E_NOMEM;
	*pairs = g->pairs;
	*memory = g;
	return 0;
}

static int score_model(const struct evaluation *e, enum tact_grouping kind, size_t m,
		       bool round_measured, struct tact_scores *out)
{
	struct gathered *g = gather(e, m, kind, round_measured);
	int status = g ? tact_scores_by_group(&g->pairs, g->group, e->view.by[kind].n, out)
		       : -TACT_E_NOMEM;

	free(g);
	return status;
}

/* Errors are relative to the measured cycles.  For the order with rounding, two digits of these
 * count, so that noise in the others does not break ties.
 */
static int score(struct evaluation *e, enum tact_grouping kind, size_t m,
		 struct tact_scores *rounded)
{
	size_t n = e->view.by[kind].n;
	struct tact_scores *out = calloc(n + 1, sizeof(*out));
	int status;

	if (!out)
		return -TACT_E_NOMEM;
	e->view.model[m].scores[kind] = out;
	status = score_model(e, kind, m, false, out);
	if (status < 0 || !e->opt.is_rounded)
		return status;
	status = score_model(e, kind, m, true, rounded);
	for (size_t i = 0; i < n && status >= 0; i++) {
		out[i].tau = rounded[i].tau;
		out[i].has_tau = rounded[i].has_tau;
	}
	return status;
}

int evaluation_score(struct evaluation *e, struct tact_diag *diag)
{
	int status = 0;

	for (int kind = 0; kind < TACT_N_GROUPINGS && status >= 0; kind++) {
		struct tact_scores *rounded = calloc(e->view.by[kind].n + 1, sizeof(*rounded));

		if (!rounded)
			status = -TACT_E_NOMEM;
		for (size_t m = 0; m < e->view.n_models && status >= 0; m++)
			status = score(e, (enum tact_grouping)kind, m, rounded);
		free(rounded);
	}
	if (status < 0)
		return tact_fail(diag, (enum tact_error) - status, "scores: %s",
				 tact_strerror(status));
	return 0;
}

size_t tact_scores_failed(const struct tact_scores *scores)
{
	size_t n = 0;

	for (int i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++)
		n += scores->outcomes[i];
	return n;
}

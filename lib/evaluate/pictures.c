/* SPDX-License-Identifier: MIT
 *
 * The pictures of an evaluation, and the largest errors.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/evaluation.h"

/* ---- while rows come ---- */

/* Returns the place of a power of two. */
static size_t power_of(double power)
{
	const double at = power + EVALUATION_POWER_0;

	return at < 0 ? 0 : at >= EVALUATION_POWERS ? EVALUATION_POWERS - 1 : (size_t)at;
}

static int by_error(const void *a, const void *b)
{
	const struct tact_evaluated_worst *x = a, *y = b;

	if (x->error != y->error)
		return x->error < y->error ? 1 : -1;
	return ORDER(x->number, y->number);
}

static void free_worst(struct tact_evaluated_worst *w)
{
	FREE_ALL((void *)w->row.code, (void *)w->predicted, (void *)w->outcomes);
}

static void cut_worst(struct tact_evaluated_model *model, size_t n)
{
	if (model->n_worst)
		qsort(model->worst, model->n_worst, sizeof(*model->worst), by_error);
	while (model->n_worst > n)
		free_worst(&model->worst[--model->n_worst]);
}

/* Copies what the report shows of a row. */
static int keep_worst(struct evaluation *e, const struct evaluation_batch *b, size_t m, size_t row,
		      double error)
{
	struct tact_evaluated_model *model = &e->view.model[m];
	const size_t n = e->view.n_models;
	uint8_t *code = malloc(b->row[row].code_size + 1), *outcomes = malloc(n);
	double *predicted = malloc(n * sizeof(*predicted));
	struct tact_evaluated_worst *to = &model->worst[model->n_worst++];

	*to = (struct tact_evaluated_worst){.number = b->first + row,
					    .row = b->row[row],
					    .measured = b->measured[row],
					    .error = error,
					    .predicted = predicted,
					    .outcomes = outcomes};
	to->row.code = code;
	if (!code || !outcomes || !predicted)
		return -TACT_E_NOMEM;
	memcpy(code, b->row[row].code, b->row[row].code_size);
	for (size_t i = 0; i < n; i++) {
		predicted[i] = b->answers[i].predicted[row];
		outcomes[i] = b->answers[i].outcomes[row];
	}
	return 0;
}

/* There is room for twice as many as are wanted: then half of them go. */
static int find_worst(struct evaluation *e, const struct evaluation_batch *b, size_t m)
{
	const size_t wanted = e->opt.worst, room = 2 * wanted;
	struct tact_evaluated_model *model = &e->view.model[m];
	double least = -1; /* of those that are kept for sure */
	int status = 0;

	if (!wanted)
		return 0;
	if (!model->worst)
		model->worst = calloc(room, sizeof(*model->worst));
	if (!model->worst)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < b->n && status >= 0; i++) {
		double error;

		if (b->answers[m].outcomes[i] != TACT_OUTCOME_GOOD)
			continue;
		error = fabs(b->answers[m].predicted[i] - b->measured[i]) / b->measured[i];
		if (!(error > least))
			continue;
		if (model->n_worst == room) {
			cut_worst(model, wanted);
			least = model->worst[wanted - 1].error;
			if (!(error > least))
				continue;
		}
		status = keep_worst(e, b, m, i, error);
	}
	return status;
}

int evaluation_picture(struct evaluation *e, struct evaluation_batch *b, struct tact_diag *diag)
{
	int status = 0;

	for (size_t i = 0; i < b->n; i++) {
		const double power = log2(b->measured[i]);

		e->powers_below[power_of(floor(power + 1e-9))]++;
		e->powers_above[power_of(ceil(power - 1e-9))]++;
	}
	for (size_t m = 0; m < e->view.n_models && status >= 0; m++)
		status = find_worst(e, b, m);
	return status < 0 ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : 0;
}

/* ---- at the end ---- */

/* Returns the power of the row with so many before it. */
static double power_at(const uint64_t *powers, uint64_t before)
{
	size_t i = 0;

	while (i + 1 < EVALUATION_POWERS && before >= powers[i])
		before -= powers[i++];
	return exp2((double)i - EVALUATION_POWER_0);
}

enum { PAIRS = 4096 };

struct drawing {
	double predicted[PAIRS], measured[PAIRS], weight[PAIRS];
	struct tact_heatmap map;
	struct tact_errors errors;
};

static void add_pairs(const struct drawing *d, size_t n, struct drawing *scratch,
		      struct tact_evaluated_model *model)
{
	const struct tact_pairs pairs = {
		.n = n, .predicted = d->predicted, .measured = d->measured, .weights = d->weight};

	tact_heatmap_compute(&pairs, model->map->low, model->map->high, &scratch->map);
	tact_errors_compute(&pairs, &scratch->errors);
	for (unsigned y = 0; y < TACT_HEAT_BINS; y++)
		for (unsigned x = 0; x < TACT_HEAT_BINS; x++) {
			double *count = &model->map->count[y][x];

			*count += scratch->map.count[y][x];
			model->map->most = fmax(model->map->most, *count);
		}
	for (unsigned i = 0; i < TACT_ERROR_BINS; i++)
		model->errors->count[i] += scratch->errors.count[i];
}

static int draw(struct evaluation *e, size_t m, struct drawing *d, struct tact_diag *diag)
{
	struct sorter_walk *walk = malloc(sizeof(*walk));
	struct run_record r;
	size_t n = 0;
	int status;

	if (!walk)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	sorter_walk_init(walk, &e->tally[m]);
	while ((status = sorter_walk_next(walk, &r, diag)) > 0) {
		if (!e->cells.cell[r.tag >> 2].is_whole)
			continue;
		d->predicted[n] = r.x;
		d->measured[n] = r.y;
		d->weight[n++] = r.v * r.w;
		if (n == PAIRS) {
			add_pairs(d, n, d, &e->view.model[m]);
			n = 0;
		}
	}
	add_pairs(d, n, d, &e->view.model[m]);
	free(walk);
	return status;
}

/* The range of the maps: nearly all measured values, rounded to powers of two. */
int evaluation_draw(struct evaluation *e, struct tact_diag *diag)
{
	const double low = power_at(e->powers_below, e->view.n / 1000);
	const double high =
		fmax(power_at(e->powers_above, e->view.n - 1 - e->view.n / 500), 8 * low);
	struct drawing *d = malloc(sizeof(*d));
	int status = d ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");

	for (size_t m = 0; m < e->view.n_models && status >= 0; m++) {
		struct tact_evaluated_model *model = &e->view.model[m];

		cut_worst(model, e->opt.worst);
		model->map = calloc(1, sizeof(*model->map));
		model->errors = calloc(1, sizeof(*model->errors));
		if (!model->map || !model->errors) {
			status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
			break;
		}
		model->map->size = sizeof(*model->map);
		model->map->low = low;
		model->map->high = high;
		model->errors->size = sizeof(*model->errors);
		status = draw(e, m, d, diag);
	}
	free(d);
	return status;
}

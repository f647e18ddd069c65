/* SPDX-License-Identifier: MIT
 *
 * Runs all models over all rows, and finds what limits the rows on other CPUs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact/model.h>
#include <tact/store.h>

#include "evaluate/evaluation.h"

/* ---- models ---- */

static enum tact_outcome outcome_of(int status, const struct tact_estimate *x)
{
	switch (-status) {
	case 0:
		break;
	case TACT_E_DECODE:
	case TACT_E_INVAL:
		return TACT_OUTCOME_UNDECODABLE;
	case TACT_E_LIMIT:
		return TACT_OUTCOME_TIMEOUT;
	default:
		return TACT_OUTCOME_NO_NUMBER;
	}
	if (x->bounds && !x->bounds->applies)
		return TACT_OUTCOME_NOT_APPLICABLE;
	if (x->coverage < 1)
		return TACT_OUTCOME_NO_DATA;
	if (!isfinite(x->cycles_per_iteration) || x->cycles_per_iteration < 0)
		return TACT_OUTCOME_NO_NUMBER;
	return TACT_OUTCOME_GOOD;
}

/* Now and then: a call for each row would cost more than a row. */
static void count_estimate(struct evaluation *e)
{
	enum { ROWS_BETWEEN = 64 };
	size_t n;

	if (!e->opt.progress)
		return;
	n = atomic_fetch_add_explicit(&e->n_estimated, 1, memory_order_relaxed) + 1;
	if (n % ROWS_BETWEEN == 0)
		e->opt.progress(e->opt.context, n,
				e->view.n * (e->view.n_models + e->view.n_bottlenecks));
}

static void take(void *arg, size_t m, size_t row, int status, const struct tact_estimate *x)
{
	struct tact_evaluated_model *model = &((struct evaluation *)arg)->view.model[m];

	count_estimate(arg);
	model->outcomes[row] = (uint8_t)outcome_of(status, x);
	if (model->outcomes[row] == TACT_OUTCOME_GOOD)
		model->predicted[row] = x->cycles_per_iteration;
}

struct tact_model_row *evaluation_model_rows(const struct evaluation *e,
					     const struct tact_arch *arch)
{
	const struct tact_evaluation *view = &e->view;
	struct tact_model_row *rows = malloc((view->n + 1) * sizeof(*rows));

	for (size_t i = 0; i < view->n && rows; i++) {
		const struct tact_evaluated_row *row = &view->row[i];
		const struct tact_evaluated_set *set = &view->set[row->set];

		rows[i] = (struct tact_model_row){.size = sizeof(*rows),
						  .code = row->code,
						  .code_size = row->code_size,
						  .arch = arch ? arch : set->arch,
						  .mode = set->mode,
						  .init = (enum tact_init)row->init,
						  .block = row->block,
						  .alignment = row->alignment};
	}
	return rows;
}

/* Finds out which inputs are stores: models may find predictions there. */
static size_t find_stores(const struct evaluation *e, struct tact_model_row *rows,
			  const char **stores, uint32_t *store_of)
{
	size_t n = 0;

	for (size_t i = 0; i < e->opt.n_inputs; i++) {
		store_of[i] = 0;
		if (e->opt.inputs[i].path && tact_store_is_store(e->opt.inputs[i].path)) {
			stores[n++] = e->opt.inputs[i].path;
			store_of[i] = (uint32_t)n;
		}
	}
	for (size_t i = 0; i < e->view.n; i++)
		rows[i].store = store_of[e->view.row[i].input];
	return n;
}

static int run_models(struct evaluation *e, struct tact_diag *diag)
{
	size_t n_models = e->view.n_models, n_inputs = e->opt.n_inputs;
	const char **names = malloc((n_models + 1) * sizeof(*names));
	const char **stores = malloc((n_inputs + 1) * sizeof(*stores));
	uint32_t *store_of = malloc((n_inputs + 1) * sizeof(*store_of));
	struct tact_model_row *rows = evaluation_model_rows(e, NULL);
	struct tact_model_options options = {.size = sizeof(options),
					     .threads = e->opt.threads,
					     .timeout = e->opt.timeout,
					     .stores = stores,
					     .say = e->opt.say,
					     .say_arg = e->opt.context};
	int status = -TACT_E_NOMEM;

	if (names && stores && store_of && rows) {
		options.n_stores = find_stores(e, rows, stores, store_of);
		for (size_t m = 0; m < n_models; m++)
			names[m] = e->view.model[m].model;
		status = tact_model_run(names, n_models, rows, e->view.n, &options, take, e, diag);
	} else {
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	FREE_ALL(rows, store_of, stores, names);
	return status;
}

/* ---- bottlenecks ---- */

/* Rows per chunk; the logarithms of a chunk are added up first. */
enum { CHUNK = 2048 };

/* For one CPU: what each row would gain, as a logarithm; NAN: nothing else limits it. */
struct looking {
	struct evaluation *e;
	struct tact_evaluated_bottlenecks *at;
	double (*gain)[TACT_N_BOUNDS]; /* owned; one per row */
};

/* Returns the largest of the other bounds: what would remain if b were not a limit. */
static double without(const struct tact_prediction *x, unsigned b)
{
	double most = 0;

	for (unsigned k = 0; k < TACT_N_BOUNDS; k++)
		if (k != b && x->applies >> k & 1 && x->bound[k] > most)
			most = x->bound[k];
	return most;
}

static void look(void *arg, size_t model, size_t row, int status, const struct tact_estimate *e)
{
	struct looking *l = arg;

	(void)model;
	count_estimate(l->e);
	if (status < 0 || e->bounds->coverage < 1 || !e->bounds->bottlenecks)
		return;
	l->at->kind[row] = (uint8_t)__builtin_ctz(e->bounds->bottlenecks);
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		double rest = without(e->bounds, b);

		l->gain[row][b] = rest > 0 ? log(e->bounds->cycles_per_iteration / rest) : NAN;
	}
}

static double weight_of(const struct evaluation *e, size_t row)
{
	return e->opt.is_weighted ? e->view.weight[row] : 1;
}

/* Adds up chunk by chunk.  Table 4 of the FACILE paper has this mean: its figures are near this one
 * and not near other means.
 */
static void average(const struct evaluation *e, struct looking *l, unsigned b)
{
	double gain = 0, weight = 0;

	for (size_t begin = 0; begin < e->view.n; begin += CHUNK) {
		double chunk_gain = 0, chunk_weight = 0;

		for (size_t row = begin; row < e->view.n && row < begin + CHUNK; row++) {
			if (l->at->kind[row] == TACT_N_BOUNDS || isnan(l->gain[row][b]))
				continue;
			chunk_gain += weight_of(e, row) * l->gain[row][b];
			chunk_weight += weight_of(e, row);
		}
		gain += chunk_gain;
		weight += chunk_weight;
	}
	l->at->speedup[b] = weight > 0 ? exp(gain / weight) : 1;
	l->at->has_gain[b] = gain > 0;
}

static void share(const struct evaluation *e, struct tact_evaluated_bottlenecks *at)
{
	double sum = 0;

	for (size_t row = 0; row < e->view.n; row++) {
		at->share[at->kind[row]] += weight_of(e, row);
		sum += weight_of(e, row);
	}
	for (unsigned k = 0; k < TACT_N_BOTTLENECKS; k++)
		at->share[k] /= sum;
}

static int look_at(struct evaluation *e, size_t a, struct looking *l, struct tact_diag *diag)
{
	static const char *const facile = "facile";
	const struct tact_model_options options = {.size = sizeof(options),
						   .threads = e->opt.threads};
	struct tact_model_row *rows = evaluation_model_rows(e, e->view.bottlenecks[a].arch);
	int status;

	l->at = &e->view.bottlenecks[a];
	l->at->kind = malloc(e->view.n + 1);
	if (!rows || !l->at->kind) {
		free(rows);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	memset(l->at->kind, TACT_N_BOUNDS, e->view.n + 1);
	status = tact_model_run(&facile, 1, rows, e->view.n, &options, look, l, diag);
	free(rows);
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		average(e, l, b);
	share(e, l->at);
	return status;
}

int evaluation_find_bottlenecks(struct evaluation *e, struct tact_diag *diag)
{
	struct looking l = {.e = e, .gain = malloc((e->view.n + 1) * sizeof(*l.gain))};
	int status = l.gain ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");

	for (size_t a = 0; a < e->view.n_bottlenecks && status >= 0; a++)
		status = look_at(e, a, &l, diag);
	free(l.gain);
	return status;
}

void tact_evaluation_flow(const struct tact_evaluation *view, size_t i, double *flow)
{
	tact_flow_compute(view->bottlenecks[i].kind, view->bottlenecks[i + 1].kind,
			  evaluation_of_const(view)->opt.is_weighted ? view->weight : NULL, view->n,
			  TACT_N_BOTTLENECKS, flow);
}

const char *tact_bottleneck_name(unsigned kind)
{
	return kind < TACT_N_BOUNDS ? tact_bound_name((enum tact_bound)kind) : "no data";
}

/* ---- the whole run ---- */

int tact_evaluation_run(struct tact_evaluation *view, struct tact_diag *diag)
{
	struct tact_diag own = {0};
	struct evaluation *e = evaluation_of(view);
	int status = 0, ran, scored;

	if (!view || !view->n || !view->n_models)
		return tact_fail(diag, TACT_E_INVAL, "no rows or no models");
	for (size_t m = 0; m < view->n_models; m++) {
		view->model[m].predicted = calloc(view->n, sizeof(double));
		view->model[m].outcomes = malloc(view->n);
		if (!view->model[m].predicted || !view->model[m].outcomes)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		memset(view->model[m].outcomes, TACT_OUTCOME_NO_NUMBER, view->n);
	}
	if (view->n_bottlenecks)
		status = evaluation_find_bottlenecks(e, diag);
	if (status < 0)
		return status;
	ran = run_models(e, &own);
	if (diag)
		*diag = own;
	if (own.text[0])
		return ran;
	scored = evaluation_hold(e, diag);
	if (scored >= 0)
		scored = evaluation_score(e, diag);
	return scored < 0 ? scored : ran;
}

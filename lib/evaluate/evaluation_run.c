/* SPDX-License-Identifier: MIT
 *
 * Runs all models over a batch of rows, and the whole run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/model.h>
#include <tact/store.h>

#include "evaluate/evaluation.h"
#include "model/model.h"

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

const char *evaluation_column(const char *model)
{
	static const char begin[] = "column:";

	return strncmp(model, begin, sizeof(begin) - 1) ? NULL : model + sizeof(begin) - 1;
}

void evaluation_read_answer(const char *text, double *predicted, uint8_t *outcome)
{
	char *end;

	*outcome = TACT_OUTCOME_NO_NUMBER;
	*predicted = strspn(text, "0123456789+-.eE") == strlen(text) ? strtod(text, &end) : NAN;
	if (!isnan(*predicted)) {
		if (end != text && !*end && isfinite(*predicted) && *predicted >= 0)
			*outcome = TACT_OUTCOME_GOOD;
		return;
	}
	for (int i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++)
		if (!strcmp(text, tact_outcome_name((enum tact_outcome)i)))
			*outcome = (uint8_t)i;
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
		e->opt.progress(e->opt.context, n, 0);
}

struct running {
	struct evaluation *e;
	struct evaluation_batch *b;
	size_t *model; /* owned; of those that run, the number among all */
};

static void take(void *arg, size_t m, size_t row, int status, const struct tact_estimate *x)
{
	const struct running *r = arg;
	struct evaluation_answers *a = &r->b->answers[r->model[m]];

	count_estimate(r->e);
	a->outcomes[row] = (uint8_t)outcome_of(status, x);
	a->predicted[row] = a->outcomes[row] == TACT_OUTCOME_GOOD ? x->cycles_per_iteration : 0;
}

/* The rows in the form that models take, for an arch or, if it is NULL, for their own.  The caller
 * frees them.
 */
static struct tact_model_row *model_rows(const struct evaluation *e,
					 const struct evaluation_batch *b,
					 const struct tact_arch *arch)
{
	struct tact_model_row *rows = malloc((b->n + 1) * sizeof(*rows));

	for (size_t i = 0; i < b->n && rows; i++) {
		const struct tact_evaluated_row *row = &b->row[i];
		const struct tact_evaluated_set *set = &e->view.set[row->set];

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
static size_t find_stores(const struct evaluation *e, const struct evaluation_batch *b,
			  struct tact_model_row *rows, const char **stores, uint32_t *store_of)
{
	size_t n = 0;

	for (size_t i = 0; i < e->opt.n_inputs; i++) {
		store_of[i] = 0;
		if (e->opt.inputs[i].path && tact_store_is_store(e->opt.inputs[i].path)) {
			stores[n++] = e->opt.inputs[i].path;
			store_of[i] = (uint32_t)n;
		}
	}
	for (size_t i = 0; i < b->n; i++)
		rows[i].store = store_of[b->row[i].input];
	return n;
}

static bool is_stored(const char *model)
{
	return !strncmp(model, "stored:", strlen("stored:"));
}

/* A model that failed before does not hide what is worse. */
static void note_failure(struct evaluation *e, int status)
{
	if (status == -TACT_E_NO_TOOL || (status < 0 && e->ran_status != -TACT_E_NO_TOOL))
		e->ran_status = status;
}

static int run_all(struct running *r, const char **names, size_t n, struct tact_model_row *rows,
		   struct tact_model_options *options, struct tact_diag *diag)
{
	struct evaluation *e = r->e;
	struct tact_diag own = {0};
	int status = n ? model_run_part(names, n, rows, r->b->n, options, take, r, &own) : 0;

	if (status == -TACT_E_NOMEM)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (own.text[0]) {
		*diag = own;
		e->view.is_model_wrong = true;
		return status;
	}
	note_failure(e, status);
	for (size_t m = 0; m < n; m++)
		for (size_t i = 0;
		     i < r->b->n && is_stored(names[m]) && !e->has_stored[r->model[m]]; i++)
			e->has_stored[r->model[m]] =
				r->b->answers[r->model[m]].outcomes[i] != TACT_OUTCOME_NO_NUMBER;
	return 0;
}

int evaluation_run_models(struct evaluation *e, struct evaluation_batch *b, struct tact_diag *diag)
{
	size_t n_models = e->view.n_models, n_inputs = e->opt.n_inputs, n = 0;
	const char **names = malloc((n_models + 1) * sizeof(*names));
	const char **stores = malloc((n_inputs + 1) * sizeof(*stores));
	uint32_t *store_of = malloc((n_inputs + 1) * sizeof(*store_of));
	struct running r = {e, b, malloc((n_models + 1) * sizeof(*r.model))};
	struct tact_model_row *rows = NULL;
	struct tact_model_options options = {.size = sizeof(options),
					     .threads = e->opt.threads,
					     .timeout = e->opt.timeout,
					     .stores = stores,
					     .say = evaluation_say,
					     .say_arg = e};
	int status = -TACT_E_NOMEM;

	for (size_t m = 0; m < n_models && names && r.model; m++) {
		if (evaluation_column(e->view.model[m].model))
			continue;
		memset(b->answers[m].outcomes, TACT_OUTCOME_NO_NUMBER, b->n);
		names[n] = e->view.model[m].model;
		r.model[n++] = m;
	}
	if (n)
		rows = model_rows(e, b, NULL);
	if (names && stores && store_of && r.model && (rows || !n)) {
		options.n_stores = n ? find_stores(e, b, rows, stores, store_of) : 0;
		status = run_all(&r, names, n, rows, &options, diag);
	} else {
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	FREE_ALL(rows, store_of, stores, names, r.model);
	return status;
}

/* ---- bottlenecks ---- */

struct looking {
	struct evaluation *e;
	struct evaluation_limits *at;
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

		l->at->gain[row][b] =
			rest > 0 ? log(e->bounds->cycles_per_iteration / rest) : (double)NAN;
	}
}

static void add_up(struct evaluation *e, const struct evaluation_batch *b, size_t a)
{
	const struct evaluation_limits *at = &b->limits[a];
	struct evaluation_limit_sums *sums = &e->limits[a];
	const bool has_next = a + 1 < e->view.n_bottlenecks;

	for (size_t row = 0; row < b->n; row++) {
		const double w = e->opt.is_weighted ? b->weight[row] : 1;
		const unsigned kind = at->kind[row];

		exact_add(&sums->share[kind], w);
		if (has_next)
			exact_add(&sums->flow[kind * TACT_N_BOTTLENECKS + at[1].kind[row]], w);
		for (unsigned k = 0; k < TACT_N_BOUNDS && kind != TACT_N_BOUNDS; k++) {
			if (isnan(at->gain[row][k]))
				continue;
			exact_add(&sums->gain[k], w * at->gain[row][k]);
			exact_add(&sums->weight[k], w);
		}
	}
}

int evaluation_find_limits(struct evaluation *e, struct evaluation_batch *b, struct tact_diag *diag)
{
	static const char *const facile = "facile";
	const struct tact_model_options options = {.size = sizeof(options),
						   .threads = e->opt.threads};
	int status = 0;

	for (size_t a = 0; a < e->view.n_bottlenecks && status >= 0; a++) {
		struct tact_model_row *rows = model_rows(e, b, e->view.bottlenecks[a].arch);
		struct looking l = {.e = e, .at = &b->limits[a]};

		if (!rows)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		memset(l.at->kind, TACT_N_BOUNDS, b->n);
		status = tact_model_run(&facile, 1, rows, b->n, &options, look, &l, diag);
		free(rows);
	}
	for (size_t a = 0; a < e->view.n_bottlenecks && status >= 0; a++)
		add_up(e, b, a);
	return status;
}

/* The geometric mean: Table 4 of the FACILE paper has it. */
void evaluation_share_limits(struct evaluation *e)
{
	for (size_t a = 0; a < e->view.n_bottlenecks; a++) {
		struct tact_evaluated_bottlenecks *at = &e->view.bottlenecks[a];
		struct evaluation_limit_sums *sums = &e->limits[a];
		double all = 0;

		for (unsigned k = 0; k < TACT_N_BOTTLENECKS; k++)
			all += exact_value(&sums->share[k]);
		for (unsigned k = 0; k < TACT_N_BOTTLENECKS; k++)
			at->share[k] = exact_value(&sums->share[k]) / all;
		for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
			const double gain = exact_value(&sums->gain[b]);
			const double weight = exact_value(&sums->weight[b]);

			at->speedup[b] = weight > 0 ? exp(gain / weight) : 1;
			at->has_gain[b] = gain > 0;
		}
	}
}

void tact_evaluation_flow(const struct tact_evaluation *view, size_t i, double *flow)
{
	struct evaluation_limit_sums *sums = &evaluation_of_const(view)->limits[i];

	for (unsigned k = 0; k < TACT_N_BOTTLENECKS * TACT_N_BOTTLENECKS; k++)
		flow[k] = exact_value(&sums->flow[k]);
}

const char *tact_bottleneck_name(unsigned kind)
{
	return kind < TACT_N_BOUNDS ? tact_bound_name((enum tact_bound)kind) : "no data";
}

/* ---- the whole run ---- */

/* Rows of one batch may have no predictions in a store while others have. */
static void miss_stored(struct evaluation *e)
{
	for (size_t m = 0; m < e->view.n_models; m++) {
		const char *name = e->view.model[m].model;

		if (!is_stored(name) || e->has_stored[m])
			continue;
		note_failure(e, -TACT_E_NO_DATA);
		if (e->opt.say) {
			char text[TACT_STORE_NAME_MAX + 128];

			snprintf(text, sizeof(text),
				 "%s: no store has predictions of this model for the measured rows",
				 name);
			e->opt.say(e->opt.context, text);
		}
	}
}

int tact_evaluation_run(struct tact_evaluation *view, struct tact_diag *diag)
{
	struct evaluation *e = evaluation_of(view);

	if (!view || !view->n || !view->n_models)
		return tact_fail(diag, TACT_E_INVAL, "no rows or no models");
	if (!e->is_combined) {
		if (e->batch[e->filling].n && e->status >= 0)
			evaluation_flush(e);
		evaluation_wait(e);
	}
	if (e->status >= 0)
		e->status = evaluation_sort_sets(e, &e->why);
	if (e->status >= 0)
		e->status = evaluation_score(e, &e->why);
	if (e->status >= 0 && e->opt.has_pictures)
		e->status = evaluation_draw(e, &e->why);
	if (e->status < 0) {
		if (diag)
			*diag = e->why;
		return e->status;
	}
	e->is_scored = true;
	evaluation_share_limits(e);
	if (!e->is_combined)
		miss_stored(e);
	return e->ran_status;
}

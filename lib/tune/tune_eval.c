/* SPDX-License-Identifier: MIT
 *
 * Evaluates rows under a table, on all cores.
 */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include <tact/model.h>
#include <tact/predict.h>

#include "base/pool.h"
#include "tune/tune.h"

double tune_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int tune_predict(struct tune_worker *w, uint32_t row, double *cycles)
{
	struct tact_tuner *t = w->t;
	const struct tune_row *r = &t->rows.rows[row];
	struct tact_estimate estimate = {.size = sizeof(estimate)};
	struct tact_mca_result result = {.size = sizeof(result)};
	int status;

	if (w->machine) {
		status = tact_mca_run(w->machine, t->codes[row], &result);
		*cycles = result.cycles_per_iteration;
		return status;
	}
	status = tact_block_load(w->block, t->rows.code + r->code, r->size, NULL);
	if (status >= 0)
		status = tact_model_estimate(w->estimator, w->block, &estimate);
	if (status == -TACT_E_LIMIT) /* the pipeline's state does not repeat */
		status = tact_model_estimate(w->bound, w->block, &estimate);
	*cycles = estimate.cycles_per_iteration;
	return status;
}

/* ---- all workers ---- */

struct job {
	struct tact_tuner *t;
	tune_item_fn *fn;
	void *context;
};

static int work(void *context, unsigned thread, size_t item)
{
	struct job *job = context;

	return job->fn(&job->t->workers[thread], item, job->context);
}

int tune_parallel(struct tact_tuner *t, size_t n, tune_item_fn *fn, void *context)
{
	struct job job = {.t = t, .fn = fn, .context = context};

	return pool_run(t->n_workers, n, work, &job);
}

static int work_if_mine(void *context, unsigned thread, size_t item)
{
	struct job *job = context;

	return tune_is_mine(job->t, item) ? work(context, thread, item) : 0;
}

int tune_parallel_shared(struct tact_tuner *t, size_t n, tune_item_fn *fn, void *context,
			 const struct tune_result *results, size_t n_results)
{
	struct job job = {.t = t, .fn = fn, .context = context};

	return tune_share(t, n, pool_run(t->n_workers, n, work_if_mine, &job), results, n_results);
}

enum { SLICE = 128 };

static int evaluate_slice(struct tune_worker *w, size_t item, void *context)
{
	const unsigned *parts = context;
	struct tact_tuner *t = w->t;
	size_t end = (item + 1) * SLICE < t->rows.n ? (item + 1) * SLICE : t->rows.n;

	for (size_t r = item * SLICE; r < end; r++) {
		int status;

		if (!(*parts >> t->rows.rows[r].part & 1))
			continue;
		status = tune_predict(w, (uint32_t)r, &t->predicted[r]);
		if (status < 0)
			return status;
		t->error[r] = tune_relative(t->predicted[r], t->rows.rows[r].cycles);
	}
	return 0;
}

int tune_evaluate_parts(struct tact_tuner *t, unsigned parts)
{
	const struct tune_result results[] = {
		{t->predicted, SLICE * sizeof(double), t->rows.n * sizeof(double)},
		{t->error, SLICE * sizeof(double), t->rows.n * sizeof(double)},
	};

	for (unsigned p = 0; p < TACT_TUNE_N_PARTS; p++)
		if (parts >> p & 1)
			t->evaluations += t->rows.n_part[p];
	return tune_parallel_shared(t, (t->rows.n + SLICE - 1) / SLICE, evaluate_slice, &parts,
				    results, ARRAY_SIZE(results));
}

int tune_evaluate(struct tact_tuner *t)
{
	return tune_evaluate_parts(t, (1u << TACT_TUNE_N_PARTS) - 1);
}

double tune_error_of(const struct tact_tuner *t, enum tact_tune_part part)
{
	double sum = 0;

	for (size_t r = 0; r < t->rows.n; r++)
		if (t->rows.rows[r].part == part)
			sum += t->error[r];
	return t->rows.n_part[part] ? sum / (double)t->rows.n_part[part] : NAN;
}

void tune_set(struct tact_tuner *t, const struct tune_param *param, int value)
{
	for (unsigned i = 0; i < t->n_workers; i++)
		tune_assign(&t->workers[i].table, param, value);
}

void tune_values_get(const struct tact_tuner *t, int *values)
{
	for (size_t i = 0; i < t->n_params; i++)
		values[i] = tune_value(&t->workers[0].table, &t->params[i]);
}

void tune_values_set(struct tact_tuner *t, const int *values)
{
	for (size_t i = 0; i < t->n_params; i++)
		if (tune_value(&t->workers[0].table, &t->params[i]) != values[i])
			tune_set(t, &t->params[i], values[i]);
}

int tune_report(struct tact_tuner *t, const char *phase, unsigned step, unsigned steps, double done,
		double loss, double validation, double seconds_left)
{
	struct tact_tune_progress p = {.size = sizeof(p),
				       .phase = phase,
				       .step = step,
				       .steps = steps,
				       .done = done,
				       .loss = loss,
				       .validation = validation,
				       .seconds_left = seconds_left};

	return tune_agree(t,
			  t->opt.report && t->opt.report(t->opt.context, &p) ? -TACT_E_LIMIT : 0);
}

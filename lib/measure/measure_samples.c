/* SPDX-License-Identifier: MIT
 *
 * Takes samples of a prepared block until enough passes agree.
 */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "measure/measure_job.h"

enum { MAX_NOISY = 60 /* passes that may be discarded: a third of a second */ };

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Concludes from the values of the passes: the number is the median of the lower half.  If the
 * values form several groups, the block has several modes.
 */
static int conclude(struct job *job, double *value, unsigned n)
{
	struct tact_measurement *out = job->out;
	double sum = 0, squares = 0, mean;
	unsigned lower = (n + 1) / 2;

	qsort(value, n, sizeof(*value), compare_doubles);
	for (unsigned i = 0; i < lower; i++) {
		sum += value[i];
		squares += value[i] * value[i];
	}
	mean = sum / lower;
	out->spread = mean > 0 ? sqrt(fmax(0, squares / lower - mean * mean)) / mean : 0;
	if (mean <= 0)
		return job_fail(job, TACT_MEASURE_UNSTABLE, "%u iterations took no longer than %u",
				out->high, out->low);
	if (out->spread > job->h->opt.max_spread)
		return job_fail(job, TACT_MEASURE_UNSTABLE, "passes differ by %.0f%%",
				100 * out->spread);
	if (value[n - 1] > 1.05 * value[0] && value[n / 2] > 1.04 * value[0])
		out->flags |= TACT_MFLAG_MODES;
	out->cycles_per_iteration = value[lower / 2];
	out->status = TACT_MEASURE_OK;
	return 0;
}

/* Noise comes in bursts: a pass that is too noisy is repeated a little later. */
static void wait_for_quiet(void)
{
	struct timespec t = {.tv_nsec = 3000000};

	nanosleep(&t, NULL);
}

int job_sample(struct job *job)
{
	struct tact_harness *h = job->h;
	bool calibrated = h->rung == TACT_RUNG_TSC;
	double value[MEASURE_MAX_PASSES];
	unsigned n = 0;

	h->host->n_samples = h->opt.samples;
	h->host->calibrate = calibrated;
	for (unsigned noisy = 0; noisy < MAX_NOISY && n < h->opt.passes;) {
		struct measure_pass pass;

		if (job_order(job, ORDER_SAMPLE) < 0 || job_fail_outcome(job) < 0)
			return -1;
		if (calibrated)
			measure_lower_floor(&h->canary_floor, h->host->quiet, h->quantum);
		measure_evaluate_pass(&pass, h->host->sample, h->opt.samples, calibrated,
				      calibrated ? h->quantum : 1, h->canary_floor);
		job->out->kept += pass.kept;
		job->out->dropped += pass.dropped;
		if (pass.valid) {
			value[n++] = (pass.high - pass.low) / (job->out->high - job->out->low);
		} else {
			noisy++;
			wait_for_quiet();
		}
	}
	if (n < 2)
		return job_fail(job, TACT_MEASURE_UNSTABLE, "%u of %u samples were disturbed",
				job->out->dropped, job->out->kept + job->out->dropped);
	return conclude(job, value, n);
}

/* SPDX-License-Identifier: MIT
 *
 * Whether a number explains what the runs took.
 *
 * The number is the difference of two runs, so whatever their first iterations take cancels out.  A
 * block can tell the two runs apart, though: by its address, or by a counter of its own.  If it
 * wastes time at the start of the short one, its number is lower than any of its iterations
 * deserves.  So the start may not take much longer than entering and leaving without a block does.
 */
#include <stdlib.h>

#include "measure/measure_job.h"

enum { ENTRY_SAMPLES = 4 };

/* Entering cold takes longer than entering warm, and the pipeline fills and drains. */
#define MAX_ENTRIES	1.6
#define MAX_START_SHARE 0.05 /* of the longer run */
/* Several loops have as many exits that are mispredicted: 28 of 384 cycles at worst. */
#define EXITS_SHARE 0.03

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A low one that is no outlier. */
static double low_quartile(uint64_t *v, unsigned n)
{
	qsort(v, n, sizeof(*v), compare);
	return (double)v[n / 4];
}

double measure_start_ticks(const struct measure_sample *samples, unsigned n, unsigned low_count,
			   unsigned high_count, double *iteration)
{
	uint64_t low[MEASURE_MAX_SAMPLES], high[MEASURE_MAX_SAMPLES];
	unsigned kept = 0;
	double shorter, longer;

	*iteration = 0;
	for (unsigned i = 0; i < n && i < MEASURE_MAX_SAMPLES; i++)
		if (!samples[i].disturbed) {
			low[kept] = samples[i].low;
			high[kept++] = samples[i].high;
		}
	if (!kept || high_count <= low_count)
		return 0;
	shorter = low_quartile(low, kept);
	longer = low_quartile(high, kept);
	*iteration = (longer - shorter) / (high_count - low_count);
	return shorter - *iteration * low_count;
}

bool measure_is_start_plausible(double start, double iteration, unsigned high_count, double entry,
				double quantum)
{
	double allowed =
		MAX_ENTRIES * entry + 3 * quantum + MAX_START_SHARE * iteration * high_count;

	return start <= allowed && start >= -allowed;
}

int job_time_entry(struct job *job)
{
	struct measure_host *host = job->h->host;
	const uint64_t body_low = host->body_low, body_high = host->body_high;
	uint64_t ticks[ENTRY_SAMPLES];
	int status;

	host->body_low = host->body_high = MEASURE_CODE_BASE + job->layout.enter_end;
	host->n_samples = ENTRY_SAMPLES;
	status = job_order(job, ORDER_SAMPLE);
	host->body_low = body_low;
	host->body_high = body_high;
	if (status < 0 || job_fail_outcome(job) < 0)
		return -1;
	for (unsigned i = 0; i < ENTRY_SAMPLES; i++)
		ticks[i] = host->sample[i].high;
	job->entry = low_quartile(ticks, ENTRY_SAMPLES);
	return 0;
}

int job_check_start(struct job *job)
{
	const struct measure_host *host = job->h->host;
	double iteration;
	double start = measure_start_ticks(host->sample, host->n_taken, job->out->low,
					   job->out->high, &iteration);

	double entry = job->entry;

	if (job->plan.loop && job->plan.copies > 1)
		entry += EXITS_SHARE * iteration * job->out->high;
	if (iteration <= 0 || job->h->floor.is_emulated ||
	    measure_is_start_plausible(start, iteration, job->out->high, entry, job->h->quantum))
		return 0;
	return job_fail(
		job, TACT_MEASURE_UNSTABLE,
		"its start takes as long as %.0f iterations: they do not take the same time",
		start / iteration);
}

/* SPDX-License-Identifier: MIT
 *
 * Turns samples into a number.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure_priv.h"

/* If the two clocks of a sample differ by more than this (beyond the steps of the counter), the
 * core's frequency has changed, or a neighbour has interfered.
 */
#define MAX_CLOCK_DRIFT 0.005
/* Width of the lowest cluster, beyond one step of the counter. */
#define CLUSTER 0.01
/* Ticks beyond twice the usual that pass between two readings, outside of everything that is timed:
 * an interrupt, or a hypervisor that ran something else.
 */
#define MAX_GAP 4000

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Returns the mean of the lowest cluster: everything within one step and one percent of the low
 * end. The minimum alone would be biased by the steps of the counter, the mean of all by
 * interrupts.  The low end is the 5th percentile, so that a single outlier does not define it.
 */
static double lowest_cluster(double *v, unsigned n, double step)
{
	double floor, sum = 0;
	unsigned kept = 0;

	qsort(v, n, sizeof(*v), compare);
	floor = v[n / 20];
	for (unsigned i = 0; i < n; i++) {
		if (v[i] < floor - step * 1.01 || v[i] > floor * (1 + CLUSTER) + step * 1.01)
			continue;
		sum += v[i];
		kept++;
	}
	return sum / kept;
}

/* ---- one sample ---- */

static double chain_ticks(const struct measure_reading *r)
{
	return (double)r->chain_long - (double)r->chain_short;
}

/* Whether both clocks agree. */
static bool is_steady(const struct measure_reading *before, const struct measure_reading *after,
		      unsigned quantum)
{
	const double a = chain_ticks(before), b = chain_ticks(after);

	return a > 0 && b > 0 && fabs(a - b) <= MAX_CLOCK_DRIFT * (a + b) / 2 + 2.0 * quantum;
}

/* Ticks between two readings in which nothing was timed. */
static double idle_ticks(const struct measure_reading *before, const struct measure_sample *s)
{
	double timed = (double)s->low + (double)s->high + before->chain_short + before->chain_long;

	for (unsigned i = 0; i < MEASURE_CANARIES; i++)
		timed += before->canary[i];
	return (double)(s->after.begin - before->begin) - timed;
}

/* Returns the usual idle ticks of a pass. */
static double usual_idle(const struct measure_reading *before, const struct measure_sample *samples,
			 unsigned n)
{
	double idle[MEASURE_MAX_SAMPLES];

	for (unsigned i = 0; i < n; before = &samples[i++].after)
		idle[i] = idle_ticks(before, &samples[i]);
	qsort(idle, n, sizeof(*idle), compare);
	return idle[n / 2];
}

/* Whether the core was quiet before and after a sample; `excess` is negative if that is not known.
 */
static bool was_quiet(const struct measure_floor *floor, const struct measure_reading *before,
		      const struct measure_reading *after, double *excess)
{
	double a, b;
	const bool was = measure_is_quiet(floor, before, &a);
	const bool is = measure_is_quiet(floor, after, &b);

	*excess = a < 0 || b < 0 ? -1 : fmax(a, b);
	return was && is;
}

/* ---- a pass ---- */

void measure_evaluate_pass(struct measure_pass *pass, const struct measure_reading *first,
			   const struct measure_sample *samples, unsigned n, bool ticks,
			   const struct measure_floor *floor)
{
	double low[MEASURE_MAX_SAMPLES], high[MEASURE_MAX_SAMPLES], busy[MEASURE_MAX_SAMPLES];
	const struct measure_reading *before = first;
	unsigned kept = 0, n_busy = 0;
	double step = 1, usual;

	*pass = (struct measure_pass){.disturbance = -1};
	if (n > MEASURE_MAX_SAMPLES)
		n = MEASURE_MAX_SAMPLES;
	usual = n && ticks ? usual_idle(first, samples, n) : 0;
	for (unsigned i = 0; i < n; before = &samples[i++].after) {
		const struct measure_sample *s = &samples[i];
		double cycles = 1, excess;
		const bool quiet = was_quiet(floor, before, &s->after, &excess);

		if (excess >= 0)
			busy[n_busy++] = excess;
		if (s->disturbed || before->cpu != s->after.cpu)
			continue;
		if (!quiet) {
			pass->busy++;
			continue;
		}
		if (ticks) {
			if (!floor->is_emulated && (!is_steady(before, &s->after, floor->quantum) ||
						    idle_ticks(before, s) > 2 * usual + MAX_GAP))
				continue;
			cycles = 2 * floor->chain / (chain_ticks(before) + chain_ticks(&s->after));
			step = floor->quantum * cycles;
		}
		low[kept] = (double)s->low * cycles;
		high[kept] = (double)s->high * cycles;
		kept++;
	}
	qsort(busy, n_busy, sizeof(*busy), compare);
	if (n_busy)
		pass->disturbance = busy[n_busy / 2];
	pass->kept = kept;
	pass->dropped = n - kept;
	if (kept < 4 || kept * 4 < n)
		return;
	pass->low = lowest_cluster(low, kept, step);
	pass->high = lowest_cluster(high, kept, step);
	pass->valid = true;
}

/* ---- a block ---- */

static void fail_unstable(struct tact_measurement *out, const char *format, double a, double b)
{
	out->status = TACT_MEASURE_UNSTABLE;
	snprintf(out->reason, sizeof(out->reason), format, a, b);
}

void measure_conclude(struct tact_measurement *out, double *value, unsigned n, double max_spread,
		      double least)
{
	const unsigned lower = n < 3 ? n : (n + 1) / 2;
	double sum = 0, squares = 0, mean;

	if (n < 2) {
		fail_unstable(out, "%.0f of %.0f samples could not be used", out->dropped,
			      (double)out->kept + out->dropped);
		return;
	}
	qsort(value, n, sizeof(*value), compare);
	for (unsigned i = 0; i < lower; i++) {
		sum += value[i];
		squares += value[i] * value[i];
	}
	mean = sum / lower;
	out->spread = mean > 0 ? sqrt(fmax(0, squares / lower - mean * mean)) / mean : 0;
	if (!(mean > 0)) {
		fail_unstable(out, "%.0f iterations took no longer than %.0f", out->high, out->low);
	} else if (out->spread > max_spread) {
		fail_unstable(out, "passes differ by %.0f%%", 100 * out->spread, 0);
	} else if (value[lower / 2] < 0.95 * least) {
		fail_unstable(out, "%.3f cycles an iteration are fewer than this CPU needs (%.3f)",
			      value[lower / 2], least);
	} else {
		if (value[n - 1] > 1.05 * value[0] && value[n / 2] > 1.04 * value[0])
			out->flags |= TACT_MFLAG_MODES;
		out->cycles_per_iteration = value[lower / 2];
		out->status = TACT_MEASURE_OK;
		out->reason[0] = 0;
	}
}

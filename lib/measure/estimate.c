/* SPDX-License-Identifier: MIT
 *
 * Turns samples into a number.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure_priv.h"

/* If the two clocks of a sample differ by more than this (beyond the steps of the counter), the
 * core's frequency has changed, or a neighbour has interfered.
 */
#define MAX_CLOCK_DRIFT 0.005
/* A busy sibling thread slows the front end down, to half its speed at worst.  The nops then take
 * longer than in the other samples of the pass, or than in all earlier passes.
 */
#define MAX_CANARY	   1.15
#define MAX_CANARY_OF_PASS 1.35
/* Width of the lowest cluster, beyond one step of the counter. */
#define CLUSTER 0.01

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

static double clock_ticks(const struct measure_sample *s)
{
	return ((double)s->chain_before + s->chain_after) / 2;
}

/* The core must be quiet on both sides. */
static double slower_canary(const struct measure_sample *s)
{
	return s->canary_before > s->canary_after ? s->canary_before : s->canary_after;
}

/* Whether both clocks agree and no page had to be mapped. */
static bool is_steady(const struct measure_sample *s, unsigned quantum)
{
	double drift = fabs((double)s->chain_before - (double)s->chain_after);

	return !s->disturbed && s->chain_before && s->chain_after &&
	       drift <= MAX_CLOCK_DRIFT * clock_ticks(s) + 2.0 * quantum;
}

/* Returns how long the canary takes in this pass, in units of the clock, so that the frequency
 * cancels out; 0 if the pass cannot be used.
 */
static double canary_level(const struct measure_sample *samples, unsigned n, unsigned quantum,
			   double canary_floor)
{
	double level[MEASURE_MAX_SAMPLES], median;
	unsigned steady = 0;

	for (unsigned i = 0; i < n; i++)
		if (is_steady(&samples[i], quantum))
			level[steady++] = slower_canary(&samples[i]) / clock_ticks(&samples[i]);
	if (!steady)
		return 0;
	qsort(level, steady, sizeof(*level), compare);
	median = level[steady / 2];
	return canary_floor <= 0 || median <= canary_floor * MAX_CANARY_OF_PASS ? median : 0;
}

void measure_lower_floor(double *canary_floor, const struct measure_quiet quiet[MEASURE_QUIET],
			 unsigned quantum)
{
	double level[MEASURE_QUIET], first = quiet[0].chain;

	for (unsigned i = 0; i < MEASURE_QUIET; i++) {
		if (!quiet[i].canary || !quiet[i].chain)
			return;
		/* An interrupt in the clock would make the floor too low for good. */
		if (fabs(quiet[i].chain - first) > MAX_CLOCK_DRIFT * first + 2.0 * quantum)
			return;
		level[i] = (double)quiet[i].canary / quiet[i].chain;
	}
	qsort(level, MEASURE_QUIET, sizeof(*level), compare);
	if (*canary_floor <= 0 || level[MEASURE_QUIET / 2] < *canary_floor)
		*canary_floor = level[MEASURE_QUIET / 2];
}

void measure_evaluate_pass(struct measure_pass *pass, const struct measure_sample *samples,
			   unsigned n, bool calibrated, unsigned quantum, double canary_floor)
{
	const double chain_cycles =
		measure_native->chain_cycles * (double)(MEASURE_CHAIN_LONG - MEASURE_CHAIN_SHORT);
	double low[MEASURE_MAX_SAMPLES], high[MEASURE_MAX_SAMPLES], step = quantum, canary = 0;
	unsigned kept = 0;

	memset(pass, 0, sizeof(*pass));
	if (n > MEASURE_MAX_SAMPLES)
		n = MEASURE_MAX_SAMPLES;
	if (calibrated)
		canary = canary_level(samples, n, quantum, canary_floor);
	for (unsigned i = 0; i < n; i++) {
		const struct measure_sample *s = &samples[i];
		double cycles_per_tick = 1;

		if (calibrated ? !is_steady(s, quantum) : s->disturbed)
			continue;
		if (calibrated) {
			if (slower_canary(s) > canary * clock_ticks(s) * MAX_CANARY + 2.0 * quantum)
				continue;
			cycles_per_tick = chain_cycles / clock_ticks(s);
		}
		low[kept] = (double)s->low * cycles_per_tick;
		high[kept] = (double)s->high * cycles_per_tick;
		step = quantum * cycles_per_tick;
		kept++;
	}
	pass->kept = kept;
	pass->dropped = n - kept;
	if (kept < 4 || kept * 4 < n || (calibrated && canary <= 0))
		return;
	pass->low = lowest_cluster(low, kept, step);
	pass->high = lowest_cluster(high, kept, step);
	pass->valid = true;
}

/* SPDX-License-Identifier: MIT
 *
 * Is the core its own?
 *
 * A neighbour (another program, or another tenant on the sibling thread) can be there from the
 * start, and for minutes.  So the canary is not compared with what it took before, but with what
 * the core can do: its issue width, where that is known; a cycle for a taken branch; the latency of
 * a chain.  What was really reached, on any CPU of this model and at any time, refines that.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure_priv.h"

/* Clocks of readings that are learned from.  Where they differ by more, an interrupt or a change of
 * the frequency would make the canary look faster than it is.
 */
#define SAME_CLOCK 0.005
/* A reading in which the canary is faster than the core can be, by more than its steps explain, has
 * a clock that was interrupted.
 */
#define TOO_FAST 0.06
enum {
	MAX_WIDTH = 16,	     /* of any core for years to come */
	USUAL_OVERHEAD = 60, /* cycles */
	MAX_OVERHEAD = 400
};

void measure_floor_init(struct measure_floor *floor, const struct measure_set *set,
			const struct measure_core *core, unsigned quantum)
{
	const unsigned links = (core->coarse ? MEASURE_CHAIN_LONG_COARSE : MEASURE_CHAIN_LONG) -
			       MEASURE_CHAIN_SHORT;

	memset(floor, 0, sizeof(*floor));
	floor->quantum = quantum;
	floor->chain = (double)set->chain_cycles * links;
	floor->short_chain = (double)set->chain_cycles * MEASURE_CHAIN_SHORT;
	floor->overhead = USUAL_OVERHEAD;
	floor->n_parts = set->canaries(floor->part, core);
	for (unsigned i = 0; i < floor->n_parts; i++) {
		const struct measure_canary *c = &floor->part[i];

		if (core->width)
			floor->known[i] = fmax(c->cycles, (double)c->uops / core->width);
		floor->least[i] = core->width ? floor->known[i]
					      : fmax(c->cycles, (double)c->uops / MAX_WIDTH);
	}
}

/* Returns what an iteration of a part takes on a core of its own; 0 if nobody knows. */
static double floor_of(const struct measure_floor *floor, unsigned part)
{
	const double best = floor->best[part];
	const double known = floor->known[part] * floor->part[part].credible;

	return known <= 0 || (best > 0 && best < known) ? best : known;
}

void measure_floor_offer(struct measure_floor *floor, unsigned part, double cycles)
{
	/* Steps of the counter, and the overhead that is taken off, blur it a little. */
	if (part >= floor->n_parts || !isfinite(cycles) || cycles < 0.98 * floor->least[part])
		return;
	cycles = fmax(cycles, floor->least[part]);
	if (floor->best[part] <= 0 || cycles < floor->best[part])
		floor->best[part] = cycles;
}

/* ---- readings ---- */

/* Ticks by which the clock's two chains differ; 0 if they cannot be right. */
static double chain_ticks(const struct measure_reading *r)
{
	return r->chain_long > r->chain_short ? (double)(r->chain_long - r->chain_short) : 0;
}

double measure_cycles_per_tick(const struct measure_floor *floor, const struct measure_reading *r)
{
	const double ticks = chain_ticks(r);

	return ticks > 0 ? floor->chain / ticks : 0;
}

/* Cycles of one iteration of a part. */
static double cycles_of(const struct measure_floor *floor, const struct measure_reading *r,
			unsigned part)
{
	return (r->canary[part] * measure_cycles_per_tick(floor, r) - floor->overhead) /
	       floor->part[part].iterations;
}

bool measure_is_quiet(const struct measure_floor *floor, const struct measure_reading *r,
		      double *excess)
{
	const double step = floor->quantum * measure_cycles_per_tick(floor, r);
	bool is_quiet = true;

	*excess = floor->is_emulated ? 0 : -1;
	if (floor->is_emulated)
		return step > 0;
	for (unsigned i = 0; i < floor->n_parts && step > 0; i++) {
		const double base = floor_of(floor, i), cycles = cycles_of(floor, r, i);
		const double slack = step / floor->part[i].iterations;
		const double more = base > 0 ? fmax(0, (cycles - slack) / base - 1) : -1;

		if (cycles < floor->least[i] * (1 - TOO_FAST) - slack) {
			*excess = -1;
			return false;
		}
		is_quiet &= more <= floor->part[i].tolerance;
		*excess = fmax(*excess, more);
	}
	return *excess >= 0 && is_quiet;
}

/* ---- learning ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Picks the readings whose clocks agree.  Returns their number; 0 if most do not. */
static unsigned same_clock(const struct measure_floor *floor, const struct measure_reading *all,
			   unsigned n, const struct measure_reading **out)
{
	double ticks[MEASURE_LISTEN], median;
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++)
		ticks[i] = chain_ticks(&all[i]);
	qsort(ticks, n, sizeof(*ticks), compare);
	median = ticks[n / 2];
	for (unsigned i = 0; i < n; i++)
		if (median > 0 && fabs(chain_ticks(&all[i]) - median) <=
					  SAME_CLOCK * median + 2.0 * floor->quantum)
			out[kept++] = &all[i];
	return 4 * kept >= 3 * n ? kept : 0;
}

/* Reading the counter takes time, too, which a chain of known length shows. */
static void learn_overhead(struct measure_floor *floor, const struct measure_reading **r,
			   unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += r[i]->chain_short * measure_cycles_per_tick(floor, r[i]) -
		       floor->short_chain;
	sum = fmin(fmax(sum / n, 0), MAX_OVERHEAD);
	if (!floor->has_overhead || sum < floor->overhead)
		floor->overhead = sum;
	floor->has_overhead = true;
}

/* Several readings must agree: the lower quarter counts.  A neighbour can only make them longer. */
bool measure_floor_learn(struct measure_floor *floor, const struct measure_reading *readings,
			 unsigned n)
{
	const struct measure_reading *r[MEASURE_LISTEN];
	double cycles[MEASURE_LISTEN];

	if (n > MEASURE_LISTEN)
		n = MEASURE_LISTEN;
	n = n < 8 ? 0 : same_clock(floor, readings, n, r);
	if (!n)
		return false;
	learn_overhead(floor, r, n);
	for (unsigned i = 0; i < floor->n_parts; i++) {
		for (unsigned k = 0; k < n; k++)
			cycles[k] = cycles_of(floor, r[k], i);
		qsort(cycles, n, sizeof(*cycles), compare);
		measure_floor_offer(floor, i, cycles[n / 4]);
	}
	return true;
}

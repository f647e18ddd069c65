/* SPDX-License-Identifier: MIT
 *
 * Curves of cycles over sizes: the levels, and where one gives way to the next.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/calibrate_priv.h"

enum { MOST_POINTS = 256 };

/* A rise by this much from one point to the next, and from one level to the next, is an edge.  A level
 * reaches so far, from its first point to its last one; less is a step of a ramp.
 */
static const double RISE = 1.18, APART = 1.3, REACH = 1.6;

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values, size_t n)
{
	double sorted[MOST_POINTS];

	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

struct knee_point knee_at(const struct knee_curve *curve, double at)
{
	const struct knee_point *p = curve->points;
	struct knee_point between = {.at = at};
	size_t i = 0;
	double share;

	if (!curve->n)
		return between;
	while (i < curve->n && p[i].at < at)
		i++;
	if (i == curve->n)
		return p[i - 1];
	if (!i || p[i].at <= at)
		return p[i];
	share = log(at / p[i - 1].at) / log(p[i].at / p[i - 1].at);
	between.cycles = p[i - 1].cycles + share * (p[i].cycles - p[i - 1].cycles);
	between.spread = fmax(p[i - 1].spread, p[i].spread);
	between.is_shared = p[i - 1].is_shared || p[i].is_shared;
	return between;
}

/* The median of a point and its neighbours: one that is off does not count, and edges stay. */
static double smoothed(const struct knee_curve *curve, size_t i)
{
	double near[3];

	if (!i || i + 1 >= curve->n)
		return curve->points[i].cycles;
	for (size_t k = 0; k < 3; k++)
		near[k] = curve->points[i + k - 1].cycles;
	return median(near, 3);
}

static struct knee_level level_of(const struct knee_curve *curve, size_t begin, size_t end)
{
	const size_t n = end - begin;
	struct knee_level level = {.cycles = 0};
	double spreads[MOST_POINTS], cycles[MOST_POINTS];
	size_t shared = 0;

	for (size_t i = 0; i < n; i++) {
		spreads[i] = curve->points[begin + i].spread;
		cycles[i] = curve->points[begin + i].cycles;
		shared += curve->points[begin + i].is_shared;
	}
	level.spread = median(spreads, n);
	level.cycles = median(cycles, n);
	qsort(cycles, n, sizeof(*cycles), compare);
	level.scatter = (cycles[3 * n / 4] - cycles[n / 4]) / level.cycles;
	level.is_shared = 2 * shared > n;
	return level;
}

unsigned knee_levels(const struct knee_curve *curve, struct knee_level *out, unsigned most)
{
	const size_t n = curve->n < MOST_POINTS ? curve->n : MOST_POINTS;
	double floor[MOST_POINTS];
	size_t begin = 0, ends[MOST_POINTS];
	unsigned found = 0;

	memset(out, 0, most * sizeof(*out));
	/* What goes up must stay up: no point is above a later one. */
	for (size_t i = n; i-- > 0;) {
		const double cycles = smoothed(curve, i);

		floor[i] = i + 1 < n && floor[i + 1] < cycles ? floor[i + 1] : cycles;
	}
	for (size_t i = 1; i <= n && found < most; i++) {
		if (i < n && floor[i] <= floor[i - 1] * RISE)
			continue;
		/* What is short is a part of the edge, unless the curve begins or ends with it. */
		if (!begin || (i == n && i - begin >= 2) ||
		    curve->points[i - 1].at >= REACH * curve->points[begin].at) {
			struct knee_level level = level_of(curve, begin, i);

			/* So is a step on the way up that is close to the level before it. */
			if (!found || level.cycles > APART * out[found - 1].cycles) {
				out[found] = level;
				ends[found++] = i;
			}
		}
		begin = i;
	}
	for (unsigned k = 0; k < found; k++) {
		size_t i = ends[k];

		if (k + 1 < found)
			while (i < n && floor[i] < sqrt(out[k].cycles * out[k + 1].cycles))
				i++;
		else
			i = n;
		out[k].end = curve->points[i - 1].at;
		out[k].next = curve->points[i < n ? i : n - 1].at;
	}
	return found;
}

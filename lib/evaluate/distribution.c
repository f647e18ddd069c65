/* SPDX-License-Identifier: MIT
 *
 * The data of an evaluation's pictures: rows by measured and predicted cycles, by error, and by
 * bottleneck on two CPUs.
 */
#include <math.h>
#include <string.h>

#include <tact-program/evaluate.h>

/* Returns the bin of a position between 0 and 1. */
static unsigned bin_of(double position, unsigned n)
{
	if (!(position > 0)) /* NaN as well: the logarithm of what is not positive */
		return 0;
	return position >= 1 ? n - 1 : (unsigned)(position * n);
}

static double weight_of(const struct tact_pairs *p, size_t i)
{
	if (p->outcomes && p->outcomes[i] != TACT_OUTCOME_GOOD)
		return 0;
	return p->weights ? p->weights[i] : 1;
}

int tact_heatmap_compute(const struct tact_pairs *pairs, double low, double high,
			 struct tact_heatmap *out)
{
	double scale;

	if (!pairs || !out || !(low > 0) || !(high > low) || !isfinite(high))
		return -TACT_E_INVAL;
	scale = 1 / log(high / low);
	*out = (struct tact_heatmap){.size = sizeof(*out), .low = low, .high = high};
	for (size_t i = 0; i < pairs->n; i++) {
		double weight = weight_of(pairs, i), *count;

		if (!(weight > 0))
			continue;
		count = &out->count[bin_of(log(pairs->predicted[i] / low) * scale, TACT_HEAT_BINS)]
				   [bin_of(log(pairs->measured[i] / low) * scale, TACT_HEAT_BINS)];
		*count += weight;
		if (*count > out->most)
			out->most = *count;
	}
	return 0;
}

int tact_errors_compute(const struct tact_pairs *pairs, struct tact_errors *out)
{
	const double width = 0.05, low = -0.5 * TACT_ERROR_BINS * width;

	if (!pairs || !out)
		return -TACT_E_INVAL;
	*out = (struct tact_errors){.size = sizeof(*out)};
	for (size_t i = 0; i < pairs->n; i++) {
		double weight = weight_of(pairs, i), error;

		if (!(weight > 0))
			continue;
		error = (pairs->predicted[i] - pairs->measured[i]) / pairs->measured[i];
		out->count[bin_of((error - low) / (TACT_ERROR_BINS * width), TACT_ERROR_BINS)] +=
			weight;
	}
	return 0;
}

int tact_flow_compute(const uint8_t *from, const uint8_t *to, const double *weights, size_t n,
		      unsigned n_kinds, double *flow)
{
	if (!from || !to || !flow || !n_kinds)
		return -TACT_E_INVAL;
	memset(flow, 0, (size_t)n_kinds * n_kinds * sizeof(*flow));
	for (size_t i = 0; i < n; i++)
		if (from[i] < n_kinds && to[i] < n_kinds)
			flow[(size_t)from[i] * n_kinds + to[i]] += weights ? weights[i] : 1;
	return 0;
}

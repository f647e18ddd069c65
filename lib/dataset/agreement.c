/* SPDX-License-Identifier: MIT
 *
 * How well predictions agree with measurements: relative errors and order.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tact/dataset.h>

#include "base/base.h"

struct pair {
	double x, y;
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int by_pair(const void *a, const void *b)
{
	const struct pair *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->y > q->y) - (p->y < q->y);
}

static double pairs_of(size_t n)
{
	return 0.5 * (double)n * (double)(n - (n > 0));
}

/* Pairs of equal elements in a sorted array, by x, by y or by both. */
static double count_ties(const struct pair *p, size_t n, bool with_x, bool with_y)
{
	double ties = 0;

	for (size_t i = 0, start = 0; i < n; i++) {
		bool ends = i + 1 == n || (with_x && p[i].x != p[i + 1].x) ||
			    (with_y && p[i].y != p[i + 1].y);

		if (ends) {
			ties += pairs_of(i + 1 - start);
			start = i + 1;
		}
	}
	return ties;
}

/* Sorts by y with merge sort; returns how many exchanges of neighbours that takes. */
static double sort_counting(struct pair *p, struct pair *scratch, size_t n)
{
	double exchanges = 0;

	for (size_t width = 1; width < n; width *= 2) {
		for (size_t low = 0; low < n; low += 2 * width) {
			size_t middle = low + width < n ? low + width : n;
			size_t high = low + 2 * width < n ? low + 2 * width : n;
			size_t i = low, k = middle, to = low;

			while (i < middle || k < high) {
				if (k == high || (i < middle && p[i].y <= p[k].y)) {
					scratch[to++] = p[i++];
				} else {
					exchanges += (double)(middle - i);
					scratch[to++] = p[k++];
				}
			}
		}
		memcpy(p, scratch, n * sizeof(*p));
	}
	return exchanges;
}

/* Tau-b by Knight's algorithm (W. R. Knight, JASA 61, 1966): n log n instead of n squared. */
static bool kendall(struct pair *p, struct pair *scratch, size_t n, double *tau)
{
	double all = pairs_of(n), x_ties, y_ties, both_ties, exchanges, scale;

	qsort(p, n, sizeof(*p), by_pair);
	x_ties = count_ties(p, n, true, false);
	both_ties = count_ties(p, n, true, true);
	exchanges = sort_counting(p, scratch, n);
	y_ties = count_ties(p, n, false, true);
	scale = sqrt(all - x_ties) * sqrt(all - y_ties);
	if (!(scale > 0))
		return false;
	*tau = (all - x_ties - y_ties + both_ties - 2 * exchanges) / scale;
	return true;
}

static double median_of(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

int tact_agreement_compute(const double *predicted, const double *measured, size_t n,
			   struct tact_agreement *out)
{
	double *errors = NULL, sum = 0;
	struct pair *pairs = NULL;
	int status = -TACT_E_NOMEM;

	if (!predicted || !measured || !n || !out)
		return -TACT_E_INVAL;
	for (size_t i = 0; i < n; i++)
		if (!(measured[i] > 0) || !isfinite(measured[i]) || !isfinite(predicted[i]))
			return -TACT_E_INVAL;
	errors = calloc(n, sizeof(*errors));
	pairs = calloc(n, 2 * sizeof(*pairs));
	if (!errors || !pairs)
		goto out_free;
	for (size_t i = 0; i < n; i++) {
		errors[i] = fabs(predicted[i] - measured[i]) / measured[i];
		sum += errors[i];
		pairs[i] = (struct pair){predicted[i], measured[i]};
	}
	*out = (struct tact_agreement){.size = sizeof(*out), .n = n, .mape = sum / (double)n};
	out->median = median_of(errors, n);
	out->has_tau = kendall(pairs, pairs + n, n, &out->tau);
	status = 0;
out_free:
	free(errors);
	free(pairs);
	return status;
}

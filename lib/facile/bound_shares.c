/* SPDX-License-Identifier: MIT
 *
 * How the cycles of a prediction divide among its bounds.
 */
#include <string.h>

#include "facile/facile.h"

/* Puts the bounds that apply in order, the smallest first; returns their number. */
static unsigned sort_bounds(const struct tact_prediction *p, uint8_t order[TACT_N_BOUNDS])
{
	unsigned n = 0;

	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		unsigned at = n;

		if (!(p->applies >> b & 1) || !(p->bound[b] > 0))
			continue;
		for (; at && p->bound[order[at - 1]] > p->bound[b]; at--)
			order[at] = order[at - 1];
		order[at] = (uint8_t)b;
		n++;
	}
	return n;
}

/* The Shapley value of "the cycles are the largest bound".  In an order in which components are
 * idealised one after the other, the last one of those that are at least as large as the k-th bound
 * gains the step up to it, and each of them is the last equally often (Littlechild and Owen 1973,
 * "airport games").
 */
static void divide(const struct tact_prediction *p, struct tact_shares *out)
{
	uint8_t order[TACT_N_BOUNDS];
	unsigned n = sort_bounds(p, order);
	double below = 0, sum = 0;

	for (unsigned k = 0; k < n; k++) {
		const double bound = p->bound[order[k]];

		sum += (bound - below) / (n - k);
		out->share[order[k]] = sum / p->bound[order[n - 1]];
		below = bound;
	}
	for (unsigned k = n; k-- > 0;) {
		if (p->bound[order[k]] < p->bound[order[n - 1]] - 1e-9) {
			out->without = p->bound[order[k]];
			break;
		}
		out->set |= 1u << order[k];
	}
}

int tact_explain_shares(const struct tact_prediction *prediction, struct tact_shares *out)
{
	struct tact_shares s = TACT_SHARES_INIT;
	struct tact_prediction p;

	if (!prediction || !tact_can_fill(out) || tact_read_options(&p, sizeof(p), prediction) < 0)
		return -TACT_E_INVAL;
	divide(&p, &s);
	return tact_fill(out, &s, sizeof(s));
}

/* SPDX-License-Identifier: MIT
 *
 * The class of measured rows that explains most of their error: a term, or two of them in one block.
 */
#include <string.h>

#include "hunt/hunt_rows.h"

enum { TOP = 16, LEAST_ROWS = 3 };
/* Of all error: a class below that is not worth a line. */
#define LEAST_MASS 0.001
/* A second term must say more than this. */
#define COMPLEXITY 0.85

void hunt_sums_count(const struct hunt_sorting *s, struct hunt_sums *sums, size_t row)
{
	const double w = s->h->row[row].weight;
	const unsigned sign = s->sign[row];

	sums->all += w;
	sums->n++;
	if (!sign)
		return;
	sums->off[sign - 1] += w;
	sums->n_off[sign - 1]++;
	if (!s->is_explained[row])
		sums->left[sign - 1] += w * fabs(hunt_error_of(&s->h->row[row]));
}

/* The error that it explains, and less for rows of the class that agree. */
static double score_of(const struct hunt_sorting *s, const struct hunt_sums *x, unsigned side)
{
	const double share = x->all > 0 ? x->off[side] / x->all : 0;
	const double least = s->h->opt.share;

	if (x->n_off[side] < LEAST_ROWS || share < least || x->left[side] < LEAST_MASS * s->mass)
		return 0;
	return x->left[side] * share * share;
}

static void offer(const struct hunt_sorting *s, struct hunt_choice *best, uint32_t a, uint32_t b,
		  const struct hunt_sums *x, unsigned side)
{
	const double score = score_of(s, x, side) * (b == HASH_NONE ? 1 : COMPLEXITY);

	if (score > best->score)
		*best = (struct hunt_choice){a, b, side, score, *x};
}

/* Finds the terms that are worth another one: much error, whatever their share. */
static size_t find_top(const struct hunt_sorting *s, unsigned side, uint32_t top[TOP])
{
	double value[TOP];
	size_t n = 0;

	for (size_t i = 0; i < s->n_terms; i++) {
		const struct hunt_sums *x = &s->sums[i];
		double v = x->all > 0 ? x->left[side] * sqrt(x->off[side] / x->all) : 0;
		size_t at = n;

		if (!(v > 0) || x->n_off[side] < LEAST_ROWS)
			continue;
		while (at && value[at - 1] < v)
			at--;
		if (at == TOP)
			continue;
		n = n < TOP ? n + 1 : TOP;
		for (size_t k = n - 1; k > at; k--) {
			value[k] = value[k - 1];
			top[k] = top[k - 1];
		}
		value[at] = v;
		top[at] = (uint32_t)i;
	}
	return n;
}

/* Offers a term together with each other one. */
static void offer_pairs(struct hunt_sorting *s, struct hunt_choice *best, uint32_t a)
{
	size_t n_touched = 0;

	for (size_t i = s->first_row[a]; i < s->first_row[a + 1]; i++) {
		const size_t row = s->rows_of[i];

		for (size_t k = s->first[row]; k < s->first[row + 1]; k++) {
			const uint32_t b = s->list[k];

			if (!s->pair[b].n)
				s->touched[n_touched++] = b;
			hunt_sums_count(s, &s->pair[b], row);
		}
	}
	for (size_t k = 0; k < n_touched; k++) {
		const uint32_t b = s->touched[k];

		for (unsigned side = 0; side < 2 && b != a; side++)
			offer(s, best, a, b, &s->pair[b], side);
		memset(&s->pair[b], 0, sizeof(s->pair[b]));
	}
}

struct hunt_choice hunt_choose(struct hunt_sorting *s)
{
	struct hunt_choice best = {.a = HASH_NONE, .b = HASH_NONE};
	uint32_t top[2][TOP];
	size_t n_low = find_top(s, 0, top[0]);

	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < s->n_terms; i++)
			offer(s, &best, (uint32_t)i, HASH_NONE, &s->sums[i], side);
	for (size_t i = 0; i < n_low; i++)
		offer_pairs(s, &best, top[0][i]);
	for (size_t i = 0, n = find_top(s, 1, top[1]); i < n; i++) {
		bool is_done = false;

		for (size_t k = 0; k < n_low; k++)
			is_done |= top[0][k] == top[1][i];
		if (!is_done)
			offer_pairs(s, &best, top[1][i]);
	}
	return best;
}

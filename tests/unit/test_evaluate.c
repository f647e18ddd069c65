/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact-program/evaluate.h>

#include "support.h"

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

/* ---- scores ---- */

TEST(scores_of_known_numbers)
{
	const double measured[] = {1, 2, 4, 10, 5}, predicted[] = {1, 2.1, 4.4, 5, 77};
	const uint8_t outcomes[] = {0, 0, 0, 0, TACT_OUTCOME_NO_DATA};
	const struct tact_pairs pairs = {
		.n = 5, .predicted = predicted, .measured = measured, .outcomes = outcomes};
	struct tact_scores s;

	assert_int_equal(tact_scores_compute(&pairs, &s), 0);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.outcomes[TACT_OUTCOME_GOOD], 4);
	assert_int_equal(s.outcomes[TACT_OUTCOME_NO_DATA], 1);
	assert_true(near(s.mape, (0 + 0.05 + 0.1 + 0.5) / 4));
	assert_true(near(s.median, 0.075));
	assert_true(near(s.bias, (0.05 + 0.1 - 0.5) / 4));
	assert_true(near(s.within_5, 0.5));
	assert_true(near(s.within_10, 0.75));
	assert_true(s.has_tau && near(s.tau, 1));
}

TEST(nothing_good)
{
	const double zero[] = {0, 0};
	const uint8_t bad[] = {TACT_OUTCOME_TIMEOUT, TACT_OUTCOME_TIMEOUT}, odd[] = {0, 200};
	struct tact_pairs pairs = {.n = 2, .predicted = zero, .measured = zero, .outcomes = bad};
	struct tact_scores s;

	assert_int_equal(tact_scores_compute(&pairs, &s), 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.outcomes[TACT_OUTCOME_TIMEOUT], 2);
	assert_false(s.has_tau);
	pairs.outcomes = NULL; /* now zeros are measured */
	assert_int_equal(tact_scores_compute(&pairs, &s), -TACT_E_INVAL);
	pairs.outcomes = odd;
	assert_int_equal(tact_scores_compute(&pairs, &s), -TACT_E_INVAL);
	pairs.n = 0;
	assert_int_equal(tact_scores_compute(&pairs, &s), 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(tact_scores_compute(NULL, &s), -TACT_E_INVAL);
	assert_int_equal(tact_scores_compute(&pairs, NULL), -TACT_E_INVAL);
}

/* By definition: all pairs, each with the product of its weights. */
static double slow_tau(const double *x, const double *y, const double *w, size_t n)
{
	double agreeing = 0, x_pairs = 0, y_pairs = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++) {
			double s = (x[i] > x[k]) - (x[i] < x[k]), both = w ? w[i] * w[k] : 1;
			double t = (y[i] > y[k]) - (y[i] < y[k]);

			agreeing += s * t * both;
			x_pairs += s != 0 ? both : 0;
			y_pairs += t != 0 ? both : 0;
		}
	}
	return agreeing / sqrt(x_pairs * y_pairs);
}

TEST(tau_with_ties_and_weights)
{
	enum { N = 3000 };
	static double x[N], y[N], w[N];
	struct rng rng = {11};

	for (unsigned round = 0; round < 8; round++) {
		const unsigned values = (unsigned[]){2, 5, 20, 1000}[round % 4];
		size_t n = round < 4 ? N : 1 + rng_below(&rng, N);
		struct tact_pairs pairs = {.n = n, .predicted = x, .measured = y};
		struct tact_scores s;

		for (size_t i = 0; i < n; i++) {
			x[i] = 1 + rng_below(&rng, values);
			y[i] = 1 + rng_below(&rng, values) + (round % 2 ? x[i] : 0);
			w[i] = 0.25 + rng_below(&rng, 40);
		}
		assert_int_equal(tact_scores_compute(&pairs, &s), 0);
		assert_true(!s.has_tau || near(s.tau, slow_tau(x, y, NULL, n)));
		pairs.weights = w;
		assert_int_equal(tact_scores_compute(&pairs, &s), 0);
		assert_true(!s.has_tau || near(s.tau, slow_tau(x, y, w, n)));
	}
}

/* A weight of k is the same as k such rows; tau apart, where rows of the same kind would tie. */
TEST(weights_are_repetitions)
{
	const double measured[] = {2, 4, 8}, predicted[] = {3, 4, 6}, weights[] = {1, 3, 2};
	const double many_m[] = {2, 4, 4, 4, 8, 8}, many_p[] = {3, 4, 4, 4, 6, 6};
	const struct tact_pairs few = {
		.n = 3, .predicted = predicted, .measured = measured, .weights = weights};
	const struct tact_pairs many = {.n = 6, .predicted = many_p, .measured = many_m};
	struct tact_scores a, b;

	assert_int_equal(tact_scores_compute(&few, &a), 0);
	assert_int_equal(tact_scores_compute(&many, &b), 0);
	assert_true(near(a.weight, 6) && near(a.mape, b.mape) && near(a.bias, b.bias));
	assert_true(near(a.median, b.median) && near(a.within_5, b.within_5));
}

TEST(groups_are_alone)
{
	enum { N = 500, GROUPS = 7 };
	double x[N], y[N], gx[N], gy[N];
	uint32_t group[N];
	struct tact_pairs pairs = {.n = N, .predicted = x, .measured = y};
	struct tact_scores out[GROUPS], one;
	struct rng rng = {5};

	for (unsigned i = 0; i < N; i++) {
		x[i] = 1 + rng_below(&rng, 50);
		y[i] = 1 + rng_below(&rng, 50);
		group[i] = rng_below(&rng, GROUPS); /* the last one stays empty */
		group[i] = group[i] == GROUPS - 1 ? TACT_NO_GROUP : group[i];
	}
	assert_int_equal(tact_scores_by_group(&pairs, group, GROUPS, out), 0);
	assert_int_equal(out[GROUPS - 1].n, 0);
	for (unsigned g = 0; g < GROUPS - 1; g++) {
		struct tact_pairs alone = {.predicted = gx, .measured = gy};

		for (unsigned i = 0; i < N; i++) {
			if (group[i] != g)
				continue;
			gx[alone.n] = x[i];
			gy[alone.n++] = y[i];
		}
		assert_int_equal(tact_scores_compute(&alone, &one), 0);
		assert_memory_equal(&one, &out[g], sizeof(one));
	}
	group[3] = GROUPS;
	assert_int_equal(tact_scores_by_group(&pairs, group, GROUPS, out), -TACT_E_INVAL);
}

/* ---- pictures ---- */

TEST(pictures)
{
	const double measured[] = {1, 1, 1000, 0.001, 2}, predicted[] = {1, 1.1, 3000, 0, 0.2};
	const struct tact_pairs pairs = {.n = 5, .predicted = predicted, .measured = measured};
	static struct tact_heatmap map;
	struct tact_errors errors;
	const uint8_t from[] = {0, 1, 1, 9}, to[] = {1, 1, 0, 0};
	double flow[4], sum = 0;

	assert_int_equal(tact_heatmap_compute(&pairs, 0.5, 8, &map), 0);
	assert_true(near(map.count[TACT_HEAT_BINS - 1][TACT_HEAT_BINS - 1], 1)); /* clamped */
	assert_true(near(map.count[0][0], 1));
	assert_true(near(map.count[12][12], 1)); /* a quarter of four doublings */
	for (unsigned y = 0; y < TACT_HEAT_BINS; y++)
		for (unsigned x = 0; x < TACT_HEAT_BINS; x++)
			sum += map.count[y][x];
	assert_true(near(sum, 5));
	assert_int_equal(tact_heatmap_compute(&pairs, 0, 8, &map), -TACT_E_INVAL);
	assert_int_equal(tact_errors_compute(&pairs, &errors), 0);
	assert_true(near(errors.count[21], 1) && near(errors.count[23], 1));
	assert_true(near(errors.count[TACT_ERROR_BINS - 1], 1));	   /* +200% */
	assert_true(near(errors.count[1], 1) && near(errors.count[3], 1)); /* -100%, -90% */
	assert_int_equal(tact_flow_compute(from, to, NULL, 4, 2, flow), 0);
	assert_true(near(flow[1], 1) && near(flow[3], 1) && near(flow[2], 1) && near(flow[0], 0));
}

RUN_TESTS(NULL, NULL)

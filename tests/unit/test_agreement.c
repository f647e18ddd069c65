/* SPDX-License-Identifier: MIT
 *
 * Agreement of predictions with measurements, on numbers that are known.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <math.h>

#include <tact-program/evaluate.h>

#include "support.h"

static struct tact_agreement agree(const double *predicted, const double *measured, size_t n)
{
	struct tact_agreement a = {.size = sizeof(a)};

	assert_int_equal(tact_agreement_compute(predicted, measured, n, &a), 0);
	assert_int_equal(a.n, n);
	return a;
}

TEST(agreement_of_known_numbers)
{
	const double measured[] = {1, 2, 3, 4}, reversed[] = {4, 3, 2, 1}, same[] = {1, 1, 1, 1};
	const double ties[] = {1, 1, 2, 3}, zero[] = {0, 1, 2, 3};
	struct tact_agreement a;

	a = agree(measured, measured, 4);
	assert_true(a.mape == 0 && a.median == 0 && a.has_tau && fabs(a.tau - 1) < 1e-12);
	a = agree(reversed, measured, 4);
	/* 3, 1/2, 1/3, 3/4 */
	assert_true(fabs(a.mape - 55.0 / 48) < 1e-12 && fabs(a.median - 0.625) < 1e-12);
	assert_true(a.has_tau && fabs(a.tau + 1) < 1e-12);
	assert_false(agree(same, measured, 4).has_tau);
	assert_false(agree(measured, measured, 1).has_tau);
	/* 5 of 6 pairs agree, one is tied: 5 / sqrt(5 * 6) */
	a = agree(ties, measured, 4);
	assert_true(fabs(a.tau - 5 / sqrt(30)) < 1e-12);
	assert_int_equal(tact_agreement_compute(measured, zero, 4, &a), -TACT_E_INVAL);
	assert_int_equal(tact_agreement_compute(measured, measured, 0, &a), -TACT_E_INVAL);
	assert_int_equal(tact_agreement_compute(NULL, measured, 1, &a), -TACT_E_INVAL);
	assert_int_equal(tact_agreement_compute(measured, measured, 1, NULL), -TACT_E_INVAL);
}

/* The fast way to tau counts the same pairs as the slow one. */
TEST(tau_by_definition)
{
	enum { N = 200 };
	double x[N], y[N];
	struct rng rng = {3};

	for (unsigned round = 0; round < 20; round++) {
		double agreeing = 0, x_pairs = 0, y_pairs = 0;
		unsigned values = 2 + 10 * round;

		for (unsigned i = 0; i < N; i++) {
			x[i] = 1 + rng_below(&rng, values);
			y[i] = 1 + rng_below(&rng, values) + (round % 2 ? x[i] : 0);
		}
		for (unsigned i = 0; i < N; i++) {
			for (unsigned k = 0; k < i; k++) {
				double s = (x[i] > x[k]) - (x[i] < x[k]);
				double t = (y[i] > y[k]) - (y[i] < y[k]);

				agreeing += s * t;
				x_pairs += s != 0;
				y_pairs += t != 0;
			}
		}
		assert_true(fabs(agree(x, y, N).tau - agreeing / sqrt(x_pairs * y_pairs)) < 1e-9);
	}
}

RUN_TESTS(NULL, NULL)

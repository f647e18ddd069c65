/* SPDX-License-Identifier: MIT
 *
 * Sums of twice the precision of a double: whole numbers are exact up to 2^106.
 * T. J. Dekker, Numerische Mathematik 18 (1971), 224-242; D. E. Knuth, TAOCP 2, 4.2.2, theorem B.
 */
#ifndef EVALUATE_SUM_H
#define EVALUATE_SUM_H

#include <math.h>

struct sum {
	double high, low;
};

static inline void sum_add(struct sum *sum, double x)
{
	const double high = sum->high + x, part = high - sum->high;
	const double low = sum->low + ((sum->high - (high - part)) + (x - part));

	sum->high = high + low;
	sum->low = low - (sum->high - high);
}

/* Adds a product; fma gives what rounding takes from it. */
static inline void sum_add_product(struct sum *sum, double a, double b)
{
	const double product = a * b, rest = fma(a, b, -product);

	sum_add(sum, product);
	sum_add(sum, rest);
}

static inline void sum_add_sum(struct sum *sum, double factor, const struct sum *other)
{
	sum_add(sum, factor * other->high); /* factors are powers of two: exact */
	sum_add(sum, factor * other->low);
}

static inline double sum_value(const struct sum *sum)
{
	return sum->high + sum->low;
}

#endif /* EVALUATE_SUM_H */

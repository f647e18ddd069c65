/* SPDX-License-Identifier: MIT
 *
 * Sums without rounding: the same in any order, and of any parts.
 *
 * A double is a whole number of at most 53 bits times 2^-1074 times a power of two, so a number of
 * 2,200 bits holds every sum (U. Kulisch, W. L. Miranker: Computer Arithmetic in Theory and Practice,
 * 1981).
 */
#ifndef EVALUATE_EXACT_H
#define EVALUATE_EXACT_H

#include "base/base.h"
#include "base/text.h"

enum { EXACT_DIGITS = 70, EXACT_BITS = 32 };

/* All zeros is 0. */
struct exact {
	int64_t digit[EXACT_DIGITS]; /* of 32 bits, the lowest first; carries wait in the others */
	uint32_t n_waiting;	     /* additions since carries were made */
};

void exact_add(struct exact *sum, double x); /* finite */
void exact_add_exact(struct exact *sum, struct exact *other);
double exact_value(struct exact *sum);

/* Write it as text and read it: the same text for the same number.  exact_read returns whether it is
 * one.
 */
void exact_write(struct exact *sum, struct text *out);
bool exact_read(struct exact *sum, const char *text);

#endif /* EVALUATE_EXACT_H */

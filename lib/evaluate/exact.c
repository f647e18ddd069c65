/* SPDX-License-Identifier: MIT */
#include "evaluate/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/sum.h"

__extension__ typedef unsigned __int128 wide; /* a mantissa and its shift */

enum { LOWEST = -1074, MANTISSA = 53, MAX_WAITING = 1 << 29 };

/* Moves what exceeds a digit to the next one.  The last digit keeps the sign. */
static void carry(struct exact *sum)
{
	int64_t over = 0;

	for (unsigned i = 0; i + 1 < EXACT_DIGITS; i++) {
		int64_t digit = sum->digit[i] + over;

		over = digit >> EXACT_BITS;
		sum->digit[i] = digit & UINT32_MAX;
	}
	sum->digit[EXACT_DIGITS - 1] += over;
	sum->n_waiting = 0;
}

void exact_add(struct exact *sum, double x)
{
	int exponent;
	const double fraction = frexp(x, &exponent);
	int64_t mantissa = (int64_t)ldexp(fraction, MANTISSA);
	const int64_t sign = mantissa < 0 ? -1 : 1;
	wide shifted;
	unsigned at;

	exponent -= MANTISSA + LOWEST;
	if (exponent < 0) { /* subnormal: its lowest bits are zeros */
		mantissa >>= -exponent;
		exponent = 0;
	}
	at = (unsigned)exponent / EXACT_BITS;
	shifted = (wide)(uint64_t)(sign * mantissa) << (unsigned)exponent % EXACT_BITS;
	for (; shifted; shifted >>= EXACT_BITS)
		sum->digit[at++] += sign * (int64_t)(uint32_t)shifted;
	if (++sum->n_waiting >= MAX_WAITING)
		carry(sum);
}

void exact_add_exact(struct exact *sum, struct exact *other)
{
	carry(sum);
	carry(other);
	for (unsigned i = 0; i < EXACT_DIGITS; i++)
		sum->digit[i] += other->digit[i];
	carry(sum);
}

/* Makes a number with its sign apart.  Returns the sign. */
static int make_magnitude(const struct exact *sum, struct exact *to)
{
	int sign = 1;

	*to = *sum;
	carry(to);
	if (to->digit[EXACT_DIGITS - 1] < 0) {
		sign = -1;
		for (unsigned i = 0; i < EXACT_DIGITS; i++)
			to->digit[i] = -to->digit[i];
		carry(to);
	}
	return sign;
}

double exact_value(struct exact *sum)
{
	struct exact m;
	const int sign = make_magnitude(sum, &m);
	struct sum value = {0};

	for (unsigned i = EXACT_DIGITS; i-- > 0;)
		if (m.digit[i])
			sum_add(&value, ldexp((double)m.digit[i], (int)(EXACT_BITS * i) + LOWEST));
	return sign * sum_value(&value);
}

void exact_write(struct exact *sum, struct text *out)
{
	struct exact m;
	const int sign = make_magnitude(sum, &m);
	unsigned low = 0, high = EXACT_DIGITS;

	while (low < EXACT_DIGITS && !m.digit[low])
		low++;
	if (low == EXACT_DIGITS) {
		text_add(out, "0");
		return;
	}
	while (!m.digit[high - 1])
		high--;
	text_printf(out, "%s%u:", sign < 0 ? "-" : "", low);
	for (unsigned i = high; i-- > low;)
		text_printf(out, "%08llx", (unsigned long long)m.digit[i]);
}

bool exact_read(struct exact *sum, const char *text)
{
	enum { HEX = EXACT_BITS / 4 };
	const int64_t sign = *text == '-' ? -1 : 1;
	unsigned long low;
	size_t size, n;
	char *end;

	*sum = (struct exact){.n_waiting = 0};
	if (!strcmp(text, "0"))
		return true;
	text += sign < 0;
	if (*text < '0' || *text > '9')
		return false;
	low = strtoul(text, &end, 10);
	if (*end++ != ':')
		return false;
	size = strlen(end);
	n = size / HEX;
	if (!n || size % HEX || low >= EXACT_DIGITS || n > EXACT_DIGITS - low ||
	    strspn(end, "0123456789abcdef") != size)
		return false;
	for (size_t i = 0; i < n; i++) {
		char digits[HEX + 1];

		memcpy(digits, end + i * HEX, HEX);
		digits[HEX] = '\0';
		sum->digit[low + n - 1 - i] = sign * (int64_t)strtoul(digits, NULL, 16);
	}
	return true;
}

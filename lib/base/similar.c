/* SPDX-License-Identifier: MIT
 *
 * Distances of names: Damerau's, restricted to exchanges of neighbours that are not edited again.
 */
#include "base/similar.h"

#include <ctype.h>
#include <string.h>

#include "base/base.h"

enum { MOST_WRONG = 3 };

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static bool is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

unsigned similar_distance(const char *a, const char *b, unsigned limit)
{
	unsigned char rows[3][SIMILAR_LONGEST + 1];
	unsigned char *before = rows[0], *last = rows[1], *now = rows[2];
	const size_t n = strlen(a), m = strlen(b);

	if (n > SIMILAR_LONGEST || m > SIMILAR_LONGEST || (n > m ? n - m : m - n) > limit)
		return limit + 1;
	for (size_t k = 0; k <= m; k++)
		last[k] = (unsigned char)k;
	for (size_t i = 1; i <= n; i++) {
		unsigned char *next = before;
		unsigned least = now[0] = (unsigned char)i;

		for (size_t k = 1; k <= m; k++) {
			unsigned d = last[k - 1] + !is_same(a[i - 1], b[k - 1]);

			d = smaller(d, smaller(last[k], now[k - 1]) + 1u);
			if (i > 1 && k > 1 && is_same(a[i - 1], b[k - 2]) &&
			    is_same(a[i - 2], b[k - 1]))
				d = smaller(d, before[k - 2] + 1u);
			now[k] = (unsigned char)d;
			least = smaller(least, d);
		}
		if (least > limit)
			return limit + 1;
		before = last;
		last = now;
		now = next;
	}
	return last[m] <= limit ? last[m] : limit + 1;
}

struct similar similar_to(const char *wanted)
{
	const size_t third = strlen(wanted) / 3;
	const unsigned most = third < MOST_WRONG ? (unsigned)third : MOST_WRONG;

	return (struct similar){.wanted = wanted, .distance = most + 1};
}

void similar_offer(struct similar *s, const char *name)
{
	const unsigned d = similar_distance(s->wanted, name, s->distance - 1);

	if (d >= s->distance)
		return;
	s->distance = d;
	s->closest = name;
}

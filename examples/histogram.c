/* SPDX-License-Identifier: MIT
 *
 * The program of doc/tutorial-trace.md.  It counts how often each byte occurs in its input, in one
 * of three ways:
 *
 *   gcc -O2 -g -DVARIANT=1 -o histogram1 examples/histogram.c
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keeps a function from being inlined, so that it can be found by its name. */
#define KEPT __attribute__((noipa))

enum { SIZE = 1 << 20 };

#if VARIANT == 1 /* as it is */
KEPT static void histogram(const uint8_t *p, size_t n, uint32_t *counts)
{
	for (size_t i = 0; i < n; i++)
		counts[p[i]]++;
}
#elif VARIANT == 2 /* eight bytes with one load */
KEPT static void histogram(const uint8_t *p, size_t n, uint32_t *counts)
{
	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t x;

		memcpy(&x, p + i, 8);
		for (int k = 0; k < 8; k++, x >>= 8)
			counts[x & 255]++;
	}
}
#else		   /* four tables, so that equal neighbours do not meet */
KEPT static void histogram(const uint8_t *p, size_t n, uint32_t *counts)
{
	static uint32_t t[4][256];

	for (size_t i = 0; i + 4 <= n; i += 4) {
		t[0][p[i]]++;
		t[1][p[i + 1]]++;
		t[2][p[i + 2]]++;
		t[3][p[i + 3]]++;
	}
	for (int k = 0; k < 256; k++)
		counts[k] += t[0][k] + t[1][k] + t[2][k] + t[3][k];
}
#endif

int main(int argc, char **argv)
{
	const unsigned run = argc > 1 ? (unsigned)atoi(argv[1]) : 1; /* equal bytes in a row */
	uint8_t *p = malloc(SIZE);
	uint32_t counts[256] = {0}, state = 1, max = 0;

	if (!p || !run)
		return 1;
	for (size_t i = 0; i < SIZE; i++) {
		if (i % run == 0)
			state = state * 1664525u + 1013904223u;
		p[i] = (uint8_t)(state >> 24);
	}
	histogram(p, SIZE, counts);
	for (int k = 0; k < 256; k++)
		max = counts[k] > max ? counts[k] : max;
	printf("%u\n", max);
	free(p);
	return 0;
}

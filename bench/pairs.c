/* SPDX-License-Identifier: MIT
 *
 * Small programs for bench/trace_accuracy.py: pairs.c -DKERNEL=NAME, run with the number of rounds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements of a round, and of all data.  Rounds whose branches depend on data take other elements each
 * time: programs rarely meet the same random data again, and how much of a repeated pattern a CPU
 * learns by heart is a matter of its tables.
 */
enum { N = 4096, ALL_WORDS = 1 << 19, ALL_TEXT = 1 << 18 };

static uint32_t words[ALL_WORDS];
static unsigned char text[ALL_TEXT];
static double reals[N];

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void fill(void)
{
	uint32_t state = 1;

	for (int i = 0; i < ALL_WORDS; i++)
		words[i] = next(&state);
	for (int i = 0; i < ALL_TEXT; i++)
		text[i] = (unsigned char)("etaoin shrdlu\n\tcmfwyp"[next(&state) % 21]);
	for (int i = 0; i < N; i++)
		reals[i] = (double)next(&state) / 1e6;
}

/* Where the elements of this round begin, of n each. */
static unsigned piece(unsigned n, unsigned all)
{
	static unsigned at;

	at = (at + n) % all;
	return at;
}

/* Check sum by bits. */
uint64_t crc(void)
{
	uint32_t c = ~0u;

	for (int i = 0; i < N; i++) {
		c ^= text[i];
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (0xedb88320u & -(c & 1));
	}
	return c;
}

/* Dense product of small matrices. */
uint64_t matrix(void)
{
	enum { M = 24 };
	double product[M * M], sum = 0;

	for (int i = 0; i < M; i++)
		for (int j = 0; j < M; j++) {
			double x = 0;

			for (int k = 0; k < M; k++)
				x += reals[i * M + k] * reals[k * M + j];
			product[i * M + j] = x;
		}
	for (int i = 0; i < M * M; i++)
		sum += product[i];
	return (uint64_t)sum;
}

/* Words and lines. */
uint64_t count(void)
{
	const unsigned char *part = text + piece(N, ALL_TEXT);
	uint64_t n_words = 0, n_lines = 0;
	int in = 0;

	for (int i = 0; i < N; i++) {
		const unsigned char c = part[i];
		const int is_blank = c == ' ' || c == '\n' || c == '\t';

		n_lines += c == '\n';
		n_words += !in && !is_blank;
		in = !is_blank;
	}
	return n_words << 32 | n_lines;
}

/* A hash of each word, and their sum. */
uint64_t hash(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < N; i++) {
		uint32_t h = words[i];

		h ^= h >> 16;
		h *= 0x85ebca6b;
		h ^= h >> 13;
		h *= 0xc2b2ae35;
		h ^= h >> 16;
		sum += h;
	}
	return sum;
}

/* Differences, clamped: what image filters do. */
uint64_t filter(void)
{
	static unsigned char out[N];
	uint64_t sum = 0;

	for (int i = 1; i < N - 1; i++) {
		int x = 3 * text[i] - text[i - 1] - text[i + 1];

		x = x < 0 ? 0 : x > 255 ? 255 : x;
		out[i] = (unsigned char)x;
	}
	for (int i = 0; i < N; i++)
		sum += out[i];
	return sum;
}

/* Insertion sort of short runs. */
uint64_t sort(void)
{
	const uint32_t *part = words + piece(512, ALL_WORDS);
	uint64_t sum = 0;

	for (int at = 0; at + 16 <= 512; at += 16) {
		uint32_t run[16];

		memcpy(run, part + at, sizeof(run));
		for (int i = 1; i < 16; i++) {
			const uint32_t x = run[i];
			int k = i;

			for (; k > 0 && run[k - 1] > x; k--)
				run[k] = run[k - 1];
			run[k] = x;
		}
		sum += run[7];
	}
	return sum;
}

/* Horner's rule. */
uint64_t polynomial(void)
{
	double sum = 0;

	for (int i = 0; i < N; i++) {
		const double x = reals[i] * 1e-6;

		sum += ((((x * 0.3 + 1.1) * x - 0.7) * x + 2.2) * x - 1.3) * x + 0.1;
	}
	return (uint64_t)(sum * 1e6);
}

/* Greatest common divisors: the divider. */
uint64_t divide(void)
{
	const uint32_t *part = words + piece(512, ALL_WORDS);
	uint64_t sum = 0;

	for (int i = 0; i < 256; i++) {
		uint32_t a = part[i], b = part[i + 256] | 1;

		while (b) {
			const uint32_t r = a % b;

			a = b;
			b = r;
		}
		sum += a;
	}
	return sum;
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 1;
	uint64_t sum = 0;

	fill();
	for (long i = 0; i < rounds; i++) {
		sum += KERNEL();
		__asm__ volatile("" : : : "memory"); /* refilled in every round */
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}

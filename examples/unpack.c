/* SPDX-License-Identifier: MIT
 *
 * Unpacks a block in LZ4's format, again and again: the program of doc/tutorial-patch.md.
 *
 *   aarch64-linux-gnu-gcc -O2 -g -DFIX=0 -o unpack0 unpack.c && tact trace -a neoverse-n1 -- ./unpack0
 *
 * A damaged block makes FIX=0 write past the end of the buffer.  FIX=1 looks at every byte, FIX=2 at
 * every copy.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef FIX
#define FIX 0
#endif

enum { ROOM = 1 << 16, SEQUENCES = 1500 };

/* A length of 15 or more goes on in bytes. */
static size_t length(const uint8_t **in, const uint8_t *end, size_t n)
{
	if (n == 15)
		while (*in < end) {
			const unsigned more = *(*in)++;

			n += more;
			if (more != 255)
				break;
		}
	return n;
}

/* Returns the size of what was packed; 0: the block is damaged. */
__attribute__((noinline, noclone)) size_t unpack(uint8_t *to, size_t room, const uint8_t *in,
						 size_t size)
{
	const uint8_t *end = in + size, *limit = to + room;
	uint8_t *out = to;

	while (in < end) {
		const unsigned token = *in++;
		size_t n = length(&in, end, token >> 4), distance;

#if FIX == 2
		if (n > (size_t)(end - in) || n > (size_t)(limit - out))
			return 0;
#endif
		for (; n; n--) {
#if FIX == 1
			if (in == end || out == limit)
				return 0;
#endif
			*out++ = *in++;
		}
		if (end - in < 2)
			break;
		distance = in[0] | (size_t)in[1] << 8;
		in += 2;
		n = length(&in, end, token & 15) + 4;
#if FIX
		if (!distance || distance > (size_t)(out - to))
			return 0;
#endif
#if FIX == 2
		if (n > (size_t)(limit - out))
			return 0;
#endif
		for (; n; n--) {
#if FIX == 1
			if (out == limit)
				return 0;
#endif
			*out = *(out - distance);
			out++;
		}
	}
	(void)limit;
	return (size_t)(out - to);
}

/* A block of the kind that text packs to: short runs of new bytes, longer ones that came before. */
static size_t pack(uint8_t *to)
{
	uint8_t *out = to;
	uint32_t state = 1, written = 0;

	for (int i = 0; i < SEQUENCES; i++) {
		const uint32_t x = state = state * 1664525u + 1013904223u;
		const uint32_t literals = 3 + (x >> 28) % 6, matched = 4 + (x >> 24 & 15) % 12;
		const uint32_t distance = 1 + (x >> 8) % (written + literals);

		*out++ = (uint8_t)(literals << 4 | (matched - 4));
		for (uint32_t k = 0; k < literals; k++)
			*out++ = (uint8_t)("etaoin shrdlu\ncmf"[(x >> k) & 15]);
		*out++ = (uint8_t)distance;
		*out++ = (uint8_t)(distance >> 8);
		written += literals + matched;
	}
	return (size_t)(out - to);
}

int main(int argc, char **argv)
{
	static uint8_t packed[ROOM], unpacked[ROOM];
	const int rounds = argc > 1 ? atoi(argv[1]) : 20;
	const size_t size = pack(packed);
	size_t n = 0;
	uint32_t sum = 0;

	for (int i = 0; i < rounds; i++)
		n = unpack(unpacked, sizeof(unpacked), packed, size);
	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + unpacked[i];
	printf("%zu bytes, %08x\n", n, sum);
	return !n;
}

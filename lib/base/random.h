/* SPDX-License-Identifier: MIT
 *
 * Random numbers that are the same everywhere: SplitMix64 (Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", 2014).  Every seed is a good one, even 0.
 */
#ifndef TACT_BASE_RANDOM_H
#define TACT_BASE_RANDOM_H

#include <stdint.h>

/* The initial state is the seed. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* From 0 up to, not including, n: the high half of a product is fair enough for n up to 2^32. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
	return (random_next(state) >> 32) * n >> 32;
}

/* From low up to and including high. */
static inline int random_in(uint64_t *state, int low, int high)
{
	return low + (int)random_below(state, (uint64_t)((int64_t)high - low + 1));
}

/* At least 0, below 1. */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}

#endif /* TACT_BASE_RANDOM_H */

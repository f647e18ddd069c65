/* SPDX-License-Identifier: MIT
 *
 * What every target shares.  A target is one file with LLVMFuzzerTestOneInput, which aborts where
 * something does not hold that must; it may have a mutator of its own for inputs with a structure.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Changes data in place, to at most max_size bytes.  Returns the new size. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* The mutations of libFuzzer, or of our own driver, for bytes without a structure. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* Deterministic: xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled", 2016).  The state is never 0.
 */
static inline uint64_t fuzz_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

/* Returns a number below limit; 0 if that is 0. */
static inline size_t fuzz_pick(uint64_t *state, size_t limit)
{
	return limit ? (size_t)((fuzz_random(state) >> 16) % limit) : 0;
}

#endif /* FUZZ_H */

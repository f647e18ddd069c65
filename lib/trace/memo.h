/* SPDX-License-Identifier: MIT
 *
 * What a block took after another one: a table of means.
 */
#ifndef TRACE_MEMO_H
#define TRACE_MEMO_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum { MEMO_LINE = 4 }; /* entries of a cache line */

struct memo_entry {
	uint64_t key; /* 0: free */
	float mean;   /* cycles */
	uint32_t n;   /* samples */
};

struct memo {
	struct memo_entry *entries; /* owned */
	size_t mask, n;
	uint32_t version; /* changes with every sample; never 0 */
};

/* Returns 0 or -TACT_E_NOMEM. */
int memo_init(struct memo *memo);
void memo_fini(struct memo *memo);

/* Returns the entry of a key, or NULL.  It is valid until the next call of memo_add. */
const struct memo_entry *memo_find(const struct memo *memo, uint64_t key);

/* Returns the first entry of the line that a key belongs to. */
static inline size_t memo_line(uint64_t key, size_t mask)
{
	return (size_t)(key >> 20) & mask & ~(size_t)(MEMO_LINE - 1);
}

/* A key will be looked for soon: its entry is fetched. */
static inline void memo_expect(const struct memo *memo, uint64_t key)
{
	tact_fetch(&memo->entries[memo_line(key, memo->mask)]);
}

/* Adds a sample.  Without memory for a new key, other keys are forgotten. */
void memo_add(struct memo *memo, uint64_t key, float cycles);

#endif /* TRACE_MEMO_H */

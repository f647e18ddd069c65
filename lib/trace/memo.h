/* SPDX-License-Identifier: MIT
 *
 * What a block took, in the context of those before it: a table of means.
 */
#ifndef TRACE_MEMO_H
#define TRACE_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMO_MOST_SAMPLES = 256 /* that count for a mean */ };

struct memo_entry {
	uint64_t key; /* 0: free */
	float mean,
		squares; /* of the cycles: mean, and sum of squared differences from it (Welford) */
	uint32_t n;
};

struct memo {
	struct memo_entry *entries; /* owned */
	size_t mask, n;
};

/* Returns 0 or -TACT_E_NOMEM. */
int memo_init(struct memo *memo);
void memo_fini(struct memo *memo);

/* The entry of a key, new and with n = 0 if there was none.  Pointers hold until the next call. */
struct memo_entry *memo_find(struct memo *memo, uint64_t key);

void memo_add(struct memo_entry *entry, double cycles);

/* Whether the mean can stand for the pipeline. */
static inline bool memo_is_known(const struct memo_entry *e)
{
	enum { LEAST = 4 };
	/* Standard error of the mean: at most 4% of it, and of a cycle where it is less. */
	const float share = 0.04f;
	float limit = share * (e->mean > 1 ? e->mean : 1);
	float counted = (float)(e->n < MEMO_MOST_SAMPLES ? e->n : MEMO_MOST_SAMPLES);

	return e->n >= LEAST && e->squares <= limit * limit * (float)e->n * (counted - 1);
}

#endif /* TRACE_MEMO_H */

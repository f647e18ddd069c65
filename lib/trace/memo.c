/* SPDX-License-Identifier: MIT
 *
 * What a block took, in the context of those before it: a table of means.  It grows up to a limit;
 * beyond that, contexts that were seen once make room.
 */
#include "trace/memo.h"

#include <stdlib.h>

#include <tact/status.h>

enum { FIRST_ENTRIES = 1 << 14, MOST_ENTRIES = 1 << 19 /* 12 MiB */ };

int memo_init(struct memo *memo)
{
	memo->mask = FIRST_ENTRIES - 1;
	memo->n = 0;
	memo->entries = calloc(FIRST_ENTRIES, sizeof(*memo->entries));
	return memo->entries ? 0 : -TACT_E_NOMEM;
}

void memo_fini(struct memo *memo)
{
	free(memo->entries);
}

static struct memo_entry *place_of(struct memo_entry *entries, size_t mask, uint64_t key)
{
	size_t at = (size_t)(key >> 20) & mask;

	while (entries[at].key && entries[at].key != key)
		at = (at + 1) & mask;
	return &entries[at];
}

/* Into a larger table, or without those that were seen once.  Without memory it stays as it is. */
static void make_room(struct memo *memo)
{
	size_t size = memo->mask + 1, n = 0;
	bool full = size >= MOST_ENTRIES;
	struct memo_entry *entries = calloc(full ? size : 2 * size, sizeof(*entries));

	if (!entries)
		return;
	if (!full)
		size *= 2;
	for (size_t i = 0; i <= memo->mask; i++) {
		const struct memo_entry *e = &memo->entries[i];

		if (!e->key || (full && e->n < 2))
			continue;
		*place_of(entries, size - 1, e->key) = *e;
		n++;
	}
	/* All of them were seen more often: then none is worth more than another. */
	if (full && n > size / 2) {
		for (size_t i = 0; i < size; i++)
			entries[i] = (struct memo_entry){.key = 0};
		n = 0;
	}
	free(memo->entries);
	memo->entries = entries;
	memo->mask = size - 1;
	memo->n = n;
}

struct memo_entry *memo_find(struct memo *memo, uint64_t key)
{
	struct memo_entry *e;

	key |= 1; /* 0 is a free one */
	e = place_of(memo->entries, memo->mask, key);
	if (e->key)
		return e;
	if (memo->n >= memo->mask / 4 * 3) {
		make_room(memo);
		if (memo->n >= memo->mask - memo->mask / 8) { /* no memory: forget all */
			for (size_t i = 0; i <= memo->mask; i++)
				memo->entries[i].key = 0;
			memo->n = 0;
		}
		e = place_of(memo->entries, memo->mask, key);
	}
	*e = (struct memo_entry){.key = key};
	memo->n++;
	return e;
}

void memo_add(struct memo_entry *e, double cycles)
{
	float before = (float)cycles - e->mean, weight;

	/* Beyond so many the old ones fade, so that the mean follows the program. */
	if (e->n >= MEMO_MOST_SAMPLES)
		e->squares -= e->squares / MEMO_MOST_SAMPLES;
	e->n += e->n < UINT32_MAX;
	weight = (float)(e->n < MEMO_MOST_SAMPLES ? e->n : MEMO_MOST_SAMPLES);
	e->mean += before / weight;
	e->squares += before * ((float)cycles - e->mean);
}

/* SPDX-License-Identifier: MIT
 *
 * What a block took after another one: a table of means.  It grows up to a limit; beyond that, keys
 * that were seen only once make room.
 */
#include "trace/memo.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <tact/status.h>

#include "base/base.h"

enum {
	FIRST_ENTRIES = 1 << 14,
	MOST_ENTRIES = 1 << 20, /* 16 MiB */
	MOST_SAMPLES = 256	/* that a mean is made of: beyond that, old samples fade, so that it
				   follows the program */
};

int memo_init(struct memo *memo)
{
	memo->mask = FIRST_ENTRIES - 1;
	memo->n = 0;
	memo->version = 1;
	memo->entries = tact_table_create(FIRST_ENTRIES, sizeof(*memo->entries));
	return memo->entries ? 0 : -TACT_E_NOMEM;
}

void memo_fini(struct memo *memo)
{
	tact_table_destroy(memo->entries, memo->mask + 1, sizeof(*memo->entries));
}

/* Returns the entry of a key, or the free one that it belongs to.  The entries of a cache line are
 * compared at once: which of them it is cannot be predicted.
 */
static struct memo_entry *place_of(struct memo_entry *entries, size_t mask, uint64_t key)
{
	for (size_t at = memo_line(key, mask);; at = (at + MEMO_LINE) & mask) {
		struct memo_entry *line = &entries[at];
		unsigned found = 0;

		for (unsigned i = 0; i < MEMO_LINE; i++)
			found |= (unsigned)((line[i].key == key) | !line[i].key) << i;
		if (found)
			return line + __builtin_ctz(found);
	}
}

static void forget_all(struct memo *memo)
{
	memset(memo->entries, 0, (memo->mask + 1) * sizeof(*memo->entries));
	memo->n = 0;
}

/* Moves the entries to a larger table, or drops those that were seen once. */
static void make_room(struct memo *memo)
{
	size_t size = memo->mask + 1, n = 0;
	bool full = size >= MOST_ENTRIES;
	struct memo_entry *entries = tact_table_create(full ? size : 2 * size, sizeof(*entries));

	if (!entries) {
		forget_all(memo);
		return;
	}
	if (!full)
		size *= 2;
	for (size_t i = 0; i <= memo->mask; i++) {
		const struct memo_entry *e = &memo->entries[i];

		if (!e->key || (full && e->n < 2))
			continue;
		*place_of(entries, size - 1, e->key) = *e;
		n++;
	}
	tact_table_destroy(memo->entries, memo->mask + 1, sizeof(*memo->entries));
	memo->entries = entries;
	memo->mask = size - 1;
	memo->n = n;
	/* All were seen more often: no entry is worth more than another. */
	if (full && n > size / 2)
		forget_all(memo);
}

const struct memo_entry *memo_find(const struct memo *memo, uint64_t key)
{
	const struct memo_entry *e = place_of(memo->entries, memo->mask, key | 1);

	return e->key ? e : NULL;
}

void memo_add(struct memo *memo, uint64_t key, float cycles)
{
	struct memo_entry *e;

	memo->version += 1 + (memo->version == UINT32_MAX);
	key |= 1; /* 0 marks a free one */
	e = place_of(memo->entries, memo->mask, key);
	if (!e->key) {
		if (memo->n >= memo->mask / 4 * 3) {
			make_room(memo);
			e = place_of(memo->entries, memo->mask, key);
		}
		*e = (struct memo_entry){.key = key};
		memo->n++;
	}
	e->n += e->n < UINT32_MAX;
	e->mean += (cycles - e->mean) / (float)(e->n < MOST_SAMPLES ? e->n : MOST_SAMPLES);
}

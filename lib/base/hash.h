/* SPDX-License-Identifier: MIT
 *
 * A hash table of numbers: it finds entries of an array that belongs to the caller, who computes
 * the hashes and compares.  Open addressing, at most half full; single entries are never removed.
 *
 *	size_t at = 0;
 *	uint32_t i;
 *
 *	while ((i = hash_next(&index, hash, &at)) != HASH_NONE)
 *		if (is_same(&array[i], wanted))
 *			return i;
 *	...append an entry to the array...
 *	hash_add(&index, hash, n - 1);
 *
 * To walk over all entries, walk over the array: that order does not depend on hashes.
 */
#ifndef TACT_BASE_HASH_H
#define TACT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_NONE UINT32_MAX

struct hash_slot {
	uint32_t hash;
	uint32_t entry; /* plus one; 0: the slot is free */
};

/* All zeros is an empty table. */
struct hash {
	struct hash_slot *slots; /* owned */
	size_t n_slots;		 /* a power of two, or 0 */
	size_t n;
};

/* Chooses the 32 bits of a hash that are kept: good hashes are good everywhere, products in the
 * upper half.
 */
static inline uint32_t hash_fold(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

/* Returns the next entry that was added with this hash or, rarely, with another one that looks the
 * same; HASH_NONE after the last one.  *at is 0 at the beginning.
 */
static inline uint32_t hash_next(const struct hash *table, uint64_t hash, size_t *at)
{
	const uint32_t wanted = hash_fold(hash);

	if (!table->n_slots)
		return HASH_NONE;
	for (;;) {
		const struct hash_slot *slot =
			&table->slots[(wanted + (*at)++) & (table->n_slots - 1)];

		if (!slot->entry)
			return HASH_NONE;
		if (slot->hash == wanted)
			return slot->entry - 1;
	}
}

/* Adds an entry, below HASH_NONE.  Returns 0, or -TACT_E_NOMEM with the table unchanged. */
int hash_add(struct hash *table, uint64_t hash, uint32_t entry);

/* Makes room, so that additions up to n entries in total cannot fail.  Returns 0 or -TACT_E_NOMEM.
 */
int hash_reserve(struct hash *table, size_t n);

void hash_free(struct hash *table);

/* Hashes.  That of a number is a multiplication, which is enough for addresses and counters. */
/* for tables, not for secrets */
uint64_t hash_bytes(const void *data, size_t size);
uint64_t hash_string(const char *string);
static inline uint64_t hash_number(uint64_t number)
{
	/* 2^64 divided by the golden ratio, as in hash_bytes. */
	return number * 0x9e3779b97f4a7c15u;
}

#endif /* TACT_BASE_HASH_H */

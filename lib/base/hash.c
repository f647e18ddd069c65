/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include <tact/status.h>

enum { FIRST_SLOTS = 64 };

static void insert(struct hash *table, struct hash_slot slot)
{
	size_t at = slot.hash;

	while (table->slots[at & (table->n_slots - 1)].entry)
		at++;
	table->slots[at & (table->n_slots - 1)] = slot;
}

int hash_reserve(struct hash *table, size_t n)
{
	struct hash larger = {.n_slots = table->n_slots ? table->n_slots : FIRST_SLOTS,
			      .n = table->n};

	if (n <= table->n_slots / 2)
		return 0;
	if (n > UINT32_MAX) /* more than there can be entries */
		return -TACT_E_NOMEM;
	while (n > larger.n_slots / 2) {
		if (larger.n_slots > SIZE_MAX / 2 / sizeof(*larger.slots))
			return -TACT_E_NOMEM;
		larger.n_slots *= 2;
	}
	larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < table->n_slots; i++)
		if (table->slots[i].entry)
			insert(&larger, table->slots[i]);
	free(table->slots);
	*table = larger;
	return 0;
}

int hash_add(struct hash *table, uint64_t hash, uint32_t entry)
{
	int status = hash_reserve(table, table->n + 1);

	if (status < 0)
		return status;
	insert(table, (struct hash_slot){hash_fold(hash), entry + 1});
	table->n++;
	return 0;
}

void hash_free(struct hash *table)
{
	free(table->slots);
	*table = (struct hash){0};
}

uint64_t hash_bytes(const void *data, size_t size)
{
	/* Multiply and fold eight bytes at a time; the multiplier is 2^64 divided by the golden
	 * ratio (Knuth, The Art of Computer Programming, vol. 3, 6.4).
	 */
	const uint64_t multiplier = 0x9e3779b97f4a7c15u;
	const uint8_t *p = data;
	uint64_t hash = size * multiplier, word;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		hash = (hash ^ word) * multiplier;
		hash ^= hash >> 32;
	}
	if (size) {
		word = 0;
		memcpy(&word, p, size);
		hash = (hash ^ word) * multiplier;
		hash ^= hash >> 32;
	}
	return hash;
}

uint64_t hash_string(const char *string)
{
	return hash_bytes(string, strlen(string));
}

/* SPDX-License-Identifier: MIT
 *
 * Sets of blocks, by their bytes.
 */
#include <stdlib.h>
#include <string.h>

#include <tact-program/lint.h>

#include "base/base.h"
#include "base/hash.h"

struct entry {
	size_t at, size;
};

struct tact_block_set {
	uint8_t *data; /* owned: all codes, one after the other */
	size_t size, capacity;
	struct entry *entries; /* owned */
	size_t n, entry_capacity;
	struct hash index;
};

int tact_block_set_create(struct tact_block_set **out)
{
	return tact_new(out, sizeof(**out), out, "no place for the result", NULL);
}

void tact_block_set_destroy(struct tact_block_set *set)
{
	if (!set)
		return;
	FREE_ALL(set->data, set->entries);
	hash_free(&set->index);
	free(set);
}

static bool has(const struct tact_block_set *set, uint64_t hash, const uint8_t *code, size_t size)
{
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&set->index, hash, &at)) != HASH_NONE)
		if (set->entries[i].size == size &&
		    !memcmp(set->data + set->entries[i].at, code, size))
			return true;
	return false;
}

int tact_block_set_add(struct tact_block_set *set, const uint8_t *code, size_t size)
{
	uint64_t hash;

	if (!set || !code || !size)
		return -TACT_E_INVAL;
	hash = hash_bytes(code, size);
	if (has(set, hash, code, size))
		return 0;
	if (tact_grow(&set->data, &set->capacity, set->size + size, 1) < 0 ||
	    tact_grow(&set->entries, &set->entry_capacity, set->n + 1, sizeof(*set->entries)) < 0 ||
	    hash_add(&set->index, hash, (uint32_t)set->n) < 0)
		return -TACT_E_NOMEM;
	memcpy(set->data + set->size, code, size);
	set->entries[set->n++] = (struct entry){set->size, size};
	set->size += size;
	return 1;
}

bool tact_block_set_has(const struct tact_block_set *set, const uint8_t *code, size_t size)
{
	return set && set->n && has(set, hash_bytes(code, size), code, size);
}

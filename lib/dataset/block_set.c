/* SPDX-License-Identifier: MIT
 *
 * Sets of blocks, by their bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "dataset/lint.h"

struct entry {
	uint64_t hash;
	size_t at, size; /* size 0: a free slot */
};

struct tact_block_set {
	uint8_t *data; /* owned: all codes, one behind the other */
	size_t size, capacity;
	struct entry *slots; /* owned */
	size_t n, n_slots;   /* n_slots: a power of two */
};

/* Multiplies and folds; the multiplier is 2^64 divided by the golden ratio (Knuth, The Art of
 * Computer Programming, vol. 3, 6.4).
 */
uint64_t lint_hash(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++) {
		hash = (hash ^ p[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

int tact_block_set_create(struct tact_block_set **out)
{
	if (!out)
		return -TACT_E_INVAL;
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -TACT_E_NOMEM;
}

void tact_block_set_destroy(struct tact_block_set *set)
{
	if (!set)
		return;
	free(set->data);
	free(set->slots);
	free(set);
}

static struct entry *find_slot(const struct tact_block_set *set, uint64_t hash, const uint8_t *code,
			       size_t size)
{
	size_t i = hash & (set->n_slots - 1);

	while (set->slots[i].size && (set->slots[i].hash != hash || set->slots[i].size != size ||
				      memcmp(set->data + set->slots[i].at, code, size) != 0))
		i = (i + 1) & (set->n_slots - 1);
	return &set->slots[i];
}

static int grow_slots(struct tact_block_set *set)
{
	struct entry *old = set->slots;
	size_t n_old = set->n_slots, n = n_old ? 2 * n_old : 1024;
	struct entry *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -TACT_E_NOMEM;
	set->slots = slots;
	set->n_slots = n;
	for (size_t i = 0; i < n_old; i++)
		if (old[i].size)
			*find_slot(set, old[i].hash, set->data + old[i].at, old[i].size) = old[i];
	free(old);
	return 0;
}

int tact_block_set_add(struct tact_block_set *set, const uint8_t *code, size_t size)
{
	struct entry *slot;
	uint64_t hash;

	if (!set || !code || !size)
		return -TACT_E_INVAL;
	if (2 * set->n >= set->n_slots && grow_slots(set) < 0)
		return -TACT_E_NOMEM;
	hash = lint_hash(size, code, size);
	slot = find_slot(set, hash, code, size);
	if (slot->size)
		return 0;
	if (tact_grow(&set->data, &set->capacity, set->size + size, 1) < 0)
		return -TACT_E_NOMEM;
	memcpy(set->data + set->size, code, size);
	*slot = (struct entry){hash, set->size, size};
	set->size += size;
	set->n++;
	return 1;
}

bool tact_block_set_has(const struct tact_block_set *set, const uint8_t *code, size_t size)
{
	return set && set->n && find_slot(set, lint_hash(size, code, size), code, size)->size;
}

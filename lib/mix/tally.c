/* SPDX-License-Identifier: MIT
 *
 * Counters by address: an open hash table.  Its size depends on the code that ran, not on the
 * length of the run.
 */
#include <stdlib.h>
#include <string.h>

#include "mix/mix.h"

static size_t hash(const struct mix_tally_key *k)
{
	uint64_t h =
		k->a * 0x9e3779b97f4a7c15u ^ (k->b + k->thread) * 0xc2b2ae3d27d4eb4fu ^ k->epoch;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	return (size_t)(h >> 24);
}

static bool is_same(const struct mix_tally_key *x, const struct mix_tally_key *y)
{
	return x->a == y->a && x->b == y->b && x->epoch == y->epoch && x->thread == y->thread;
}

static struct mix_tally_entry *find(const struct mix_tally *t, const struct mix_tally_key *key)
{
	for (size_t i = hash(key);; i++) {
		struct mix_tally_entry *e = &t->slots[i & (t->capacity - 1)];

		if (!e->hits || is_same(&e->key, key))
			return e;
	}
}

static int grow(struct mix_tally *t)
{
	struct mix_tally bigger = {.n = t->n, .capacity = t->capacity ? 2 * t->capacity : 1024};

	bigger.slots = calloc(bigger.capacity, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < t->capacity; i++)
		if (t->slots[i].hits)
			*find(&bigger, &t->slots[i].key) = t->slots[i];
	free(t->slots);
	*t = bigger;
	return 0;
}

struct mix_tally_entry *mix_tally_at(struct mix_tally *t, const struct mix_tally_key *key)
{
	struct mix_tally_entry *e;

	if (2 * (t->n + 1) > t->capacity && grow(t))
		return NULL;
	e = find(t, key);
	if (!e->hits) {
		e->key = *key;
		t->n++;
	}
	/* It wraps only in a recording of terabytes; 0 would mean that the slot is free. */
	if (e->hits < UINT32_MAX)
		e->hits++;
	return e;
}

void mix_tally_fini(struct mix_tally *t)
{
	free(t->slots);
	*t = (struct mix_tally){0};
}

/* SPDX-License-Identifier: MIT
 *
 * Which store wrote a byte of memory last, by symbolic address.
 */
#include "block/stores.h"

#include <stdlib.h>
#include <string.h>

#include <tact/status.h>

#include "base/base.h"

struct store_slot {
	struct address granule;	       /* its offset in granules */
	uint32_t generation;	       /* block that filled the slot */
	uint32_t store[STORE_GRANULE]; /* of each byte, from 1; 0: none */
};

int stores_reserve(struct block_stores *s, size_t n, size_t n_granules)
{
	size_t before = s->slot_capacity;

	for (s->n_slots = 8; s->n_slots < 2 * n_granules;)
		s->n_slots *= 2;
	if (tact_grow(&s->list, &s->capacity, n, sizeof(*s->list)) < 0 ||
	    tact_grow(&s->slots, &s->slot_capacity, s->n_slots, sizeof(*s->slots)) < 0)
		return -TACT_E_NOMEM;
	if (before != s->slot_capacity) {
		memset(s->slots, 0, s->slot_capacity * sizeof(*s->slots));
		s->generation = 0;
	}
	return 0;
}

/* Slots of other blocks are free: they carry another generation.  The number wraps around only
 * after four billion blocks.
 */
void stores_clear(struct block_stores *s)
{
	s->n = 0;
	if (++s->generation)
		return;
	memset(s->slots, 0, s->slot_capacity * sizeof(*s->slots));
	s->generation = 1;
}

void stores_fini(struct block_stores *s)
{
	FREE_ALL(s->list, s->slots);
}

/* Returns the slot of this granule, or the free one where it belongs. */
static struct store_slot *find_slot(const struct block_stores *s, const struct address *granule)
{
	uint64_t h = ((uint64_t)granule->base << 32 | granule->index) * 0x9e3779b97f4a7c15u;
	size_t at;

	h = (h ^ granule->offset ^ granule->scale) * 0xff51afd7ed558ccdu;
	for (at = (size_t)(h >> 32) & (s->n_slots - 1);; at = (at + 1) & (s->n_slots - 1)) {
		struct store_slot *slot = &s->slots[at];

		if (slot->generation != s->generation || address_equal(&slot->granule, granule))
			return slot;
	}
}

/* The part of an access that lies in one granule; the next call continues after it. */
struct part {
	struct address granule;
	unsigned begin, end; /* bytes of the granule */
};

static unsigned next_part(struct part *part, const struct address *address, unsigned done,
			  unsigned bytes)
{
	uint64_t offset = address->offset + done;
	unsigned n;

	part->granule = *address;
	part->granule.offset = offset / STORE_GRANULE;
	part->begin = (unsigned)(offset % STORE_GRANULE);
	n = STORE_GRANULE - part->begin < bytes - done ? STORE_GRANULE - part->begin : bytes - done;
	part->end = part->begin + n;
	return n;
}

void stores_put(struct block_stores *s, const struct block_store *store)
{
	struct part part;

	s->list[s->n++] = *store;
	for (unsigned done = 0; done < store->bytes;) {
		struct store_slot *slot;

		done += next_part(&part, &store->address, done, store->bytes);
		slot = find_slot(s, &part.granule);
		if (slot->generation != s->generation)
			*slot = (struct store_slot){.granule = part.granule,
						    .generation = s->generation};
		for (unsigned b = part.begin; b < part.end; b++)
			slot->store[b] = (uint32_t)s->n;
	}
}

const struct block_store *stores_find(const struct block_stores *s, const struct address *address,
				      unsigned bytes, enum store_share *share)
{
	uint32_t youngest = 0, oldest = UINT32_MAX, eldest = UINT32_MAX; /* also 0; not 0 */
	struct part part;

	for (unsigned done = 0; done < bytes;) {
		const struct store_slot *slot;

		done += next_part(&part, address, done, bytes);
		slot = find_slot(s, &part.granule);
		for (unsigned b = part.begin; b < part.end; b++) {
			uint32_t store = slot->generation == s->generation ? slot->store[b] : 0;

			if (store > youngest)
				youngest = store;
			if (store < oldest)
				oldest = store;
			if (store && store < eldest)
				eldest = store;
		}
	}
	*share = youngest == oldest ? STORE_WHOLE : youngest == eldest ? STORE_ALONE : STORE_MIXED;
	return youngest ? &s->list[youngest - 1] : NULL;
}

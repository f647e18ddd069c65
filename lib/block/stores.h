/* SPDX-License-Identifier: MIT
 *
 * Which store wrote a byte of memory last, by symbolic address.
 */
#ifndef TACT_BLOCK_STORES_H
#define TACT_BLOCK_STORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value known up to a constant: that of register or event `base` plus `offset`.  Constants are
 * added modulo 2^64, as the CPU does.
 */
struct symbol {
	uint32_t base;
	uint64_t offset;
};

struct address {
	uint32_t base, index;
	uint8_t scale, segment;
	uint64_t offset;
};

static inline bool address_equal(const struct address *a, const struct address *b)
{
	return a->offset == b->offset && a->base == b->base && a->index == b->index &&
	       a->scale == b->scale && a->segment == b->segment;
}

enum { STORE_MAX_BYTES = 64, STORE_GRANULE = 8 };

struct block_store {
	struct address address;
	struct symbol value; /* of all its bytes */
	uint32_t insn;
	uint8_t bytes;	    /* 1 to STORE_MAX_BYTES */
	uint8_t line_bytes; /* of a cache line; 0: not known, or more than a line */
	uint8_t output;
	uint8_t pass; /* iteration that stored it, from 1 */
};

/* A hash table of granules, which names the store of each byte. */
struct block_stores {
	struct block_store *list; /* owned; in order of time */
	size_t n, capacity;
	struct store_slot *slots; /* owned */
	size_t n_slots, slot_capacity;
	uint32_t generation; /* marks the slots that belong to the present block */
};

/* Makes room for n stores that together touch at most n_granules.  Returns 0 or -TACT_E_NOMEM. */
int stores_reserve(struct block_stores *s, size_t n, size_t n_granules);
void stores_clear(struct block_stores *s);
void stores_fini(struct block_stores *s);

/* Returns the number of granules that an access may touch, wherever it begins. */
static inline size_t stores_granules(unsigned bytes)
{
	return (bytes + STORE_GRANULE - 1) / STORE_GRANULE + 1;
}

void stores_put(struct block_stores *s, const struct block_store *store);

/* How much of what is loaded comes from the youngest store. */
enum store_share {
	STORE_WHOLE, /* everything */
	STORE_ALONE, /* some bytes; no store wrote the others */
	STORE_MIXED  /* some bytes; older stores wrote others */
};

/* Returns the youngest store that wrote any of these bytes, or NULL. */
const struct block_store *stores_find(const struct block_stores *s, const struct address *address,
				      unsigned bytes, enum store_share *share);

#endif /* TACT_BLOCK_STORES_H */

/* SPDX-License-Identifier: MIT
 *
 * Remembers decoded instructions.  Real code repeats its encodings, above all when the constants
 * (displacement and immediate) are left aside: those are taken from the bytes each time.
 */
#ifndef TACT_ISA_CACHE_H
#define TACT_ISA_CACHE_H

#include "isa/isa.h"

/* One remembered instruction: its number is its place in `entries` and stays valid until
 * isa_cache_flush.
 */
struct isa_entry {
	uint64_t key[2]; /* head, padded with zeros; last byte: length of the head and more */
	struct isa_layout layout;
	struct tact_insn insn;
};

struct isa_cache {
	struct isa_entry *entries; /* owned */
	size_t n_entries, capacity;
	uint32_t *slots; /* owned; number of an entry + 1, or 0; n_slots is a power of two */
	size_t n_slots;
};

/* The constants of one instance. */
struct isa_constants {
	int64_t displacement, immediate;
};

/* Returns -TACT_E_NOMEM. */
int isa_cache_init(struct isa_cache *cache);
void isa_cache_fini(struct isa_cache *cache);
void isa_cache_flush(struct isa_cache *cache);

/* Decodes the instruction at code; 16 bytes behind code[size] must be readable.
 * Returns the number of its entry, -TACT_E_DECODE or -TACT_E_NOMEM.  A pointer to an entry is
 * valid until the next call.
 */
long isa_cache_decode(struct isa_cache *cache, const uint8_t *code, size_t size,
		      struct isa_constants *constants);

#endif /* TACT_ISA_CACHE_H */

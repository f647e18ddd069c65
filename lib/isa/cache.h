/* SPDX-License-Identifier: MIT
 *
 * Remembers decoded instructions.  Real code repeats its encodings, above all if the constants
 * (displacement and immediate) are left aside: they are taken from the bytes each time.
 */
#ifndef TACT_ISA_CACHE_H
#define TACT_ISA_CACHE_H

#include "isa/isa.h"

/* A slot of the hash table.  The key is here, so that finding an instruction touches one place. */
struct isa_slot {
	uint64_t key[2]; /* head, padded with zeros; last byte: length of the head and flags */
	uint32_t entry;	 /* number of the entry + 1; 0: the slot is free */
};

struct isa_cache {
	const struct tact_isa *isa;
	struct tact_insn *entries; /* owned; what is remembered, by number */
	size_t n_entries, capacity;
	struct isa_slot *slots; /* owned; n_slots is a power of two */
	size_t n_slots, n_used;
};

/* What is specific to one instance. */
struct isa_instance {
	int64_t displacement, immediate;
	unsigned length;
};

/* Creates an empty cache.  Returns 0 or -TACT_E_NOMEM. */
int isa_cache_init(struct isa_cache *cache, const struct tact_isa *isa);
void isa_cache_fini(struct isa_cache *cache);
void isa_cache_flush(struct isa_cache *cache);

/* Decodes the instruction at code, whose layout comes from the set's lay_out; 16 bytes after
 * code[size] must be readable.  If instance->length differs from that of the layout, the layouts of
 * the instructions after it are void.  Returns the number of its entry, -TACT_E_DECODE or
 * -TACT_E_NOMEM.  Numbers stay valid until isa_cache_flush, pointers to entries until the next
 * call.
 */
long isa_cache_decode(struct isa_cache *cache, const struct isa_layout *layout, const uint8_t *code,
		      size_t size, struct isa_instance *instance);

/* The same with a setting (struct tact_insn), which is a part of what is remembered. */
long isa_cache_decode_set(struct isa_cache *cache, const struct isa_layout *layout,
			  const uint8_t *code, size_t size, uint16_t setting,
			  struct isa_instance *instance);

/* Tells that instructions with these layouts, one after the other at code, will be decoded: slots
 * that are not in the CPU's caches come together then, and not one by one.
 */
void isa_cache_expect(const struct isa_cache *cache, const struct isa_layout *layouts, size_t n,
		      const uint8_t *code);

#endif /* TACT_ISA_CACHE_H */

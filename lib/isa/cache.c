/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "isa/cache.h"

enum {
	FIRST_SLOTS = 1 << 12,
	MAX_HEAD = 14,	    /* bytes of a head that fit into the key before its last two */
	ZERO_IMMEDIATE = 16 /* in the key's last byte: forms with an immediate of 0 are separate */
};

int isa_cache_init(struct isa_cache *cache, const struct tact_isa *isa)
{
	memset(cache, 0, sizeof(*cache));
	cache->isa = isa;
	cache->n_slots = FIRST_SLOTS;
	cache->slots = calloc(cache->n_slots, sizeof(*cache->slots));
	return cache->slots ? 0 : -TACT_E_NOMEM;
}

void isa_cache_fini(struct isa_cache *cache)
{
	free(cache->entries);
	free(cache->slots);
	memset(cache, 0, sizeof(*cache));
}

void isa_cache_flush(struct isa_cache *cache)
{
	memset(cache->slots, 0, cache->n_slots * sizeof(*cache->slots));
	cache->n_entries = cache->n_used = 0;
}

/* Returns the first slot that a key may have. */
static inline size_t first_slot(const struct isa_cache *cache, const uint64_t *key)
{
	/* Two odd constants mix the halves (the first from Knuth, as in hash_bytes; the second
	 * from the finaliser of MurmurHash3).
	 */
	uint64_t h = (key[0] ^ (key[1] * 0xff51afd7ed558ccdu)) * 0x9e3779b97f4a7c15u;

	return (size_t)(h >> 32) & (cache->n_slots - 1);
}

/* Finds the slot of a key, or the free one where it belongs. */
static struct isa_slot *find(const struct isa_cache *cache, const uint64_t *key)
{
	size_t s = first_slot(cache, key);

	while (cache->slots[s].entry &&
	       (cache->slots[s].key[0] != key[0] || cache->slots[s].key[1] != key[1]))
		s = (s + 1) & (cache->n_slots - 1);
	return &cache->slots[s];
}

/* Loads the first n (1 to 15) of the 16 readable bytes at p, followed by zeros. */
static void load_key(uint64_t *key, const uint8_t *p, unsigned n)
{
	memcpy(key, p, 16);
	if (n < 8) {
		key[0] &= (1ull << 8 * n) - 1;
		key[1] = 0;
	} else {
		key[1] &= (1ull << 8 * (n - 8)) - 1;
	}
}

static int64_t load_signed(const uint8_t *p, unsigned size)
{
	int8_t b;
	int16_t w;
	int32_t d;
	int64_t q;

	switch (size) {
	case 1:
		memcpy(&b, p, 1);
		return b;
	case 2:
	case 3: /* enter: the first of two */
		memcpy(&w, p, 2);
		return w;
	case 4:
		memcpy(&d, p, 4);
		return d;
	case 8:
		memcpy(&q, p, 8);
		return q;
	default:
		return 0;
	}
}

/* Doubles the slots when three quarters are in use. */
static inline int make_room(struct isa_cache *cache)
{
	struct isa_slot *old = cache->slots;
	size_t n = cache->n_slots;

	if (cache->n_used * 4 < n * 3)
		return 0;
	cache->slots = calloc(2 * n, sizeof(*cache->slots));
	if (!cache->slots) {
		cache->slots = old;
		return -TACT_E_NOMEM;
	}
	cache->n_slots = 2 * n;
	for (size_t i = 0; i < n; i++)
		if (old[i].entry)
			*find(cache, old[i].key) = old[i];
	free(old);
	return 0;
}

/* Decodes in full; returns the number of the new entry. */
static inline long decode_entry(struct isa_cache *cache, const uint8_t *code, size_t size,
				uint16_t setting)
{
	if (tact_grow(&cache->entries, &cache->capacity, cache->n_entries + 1,
		      sizeof(*cache->entries)) < 0)
		return -TACT_E_NOMEM;
	if (cache->isa->decode(&cache->entries[cache->n_entries], code, size) < 0)
		return -TACT_E_DECODE;
	cache->entries[cache->n_entries].setting = setting;
	return (long)cache->n_entries++;
}

/* The constants as the decoder saw them. */
static void take_decoded(struct isa_instance *instance, const struct tact_insn *insn)
{
	*instance = (struct isa_instance){insn->displacement, insn->immediate, insn->length};
}

static inline __attribute__((always_inline)) void
make_key(uint64_t *key, const struct isa_layout *layout, const uint8_t *code, uint16_t setting)
{
	load_key(key, code, layout->head);
	((uint8_t *)key)[15] = layout->head;
	if (setting) /* sets that have one have short heads */
		memcpy((uint8_t *)key + MAX_HEAD - 2, &setting, sizeof(setting));
	if (layout->imm_is_register)
		((uint8_t *)key)[14] = code[layout->head + layout->disp_size];
	if (layout->imm_size == 1 && !code[layout->head + layout->disp_size])
		((uint8_t *)key)[15] |= ZERO_IMMEDIATE;
}

void isa_cache_expect(const struct isa_cache *cache, const struct isa_layout *layouts, size_t n,
		      const uint8_t *code)
{
	for (size_t i = 0; i < n && layouts[i].length; code += layouts[i++].length) {
		uint64_t key[2];

		if (layouts[i].head > MAX_HEAD)
			continue;
		make_key(key, &layouts[i], code, 0);
		tact_fetch(&cache->slots[first_slot(cache, key)]);
	}
}

/* Most sets have no settings: for them, the compiler leaves these out. */
static inline __attribute__((always_inline)) long
decode(struct isa_cache *cache, const struct isa_layout *layout, const uint8_t *code, size_t size,
       uint16_t setting, struct isa_instance *instance)
{
	struct isa_slot *slot;
	const uint8_t *p;
	uint64_t key[2];
	long n;

	if (!layout->length || layout->head > MAX_HEAD) {
		/* Rare encodings are decoded each time. */
		n = decode_entry(cache, code, size, setting);
		if (n >= 0)
			take_decoded(instance, &cache->entries[n]);
		return n;
	}
	make_key(key, layout, code, setting);
	slot = find(cache, key);
	if (!slot->entry) {
		n = decode_entry(cache, code, size, setting);
		if (n < 0)
			return n;
		take_decoded(instance, &cache->entries[n]);
		/* Where we and the decoder disagree on the length, the decoder is right. */
		if (instance->length == layout->length && make_room(cache) >= 0) {
			slot = find(cache, key);
			memcpy(slot->key, key, sizeof(key));
			slot->entry = (uint32_t)n + 1;
			cache->n_used++;
		}
		return n;
	}
	n = (long)slot->entry - 1;
	p = code + layout->head;
	instance->length = layout->length;
	instance->displacement = load_signed(p, layout->disp_size);
	instance->immediate = load_signed(p + layout->disp_size, layout->imm_size);
	if (layout->disp_in_head)
		instance->displacement = cache->entries[n].displacement;
	if (layout->imm_in_head)
		instance->immediate = cache->entries[n].immediate;
	return n;
}

long isa_cache_decode(struct isa_cache *cache, const struct isa_layout *layout, const uint8_t *code,
		      size_t size, struct isa_instance *instance)
{
	return decode(cache, layout, code, size, 0, instance);
}

long isa_cache_decode_set(struct isa_cache *cache, const struct isa_layout *layout,
			  const uint8_t *code, size_t size, uint16_t setting,
			  struct isa_instance *instance)
{
	return decode(cache, layout, code, size, setting, instance);
}

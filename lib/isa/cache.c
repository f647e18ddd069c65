/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "isa/cache.h"

enum {
	FIRST_SLOTS = 1 << 12,
	MAX_HEAD = 15,       /* bytes of a head that fit the key in front of its last byte */
	ZERO_IMMEDIATE = 16, /* in the key's last byte: forms with an immediate of 0 are their own */
	WHOLE = 32           /* the key holds the whole instruction: it has no layout */
};

int isa_cache_init(struct isa_cache *cache)
{
	memset(cache, 0, sizeof(*cache));
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
	cache->n_entries = 0;
}

static size_t slot_of(const struct isa_cache *cache, const uint64_t *key)
{
	/* Two odd constants (from the fractional part of the golden ratio) mix the halves. */
	uint64_t h = (key[0] ^ (key[1] * 0xff51afd7ed558ccdu)) * 0x9e3779b97f4a7c15u;

	return (size_t)(h >> 32) & (cache->n_slots - 1);
}

/* Loads the first n (1 to 16) bytes at p, which has 16 readable ones; zeros behind them. */
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

/* Doubles the slots when they are half full. */
static int make_room(struct isa_cache *cache)
{
	uint32_t *slots;
	size_t n = cache->n_slots * 2;

	if (tact_grow(&cache->entries, &cache->capacity, cache->n_entries + 1,
		      sizeof(*cache->entries)) < 0)
		return -TACT_E_NOMEM;
	if (cache->n_entries * 2 < cache->n_slots)
		return 0;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -TACT_E_NOMEM;
	free(cache->slots);
	cache->slots = slots;
	cache->n_slots = n;
	for (size_t i = 0; i < cache->n_entries; i++) {
		size_t s = slot_of(cache, cache->entries[i].key);

		while (slots[s])
			s = (s + 1) & (n - 1);
		slots[s] = (uint32_t)i + 1;
	}
	return 0;
}

/* Full decoding of an instruction that the cache does not have. */
static long insert(struct isa_cache *cache, const uint8_t *code, size_t size,
		   const struct isa_layout *layout, const uint64_t *key)
{
	struct tact_insn insn;
	struct isa_entry *e;
	size_t s;

	if (tact_decode(&insn, code, size) < 0)
		return -TACT_E_DECODE;
	if (make_room(cache) < 0)
		return -TACT_E_NOMEM;
	e = &cache->entries[cache->n_entries];
	e->insn = insn;
	if (layout && layout->length == insn.length) {
		e->layout = *layout;
		memcpy(e->key, key, sizeof(e->key));
	} else {
		e->layout = (struct isa_layout){ .length = insn.length, .head = insn.length };
		load_key(e->key, code, insn.length);
		((uint8_t *)e->key)[15] = (uint8_t)(WHOLE | insn.length);
	}
	for (s = slot_of(cache, e->key); cache->slots[s];)
		s = (s + 1) & (cache->n_slots - 1);
	cache->slots[s] = (uint32_t)++cache->n_entries;
	return (long)cache->n_entries - 1;
}

static long find(const struct isa_cache *cache, const uint64_t *key)
{
	size_t s = slot_of(cache, key);

	for (; cache->slots[s]; s = (s + 1) & (cache->n_slots - 1)) {
		const struct isa_entry *e = &cache->entries[cache->slots[s] - 1];

		if (e->key[0] == key[0] && e->key[1] == key[1])
			return (long)cache->slots[s] - 1;
	}
	return -1;
}

long isa_cache_decode(struct isa_cache *cache, const uint8_t *code, size_t size,
		      struct isa_constants *constants)
{
	struct isa_layout layout;
	const struct isa_entry *e;
	const uint8_t *p;
	uint64_t key[2];
	long n;

	if (!isa_layout_of(&layout, code, size) || layout.head > MAX_HEAD) {
		/* Rare: decoded each time and not found again, but stored once each flush. */
		n = insert(cache, code, size, NULL, NULL);
		goto out;
	}
	load_key(key, code, layout.head);
	((uint8_t *)key)[15] = layout.head;
	if (layout.imm_size == 1 && !code[layout.head + layout.disp_size])
		((uint8_t *)key)[15] |= ZERO_IMMEDIATE;
	n = find(cache, key);
	if (n < 0)
		n = insert(cache, code, size, &layout, key);
out:
	if (n < 0)
		return n;
	e = &cache->entries[n];
	p = code + e->layout.head;
	constants->displacement = e->layout.disp_size ? load_signed(p, e->layout.disp_size)
						      : e->insn.displacement;
	constants->immediate = e->layout.imm_size
				       ? load_signed(p + e->layout.disp_size, e->layout.imm_size)
				       : e->insn.immediate;
	return n;
}

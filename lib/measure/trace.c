/* SPDX-License-Identifier: MIT
 *
 * Looks at the addresses of a traced run: accesses that cross a line, loads of what was stored, and
 * loads that meet a store only because virtual pages share a physical one (BHive, section III-A).
 */
#include <string.h>

#include "measure/measure_priv.h"

enum { LINE = 64, WINDOW = 64 /* stores that may still be in the store buffer */ };

struct store {
	uint64_t address;
	unsigned size;
};

struct tracer {
	const struct measure_host *host;
	struct store stores[WINDOW];
	unsigned n; /* seen so far; the last WINDOW are kept */
	uint32_t flags;
};

static bool overlap(uint64_t a, unsigned a_size, uint64_t b, unsigned b_size)
{
	return a < b + b_size && b < a + a_size;
}

static bool contains(uint64_t a, unsigned a_size, uint64_t b, unsigned b_size)
{
	return b >= a && b + b_size <= a + a_size;
}

/* Returns the address in the physical pages; ~0 if its page is not mapped. */
static uint64_t physical(const struct measure_host *host, uint64_t address)
{
	uint64_t offset = address % MEASURE_PAGE;

	for (uint32_t i = 0; i < host->n_pages && i < MEASURE_MAX_PAGES && host->n_physical; i++)
		if (host->page[i] == address - offset)
			return i % host->n_physical * MEASURE_PAGE + offset;
	return ~0ull;
}

static bool meet(const struct measure_host *host, const struct store *s, uint64_t address,
		 unsigned size)
{
	uint64_t a = physical(host, s->address), b = physical(host, address);

	return a != ~0ull && b != ~0ull && overlap(a, s->size, b, size);
}

static void load(struct tracer *t, uint64_t address, unsigned size)
{
	unsigned first = t->n > WINDOW ? t->n - WINDOW : 0;

	for (unsigned i = first; i < t->n; i++) {
		const struct store *s = &t->stores[i % WINDOW];

		if (overlap(s->address, s->size, address, size)) {
			t->flags |= TACT_MFLAG_FORWARDS;
			if (!contains(s->address, s->size, address, size))
				t->flags |= TACT_MFLAG_PARTIAL;
		} else if (meet(t->host, s, address, size)) {
			t->flags |= TACT_MFLAG_ALIAS_PAGE;
		}
	}
}

static void note_access(struct tracer *t, const struct measure_access *a)
{
	if (!a->size || a->size > 64)
		return;
	if (a->address / LINE != (a->address + a->size - 1) / LINE)
		t->flags |= TACT_MFLAG_CROSSES_LINE;
	if (a->is_load)
		load(t, a->address, a->size);
	if (a->is_store)
		t->stores[t->n++ % WINDOW] = (struct store){a->address, a->size};
}

uint32_t measure_trace_flags(const struct measure_set *set, const struct measure_host *host,
			     const uint8_t *code, size_t size, uint64_t body, bool loop)
{
	struct measure_access accesses[MEASURE_MAX_ACCESSES];
	struct tracer t = {.host = host};

	for (uint32_t i = 0; i < host->n_steps && i < MEASURE_MAX_STEPS; i++) {
		const struct measure_step *s = &host->step[i];
		uint64_t offset = s->pc - body;
		unsigned n;

		if (!loop)
			offset %= size;
		if (s->pc < body || offset >= size)
			continue; /* the counter of the loop, or the way out */
		n = set->accesses(accesses, code + offset, size - offset, s);
		for (unsigned k = 0; k < n; k++)
			note_access(&t, &accesses[k]);
	}
	return t.flags;
}

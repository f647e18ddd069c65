/* SPDX-License-Identifier: MIT
 *
 * Data caches.
 *
 * The prefetcher: a miss next to one of the last eight is part of a stream, and the lines after it
 * are fetched as well, as the prefetchers in Intel's optimization manual do; the number of lines is
 * a guess.  Without it, every copy of memory would wait for every line.
 */
#include "trace/caches.h"

#include <stdlib.h>
#include <string.h>

#include <tact/status.h>

#include "arch/params.h"

enum { AHEAD = 4 /* lines fetched ahead */ };

static int init_level(struct cache_level *l, uint64_t bytes, unsigned ways, unsigned extra)
{
	size_t sets = 1;

	/* Sets are powers of two; other sizes are rounded down to the next one. */
	while (2 * sets * ways * CACHE_LINE <= bytes)
		sets *= 2;
	l->sets = sets;
	l->ways = ways;
	l->extra = extra;
	l->lines = calloc(sets * ways, sizeof(*l->lines));
	return l->lines ? 0 : -TACT_E_NOMEM;
}

static unsigned extra_of(int latency, int first)
{
	return latency > first ? (unsigned)(latency - first) : 0;
}

int caches_init(struct caches *c, const struct arch_params *p, const uint64_t *bytes)
{
	const int kib[CACHE_LEVELS] = {p->l1_kib, p->l2_kib, p->l3_kib};
	const int ways[CACHE_LEVELS] = {p->l1_ways, p->l2_ways, p->l3_ways};
	const int behind[CACHE_LEVELS] = {p->l2_latency, p->l3_latency, p->memory_latency};

	memset(c, 0, sizeof(*c));
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		if (init_level(&c->level[i], bytes && bytes[i] ? bytes[i] : (uint64_t)kib[i] * 1024,
			       (unsigned)ways[i], extra_of(behind[i], p->load_latency)) < 0) {
			caches_fini(c);
			return -TACT_E_NOMEM;
		}
	return 0;
}

void caches_fini(struct caches *c)
{
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		free(c->level[i].lines);
	memset(c, 0, sizeof(*c));
}

/* Moves a line to the front of its set.  Returns whether it was there. */
static bool touch(struct cache_level *l, uint64_t line)
{
	uint64_t *set = l->lines + (line & (l->sets - 1)) * l->ways;
	size_t w = 0;
	bool hit;

	if (set[0] == line + 1)
		return true;
	while (w < l->ways - 1 && set[w] != line + 1)
		w++;
	hit = set[w] == line + 1;
	memmove(set + 1, set, w * sizeof(*set));
	set[0] = line + 1;
	return hit;
}

static bool is_stream(struct caches *c, uint64_t line)
{
	bool found = false;

	for (unsigned i = 0; i < 8; i++)
		found |= c->last_missed[i] + 1 == line || c->last_missed[i] == line + 1;
	c->last_missed[c->next_missed++ & 7] = line;
	return found;
}

static unsigned access_line(struct caches *c, uint64_t line)
{
	unsigned extra = 0;

	for (unsigned i = 0; i < CACHE_LEVELS; i++) {
		if (touch(&c->level[i], line))
			return extra;
		c->misses[i]++;
		extra = c->level[i].extra;
		if (!i && is_stream(c, line))
			for (unsigned k = 1; k <= AHEAD; k++)
				for (unsigned j = 0; j < CACHE_LEVELS; j++)
					touch(&c->level[j], line + k);
	}
	return extra;
}

unsigned caches_access(struct caches *c, uint64_t address, uint32_t size)
{
	uint64_t line = address / CACHE_LINE, last = (address + (size ? size - 1 : 0)) / CACHE_LINE;
	unsigned longest = 0;

	/* A repeated string instruction may move a lot: all its lines pass through. */
	for (; line <= last; line++) {
		unsigned extra = access_line(c, line);

		if (extra > longest)
			longest = extra;
	}
	return longest;
}

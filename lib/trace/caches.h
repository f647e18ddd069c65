/* SPDX-License-Identifier: MIT
 *
 * Where data are found: three levels of caches, two of TLBs, and what prefetchers bring.
 *
 * Accesses come in the order of the program, without times; when data arrive is for the pipeline to
 * say (sim/arrivals.h).  So every access tells where its line and its page were found, and which lines
 * were fetched because of it.
 */
#ifndef TRACE_CACHES_H
#define TRACE_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/simulate.h>

#include "trace/sharing.h"
#include "trace/store_sets.h"

enum {
	CACHE_LEVELS = 3,
	CACHE_LINE = 64,
	CACHE_STREAMS = 64,  /* pages whose order of accesses is remembered */
	CACHE_STRIDES = 256, /* instructions whose distance between accesses is remembered */
	CACHE_RECENT = 16    /* pages that are found without a search */
};
#define CACHE_MAX_BYTES ((uint64_t)1 << 40)
/* Of a line: it was written since it came; from which level it came; how long ago it was used, from 0
 * to 3; the rest is its number.
 */
#define CACHE_WRITTEN  ((uint64_t)1 << 63)
#define CACHE_FROM     ((uint64_t)3 << CACHE_FROM_BIT)
#define CACHE_FROM_BIT 61
#define CACHE_AGE      ((uint64_t)3 << CACHE_AGE_BIT)
#define CACHE_AGE_BIT  59
#define CACHE_NUMBER   (((uint64_t)1 << CACHE_AGE_BIT) - 1)

/* Lines of a cache, or pages of a TLB. */
struct cache_level {
	uint64_t *
		lines; /* owned; numbers + 1 by set, the most recently used first; 0: none.  Those of
			    the first two levels of caches: also CACHE_WRITTEN and CACHE_FROM */
	size_t sets, ways;
	bool has_ages;	    /* lines have CACHE_AGE, and no order */
	bool is_random;	    /* any line of a set is evicted, and there is no order */
	uint64_t evictions; /* if so: their number, from which comes who is next */
};

/* A page through which accesses go in order. */
struct cache_stream {
	uint64_t page;
	int8_t direction; /* 0: not known yet */
	uint8_t last;	  /* line of the page */
	uint8_t count;	  /* accesses in this direction */
	int8_t ahead;	  /* line up to which was fetched */
};

struct cache_stride {
	uint64_t insn, last;
	int64_t stride;
	uint8_t count;
};

struct caches {
	struct cache_level level[CACHE_LEVELS], tlb[2];
	uint64_t recent[CACHE_RECENT]; /* pages + 1, all of them in the first TLB */
	unsigned page_shift;	       /* of a line's number to that of its page */
	unsigned index_shift; /* the low bits of it that say where it is in the last two levels */
	unsigned ahead;	      /* lines that a stream is fetched ahead */
	int near;	      /* lines: what is farther away is another stream */
	bool crosses_pages;   /* a stream goes on in the next page */
	bool hints_reach_memory; /* a prefetch into the second level does */
	uint64_t misses[CACHE_LEVELS], page_misses[2];
	unsigned others;	/* lines that others brought while calls waited */
	struct sharing sharing; /* of the last level */
	struct store_sets store_sets;
	struct cache_stream streams[CACHE_STREAMS];
	struct cache_stride strides[CACHE_STRIDES];
};

/* bytes: the size of each level; 0: the architecture's.  Returns 0 or -TACT_E_NOMEM. */
int caches_init(struct caches *c, const struct arch_params *params, const uint64_t *bytes);
void caches_fini(struct caches *c);

/* As caches_access, for what is not simple (see caches_is_simple). */
void caches_search(struct caches *c, uint64_t address, uint32_t size, uint64_t insn, bool is_store,
		   struct tact_stream_trip *out);

static inline struct cache_stride *caches_stride(struct caches *c, uint64_t insn)
{
	return &c->strides[(insn ^ insn >> 8) % CACHE_STRIDES];
}

/* Returns whether an access goes to a line, and a page, that were used a moment ago, and changes
 * nothing: about half of them are, and there are very many.  To be asked once for each access.
 */
static inline bool caches_is_simple(struct caches *c, uint64_t address, uint32_t size,
				    uint64_t insn, bool is_store)
{
	const uint64_t line = address / CACHE_LINE, page = line >> c->page_shift;
	const struct cache_level *l = &c->level[0];
	const uint64_t first = l->lines[(line & (l->sets - 1)) * l->ways];

	c->store_sets.stores += is_store;
	if ((address % CACHE_LINE + size > CACHE_LINE) |
	    (c->recent[page % CACHE_RECENT] != page + 1) | ((first & CACHE_NUMBER) != line + 1))
		return false;
	return is_store ? (first & CACHE_WRITTEN) != 0
			: caches_stride(c, insn)->last / CACHE_LINE == line;
}

/* Performs an access of instruction `insn` (any number that tells it from others).  An access of
 * several lines is found where the farthest of them is.
 */
static inline void caches_access(struct caches *c, uint64_t address, uint32_t size, uint64_t insn,
				 bool is_store, struct tact_stream_trip *out)
{
	if (!caches_is_simple(c, address, size, insn, is_store)) {
		caches_search(c, address, size, insn, is_store, out);
		return;
	}
	out->line = address / CACHE_LINE;
	out->level = out->page = out->n_fetched = out->written = 0;
}

/* Performs a store that goes past the caches: none of them keeps its lines. */
void caches_pass(struct caches *c, uint64_t address, uint32_t size, struct tact_stream_trip *out);

/* Performs a prefetch instruction, into the first level or into the second one, of a page that is
 * there.  It is no miss.
 */
void caches_prefetch(struct caches *c, uint64_t address, bool is_to_second,
		     struct tact_stream_trip *out);

/* Fetches a line of code, which only the levels behind the first one share with data.  Returns where
 * it was: 1 is the second level, 2 the third, 3 memory.
 */
unsigned caches_fetch_code(struct caches *c, uint64_t address);

/* Brings a line into the first level, without its prefetchers.  Returns where it was: 0 to 3, the
 * caches and memory.
 */
unsigned caches_bring(struct caches *c, uint64_t line);

/* The kernel's lines: the same in every call, those of light calls first, anywhere in pages of 4 KiB
 * with three of them each.
 */
enum caches_kernel { CACHES_KERNEL_DATA, CACHES_KERNEL_CODE, CACHES_OTHERS };
uint64_t caches_kernel_line(enum caches_kernel kind, unsigned i);

/* Others had the core while a call waited: so many lines of theirs, other ones each time, take places
 * in all levels, and TLBs that are not kept are empty.
 */
void caches_wait(struct caches *c, unsigned lines, bool loses_pages);

/* The kernel ran, and touched so many of its lines of data.  These misses are not counted. */
void caches_enter_kernel(struct caches *c, unsigned lines);

/* The kernel has written a page of 4 KiB for the program: its lines are in the second level. */
void caches_fill_page(struct caches *c, uint64_t address);

#endif /* TRACE_CACHES_H */

/* SPDX-License-Identifier: MIT
 *
 * Data caches: three levels, set-associative, least recently used evicted first, with a simple
 * prefetcher.
 */
#ifndef TRACE_CACHES_H
#define TRACE_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_params;

enum { CACHE_LEVELS = 3, CACHE_LINE = 64 };
#define CACHE_MAX_BYTES ((uint64_t)1 << 40)

struct cache_level {
	uint64_t *lines; /* owned; line numbers + 1 by set, the most recently used first; 0: none */
	size_t sets, ways;
	unsigned extra; /* extra cycles of a load that misses here and hits in the next level */
};

struct caches {
	struct cache_level level[CACHE_LEVELS];
	uint64_t misses[CACHE_LEVELS];
	uint64_t last_missed[8]; /* lines, for the prefetcher */
	unsigned next_missed;
};

/* bytes: the size of each level; 0: the architecture's.  Returns 0 or -TACT_E_NOMEM. */
int caches_init(struct caches *c, const struct arch_params *params, const uint64_t *bytes);
void caches_fini(struct caches *c);

/* Performs an access.  Returns the extra cycles of a load compared with a hit in the first level.
 */
unsigned caches_access(struct caches *c, uint64_t address, uint32_t size);

#endif /* TRACE_CACHES_H */

/* SPDX-License-Identifier: MIT
 *
 * Other programs share the last-level cache: their lines displace ours, the longest unused first, in
 * every set alike.  So what this program has not used for long is gone, however large the cache is.
 *
 * Caches know no times.  About how many cycles have passed follows from the instructions and from
 * the misses.
 */
#ifndef TRACE_SHARING_H
#define TRACE_SHARING_H

#include <stddef.h>
#include <stdint.h>

struct arch_params;

struct sharing {
	uint64_t clock;	  /* about, in half cycles */
	uint32_t *stamps; /* owned: by set, when it was last used; NULL: nobody shares the cache */
	double rate;	  /* lines of others that come to a set, for each tick of a stamp */
	uint32_t wait[4]; /* half cycles for a load from each level, and from memory */
};

/* Returns 0 or -TACT_E_NOMEM. */
int sharing_init(struct sharing *s, const struct arch_params *p, size_t sets, size_t ways);
void sharing_fini(struct sharing *s);

/* Instructions were executed, or a load had to go to a level. */
static inline void sharing_execute(struct sharing *s, uint32_t n_insns)
{
	s->clock += n_insns;
}

static inline void sharing_wait(struct sharing *s, unsigned level)
{
	s->clock += s->wait[level];
}

/* So many cycles have passed. */
static inline void sharing_pass(struct sharing *s, uint64_t cycles)
{
	s->clock += 2 * cycles;
}

/* Lets the lines of others come to a set, whose lines are in the order of their use. */
void sharing_displace(struct sharing *s, size_t set, uint64_t *lines, size_t ways);

#endif /* TRACE_SHARING_H */

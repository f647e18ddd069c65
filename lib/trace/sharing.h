/* SPDX-License-Identifier: MIT
 *
 * Other programs share the last-level cache: their lines displace ours, in every set alike, those that
 * were not used for long more often.  So what this program has not used for long is gone, however large
 * the cache is.  Each line of others takes the place of the oldest of four: of what was used half, one,
 * one and a half and twice the time ago in which others fill the cache, 94, 48, 10 and 3% are there.
 * Measured on Zen 4, of 2 MiB 93, 52, 12 and 7% after 10, 20, 30 and 40 million cycles.  If the oldest of
 * all went first, a chain that was slow once would stay slow; on Zen 4 it becomes fast again.
 *
 * Caches know no times.  About how many cycles have passed follows from the instructions and from
 * the misses, and from how far off such guesses were a while ago (front_pace in front.h).
 */
#ifndef TRACE_SHARING_H
#define TRACE_SHARING_H

#include <stddef.h>
#include <stdint.h>

struct arch_params;

struct sharing {
	uint64_t guessed; /* half cycles, by instructions and misses */
	uint64_t from;	  /* of these, until the clock was last right */
	double clock;	  /* half cycles until then */
	double pace;	  /* half cycles for each that is guessed, since then */
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
	s->guessed += n_insns;
}

static inline void sharing_wait(struct sharing *s, unsigned level)
{
	s->guessed += s->wait[level];
}

/* So many cycles have passed. */
static inline void sharing_pass(struct sharing *s, uint64_t cycles)
{
	s->clock += 2 * (double)cycles;
}

/* Half cycles that were guessed since the last call of sharing_set_pace(). */
static inline uint64_t sharing_guess(const struct sharing *s)
{
	return s->guessed - s->from;
}

/* From now on, so many half cycles pass for each that is guessed. */
static inline void sharing_set_pace(struct sharing *s, double pace)
{
	s->clock += (double)sharing_guess(s) * s->pace;
	s->from = s->guessed;
	s->pace = pace;
}

/* Lets the lines of others come to a set, whose lines are in the order of their use. */
void sharing_displace(struct sharing *s, size_t set, uint64_t *lines, size_t ways);

#endif /* TRACE_SHARING_H */

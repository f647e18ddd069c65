/* SPDX-License-Identifier: MIT
 *
 * Which parts of a program are looked at, and which are skimmed.
 *
 * To follow every branch takes longer than all the rest.  Once a program stays within code that has
 * run often, its executions are alike, and it is enough to look at some of them.  So, from some
 * million instructions on, parts take turns:
 *
 *	look	everything is followed
 *	pass	data go through the caches, which remember for long; branches and code are not followed
 *	warm	everything is followed again, so that the predictor knows the program when the
 *		next look begins
 *
 * What an execution costs that was not looked at follows from those of its block that were
 * (strata.h).  A program that keeps coming to new code, whose code does not fit the DSB, or whose looks
 * differ, is looked at all the time.  Parts depend on the events and on nothing else.
 */
#ifndef TRACE_SKIM_H
#define TRACE_SKIM_H

#include <stdbool.h>
#include <stdint.h>

enum skim_part { SKIM_LOOK, SKIM_PASS, SKIM_WARM };

/* Chosen, not measured: a pass ends after so many new instructions, and one in so many of its others; no
 * window of the pipeline, with what fills and empties it, is longer than the last.
 */
enum {
	SKIM_KNOWN = 4, /* executions of a block that were looked at: then it is no longer new */
	SKIM_FRESH = 4096,
	SKIM_FRESH_SHARE = 32,
	SKIM_WINDOW = 12000
};

struct skim {
	enum skim_part part;
	uint64_t now;		     /* instructions so far */
	uint64_t begun, until;	     /* the part */
	uint64_t fresh;		     /* its instructions in blocks that are new */
	uint64_t executions, missed; /* of the part; those that did not come from the DSB */
	double cost, usual;	     /* of the part: see skim_cost() */
	double n, variance; /* looks so far, and of their costs, relative to what is usual */
	uint64_t random;
	bool is_sample; /* a look that stands for passes: it came when its time had come */
};

/* is_on: false looks at everything. */
void skim_init(struct skim *s, bool is_on);

/* Begins the part that the next execution belongs to. */
void skim_turn(struct skim *s);

/* Whether the part is over.  New code is not passed by: too much of it ends the part. */
static inline bool skim_is_over(const struct skim *s)
{
	return s->now >= s->until ||
	       (s->part == SKIM_PASS &&
		s->fresh > SKIM_FRESH + (s->now - s->begun) / SKIM_FRESH_SHARE);
}

/* Whether the next execution is passed by. */
static inline bool skim_passes(const struct skim *s)
{
	return s->part == SKIM_PASS && !skim_is_over(s);
}

/* Takes an execution; is_new: fewer than SKIM_KNOWN of its block were looked at.  Returns the part that
 * it belongs to.
 */
static inline enum skim_part skim_execute(struct skim *s, uint32_t n_insns, bool is_new)
{
	if (skim_is_over(s))
		skim_turn(s);
	s->now += n_insns;
	s->executions++;
	s->fresh += is_new ? n_insns : 0;
	return s->part;
}

/* About what the last execution cost, and what others of its block did: where both agree over whole
 * looks, a pass between them costs what they say.
 */
static inline void skim_cost(struct skim *s, double cost, double usual)
{
	s->cost += cost;
	s->usual += usual;
}

/* The last execution had to be decoded. */
static inline void skim_miss(struct skim *s)
{
	s->missed++;
}

/* Whether a look is about to end: too soon for another window of the pipeline. */
static inline bool skim_is_ending(const struct skim *s)
{
	return s->until - s->now < SKIM_WINDOW || s->now >= s->until;
}

#endif /* TRACE_SKIM_H */

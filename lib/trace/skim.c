/* SPDX-License-Identifier: MIT
 *
 * See skim.h.  The lengths were found by experiment (doc/models/trace.md).
 */
#include "trace/skim.h"

enum {
	FIRST = 20000000, /* instructions, all of them looked at */
	LOOK = 200000,
	WARM = 100000,
	LEAST_PASS = 400000,
	MOST_PASS = 4000000,
	SHARE = 64, /* a pass is as long as one in so many of the instructions before it */
	/* One in so many executions is decoded, or one in so many instructions new: no pass. */
	MISSED = 16,
	FRESH = 64,
	MOST_LOOKS = 100
};
static const double DIFFERENT = 0.05; /* looks whose costs differ by more, relatively: no pass */

void skim_init(struct skim *s, bool is_on)
{
	*s = (struct skim){.part = SKIM_LOOK, .until = is_on ? LOOK : UINT64_MAX};
}

/* Between three quarters and five quarters of a length, so that no loop is always met at the same
 * place.
 */
static uint64_t about(struct skim *s, uint64_t length)
{
	s->random = s->random * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
	return length - length / 4 + (s->random >> 33) * (length / 2) / ((uint64_t)1 << 31);
}

/* Adds a look to the last MOST_LOOKS. */
static void add_look(struct skim *s)
{
	const double off = s->usual > 0 ? s->cost / s->usual - 1 : 0;

	s->n += s->n < MOST_LOOKS;
	s->variance += (off * off - s->variance) / s->n;
}

static bool is_settled(const struct skim *s)
{
	return s->now >= FIRST && s->missed * MISSED <= s->executions &&
	       s->fresh * FRESH <= s->now - s->begun && s->variance <= DIFFERENT * DIFFERENT;
}

static uint64_t pass_length(const struct skim *s)
{
	const uint64_t length = s->now / SHARE;

	return length < LEAST_PASS ? LEAST_PASS : length > MOST_PASS ? MOST_PASS : length;
}

void skim_turn(struct skim *s)
{
	const bool is_cut_short = s->now < s->until;

	s->is_sample = s->part == SKIM_WARM;

	switch (s->part) {
	case SKIM_LOOK:
		add_look(s);
		if (is_settled(s))
			s->part = SKIM_PASS;
		break;
	case SKIM_PASS:
		s->part = is_cut_short ? SKIM_LOOK : SKIM_WARM;
		break;
	case SKIM_WARM:
		s->part = SKIM_LOOK;
		break;
	}
	s->until = s->now + about(s, s->part == SKIM_LOOK   ? LOOK
				     : s->part == SKIM_WARM ? WARM
							    : pass_length(s));
	s->begun = s->now;
	s->fresh = s->executions = s->missed = 0;
	s->cost = s->usual = 0;
}

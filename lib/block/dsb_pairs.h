/* SPDX-License-Identifier: MIT
 *
 * Lines of a DSB that delivers two per cycle (dsb_line_pairs; experiments on Zen 5:
 * doc/models/zen5.md).  A line has up to dsb_line_uops uops, never part of an instruction.  It
 * begins in a window and runs on into the next one, and ends with a taken branch.
 *
 * As long as no window has more than two lines, and a line begins in the window where the branch
 * ends, lines are read in pairs without regard to windows.  Otherwise a loop is read window by
 * window: two lines in the first cycle, then two more every other cycle; a last window in which no
 * line begins takes a cycle, too.
 */
#ifndef TACT_BLOCK_DSB_PAIRS_H
#define TACT_BLOCK_DSB_PAIRS_H

#include "arch/params.h"

/* What a loop or a block is read from. */
struct block_pairs {
	uint64_t window;       /* in which the last line begins */
	unsigned lines, slots; /* in all; of the last line */
	unsigned here;	       /* lines that begin in this window */
	unsigned cycles;       /* window by window, up to the last line */
	bool is_stepwise;      /* a window has more than two lines */
};

/* Adds an instruction that begins in a window; returns whether a line begins with it. */
static inline bool block_pairs_add(struct block_pairs *r, const struct arch_params *p,
				   uint64_t window, unsigned slots)
{
	if (r->lines && r->slots + slots <= (unsigned)p->dsb_line_uops) {
		r->slots += slots;
		return false;
	}
	r->here = r->lines && r->window == window ? r->here + 1 : 1;
	if (r->here == 1)
		r->cycles++;
	else if (r->here % 2)
		r->cycles += 2;
	r->is_stepwise |= r->here > 2;
	r->window = window;
	r->slots = slots;
	r->lines++;
	return true;
}

/* A branch is taken whose last byte is in a window. */
static inline void block_pairs_end(struct block_pairs *r, uint64_t window)
{
	if (!r->lines || r->window == window)
		return;
	r->is_stepwise = true;
	r->cycles++;
}

#endif /* TACT_BLOCK_DSB_PAIRS_H */

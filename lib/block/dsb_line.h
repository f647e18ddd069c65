/* SPDX-License-Identifier: MIT
 *
 * Lines of a DSB that delivers one per cycle (dsb_line_a_cycle).  A line holds uops of one window,
 * never part of an instruction, and a number of constants that depends on how many uops it holds
 * (experiments on Zen 4 and Zen 3: doc/models/zen4.md).
 *
 * A cycle reads one line.  With the last of several lines of a window, it also reads the first line
 * of the next window, since only one window per cycle is looked up.
 */
#ifndef TACT_BLOCK_DSB_LINE_H
#define TACT_BLOCK_DSB_LINE_H

#include "arch/params.h"

/* The line that is being filled or read. */
struct block_line {
	uint64_t window;
	unsigned slots, constants;
	bool is_first; /* of its window */
};

/* Begins a line; `window` may be that of the line before. */
static inline void block_line_begin(struct block_line *line, uint64_t window)
{
	line->is_first = window != line->window;
	line->window = window;
	line->slots = line->constants = 0;
}

/* Adds an instruction of this window, if there is room; an empty line takes any. */
static inline bool block_line_add(struct block_line *line, const struct arch_params *p,
				  unsigned slots, unsigned constants)
{
	unsigned uops = line->slots + slots, limit;

	if (line->slots) {
		if (uops > (unsigned)p->dsb_width)
			return false;
		limit = uops < PARAMS_UNROLL_MAX ? p->dsb_line_constants[uops] : 0;
		if (limit && line->constants + constants > limit)
			return false;
	}
	line->slots = uops;
	line->constants += constants;
	return true;
}

#endif /* TACT_BLOCK_DSB_LINE_H */

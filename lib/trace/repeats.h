/* SPDX-License-Identifier: MIT
 *
 * Repeated string instructions: how long they take.
 */
#ifndef TRACE_REPEATS_H
#define TRACE_REPEATS_H

#include <tact/trace.h>

#include "arch/arch.h"

enum repeat_kind {
	REPEAT_NONE,
	REPEAT_COPY,   /* movs */
	REPEAT_FILL,   /* stos */
	REPEAT_LOAD,   /* lods */
	REPEAT_SCAN,   /* scas */
	REPEAT_COMPARE /* cmps */
};

/* What a repeated instruction does. */
struct repeat {
	uint8_t kind;	 /* enum repeat_kind */
	uint8_t element; /* bytes that it handles at a time */
};

/* Returns what the instruction at the end of a block repeats; REPEAT_NONE: it does not. */
struct repeat repeat_at_end(const struct tact_trace_block *block);

/* Returns the cycles of an execution of such an instruction, at least 1; 0 if it did nothing, or if
 * that is not known.  lines: cycles that the data take to and from the first-level cache.
 */
double repeat_cycles(const struct arch_params *params, struct repeat repeat,
		     const struct tact_trace_event *event, double lines);

#endif /* TRACE_REPEATS_H */

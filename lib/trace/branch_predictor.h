/* SPDX-License-Identifier: MIT
 *
 * A branch predictor: which way, where to, and back from calls.
 */
#ifndef TRACE_BRANCH_PREDICTOR_H
#define TRACE_BRANCH_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

enum branch_kind {
	BRANCH_NONE,   /* goes on */
	BRANCH_DIRECT, /* jump */
	BRANCH_CONDITIONAL,
	BRANCH_CALL,
	BRANCH_INDIRECT,
	BRANCH_INDIRECT_CALL,
	BRANCH_RETURN
};

enum { PREDICTOR_COUNTERS = 1 << 15, PREDICTOR_TARGETS = 1 << 12, PREDICTOR_RETURNS = 16 };

/* All zero is a good start. */
struct predictor {
	uint8_t by_address[PREDICTOR_COUNTERS]; /* counters of two bits */
	uint8_t by_history[PREDICTOR_COUNTERS];
	uint8_t choice[PREDICTOR_COUNTERS]; /* 2 and 3: by history */
	uint64_t targets[PREDICTOR_TARGETS];
	uint64_t returns[PREDICTOR_RETURNS];
	unsigned top;
	uint64_t history;
	uint64_t branches, mistakes;
};

/* A branch at this address, with `next` behind it, went to `target`.  Returns whether the predictor
 * would have known.
 */
bool predictor_branch(struct predictor *p, enum branch_kind kind, uint64_t address, uint64_t next,
		      uint64_t target);

#endif /* TRACE_BRANCH_PREDICTOR_H */

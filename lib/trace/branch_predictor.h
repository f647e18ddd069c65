/* SPDX-License-Identifier: MIT
 *
 * A branch predictor: directions, targets and return addresses.
 */
#ifndef TRACE_BRANCH_PREDICTOR_H
#define TRACE_BRANCH_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

#include <tact/insn.h>

enum {
	PREDICTOR_BASE_BITS = 15, /* directions by address alone: 2^15 */
	PREDICTOR_TABLES = 7,	  /* directions by address and increasing history */
	PREDICTOR_TABLE_BITS = 12,
	PREDICTOR_TARGETS = 4, /* the same for targets */
	PREDICTOR_TARGET_BITS = 10,
	PREDICTOR_TAG_BITS = 11,
	PREDICTOR_HISTORY = 256, /* bits, at least as many as the longest history needs */
	PREDICTOR_RETURNS = 32
};

/* The most recent bits of history, folded to the width of an index and of a tag. */
struct predictor_fold {
	uint32_t index, tag, tag_too; /* the second one is a bit narrower, against collisions */
};

struct predictor_direction {
	uint16_t tag;
	int8_t counter; /* from -4 to 3; 0 and more: taken */
	uint8_t useful; /* from 0 to 3; 0: the place may be taken */
};

struct predictor_target {
	uint64_t target;
	uint16_t tag;
	uint8_t confidence, useful; /* from 0 to 3 */
};

/* All zeros are a valid start. */
struct predictor {
	int8_t base[1 << PREDICTOR_BASE_BITS]; /* from -2 to 1; 0 and more: taken */
	struct predictor_direction directions[PREDICTOR_TABLES][1 << PREDICTOR_TABLE_BITS];
	uint64_t last_targets[1 << PREDICTOR_TARGET_BITS];
	struct predictor_target targets[PREDICTOR_TARGETS][1 << PREDICTOR_TARGET_BITS];
	uint8_t history[PREDICTOR_HISTORY]; /* a ring of bits */
	unsigned newest;
	struct predictor_fold direction_folds[PREDICTOR_TABLES], target_folds[PREDICTOR_TARGETS];
	int8_t trust_new;    /* 0 and more: new entries are not believed yet */
	uint32_t random;     /* where the next bit goes */
	uint64_t until_aged; /* conditional branches */
	uint64_t returns[PREDICTOR_RETURNS];
	unsigned top;
	uint64_t branches, mistakes;
};

/* Tells the predictor that the instruction at this address went to `target`; `next` is the address
 * after it; is_direct: its bytes say where it can go.  Returns whether the predictor would have
 * known.
 */
bool predictor_branch(struct predictor *p, enum tact_flow flow, bool is_direct, uint64_t address,
		      uint64_t next, uint64_t target);

#endif /* TRACE_BRANCH_PREDICTOR_H */

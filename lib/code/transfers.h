/* SPDX-License-Identifier: MIT
 *
 * Where execution goes after an instruction: the questions that enum tact_flow answers, and a walk
 * over code from one instruction to the next.
 */
#ifndef TACT_TRANSFERS_H
#define TACT_TRANSFERS_H

#include "isa/isa.h"

/* Goes somewhere else and, as a rule, comes back to the next instruction. */
static inline bool code_comes_back(enum tact_flow flow)
{
	return flow == TACT_FLOW_CALL || flow == TACT_FLOW_KERNEL;
}

/* The next instruction may be executed next, or when a call has returned. */
static inline bool code_goes_on(enum tact_flow flow)
{
	return flow == TACT_FLOW_NEXT || flow == TACT_FLOW_BRANCH || code_comes_back(flow);
}

/* For a direct jump or branch whose target is `distance` bytes from its own first byte and which is
 * `offset` bytes from the beginning of its block: tells whether it leads back there.
 */
static inline bool code_leads_back(enum tact_flow flow, bool is_direct, int64_t distance,
				   size_t offset)
{
	return is_direct && (flow == TACT_FLOW_BRANCH || flow == TACT_FLOW_JUMP) &&
	       distance == -(int64_t)offset;
}

/* Returns whether the code ends in a branch to its own first byte.  Most code has none, which its
 * last bytes show; the code is walked over only if they look like one.
 */
bool code_is_loop(const struct tact_isa *isa, const uint8_t *code, size_t size);

enum { CODE_STEPS = 64 };

/* A walk over code.  Bytes that are not an instruction are steps that are not valid. */
struct code_walk {
	const struct tact_isa *isa;
	const uint8_t *code; /* the caller's */
	size_t size;
	size_t at;   /* where the last step is */
	size_t next; /* where the next step is */
	unsigned n, i;
	struct isa_step steps[CODE_STEPS];
};

static inline void code_walk_init(struct code_walk *walk, const struct tact_isa *isa,
				  const uint8_t *code, size_t size)
{
	walk->isa = isa;
	walk->code = code;
	walk->size = size;
	walk->at = walk->next = 0;
	walk->n = walk->i = 0;
}

/* Returns the next instruction; NULL at the end. */
static inline const struct isa_step *code_walk_next(struct code_walk *walk)
{
	if (walk->i == walk->n) {
		if (walk->next >= walk->size)
			return NULL;
		walk->n = (unsigned)walk->isa->scan(
			walk->steps, CODE_STEPS, walk->code + walk->next, walk->size - walk->next);
		walk->i = 0;
	}
	walk->at = walk->next;
	walk->next += walk->steps[walk->i].length;
	return &walk->steps[walk->i++];
}

#endif /* TACT_TRANSFERS_H */

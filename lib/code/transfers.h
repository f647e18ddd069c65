/* SPDX-License-Identifier: MIT
 *
 * Where execution goes behind an instruction: the questions that are asked of enum tact_flow, and a
 * walk over code from one instruction to the next.
 */
#ifndef TACT_TRANSFERS_H
#define TACT_TRANSFERS_H

#include "isa/isa.h"

/* Goes somewhere else, as a rule, and comes back behind itself. */
static inline bool code_comes_back(enum tact_flow flow)
{
	return flow == TACT_FLOW_CALL || flow == TACT_FLOW_KERNEL;
}

/* What stands behind it may be executed next, or when a call has come back. */
static inline bool code_goes_on(enum tact_flow flow)
{
	return flow == TACT_FLOW_NEXT || flow == TACT_FLOW_BRANCH || code_comes_back(flow);
}

/* A direct jump or branch whose target is `distance` bytes from its own first byte, and which
 * stands `offset` bytes behind the beginning of its block: whether it leads back there.
 */
static inline bool code_leads_back(enum tact_flow flow, bool is_direct, int64_t distance,
				   size_t offset)
{
	return is_direct && (flow == TACT_FLOW_BRANCH || flow == TACT_FLOW_JUMP) &&
	       distance == -(int64_t)offset;
}

/* True if the code ends in a branch to its own first byte.  Most code has none, which is told from
 * its last bytes; all of it is walked over only where it looks so.
 */
bool code_is_loop(const struct tact_isa *isa, const uint8_t *code, size_t size);

enum { CODE_STEPS = 64 };

/* A walk over code.  Bytes that are no instruction come as steps that are not valid. */
struct code_walk {
	const struct tact_isa *isa;
	const uint8_t *code; /* the caller's */
	size_t size;
	size_t at;   /* where the step is that was given last */
	size_t next; /* where the next one is */
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

/* The next instruction; NULL at the end. */
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

/* SPDX-License-Identifier: MIT
 *
 * A stack of registers, such as that of x87: which register a name means at each instruction.
 *
 * An iteration starts where the one before started: the code around a block keeps the stack level.
 * The registers have the names of that moment as keys; exchanging two names moves no value.
 */
#ifndef TACT_BLOCK_TURNING_H
#define TACT_BLOCK_TURNING_H

#include "block/block.h"

struct turning {
	uint8_t first, mask; /* keys; their number is a power of two, this is one less */
	uint8_t top;
	uint8_t holds[ISA_MAX_TURNING]; /* by place: the register, counted from `first` */
};

/* All of them take NULL for a block without such registers. */

static inline void turning_init(struct turning *t, const struct tact_isa *isa)
{
	if (!t)
		return;
	t->first = isa->registers.first_turning;
	t->mask = (uint8_t)(isa->registers.n_turning - 1);
	t->top = 0;
	for (uint8_t i = 0; i < ISA_MAX_TURNING; i++)
		t->holds[i] = i;
}

static inline bool turning_has(const struct turning *t, uint8_t key)
{
	return t && (uint8_t)(key - t->first) <= t->mask;
}

/* Returns the key of the register that a name means now. */
static inline uint8_t turning_key(const struct turning *t, uint8_t key)
{
	if (!turning_has(t, key))
		return key;
	return (uint8_t)(t->first + t->holds[(t->top + key - t->first) & t->mask]);
}

/* Returns the key in the iteration before of a register at the start of this one. */
static inline uint8_t turning_next(const struct turning *t, uint8_t key)
{
	return (uint8_t)(t->first + t->holds[key - t->first]);
}

/* What an instruction puts on the stack is there when it writes. */
static inline void turning_before(struct turning *t, const struct block_lowered *l)
{
	if (t && l->turn < 0)
		t->top = (uint8_t)(t->top + l->turn) & t->mask;
}

static inline void turning_after(struct turning *t, const struct block_lowered *l)
{
	if (!t)
		return;
	if (l->exchanges) {
		uint8_t *a = &t->holds[(t->top + l->exchanged[0] - t->first) & t->mask];
		uint8_t *b = &t->holds[(t->top + l->exchanged[1] - t->first) & t->mask];
		const uint8_t held = *a;

		*a = *b;
		*b = held;
	}
	if (l->turn > 0)
		t->top = (uint8_t)(t->top + l->turn) & t->mask;
}

#endif /* TACT_BLOCK_TURNING_H */

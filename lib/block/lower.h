/* SPDX-License-Identifier: MIT
 *
 * An instruction while it is being lowered: lower.c chooses its variant, lower_values.c finds what it
 * reads and writes, lower_memory.c what its loads and stores take.
 */
#ifndef BLOCK_LOWER_H
#define BLOCK_LOWER_H

#include "block/block.h"

/* The finished lists go to the arena. */
struct draft {
	struct block_lowered *l;
	const struct tact_arch *arch;
	const struct tact_insn *insn;
	const struct arch_latency *list;
	struct lowered_value in[LOWERED_MAX_IN], out[LOWERED_MAX_OUT];
	uint8_t out_id[LOWERED_MAX_OUT]; /* as the latencies name it */
	uint16_t latency[LOWERED_MAX_IN][LOWERED_MAX_OUT];
};

/* Returns the cycles from `from` to `to` in a list; -1 if the list does not say. */
static inline int lower_find_latency(const struct arch_latency *list, uint8_t from, uint8_t to)
{
	for (; list->from != ARCH_OP_END; list++)
		if (list->from == from && list->to == to)
			return list->cycles;
	return -1;
}

static inline bool lower_has_latency_from(const struct arch_latency *list, uint8_t from)
{
	for (; list->from != ARCH_OP_END; list++)
		if (list->from == from)
			return true;
	return false;
}

/* Returns whether a register counts as an operand: not flags or pointers, and not what the stack
 * engine keeps.
 */
static inline bool lower_is_data(const struct tact_operand *o)
{
	return o->kind == TACT_OPERAND_REG && o->role == TACT_ROLE_NONE && !o->implicit_pointer;
}

static inline uint8_t lower_operand_id(const struct tact_operand *o)
{
	if (o->number == TACT_REG_NONE)
		return ARCH_OP_END;
	return (uint8_t)((o->kind == TACT_OPERAND_MEM ? ARCH_OP_MEM : ARCH_OP_REG) | o->number);
}

static inline uint8_t lower_flags_id(const struct tact_insn *insn)
{
	for (unsigned i = 0; i < insn->n_operands; i++)
		if (insn->operand[i].kind == TACT_OPERAND_REG &&
		    insn->operand[i].role == TACT_ROLE_FLAGS)
			return lower_operand_id(&insn->operand[i]);
	return ARCH_OP_END;
}

/* Fills everything from LLVM's facts about the instruction at `code`; leaves it unknown if there are
 * none.  Returns 0 or -TACT_E_NOMEM.
 */
int lower_by_facts(struct draft *d, const uint8_t *code, struct tact_arena *arena);

/* ---- what it reads and writes ---- */

/* Outputs come first: inputs have a latency to each of them. */
void lower_outputs(struct draft *d);
void lower_register_inputs(struct draft *d);
void lower_flag_inputs(struct draft *d);
void lower_memory_inputs(struct draft *d);

/* ---- loads and stores ---- */

/* Returns whether the address of a load takes longer: a scaled index, three parts, or a segment. */
bool lower_has_long_address(const struct tact_insn *insn);

/* If a parameter file changes the latency of loads, latencies from addresses change by as much. */
void lower_shift_loads(struct draft *d);

/* Fills the row of memory input k: the cycles to each output when a store hands its data on. */
void lower_forward_row(const struct draft *d, unsigned k, uint16_t *row);

/* Where memory is renamed: whether it leaves or takes what was stored. */
void lower_renaming(struct draft *d);

void lower_rmw(struct draft *d);

/* Returns how many granules of the store buffer its stores take. */
unsigned lower_count_granules(const struct draft *d);

#endif /* BLOCK_LOWER_H */

/* SPDX-License-Identifier: MIT
 *
 * Instructions that only keep the upper part of a vector register: on some cores they do not wait
 * for it if it is known to be zero.  Registers begin with ordinary values; what an iteration leaves
 * is where the next one begins.
 *
 * Cores that save upper parts: SSE without VEX writes a register while upper parts are not zero, and
 * all of them are put aside; the next instruction with VEX brings them back.
 */
#include "block/block.h"

/* Returns the vector register that an instruction takes its upper part from, or TACT_REG_NONE. */
static uint8_t upper_source(const struct tact_block *block, const struct block_lowered *l)
{
	for (unsigned k = 0; k < l->n_in; k++)
		if (l->in[k].kind == VALUE_REG && isa_is_vector(block->arch->isa, l->in[k].key))
			return l->in[k].key;
	return TACT_REG_NONE;
}

/* Returns whether the upper part of what an instruction writes is zero. */
static bool leaves_zero(const struct tact_block *block, const struct block_lowered *l,
			const bool *zero)
{
	uint8_t source;

	if (l->idiom || l->attributes & TACT_INSN_ZEROES_UPPER)
		return true;
	if (!(l->attributes & TACT_INSN_PASSES_UPPER) && !l->eliminated)
		return false;
	source = upper_source(block, l);
	return source != TACT_REG_NONE && zero[source];
}

/* Cuts the connection of an input that is not waited for. */
static void cut(struct tact_block *block, struct block_insn *bi, unsigned input)
{
	struct block_node *nodes = block->nodes + bi->first_node;
	uint32_t producer = nodes[input].producer;
	bool is_needed = false;

	nodes[input].producer = BLOCK_NO_PRODUCER;
	for (unsigned k = 0; k < bi->lowered->n_in; k++)
		is_needed |= nodes[k].producer == producer;
	if (!is_needed && producer < 64)
		bi->producers &= ~(1ull << producer);
}

void block_cut_merges(struct tact_block *block)
{
	enum { PASSES = 3 };
	bool zero[ISA_MAX_REGISTERS] = {false}, any = false;

	for (size_t i = 0; i < block->n_insns && !any; i++)
		any = block->insns[i].lowered->merged;
	for (unsigned pass = 0; pass < PASSES && any; pass++)
		for (size_t i = 0; i < block->n_insns; i++) {
			struct block_insn *bi = &block->insns[i];
			const struct block_lowered *l = bi->lowered;
			bool leaves = leaves_zero(block, l, zero);

			if (l->merged && pass + 1 == PASSES && zero[l->in[l->merged - 1].key])
				cut(block, bi, l->merged - 1);
			for (unsigned o = 0; o < l->n_out; o++)
				if (l->out[o].kind == VALUE_REG)
					zero[l->out[o].key] = leaves;
		}
}

enum uppers { UPPERS_ZERO, UPPERS_USED, UPPERS_SAVED };

/* Returns whether an instruction writes the upper part of one of the registers that SSE has. */
static bool writes_upper(const struct tact_block *block, const struct tact_insn *insn)
{
	enum { OLD_REGISTERS = 16, OLD_BITS = 128 };
	const unsigned first = block->arch->isa->registers.first_vector;

	for (unsigned k = 0; k < insn->n_operands; k++) {
		const struct tact_operand *o = &insn->operand[k];

		if (o->kind == TACT_OPERAND_REG &&
		    o->access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE) &&
		    isa_is_vector(block->arch->isa, o->reg) && o->reg - first < OLD_REGISTERS &&
		    o->bits > OLD_BITS)
			return true;
	}
	return false;
}

static bool writes_vector(const struct tact_block *block, const struct block_lowered *l)
{
	for (unsigned o = 0; o < l->n_out; o++)
		if (l->out[o].kind == VALUE_REG && isa_is_vector(block->arch->isa, l->out[o].key))
			return true;
	return false;
}

/* Returns what an instruction leaves. */
static enum uppers uppers_after(const struct tact_block *block, const struct block_insn *bi,
				enum uppers before)
{
	const uint32_t a = bi->lowered->attributes;

	if (a & TACT_INSN_CLEARS_UPPER)
		return UPPERS_ZERO;
	if (a & TACT_INSN_OLD_VECTOR)
		return before == UPPERS_USED && writes_vector(block, bi->lowered) ? UPPERS_SAVED
										  : before;
	if (!(a & TACT_INSN_VECTOR))
		return before;
	return before == UPPERS_SAVED || writes_upper(block, bi->insn) ? UPPERS_USED : before;
}

void block_find_switches(struct tact_block *block)
{
	enum { PASSES = 2 };
	enum uppers uppers = UPPERS_ZERO;
	uint32_t any = 0;

	for (size_t i = 0; i < block->n_insns; i++) {
		block->insns[i].switches_upper = false;
		any |= block->insns[i].lowered->attributes;
	}
	for (unsigned pass = 0; pass < PASSES && any & TACT_INSN_OLD_VECTOR; pass++)
		for (size_t i = 0; i < block->n_insns; i++) {
			struct block_insn *bi = &block->insns[i];
			const enum uppers after = uppers_after(block, bi, uppers);

			bi->switches_upper = (uppers == UPPERS_SAVED) != (after == UPPERS_SAVED);
			uppers = after;
		}
}

/* SPDX-License-Identifier: MIT
 *
 * Loads that cross a cache line.  Registers count as aligned to lines where they begin, so only a
 * displacement from one that the block never writes tells.
 */
#include "block/block.h"

enum { LINE = 64 };

static bool is_split(const struct tact_block *block, const struct block_insn *bi, uint32_t written)
{
	const struct isa_registers *registers = &block->arch->isa->registers;
	const struct tact_operand *o;

	if (bi->lowered->load_operand == TACT_REG_NONE)
		return false;
	o = &bi->insn->operand[bi->lowered->load_operand];
	if (!o->explicit_operand || o->index != TACT_REG_NONE || o->segment != TACT_REG_NONE ||
	    !isa_is_general(block->arch->isa, o->base) || written >> o->base & 1)
		return false;
	/* Where the stack is, only the code says, unless --init does. */
	if (block->opt.init != TACT_INIT_SAME &&
	    (o->base == registers->stack_pointer || o->base == registers->frame_pointer))
		return false;
	return ((uint64_t)bi->constants.displacement & (LINE - 1)) + o->bits / 8u > LINE;
}

void block_mark_splits(struct tact_block *block)
{
	uint32_t written = block->opt.moving;

	block->has_splits = false;
	for (size_t i = 0; i < block->n_insns; i++)
		written |= block->insns[i].lowered->general_written;
	for (size_t i = 0; i < block->n_insns; i++) {
		struct block_insn *bi = &block->insns[i];

		bi->is_split = block->arch->params.split_loads && is_split(block, bi, written);
		block->has_splits |= bi->is_split;
	}
}

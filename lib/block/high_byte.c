/* SPDX-License-Identifier: MIT
 *
 * Cores that rename the second byte of a register separately (ah, ch, dh, bh) join the two when the
 * whole register is read: with an additional uop, which issues alone (BHive: "and dh, 127; cmp edx,
 * 32" takes two cycles).
 */
#include "block/block.h"

static bool is_read(const struct tact_operand *o, unsigned reg)
{
	if (o->kind == TACT_OPERAND_MEM || o->kind == TACT_OPERAND_AGEN)
		return o->base == reg || o->index == reg;
	return o->kind == TACT_OPERAND_REG && o->reg == reg && o->bits > 8 &&
	       o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ);
}

/* Returns the register that an instruction makes whole, or BLOCK_NO_KEY; in `split` a bit is set for
 * each general register whose second byte is separate.
 */
static uint8_t pass(const struct block_insn *bi, uint32_t *split)
{
	const struct tact_insn *insn = bi->insn;
	uint8_t key = BLOCK_NO_KEY;

	for (unsigned k = 0; k < insn->n_operands && *split && !bi->lowered->idiom; k++)
		for (uint8_t reg = 0; *split >> reg; reg++)
			if (*split >> reg & 1 && is_read(&insn->operand[k], reg)) {
				*split &= ~(1u << reg);
				key = reg;
			}
	for (unsigned k = 0; k < insn->n_operands; k++) {
		const struct tact_operand *o = &insn->operand[k];

		if (o->kind != TACT_OPERAND_REG || o->reg >= ISA_MAX_GENERAL ||
		    !(o->access & TACT_ACCESS_WRITE))
			continue;
		if (o->first_byte)
			*split |= 1u << o->reg;
		else if (o->bits > 8)
			*split &= ~(1u << o->reg);
	}
	return key;
}

unsigned block_find_merges(const struct tact_block *block, bool repeats, uint8_t *keys)
{
	uint32_t split = 0;
	unsigned n = 0;

	/* A first pass shows what an iteration leaves to the next one. */
	for (size_t i = 0; i < block->n_insns && repeats; i++)
		pass(&block->insns[i], &split);
	for (size_t i = 0; i < block->n_insns; i++) {
		keys[i] = pass(&block->insns[i], &split);
		n += keys[i] != BLOCK_NO_KEY;
	}
	return n;
}

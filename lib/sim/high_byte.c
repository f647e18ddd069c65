/* SPDX-License-Identifier: MIT
 *
 * Cores that rename ah, ch, dh and bh apart from their registers join the two when the whole is
 * read: with a uop of its own, which issues alone (BHive: "and
 * dh, 127; cmp edx, 32" takes two cycles).
 */
#include "sim/sim.h"

enum { N_SPLIT = 4 /* rax, rcx, rdx, rbx */ };

static bool is_read(const struct tact_operand *o, unsigned reg)
{
	if (o->kind == TACT_OPERAND_MEM || o->kind == TACT_OPERAND_AGEN)
		return o->base == reg || o->index == reg;
	return o->kind == TACT_OPERAND_REG && o->reg == reg && o->bits > 8 &&
	       o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ);
}

/* The register that an instruction makes whole, or SIM_NO_KEY; `split` is what is apart. */
static uint8_t pass(const struct block_insn *bi, bool *split)
{
	const struct tact_insn *insn = bi->insn;
	uint8_t key = SIM_NO_KEY;

	for (unsigned k = 0; k < insn->n_operands && !bi->lowered->idiom; k++)
		for (uint8_t reg = 0; reg < N_SPLIT; reg++)
			if (split[reg] && is_read(&insn->operand[k], reg)) {
				split[reg] = false;
				key = reg;
			}
	for (unsigned k = 0; k < insn->n_operands; k++) {
		const struct tact_operand *o = &insn->operand[k];

		if (o->kind != TACT_OPERAND_REG || o->reg >= N_SPLIT ||
		    !(o->access & TACT_ACCESS_WRITE))
			continue;
		if (o->high_byte)
			split[o->reg] = true;
		else if (o->bits > 8)
			split[o->reg] = false;
	}
	return key;
}

void sim_find_merges(struct sim_program *p, const struct tact_block *block, bool for_stream)
{
	bool split[N_SPLIT] = {false};

	if (!block->arch->params.high8_renamed)
		return;
	/* Once to see what an iteration leaves to the next one. */
	for (size_t i = 0; i < block->n_insns && !for_stream; i++)
		pass(&block->insns[i], split);
	for (size_t i = 0; i < block->n_insns; i++) {
		uint8_t key = pass(&block->insns[i], split);

		if (key != SIM_NO_KEY)
			p->insns[p->raws[i].insn].merge_key = key;
	}
}

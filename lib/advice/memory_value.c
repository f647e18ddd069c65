/* SPDX-License-Identifier: MIT
 *
 * A value that is kept in memory and goes through it in every iteration.
 */
#include "advice/advisor.h"

#include <tact/predict.h>

/* The place of a memory operand, as it is spelled. */
struct place {
	uint8_t base, index, scale, segment;
	bool is_relative; /* to the instruction: `at` is an offset of the block then */
	uint16_t bits;
	int64_t at;
};

static const struct tact_operand *memory_of(const struct tact_insn *insn)
{
	for (unsigned o = 0; o < insn->n_operands; o++)
		if (insn->operand[o].kind == TACT_OPERAND_MEM)
			return &insn->operand[o];
	return NULL;
}

static bool place_of(const struct tact_block *block, size_t i, struct place *p)
{
	const struct block_insn *bi = &block->insns[i];
	const struct tact_operand *o = memory_of(bi->insn);

	if (!o || !o->explicit_operand)
		return false;
	*p = (struct place){.base = o->base,
			    .index = o->index,
			    .scale = o->scale,
			    .segment = o->segment,
			    .bits = o->bits,
			    .is_relative = bi->lowered->attributes & TACT_INSN_PC_RELATIVE,
			    .at = bi->constants.displacement};
	if (p->is_relative)
		p->at += (int64_t)bi->offset + bi->constants.length;
	return true;
}

static bool has_same_registers(const struct place *p, const struct place *q)
{
	return p->base == q->base && p->index == q->index &&
	       (p->scale == q->scale || p->index == TACT_REG_NONE) && p->segment == q->segment &&
	       p->is_relative == q->is_relative;
}

/* Whether its address is the same in every iteration. */
static bool is_fixed(const struct tact_block *block, const struct place *p)
{
	for (size_t i = 0; i < block->n_insns; i++)
		if ((p->base != TACT_REG_NONE && advice_writes(block, i, p->base)) ||
		    (p->index != TACT_REG_NONE && advice_writes(block, i, p->index)))
			return false;
	return true;
}

/* The place through which the critical chain goes. */
static bool find_place(struct tact_advisor *a, struct place *p, size_t *insn)
{
	enum { MEMORY = 3 };
	struct tact_chain chain = TACT_CHAIN_INIT;

	if (tact_explain_chain(a->block, &chain) < 0)
		return false;
	for (size_t k = 0; k < chain.n_links; k++) {
		if (chain.links[k].to_kind != MEMORY)
			continue;
		*insn = chain.links[k].insn;
		return place_of(a->block, *insn, p) && is_fixed(a->block, p) &&
		       (p->bits == 32 || p->bits == 64);
	}
	return false;
}

/* Puts the register in place of all accesses.  Fails if one overlaps and is not the same. */
static bool draft(struct tact_advisor *a, const struct place *p, uint8_t reg)
{
	const struct tact_block *block = a->block;

	advice_begin(a, "memory-value");
	for (size_t i = 0; i < block->n_insns; i++) {
		const uint32_t attributes = block->insns[i].lowered->attributes;
		uint8_t changed[TACT_MAX_INSN_BYTES];
		struct place q;
		size_t size;
		const uint8_t *code = advice_bytes(a, i, &size);

		if (!(attributes & (TACT_INSN_LOAD | TACT_INSN_STORE)) || !place_of(block, i, &q) ||
		    !has_same_registers(p, &q) || q.at >= p->at + p->bits / 8 ||
		    q.at + q.bits / 8 <= p->at) {
			advice_add_insn(a, i);
			continue;
		}
		if (q.at != p->at || q.bits != p->bits || attributes & TACT_INSN_LOCKED)
			return false;
		advice_about(a, i);
		advice_add(a, changed, a->rewriter->in_register(code, size, reg, changed));
	}
	return a->draft.n_about > 0;
}

void advise_memory(struct tact_advisor *a)
{
	const struct tact_isa *isa = a->block->arch->isa;
	struct advice_found *f;
	struct place p;
	size_t insn;
	uint64_t set;
	uint8_t reg;

	if (!find_place(a, &p, &insn))
		return;
	set = a->block->insns[insn].lowered->attributes & TACT_INSN_VECTOR ? a->free_vector
									   : a->free_general;
	if (!set)
		return;
	reg = advice_take_general(&set);
	if (!draft(a, &p, reg) || !advice_try(a))
		return;
	f = advice_keep(a);
	if (!f)
		return;
	text_printf(&f->text, "instruction%s ", f->n_insns > 1 ? "s" : "");
	advice_list(&f->text, f->insns, f->n_insns);
	text_add(&f->text,
		 ": a value goes through memory in every iteration; keep it in a register");
	text_printf(&f->assumes,
		    "nothing else accesses that memory meanwhile; it is loaded before and stored "
		    "afterwards; a register is free (here %s)",
		    tact_isa_reg_name(isa, reg));
}

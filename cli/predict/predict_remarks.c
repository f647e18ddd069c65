/* SPDX-License-Identifier: MIT
 *
 * What a prediction assumes that only shows once it is made.
 */
#include "predictor.h"

enum { THROUGH_MEMORY = 3 }; /* of struct tact_chain_link */

static bool is_written(const struct predict_worker *w, unsigned reg)
{
	struct tact_insn insn;

	for (size_t i = 0; i < tact_block_length(w->block); i++) {
		if (tact_block_insn(w->block, i, &insn) < 0)
			continue;
		for (unsigned k = 0; k < insn.n_operands; k++)
			if (insn.operand[k].kind == TACT_OPERAND_REG &&
			    insn.operand[k].reg == reg &&
			    insn.operand[k].access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE))
				return true;
	}
	return false;
}

/* Returns whether the address of a store has a register that other code may change, and none that
 * the block changes.  Variables on the stack and those without a register stay where they are.
 */
static bool may_move(const struct predict_worker *w, size_t store)
{
	const unsigned stack_pointer = tact_isa_stack_pointer(w->source->region.isa);
	struct tact_insn insn;

	if (tact_block_insn(w->block, store, &insn) < 0)
		return false;
	for (unsigned k = 0; k < insn.n_operands; k++) {
		const struct tact_operand *o = &insn.operand[k];

		if (o->kind != TACT_OPERAND_MEM ||
		    !(o->access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE)))
			continue;
		return ((o->base != TACT_REG_NONE && o->base != stack_pointer) ||
			o->index != TACT_REG_NONE) &&
		       !is_written(w, o->base) && !is_written(w, o->index);
	}
	return false;
}

/* The chain that limits the block goes through memory to the next iteration, at an address that
 * only code around the block could change.
 */
static bool is_fixed_chain(struct predict_worker *w)
{
	struct tact_chain chain = TACT_CHAIN_INIT;
	const struct tact_chain_link *l;

	if (tact_explain_chain(w->block, &chain) < 0)
		return false;
	for (l = chain.links; l < chain.links + chain.n_links; l++)
		if (l->to_kind == THROUGH_MEMORY && l->iterations && may_move(w, l->insn))
			return true;
	return false;
}

void predict_remark_addresses(struct predict_worker *w, const struct tact_prediction *x)
{
	const uint32_t chains = 1u << TACT_BOUND_PRECEDENCE | 1u << TACT_BOUND_FORWARDING;
	const struct predictor *p = w->p;

	/* Lists of hex are read as CSV to be fast. */
	if (!(x->bottlenecks & chains) || x->mode == TACT_MODE_LOOP || p->is_alias ||
	    p->is_noalias || p->is_number_only ||
	    (p->format == FORMAT_CSV && w->source->region.text_size))
		return;
	if (is_fixed_chain(w))
		predict_remark(w, "addresses-assumed-fixed",
			       "each iteration stores and loads the same address; --noalias if the "
			       "address moves in the loop around it");
}

void predict_remark_insns(struct predict_worker *w)
{
	struct tact_insn_cost cost = TACT_INSN_COST_INIT;
	struct tact_insn insn;
	uint32_t any = 0;
	bool switches = false;

	/* Lists of hex are read as CSV to be fast. */
	if (w->p->is_number_only || (w->p->format == FORMAT_CSV && w->source->region.text_size))
		return;
	for (size_t i = 0; i < tact_block_length(w->block); i++)
		if (tact_block_insn(w->block, i, &insn) >= 0)
			any |= insn.attributes;
	for (size_t i = 0; i < tact_block_length(w->block) && any & TACT_INSN_OLD_VECTOR; i++)
		switches |=
			tact_block_cost(w->block, i, &cost) >= 0 && cost.notes & TACT_NOTE_SWITCHES;
	if (switches)
		predict_remark(w, "old-vectors",
			       "Vector instructions of the old encoding run while upper halves are "
			       "in use: each switch costs hundreds of cycles; clear the upper "
			       "halves before them, or use the new encoding");
	if (any & TACT_INSN_REP)
		predict_remark(w, "rep-count",
			       "How often a rep instruction repeats is not known; it counts as a "
			       "short one");
	if (any & TACT_INSN_NON_TEMPORAL)
		predict_remark(w, "non-temporal",
			       "Non-temporal stores count as others do; how fast memory takes them "
			       "is not modelled");
}

/* SPDX-License-Identifier: MIT
 *
 * A comparison and its branch that do not fuse because something stands between them.
 */
#include "advice/advisor.h"

/* The instruction whose flags a branch needs, in the same iteration; n_insns if there is none, or
 * more than one.
 */
static size_t flags_of(const struct tact_block *block, size_t branch)
{
	const struct block_insn *bi = &block->insns[branch];
	size_t found = block->n_insns;

	for (unsigned k = 0; k < bi->lowered->n_in; k++) {
		const struct block_node *node = &block_nodes(block)[bi->first_node + k];

		if (bi->lowered->in[k].kind != VALUE_FLAGS)
			continue;
		if (node->producer == BLOCK_NO_PRODUCER || node->iterations ||
		    (found != block->n_insns && found != node->producer))
			return block->n_insns;
		found = node->producer;
	}
	return found;
}

/* Whether q may be executed before p instead of after it. */
static bool may_swap(const struct tact_block *block, size_t p, size_t q)
{
	const struct tact_insn *first = block->insns[p].insn, *second = block->insns[q].insn;
	const uint32_t memory = TACT_INSN_LOAD | TACT_INSN_STORE;

	if (second->flags_read || second->flags_written || first->flags_read ||
	    second->attributes & (TACT_INSN_BRANCH | TACT_INSN_SERIALIZING | TACT_INSN_LOCKED))
		return false;
	if ((first->attributes | second->attributes) & TACT_INSN_STORE &&
	    first->attributes & memory && second->attributes & memory)
		return false;
	for (unsigned r = 0; r < block->arch->isa->registers.n; r++)
		if ((advice_writes(block, p, r) && advice_uses(block, q, r)) ||
		    (advice_uses(block, p, r) && advice_writes(block, q, r)))
			return false;
	return true;
}

/* Why the pair does not fuse although it could. */
static void advise_branch(struct tact_advisor *a, size_t branch)
{
	const struct tact_block *block = a->block;
	const size_t p = flags_of(block, branch);
	char compare[32], jump[32], between[32];
	struct advice_found *f;

	if (p >= branch || p + 1 == branch || block->insns[branch].fused_prev ||
	    !(block->insns[p].lowered->fuse >> block->insns[branch].lowered->condition & 1))
		return;
	for (size_t q = p + 1; q < branch; q++)
		if (!may_swap(block, p, q))
			return;
	advice_begin(a, "unfused-branch");
	for (size_t i = 0; i < block->n_insns; i++) {
		if (i == branch)
			advice_add_insn(a, p);
		if (i != p)
			advice_add_insn(a, i);
	}
	advice_about(a, p);
	advice_about(a, branch);
	if (!advice_try(a))
		return;
	f = advice_keep(a);
	if (!f)
		return;
	advice_mnemonic(a, p, compare, sizeof(compare));
	advice_mnemonic(a, branch, jump, sizeof(jump));
	advice_mnemonic(a, p + 1, between, sizeof(between));
	text_printf(&f->text,
		    "%s and %s do not fuse because %s%s between them; put %s directly before %s",
		    compare, jump, between, branch - p > 2 ? " and others stand" : " stands",
		    compare, jump);
}

void advise_fusion(struct tact_advisor *a)
{
	for (size_t i = 1; i < a->block->n_insns && !a->failed; i++)
		if (a->block->insns[i].lowered->attributes & TACT_INSN_COND_BRANCH)
			advise_branch(a, i);
}

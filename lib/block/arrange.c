/* SPDX-License-Identifier: MIT
 *
 * What instructions are to their neighbours: fused pairs, jumps at the end of a line; and what
 * depends on constants and on where the block is.
 */
#include "block/block.h"
#include "code/transfers.h"

/* Returns whether the block ends in a direct branch to its first byte. */
static bool ends_in_loop(const struct tact_block *block)
{
	const struct block_insn *last = &block->insns[block->n_insns - 1];

	return code_leads_back(
		(enum tact_flow)last->insn->flow, last->insn->immediate_bits != 0,
		/* an immediate of another kind may have any value */
		(int64_t)((uint64_t)last->constants.length + (uint64_t)last->constants.immediate),
		last->offset);
}

/* Fuses a flag-writing instruction with the jump after it, unless the jump starts a cache line
 * (Intel optimization manual, 2.5.2.1).
 */
static void fuse(struct tact_block *block)
{
	for (size_t i = 0; i < block->n_insns; i++) {
		struct block_insn *bi = &block->insns[i];
		struct block_insn *previous = i ? bi - 1 : NULL;

		if (!previous || !(bi->lowered->attributes & TACT_INSN_COND_BRANCH) ||
		    previous->fused_prev)
			continue;
		if (!(previous->lowered->fuse >> bi->lowered->condition & 1) || !bi->lowered->known)
			continue;
		if (!((bi->offset + block->opt.alignment) % 64))
			continue;
		previous->fused_next = bi->fused_prev = true;
	}
}

/* A nop shares the slot of the instruction before it, unless that is a branch or a vector
 * instruction or already has a nop, or either has a displacement of 32 bits (experiments on Zen 4).
 */
static void fuse_nops(struct tact_block *block)
{
	for (size_t i = 1; i < block->n_insns; i++) {
		struct block_insn *bi = &block->insns[i];

		bi->fused_prev |=
			bi->lowered->fuses_nop && !bi[-1].fused_prev &&
			!(bi[-1].lowered->attributes & (TACT_INSN_BRANCH | TACT_INSN_VECTOR)) &&
			bi[-1].lowered->is_nop == bi[-1].lowered->fuses_nop;
	}
}

/* Marks jumps and fused pairs that cross or end on a 32-byte boundary (Intel 341810). */
static void mark_jcc_erratum(struct tact_block *block)
{
	for (size_t i = 0; i < block->n_insns; i++) {
		struct block_insn *bi = &block->insns[i];
		const struct block_insn *first = bi->fused_prev ? bi - 1 : bi;
		unsigned begin = first->offset + block->opt.alignment;
		unsigned end = bi->offset + bi->lowered->length + block->opt.alignment;

		bi->jcc = block->arch->params.jcc_erratum &&
			  bi->lowered->attributes & TACT_INSN_BRANCH && begin / 32 != end / 32;
		if (bi->jcc && i + 1 == block->n_insns)
			block->jcc_erratum = true;
	}
}

/* Chooses how instructions that add a constant are executed, by the constant. */
static void fold_constants(struct tact_block *block)
{
	const int64_t limit = block->arch->params.fold_limit;

	for (size_t i = 0; i < block->n_insns; i++) {
		struct block_insn *bi = &block->insns[i];
		const struct block_lowered *plain = &block->lowered[bi->entry];
		int64_t change;

		if (bi->latency || !plain->folded)
			continue;
		change = block_added(bi);
		bi->lowered = !bi->fused_next && change >= -limit && change < limit ? plain->folded
										    : plain;
	}
}

static void mark_pairs(struct tact_block *block)
{
	const bool fuses_nops = block->arch->params.nop_fusion;

	if (!block->counts.branches && !fuses_nops && !block->has_marks)
		return;
	for (size_t i = 0; i < block->n_insns; i++)
		block->insns[i].fused_prev = block->insns[i].fused_next = block->insns[i].jcc =
			false;
	block->has_marks = block->counts.branches || fuses_nops;
	if (block->counts.branches) {
		fuse(block);
		mark_jcc_erratum(block);
	}
	if (fuses_nops)
		fuse_nops(block);
}

void block_arrange(struct tact_block *block)
{
	block_disconnect(block);
	block->spread_valid = false;
	block->mode = block->opt.mode != TACT_MODE_AUTO ? block->opt.mode
		      : ends_in_loop(block)		? TACT_MODE_LOOP
							: TACT_MODE_UNROLL;
	block->jcc_erratum = false;
	if (block->has_splits || (block->arch->params.split_loads && block->counts.loads))
		block_mark_splits(block);
	mark_pairs(block);
	if (block->arch->params.fold_limit)
		fold_constants(block);
	if (block->arch->params.upper_switch)
		block_find_switches(block);
}

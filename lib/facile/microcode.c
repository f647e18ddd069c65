/* SPDX-License-Identifier: MIT
 *
 * Front-end cycles of blocks with microcode: the sequencer delivers four uops per cycle, nothing
 * else comes meanwhile, and switching to it costs cycles (uiCA).
 */
#include "facile/facile.h"

/* After a taken branch, no uops of the same 32 bytes follow in the same cycle; on some cores none
 * at all.
 */
static bool ends_with_branch(const struct tact_block *block)
{
	unsigned start = block->opt.alignment,
		 last = block->insns[block->n_insns - 1].offset + start;

	return block->arch->params.dsb_ends_at_branch ||
	       (last / 32 == start / 32 && block->arch->params.dsb_window == 32);
}

static unsigned sequenced_cycles(const struct arch_params *p, const struct block_lowered *l)
{
	const unsigned width = (unsigned)p->ms_width;

	return (block_sequenced(l) + width - 1) / width;
}

/* Cycles of a loop with microcode: the DSB delivers up to a call of the sequencer, then that, after
 * the cycles of the switch.
 */
static unsigned loop_cycles(const struct tact_block *block)
{
	const struct arch_params *p = &block->arch->params;
	unsigned width = (unsigned)p->dsb_width, slots = 0, before = 0, cycles = 0;
	bool any = false;

	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *l = block->insns[i].lowered;

		if (block->insns[i].fused_prev)
			continue;
		slots += l->mite + block_extra_slots(block, i);
		if (!block_sequenced(l))
			continue;
		if (any)
			cycles += (slots + width - 1) / width;
		else
			before = slots;
		cycles += (unsigned)p->dsb_ms_stall + sequenced_cycles(p, l);
		any = true;
		slots = 0;
	}
	if (!any)
		return 0;
	if (ends_with_branch(block))
		return cycles + (before + width - 1) / width + (slots + width - 1) / width;
	return cycles + (before + slots + width - 1) / width;
}

/* Unrolled code: a cycle is lost before and one after the sequencer's. */
static unsigned decoded_cycles(const struct tact_block *block)
{
	const struct arch_params *p = &block->arch->params;
	unsigned cycles = 0;

	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *l = block->insns[i].lowered;

		if (block_sequenced(l))
			cycles += 2 * (unsigned)p->mite_ms_stall + sequenced_cycles(p, l);
	}
	return cycles;
}

unsigned facile_sequencer(struct tact_block *block, unsigned *iterations)
{
	int decoding;

	*iterations = 1;
	if (!block->counts.complex_ones || block->arch->params.decoders_alike ||
	    !block_has_microcode(block))
		return 0;
	if (block_source_of(block) != BLOCK_FROM_MITE)
		return loop_cycles(block);
	decoding = tact_explain_decoder(block, NULL, 0, iterations);
	return (unsigned)decoding + decoded_cycles(block) * *iterations;
}

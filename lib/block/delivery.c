/* SPDX-License-Identifier: MIT
 *
 * Where the uops of a block come from: decoders, DSB or LSD, and what fits into it.
 */
#include "block/block.h"

unsigned block_decoded_uops(const struct tact_block *block, bool with_microcode)
{
	unsigned n = 0;

	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];

		if (!bi->fused_prev)
			n += bi->lowered->mite + (with_microcode ? bi->lowered->ms : 0u);
	}
	return n;
}

enum block_source block_source_of(const struct tact_block *block)
{
	return block->mode == TACT_MODE_UNROLL && block->arch->params.front_end
		       ? BLOCK_FROM_MITE
		       : block_loop_source(block);
}

unsigned block_extra_slots(const struct tact_block *block, size_t i)
{
	const struct block_insn *bi = &block->insns[i];
	const struct arch_params *p = &block->arch->params;
	int64_t constant = bi->constants.immediate;

	if (bi->lowered->immediate_bits == 64 && constant != (int32_t)constant)
		return (unsigned)p->dsb_imm64_slots - 1;
	if (bi->lowered->immediate_bits == 32 && constant != (int16_t)constant &&
	    bi->lowered->attributes & (TACT_INSN_LOAD | TACT_INSN_STORE))
		return (unsigned)p->dsb_imm32_slots - 1;
	return 0;
}

/* The lines of the DSB that a loop needs (Intel optimization manual, 2.5.2.2): each holds uops of
 * one window, an instruction is never split, one from the microcode sequencer has a line to
 * itself, and a line has at most two branches.
 */
struct dsb_fill {
	unsigned window, lines, slots, branches; /* slots and branches of the last line */
};

static void fill_line(struct dsb_fill *f, const struct arch_params *p, unsigned slots, bool branch)
{
	unsigned line = (unsigned)p->dsb_line_uops;

	if (!f->lines || f->slots + slots > line || f->branches + branch > 2) {
		f->lines++;
		f->slots = f->branches = 0;
	}
	f->slots += slots < line ? slots : line;
	f->branches += branch;
}

/* A window that needs more lines than it may have is not cached; of a loop that needs more lines than
 * there are, each one is replaced before it is read again.
 */
static bool fits_dsb(const struct tact_block *block)
{
	const struct arch_params *p = &block->arch->params;
	struct dsb_fill f = {.window = ~0u};
	unsigned lines = 0;

	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];
		unsigned window = (block->opt.alignment + bi->offset) / (unsigned)p->dsb_window;

		if (bi->fused_prev)
			continue;
		if (window != f.window) {
			lines += f.lines;
			f = (struct dsb_fill){.window = window};
		}
		fill_line(&f, p,
			  bi->lowered->ms ? (unsigned)p->dsb_line_uops
					  : bi->lowered->mite + block_extra_slots(block, i),
			  bi->fused_next || bi->lowered->attributes & TACT_INSN_BRANCH);
		if (f.lines > (unsigned)p->dsb_lines)
			return false;
	}
	return !p->dsb_size || lines + f.lines <= (unsigned)p->dsb_size;
}

size_t block_cached_insns(const struct tact_block *block)
{
	enum { BYTES = 64 };
	const struct block_insn *jump = &block->insns[block->n_insns - 1];
	size_t n = 0;
	unsigned begin;

	if (!block->jcc_erratum || block->mode != TACT_MODE_LOOP || block->opt.paper ||
	    !fits_dsb(block))
		return 0;
	begin = (jump->fused_prev ? jump - 1 : jump)->offset + block->opt.alignment;
	begin = begin / BYTES * BYTES;
	while (n < block->n_insns && block->insns[n].offset + block->opt.alignment < begin)
		n++;
	return n;
}

bool block_has_microcode(const struct tact_block *block)
{
	for (size_t i = 0; i < block->n_insns; i++)
		if (block_sequenced(block->insns[i].lowered))
			return true;
	return false;
}

enum block_source block_loop_source(const struct tact_block *block)
{
	const struct arch_params *p = &block->arch->params;

	unsigned n = block_decoded_uops(block, false);

	if (!p->front_end)
		return BLOCK_FROM_ANYWHERE;
	if (block->jcc_erratum)
		return BLOCK_FROM_MITE;
	/* Instructions have at most four uops from the decoders, so lines are at least half full.
	 */
	if (!block->opt.paper &&
	    2 * block_decoded_uops(block, true) > (unsigned)(p->dsb_line_uops * p->dsb_lines) &&
	    !fits_dsb(block))
		return BLOCK_FROM_MITE;
	if (p->lsd && n <= (unsigned)p->idq_size)
		return BLOCK_FROM_LSD;
	return BLOCK_FROM_DSB;
}

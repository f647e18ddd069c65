/* SPDX-License-Identifier: MIT
 *
 * The predecoder works on aligned 16-byte blocks (FACILE, section 4.3).
 */
#include <string.h>

#include "facile/facile.h"

/* What ends or begins in one 16-byte block of code. */
struct fetch_block {
	uint16_t ends;    /* L: instructions whose last byte is here */
	uint16_t opcodes; /* O: whose opcode begins here and whose last byte does not */
	uint16_t lcp;     /* with a length-changing prefix whose opcode begins here */
};

static unsigned gcd(unsigned a, unsigned b)
{
	while (b) {
		unsigned r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* Counts over `copies` copies of the code; blocks[] has one element a block and begins zeroed.
 * A loop that does not begin at a block's start has its own first block, and nothing in front.
 */
static void count(const struct tact_block *block, struct fetch_block *blocks, unsigned n_blocks,
		  unsigned copies, unsigned start, unsigned width)
{
	for (unsigned copy = 0; copy < copies; copy++) {
		unsigned origin = start + copy * (unsigned)block->code_size;

		for (size_t i = 0; i < block->n_insns; i++) {
			const struct tact_insn *insn = block->insns[i].insn;
			unsigned begin = origin + block->insns[i].offset;
			unsigned end = (begin + insn->length - 1) / width % n_blocks;
			unsigned opcode = (begin + insn->opcode_offset) / width % n_blocks;

			blocks[end].ends++;
			if (opcode != end)
				blocks[opcode].opcodes++;
			if (insn->attributes & TACT_INSN_LCP)
				blocks[opcode].lcp++;
		}
	}
}

static unsigned plain_cycles(const struct fetch_block *b, unsigned width)
{
	return (b->ends + b->opcodes + width - 1) / width;
}

static unsigned stall_cycles(const struct fetch_block *b, const struct fetch_block *before,
			     unsigned width, unsigned stall)
{
	int hidden = (int)plain_cycles(before, width) - 1;
	int cycles = (int)(stall * b->lcp) - hidden;

	return b->lcp && cycles > 0 ? (unsigned)cycles : 0;
}

/* The steady state: fills *blocks (scratch) and returns their number. */
static unsigned steady_state(struct tact_block *block, struct fetch_block **blocks,
			     unsigned *iterations)
{
	const struct arch_params *p = &block->arch->params;
	unsigned width = (unsigned)p->predecode_block, length = (unsigned)block->code_size;
	unsigned start = block->opt.alignment % width, n_blocks;

	if (block->mode == TACT_MODE_LOOP) {
		*iterations = 1;
		n_blocks = (start + length + width - 1) / width;
	} else {
		*iterations = width / gcd(length, width);
		n_blocks = *iterations * length / width;
	}
	*blocks = block_scratch(block, n_blocks * sizeof(**blocks));
	if (!*blocks)
		return 0;
	memset(*blocks, 0, n_blocks * sizeof(**blocks));
	count(block, *blocks, n_blocks, *iterations, start, width);
	return n_blocks;
}

double facile_predecode(struct tact_block *block, const struct tact_predict_options *opt)
{
	const struct arch_params *p = &block->arch->params;
	unsigned width = (unsigned)p->predecode_width, stall = (unsigned)p->lcp_stall;
	unsigned iterations = 1, n_blocks, cycles = 0;
	struct fetch_block *blocks;

	if (opt->simple_predecoder)
		return (double)block->code_size / p->predecode_block;
	n_blocks = steady_state(block, &blocks, &iterations);
	for (unsigned b = 0; b < n_blocks; b++)
		cycles += plain_cycles(&blocks[b], width) +
			  stall_cycles(&blocks[b], &blocks[b ? b - 1 : n_blocks - 1], width, stall);
	return (double)cycles / iterations;
}

int tact_explain_predecoder(struct tact_block *block, struct tact_front_end_group *groups,
			    size_t capacity, unsigned *iterations)
{
	const struct arch_params *p;
	struct fetch_block *blocks;
	unsigned n_blocks;
	uint32_t insn = 0;

	if (!block || !block->n_insns || !iterations || (!groups && capacity))
		return -TACT_E_INVAL;
	p = &block->arch->params;
	n_blocks = steady_state(block, &blocks, iterations);
	if (!n_blocks)
		return -TACT_E_NOMEM;
	for (unsigned b = 0; b < n_blocks && b < capacity; b++) {
		const struct fetch_block *before = &blocks[b ? b - 1 : n_blocks - 1];

		groups[b].first_insn = insn % (uint32_t)block->n_insns;
		groups[b].n_insns = blocks[b].ends;
		groups[b].lcp_cycles = stall_cycles(&blocks[b], before, (unsigned)p->predecode_width,
						    (unsigned)p->lcp_stall);
		groups[b].cycles = plain_cycles(&blocks[b], (unsigned)p->predecode_width) +
				   groups[b].lcp_cycles;
		insn += blocks[b].ends;
	}
	return (int)n_blocks;
}

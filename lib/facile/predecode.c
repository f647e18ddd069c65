/* SPDX-License-Identifier: MIT
 *
 * The predecoder works on aligned 16-byte blocks (FACILE, section 4.3).
 *
 * The number of instructions that end before each byte of the code is written down once; what ends
 * in a 16-byte block of the unrolled code is then the difference between its two borders.  The
 * number of blocks to look at is at most the length of the code, however often it is unrolled.
 */
#include <string.h>

#include "facile/facile.h"

enum { ROOM = 16 }; /* more bytes than an instruction has */

/* What is known before each byte of the code, and after the last one. */
struct marks {
	/* Twice the number of instructions that end before it, plus one if it divides an
	 * instruction whose opcode is before it.
	 */
	uint32_t *ends;
	uint32_t *
		lcps; /* opcodes with a length-changing prefix before it; NULL: the block has no such prefix */
};

/* A walk from border to border. */
struct walk {
	struct marks marks;		  /* code_size + 1 of them */
	unsigned length, n_insns, n_lcps; /* of one iteration */
	unsigned width;
	bool loop;	     /* the code occurs once; otherwise it repeats on both sides */
	long at;	     /* position of the next border; in a loop relative to its first byte */
	unsigned ends, lcps; /* before that border, since the walk began */
};

struct fetch_block {
	unsigned ends, lcps;
	unsigned slots; /* instructions that count here: L + O of the paper */
};

/* Writes a mark to as many bytes as an instruction can have: what follows overwrites the rest. */
static void mark_bytes(uint32_t *marks, uint32_t value)
{
	for (unsigned k = 0; k < ROOM; k++)
		marks[k] = value;
}

static unsigned mark_code(struct marks *marks, const struct tact_block *block, uint32_t *memory)
{
	unsigned lcps = 0;

	marks->ends = memory;
	marks->lcps = block->counts.lcps ? memory + block->code_size + 2 * ROOM : NULL;
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *insn = block->insns[i].lowered;
		const size_t first = block->insns[i].offset,
			     after_opcode = first + insn->opcode_offset + 1;

		mark_bytes(marks->ends + first, 2 * (unsigned)i);
		mark_bytes(marks->ends + after_opcode, 2 * (unsigned)i + 1);
		if (!marks->lcps)
			continue;
		mark_bytes(marks->lcps + first, lcps);
		lcps += (insn->attributes & TACT_INSN_LCP) != 0;
		mark_bytes(marks->lcps + after_opcode, lcps);
	}
	marks->ends[block->code_size] = (uint32_t)(2 * block->n_insns);
	if (marks->lcps)
		marks->lcps[block->code_size] = lcps;
	return lcps;
}

/* Goes on to the next border; returns what lies between the last one and this one. */
static struct fetch_block next_block(struct walk *w)
{
	unsigned ends = w->ends, lcps = w->lcps, mark;
	long at;

	w->at += w->width;
	if (w->loop) {
		at = w->at < (long)w->length ? w->at : (long)w->length;
	} else {
		for (; w->at >= (long)w->length; w->at -= (long)w->length) {
			ends -= w->n_insns;
			lcps -= w->n_lcps;
		}
		at = w->at;
	}
	mark = w->marks.ends[at];
	w->ends = mark / 2;
	w->lcps = w->marks.lcps ? w->marks.lcps[at] : 0;
	return (struct fetch_block){w->ends - ends, w->lcps - lcps, w->ends - ends + mark % 2};
}

static unsigned gcd(unsigned a, unsigned b)
{
	while (b) {
		unsigned r = a % b;

		a = b;
		b = r;
	}
	return a;
}

/* Begins at the border before the code's first byte; returns the number of blocks of the steady
 * state, 0 if there is no memory.
 */
static unsigned begin(struct walk *w, struct tact_block *block, unsigned *iterations)
{
	unsigned width = (unsigned)block->arch->params.predecode_block;
	unsigned length = (unsigned)block->code_size, start = block->opt.alignment % width;
	uint32_t *memory = block_scratch(block, 2 * (length + 2 * ROOM) * sizeof(*memory));

	if (!memory)
		return 0;
	memset(w, 0, sizeof(*w));
	w->n_lcps = mark_code(&w->marks, block, memory);
	w->length = length;
	w->n_insns = (unsigned)block->n_insns;
	w->width = width;
	w->loop = block->mode == TACT_MODE_LOOP;
	if (w->loop) {
		*iterations = 1;
		w->at = -(long)start;
		return (start + length + width - 1) / width;
	}
	*iterations = width / gcd(length, width);
	/* Code of the iteration before precedes the first byte. */
	w->at = (long)((length - start % length) % length);
	w->ends = w->marks.ends[w->at] / 2u;
	w->lcps = w->marks.lcps ? w->marks.lcps[w->at] : 0;
	return *iterations * length / width;
}

static unsigned plain_cycles(const struct tact_block *block, const struct fetch_block *b)
{
	unsigned width = (unsigned)block->arch->params.predecode_width;

	if (b->slots <= width) /* nearly always, which saves the division */
		return b->slots != 0;
	return (b->slots + width - 1) / width;
}

/* A length-changing prefix is worked on while the block before is still being predecoded. */
static unsigned stall_cycles(const struct tact_block *block, const struct fetch_block *b,
			     unsigned cycles_before)
{
	unsigned stall = (unsigned)block->arch->params.lcp_stall * b->lcps;
	unsigned hidden = cycles_before ? cycles_before - 1 : 0;

	return stall > hidden ? stall - hidden : 0;
}

/* Plain cycles of the last block of the steady state, which comes before the first one. */
static unsigned cycles_of_last(const struct tact_block *block, struct walk w, unsigned n_blocks)
{
	struct fetch_block b = {0, 0, 0};

	for (unsigned i = 0; i < n_blocks; i++)
		b = next_block(&w);
	return plain_cycles(block, &b);
}

/* The cycles of all blocks of unrolled code without length-changing prefixes: the same walk as
 * below, without what only prefixes need.
 */
static unsigned sum_plain(const struct walk *w, unsigned n_blocks, unsigned width)
{
	unsigned at = (unsigned)w->at, ends = w->ends, cycles = 0;

	for (unsigned i = 0; i < n_blocks; i++) {
		unsigned mark, slots;

		for (at += w->width; at >= w->length; at -= w->length)
			ends -= w->n_insns;
		mark = w->marks.ends[at];
		slots = mark / 2 - ends + mark % 2;
		ends = mark / 2;
		/* Nearly always at most `width`, which saves the division. */
		cycles += slots <= width ? slots != 0 : (slots + width - 1) / width;
	}
	return cycles;
}

/* Returns the cycles of the steady state, or -1 without memory. */
static long sum_cycles(struct tact_block *block, unsigned *iterations)
{
	unsigned n_blocks, before = 0, cycles = 0;
	struct walk w;

	n_blocks = begin(&w, block, iterations);
	if (!n_blocks)
		return -1;
	if (!w.n_lcps && !w.loop)
		return sum_plain(&w, n_blocks, (unsigned)block->arch->params.predecode_width);
	if (w.n_lcps)
		before = cycles_of_last(block, w, n_blocks);
	for (unsigned i = 0; i < n_blocks; i++) {
		struct fetch_block b = next_block(&w);

		if (b.lcps)
			cycles += stall_cycles(block, &b, before);
		before = plain_cycles(block, &b);
		cycles += before;
	}
	return cycles;
}

double facile_predecode(struct tact_block *block, const struct tact_predict_options *opt)
{
	unsigned iterations = 1;
	long cycles;

	if (opt->simple_predecoder)
		return (double)block->code_size / block->arch->params.predecode_block;
	cycles = sum_cycles(block, &iterations);
	return cycles < 0 ? -1 : (double)cycles / iterations;
}

int facile_derive_predecode(struct tact_block *block, const struct tact_predict_options *opt,
			    struct tact_derivation *out)
{
	long cycles;

	if (opt->simple_predecoder) {
		out->counted = TACT_COUNTED_BYTES;
		out->amount = (unsigned)block->code_size;
		out->per = (unsigned)block->arch->params.predecode_block;
		return 0;
	}
	cycles = sum_cycles(block, &out->per);
	out->amount = cycles > 0 ? (unsigned)cycles : 0;
	return cycles < 0 ? -TACT_E_NOMEM : 0;
}

int tact_explain_predecoder(struct tact_block *block, struct tact_front_end_group *groups,
			    size_t capacity, unsigned *iterations)
{
	unsigned n_blocks, before;
	struct walk w;
	uint32_t insn;

	if (!block || !block->n_insns || !iterations || (!groups && capacity))
		return -TACT_E_INVAL;
	n_blocks = begin(&w, block, iterations);
	if (!n_blocks)
		return -TACT_E_NOMEM;
	before = cycles_of_last(block, w, n_blocks);
	insn = w.ends;
	for (unsigned i = 0; i < n_blocks && i < capacity; i++) {
		struct fetch_block b = next_block(&w);

		groups[i].first_insn = insn % (uint32_t)block->n_insns;
		groups[i].n_insns = b.ends;
		groups[i].lcp_cycles = stall_cycles(block, &b, before);
		before = plain_cycles(block, &b);
		groups[i].cycles = before + groups[i].lcp_cycles;
		insn += b.ends;
	}
	return (int)n_blocks;
}

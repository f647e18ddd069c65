/* SPDX-License-Identifier: MIT
 *
 * What delivers a loop's uops: DSB and LSD (FACILE, sections 4.2, 4.5 and 4.6).
 */
#include "block/dsb_line.h"
#include "block/dsb_pairs.h"
#include "facile/facile.h"

/* Counts the slots beyond one per uop, and the uops that have such slots. */
static unsigned extra_slots(const struct tact_block *block, unsigned *wide)
{
	unsigned n = 0;

	*wide = 0;
	for (size_t i = 0; i < block->n_insns && !block->opt.paper; i++) {
		unsigned extra = block_extra_slots(block, i);

		n += extra;
		*wide += extra != 0;
	}
	return n;
}

/* Measured cores have a table of small loops instead of the paper's rule. */
static bool has_small_loops(const struct arch_params *p)
{
	for (unsigned n = 0; n < PARAMS_UNROLL_MAX; n++)
		if (p->dsb_small_loop[n])
			return true;
	return false;
}

static void begin_line(struct tact_front_end_group *groups, size_t capacity, unsigned line,
		       size_t insn)
{
	if (line < capacity)
		groups[line] =
			(struct tact_front_end_group){.first_insn = (uint32_t)insn, .cycles = 1};
}

static unsigned window_of(const struct tact_block *block, size_t byte)
{
	return (unsigned)((block->opt.alignment + byte) / (unsigned)block->arch->params.dsb_window);
}

/* Counts the cycles in which an iteration is read, line by line (block/dsb_line.h), up to the branch
 * at the end, whose last byte must be in a window that was read.  Fills in what begins in the first
 * `capacity` of them.
 */
static unsigned count_reads(const struct tact_block *block, struct tact_front_end_group *groups,
			    size_t capacity)
{
	struct block_line line = {.window = UINT64_MAX};
	unsigned reads = 0;

	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];
		const unsigned window = window_of(block, bi->offset);
		unsigned slots = bi->lowered->mite + block_extra_slots(block, i),
			 constants = block_constants(block, i);

		if (!bi->fused_prev &&
		    (window != line.window ||
		     !block_line_add(&line, &block->arch->params, slots, constants))) {
			const bool joins = reads && window != line.window && !line.is_first;

			if (!joins)
				begin_line(groups, capacity, reads++, i);
			block_line_begin(&line, window);
			block_line_add(&line, &block->arch->params, slots, constants);
		}
		if (reads <= capacity)
			groups[reads - 1].n_insns++;
	}
	if (line.is_first && window_of(block, block->code_size - 1) != line.window)
		begin_line(groups, capacity, reads++, block->n_insns);
	return reads;
}

/* What a loop is read from where lines come in pairs (block/dsb_pairs.h).  Fills in the first
 * `capacity` windows, and returns how many there are.
 */
static unsigned count_pairs(const struct tact_block *block, struct block_pairs *r,
			    struct tact_front_end_group *groups, size_t capacity)
{
	unsigned n = 0;

	*r = (struct block_pairs){0};
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];
		const unsigned before = r->cycles;

		if (!bi->fused_prev &&
		    block_pairs_add(r, &block->arch->params, window_of(block, bi->offset),
				    bi->lowered->mite + block_extra_slots(block, i))) {
			if (r->here == 1)
				begin_line(groups, capacity, n++, i);
			if (n <= capacity)
				groups[n - 1].cycles += r->cycles - before - (r->here == 1);
		}
		if (n <= capacity)
			groups[n - 1].n_insns++;
	}
	if (r->window != window_of(block, block->code_size - 1))
		begin_line(groups, capacity, n++, block->n_insns);
	block_pairs_end(r, window_of(block, block->code_size - 1));
	return n;
}

int tact_explain_dsb(struct tact_block *block, struct tact_front_end_group *groups, size_t capacity,
		     unsigned *iterations)
{
	if (!block || !block->n_insns || !iterations || (!groups && capacity))
		return -TACT_E_INVAL;
	*iterations = 1;
	if (block->arch->params.dsb_line_pairs) {
		struct block_pairs r;
		unsigned n = count_pairs(block, &r, groups, capacity);

		return r.is_stepwise ? (int)n : 0;
	}
	return block->arch->params.dsb_line_a_cycle ? (int)count_reads(block, groups, capacity) : 0;
}

/* After a taken branch, no uops of the same 32 bytes follow in the same cycle, or none at all. */
static bool ends_at_branch(const struct tact_block *block)
{
	unsigned start = block->opt.alignment,
		 last = block->insns[block->n_insns - 1].offset + start;

	return last / 32 == start / 32 ||
	       (block->arch->params.dsb_ends_at_branch && !block->opt.paper);
}

/* A taken branch a cycle: whether the core can do more of them was not measured. */
static double pairs_cycles(const struct tact_block *block)
{
	struct block_pairs r;

	count_pairs(block, &r, NULL, 0);
	if (r.is_stepwise)
		return r.cycles;
	return r.lines > 2 ? r.lines / 2.0 : 1;
}

static void derive_pairs(const struct tact_block *block, struct tact_derivation *out)
{
	struct block_pairs r;

	count_pairs(block, &r, NULL, 0);
	out->counted = r.is_stepwise ? TACT_COUNTED_CYCLES : TACT_COUNTED_LINES;
	out->amount = r.is_stepwise ? r.cycles : r.lines;
	out->per = r.is_stepwise ? 1 : 2;
	if (!r.is_stepwise && r.lines < 2)
		out->rule = TACT_RULE_CEILING;
}

/* Returns the cycles of a loop of n slots. */
static double dsb_cycles(const struct tact_block *block, unsigned n)
{
	const struct arch_params *p = &block->arch->params;
	unsigned width = (unsigned)p->dsb_width;

	if (p->dsb_line_a_cycle)
		return count_reads(block, NULL, 0);
	if (p->dsb_line_pairs)
		return pairs_cycles(block);
	if (has_small_loops(p) && !block->opt.paper)
		return n < PARAMS_UNROLL_MAX && p->dsb_small_loop[n] ? p->dsb_small_loop[n] / 100.0
								     : (double)n / width;
	if (ends_at_branch(block))
		return (n + width - 1) / width;
	return (double)n / width;
}

double facile_dsb(struct tact_block *block, const struct tact_predict_options *opt)
{
	unsigned wide, n = block_decoded_uops(block, false) + extra_slots(block, &wide);
	int limit = block->arch->params.dsb_wide_limit;
	double cycles = dsb_cycles(block, n);

	(void)opt;
	return limit && (double)wide / limit > cycles ? (double)wide / limit : cycles;
}

/* Says what dsb_cycles computes. */
static void derive_width(const struct tact_block *block, unsigned n, struct tact_derivation *out)
{
	const struct arch_params *p = &block->arch->params;

	if (p->dsb_line_a_cycle) {
		out->counted = TACT_COUNTED_LINES;
		out->amount = count_reads(block, NULL, 0);
		return;
	}
	if (p->dsb_line_pairs) {
		derive_pairs(block, out);
		return;
	}
	out->counted = TACT_COUNTED_UOPS;
	out->amount = n;
	out->per = (unsigned)p->dsb_width;
	if (has_small_loops(p) && !block->opt.paper) {
		if (n < PARAMS_UNROLL_MAX && p->dsb_small_loop[n]) {
			out->rule = TACT_RULE_TABLE;
			out->cycles_per_iteration = p->dsb_small_loop[n] / 100.0;
		}
	} else if (ends_at_branch(block)) {
		out->rule = TACT_RULE_CEILING;
	}
}

int facile_derive_dsb(struct tact_block *block, const struct tact_predict_options *opt,
		      struct tact_derivation *out)
{
	unsigned wide, n = block_decoded_uops(block, false) + extra_slots(block, &wide);
	int limit = block->arch->params.dsb_wide_limit;

	(void)opt;
	derive_width(block, n, out);
	if (limit && (double)wide / limit > dsb_cycles(block, n)) {
		out->rule = TACT_RULE_RATIO;
		out->counted = TACT_COUNTED_WIDE_UOPS;
		out->amount = wide;
		out->per = (unsigned)limit;
	}
	return 0;
}

/* Returns how many copies of a loop of n uops the LSD streams as one. */
static unsigned count_copies(const struct arch_params *p, unsigned n)
{
	return n < PARAMS_UNROLL_MAX && p->lsd_unroll[n] ? p->lsd_unroll[n] : 1;
}

double facile_lsd(struct tact_block *block, const struct tact_predict_options *opt)
{
	const struct arch_params *p = &block->arch->params;
	unsigned n = block_decoded_uops(block, true), width = (unsigned)p->issue_width;
	unsigned copies = count_copies(p, n);

	(void)opt;
	return (double)((n * copies + width - 1) / width) / copies;
}

int facile_derive_lsd(struct tact_block *block, const struct tact_predict_options *opt,
		      struct tact_derivation *out)
{
	(void)opt;
	out->rule = TACT_RULE_COPIES;
	out->counted = TACT_COUNTED_UOPS;
	out->amount = block_decoded_uops(block, true);
	out->per = (unsigned)block->arch->params.issue_width;
	out->copies = count_copies(&block->arch->params, out->amount);
	return 0;
}

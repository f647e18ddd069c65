/* SPDX-License-Identifier: MIT
 *
 * Uops that are decoded already: from the DSB, which AMD calls op cache, and from the LSD to the IDQ.
 */
#include "sim/fetch.h"

/* A loop in the LSD; in a stream, its iterations are separate blocks, and it may end. */
void sim_read_lsd(struct sim_state *s)
{
	const struct sim_program *p;
	unsigned copies;

	if (s->idq_count || !sim_comes_from(s, s->next_fetch, BLOCK_FROM_LSD))
		return;
	p = sim_program_of(s, s->next_fetch);
	copies = p->n_decoded < PARAMS_UNROLL_MAX && s->params->lsd_unroll[p->n_decoded]
			 ? s->params->lsd_unroll[p->n_decoded]
			 : 1;
	while (copies-- && sim_can_come_from(s, s->next_fetch, BLOCK_FROM_LSD) &&
	       sim_program_of(s, s->next_fetch) == p)
		for (size_t i = 0; i < p->n_insns;
		     i++, s->next_fetch = sim_next(s->next_fetch, p->n_insns))
			for (unsigned u = 0; u < p->insns[i].n_decoded; u++)
				sim_deliver(s, s->next_fetch, &p->insns[i], u);
}

/* In a stream: tells whether the next block is the same one again. */
static bool repeats(const struct sim_state *s, uint64_t id)
{
	uint64_t next = (sim_iteration(id) + 1) << SIM_NUMBER_BITS;

	return sim_is_fed(s, next) &&
	       sim_feed_of(s, next)->address == sim_feed_of(s, id)->address &&
	       sim_feed_of(s, next)->program == sim_feed_of(s, id)->program;
}

/* When the next iteration may begin: small loops lose part of a cycle at their end. */
static void end_iteration(struct sim_state *s, uint64_t last)
{
	unsigned n = sim_program_of(s, last)->n_slots;
	int64_t cost = n < PARAMS_UNROLL_MAX ? s->params->dsb_small_loop[n] : 0;
	int64_t begun = s->next_iteration_at;

	if (!cost || (s->stream && !repeats(s, last)))
		return;
	s->next_iteration_at = begun + cost > s->clock * 100ll ? begun + cost : s->clock * 100ll;
}

/* A jump from the last instruction of a block to where this block or the next one begins: on cores
 * whose windows have 32 bytes, a window is not read twice in one cycle.
 */
static bool stays_in_window(const struct sim_state *s, uint64_t last)
{
	const struct sim_program *p = sim_program_of(s, last);
	uint64_t start, end, next = (sim_iteration(last) + 1) << SIM_NUMBER_BITS;

	if (s->params->dsb_ends_at_branch) /* regardless of the window, if it is taken */
		return s->stream ? !sim_is_fed(s, next) || !sim_feed_of(s, next)->is_contiguous
				 : s->block->mode == TACT_MODE_LOOP;
	if (s->params->dsb_window != 32)
		return false;
	if (s->stream && (!sim_is_fed(s, next) || sim_feed_of(s, next)->is_contiguous))
		return false;
	start = s->stream ? sim_feed_of(s, next)->address : s->block->opt.alignment;
	end = s->stream ? sim_feed_of(s, last)->address : s->block->opt.alignment;
	return (end + p->raws[p->n_raws - 1].offset) / 32 == start / 32;
}

/* The window of a byte of an instance's block. */
static uint64_t window_of(const struct sim_state *s, uint64_t id, uint32_t byte)
{
	uint64_t start = s->stream ? sim_feed_of(s, id)->address : s->block->opt.alignment;

	return (start + byte) / (unsigned)s->params->dsb_window;
}

/* Returns whether a block that repeats, or the next one of a stream, is jumped to. */
static bool is_left(const struct sim_state *s, uint64_t last)
{
	uint64_t next = (sim_iteration(last) + 1) << SIM_NUMBER_BITS;

	return s->stream ? !sim_is_fed(s, next) || !sim_feed_of(s, next)->is_contiguous
			 : s->block->mode == TACT_MODE_LOOP;
}

/* After a taken branch, lines begin anew; returns whether one can be read in the same cycle: not if
 * that would mean two taken branches a cycle.
 */
static bool leave_pairs(struct sim_state *s, uint64_t last)
{
	const uint64_t end = window_of(s, last, sim_program_of(s, last)->code_size - 1);

	const bool is_short = s->pairs.lines <= 2;

	s->dsb_wait = s->is_stepwise && end != s->pairs.window;
	s->pairs = (struct block_pairs){0};
	return !s->is_stepwise && !is_short;
}

/* Reads the rest of an instruction that has just been delivered, and goes on to the next one; false:
 * nothing more in this cycle.
 */
static bool pass_insn(struct sim_state *s, const struct sim_insn *insn)
{
	const uint64_t before = s->next_fetch;
	const bool from_microcode = insn->n_decoded > insn->n_direct;

	if (from_microcode)
		sim_start_microcode(s, before, insn, insn->n_direct,
				    (unsigned)s->params->dsb_ms_stall + insn->direct_rest, 0);
	s->next_fetch++;
	if (!insn->is_last)
		return !from_microcode;
	s->next_fetch = (sim_iteration(before) + 1) << SIM_NUMBER_BITS;
	if (!is_left(s, before))
		return !from_microcode;
	if (s->params->dsb_line_pairs)
		return leave_pairs(s, before) && !from_microcode;
	s->reads_tail =
		s->line.is_first &&
		window_of(s, before, sim_program_of(s, before)->code_size - 1) != s->line.window;
	s->line.window = UINT64_MAX;
	return false;
}

/* Reads a line per cycle (block/dsb_line.h). */
void sim_read_line(struct sim_state *s)
{
	bool has_begun = false, has_looked_up = false;

	if (s->reads_tail) {
		s->reads_tail = false;
		return;
	}
	while (sim_number(s->next_fetch) || sim_can_come_from(s, s->next_fetch, BLOCK_FROM_DSB)) {
		const struct sim_insn *insn = sim_insn_of(s, s->next_fetch);
		const uint32_t byte = sim_program_of(s, s->next_fetch)->raws[insn->insn].offset;
		const uint64_t window = window_of(s, s->next_fetch, byte);
		const unsigned slots = insn->n_direct + insn->extra_slots;

		if (!has_begun || window != s->line.window) {
			if (has_begun && (has_looked_up || s->line.is_first))
				return;
			block_line_begin(&s->line, window);
			has_looked_up = s->line.is_first;
			has_begun = true;
			block_line_add(&s->line, s->params, slots, insn->constants);
		} else if (!block_line_add(&s->line, s->params, slots, insn->constants)) {
			return;
		}
		for (unsigned u = 0; u < insn->n_direct; u++)
			sim_deliver(s, s->next_fetch, insn, u);
		if (!pass_insn(s, insn))
			return;
	}
}

/* Whether a block is read window by window. */
static bool is_stepwise(const struct sim_state *s, uint64_t id)
{
	const struct sim_program *p = sim_program_of(s, id);
	struct block_pairs r = {0};

	for (const struct sim_insn *insn = sim_insn_of(s, id);; insn++) {
		block_pairs_add(&r, s->params, window_of(s, id, p->raws[insn->insn].offset),
				insn->n_direct + insn->extra_slots);
		if (insn->is_last)
			break;
	}
	if (is_left(s, id))
		block_pairs_end(&r, window_of(s, id, p->code_size - 1));
	return r.is_stepwise;
}

/* Whether a line cannot be read in this cycle, of which `lines` were read. */
static bool comes_later(struct sim_state *s, uint64_t window, unsigned lines)
{
	if (!s->is_stepwise)
		return lines == 2;
	if (!s->pairs.lines || window != s->pairs.window)
		return lines != 0;
	if (s->pairs.here % 2)
		return false;
	s->dsb_wait = !s->is_due;
	s->is_due = !s->is_due;
	return s->is_due;
}

/* Reads up to two lines (block/dsb_pairs.h). */
void sim_read_pairs(struct sim_state *s)
{
	unsigned lines = 0;

	if (s->dsb_wait) {
		s->dsb_wait--;
		return;
	}
	while (sim_number(s->next_fetch) || sim_can_come_from(s, s->next_fetch, BLOCK_FROM_DSB)) {
		const struct sim_insn *insn = sim_insn_of(s, s->next_fetch);
		const uint32_t byte = sim_program_of(s, s->next_fetch)->raws[insn->insn].offset;
		const uint64_t window = window_of(s, s->next_fetch, byte);
		const unsigned slots = insn->n_direct + insn->extra_slots;
		struct block_pairs next = s->pairs;

		if (!sim_number(s->next_fetch))
			s->is_stepwise = is_stepwise(s, s->next_fetch);
		if (block_pairs_add(&next, s->params, window, slots)) {
			if (comes_later(s, window, lines))
				return;
			lines++;
		}
		s->pairs = next;
		for (unsigned u = 0; u < insn->n_direct; u++)
			sim_deliver(s, s->next_fetch, insn, u);
		if (!pass_insn(s, insn))
			return;
	}
}

void sim_read_dsb(struct sim_state *s)
{
	unsigned left = (unsigned)s->params->dsb_width, wide = 0;
	const struct sim_insn *insn = NULL;
	uint64_t before;

	while (left) {
		bool first = !sim_number(s->next_fetch) && !s->fetch_uop;

		if (first && (s->next_iteration_at > s->clock * 100ll + 99 ||
			      !sim_can_come_from(s, s->next_fetch, BLOCK_FROM_DSB)))
			return;
		if (!insn)
			insn = sim_insn_of(s, s->next_fetch);
		if (s->cached && insn->insn >= s->cached)
			return; /* the decoders have the rest */
		if (insn->extra_slots && s->params->dsb_wide_limit &&
		    wide++ == (unsigned)s->params->dsb_wide_limit)
			return;
		if (s->fetch_uop < insn->n_direct) {
			sim_deliver(s, s->next_fetch, insn, s->fetch_uop++);
			left -= 1 + (left > insn->extra_slots ? insn->extra_slots : left - 1);
		}
		if (s->fetch_uop < insn->n_direct)
			continue;
		if (insn->n_decoded > s->fetch_uop) {
			sim_start_microcode(s, s->next_fetch, insn, s->fetch_uop,
					    (unsigned)s->params->dsb_ms_stall + insn->direct_rest,
					    0);
			left = 0;
		}
		s->fetch_uop = 0;
		before = s->next_fetch++;
		if (insn++->is_last) {
			insn = NULL;
			s->next_fetch = (sim_iteration(before) + 1) << SIM_NUMBER_BITS;
			end_iteration(s, before);
			if (stays_in_window(s, before))
				return;
		}
	}
}

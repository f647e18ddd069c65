/* SPDX-License-Identifier: MIT
 *
 * The front end: from bytes, or from the DSB or the LSD, to uops in the IDQ.
 */
#include <string.h>

#include "sim/sim.h"

enum { DECODE_DELAY = 3 /* cycles from predecoder to decoders (uiCA) */ };

static void deliver(struct sim_state *s, uint64_t id, const struct sim_insn *insn, unsigned uop)
{
	unsigned at = (s->idq_head + s->idq_count++) & (SIM_IDQ - 1);

	s->idq[at].id = id;
	s->idq[at].insn = insn;
	s->idq[at].uop = (uint16_t)uop;
	s->idq[at].at = s->clock;
}

/* ---- predecoder ---- */

static const struct sim_raw *raw_insn(const struct sim_state *s, uint64_t raw)
{
	return &sim_program_of(s, raw)->raws[sim_number(raw)];
}

static uint64_t raw_address(const struct sim_state *s, uint64_t raw)
{
	uint64_t address;

	if (s->stream)
		return sim_feed_of(s, raw)->address + raw_insn(s, raw)->offset;
	address = s->block->opt.alignment + raw_insn(s, raw)->offset;
	if (s->block->mode == TACT_MODE_UNROLL)
		address += sim_iteration(raw) * s->block->code_size;
	return address;
}

static uint64_t behind(const struct sim_state *s, uint64_t raw)
{
	return sim_next(raw, sim_program_of(s, raw)->n_raws);
}

/* After a mispredicted branch: not before it was executed, and some cycles later.  The cycles from
 * the IDQ to the earliest dispatch are part of the penalty.
 */
bool sim_waits_for_branch(const struct sim_state *s, uint64_t id)
{
	enum { TO_DISPATCH = 6, TO_ISSUE = 1 /* in order */ };
	struct sim_feed *feed = &s->stream->feeds[sim_iteration(id) & (SIM_FEEDS - 1)];
	const struct sim_instance *branch;
	uint64_t last;
	unsigned slot;
	int32_t done = 0;

	if (!feed->is_mispredicted || !sim_iteration(id))
		return false;
	if (feed->resume_at)
		return s->clock < feed->resume_at;
	/* The last instruction of the block before, whose program may have been forgotten since. */
	last = (sim_iteration(id) - 1) << SIM_NUMBER_BITS;
	last += feed->first_instance - sim_feed_of(s, last)->first_instance - 1;
	slot = sim_slot(s, last);
	if (s->slot_id[slot] != last) /* not renamed yet, or long forgotten */
		return s->retired < sim_iteration(id);
	branch = &s->slots[slot];
	for (unsigned u = 0; u < branch->insn->n_uops; u++)
		if (branch->result[u].ready > done)
			done = branch->result[u].ready;
	if (done == SIM_NEVER) {
		if (!s->params->in_order) /* nothing passes the branch there */
			s->stream->wrong.waiting = sim_iteration(id);
		return true;
	}
	feed->resume_at =
		done + s->params->branch_penalty - (s->params->in_order ? TO_ISSUE : TO_DISPATCH);
	if (feed->resume_at < 1)
		feed->resume_at = 1;
	return s->clock < feed->resume_at;
}

/* In a stream: tells whether the block of this instruction is known, and the next block, too, if
 * there is one.  Nothing is fetched before that.
 */
static bool is_fed(const struct sim_state *s, uint64_t id)
{
	return sim_iteration(id) + !s->stream->is_closed < s->stream->n_feeds &&
	       !sim_waits_for_branch(s, id);
}

static bool comes_from(const struct sim_state *s, uint64_t id, enum block_source source)
{
	return !s->stream || (is_fed(s, id) && sim_feed_of(s, id)->source == source);
}

/* The same at the first instruction of a block, whose code must be there. */
static bool can_come_from(struct sim_state *s, uint64_t id, enum block_source source)
{
	return !s->stream ||
	       (comes_from(s, id, source) && !sim_ahead_waits(s, id, sim_feed_of(s, id)->address));
}

/* Tells whether this instruction is predecoded right after the previous one, with no jump between
 * them.
 */
static bool continues(const struct sim_state *s, uint64_t raw)
{
	if (sim_number(raw))
		return true;
	if (s->stream) {
		const struct sim_feed *feed = sim_feed_of(s, raw);

		/* What fetch learns of only when all before it is decoded does not: who waited for
		 * it, to be fused with it, would wait for ever.
		 */
		return comes_from(s, raw, BLOCK_FROM_MITE) && feed->is_contiguous &&
		       !feed->is_redirected && !feed->is_mispredicted;
	}
	return s->block->mode != TACT_MODE_LOOP;
}

/* Tells whether an instruction that would begin here, after the previous one, begins in the current
 * block, too.
 */
static bool begins_in(const struct sim_state *s, uint64_t raw, uint64_t address)
{
	return address < s->block_end && continues(s, raw);
}

/* Counts the instructions of the current block, from this one on, whose prefix changes their length. */
static int count_lcps(const struct sim_state *s, uint64_t raw, uint64_t address)
{
	int n = 0;

	if (!s->stream && !s->program->has_lcp)
		return 0;
	do {
		const struct sim_raw *bi = raw_insn(s, raw);

		n += bi->has_lcp;
		address += bi->length;
		raw = behind(s, raw);
	} while (begins_in(s, raw, address));
	return n;
}

static void open_block(struct sim_state *s, uint64_t raw, uint64_t address)
{
	const uint64_t width = (uint64_t)s->params->predecode_block; /* a power of two */
	int hidden = s->block_cycles > 0 ? s->block_cycles - 1 : 0, stall;

	s->block_end = (address & ~(width - 1)) + width;
	stall = s->params->lcp_stall * count_lcps(s, raw, address) - hidden;
	s->stall = stall > 0 ? stall : 0;
	s->block_cycles = 0;
}

static void predecode_block(struct sim_state *s)
{
	unsigned width = (unsigned)s->params->predecode_width, n = s->has_partial;
	uint64_t raw = n ? behind(s, s->next_raw) : s->next_raw, address;
	bool is_within; /* the next one */

	s->has_partial = false;
	s->held = n;
	if (n && !continues(s, raw))
		return; /* a jump crossed into this block: the rest of it is of no use */
	address = raw_address(s, raw);
	if (!s->block_end)
		open_block(s, raw, address);
	do {
		const struct sim_raw *bi = raw_insn(s, raw);

		if (address + bi->length > s->block_end) {
			/* Crosses the border: counts here only if its opcode is here. */
			s->has_partial = n < width || address + bi->opcode_offset >= s->block_end;
			is_within = !s->has_partial && continues(s, raw);
			break;
		}
		if (n == width) {
			is_within = continues(s, raw);
			break;
		}
		n++;
		address += bi->length;
		raw = behind(s, raw);
		is_within = begins_in(s, raw, address);
	} while (is_within);
	s->block_cycles++;
	if (!is_within)
		s->block_end = 0;
	s->held = n;
}

/* A small queue, in which decoded instructions stay for some cycles: a cycle has ended. */
static void pass_queue(struct sim_state *s)
{
	enum { MOST = sizeof(s->iq_room.leaving) / sizeof(s->iq_room.leaving[0]) };
	const unsigned last = (unsigned)s->params->iq_leave_delay - 1;

	s->iq_room.before = s->iq_room.held;
	s->iq_room.held -= s->iq_room.leaving[last];
	for (unsigned k = last < MOST ? last : MOST - 1; k; k--)
		s->iq_room.leaving[k] = s->iq_room.leaving[k - 1];
	s->iq_room.leaving[0] = 0;
	s->iq_room.at++;
}

/* Tells whether instructions may enter the queue: there is room for all that are predecoded in a
 * cycle or, where the queue is small, it had room at the end of the cycle before the last.
 */
static bool is_queue_open(struct sim_state *s)
{
	bool is_open;

	if (!s->params->iq_leave_delay)
		return s->iq_count + (unsigned)s->params->predecode_width <=
		       (unsigned)s->params->iq_size;
	if (s->clock - s->iq_room.at > s->params->iq_leave_delay + 2) {
		memset(&s->iq_room, 0, sizeof(s->iq_room));
		s->iq_room.held = s->iq_room.before = s->iq_count;
		s->iq_room.at = s->clock;
	}
	while (s->iq_room.at < s->clock)
		pass_queue(s);
	is_open = s->iq_room.before <= (unsigned)s->params->iq_size;
	pass_queue(s);
	return is_open;
}

static void enter_queue(struct sim_state *s)
{
	const int32_t delay = s->params->iq_leave_delay ? 0 : DECODE_DELAY;

	for (; !s->stall && s->held; s->held--) {
		unsigned at = (s->iq_head + s->iq_count++) & (SIM_IQ - 1);

		s->iq[at].raw = s->next_raw;
		s->next_raw = behind(s, s->next_raw);
		s->iq[at].at = s->clock + delay;
		s->iq_room.held++;
	}
}

/* Tells whether the bytes that are predecoded next are there. */
static bool has_bytes(struct sim_state *s)
{
	uint64_t address;

	if (!s->stream)
		return !s->cached || sim_number(s->next_raw);
	if (!s->has_partial && !comes_from(s, s->next_raw, BLOCK_FROM_MITE))
		return false;
	address = raw_address(s, s->next_raw);
	if (s->has_partial)
		address += raw_insn(s, s->next_raw)->length - 1u;
	return !sim_ahead_waits(s, s->next_raw, address);
}

static void predecode(struct sim_state *s)
{
	const bool is_open = is_queue_open(s);

	if (!s->stall) {
		if (is_open && !s->held && has_bytes(s))
			predecode_block(s);
		if (is_open || !s->params->iq_leave_delay)
			enter_queue(s);
	}
	if (s->stall)
		s->stall--;
}

/* ---- decoders ---- */

static bool is_decodable(const struct sim_state *s, unsigned k)
{
	return k < s->iq_count && s->iq[(s->iq_head + k) & (SIM_IQ - 1)].at <= s->clock;
}

static void drop(struct sim_state *s)
{
	s->iq_head = (s->iq_head + 1) & (SIM_IQ - 1);
	s->iq_count--;
	s->iq_room.leaving[0]++;
}

/* What is left of an instruction after its first uops. */
static void start_microcode(struct sim_state *s, uint64_t id, const struct sim_insn *insn,
			    unsigned first, unsigned stall, unsigned after)
{
	s->ms_id = id;
	s->ms_insn = insn;
	s->ms_next = first;
	s->ms_left = insn->n_decoded - first;
	s->ms_stall = stall;
	s->ms_after = after + insn->sequencer_rest;
}

static void decode(struct sim_state *s)
{
	int left = s->params->decoders, n = 0;

	while (s->iq_count && left > 0) {
		uint64_t raw = s->iq[s->iq_head].raw, id;
		const struct sim_raw *bi = raw_insn(s, raw);
		const struct sim_insn *insn;

		if (bi->fused_prev) {
			left -= bi->is_nop; /* in the same slot, but decoded */
			drop(s);
			continue;
		}
		id = sim_iteration(raw) << SIM_NUMBER_BITS | bi->insn;
		insn = sim_insn_of(s, id);
		if (!is_decodable(s, 0) || (n && insn->complex_decoder) ||
		    (insn->is_split && (left < 2 || n >= s->params->split_decoders)))
			break;
		if (insn->fusible &&
		    ((!s->params->fusible_on_last_decoder && n == s->params->decoders - 1) ||
		     (!is_decodable(s, 1) && (!s->stream || continues(s, behind(s, raw))))))
			break;
		drop(s);
		for (unsigned u = 0; u < insn->n_direct; u++)
			deliver(s, id, insn, u);
		n++;
		if (insn->n_decoded > insn->n_direct) {
			start_microcode(s, id, insn, insn->n_direct,
					(unsigned)s->params->mite_ms_stall,
					(unsigned)s->params->mite_ms_stall);
			break;
		}
		left = insn->complex_decoder && insn->simple_beside < left - 1 ? insn->simple_beside
									       : left - 1;
		left -= insn->is_split;
		if (insn->is_branch)
			break;
	}
}

/* ---- microcode sequencer ---- */

static bool sequence(struct sim_state *s)
{
	if (s->ms_stall) {
		s->ms_stall--;
		return true;
	}
	if (!s->ms_left)
		return false;
	for (int n = 0; n < s->params->ms_width && s->ms_left; n++, s->ms_left--)
		deliver(s, s->ms_id, s->ms_insn, s->ms_next++);
	if (!s->ms_left)
		s->ms_stall = s->ms_after;
	return true;
}

/* ---- DSB and LSD ---- */

/* A loop in the LSD; in a stream, its iterations are separate blocks, and it may end. */
static void read_lsd(struct sim_state *s)
{
	const struct sim_program *p;
	unsigned copies;

	if (s->idq_count || !comes_from(s, s->next_fetch, BLOCK_FROM_LSD))
		return;
	p = sim_program_of(s, s->next_fetch);
	copies = p->n_decoded < PARAMS_UNROLL_MAX && s->params->lsd_unroll[p->n_decoded]
			 ? s->params->lsd_unroll[p->n_decoded]
			 : 1;
	while (copies-- && can_come_from(s, s->next_fetch, BLOCK_FROM_LSD) &&
	       sim_program_of(s, s->next_fetch) == p)
		for (size_t i = 0; i < p->n_insns;
		     i++, s->next_fetch = sim_next(s->next_fetch, p->n_insns))
			for (unsigned u = 0; u < p->insns[i].n_decoded; u++)
				deliver(s, s->next_fetch, &p->insns[i], u);
}

/* In a stream: tells whether the next block is the same one again. */
static bool repeats(const struct sim_state *s, uint64_t id)
{
	uint64_t next = (sim_iteration(id) + 1) << SIM_NUMBER_BITS;

	return is_fed(s, next) && sim_feed_of(s, next)->address == sim_feed_of(s, id)->address &&
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
		return s->stream ? !is_fed(s, next) || !sim_feed_of(s, next)->is_contiguous
				 : s->block->mode == TACT_MODE_LOOP;
	if (s->params->dsb_window != 32)
		return false;
	if (s->stream && (!is_fed(s, next) || sim_feed_of(s, next)->is_contiguous))
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

	return s->stream ? !is_fed(s, next) || !sim_feed_of(s, next)->is_contiguous
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
		start_microcode(s, before, insn, insn->n_direct,
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
static void read_line(struct sim_state *s)
{
	bool has_begun = false, has_looked_up = false;

	if (s->reads_tail) {
		s->reads_tail = false;
		return;
	}
	while (sim_number(s->next_fetch) || can_come_from(s, s->next_fetch, BLOCK_FROM_DSB)) {
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
			deliver(s, s->next_fetch, insn, u);
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
static void read_pairs(struct sim_state *s)
{
	unsigned lines = 0;

	if (s->dsb_wait) {
		s->dsb_wait--;
		return;
	}
	while (sim_number(s->next_fetch) || can_come_from(s, s->next_fetch, BLOCK_FROM_DSB)) {
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
			deliver(s, s->next_fetch, insn, u);
		if (!pass_insn(s, insn))
			return;
	}
}

static void read_dsb(struct sim_state *s)
{
	unsigned left = (unsigned)s->params->dsb_width, wide = 0;
	const struct sim_insn *insn = NULL;
	uint64_t before;

	while (left) {
		bool first = !sim_number(s->next_fetch) && !s->fetch_uop;

		if (first && (s->next_iteration_at > s->clock * 100ll + 99 ||
			      !can_come_from(s, s->next_fetch, BLOCK_FROM_DSB)))
			return;
		if (!insn)
			insn = sim_insn_of(s, s->next_fetch);
		if (s->cached && insn->insn >= s->cached)
			return; /* the decoders have the rest */
		if (insn->extra_slots && s->params->dsb_wide_limit &&
		    wide++ == (unsigned)s->params->dsb_wide_limit)
			return;
		if (s->fetch_uop < insn->n_direct) {
			deliver(s, s->next_fetch, insn, s->fetch_uop++);
			left -= 1 + (left > insn->extra_slots ? insn->extra_slots : left - 1);
		}
		if (s->fetch_uop < insn->n_direct)
			continue;
		if (insn->n_decoded > s->fetch_uop) {
			start_microcode(s, s->next_fetch, insn, s->fetch_uop,
					(unsigned)s->params->dsb_ms_stall + insn->direct_rest, 0);
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

/* Whatever there is room for. */
static void read_anything(struct sim_state *s)
{
	while (can_come_from(s, s->next_fetch, BLOCK_FROM_ANYWHERE) || sim_number(s->next_fetch)) {
		const struct sim_insn *insn = sim_insn_of(s, s->next_fetch);

		if (s->idq_count && s->idq_count + insn->n_decoded > (unsigned)s->params->idq_size)
			return;
		for (unsigned u = 0; u < insn->n_decoded; u++)
			deliver(s, s->next_fetch, insn, u);
		s->next_fetch = insn->is_last
					? (sim_iteration(s->next_fetch) + 1) << SIM_NUMBER_BITS
					: s->next_fetch + 1;
	}
}

/* The next block of a stream may come from elsewhere, but not before everything older is decoded.
 */
static void switch_source(struct sim_state *s)
{
	bool decodes = s->source == BLOCK_FROM_MITE;
	uint64_t next = decodes ? s->next_raw : s->next_fetch;

	if (sim_number(next) || !is_fed(s, next) || sim_feed_of(s, next)->source == s->source ||
	    (decodes ? s->held || s->has_partial || s->iq_count : s->fetch_uop))
		return;
	s->source = sim_feed_of(s, next)->source;
	s->next_raw = s->next_fetch = next;
	s->block_end = 0;
	s->block_cycles = 0;
}

/* A loop of which the DSB has only the first instructions: what has delivered its part waits for the
 * other.
 */
static void switch_within(struct sim_state *s)
{
	if (s->source == BLOCK_FROM_DSB) {
		if (s->fetch_uop || sim_insn_of(s, s->next_fetch)->insn < s->cached)
			return;
		s->source = BLOCK_FROM_MITE;
		s->next_raw = sim_iteration(s->next_fetch) << SIM_NUMBER_BITS | s->cached;
		s->block_end = 0;
		s->block_cycles = 0;
	} else if (!sim_number(s->next_raw) && !s->held && !s->has_partial && !s->iq_count) {
		s->source = BLOCK_FROM_DSB;
		s->next_fetch = s->next_raw;
	}
}

void sim_fetch(struct sim_state *s)
{
	if (s->stream) {
		switch_source(s);
		sim_ahead_run(s);
	} else if (s->cached) {
		switch_within(s);
	}
	if (s->idq_count + (unsigned)s->params->dsb_width > (unsigned)s->params->idq_size)
		return;
	if (s->source == BLOCK_FROM_LSD) {
		read_lsd(s);
		return;
	}
	if (s->source == BLOCK_FROM_ANYWHERE) {
		read_anything(s);
		return;
	}
	if (sequence(s))
		return;
	if (s->source == BLOCK_FROM_DSB && s->params->dsb_line_a_cycle) {
		read_line(s);
		return;
	}
	if (s->source == BLOCK_FROM_DSB && s->params->dsb_line_pairs) {
		read_pairs(s);
		return;
	}
	if (s->source == BLOCK_FROM_DSB) {
		read_dsb(s);
		return;
	}
	predecode(s);
	decode(s);
}

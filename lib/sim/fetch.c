/* SPDX-License-Identifier: MIT
 *
 * The front end: from bytes to uops in the IDQ, or from where they are decoded already (op_cache.c).
 */
#include <string.h>

#include "sim/fetch.h"

enum { DECODE_DELAY = 3 /* cycles from predecoder to decoders (uiCA) */ };

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
		return sim_comes_from(s, raw, BLOCK_FROM_MITE) && feed->is_contiguous &&
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
	if (!s->has_partial && !sim_comes_from(s, s->next_raw, BLOCK_FROM_MITE))
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
			sim_deliver(s, id, insn, u);
		n++;
		if (insn->n_decoded > insn->n_direct) {
			sim_start_microcode(s, id, insn, insn->n_direct,
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
		sim_deliver(s, s->ms_id, s->ms_insn, s->ms_next++);
	if (!s->ms_left)
		s->ms_stall = s->ms_after;
	return true;
}

/* Whatever there is room for. */
static void read_anything(struct sim_state *s)
{
	while (sim_can_come_from(s, s->next_fetch, BLOCK_FROM_ANYWHERE) ||
	       sim_number(s->next_fetch)) {
		const struct sim_insn *insn = sim_insn_of(s, s->next_fetch);

		if (s->idq_count && s->idq_count + insn->n_decoded > (unsigned)s->params->idq_size)
			return;
		for (unsigned u = 0; u < insn->n_decoded; u++)
			sim_deliver(s, s->next_fetch, insn, u);
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

	if (sim_number(next) || !sim_is_fed(s, next) || sim_feed_of(s, next)->source == s->source ||
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
		sim_read_lsd(s);
		return;
	}
	if (s->source == BLOCK_FROM_ANYWHERE) {
		read_anything(s);
		return;
	}
	if (sequence(s))
		return;
	if (s->source == BLOCK_FROM_DSB && s->params->dsb_line_a_cycle) {
		sim_read_line(s);
		return;
	}
	if (s->source == BLOCK_FROM_DSB && s->params->dsb_line_pairs) {
		sim_read_pairs(s);
		return;
	}
	if (s->source == BLOCK_FROM_DSB) {
		sim_read_dsb(s);
		return;
	}
	predecode(s);
	decode(s);
}

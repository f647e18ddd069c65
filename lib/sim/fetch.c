/* SPDX-License-Identifier: MIT
 *
 * The front end: from bytes, or from the DSB or the LSD, to uops in the IDQ.
 */
#include "sim/sim.h"

enum { DECODE_DELAY = 3 /* cycles from predecoder to decoders (uiCA) */ };

static void deliver(struct sim_state *s, uint64_t id, unsigned uop)
{
	unsigned at = (s->idq_head + s->idq_count++) & (SIM_IDQ - 1);

	s->idq[at].id = id;
	s->idq[at].uop = (uint16_t)uop;
	s->idq[at].at = s->clock;
}

/* ---- predecoder ---- */

static const struct block_insn *raw_insn(const struct sim_state *s, uint64_t raw)
{
	return &s->block->insns[sim_number(raw)];
}

static uint64_t raw_address(const struct sim_state *s, uint64_t raw)
{
	uint64_t address = s->block->opt.alignment + raw_insn(s, raw)->offset;

	if (s->block->mode == TACT_MODE_UNROLL)
		address += sim_iteration(raw) * s->block->code_size;
	return address;
}

static uint64_t behind(const struct sim_state *s, uint64_t raw)
{
	return sim_next(raw, s->block->n_insns);
}

/* Does this instruction begin in the block that ends at `end`, right behind the one before? */
static bool begins_in(const struct sim_state *s, uint64_t raw, uint64_t end)
{
	if (s->block->mode == TACT_MODE_LOOP && !sim_number(raw))
		return false; /* behind the jump */
	return raw_address(s, raw) < end;
}

static void open_block(struct sim_state *s, uint64_t raw)
{
	unsigned width = (unsigned)s->params->predecode_block;
	int lcps = 0, hidden = s->block_cycles > 0 ? s->block_cycles - 1 : 0, stall;

	s->block_end = raw_address(s, raw) / width * width + width;
	do
		lcps += (raw_insn(s, raw)->lowered->attributes & TACT_INSN_LCP) != 0;
	while (begins_in(s, raw = behind(s, raw), s->block_end));
	stall = s->params->lcp_stall * lcps - hidden;
	s->stall = stall > 0 ? stall : 0;
	s->block_cycles = 0;
}

static void predecode_block(struct sim_state *s)
{
	unsigned width = (unsigned)s->params->predecode_width, n = s->has_partial;
	const struct block_insn *bi;
	uint64_t raw = n ? behind(s, s->next_raw) : s->next_raw;

	s->has_partial = false;
	if (!s->block_end)
		open_block(s, raw);
	for (;;) {
		uint64_t address = raw_address(s, raw);

		bi = raw_insn(s, raw);
		if (address + bi->lowered->length > s->block_end) {
			/* Crosses the border: counts here only if its opcode is here. */
			if (n < width || address + bi->lowered->opcode_offset >= s->block_end) {
				s->has_partial = true;
				raw = behind(s, raw);
			}
			break;
		}
		if (n == width)
			break;
		n++;
		raw = behind(s, raw);
		if (!begins_in(s, raw, s->block_end))
			break;
	}
	s->block_cycles++;
	if (!begins_in(s, raw, s->block_end) || s->has_partial)
		s->block_end = 0;
	s->held = n;
}

static void predecode(struct sim_state *s)
{
	if (!s->stall) {
		if (!s->held && s->iq_count + (unsigned)s->params->predecode_width <=
					(unsigned)s->params->iq_size)
			predecode_block(s);
		for (; !s->stall && s->held; s->held--) {
			unsigned at = (s->iq_head + s->iq_count++) & (SIM_IQ - 1);

			s->iq[at].raw = s->next_raw;
			s->next_raw = behind(s, s->next_raw);
			s->iq[at].at = s->clock;
		}
	}
	if (s->stall)
		s->stall--;
}

/* ---- decoders ---- */

static bool is_decodable(const struct sim_state *s, unsigned k)
{
	return k < s->iq_count &&
	       s->iq[(s->iq_head + k) & (SIM_IQ - 1)].at + DECODE_DELAY <= s->clock;
}

static void drop(struct sim_state *s)
{
	s->iq_head = (s->iq_head + 1) & (SIM_IQ - 1);
	s->iq_count--;
}

static void start_microcode(struct sim_state *s, uint64_t id, unsigned first, unsigned n,
			    unsigned stall, unsigned after)
{
	s->ms_id = id;
	s->ms_next = first;
	s->ms_left = n;
	s->ms_stall = stall;
	s->ms_after = after;
}

static unsigned decoded_from_mite(const struct sim_insn *insn)
{
	return insn->mite < insn->n_decoded ? insn->mite : insn->n_decoded;
}

static void decode(struct sim_state *s)
{
	int left = s->params->decoders, n = 0;

	while (s->iq_count && left > 0) {
		uint64_t raw = s->iq[s->iq_head].raw, id;
		const struct block_insn *bi = raw_insn(s, raw);
		const struct sim_insn *insn;
		unsigned mite;

		if (bi->fused_prev) {
			drop(s);
			continue;
		}
		id = sim_iteration(raw) << SIM_NUMBER_BITS |
		     s->program->of_block_insn[sim_number(raw)];
		insn = sim_insn_of(s, id);
		if (!is_decodable(s, 0) || (n && insn->complex_decoder))
			break;
		if (insn->fusible &&
		    ((!s->params->fusible_on_last_decoder && n == s->params->decoders - 1) ||
		     !is_decodable(s, 1)))
			break;
		drop(s);
		mite = decoded_from_mite(insn);
		for (unsigned u = 0; u < mite; u++)
			deliver(s, id, u);
		n++;
		if (insn->n_decoded > mite) {
			start_microcode(s, id, mite, insn->n_decoded - mite, 1, 1);
			break;
		}
		left = insn->complex_decoder && insn->simple_beside < left - 1 ? insn->simple_beside
									       : left - 1;
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
	for (unsigned n = 0; n < 4 && s->ms_left; n++, s->ms_left--)
		deliver(s, s->ms_id, s->ms_next++);
	if (!s->ms_left)
		s->ms_stall = s->ms_after;
	return true;
}

/* ---- DSB and LSD ---- */

static unsigned uops_of_iteration(const struct sim_state *s)
{
	unsigned n = 0;

	for (size_t i = 0; i < s->program->n_insns; i++)
		n += s->program->insns[i].n_decoded;
	return n;
}

static void stream(struct sim_state *s)
{
	unsigned n = uops_of_iteration(s);
	unsigned copies =
		n < PARAMS_UNROLL_MAX && s->params->lsd_unroll[n] ? s->params->lsd_unroll[n] : 1;

	if (s->idq_count)
		return;
	for (unsigned c = 0; c < copies; c++)
		for (size_t i = 0; i < s->program->n_insns;
		     i++, s->next_fetch = sim_next(s->next_fetch, s->program->n_insns))
			for (unsigned u = 0; u < sim_insn_of(s, s->next_fetch)->n_decoded; u++)
				deliver(s, s->next_fetch, u);
}

/* When the next iteration may begin: small loops lose a part of a cycle at their end. */
static void end_iteration(struct sim_state *s)
{
	unsigned n = uops_of_iteration(s);
	int64_t cost = n < PARAMS_UNROLL_MAX ? s->params->dsb_small_loop[n] : 0;
	int64_t begun = s->next_iteration_at;

	if (cost)
		s->next_iteration_at =
			(begun + cost > (s->clock + 0) * 100ll ? begun + cost : s->clock * 100ll);
}

static void read_dsb(struct sim_state *s)
{
	const struct block_insn *last = &s->block->insns[s->block->n_insns - 1];
	unsigned start = s->block->opt.alignment, left = (unsigned)s->params->dsb_width;
	bool one_window = (start + last->offset) / 32 == start / 32 && s->params->dsb_window == 32;

	while (left) {
		const struct sim_insn *insn = sim_insn_of(s, s->next_fetch);
		bool first = !sim_number(s->next_fetch) && !s->fetch_uop;

		if (first && s->next_iteration_at > s->clock * 100ll + 99)
			return;
		if (s->fetch_uop < decoded_from_mite(insn)) {
			deliver(s, s->next_fetch, s->fetch_uop++);
			left--;
		}
		if (s->fetch_uop < decoded_from_mite(insn))
			continue;
		if (insn->n_decoded > s->fetch_uop) {
			start_microcode(s, s->next_fetch, s->fetch_uop,
					insn->n_decoded - s->fetch_uop,
					(unsigned)s->params->dsb_ms_stall, 0);
			left = 0;
		}
		s->fetch_uop = 0;
		s->next_fetch = sim_next(s->next_fetch, s->program->n_insns);
		if (!sim_number(s->next_fetch)) {
			end_iteration(s);
			if (one_window)
				return;
		}
	}
}

void sim_fetch(struct sim_state *s)
{
	if (s->idq_count + (unsigned)s->params->dsb_width > (unsigned)s->params->idq_size)
		return;
	if (s->source == BLOCK_FROM_LSD) {
		stream(s);
		return;
	}
	if (sequence(s))
		return;
	if (s->source == BLOCK_FROM_DSB) {
		read_dsb(s);
		return;
	}
	predecode(s);
	decode(s);
}

/* SPDX-License-Identifier: MIT
 *
 * Whether the state recurs.  Everything that decides what happens next is taken relative to the
 * current cycle and iteration; what is over (values that are ready, uops that are executed) counts
 * the same, however long ago it was.
 */
#include <string.h>

#include "sim/sim.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
	/* A constant of MurmurHash3's finaliser; its second half is left to the next value. */
	h = (h ^ v) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

/* Cycles from now; 0 for what is over. */
static uint64_t ahead(const struct sim_state *s, int32_t cycle)
{
	return cycle > s->clock ? (uint64_t)(cycle - s->clock) : 0;
}

/* Cycles ago, up to a limit beyond which it makes no difference. */
static uint64_t ago(const struct sim_state *s, int32_t cycle, int32_t limit)
{
	int32_t d = s->clock - cycle;

	return (uint64_t)(d < limit ? d : limit);
}

static uint64_t fetch_hash(const struct sim_state *s, uint64_t iteration)
{
	uint64_t h = (uint64_t)s->source, first = iteration << SIM_NUMBER_BITS;

	if (s->source == BLOCK_FROM_MITE) {
		uint64_t phase =
			s->block->mode == TACT_MODE_UNROLL ? iteration * s->block->code_size : 0;

		h = mix(h, (phase & ((uint64_t)s->params->predecode_block - 1)));
		h = mix(h, s->next_raw - first);
		h = mix(h, s->block_end ? s->block_end - phase + 1 : 0);
		h = mix(h, (uint64_t)s->stall << 32 | (uint64_t)s->block_cycles << 16 |
				   s->held << 1 | s->has_partial);
		for (unsigned i = 0; i < s->iq_count; i++)
			h = mix(h, ahead(s, s->iq[(s->iq_head + i) & (SIM_IQ - 1)].at));
		h = mix(h, (uint64_t)s->iq_room.before << 32 | s->iq_count);
		for (int k = 0; k < s->params->iq_leave_delay; k++)
			h = mix(h, s->iq_room.leaving[k]);
	} else {
		h = mix(h, s->next_fetch - first);
		h = mix(h, (uint64_t)s->reads_tail << 33 | (uint64_t)s->line.is_first << 32 |
				   s->fetch_uop);
		h = mix(h, s->line.window);
		h = mix(h, s->pairs.window << 16 | (uint64_t)s->pairs.here << 8 | s->pairs.slots);
		h = mix(h, (uint64_t)s->dsb_wait << 1 | s->is_due);
		h = mix(h, s->next_iteration_at > s->clock * 100ll
				   ? (uint64_t)(s->next_iteration_at - s->clock * 100ll)
				   : 0);
	}
	if (s->ms_left || s->ms_stall)
		h = mix(mix(h, s->ms_left << 16 | s->ms_stall), s->ms_next);
	if (s->idq_count)
		h = mix(mix(h, s->idq[s->idq_head].id - first), s->idq[s->idq_head].uop);
	return mix(h, s->idq_count);
}

/* The counters of sixteen ports; few cores have more. */
enum { HALF = TACT_MAX_PORTS / 2 };

static uint64_t mix_uses(const struct sim_state *s, uint64_t h, unsigned first)
{
	uint64_t words[3][HALF / 8];

	memcpy(words[0], s->port_use + first, HALF);
	memcpy(words[1], s->use_before[0] + first, HALF);
	memcpy(words[2], s->use_before[1] + first, HALF);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k < HALF / 8; k++)
			h = mix(h, words[i][k]);
	return h;
}

/* Places that are free soon: of ports, and of loads whose data are there. */
static uint64_t mix_held(const struct sim_state *s, uint64_t h)
{
	uint64_t loads = s->n_loads;

	for (int32_t k = 1; k <= s->params->load_window_hold; k++)
		loads = loads * 5 + s->complete[(s->clock + k) & (SIM_LOAD_RING - 1)];
	h = mix(h, loads);
	for (int32_t k = 0; k < s->params->port_rs_hold; k++) {
		const uint8_t *left = s->held_places[(s->clock - k) & (SIM_HOLD - 1)];
		uint64_t ports = 0;

		for (unsigned p = 0; p < HALF; p++)
			ports |= (uint64_t)left[p] << p;
		h = mix(h, ports);
	}
	return h;
}

static uint64_t rename_hash(const struct sim_state *s)
{
	uint64_t h = (uint64_t)s->next_port << 16 | (uint64_t)s->is_serializing << 9 |
		     (uint64_t)s->sync_pending << 8;

	h = mix(h, ahead(s, s->held_until) << 32 | ahead(s, s->fenced_until));
	for (unsigned r = 0; r < 3; r++) /* one bit suffices for two ports, the usual case */
		h |= (s->turn[r] & 1u) << (2 - r) | (uint64_t)(s->turn[r] >> 1) << (32 + 8 * r);
	h = mix_uses(s, h, 0);
	if (s->params->ports >> HALF)
		h = mix_uses(s, h, HALF);
	if (s->params->port_rs_hold)
		h = mix_held(s, h);
	for (unsigned r = 0; r < s->registers->end_vector && s->moves.shared; r++)
		if (s->moves.set[r])
			h = mix(h, (uint64_t)r << 8 | s->moves.set[r]);
	for (uint64_t left = s->moves.folded; left; left &= left - 1) {
		const unsigned r = (unsigned)__builtin_ctzll(left);

		h = mix(h, (uint64_t)r << 16 | (uint16_t)s->moves.added[r]);
	}
	return h;
}

/* What waits to retire, and its values that are known but not ready. */
static uint64_t rob_hash(const struct sim_state *s, uint64_t first)
{
	uint64_t h = s->rob_count;

	for (unsigned i = 0; i < s->rob_count; i++) {
		const struct sim_rob_entry *e = &s->rob[(s->rob_head + i) & (SIM_ROB - 1)];
		const struct sim_instance *inst = &s->slots[e->slot];
		unsigned n = inst->insn->n_outputs;

		h = mix(h,
			(e->id - first) << 24 | (uint64_t)e->remaining << 16 | ahead(s, e->finish));
		for (unsigned o = 0; o < n && e->ends_insn; o++)
			if (inst->output[o].ready > s->clock && inst->output[o].ready != SIM_NEVER)
				h = mix(h, (uint64_t)o << 32 | ahead(s, inst->output[o].ready));
	}
	return h;
}

/* The order of entries in the pool does not matter, so they are added up. */
static uint64_t rs_hash(const struct sim_state *s, uint64_t first)
{
	uint64_t sum = s->rs_count + s->vec_count + s->vec_queued;

	for (unsigned i = 1; i <= s->rs_used; i++) {
		const struct sim_entry *e = &s->rs[i];

		if (e->is_live)
			sum += mix(
				mix((e->inst->id - first) << 16 | (uint64_t)e->uop << 8 | e->port,
				    (uint64_t)e->unknown << 40 |
					    (uint64_t)e->is_load_pending << 32 |
					    (e->is_load_pending && e->late ? ago(s, e->ready, 8)
									   : ahead(s, e->ready))),
				ago(s, e->issued, 8));
	}
	return mix(sum, ahead(s, s->divider_free) << 32 | ahead(s, s->alone_free));
}

static uint64_t counts_of(const struct sim_state *s, uint64_t iteration)
{
	const bool decodes = s->source == BLOCK_FROM_MITE;
	const uint64_t next = (decodes ? s->next_raw : s->next_fetch) -
			      (iteration << SIM_NUMBER_BITS),
		       phase = decodes && s->block->mode == TACT_MODE_UNROLL
				       ? iteration * s->block->code_size
				       : 0,
		       waiting = s->rs_count + s->vec_count + s->vec_queued;

	return s->rob_count + (waiting << 11) + ((uint64_t)s->idq_count << 21) +
	       ((uint64_t)s->iq_count << 31) +
	       ((phase & ((uint64_t)s->params->predecode_block - 1)) << 39) + (next << 45);
}

static uint64_t sketch_of(const struct sim_state *s, uint64_t iteration)
{
	return mix(fetch_hash(s, iteration), rename_hash(s));
}

/* Ports that are held for many cycles, and issue in order. */
__attribute__((noinline)) static uint64_t units_hash(const struct sim_state *s, uint64_t first)
{
	uint64_t h = s->params->in_order ? sim_issue_hash(s, first) : 0;

	for (params_ports left = s->held_ports; left; left &= left - 1)
		h = mix(h, ahead(s, s->ports_free[__builtin_ctz(left)]));
	return h;
}

static uint64_t window_hash(const struct sim_state *s, uint64_t iteration)
{
	uint64_t first = iteration << SIM_NUMBER_BITS, h = rob_hash(s, first);
	unsigned dispatched = 0;

	for (unsigned left = s->params->results_collide ? s->params->alu_ports : 0; left;
	     left &= left - 1)
		h = mix(h, s->results[__builtin_ctz(left)]);

	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		dispatched |= (unsigned)s->dispatched[p] << p;

	return mix(mix(h, (uint64_t)s->next_data_ports << 32 | dispatched), rs_hash(s, first));
}

static uint64_t state_of(const struct sim_state *s, uint64_t iteration)
{
	const uint64_t h = window_hash(s, iteration);

	return s->in_order.llvm ? mix(h, units_hash(s, iteration << SIM_NUMBER_BITS)) : h;
}

struct sim_mark sim_mark_state(const struct sim_state *s, uint64_t iteration)
{
	return (struct sim_mark){.counts = counts_of(s, iteration),
				 .sketch = sketch_of(s, iteration),
				 .state = state_of(s, iteration)};
}

bool sim_is_marked(const struct sim_state *s, uint64_t iteration, const struct sim_mark *mark)
{
	return counts_of(s, iteration) == mark->counts && sketch_of(s, iteration) == mark->sketch &&
	       state_of(s, iteration) == mark->state;
}

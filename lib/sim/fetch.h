/* SPDX-License-Identifier: MIT
 *
 * Parts of the front end, one file for those that decode and one for those that need not.
 */
#ifndef TACT_SIM_FETCH_H
#define TACT_SIM_FETCH_H

#include "sim/sim.h"

/* Puts a uop into the IDQ. */
static inline void sim_deliver(struct sim_state *s, uint64_t id, const struct sim_insn *insn,
			       unsigned uop)
{
	unsigned at = (s->idq_head + s->idq_count++) & (SIM_IDQ - 1);

	s->idq[at].id = id;
	s->idq[at].insn = insn;
	s->idq[at].uop = (uint16_t)uop;
	s->idq[at].at = s->clock;
}

/* In a stream: tells whether the block of this instruction is known, and the next block, too, if
 * there is one.  Nothing is fetched before that.
 */
static inline bool sim_is_fed(const struct sim_state *s, uint64_t id)
{
	return sim_iteration(id) + !s->stream->is_closed < s->stream->n_feeds &&
	       !sim_waits_for_branch(s, id);
}

static inline bool sim_comes_from(const struct sim_state *s, uint64_t id, enum block_source source)
{
	return !s->stream || (sim_is_fed(s, id) && sim_feed_of(s, id)->source == source);
}

/* The same at the first instruction of a block, whose code must be there. */
static inline bool sim_can_come_from(struct sim_state *s, uint64_t id, enum block_source source)
{
	return !s->stream || (sim_comes_from(s, id, source) &&
			      !sim_ahead_waits(s, id, sim_feed_of(s, id)->address));
}

/* What is left of an instruction after its first uops. */
static inline void sim_start_microcode(struct sim_state *s, uint64_t id,
				       const struct sim_insn *insn, unsigned first, unsigned stall,
				       unsigned after)
{
	s->ms_id = id;
	s->ms_insn = insn;
	s->ms_next = first;
	s->ms_left = insn->n_decoded - first;
	s->ms_stall = stall;
	s->ms_after = after + insn->sequencer_rest;
}

/* Read from the LSD; and from a DSB of which a cycle reads one line, two lines, or some uops. */
void sim_read_lsd(struct sim_state *s);
void sim_read_line(struct sim_state *s);
void sim_read_pairs(struct sim_state *s);
void sim_read_dsb(struct sim_state *s);

#endif /* TACT_SIM_FETCH_H */

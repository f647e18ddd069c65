/* SPDX-License-Identifier: MIT
 *
 * Retirement: in order, out of the reorder buffer; ends iterations.
 */
#include "sim/sim.h"

static inline __attribute__((always_inline)) const struct sim_feed *
next_feed(const struct sim_state *s)
{
	uint64_t next = s->idq_count		       ? s->idq[s->idq_head].id
			: s->iq_count		       ? s->iq[s->iq_head].raw
			: s->source == BLOCK_FROM_MITE ? s->next_raw
						       : s->next_fetch;

	return sim_iteration(next) < s->stream->n_feeds ? sim_feed_of(s, next) : NULL;
}

const struct sim_feed *sim_next_feed(const struct sim_state *s)
{
	return next_feed(s);
}

/* What an instruction is that waits for its own execution. */
static enum sim_stall own_stall(const struct sim_state *s, const struct sim_instance *inst)
{
	return inst->insn->is_last && sim_feed_of(s, inst->id)->repeat_cycles
		       ? SIM_STALL_STRINGS
		       : (enum sim_stall)inst->insn->own_stall;
}

/* An instruction that waits for a load of its own: only a miss is worth a name if it runs alone. */
static enum sim_stall load_stall(const struct sim_instance *inst)
{
	return inst->insn->own_stall == SIM_STALL_LOCKED && !inst->extra ? SIM_STALL_LOCKED
									 : SIM_STALL_LOADS;
}

/* Uops that load come before those that use the data. */
static enum sim_stall stall_of(const struct sim_state *s, const struct sim_rob_entry *head)
{
	const struct sim_entry *e = &s->rs[head->entry];
	const struct sim_instance *inst = &s->slots[head->slot];
	const struct sim_uop *u = inst->program->uops + inst->insn->first_uop;

	if (!head->entry || e->inst != inst) /* all are executing */
		return inst->insn->n_uops && u[inst->insn->n_uops - 1].kind == SIM_LOAD
			       ? load_stall(inst)
			       : own_stall(s, inst);
	if (!e->is_live || e->is_load_pending)
		return e->kind == SIM_LOAD ? load_stall(inst) : own_stall(s, inst);
	if (!e->unknown && e->ready <= s->clock)
		return inst->insn->own_stall != SIM_STALL_EXECUTION ? own_stall(s, inst)
								    : SIM_STALL_PORTS;
	/* Tells a wait for the load of the same instruction from other waits. */
	return !e->unknown && u->kind == SIM_LOAD && e->u != u ? load_stall(inst)
							       : SIM_STALL_OPERANDS;
}

/* Returns whether the next instruction waits for the time of the last fence. */
static bool waits_for_fence(const struct sim_state *s)
{
	return s->idq_count && s->idq[s->idq_head].insn->serializes && s->clock < s->fenced_until;
}

/* Counts a cycle in which nothing retires. */
static void count_stall(struct sim_state *s)
{
	const struct sim_rob_entry *head = &s->rob[s->rob_head];
	const struct sim_feed *feed = s->rob_count ? sim_feed_of(s, head->id) : next_feed(s);

	if (!feed || !feed->stalls)
		return;
	if (s->rob_count)
		feed->stalls[stall_of(s, head)]++;
	else
		feed->stalls[feed->is_mispredicted	      ? SIM_STALL_BRANCH
			     : s->stores_full == s->clock - 1 ? SIM_STALL_STORES
			     : s->clock < s->held_until || s->is_serializing || waits_for_fence(s)
				     ? SIM_STALL_SERIALIZING
				     : SIM_STALL_FRONT_END]++;
}

static inline __attribute__((always_inline)) void retire(struct sim_state *s, bool counts)
{
	unsigned width = (unsigned)s->params->retire_width, head = s->rob_head, done = 0,
		 most = s->rob_count < width ? s->rob_count : width;

	for (; done < most; done++) {
		const struct sim_rob_entry *e = &s->rob[head];

		if (e->remaining || e->finish >= s->clock)
			break;
		if (s->watch)
			sim_watch_retire(s, e);
		if (e->ends_insn && s->last_retired != s->clock) {
			s->slots[e->slot].stats->spent += (uint64_t)(s->clock - s->last_retired);
			s->last_retired = s->clock;
		}
		if (e->ends_store) {
			sim_schedule_unblock(s, &s->slots[e->slot]);
			if (s->stream && s->stream->follows_trips)
				sim_trip_store(s, &s->slots[e->slot]);
		}
		s->retired += (sim_iteration(e->id) + 1 - s->retired) * e->ends_block;
		head = (head + 1) & (SIM_ROB - 1);
	}
	if (!done && s->stream && counts)
		count_stall(s);
	s->rob_head = head;
	s->rob_count -= done;
}

void sim_retire(struct sim_state *s)
{
	retire(s, true);
}

void sim_retire_quietly(struct sim_state *s)
{
	retire(s, false);
}

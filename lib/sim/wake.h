/* SPDX-License-Identifier: MIT
 *
 * A uop waits for values, and is planned once it knows them all.  This is a header because every
 * uop passes here several times.
 */
#ifndef TACT_SIM_WAKE_H
#define TACT_SIM_WAKE_H

#include "sim/sim.h"

enum { ISSUE_DELAY = 5 /* cycles from issue to the earliest dispatch (uiCA) */ };

/* A source that becomes ready around the earliest dispatch is seen a cycle later: the wake-up is
 * missed once (uiCA).
 */
static inline void plan(struct sim_state *s, struct sim_entry *e)
{
	int32_t earliest = e->issued + ISSUE_DELAY, ready = e->ready;

	/* Without branches, which no predictor gets right. */
	ready += (ready == earliest) | (ready == earliest + 1);
	ready = ready > earliest ? ready : earliest;
	ready = ready > s->clock ? ready : s->clock + 1;
	if (ready - s->clock >= SIM_CALENDAR) {
		s->overflow = true;
		ready = s->clock + SIM_CALENDAR - 1;
	}
	e->next = s->calendar[ready & (SIM_CALENDAR - 1)];
	s->calendar[ready & (SIM_CALENDAR - 1)] = e->index;
	if (s->params->store_renamed && e->kind == SIM_STORE_DATA && e->inst->insn->leaves_stored)
		sim_schedule_stored(s, e);
}

/* It must wait for a value that is not known yet. */
static inline void wait_for(struct sim_state *s, struct sim_entry *e, uint16_t *list, int latency)
{
	uint16_t w = s->waiter_free;

	if (w) {
		s->waiter_free = s->waiters[w].next;
	} else if (s->waiters_used + 1 < SIM_WAITERS) {
		w = ++s->waiters_used;
	} else {
		s->overflow = true;
		return;
	}
	s->waiters[w].entry = e->index;
	s->waiters[w].next = *list;
	s->waiters[w].latency = latency;
	*list = w;
	e->unknown++;
}

/* A source of an entry, made by an instruction of the block, is ready in this cycle. */
static inline void take(struct sim_entry *e, int32_t ready, uint32_t producer)
{
	uint32_t later = -(uint32_t)(ready > e->ready); /* all bits, or none: no branch */

	e->producer ^= (e->producer ^ producer) & later;
	e->ready = ready > e->ready ? ready : e->ready;
}

/* Finds the instance and the output that a value comes from, through an eliminated move; NULL if it
 * no longer matters, because it is older than what is remembered.
 */
static inline struct sim_instance *find_instance(struct sim_state *s, struct sim_origin *origin)
{
	struct sim_instance *inst = &s->slots[origin->slot];

	if (!sim_is_there(s, origin))
		return NULL;
	if (inst->is_alias && origin->output != SIM_SYNC_OUTPUT) {
		*origin = inst->from;
		if (!sim_is_there(s, origin))
			return NULL;
		inst = &s->slots[origin->slot];
	}
	return inst;
}

#endif /* TACT_SIM_WAKE_H */

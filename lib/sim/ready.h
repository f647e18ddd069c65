/* SPDX-License-Identifier: MIT
 *
 * Uops that are ready, by port and age.  This is a header because every uop passes here.
 */
#ifndef TACT_SIM_READY_H
#define TACT_SIM_READY_H

#include <string.h>

#include "sim/sim.h"

static inline struct sim_entry *sim_ready_entry(struct sim_state *s, uint64_t key)
{
	return &s->rs[key & UINT16_MAX];
}

static inline void sim_enqueue(struct sim_state *s, const struct sim_entry *e)
{
	unsigned port = e->port, begin = s->ready_begin[port], k;
	uint64_t *queue = s->ready[port], key = e->age << 16 | e->index;

	if (s->ready_end[port] == SIM_RS) {
		memmove(queue + 1, queue + begin + 1, (SIM_RS - begin) * sizeof(*queue));
		s->ready_end[port] -= begin;
		s->ready_begin[port] = 0;
	}
	for (k = ++s->ready_end[port]; queue[k - 1] > key; k--)
		queue[k] = queue[k - 1];
	queue[k] = key;
	s->ready_ports |= 1u << port;
}

/* Most uops that leave are the first. */
static inline void sim_dequeue(struct sim_state *s, unsigned port, unsigned k)
{
	uint64_t *queue = s->ready[port];
	unsigned begin = s->ready_begin[port] + 1, end = s->ready_end[port];
	unsigned is_empty = begin == end, kept = is_empty - 1; /* all bits, or none */

	for (; k > begin; k--)
		queue[k] = queue[k - 1];
	queue[begin] = 0;
	s->ready_begin[port] = begin & kept;
	s->ready_end[port] = end & kept;
	s->ready_ports &= ~(is_empty << port);
}

/* Tells whether a uop that waits behind an older one may go to another port: its last operand has
 * just come, and its result would not meet another one where it is.
 */
static inline bool sim_may_move(const struct sim_state *s, const struct sim_entry *e, unsigned to)
{
	if (s->moves_late)
		return e->u->ports >> to & 1;
	return e->u->ports >> to & 1 && e->ready == s->clock && e->kind != SIM_LOAD &&
	       !e->u->taken_ports && !(s->results[e->port] >> e->result & 1);
}

/* Finds a uop for an idle port among those that wait behind others. */
static inline void sim_fill_port(struct sim_state *s, unsigned idle)
{
	for (unsigned ports = s->ready_ports & s->movable; ports; ports &= ports - 1) {
		const unsigned port = (unsigned)__builtin_ctz(ports);

		for (unsigned k = s->ready_begin[port] + 2; k <= s->ready_end[port]; k++) {
			struct sim_entry *e = sim_ready_entry(s, s->ready[port][k]);

			if (!sim_may_move(s, e, idle))
				continue;
			sim_dequeue(s, port, k);
			s->port_use[port]--;
			s->port_use[idle]++;
			e->port = (uint8_t)idle;
			sim_enqueue(s, e);
			return;
		}
	}
}

#endif /* TACT_SIM_READY_H */

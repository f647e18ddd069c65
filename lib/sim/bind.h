/* SPDX-License-Identifier: MIT
 *
 * The port of a uop, which is chosen when it is issued, before it is known when it can run (uiCA,
 * section 4.2).
 */
#ifndef TACT_SIM_BIND_H
#define TACT_SIM_BIND_H

#include "sim/sim.h"

/* What is issued in this cycle. */
struct sim_issue {
	unsigned slot;
	uint8_t taken[TACT_MAX_PORTS]; /* uops of each port, for bind_least */
	int32_t delivered;	       /* of the uop that is being issued */
	params_ports mask[32];
	unsigned count[32], n; /* uops of each set of ports so far in this cycle */
	/* For bind_spread: the set of ports that was sorted last, 0: none. */
	params_ports sorted;
	unsigned keys[TACT_MAX_PORTS], usable;
};

/* Of several ports, the one that the rule of the core chooses. */
unsigned sim_bind_choose(struct sim_state *s, struct sim_issue *issue, params_ports mask);

static inline unsigned sim_bind(struct sim_state *s, struct sim_issue *issue, params_ports mask)
{
	return mask & (mask - 1) ? sim_bind_choose(s, issue, mask) : (unsigned)__builtin_ctz(mask);
}

/* Some cores have a reservation station for each of their integer ports; an address unit may share
 * it.
 */
static inline bool sim_has_room(const struct sim_state *s, unsigned port)
{
	const unsigned other = s->shares[port];

	return !(s->stationed >> port & 1) ||
	       s->port_use[port] + (other != port ? s->port_use[other] : 0) <
		       s->params->port_rs_size;
}

#endif /* TACT_SIM_BIND_H */

/* SPDX-License-Identifier: MIT
 *
 * The rules by which cores bind uops to ports.
 */
#include "sim/bind.h"
#include "arch/binding.h"

/* Says which ports have places of their own, and which two share them. */
static void init_places(struct sim_state *s)
{
	params_ports alu = s->params->alu_ports, load = s->params->load_ports;

	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		s->shares[p] = (uint8_t)p;
	s->shared = 0;
	s->stationed = s->params->port_rs_size ? alu : 0;
	if (!s->params->port_rs_size || !s->params->port_rs_shared)
		return;
	for (; alu && load; alu &= alu - 1, load &= load - 1) {
		const unsigned a = (unsigned)__builtin_ctz(alu), l = (unsigned)__builtin_ctz(load);

		s->shares[a] = (uint8_t)l;
		s->shares[l] = (uint8_t)a;
		s->stationed |= 1u << l;
		s->shared |= 1u << a;
	}
}

/* Ports whose uops may go to another one that is idle. */
static params_ports movable(const struct arch_params *p)
{
	if (p->port_binding == PARAMS_PORT_BINDING_LATE)
		return p->ports;
	return p->woken_move ? p->alu_ports : 0;
}

void sim_bind_init(struct sim_state *s)
{
	const params_ports roles[3] = {s->params->load_ports, s->params->store_address_ports,
				       s->params->store_data_ports};

	for (unsigned r = 0; r < 3; r++)
		s->turns[r] = roles[r] & ~s->params->ports_in_turn ? 0 : roles[r];
	s->movable = movable(s->params);
	s->moves_late = s->params->port_binding == PARAMS_PORT_BINDING_LATE;
	init_places(s);
}

/* Returns the next port of a role whose ports are taken in turn, from the lowest on; -1: it has
 * none.
 */
static int take_turn(struct sim_state *s, params_ports mask)
{
	for (unsigned r = 0; r < 3; r++) {
		if (mask != s->turns[r])
			continue;
		for (unsigned k = s->turn[r]; k; k--)
			mask &= mask - 1;
		s->turn[r] = mask & (mask - 1) ? s->turn[r] + 1 : 0;
		return __builtin_ctz(mask);
	}
	return -1;
}

static unsigned same_before(struct sim_issue *issue, params_ports mask)
{
	unsigned i;

	for (i = 0; i < issue->n; i++)
		if (issue->mask[i] == mask)
			return issue->count[i]++;
	if (i < 32) {
		issue->mask[i] = mask;
		issue->count[i] = 1;
		issue->n++;
	}
	return 0;
}

/* Cores with twelve ports: the counters of one cycle before; uops of the same ports are spread
 * (experiments on Golden Cove: chains of one cycle each, one to ten of them).
 */
static unsigned bind_spread(struct sim_state *s, struct sim_issue *issue, params_ports mask)
{
	const uint8_t *use = s->use_before[1]; /* the same for the whole cycle */
	unsigned same = same_before(issue, mask);

	if (!same)
		return binding_least(use, mask);
	if (issue->sorted != mask) {
		issue->usable = binding_sort(s->params, use, mask, issue->keys);
		issue->sorted = mask;
	}
	while (same >= issue->usable)
		same -= issue->usable;
	return binding_port(issue->keys[same]);
}

/* Cores with ten ports: the same, with exceptions for the last two slots. */
static unsigned bind_wide(struct sim_state *s, struct sim_issue *issue, params_ports mask)
{
	const uint8_t *use = s->use_before[1];
	unsigned keys[TACT_MAX_PORTS], usable, same = same_before(issue, mask);

	if (issue->slot == 4 || (!same && issue->slot != 3))
		return binding_least(use, mask);
	usable = binding_sort(s->params, use, mask, keys);
	return binding_wide(keys, usable, issue->slot, same);
}

/* Cores with eight ports: even slots take the least used port, odd ones the second. */
static unsigned bind_eight(struct sim_state *s, params_ports mask, unsigned slot)
{
	const uint8_t *use = s->use_before[0];
	unsigned first = UINT16_MAX, second = UINT16_MAX;
	bool is_first;

	for (; mask; mask &= mask - 1) {
		unsigned key = binding_key(use, (unsigned)__builtin_ctz(mask)),
			 larger = key > first ? key : first;

		first = key < first ? key : first;
		second = larger < second ? larger : second;
	}
	is_first = (slot % 2 == 0) | (second / TACT_MAX_PORTS >= first / TACT_MAX_PORTS + 3);
	return binding_port(is_first ? first : second);
}

/* Cores with six ports: similar, with a pattern for uops of ports 0, 1 and 5.  The most used port
 * is the alternative; of equal ones, the lower counts as least used, the higher as most used.
 */
static unsigned bind_six(struct sim_state *s, params_ports mask, unsigned slot)
{
	static const uint8_t pattern[3][4] = {{0, 5, 1, 0}, {1, 5, 0, 1}, {5, 1, 0, 5}};
	const uint8_t *use = s->use_before[0];
	unsigned least = UINT16_MAX, most = 0;

	for (unsigned left = mask; left; left &= left - 1) {
		unsigned p = (unsigned)__builtin_ctz(left),
			 key = use[p] * (unsigned)TACT_MAX_PORTS + p;

		least = key < least ? key : least;
		most = key > most ? key : most;
	}
	if (most / TACT_MAX_PORTS >= least / TACT_MAX_PORTS + 3)
		return least % TACT_MAX_PORTS;
	if (mask == ((1u << 0) | (1u << 1) | (1u << 5)))
		return pattern[least % TACT_MAX_PORTS == 0   ? 0
			       : least % TACT_MAX_PORTS == 1 ? 1
							     : 2][slot & 3];
	return (slot % 2 == 0 ? least : most) % TACT_MAX_PORTS;
}

/* The port that has least to do: by waiting uops, in steps of eight, and those of this cycle; equal
 * ones in turn (experiments on Zen 4: instructions of two sets of ports in one loop are spread well
 * over them, but not perfectly).
 */
static unsigned bind_least(struct sim_state *s, struct sim_issue *issue, params_ports mask)
{
	enum { STEP = 8 };
	const params_ports behind = ~0u << s->next_port % TACT_MAX_PORTS;
	unsigned best = 0, least = ~0u;

	while (mask) {
		params_ports next = mask & behind ? mask & behind : mask;
		unsigned p = (unsigned)__builtin_ctz(next), load;

		mask &= ~(1u << p);
		load = issue->taken[p] + s->port_use[p] / STEP;
		if (sim_has_room(s, p) ? load < least : least == ~0u) {
			least = load;
			best = p;
		}
	}
	issue->taken[best]++;
	s->next_port = best + 1;
	return best;
}

unsigned sim_bind_choose(struct sim_state *s, struct sim_issue *issue, params_ports mask)
{
	const int port = take_turn(s, mask);

	if (port >= 0)
		return (unsigned)port;
	switch (s->params->port_binding) {
	case PARAMS_PORT_BINDING_LEAST:
	case PARAMS_PORT_BINDING_LATE: /* for the time being */
		return bind_least(s, issue, mask);
	case PARAMS_PORT_BINDING_SIX:
		return bind_six(s, mask, issue->slot);
	case PARAMS_PORT_BINDING_EIGHT:
		return bind_eight(s, mask, issue->slot);
	case PARAMS_PORT_BINDING_SPREAD:
		return bind_spread(s, issue, mask);
	default:
		return bind_wide(s, issue, mask);
	}
}

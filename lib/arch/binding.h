/* SPDX-License-Identifier: MIT
 *
 * Which port a uop is bound to when it is issued, on cores with ten ports (uiCA, section 4.2).  This
 * is a header because every uop passes here.
 */
#ifndef TACT_ARCH_BINDING_H
#define TACT_ARCH_BINDING_H

#include <tact/arch.h>

#include "arch/params.h"

/* A port as a number: use << 5 | 31 - port.  The least used port has the smallest; of equal ones,
 * the port with the higher number.
 */
static inline unsigned binding_key(const uint8_t *use, unsigned port)
{
	return use[port] * (unsigned)TACT_MAX_PORTS + TACT_MAX_PORTS - 1 - port;
}

static inline unsigned binding_port(unsigned key)
{
	return TACT_MAX_PORTS - 1 - key % TACT_MAX_PORTS;
}

static inline unsigned binding_least(const uint8_t *use, params_ports mask)
{
	unsigned least = UINT16_MAX;

	for (; mask; mask &= mask - 1) {
		unsigned key = binding_key(use, (unsigned)__builtin_ctz(mask));

		least = key < least ? key : least;
	}
	return binding_port(least);
}

/* Sorts the ports of a set, the least used first; returns how many of them are used little more than
 * that.
 */
static inline unsigned binding_sort(const struct arch_params *p, const uint8_t *use,
				    params_ports mask, unsigned *keys)
{
	const unsigned lead = (unsigned)p->port_lead;
	unsigned n = 0, usable = 0;

	for (; mask; mask &= mask - 1) {
		unsigned key = binding_key(use, (unsigned)__builtin_ctz(mask)), k;

		for (k = n++; k && key < keys[k - 1]; k--)
			keys[k] = keys[k - 1];
		keys[k] = key;
	}
	while (usable < n && keys[usable] / TACT_MAX_PORTS < keys[0] / TACT_MAX_PORTS + lead)
		usable++;
	return usable;
}

/* Returns the port of a uop in this slot of its cycle, after `same` others of the same set of ports.
 * `keys` has the ports, sorted by the uops that were bound to them and had not left a cycle before;
 * `usable` of them may be taken.
 */
static inline unsigned binding_wide(const unsigned *keys, unsigned usable, unsigned slot,
				    unsigned same)
{
	if (slot == 4)
		return binding_port(keys[0]);
	if (!same)
		return binding_port(keys[slot == 3 && usable > 1]);
	while (same >= usable)
		same -= usable;
	return binding_port(keys[same]);
}

#endif /* TACT_ARCH_BINDING_H */

/* SPDX-License-Identifier: MIT
 *
 * See sharing.h.
 */
#include "trace/sharing.h"

#include <stdlib.h>
#include <string.h>

#include <tact/status.h>

#include "arch/params.h"

enum { TICK = 1 << 12 }; /* half cycles of a stamp: they come round after 17 million million */
enum { AT_ONCE = 4 };	 /* misses that overlap: between chains and loads that are independent */

/* Two instructions a cycle, and misses that overlap: a guess, until it is known better. */
int sharing_init(struct sharing *s, const struct arch_params *p, size_t sets, size_t ways)
{
	memset(s, 0, sizeof(*s));
	s->pace = 1;
	if (!p->l3_shared)
		return 0;
	s->stamps = calloc(sets, sizeof(*s->stamps));
	s->rate = (double)ways * TICK / (2e3 * p->l3_shared);
	s->wait[2] = (uint32_t)p->l3_latency * 2 / AT_ONCE;
	s->wait[3] = (uint32_t)p->memory_latency * 2 / AT_ONCE;
	return s->stamps ? 0 : -TACT_E_NOMEM;
}

void sharing_fini(struct sharing *s)
{
	free(s->stamps);
	s->stamps = NULL;
}

/* Chance, the same in every run. */
static uint64_t chance_of(uint64_t seed)
{
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebu;
	return seed ^ seed >> 31;
}

/* Of a part of a line, chance decides. */
static size_t whole_lines(double lines, uint64_t seed)
{
	const double rounded = lines + (double)(chance_of(seed) >> 32) * 0x1p-32;

	return rounded < 64 ? (size_t)rounded : 64;
}

/* A line of others takes the place of one of a set: of four that chance finds, the one that was not used
 * for longest.
 */
static void displace_one(uint64_t *lines, size_t ways, uint64_t chance)
{
	size_t oldest = 0;

	for (; chance; chance >>= 16) {
		const size_t at = (chance & UINT16_MAX) * ways >> 16;

		oldest = at > oldest ? at : oldest;
	}
	memmove(lines + 1, lines, oldest * sizeof(*lines));
	lines[0] = 0;
}

void sharing_displace(struct sharing *s, size_t set, uint64_t *lines, size_t ways)
{
	const double clock = s->clock + (double)sharing_guess(s) * s->pace;
	const uint32_t now = (uint32_t)(uint64_t)(clock / TICK), idle = now - s->stamps[set];
	const uint64_t seed = set ^ (uint64_t)now << 20;

	s->stamps[set] = now;
	for (size_t n = idle ? whole_lines(idle * s->rate, seed) : 0; n > 0; n--)
		displace_one(lines, ways, chance_of(seed + (n << 52)));
}

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

/* Two instructions a cycle, and misses that overlap: a guess. */
int sharing_init(struct sharing *s, const struct arch_params *p, size_t sets, size_t ways)
{
	memset(s, 0, sizeof(*s));
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

/* Of a part of a line, chance decides, the same in every run. */
static size_t whole_lines(double lines, uint64_t seed)
{
	const uint64_t chance = (seed * 0x9e3779b97f4a7c15u) >> 32;
	const double rounded = lines + (double)chance * 0x1p-32;

	return rounded < 64 ? (size_t)rounded : 64;
}

void sharing_displace(struct sharing *s, size_t set, uint64_t *lines, size_t ways)
{
	const uint32_t now = (uint32_t)(s->clock / TICK), idle = now - s->stamps[set];
	size_t n = idle ? whole_lines(idle * s->rate, set ^ (uint64_t)now << 20) : 0;

	s->stamps[set] = now;
	if (!n)
		return;
	n = n < ways ? n : ways;
	memmove(lines + n, lines, (ways - n) * sizeof(*lines));
	memset(lines, 0, n * sizeof(*lines));
}

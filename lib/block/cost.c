/* SPDX-License-Identifier: MIT
 *
 * What each instruction costs, for tables that people read.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "block/block.h"

enum { MAX_SETS = ARCH_MAX_PORT_SETS, N_PORTS = TACT_MAX_PORTS, MOST_ROUNDS = 100 };

/* How the uops of each set of ports are spread over its ports. */
struct block_spread {
	unsigned n;
	params_ports mask[MAX_SETS];
	double uops[MAX_SETS];
	double share[MAX_SETS][N_PORTS]; /* of one uop */
};

static bool needs_ports(const struct block_insn *bi)
{
	return !bi->fused_prev && (!bi->lowered->eliminated || bi->fused_next);
}

static unsigned set_of(struct block_spread *s, params_ports mask)
{
	unsigned i;

	for (i = 0; i < s->n; i++)
		if (s->mask[i] == mask)
			return i;
	if (i == MAX_SETS)
		return MAX_SETS - 1;
	s->mask[i] = mask;
	s->uops[i] = 0;
	s->n++;
	return i;
}

/* Pours `uops` into the ports of `mask` so that their levels become as even as possible. */
static void pour(double *level, params_ports mask, double uops, double *share)
{
	double total = uops;

	memset(share, 0, N_PORTS * sizeof(*share));
	while (uops > 1e-9) {
		double low = 1e300, next = 1e300, amount;
		unsigned n = 0;

		for (unsigned p = 0; p < N_PORTS; p++)
			if (mask >> p & 1 && level[p] < low)
				low = level[p];
		for (unsigned p = 0; p < N_PORTS; p++) {
			if (!(mask >> p & 1))
				continue;
			if (level[p] <= low + 1e-9)
				n++;
			else if (level[p] < next)
				next = level[p];
		}
		amount = (next - low) * n < uops ? (next - low) * n : uops;
		for (unsigned p = 0; p < N_PORTS; p++) {
			if (mask >> p & 1 && level[p] <= low + 1e-9) {
				level[p] += amount / n;
				share[p] += amount / n / total;
			}
		}
		uops -= amount;
	}
}

/* Takes the uops of a set out and pours them again: they may have a better place now that the others
 * are there.  Returns whether a level changed.
 */
static bool pour_again(double *level, const struct block_spread *s, unsigned i, double *share)
{
	double before[N_PORTS];
	bool has_changed = false;

	memcpy(before, level, sizeof(before));
	for (unsigned p = 0; p < N_PORTS; p++)
		level[p] -= s->uops[i] * share[p];
	pour(level, s->mask[i], s->uops[i], share);
	for (unsigned p = 0; p < N_PORTS; p++)
		has_changed |= fabs(level[p] - before[p]) > 1e-7;
	return has_changed;
}

/* What the passes have not quite taken away. */
static void drop_traces(double *share)
{
	double left = 0;

	for (unsigned p = 0; p < N_PORTS; p++) {
		share[p] = share[p] < 1e-3 ? 0 : share[p];
		left += share[p];
	}
	for (unsigned p = 0; p < N_PORTS && left > 0; p++)
		share[p] /= left;
}

/* Small sets first: they have the least choice.  Then each set in turn as is best next to the others:
 * that lowers the sum of the levels' squares, which has one minimum, where the busiest port is as idle
 * as possible.
 */
static void spread_uops(struct tact_block *block, struct block_spread *s)
{
	struct arch_port_use uses[BLOCK_MAX_PORT_USES];
	double level[N_PORTS] = {0};
	bool has_changed = true;

	s->n = 0;
	for (size_t i = 0; i < block->n_insns; i++) {
		unsigned n = needs_ports(&block->insns[i]) ? block_port_uses(block, i, uses) : 0;

		for (unsigned k = 0; k < n; k++)
			s->uops[set_of(s, uses[k].mask)] += uses[k].count;
	}
	for (int size = 1; size <= N_PORTS; size++)
		for (unsigned i = 0; i < s->n; i++)
			if (__builtin_popcount(s->mask[i]) == size)
				pour(level, s->mask[i], s->uops[i], s->share[i]);
	for (unsigned round = 0; round < MOST_ROUNDS && has_changed; round++) {
		has_changed = false;
		for (unsigned i = 0; i < s->n; i++)
			has_changed |= pour_again(level, s, i, s->share[i]);
	}
	for (unsigned i = 0; i < s->n; i++)
		drop_traces(s->share[i]);
}

static unsigned notes_of(const struct block_insn *bi)
{
	const struct block_lowered *l = bi->lowered;
	unsigned notes = 0;

	if (!l->known)
		notes |= TACT_NOTE_UNKNOWN;
	if (bi->fused_prev)
		notes |= TACT_NOTE_FUSED_PREV;
	if (bi->fused_next)
		notes |= TACT_NOTE_FUSED_NEXT;
	if (l->eliminated)
		notes |= TACT_NOTE_ELIMINATED;
	if (l->idiom)
		notes |= TACT_NOTE_IDIOM;
	if (l->ms)
		notes |= TACT_NOTE_MICROCODED;
	if (bi->jcc)
		notes |= TACT_NOTE_JCC;
	if (bi->lowered->attributes & TACT_INSN_LCP)
		notes |= TACT_NOTE_LCP;
	if (l->complex_decoder)
		notes |= TACT_NOTE_COMPLEX;
	if (bi->stack_sync)
		notes |= TACT_NOTE_STACK_SYNC;
	if (bi->switches_upper)
		notes |= TACT_NOTE_SWITCHES;
	if (l->fused > l->mite + l->ms)
		notes |= TACT_NOTE_UNLAMINATED;
	return notes;
}

static void fill_cost(const struct tact_block *block, size_t i, struct tact_insn_cost *cost)
{
	struct arch_port_use uses[BLOCK_MAX_PORT_USES];
	const struct block_insn *bi = &block->insns[i];
	unsigned n;

	cost->notes = notes_of(bi);
	if (bi->fused_prev)
		return;
	cost->uops = bi->lowered->eliminated ? 0 : bi->lowered->uops;
	cost->issued = bi->lowered->fused;
	cost->mite = bi->lowered->mite;
	cost->ms = bi->lowered->ms;
	cost->divider = bi->lowered->divider;
	cost->exclusive = block_exclusive(bi->lowered);
	if (bi->switches_upper)
		cost->exclusive += (unsigned)block->arch->params.upper_switch;
	n = needs_ports(bi) ? block_port_uses(block, i, uses) : 0;
	for (unsigned k = 0; k < n; k++) {
		unsigned set = set_of(block->spread, uses[k].mask);

		for (unsigned p = 0; p < N_PORTS; p++)
			cost->port[p] += uses[k].count * block->spread->share[set][p];
	}
}

struct block_spread *block_spread_create(void)
{
	return malloc(sizeof(struct block_spread));
}

int tact_block_cost(struct tact_block *block, size_t i, struct tact_insn_cost *cost)
{
	struct tact_insn_cost c = TACT_INSN_COST_INIT;

	if (!block || i >= block->n_insns || !tact_can_fill(cost))
		return -TACT_E_INVAL;
	block_connect(block);
	if (!block->spread_valid)
		spread_uops(block, block->spread);
	block->spread_valid = true;
	fill_cost(block, i, &c);
	return tact_fill(cost, &c, sizeof(c));
}

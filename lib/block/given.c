/* SPDX-License-Identifier: MIT
 *
 * Latencies that the caller gives.
 */
#include <string.h>

#include "block/block.h"

/* Fills in the latencies where there is a dependence. */
static void fill(uint16_t *to, const uint16_t *from, size_t n, uint16_t cycles)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] ? cycles : 0;
}

int block_give_latency(struct tact_block *block, struct block_insn *bi)
{
	const struct block_lowered *from = bi->lowered;
	const size_t n = (size_t)from->n_in * from->n_out;
	struct block_lowered *l;
	uint16_t *latency, *forwarded;

	l = tact_arena_take(&block->given, sizeof(*l) + 2 * n * sizeof(uint16_t));
	if (!l)
		return -TACT_E_NOMEM;
	*l = *from;
	bi->lowered = l;
	if (from->eliminated && !from->uops)
		return 0; /* nothing executes it */
	latency = (uint16_t *)(l + 1);
	forwarded = latency + n;
	fill(latency, from->latency, n, bi->latency);
	fill(forwarded, from->forwarded, n, bi->latency);
	l->latency = latency;
	l->forwarded = forwarded;
	l->eliminated = l->takes_stored = false;
	return 0;
}

int tact_block_set_latency(struct tact_block *block, size_t i, unsigned cycles)
{
	struct block_insn *bi;
	uint16_t before;

	if (!block || i >= block->n_insns || !cycles || cycles > TACT_MAX_LATENCY)
		return -TACT_E_INVAL;
	bi = &block->insns[i];
	before = bi->latency;
	bi->latency = (uint16_t)cycles;
	if (before != cycles && block_give_latency(block, bi) < 0) {
		bi->latency = before;
		return -TACT_E_NOMEM;
	}
	block->has_latencies = true;
	block_disconnect(block);
	block->spread_valid = false;
	return 0;
}

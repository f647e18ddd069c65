/* SPDX-License-Identifier: MIT
 *
 * What bounds need to know of a block in which nothing waits for itself and no load meets a store.
 * Two of three real blocks are like that; a few operations on sets of registers find it out, where
 * the dependence graph takes longer than all other bounds together.
 */
#include "block/addresses.h"

static inline bool overlap(const struct block_keys *a, const struct block_keys *b)
{
	return (a->half[0] & b->half[0]) | (a->half[1] & b->half[1]);
}

/* Returns the registers that are read before they are written, and written later: what they hold
 * comes from the iteration before.
 */
static struct block_keys find_carried(const struct tact_block *block)
{
	struct block_keys carried = {{0}}, written = {{0}};

	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *l = block->insns[i].lowered;

		for (unsigned h = 0; h < 2; h++) {
			carried.half[h] |= l->reads.half[h] & ~written.half[h];
			written.half[h] |= l->writes.half[h];
		}
	}
	for (unsigned h = 0; h < 2; h++)
		carried.half[h] &= written.half[h];
	return carried;
}

/* Follows what depends on these registers through an iteration; returns what does at its end. */
static struct block_keys follow(const struct tact_block *block, struct block_keys from)
{
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *l = block->insns[i].lowered;
		const uint64_t waits = overlap(&l->reads, &from) ? ~0ull : 0;

		for (unsigned h = 0; h < 2; h++)
			from.half[h] =
				(from.half[h] & ~l->writes.half[h]) | (l->passes.half[h] & waits);
	}
	return from;
}

/* Returns whether a chain of registers may go on from iteration to iteration: of those that carry a
 * value over, the ones that depend on none of them are left out until nothing changes.
 */
static bool may_repeat(const struct tact_block *block)
{
	struct block_keys carried = find_carried(block);

	while (carried.half[0] | carried.half[1]) {
		const struct block_keys end = follow(block, carried);
		const struct block_keys left = {
			{carried.half[0] & end.half[0], carried.half[1] & end.half[1]}};

		if (left.half[0] == carried.half[0] && left.half[1] == carried.half[1])
			return true;
		carried = left;
	}
	return false;
}

/* Counts stores and banks, for which addresses are enough. */
static void count_addresses(struct tact_block *block)
{
	struct address_walk w;

	if (!addresses_init(&w, block))
		return;
	for (size_t i = 0; i < block->n_insns; i++) {
		block->insns[i].is_met = false;
		block->insns[i].bank_bytes = 0;
	}
	addresses_connect(&w, block->opt.paper);
	commits_count(&w);
}

static void mark_stack_syncs(struct tact_block *block)
{
	for (size_t i = 0; i < block->n_insns && block->counts.stack_changes; i++)
		block->insns[i].stack_sync = false;
	block_mark_stack_syncs(block);
}

void block_survey_anew(struct tact_block *block)
{
	const struct block_counts *c = &block->counts;

	if ((c->loads && c->stores) || c->turning || block->has_latencies || may_repeat(block)) {
		block_connect(block);
		return;
	}
	block_begin_graph(block);
	mark_stack_syncs(block);
	count_addresses(block);
	block->is_free = true;
}

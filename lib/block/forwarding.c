/* SPDX-License-Identifier: MIT
 *
 * What a load takes from the store buffer depends on when it comes (experiments on Golden Cove).
 *
 * A load that is dispatched long before the data of its store waits for them, and chains of such
 * loads advance no faster than a store in store_forward_early cycles.  A load that is dispatched
 * when the data are about to come needs only store_forward_late cycles; a chain keeps that pace as
 * long as nothing lets loads run ahead.  Locked instructions forward nothing, and wait for older
 * stores.
 */
#include "block/block.h"

enum {
	/* Iterations in the reorder buffer up to which loads do not come too early (chains with 1
	 * to 36 nops, measured blocks with such chains).
	 */
	IN_FLIGHT = 40,
	/* Uops of a loop up to which what is stored as it was loaded comes too early (mov there and
	 * back with 0 to 12 nops); in larger ones and in unrolled code it does not.
	 */
	TINY = 5,
};

static bool is_memory(const struct tact_block *block, const struct block_node *node)
{
	return block->insns[node->insn].lowered->in[node->input].kind == VALUE_MEMORY;
}

/* Returns whether a load takes its data from the store buffer, the usual way. */
static bool is_forwarded(const struct tact_block *block, const struct block_node *node)
{
	return is_memory(block, node) && node->producer != BLOCK_NO_PRODUCER && !node->is_renamed &&
	       !node->is_blocked &&
	       !(block->insns[node->producer].lowered->attributes & TACT_INSN_LOCKED);
}

/* Renaming is predicted by the place of the load in the code, and fails where places are too close
 * to each other.  A loop has few of them.
 */
static void forget_dense(const struct tact_block *block, struct block_node *nodes)
{
	unsigned n = 0;

	if (block->mode == TACT_MODE_LOOP || !block->arch->params.renamed_bytes)
		return;
	for (size_t v = 0; v < block->n_nodes; v++)
		n += is_memory(block, &nodes[v]) && nodes[v].producer != BLOCK_NO_PRODUCER &&
		     nodes[v].is_renamed;
	if (block->code_size >= (size_t)block->arch->params.renamed_bytes * n)
		return;
	for (size_t v = 0; v < block->n_nodes; v++)
		if (is_memory(block, &nodes[v]))
			nodes[v].is_renamed = false;
}

/* Takes the longest ways on by one step, up to `most` cycles and not through stores; returns
 * whether any got longer.
 */
static bool extend(const struct tact_block *block, struct block_node *nodes, size_t origin,
		   unsigned most)
{
	bool changed = false;

	for (size_t v = 0; v < block->n_nodes; v++) {
		const struct block_insn *producer;

		if (nodes[v].producer == BLOCK_NO_PRODUCER)
			continue;
		producer = &block->insns[nodes[v].producer];
		for (unsigned in = 0; in < producer->lowered->n_in; in++) {
			const size_t u = producer->first_node + in;
			unsigned latency, far;

			if ((u != origin && (!nodes[u].reach || is_memory(block, &nodes[u]))) ||
			    !block_latency(block, nodes[v].producer, in, nodes[v].output, &nodes[v],
					   true, &latency))
				continue;
			far = 1 + latency + (u == origin ? 0 : nodes[u].reach - 1u);
			far = far > most + 1 ? most + 1 : far;
			if (far > nodes[v].reach) {
				nodes[v].reach = (uint8_t)far;
				changed = true;
			}
		}
	}
	return changed;
}

/* Returns the longest way from a load to the next one from the store buffer, up to `most` cycles;
 * 0: there is none.
 */
static unsigned way_to_next(const struct tact_block *block, struct block_node *nodes, size_t load,
			    unsigned most)
{
	unsigned longest = 0;

	for (size_t v = 0; v < block->n_nodes; v++)
		nodes[v].reach = 0;
	while (extend(block, nodes, load, most)) {
	}
	for (size_t v = 0; v < block->n_nodes; v++)
		if (nodes[v].reach > longest + 1 && is_forwarded(block, &nodes[v]))
			longest = nodes[v].reach - 1u;
	return longest;
}

static unsigned count_issued(const struct tact_block *block)
{
	unsigned issued = 0;

	for (size_t i = 0; i < block->n_insns; i++)
		issued += block->insns[i].fused_prev ? 0 : block->insns[i].lowered->fused;
	return issued;
}

void block_mark_forwarding(struct tact_block *block)
{
	const struct arch_params *p = &block->arch->params;
	struct block_node *nodes = block->has_better ? block->better : block->nodes;
	const unsigned issued = count_issued(block),
		       most = IN_FLIGHT * issued > (unsigned)p->rob_size
				      ? 0
				      : (unsigned)p->store_forward_early;
	const bool is_tiny = block->mode == TACT_MODE_LOOP && issued <= TINY;

	forget_dense(block, nodes);
	for (size_t v = 0; v < block->n_nodes; v++)
		nodes[v].early = nodes[v].late = 0;
	for (size_t v = 0; v < block->n_nodes; v++) {
		struct block_node *node = &nodes[v];
		const struct block_lowered *l = block->insns[node->insn].lowered;
		const bool is_vector = l->attributes & TACT_INSN_VECTOR;
		unsigned way, least = is_vector ? (unsigned)p->store_forward_early : most;

		if (!is_forwarded(block, node))
			continue;
		if (p->store_forward_late && !node->distance && !is_vector)
			node->late = (uint8_t)(p->store_forward - p->store_forward_late);
		way = least ? way_to_next(block, nodes, v, least) : 0;
		if (way && (way > (unsigned)p->store_forward || is_tiny || is_vector))
			node->early = (uint8_t)(way < least ? least - way : 0);
		/* Across lines: 8.7 with and without an addition. */
		if (way && block->insns[node->insn].is_split)
			node->early = (uint8_t)(p->store_forward_early + 1u - way);
	}
}

/* Returns whether there is a store that is not locked between a locked instruction and the one
 * before it.
 */
static bool follows_stores(const struct tact_block *block, size_t i)
{
	for (size_t n = 1; n < block->n_insns; n++) {
		const struct block_lowered *l =
			block->insns[(i + block->n_insns - n) % block->n_insns].lowered;

		if (l->attributes & TACT_INSN_LOCKED)
			return false;
		if (l->n_stores)
			return true;
	}
	return false;
}

static bool precedes_loads(const struct tact_block *block, size_t i)
{
	const struct block_node *nodes = block_nodes(block);

	for (size_t v = 0; v < block->n_nodes; v++)
		if (nodes[v].producer == i && is_memory(block, &nodes[v]) &&
		    !(block->insns[nodes[v].insn].lowered->attributes & TACT_INSN_LOCKED))
			return true;
	return false;
}

unsigned block_exclusive_in(const struct tact_block *block, size_t i)
{
	const struct arch_params *p = &block->arch->params;
	const struct block_lowered *l = block->insns[i].lowered;
	unsigned cycles = block_exclusive(l);

	if (!(l->attributes & TACT_INSN_LOCKED) || !cycles || block->opt.paper)
		return cycles;
	if (p->lock_after_stores && follows_stores(block, i))
		cycles += (unsigned)p->lock_after_stores;
	if (p->lock_before_loads) {
		block_connect(block);
		cycles += precedes_loads(block, i) ? (unsigned)p->lock_before_loads : 0;
	}
	return cycles;
}

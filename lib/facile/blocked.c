/* SPDX-License-Identifier: MIT
 *
 * Loads that cannot be forwarded: the last store to their bytes does not hold all of them (the
 * Intel optimization manual's rules on store forwarding; figures from BHive and from measurements).
 */
#include <string.h>

#include "facile/facile.h"

/* Returns the node of a blocked load of an instruction, or NULL. */
static const struct block_node *blocked_node(const struct tact_block *block, size_t i)
{
	const struct block_insn *bi = &block->insns[i];

	for (unsigned k = 0; k < bi->lowered->n_in; k++) {
		const struct block_node *node = &block_nodes(block)[bi->first_node + k];

		/* Stores of earlier iterations than the last are long gone. */
		if (node->is_blocked && !node->is_narrow && node->producer != BLOCK_NO_PRODUCER &&
		    node->iterations < 2)
			return node;
	}
	return NULL;
}

/* Such a load waits until the store has left the store buffer, which happens after the store
 * retires; and stores after the load retire after it.  So blocked loads queue up, except those
 * whose store precedes the previous blocked load.  Returns how many queue up in COUNTED iterations.
 */
enum { ITERATIONS = 8, COUNTED = 4 };

static int count_queue(struct tact_block *block)
{
	size_t n = block->n_insns;
	unsigned *passed = block_scratch(block, 2 * n * sizeof(*passed)), now = 0, begin = 0;

	if (!passed)
		return -1;
	memset(passed, 0, 2 * n * sizeof(*passed)); /* blocked loads before each store */
	for (unsigned it = 0; it < ITERATIONS; it++) {
		if (it == ITERATIONS - COUNTED)
			begin = now;
		for (size_t i = 0; i < n; i++) {
			const struct block_node *node = blocked_node(block, i);

			if (node) {
				unsigned before =
					passed[((it + node->iterations) & 1) * n + node->producer];

				now = before + 1 > now ? before + 1 : now;
			}
			passed[(it & 1) * n + i] = now;
		}
	}
	return (int)(now - begin);
}

double facile_blocked(struct tact_block *block, const struct tact_predict_options *opt)
{
	int queue;

	(void)opt;
	if (!block->has_blocked)
		return 0;
	queue = count_queue(block);
	return queue < 0 ? -1 : (double)queue / COUNTED * block->arch->params.store_blocked;
}

int facile_derive_blocked(struct tact_block *block, const struct tact_predict_options *opt,
			  struct tact_derivation *out)
{
	int queue = block->has_blocked ? count_queue(block) : 0;

	(void)opt;
	if (queue < 0)
		return -TACT_E_NOMEM;
	out->counted = TACT_COUNTED_LOADS;
	out->amount = (unsigned)queue;
	out->per = COUNTED;
	while (out->amount % 2 == 0 && out->per > 1) {
		out->amount /= 2;
		out->per /= 2;
	}
	out->each = (unsigned)block->arch->params.store_blocked;
	return 0;
}

int tact_explain_blocked(const struct tact_block *block, size_t *cursor,
			 struct tact_blocked_load *out)
{
	if (!block || !cursor || !out)
		return -TACT_E_INVAL;
	block_connect(block);
	while (block->has_blocked && *cursor < block->n_insns) {
		const struct block_node *node = blocked_node(block, (*cursor)++);

		if (!node)
			continue;
		*out = (struct tact_blocked_load){.load = node->insn,
						  .store = node->producer,
						  .iterations = node->iterations};
		return 1;
	}
	return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * Issue (FACILE, section 4.7), and what the paper leaves out: the stack engine, what
 * does not overlap (the divider above all), stores.
 */
#include "facile/facile.h"

static unsigned issued_uops(const struct tact_block *block)
{
	unsigned n = 0;

	for (size_t i = 0; i < block->n_insns; i++)
		if (!block->insns[i].fused_prev)
			n += block->insns[i].lowered->fused;
	return n;
}

double facile_issue(struct tact_block *block, const struct tact_predict_options *opt)
{
	(void)opt;
	return (double)issued_uops(block) / block->arch->params.issue_width;
}

/* Issue again, with the uops that the stack engine inserts. */
double facile_stack_sync(struct tact_block *block, const struct tact_predict_options *opt)
{
	unsigned n = 0;

	(void)opt;
	for (size_t i = 0; i < block->n_insns; i++)
		n += block->insns[i].stack_sync;
	return n ? (double)(issued_uops(block) + n) / block->arch->params.issue_width : 0;
}

double facile_divider(struct tact_block *block, const struct tact_predict_options *opt)
{
	unsigned cycles = 0;

	(void)opt;
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *l = block->insns[i].lowered;

		/* Measured throughput where it is more than the divider explains: microcoded
		 * divisions, locked and fencing instructions, which do not overlap either.
		 */
		cycles += l->cycles > l->divider ? l->cycles : l->divider;
	}
	return cycles;
}

double facile_stores(struct tact_block *block, const struct tact_predict_options *opt)
{
	(void)opt;
	return block->store_cycles;
}

/* SPDX-License-Identifier: MIT
 *
 * Issue (FACILE, section 4.7), the divider and stores.
 */
#include "facile/facile.h"

double facile_issue(struct tact_block *block, const struct tact_predict_options *opt)
{
	unsigned n = 0;

	(void)opt;
	for (size_t i = 0; i < block->n_insns; i++)
		if (!block->insns[i].fused_prev)
			n += block->insns[i].lowered->fused;
	return (double)n / block->arch->params.issue_width;
}

double facile_divider(struct tact_block *block, const struct tact_predict_options *opt)
{
	unsigned cycles = 0;

	(void)opt;
	for (size_t i = 0; i < block->n_insns; i++)
		cycles += block->insns[i].lowered->divider;
	return cycles;
}

double facile_stores(struct tact_block *block, const struct tact_predict_options *opt)
{
	(void)opt;
	return block->store_cycles;
}

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

/* Returns the cycles from stack pointer to stack pointer through an instruction that writes it; 0
 * if its value comes from elsewhere.
 */
static unsigned stack_latency(const struct block_lowered *l)
{
	for (unsigned k = 0; k < l->n_in; k++)
		for (unsigned o = 0; o < l->n_out; o++)
			if (l->in[k].kind == VALUE_REG && l->in[k].stack == STACK_NAMED &&
			    l->out[o].stack == STACK_NAMED)
				return l->latency[k * l->n_out + o];
	return 0;
}

/* The uops that the stack engine inserts take issue slots, and each waits for the one before it or
 * for the instruction that has written the stack pointer since.
 */
double facile_stack_sync(struct tact_block *block, const struct tact_predict_options *opt)
{
	unsigned n = 0, chain = 0;
	bool broken = false;
	double issue;

	(void)opt;
	if (!block->counts.stack_changes)
		return 0;
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *l = block->insns[i].lowered;

		n += block->insns[i].stack_sync;
		if (!l->writes_stack)
			continue;
		broken |= !stack_latency(l);
		chain += stack_latency(l);
	}
	if (!n)
		return 0;
	issue = (double)(issued_uops(block) + n) / block->arch->params.issue_width;
	return broken || issue > chain + n ? issue : chain + n;
}

double facile_divider(struct tact_block *block, const struct tact_predict_options *opt)
{
	unsigned cycles = 0;

	(void)opt;
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_lowered *l = block->insns[i].lowered;

		/* The measured throughput counts where it exceeds what the divider explains:
		 * microcoded divisions, locked and fencing instructions do not overlap either.
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

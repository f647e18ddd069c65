/* SPDX-License-Identifier: MIT
 *
 * How much each instruction of a block matters.
 */
#include "facile/facile.h"

struct question {
	const struct tact_predict_options *opt;
	struct tact_prediction answer;
};

static int ask(struct tact_block *block, void *arg)
{
	struct question *q = arg;

	return tact_predict(block, q->opt, &q->answer);
}

/* The branch of a loop makes it one. */
static bool is_erasable(const struct tact_block *block, size_t i)
{
	return block->n_insns > 1 && !(block->mode == TACT_MODE_LOOP && i + 1 == block->n_insns &&
				       block->insns[i].lowered->attributes & TACT_INSN_BRANCH);
}

int tact_explain_criticality(struct tact_block *block, const struct tact_predict_options *opt,
			     size_t i, struct tact_criticality *out)
{
	struct tact_criticality c = TACT_CRITICALITY_INIT;
	struct tact_prediction with = TACT_PREDICTION_INIT;
	struct tact_predict_options options;
	struct question without = {.opt = &options, .answer = TACT_PREDICTION_INIT};
	int status;

	if (!block || i >= block->n_insns || !tact_can_fill(out) ||
	    tact_read_options(&options, sizeof(options), opt) < 0)
		return -TACT_E_INVAL;
	options.size = sizeof(options);
	options.stop_above = 0;
	status = tact_predict(block, &options, &with);
	if (status >= 0)
		status = facile_slack(block, i, with.cycles_per_iteration, &c.slack);
	c.is_erasable = is_erasable(block, i);
	if (status >= 0 && c.is_erasable)
		status = block_ask_without(block, i, ask, &without);
	if (status < 0)
		return status;
	if (c.is_erasable)
		c.saved = with.cycles_per_iteration - without.answer.cycles_per_iteration;
	return tact_fill(out, &c, sizeof(c));
}

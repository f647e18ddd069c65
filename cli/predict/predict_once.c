/* SPDX-License-Identifier: MIT
 *
 * What options assume about memory, and the latency of one pass (-m once).
 */
#include <string.h>

#include "common/cli.h"
#include "predictor.h"

static bool find_param(const struct tact_arch *arch, const char *name, struct tact_param *out)
{
	for (size_t i = 0; tact_arch_param(arch, i, out); i++)
		if (!strcmp(out->name, name))
			return true;
	return false;
}

void predict_remark_memory(struct predict_worker *w)
{
	static const struct {
		const char *where, *param;
	} levels[TACT_N_MEMORIES] = {
		[TACT_MEMORY_L2] = {"the second-level cache", "l2_latency"},
		[TACT_MEMORY_L3] = {"the last-level cache", "l3_latency"},
		[TACT_MEMORY_RAM] = {"memory", "memory_latency"},
	};
	const unsigned memory = w->p->block_options.memory;
	struct tact_param param = TACT_PARAM_INIT;

	if (memory == TACT_MEMORY_L1 || memory >= TACT_N_MEMORIES ||
	    !find_param(w->arch, levels[memory].param, &param))
		return;
	predict_remark(w, "memory-level",
		       "loads come from %s, %s cycles%s; only their latency counts, not what that "
		       "level delivers per cycle",
		       levels[memory].where, param.value,
		       param.is_unmeasured ? " (reported, not measured)" : "");
}

/* ---- one pass ---- */

unsigned predict_pass(struct predict_worker *w, struct tact_chain *chain)
{
	*chain = (struct tact_chain)TACT_CHAIN_INIT;
	chain->size = sizeof(*chain);
	if (tact_explain_pass(w->block, chain) < 0)
		cli_out_of_memory();
	return chain->latency;
}

void predict_pass_headline(struct predict_worker *w, struct text *out)
{
	struct tact_chain chain;

	if (w->p->is_once)
		text_printf(out, "Latency of one pass (in cycles): %s%u%s\n", w->p->bold,
			    predict_pass(w, &chain), w->p->plain);
}

void predict_pass_chain(struct predict_worker *w, const struct tact_listing *listing,
			struct text *out)
{
	struct tact_chain chain;
	size_t width = 0;

	if (!w->p->is_once)
		return;
	predict_pass(w, &chain);
	text_printf(
		out,
		"\n%sLatency of one pass%s: the longest chain from what the block reads to what "
		"it leaves takes %u cycle%s:\n",
		w->p->bold, w->p->plain, chain.latency, chain.latency == 1 ? "" : "s");
	for (size_t i = 0; i < chain.n_links; i++)
		if (strlen(listing->line[chain.links[i].insn]) > width)
			width = strlen(listing->line[chain.links[i].insn]);
	for (size_t i = 0; i < chain.n_links; i++) {
		const struct tact_chain_link *l = &chain.links[i];
		const bool is_start = !l->from_kind && l->from_reg == TACT_REG_NONE;
		size_t start = out->size;

		text_printf(out, "  %3u  %-*s  %s -> %s", l->insn + 1, (int)width,
			    listing->line[l->insn],
			    is_start ? "begin"
				     : tact_explain_value(w->block, l->from_kind, l->from_reg),
			    tact_explain_value(w->block, l->to_kind, l->to_reg));
		text_pad(out, width + 26, start);
		text_printf(out, "%u cycle%s\n", l->latency, l->latency == 1 ? "" : "s");
	}
}

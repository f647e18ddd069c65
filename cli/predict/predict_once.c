/* SPDX-License-Identifier: MIT
 *
 * What options assume about memory, and the latency of one pass (-m once).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/cli.h"
#include "predictor.h"

static bool find_param(const struct tact_arch *arch, const char *name, struct tact_param *out)
{
	for (size_t i = 0; tact_arch_param(arch, i, out); i++)
		if (!strcmp(out->name, name))
			return true;
	return false;
}

/* ---- where loads find their data ---- */

static int find_memory(const char *name, size_t length)
{
	for (int m = 0; m < TACT_N_MEMORIES; m++) {
		const char *known = tact_memory_name((enum tact_memory)m);

		if (strlen(known) == length && !strncasecmp(known, name, length))
			return m;
	}
	return -1;
}

const char *predict_read_memory(void *target, const char *value)
{
	struct predictor *p = target;

	p->memory = TACT_MEMORY_L1;
	p->n_memories = 0;
	for (const char *item = value; *item;) {
		const size_t length = strcspn(item, ",");
		unsigned long insn = 0;
		const char *name = item;
		char *end;
		int memory;

		if (*item >= '0' && *item <= '9') {
			insn = strtoul(item, &end, 10);
			name = *end == '=' && insn && insn <= TACT_BLOCK_MAX_BYTES ? end + 1 : item;
		}
		memory = find_memory(name, length - (size_t)(name - item));
		if (memory < 0) {
			snprintf(p->why, sizeof(p->why),
				 "'%.*s' is not one of l1, l2, l3, ram or N=LEVEL with the number "
				 "of an instruction",
				 length > 30 ? 30 : (int)length, item);
			return p->why;
		}
		if (name == item)
			p->memory = memory;
		else if (p->n_memories == PREDICT_MAX_MEMORIES)
			return "too many instructions are named";
		else {
			p->memories[p->n_memories].insn = (unsigned)insn;
			p->memories[p->n_memories++].memory = memory;
		}
		item += length + (item[length] == ',');
	}
	return *value ? NULL : "the list is empty";
}

void predict_set_memories(struct predict_worker *w)
{
	for (unsigned k = 0; k < w->p->n_memories; k++)
		tact_block_set_memory(w->block, w->p->memories[k].insn - 1,
				      (enum tact_memory)w->p->memories[k].memory);
}

static const struct {
	const char *where, *param;
} levels[TACT_N_MEMORIES] = {
	[TACT_MEMORY_L1] = {"the first-level cache", "load_latency"},
	[TACT_MEMORY_L2] = {"the second-level cache", "l2_latency"},
	[TACT_MEMORY_L3] = {"the last-level cache", "l3_latency"},
	[TACT_MEMORY_RAM] = {"memory", "memory_latency"},
};

/* "12 cycles (reported, not measured)" of this core. */
static const char *name_latency(const struct predict_worker *w, int memory, char *text, size_t size)
{
	struct tact_param param = TACT_PARAM_INIT;

	if (!find_param(w->arch, levels[memory].param, &param))
		snprintf(text, size, "whose latency is unknown");
	else
		snprintf(text, size, "%s cycles%s", param.value,
			 param.is_unmeasured ? " (reported, not measured)" : "");
	return text;
}

void predict_remark_memory(struct predict_worker *w)
{
	const struct predictor *p = w->p;
	char latency[200];

	if (p->is_noalias)
		predict_remark(w, "noalias", "no load waits for a store, as --noalias says");
	if (p->is_alias)
		predict_remark(w, "alias",
			       "every load waits for the store before it, as --alias says");
	if (p->memory != TACT_MEMORY_L1)
		predict_remark(w, "memory-level",
			       "loads come from %s, %s; only their latency counts, not what that "
			       "level delivers per cycle",
			       levels[p->memory].where,
			       name_latency(w, p->memory, latency, sizeof(latency)));
	for (unsigned k = 0; k < p->n_memories; k++) {
		const int memory = p->memories[k].memory;
		struct tact_insn insn;

		if (tact_block_insn(w->block, p->memories[k].insn - 1, &insn) < 0 ||
		    !(insn.attributes & TACT_INSN_LOAD))
			predict_remark(w, "memory-level",
				       "instruction %u, for which --memory gives a level, is no "
				       "load of this block",
				       p->memories[k].insn);
		else
			predict_remark(w, "memory-level",
				       "the load of instruction %u comes from %s, %s",
				       p->memories[k].insn, levels[memory].where,
				       name_latency(w, memory, latency, sizeof(latency)));
	}
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

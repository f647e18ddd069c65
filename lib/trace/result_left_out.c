/* SPDX-License-Identifier: MIT
 *
 * What a result leaves out: things that cost time on a CPU and not here, and parameters that nobody
 * has measured.
 */
#include <string.h>

#include "trace/result.h"

const char *tact_result_unmodelled(const struct tact_result *r, size_t i)
{
	static const char *const names[] = {"caches",	   "mispredictions", "kernel",
					    "page faults", "wrong paths",    "other threads"};
	bool applies[ARRAY_SIZE(names)];

	if (!r)
		return NULL;
	memset(applies, true, sizeof(applies));
	applies[0] = !r->info.has_caches;
	applies[1] = !r->info.has_branches;
	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		if (applies[k] && !i--)
			return names[k];
	return NULL;
}

/* Parameters of a part of the machine, by how their names begin. */
static const struct group {
	const char *name;
	const char *prefix[8];
	bool needs_caches, needs_branches;
} groups[] = {
	{"caches", {"l1_", "l2_", "l3_", "memory_", "prefetch_", "store_buffer"}, true, false},
	{"TLBs", {"tlb", "walk_", "page_walkers", "itlb", "code_tlb"}, true, false},
	{"instruction caches", {"code_", "l1i_", "icache_"}, true, false},
	{"branch predictor", {"branch_", "btb", "predictor_", "return_"}, false, true},
	{"string instructions", {"rep_"}, false, false},
};

static bool is_of_group(const struct group *g, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(g->prefix) && g->prefix[i]; i++)
		if (!strncmp(name, g->prefix[i], strlen(g->prefix[i])))
			return true;
	return false;
}

/* Returns whether a parameter of the group was only reported or assumed. */
static bool is_unmeasured(const struct tact_arch *arch, const struct group *g)
{
	struct tact_param p = TACT_PARAM_INIT;

	for (size_t i = 0; tact_arch_param(arch, i, &p); i++)
		if (p.is_unmeasured && is_of_group(g, p.name))
			return true;
	return false;
}

const char *tact_result_unmeasured(const struct tact_result *r, size_t i)
{
	const struct tact_arch *arch = r ? tact_arch_find(r->info.arch) : NULL;

	for (size_t k = 0; arch && k < ARRAY_SIZE(groups); k++)
		if ((r->info.has_caches || !groups[k].needs_caches) &&
		    (r->info.has_branches || !groups[k].needs_branches) &&
		    is_unmeasured(arch, &groups[k]) && !i--)
			return groups[k].name;
	return NULL;
}

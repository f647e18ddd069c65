/* SPDX-License-Identifier: MIT
 *
 * What a result leaves out: things that cost time on a CPU and not here, and parameters that nobody
 * has measured.
 */
#include <string.h>

#include "isa/isa.h"
#include "trace/result.h"

const char *tact_result_unmodelled(const struct tact_result *r, size_t i)
{
	static const char *const names[] = {
		"caches",      "mispredictions", "prefetch instructions", "kernel",
		"page faults", "wrong paths",	 "other threads"};
	bool applies[ARRAY_SIZE(names)];

	if (!r)
		return NULL;
	memset(applies, true, sizeof(applies));
	applies[0] = !r->info.has_caches;
	applies[1] = !r->info.has_branches;
	applies[2] = r->info.has_caches && r->totals.unknown_prefetches;
	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		if (applies[k] && !i--)
			return names[k];
	return NULL;
}

/* Parts of a part of the machine, by how the names of their parameters begin. */
static const struct group {
	const char *name;
	struct {
		const char *name, *prefix[6];
	} parts[7];
	bool needs_caches, needs_branches, needs_strings;
} groups[] = {
	{"caches",
	 {{"cache sizes", {"l1_kib", "l1_ways", "l2_kib", "l2_ways", "l3_kib", "l3_ways"}},
	  {"cache latencies", {"l2_latency", "l3_latency", "memory_latency"}},
	  {"misses in flight", {"l1_fills", "l2_fills"}},
	  {"lines of one set", {"l1_set_", "l3_set_"}},
	  {"bandwidth of caches", {"l1_", "l2_", "l3_", "memory_"}},
	  {"prefetchers", {"prefetch_"}},
	  {"store buffer", {"store_buffer"}}},
	 true,
	 false,
	 false},
	{"TLBs",
	 {{"TLBs of data", {"tlb"}},
	  {"page walks", {"walk_", "page_walkers"}},
	  {"TLBs of code", {"itlb", "code_tlb"}}},
	 true,
	 false,
	 false},
	{"instruction caches",
	 {{"instruction cache", {"l1i_", "icache_"}},
	  {"code from L2", {"code_l2"}},
	  {"code from L3", {"code_l3"}},
	  {"code from memory", {"code_memory"}},
	  {"how far fetch is ahead", {"code_ahead"}},
	  {"code fetch", {"code_"}}},
	 true,
	 false,
	 false},
	{"branch predictor",
	 {{"branch penalty", {"branch_"}},
	  {"predicted directions", {"predictor_"}},
	  {"return stack", {"return_"}},
	  {"BTB", {"btb"}}},
	 false,
	 true,
	 false},
	{"string instructions", {{"string instructions", {"rep_"}}}, false, false, true},
};

enum { MOST_PARTS = ARRAY_SIZE(groups[0].parts) };

/* Returns the number of the first part that a parameter belongs to; MOST_PARTS: none. */
static size_t part_of(const struct group *g, const char *name)
{
	for (size_t k = 0; k < MOST_PARTS && g->parts[k].name; k++)
		for (size_t i = 0; i < ARRAY_SIZE(g->parts[k].prefix) && g->parts[k].prefix[i]; i++)
			if (!strncmp(name, g->parts[k].prefix[i], strlen(g->parts[k].prefix[i])))
				return k;
	return MOST_PARTS;
}

/* Returns the i-th name for what nobody has measured of a group, or NULL; *n: their number.  Where
 * that is most of its parameters, it is the group.
 */
static const char *unmeasured_of(const struct tact_arch *arch, const struct group *g, size_t i,
				 size_t *n)
{
	struct tact_param p = TACT_PARAM_INIT;
	bool is_part[MOST_PARTS] = {false};
	size_t all = 0, unmeasured = 0;
	const char *found = NULL;

	for (size_t k = 0; tact_arch_param(arch, k, &p); k++) {
		const size_t part = part_of(g, p.name);

		if (part == MOST_PARTS)
			continue;
		all++;
		unmeasured += p.is_unmeasured;
		is_part[part] |= p.is_unmeasured;
	}
	*n = 0;
	if (2 * unmeasured > all) {
		*n = 1;
		return i ? NULL : g->name;
	}
	for (size_t k = 0; k < MOST_PARTS; k++) {
		if (is_part[k] && *n == i)
			found = g->parts[k].name;
		*n += is_part[k];
	}
	return found;
}

const char *tact_result_unmeasured(const struct tact_result *r, size_t i)
{
	const struct tact_arch *arch = r ? tact_arch_find(r->info.arch) : NULL;

	for (size_t k = 0; arch && k < ARRAY_SIZE(groups); k++) {
		const char *name;
		size_t n;

		if ((groups[k].needs_strings && !tact_arch_isa(arch)->repeats_strings) ||
		    (groups[k].needs_caches && !r->info.has_caches) ||
		    (groups[k].needs_branches && !r->info.has_branches))
			continue;
		name = unmeasured_of(arch, &groups[k], i, &n);
		if (name)
			return name;
		i -= n;
	}
	return NULL;
}

/* SPDX-License-Identifier: MIT
 *
 * Options of commands that analyse runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "tracer.h"

#include <tact-program/tracing.h>

enum { MAX_REGIONS = 512, MAX_CACHE = 1 << 30 };

static const char *add_region(struct trace_setup *s, const char *value, bool is_excluded)
{
	if (!*value)
		return "give a symbol or a range of addresses";
	if (s->n_regions >= MAX_REGIONS)
		return "too many";
	s->regions = cli_realloc(s->regions, (s->n_regions + 1) * sizeof(*s->regions));
	s->regions[s->n_regions++] = (struct tact_chosen){value, is_excluded};
	return NULL;
}

static const char *take_region(void *target, const char *value)
{
	return add_region(target, value, false);
}

static const char *take_exclude(void *target, const char *value)
{
	return add_region(target, value, true);
}

/* "32K,1M,8M": L1 data, L2, L3; an empty one is that of the architecture. */
static const char *take_cache(void *target, const char *value)
{
	struct trace_setup *s = target;

	s->has_caches = true;
	for (unsigned i = 0; value && i < CLI_ARRAY_SIZE(s->cache_bytes); i++) {
		char *end;
		unsigned long long n;

		errno = 0;
		n = *value == ',' || !*value ? 0 : strtoull(value, &end, 10);
		if (*value == ',' || !*value)
			end = (char *)value;
		else if (*value < '0' || *value > '9' || errno || !n)
			return "give the sizes of L1, L2 and L3, such as 32K,1M,8M";
		if (*end == 'K' || *end == 'k')
			n <<= 10;
		else if (*end == 'M' || *end == 'm')
			n <<= 20;
		end += *end && strchr("KkMm", *end);
		if ((*end && *end != ',') || n > MAX_CACHE)
			return "give the sizes of L1, L2 and L3, such as 32K,1M,8M";
		s->cache_bytes[i] = n;
		value = *end ? end + 1 : NULL;
	}
	return value ? "give at most three sizes" : NULL;
}

#define OPTION_HOLDER trace_setup

const struct option_spec trace_quiet_specs[] = {
	OPTION_MANGLED(is_mangled),
	OPTION_QUIET(is_quiet, OPTION_PROGRESS_HELP),
	OPTION_END,
};

const struct option_spec trace_model_specs[] = {
	OPTION_FLAG(0, "exact", is_exact,
		    "simulate every execution of every block instead of samples"),
	OPTION_FLAG(0, "thorough", is_thorough,
		    "follow every branch, also where the program stays in the same code (default: "
		    "there, samples of them)"),
	OPTION_FLAG(
		0, "core", is_core,
		"model the core alone: all accesses hit the first-level caches, and no branch is "
		"mispredicted (default: caches and branches are modelled)"),
	OPTION_CALL_MAYBE(
		0, "cache", "SIZES", take_cache,
		"with --core, model caches even so; with sizes, such as 32K,1M,8M, change "
		"those of the microarchitecture"),
	OPTION_FLAG(0, "branches", has_branches,
		    "with --core, model a branch predictor and what its mistakes cost even so"),
	OPTION_FLAG(0, "full", is_full, "model caches and branches, which is the default"),
	OPTION_END,
};

const struct option_spec trace_region_specs[] = {
	OPTION_CALL(0, "region", "CODE", take_region,
		    "count only this code: SYMBOL, MODULE:SYMBOL, or addresses as objdump shows "
		    "them, ADDR-ADDR or MODULE:ADDR-ADDR; may be repeated"),
	OPTION_CALL(0, "exclude", "CODE", take_exclude, "do not count this code; may be repeated"),
	OPTION_TEXT(0, "from", "CODE", from, "count nothing before this code is reached"),
	OPTION_TEXT(0, "until", "CODE", until,
		    "count nothing once this code is reached, until --from is reached again"),
	OPTION_END,
};

int trace_setup_resolve(struct trace_setup *s)
{
	if (s->is_core && s->is_full)
		return cli_wrong("give --core or --full, not both");
	if (!s->is_core)
		s->has_branches = s->has_caches = true;
	return archlist_resolve(&s->archs, NULL, s->is_quiet);
}

bool trace_setup_has_regions(const struct trace_setup *s)
{
	return s->n_regions || s->from || s->until;
}

void trace_setup_fini(void *target)
{
	struct trace_setup *s = target;

	free(s->regions);
}

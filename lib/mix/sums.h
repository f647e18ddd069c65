/* SPDX-License-Identifier: MIT
 *
 * Numbers that are added up by key, for files of lines.
 */
#ifndef MIX_SUMS_H
#define MIX_SUMS_H

#include <tact-program/mixfile.h>

#include "mix/mix.h"

enum sums_kind { SUMS_NONE, SUMS_COUNTS, SUMS_BOLT, SUMS_FOLDED };

/* A line without its numbers. */
struct sums_key {
	const char *text;  /* in the arena */
	const char *group; /* counts: the line of its module; "": none; in the arena */
	uint64_t a, b;	   /* where it is, for the order */
	uint64_t value[2]; /* count; BOLT: mispredictions */
	uint32_t spread;   /* plus one: number in `spreads`; 0: none */
};

struct tact_mixfile {
	enum sums_kind kind;
	struct sums_key *keys; /* owned, like all below */
	size_t n, capacity;
	struct hash index, group_index;
	const char **groups; /* the strings are in the arena */
	size_t n_groups, groups_capacity;
	uint64_t (*spreads)[MIX_GROUPS];
	size_t n_spreads, spreads_capacity;
	struct tact_arena memory;
	const char *module, *command; /* in the arena; NULL: none; command "": they differ */
	uint64_t outside, windows, external;
	bool has_windows;
};

/* Finds or adds a key; NULL: out of memory.  The texts are copied. */
struct sums_key *sums_at(struct tact_mixfile *f, const char *group, const char *text, uint64_t a,
			 uint64_t b);

/* Adds, and stays at the largest number. */
void sums_add(uint64_t *sum, uint64_t more);

/* Returns a copy of a module's line that all its keys share; NULL: out of memory. */
const char *sums_group(struct tact_mixfile *f, const char *line);

const char *sums_keep(struct tact_mixfile *f, const char *string); /* NULL: out of memory */

#endif /* MIX_SUMS_H */

/* SPDX-License-Identifier: MIT
 *
 * A branch predictor: directions, targets and return addresses, and how fast they are known.
 */
#ifndef TRACE_BRANCH_PREDICTOR_H
#define TRACE_BRANCH_PREDICTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/insn.h>

#include "arch/arch.h"

enum {
	PREDICTOR_TABLES = 8,	  /* at most */
	PREDICTOR_WAYS = 4,	  /* of a set */
	PREDICTOR_HISTORY = 1024, /* taken branches; more than the longest history */
	PREDICTOR_RETURNS = 256,  /* at most */
	PREDICTOR_LIFETIMES = 256,
	PREDICTOR_LEVELS = 3,  /* of the BTB, at most */
	PREDICTOR_CHUNK = 1024 /* sites */
};

/* Branches by address and history: tags, and for each of them counters. */
struct predictor_set {
	uint16_t tag[PREDICTOR_WAYS];	/* 0: empty */
	int8_t counter[PREDICTOR_WAYS]; /* from -4 to 3; 0 and more: taken */
	uint8_t useful[PREDICTOR_WAYS]; /* 0: the place may be taken */
};

struct predictor_target_set {
	uint16_t tag[PREDICTOR_WAYS];
	uint8_t confidence[PREDICTOR_WAYS]; /* from 0 to 3 */
	uint8_t useful[PREDICTOR_WAYS];
	uint32_t target[PREDICTOR_WAYS]; /* hashed */
};

/* What belongs to one length of the history. */
struct predictor_table {
	uint64_t hash;	 /* of the last `length` taken branches */
	uint64_t leaves; /* factor of the oldest one in the hash */
	unsigned length;
	struct predictor_set *sets;	      /* owned by the first table */
	struct predictor_target_set *targets; /* likewise */
};

/* A branch as the BTB knows it.  Each level replaces the branch that it has held for longest: it
 * holds this one as long as it has not taken in more others than it has entries.
 */
struct predictor_site {
	uint32_t entered[PREDICTOR_LEVELS]; /* as which branch of the level; 0: never */
	uint32_t target;		    /* the last one, hashed */
};

struct predictor {
	struct predictor_table table[PREDICTOR_TABLES];
	unsigned n_tables;
	uint32_t n_sets, n_target_sets; /* of each table */
	int8_t *base;			/* owned; from -2 to 1; 0 and more: taken */
	uint32_t n_base;
	uint64_t taken[PREDICTOR_HISTORY]; /* a ring of hashes */
	uint32_t n_taken;
	int8_t trust_new;  /* 0 and more: new entries are not believed yet */
	uint32_t random;   /* where the next entry goes */
	bool keeps_useful; /* entries that were of use are not replaced at once */
	uint8_t override;  /* cycles that the tables take longer than the BTB */

	struct {
		uint32_t entries, entered;
		uint8_t delay;
		uint32_t lifetime
			[PREDICTOR_LIFETIMES]; /* branches that are entered until one is gone */
	} btb[PREDICTOR_LEVELS];
	unsigned n_levels;
	bool is_random;	  /* any entry is replaced, not the oldest one */
	bool is_warm;	  /* the program ran before: the last level holds what was not seen yet */
	uint8_t redirect; /* cycles of a jump that the BTB does not know */
	struct predictor_site **chunks; /* owned, as are its members; NULL: not used yet */
	size_t n_chunks, chunk_capacity;

	uint64_t returns[PREDICTOR_RETURNS];
	unsigned n_returns, top;
	uint8_t return_delay;
	uint64_t branches, mistakes, late;
};

/* What becomes of the block after a branch. */
struct predictor_outcome {
	bool is_mispredicted; /* it is fetched after the branch was executed */
	bool is_unknown;      /* it is fetched after the branch was decoded */
	uint8_t delay;	      /* cycles that the predictor takes longer, or from decoding on */
};

/* Returns 0 or -TACT_E_NOMEM; predictor_fini also frees what a failure leaves. */
int predictor_init(struct predictor *p, const struct arch_params *params);
void predictor_fini(struct predictor *p);

/* A branch instruction.  is_direct: its bytes say where it can go. */
struct predictor_branch {
	uint32_t site; /* a small number that is its own */
	enum tact_flow flow;
	bool is_direct;
	uint64_t address, next; /* of it, and of the instruction after it */
};

/* Tells the predictor that a branch went to `target`.  Returns 0 or -TACT_E_NOMEM. */
int predictor_follow(struct predictor *p, const struct predictor_branch *branch, uint64_t target,
		     struct predictor_outcome *out);

#endif /* TRACE_BRANCH_PREDICTOR_H */

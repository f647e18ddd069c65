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
#include "base/base.h"

enum {
	PREDICTOR_TABLES = 8,	  /* at most */
	PREDICTOR_REGIONS = 16,	  /* of the second level of the BTB */
	PREDICTOR_WAYS = 4,	  /* of a set */
	PREDICTOR_HISTORY = 1024, /* taken branches; more than the longest history */
	PREDICTOR_RETURNS = 256,  /* at most */
	PREDICTOR_LIFETIMES = 256,
	PREDICTOR_LEVELS = 3,	  /* of the BTB, at most */
	PREDICTOR_CHUNK = 1 << 14 /* sites; pages of them that nobody asks for take no memory */
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

/* The last `length` taken branches. */
struct predictor_history {
	uint64_t hash;
	uint64_t leaves; /* factor of the oldest one in the hash */
	unsigned length;
};

/* Directions or targets by one length of the history. */
struct predictor_table {
	struct predictor_history history;
	uint8_t delay;			      /* cycles that it takes longer than the BTB */
	struct predictor_set *sets;	      /* owned by the first table */
	struct predictor_target_set *targets; /* likewise */
};

/* A branch as the BTB knows it.  Each level replaces the branch that it has held for longest: it
 * holds this one as long as it has not taken in more others than it has entries.
 */
struct predictor_site {
	uint32_t entered[PREDICTOR_LEVELS]; /* as which branch of the level; 0: never */
	uint32_t target;		    /* the last one, hashed; 0: none yet */
	bool has_targets;		    /* more than one, so far */
};

/* Where a conditional branch is in each table, found and fetched before it is asked about. */
struct predictor_places {
	uint64_t address;
	bool is_valid; /* the history has not changed since */
	uint64_t place[PREDICTOR_TABLES];
};

/* What Zen 4 finds targets by. */
struct predictor_path {
	/* Where the code since the last taken branch begins, and the window with that branch. */
	uint64_t start, before;
	/* Bits 2 and 3 of the last bytes of taken branches, the newest one lowest. */
	uint64_t sources;
	/* Of windows that end with a taken branch and have a conditional one, the newest one lowest:
	 * whether the first one was taken.
	 */
	uint64_t outcomes[2];
	/* The last window with a branch that was not taken, and 1; 0: none since `start`. */
	uint64_t passed;
};

struct predictor {
	struct predictor_table table[PREDICTOR_TABLES];
	unsigned n_tables, n_target_tables;
	uint32_t n_sets, n_target_sets; /* of each table */
	uint32_t n_jump_sets;		/* of these, those for one jump from one window; 0: all */
	unsigned n_far_ways;		/* of a set, that can hold a target in another page */
	struct predictor_places next;
	struct predictor_path path;
	bool has_path;	      /* targets go by it, else by the histories of the tables */
	uint8_t path_sources; /* that are used, and outcomes by table */
	uint8_t path_outcomes[PREDICTOR_TABLES];
	int8_t *base; /* owned; from -2 to 1; 0 and more: taken */
	uint32_t n_base;
	uint64_t taken[PREDICTOR_HISTORY]; /* a ring of hashes */
	uint32_t n_taken;
	int8_t trust_new;   /* 0 and more: new entries are not believed yet */
	uint32_t random;    /* where the next entry goes */
	bool keeps_useful;  /* entries that were of use are not replaced at once */
	bool has_footprint; /* the history has a few bits of each branch */
	uint8_t half_bit;   /* of an address, that chooses the half of the tables; 0: none */
	uint8_t indirect_delay;
	uint8_t same_delay; /* of an indirect branch that has had one target so far */

	struct {
		uint32_t entries, entered;
		uint8_t delay;
		uint32_t lifetime
			[PREDICTOR_LIFETIMES]; /* branches that are entered until one is gone */
	} btb[PREDICTOR_LEVELS];
	unsigned n_levels;
	uint64_t regions[PREDICTOR_REGIONS]; /* of 4 KiB, the last one first: see second_delay() */
	unsigned n_regions;		     /* 0: all are at hand */
	uint8_t far_delay;
	unsigned n_random; /* first levels in which any entry is replaced, not the oldest one */
	bool is_warm;	   /* the program ran before: the last level holds what was not seen yet */
	uint8_t redirect;  /* cycles of a jump that the BTB does not know */
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
	uint64_t address;
	uint32_t site;	 /* a small number that is its own */
	uint16_t length; /* bytes */
	uint8_t flow;	 /* enum tact_flow */
	bool is_direct;
};

/* Returns the address of the instruction after it. */
static inline uint64_t predictor_next(const struct predictor_branch *branch)
{
	return branch->address + branch->length;
}

/* Tells the predictor that a branch went to `target`.  Returns 0 or -TACT_E_NOMEM. */
int predictor_follow(struct predictor *p, const struct predictor_branch *branch, uint64_t target,
		     struct predictor_outcome *out);

/* A branch comes soon: what the BTB knows of it is fetched.  Any number is allowed. */
static inline void predictor_expect(const struct predictor *p, uint32_t site)
{
	const size_t chunk = site / PREDICTOR_CHUNK;

	if (chunk < p->n_chunks && p->chunks[chunk])
		tact_fetch(&p->chunks[chunk][site % PREDICTOR_CHUNK]);
}

/* This branch will be the next one that predictor_follow is called for: what the tables know of it is
 * fetched.  A guess that is wrong costs time, and nothing else.
 */
void predictor_prepare(struct predictor *p, const struct predictor_branch *branch);

/* Whether the predictor has anything to do with a block that ends so. */
static inline bool predictor_takes(const struct predictor_branch *branch)
{
	return branch->flow != TACT_FLOW_NEXT && branch->flow != TACT_FLOW_STOP &&
	       branch->flow != TACT_FLOW_KERNEL;
}

/* The kernel ran: so many of its branches took places in the first level of the BTB, and, if
 * is_emptied is set, no return address is left.
 */
void predictor_enter_kernel(struct predictor *p, uint32_t branches, bool is_emptied);

/* Passes a call or return by: all that the predictor learns from it is where calls return to. */
void predictor_pass(struct predictor *p, const struct predictor_branch *branch);

#endif /* TRACE_BRANCH_PREDICTOR_H */

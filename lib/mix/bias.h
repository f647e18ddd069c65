/* SPDX-License-Identifier: MIT
 *
 * How far a sum over blocks may be off: by chance, and because of where samples and stacks are taken.
 */
#ifndef MIX_BIAS_H
#define MIX_BIAS_H

#include "mix/mix.h"

/* What is known of the instructions of a row, or of all: sums over blocks. */
struct mix_signs {
	double executions, ebs, plain, completed; /* instructions, by each way of counting */
	double places[MIX_PLACES];		  /* streams, by place in the stack */
	double chance;				  /* variance of counting */
	double uneven; /* variance of samples that are uneven within a block */
	bool is_unknown;
};

/* Adds n executions by those who count of `insns` instructions of a block. */
void mix_signs_add(struct mix_signs *signs, const struct tact_mix *mix, const struct mix_profile *p,
		   double n, double insns);

/* Adds all blocks, with all of their instructions. */
void mix_signs_all(struct mix_signs *signs, const struct tact_mix *mix);

/* One standard deviation of the executions of a row, in two parts, and how many standard deviations
 * the truth is within in 19 of 20 cases.
 */
struct mix_doubt {
	double chance, bias;
	double reach;
	bool is_unknown; /* nothing can be said */
};
struct mix_doubt mix_doubt_of(const struct tact_mix *mix, const struct mix_signs *row,
			      const struct mix_signs *all);

/* ---- phases ----
 *
 * Stacks that are taken at moments in time count the phases of a program by the time that they take.
 * A phase is code that execution passes to and fro in.
 */

/* Tells whether that is how a profile was made. */
bool mix_is_timed(const struct tact_mix *mix);

struct mix_phases {
	uint32_t *of; /* owned; by profile */
	double *all;  /* owned; instructions of each phase */
	size_t n;
	double total, squares; /* sums over `all` */
};

/* What a row has of a phase. */
struct mix_in_phase {
	uint32_t row, phase;
	double executions;
};

/* Returns 0 or -TACT_E_NOMEM.  Without anything to free, all zeros is a good start. */
int mix_phases_init(struct mix_phases *phases, const struct tact_mix *mix);
void mix_phases_fini(struct mix_phases *phases);

/* Returns the standard deviation of the executions of a row: its n parts, each of another phase. */
double mix_phases_doubt(const struct mix_phases *phases, const struct mix_in_phase *parts,
			size_t n);

#endif /* MIX_BIAS_H */

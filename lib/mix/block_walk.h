/* SPDX-License-Identifier: MIT
 *
 * Cycles of the blocks of a profile, from an execution that is made up.
 */
#ifndef MIX_BLOCK_WALK_H
#define MIX_BLOCK_WALK_H

#include <tact/arch.h>
#include <tact/cycles.h>

#include "mix/mix.h"

/* What one execution of a block takes, on average. */
struct mix_walked {
	double cycles;			/* 0: the block did not run, or has no prediction */
	double stalls[TACT_MAX_STALLS]; /* cycles, by enum tact_stall */
	double unknown;			/* share of its instructions without data */
	bool is_guess;			/* the walk never came there: a mean per instruction */
};

/* Sends an execution that visits the blocks of a profile about as often as the program does through
 * the pipeline of traces.  model as in tact_cycles_options.  Returns 0 with an array by profile for
 * free(), or errors of tact_cycles_create, tact_cycles_event and -TACT_E_NOMEM.
 */
int mix_walk(struct mix_walked **out, const struct tact_mix *mix, const struct tact_arch *arch,
	     const char *model, struct tact_diag *diag);

#endif /* MIX_BLOCK_WALK_H */

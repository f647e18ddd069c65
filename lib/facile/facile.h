/* SPDX-License-Identifier: MIT
 *
 * Layer 4: the bounds.  Each takes a loaded block and returns cycles per iteration; 0 if the block
 * does not use the component.  None of them allocates unless the block is larger than any before.
 */
#ifndef TACT_FACILE_H
#define TACT_FACILE_H

#include <tact/predict.h>

#include "block/block.h"

/* Returns the cycles per iteration that a bound allows at the least. */
typedef double facile_bound(struct tact_block *block, const struct tact_predict_options *opt);

facile_bound facile_predecode, facile_decode, facile_dsb, facile_lsd, facile_issue, facile_ports,
	facile_precedence, facile_divider, facile_microcode, facile_stack_sync, facile_forwarding,
	facile_blocked, facile_loads, facile_stores;

/* The bound that follows from the others, which `others` has, all of them: what is lost because uops
 * are bound to ports early.
 */
double facile_binding(struct tact_block *block, const struct tact_prediction *others);

/* Fills *out with all bounds but that one, whatever bounds the options have.  Returns 0 or
 * -TACT_E_NOMEM.
 */
int facile_predict_others(struct tact_block *block, const struct tact_predict_options *opt,
			  struct tact_prediction *out);

/* Says how a bound comes about: fills in the formula's numbers, beginning with those of a RATIO
 * of 0 cycles to 1 iteration, and not the result.  Returns 0 or -TACT_E_NOMEM.
 */
typedef int facile_derivation(struct tact_block *block, const struct tact_predict_options *opt,
			      struct tact_derivation *out);

facile_derivation facile_derive_predecode, facile_derive_decode, facile_derive_dsb,
	facile_derive_lsd, facile_derive_issue, facile_derive_ports, facile_derive_precedence,
	facile_derive_divider, facile_derive_microcode, facile_derive_binding, facile_derive_loads,
	facile_derive_stack_sync, facile_derive_forwarding, facile_derive_blocked,
	facile_derive_stores;

/* The slack of instruction i, as struct tact_criticality has it, if an iteration takes `cycles`;
 * where a cycle of the graph has a larger ratio, that counts instead.  HUGE_VAL if the instruction
 * is on no cycle.  Returns 0 or -TACT_E_NOMEM.
 */
int facile_slack(struct tact_block *block, size_t i, double cycles, double *slack);

/* Returns the largest of the front end's bounds, by which loads are dispatched; negative if there
 * is no memory.
 */
double facile_pace(struct tact_block *block);

/* Cycles that a number of iterations of unrolled code needs from the predecoder through the
 * instruction queue to the decoders, in the steady state.
 */
struct facile_queue {
	unsigned cycles, iterations;
};

/* Finds them; for cores with iq_leave_delay, whose queue is so small that it matters.  Returns 0 or
 * -TACT_E_NOMEM.
 */
int facile_queue_run(struct tact_block *block, struct facile_queue *out);

/* Returns whether all values of options are known. */
static inline bool facile_are_valid(const struct tact_predict_options *opt)
{
	return !(opt->bounds >> TACT_N_BOUNDS) && opt->stop_above >= 0;
}

/* Returns the cycles in which the front end delivers so many iterations of a block with microcode;
 * 0: it has none, or the core has other rules.
 */
unsigned facile_sequencer(struct tact_block *block, unsigned *iterations);

#endif /* TACT_FACILE_H */

/* SPDX-License-Identifier: MIT
 *
 * A PMU that samples an execution that is known exactly.
 */
#ifndef MIX_VIRTUAL_H
#define MIX_VIRTUAL_H

#include <tact/trace.h>

#include "mix/mix.h"

/* A block of the trace, in its `user`. */
struct mix_vblock {
	uint64_t count;
	const struct tact_trace_block *block;
	uint16_t *offsets;  /* of its instructions; NULL: not needed so far */
	uint32_t simulated; /* its number in the simulated pipeline plus one; 0: none, or it cannot
			       be simulated */
	uint32_t pid;	    /* process that has its module in the recording */
	bool is_tried;
};

/* ---- retirement.c ---- */

enum {
	MIX_PAST = 32,	/* blocks before a sample: they fill the pipeline */
	MIX_FUTURE = 24 /* blocks after it, in which it is taken */
};

/* Consecutive blocks, and an instruction in one of them. */
struct mix_window {
	struct mix_vblock *blocks[MIX_PAST + 1 + MIX_FUTURE];
	uint32_t n, block, insn;
};

struct mix_retirement;

int mix_retirement_create(struct mix_retirement **out, const struct tact_arch *arch,
			  struct tact_diag *diag);
void mix_retirement_destroy(struct mix_retirement *r); /* NULL is allowed */

/* Finds the first instruction after the one of the window that retires more than `skid` cycles
 * after it: sets block and insn of the window.  Returns the number of blocks that were simulated
 * for it, or -TACT_E_NOMEM.
 */
int mix_retirement_after(struct mix_retirement *r, struct mix_window *w, uint32_t skid);

/* ---- virtual.c ---- */

struct mix_vpmu;

int mix_vpmu_create(struct mix_vpmu **out, const struct tact_mix_emulate_options *opt,
		    struct tact_mix_emulated *totals, struct pmu_writer *writer,
		    struct tact_diag *diag);
void mix_vpmu_destroy(struct mix_vpmu *v); /* NULL is allowed */
bool mix_vpmu_is_sticky(const struct mix_vpmu *v, uint64_t branch);

/* A thread executes a block.  Returns 0 or -TACT_E_NOMEM. */
int mix_vpmu_exec(struct mix_vpmu *v, uint32_t thread, uint32_t pid, struct mix_vblock *b);

/* Events of the recording. */
enum { MIX_VPMU_EBS, MIX_VPMU_LBR };
void mix_vpmu_attrs(const struct tact_mix_emulate_options *opt, struct pmu_attr attrs[2]);

#endif /* MIX_VIRTUAL_H */

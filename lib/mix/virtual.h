/* SPDX-License-Identifier: MIT
 *
 * A PMU that samples an execution that is known exactly.
 */
#ifndef MIX_VIRTUAL_H
#define MIX_VIRTUAL_H

#include <tact/trace.h>

#include "mix/mix.h"

/* ---- retirement.c ---- */

struct mix_retirement; /* remembers nothing but its tools */

int mix_retirement_create(struct mix_retirement **out, const struct tact_arch *arch,
			  struct tact_diag *diag);
void mix_retirement_destroy(struct mix_retirement *r); /* NULL is allowed */

/* In which cycle each of n instructions retires, counted from the retirement of the last one of the
 * execution before.  Returns 0, or -TACT_E_NOMEM; a block that cannot be simulated retires four a
 * cycle.
 */
int mix_retirement_of(struct mix_retirement *r, const uint8_t *code, size_t size, uint16_t *at,
		      size_t n);

/* ---- virtual.c ---- */

/* A block of the trace, in its `user`. */
struct mix_vblock {
	uint64_t count;
	const struct tact_trace_block *block;
	uint16_t *at;	   /* cycles of retirement; NULL: not yet asked for */
	uint16_t *offsets; /* of the instructions; with `at` in one piece of memory */
	uint32_t pid;	   /* process that has its module in the recording */
};

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

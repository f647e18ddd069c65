/* SPDX-License-Identifier: MIT
 *
 * Cycles of whole programs: the blocks that a trace executes, one behind the other, through a live
 * pipeline for each thread.  doc/models/trace.md describes how, and how far off it is.
 */
#ifndef TACT_CYCLES_H
#define TACT_CYCLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/arch.h>
#include <tact/simulate.h>
#include <tact/status.h>
#include <tact/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_cycles_options {
	size_t size;
	bool exact;    /* every execution goes through the pipeline; nothing is remembered */
	bool caches;   /* loads and stores go through caches with the sizes of the architecture */
	bool branches; /* a branch predictor, and what its mistakes cost */
	uint64_t cache_bytes[3]; /* L1, L2, L3 instead of the architecture's; 0: as it says */
	bool insns;	   /* cycles by instruction are kept, too: see tact_cycles_get_insns */
	const char *model; /* one that takes a stream of blocks (tact/model.h); NULL: sim */
};

struct tact_cycles; /* one thread at a time */

/* opt may be NULL.  Returns -TACT_E_INVAL, -TACT_E_NOMEM. */
int tact_cycles_create(struct tact_cycles **out, const struct tact_arch *arch,
		       const struct tact_cycles_options *opt, struct tact_diag *diag);
void tact_cycles_destroy(struct tact_cycles *cycles); /* NULL is allowed */

/* The next event of a trace (TACT_TRACE_FULL).  All events come from one trace, whose blocks stay
 * until the results were asked for.  Returns 0, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_cycles_event(struct tact_cycles *cycles, const struct tact_trace_event *event,
		      struct tact_diag *diag);

/* Everything that is still in flight retires.  More events can follow, but what was learned so far
 * is forgotten.
 */
int tact_cycles_finish(struct tact_cycles *cycles, struct tact_diag *diag);

struct tact_cycles_totals {
	size_t size;
	double cycles;			   /* of all threads together */
	uint64_t instructions, executions; /* of blocks */
	uint64_t simulated;		   /* instructions that went through the pipeline */
	uint64_t unknown;		   /* instructions without data, executed */
	uint32_t n_threads;
	double uops[TACT_MAX_PORTS];		    /* by port */
	double stalls[TACT_N_STALLS];		    /* cycles */
	uint64_t accesses;			    /* loads and stores */
	uint64_t branches, mispredicted, misses[3]; /* only if asked for */
	double error; /* standard error of `cycles`, as they come from samples; 0 with exact */
};
void tact_cycles_get_totals(const struct tact_cycles *cycles, struct tact_cycles_totals *out);

/* Uops of a thread that are in its pipeline from its cycle `first` to its cycle `last` go to the
 * callback, in order of retirement; `iteration` counts executions.  thread: as in the events;
 * TACT_CYCLES_FIRST is the one that executes first.
 * For runs with exact, before the first event.  Returns -TACT_E_INVAL, -TACT_E_NOMEM.
 */
#define TACT_CYCLES_FIRST UINT32_MAX
int tact_cycles_watch(struct tact_cycles *cycles, uint32_t thread, uint64_t first, uint64_t last,
		      void (*on_uop)(void *arg, const struct tact_trace_block *block,
				     const struct tact_sim_uop *uop),
		      void *arg);

/* One thread: its number as in the events.  Returns -TACT_E_INVAL if there is none. */
int tact_cycles_get_thread(const struct tact_cycles *cycles, uint32_t thread, double *cycles_out,
			   uint64_t *instructions);

/* A block of the trace by its number: what all its executions took.  Returns -TACT_E_INVAL for one
 * that was never executed.
 */
struct tact_cycles_block {
	size_t size;
	const struct tact_trace_block *block; /* owned by the trace */
	uint64_t executions;
	double cycles, uops[TACT_MAX_PORTS], stalls[TACT_N_STALLS];
	double bound;	      /* FACILE's throughput of the block alone, for comparison */
	uint32_t bottlenecks; /* of that: bits of enum tact_bound */
	uint32_t limits; /* bounds that say what the executions took: the largest of those that they
			    did not beat, if it is within 5% of it, or if they hardly stalled; 0:
			    what stalled them is the reason */
	uint32_t unknown; /* instructions without data */
};
int tact_cycles_get_block(const struct tact_cycles *cycles, uint32_t number,
			  struct tact_cycles_block *out);

/* The cycles of a block by instruction, of which there are block->n_insns: those from the
 * retirement of the one before it to its own, as the pipelines saw it, scaled to all executions; of
 * a macro-fused pair the first has all.  Evenly, if they did not see the block, or if opt.insns was
 * not set. Returns -TACT_E_INVAL for a block that was never executed.
 */
int tact_cycles_get_insns(const struct tact_cycles *cycles, uint32_t number, double *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_CYCLES_H */

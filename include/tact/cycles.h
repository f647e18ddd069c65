/* SPDX-License-Identifier: MIT
 *
 * Cycles of whole programs: the blocks that a trace executes go, one after the other, through a
 * live pipeline for each thread.  doc/models/trace.md describes the method and its error.
 *
 * tact/analysis.h does all of this in one call and names the code; this header is for callers that
 * handle the events themselves.
 *
 * A handle belongs to one thread at a time; different handles may be used by different threads at
 * once.
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
	bool exact;    /* every execution goes through the pipeline; nothing is extrapolated */
	bool caches;   /* loads and stores go through caches */
	bool branches; /* branches are predicted, and mispredictions cost cycles */
	uint64_t cache_bytes[3]; /* sizes of L1, L2 and L3, up to 1 TiB; 0: the architecture's */
	bool insns;		 /* keep cycles by instruction, for tact_cycles_get_insns */
	const char *model; /* one that accepts a stream of blocks (see tact/model.h), borrowed for
			      the call; NULL: sim */
	bool warm;	   /* no block runs for the first time: the code was executed before */
	bool partial; /* the program ran before the trace: its pages are there, no touch is the first */
	bool thorough; /* every branch is followed, also where the program stays in the same code */
};
#define TACT_CYCLES_OPTIONS_INIT TACT_SIZED(struct tact_cycles_options)

struct tact_cycles;

/* Creates a counter of cycles.  arch is borrowed and must outlive it; opt may be NULL.  Returns 0
 * with a handle for tact_cycles_destroy, -TACT_E_INVAL without an architecture, for a model that
 * does not accept streams and for caches that are too large, -TACT_E_NOMEM.
 */
int tact_cycles_create(struct tact_cycles **out, const struct tact_arch *arch,
		       const struct tact_cycles_options *opt, struct tact_diag *diag);

/* Destroys a counter.  NULL is allowed. */
void tact_cycles_destroy(struct tact_cycles *cycles);

/* Takes the next event of a trace of mode TACT_TRACE_FULL.  All events must come from one trace,
 * which must stay open until the results have been read.  Returns 0, -TACT_E_INVAL without a
 * handle, an event, event->size or the block of an execution, -TACT_E_NOMEM, -TACT_E_LIMIT if the
 * pipeline does not accept the block.
 */
int tact_cycles_event(struct tact_cycles *cycles, const struct tact_trace_event *event,
		      struct tact_diag *diag);

/* Lets everything that is still in flight retire, so that the results are complete.  More events
 * may follow, but what was learned so far is forgotten.  Returns 0, -TACT_E_INVAL without a handle,
 * -TACT_E_NOMEM, -TACT_E_LIMIT if the pipeline is stuck.
 */
int tact_cycles_finish(struct tact_cycles *cycles, struct tact_diag *diag);

/* ---- results ---- */

struct tact_cycles_totals {
	size_t size;
	double cycles;			   /* sum over all threads */
	uint64_t instructions, executions; /* executed instructions and blocks */
	uint64_t simulated;		   /* instructions that went through the pipeline */
	uint64_t unknown;		   /* executed instructions without data */
	uint32_t n_threads;
	double uops[TACT_MAX_PORTS];	 /* by port */
	double stalls[TACT_MAX_STALLS];	 /* cycles, by enum tact_stall */
	uint64_t accesses;		 /* loads and stores */
	uint64_t branches, mispredicted; /* 0 unless opt.branches was set */
	uint64_t misses[3];		 /* of L1, L2 and L3; 0 unless opt.caches was set */
	double error; /* standard error of `cycles`, which are extrapolated; 0 with opt.exact */
	/* Of a program that ran natively; otherwise 0.  doc/models/trace.md says how its cycles
	 * follow from these.
	 */
	uint32_t windows;
	double user_seconds, hertz; /* measured: time of all threads outside windows; clock */
	bool is_measured; /* `cycles` are their product: the CPU is the one that it ran on */
	uint64_t system_calls;
	/* Pages of data that the first TLB did not have, and that no TLB had; page faults, of code
	 * too.  0 unless opt.caches was set; faults are 0 of a program that ran natively.
	 */
	uint64_t tlb_misses, page_walks, page_faults;
	uint64_t followed; /* branches that were looked at; the others are taken to be like these */
	/* Executed prefetch instructions: those whose addresses are known, and those that do nothing
	 * here because they are not.
	 */
	uint64_t prefetches, unknown_prefetches;
};
#define TACT_CYCLES_TOTALS_INIT TACT_SIZED(struct tact_cycles_totals)

/* Gets the sums over all events so far.  Returns 0, or -TACT_E_INVAL without a handle or out->size.
 */
int tact_cycles_get_totals(const struct tact_cycles *cycles, struct tact_cycles_totals *out);

/* Gets the cycles and instructions of one thread, given by its number in the events.  Either
 * pointer may be NULL.  Returns 0, or -TACT_E_INVAL if there is no such thread or no handle.
 */
int tact_cycles_get_thread(const struct tact_cycles *cycles, uint32_t thread, double *cycles_out,
			   uint64_t *instructions);

/* All executions of a block together. */
struct tact_cycles_block {
	size_t size;
	const struct tact_trace_block *block; /* owned by the trace */
	uint64_t executions;
	double cycles;
	double uops[TACT_MAX_PORTS];	/* by port */
	double stalls[TACT_MAX_STALLS]; /* cycles, by enum tact_stall */
	double bound;	      /* FACILE's cycles per iteration of the block alone, for comparison */
	uint32_t bottlenecks; /* of that bound: bits of enum tact_bound */
	uint32_t limits;  /* bounds that explain the cycles: the largest one that the executions did
			     not beat, if it is within 5% of their cycles or if they hardly stalled.
			     0: the stalls are the reason */
	uint32_t unknown; /* instructions without data */
};
#define TACT_CYCLES_BLOCK_INIT TACT_SIZED(struct tact_cycles_block)

/* Gets a block of the trace by its number.  Not safe beside another call for the same handle,
 * although it is const: it computes the bound.  Returns 0, -TACT_E_INVAL for a block that was
 * never executed, without a handle or out->size, -TACT_E_NOMEM.
 */
int tact_cycles_get_block(const struct tact_cycles *cycles, uint32_t number,
			  struct tact_cycles_block *out);

/* Gets the cycles of a block by instruction: fills block->n_insns numbers, which add up to the
 * block's cycles.  An instruction is charged with the cycles from the retirement of the instruction
 * before it to its own.  For a macro-fused pair, the first instruction is charged with everything.
 * The cycles are shared evenly if the pipelines never saw the block or opt.insns was not set.
 * Returns 0, or -TACT_E_INVAL for a block that was never executed, without a handle or `out`.
 */
int tact_cycles_get_insns(const struct tact_cycles *cycles, uint32_t number, double *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_CYCLES_H */

/* SPDX-License-Identifier: MIT
 *
 * A cycle-level pipeline: throughput, and for every uop when each thing happened to it and what it
 * waited for.
 */
#ifndef TACT_SIMULATE_H
#define TACT_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/pipeline.h>
#include <tact/predict.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_sim_options {
	size_t size;
	uint64_t max_cycles;	 /* 0: enough to fill the reorder buffer and see some iterations */
	uint64_t min_iterations; /* of what the sink sees; 0: as many as the steady state takes */
	int (*on_uop)(void *arg,
		      const struct tact_sim_uop *uop); /* in order of retirement; non-zero ends */
	void *arg;
};

/* What an instruction of the block did, a mean over the steady state. */
struct tact_sim_insn {
	double by_source[TACT_N_SOURCES]; /* decoded uops an iteration */
	double issued;			  /* fused uops */
	double port[TACT_MAX_PORTS];	  /* executed uops by port */
	double divider;			  /* cycles */
	double wait_operand, wait_port;	  /* cycles that its uops waited */
	double spent; /* cycles from the retirement of the instruction before it to its own;
			 of a macro-fused pair the first has all */
};

struct tact_simulation {
	size_t size;
	double cycles_per_iteration;
	double coverage;
	enum tact_mode mode;
	bool repeats; /* the state of the pipeline came again: the figure is exact for the model */
	uint64_t period;	     /* iterations after which it does */
	uint64_t cycles, iterations; /* simulated */
	enum tact_uop_source source; /* of most uops */
	uint32_t bottlenecks; /* bits of enum tact_bound within 2%; none of them: Scheduling */
	bool scheduling;      /* the pipeline loses more than any single bound says */
	struct tact_prediction bounds; /* FACILE's, for comparison */
};

struct tact_simulator; /* the pipeline's state, some megabytes; one thread at a time */

int tact_simulator_create(struct tact_simulator **out, struct tact_diag *diag);
void tact_simulator_destroy(struct tact_simulator *simulator); /* NULL is allowed */

/* Simulates a loaded block.  opt may be NULL.  Returns -TACT_E_INVAL for an empty block,
 * -TACT_E_NOMEM, -TACT_E_LIMIT if not one iteration ended within max_cycles.
 */
int tact_simulate(struct tact_simulator *simulator, struct tact_block *block,
		  const struct tact_sim_options *opt, struct tact_simulation *out);

/* Of the last call: what instruction i of the block did. */
int tact_simulated_insn(const struct tact_simulator *simulator, size_t i,
			struct tact_sim_insn *out);

/* ---- streams ----
 *
 * Different blocks pushed through one live pipeline.  A block is added once (what is needed of it
 * is copied) and fed, by its number, as often as it runs.  Memory depends on the blocks that were
 * added, not on how many were fed.
 */
struct tact_stream; /* one thread at a time */

struct tact_stream_access {
	uint64_t address;
	uint32_t insn;	/* in the block */
	uint16_t size;	/* bytes */
	uint16_t extra; /* cycles that a load takes longer than from the first-level cache */
	bool is_store;
};

/* An execution of a block that was added. */
struct tact_stream_execution {
	uint32_t number;
	uint64_t address;
	const struct tact_stream_access *accesses; /* borrowed; NULL: unknown */
	size_t n_accesses;
	bool is_mispredicted; /* the branch in front of it was predicted to go elsewhere */
	bool was_executed; /* before, though not in this stream: it does not come from the decoders
			    */
};

/* Why nothing retires in a cycle: what the oldest uop waits for. */
enum tact_stall {
	TACT_STALL_FRONT_END, /* there is none */
	TACT_STALL_OPERANDS,  /* for the result of another one */
	TACT_STALL_LOADS,     /* a load is not finished */
	TACT_STALL_PORTS,     /* for its port, or the divider */
	TACT_STALL_BRANCH,    /* there is none, behind a branch that was predicted wrongly */
	TACT_STALL_EXECUTION, /* it is being executed */
	TACT_N_STALLS
};
const char *tact_stall_name(enum tact_stall stall); /* "front end", "operands", ... */

struct tact_stream_totals {
	size_t size;
	uint64_t cycles;       /* so far; some blocks are still in flight */
	uint64_t instructions; /* fed */
	uint64_t blocks, blocks_retired;
};

int tact_stream_create(struct tact_stream **out, struct tact_diag *diag);

/* A stream of its own with the blocks of another one, and those that are added to it: several
 * threads of a program.  What its blocks do adds up with the other's.  It has to go first.
 */
int tact_stream_create_beside(struct tact_stream **out, struct tact_stream *owner,
			      struct tact_diag *diag);
void tact_stream_destroy(struct tact_stream *stream); /* NULL is allowed */

/* All blocks of a stream are of one architecture.  Returns -TACT_E_INVAL, -TACT_E_NOMEM. */
int tact_stream_add(struct tact_stream *stream, const struct tact_block *block, uint32_t *number);

/* The block runs, at this address.  A block that does not begin where the one before it ended was
 * jumped to.  Where it runs for the first time it comes from the decoders, later from the DSB.
 * accesses: what it loads and stores, in the order of its instructions; NULL: unknown, and then
 * only a load from what the same execution of the block stored depends on it.
 * Returns -TACT_E_INVAL, -TACT_E_NOMEM, -TACT_E_LIMIT if the pipeline's memory was too small: the
 * stream is over then.
 */
int tact_stream_feed(struct tact_stream *stream, uint32_t number, uint64_t address,
		     const struct tact_stream_access *accesses, size_t n);

/* Forgets all blocks: numbers begin anew, and sums at zero.  This stream and those beside it must
 * have been drained.
 */
void tact_stream_forget(struct tact_stream *stream);

/* The same with all that can be said of an execution. */
int tact_stream_execute(struct tact_stream *stream, const struct tact_stream_execution *execution);

/* Calls back for every execution that has retired, in order, with the cycle of its retirement. */
void tact_stream_on_retire(struct tact_stream *stream, void (*retired)(void *arg, uint64_t cycle),
			   void *arg);

/* Until all that was fed has retired.  More can be fed after that. */
int tact_stream_drain(struct tact_stream *stream);

/* From now on, or until NULL is given, every uop that retires is shown: its iteration is the number
 * of its block among those that were fed, from 0; a result other than 0 ends that.
 */
int tact_stream_watch(struct tact_stream *stream,
		      int (*on_uop)(void *arg, const struct tact_sim_uop *uop), void *arg);

int tact_stream_get_totals(const struct tact_stream *stream, struct tact_stream_totals *out);

/* Sums over all executions of a block: what its instruction i did.  by_source stays 0. */
int tact_stream_get_insn(const struct tact_stream *stream, uint32_t number, size_t i,
			 struct tact_sim_insn *out, uint64_t *executions);

/* Sums over all executions of a block: uops by port, cycles in which nothing retired. */
struct tact_stream_block {
	size_t size;
	uint64_t executions;
	uint64_t uops[TACT_MAX_PORTS], stalls[TACT_N_STALLS];
};
int tact_stream_get_block(const struct tact_stream *stream, uint32_t number,
			  struct tact_stream_block *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_SIMULATE_H */

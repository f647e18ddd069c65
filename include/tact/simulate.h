/* SPDX-License-Identifier: MIT
 *
 * A cycle-level pipeline: throughput, and for every uop when each thing happened to it and what it
 * waited for.
 *
 * A handle belongs to one thread at a time; different handles may be used by different threads at
 * once.  Functions that return int return -TACT_E_INVAL for NULL where it is not allowed.
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

/* ---- one block that repeats ---- */

/* How a figure was found.  Values are stable; new ones go to the end. */
enum tact_sim_method {
	TACT_SIM_NONE,	  /* there is no figure */
	TACT_SIM_REPEATS, /* the state of the pipeline recurred: exact for the model */
	TACT_SIM_SETTLED, /* stretches agree within 0.5%: their mean, or the bound that they keep */
	TACT_SIM_MEAN,	  /* a mean over the second half of max_cycles */
	TACT_N_SIM_METHODS
};

/* Returns "none", "repeats", "settled" or "mean"; "unknown" for other values. */
const char *tact_sim_method_name(enum tact_sim_method method);

/* How to simulate.  All zeros, or NULL, is the default.
 *
 * max_cycles ends the simulation if no steady state is found by then.  By default it is enough to
 * fill the reorder buffer and to see some iterations.  It is never more than 2^29 cycles.
 *
 * only_repeats does not accept that the pipeline has settled: the simulation goes on until its state
 * recurs, which makes the figure exact, or to max_cycles.
 *
 * min_iterations keeps the simulation running for the sink after the steady state was found; it
 * does not change the result.  By default the simulation ends with the steady state.  With
 * max_cycles left at 0, as many cycles are simulated as the iterations take.  If max_cycles is set,
 * it wins, and tact_simulation.iterations tells how many iterations there were.
 *
 * on_uop, the sink, is called for every uop in the order of retirement.  The record is valid during
 * the call, which must not use the simulator or the block.  A result other than 0 ends the
 * simulation: see tact_simulation.stopped.
 */
struct tact_sim_options {
	size_t size; /* sizeof(struct tact_sim_options) */
	uint64_t max_cycles;
	uint64_t min_iterations;
	int (*on_uop)(void *arg, const struct tact_sim_uop *uop); /* NULL: no sink */
	void *arg;						  /* for on_uop */
	bool only_repeats;
};
#define TACT_SIM_OPTIONS_INIT TACT_SIZED(struct tact_sim_options)

/* What one instruction of the block did, per iteration: a mean over the steady state.  For a
 * macro-fused pair, the first instruction has the numbers of both and the second has zeros.
 */
struct tact_sim_insn {
	size_t size;			    /* sizeof(struct tact_sim_insn) */
	double by_source[TACT_MAX_SOURCES]; /* decoded uops, by enum tact_uop_source */
	double issued;			    /* fused uops */
	double port[TACT_MAX_PORTS];	    /* executed uops, by port */
	double divider;			    /* cycles */
	double wait_operand, wait_port;	    /* cycles that its uops waited */
	/* Cycles from the retirement of the previous instruction to its own.  The sum over the
	 * block is cycles_per_iteration.  Where the store buffer is the limit, the cycles that
	 * retirement does not explain are spread evenly over the stores.
	 */
	double spent;
};
#define TACT_SIM_INSN_INIT TACT_SIZED(struct tact_sim_insn)

/* The result of a simulation.
 *
 * `repeats` says that the state of the pipeline recurred: the figure is exact for the model.
 * Otherwise it is the mean over a stretch in which the pipeline had settled, or the largest of the
 * bounds if it had settled there, or, if it never did, the mean over the second half of max_cycles;
 * `method` says which, and `uncertainty` how sure it is.
 *
 * `stopped` says that the sink ended the simulation.  If the steady state was known by then, the
 * result is complete.  If not, there is no figure: cycles_per_iteration is NaN, period is 0,
 * bottlenecks are empty, and tact_simulated_insn fails; cycles and iterations say how far it came.
 */
struct tact_simulation {
	size_t size; /* sizeof(struct tact_simulation) */
	double cycles_per_iteration;
	double coverage;	     /* share of the instructions with data */
	enum tact_mode mode;	     /* LOOP or UNROLL */
	bool repeats;		     /* see above */
	bool scheduling;	     /* the pipeline loses more than any single bound says */
	uint64_t period;	     /* iterations that the figure is a mean of */
	uint64_t cycles, iterations; /* simulated */
	enum tact_uop_source source; /* of most uops */
	uint32_t bottlenecks;	     /* bits of enum tact_bound within 2%; none: `scheduling` */
	/* FACILE's bounds, for comparison.  Owned by the simulator; valid until its next simulation
	 * or its end.
	 */
	const struct tact_prediction *bounds;
	bool stopped; /* see above */
	enum tact_sim_method method;
	/* Half of the 95% interval of cycles_per_iteration, from the spread of batches; 0 if the
	 * state recurred.  It is about the mean of the model, not about the machine.
	 */
	double uncertainty;
};
#define TACT_SIMULATION_INIT TACT_SIZED(struct tact_simulation)

/* The state of a pipeline with its working memory, some megabytes. */
struct tact_simulator;

/* Creates a simulator, which can be used for any number of blocks of any architecture.
 * Returns 0, or
 *   -TACT_E_INVAL  out is NULL
 *   -TACT_E_NOMEM  out of memory
 */
int tact_simulator_create(struct tact_simulator **out, struct tact_diag *diag);

/* Frees a simulator.  NULL is allowed. */
void tact_simulator_destroy(struct tact_simulator *simulator);

/* Simulates a loaded block until its state repeats or settles.  opt may be NULL.  Nothing refers to
 * the block afterwards.  Allocates only while buffers grow to the largest block seen.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, the block is empty, or a size is wrong
 *   -TACT_E_NOMEM  out of memory
 *   -TACT_E_LIMIT  too few iterations ended within max_cycles to tell a figure, fewer than
 *                  min_iterations within 2^29 cycles, or the pipeline's memory was too small
 */
int tact_simulate(struct tact_simulator *simulator, struct tact_block *block,
		  const struct tact_sim_options *opt, struct tact_simulation *out);

/* Fills in what instruction i of the block did in the last simulation.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, there is no such instruction, or the last simulation
 *                  found no steady state
 */
int tact_simulated_insn(const struct tact_simulator *simulator, size_t i,
			struct tact_sim_insn *out);

/* ---- streams ----
 *
 * Different blocks pushed through one live pipeline.  A block is added once (the stream copies what
 * it needs) and fed, by its number, each time it runs.  Memory depends on the blocks that were
 * added, not on how many were fed.
 *
 * A stream and the streams created beside it share their blocks: together they belong to one
 * thread at a time.
 */
struct tact_stream;

/* A memory access of an execution.  This struct never changes. */
struct tact_stream_access {
	uint64_t address;
	uint32_t insn;	/* in the block */
	uint16_t size;	/* bytes; 0: a prefetch, whose data nobody waits for */
	uint16_t extra; /* cycles that a load takes longer than from the first-level cache */
	bool is_store;
};

/* A line that is fetched before it is needed: from a level to another one, 0 to 3 for the caches and
 * memory.  This struct never changes.
 */
struct tact_stream_fetch {
	uint64_t line; /* address / 64 */
	uint8_t from, to;
};

/* Where an access finds its data.  This struct never changes. */
enum { TACT_STREAM_FETCHES = 4 };
struct tact_stream_trip {
	uint64_t line; /* address / 64; of several lines, the one that is farthest away */
	uint8_t level; /* 0 to 3: the caches and memory; 4: a store that goes past the caches */
	uint8_t page; /* 0: the first TLB has its address; 1: the second one; 2 to 4: none, and it is
			  found in the second or third level or in memory */
	uint8_t n_fetched;
	uint8_t written; /* a store is the first to write this line: to which level, 1 to 3, it will
			    have to go back; 0: it is no such store */
	struct tact_stream_fetch fetched[TACT_STREAM_FETCHES]; /* because of it */
};

/* An execution of a block that was added. */
struct tact_stream_execution {
	size_t size;	  /* sizeof(struct tact_stream_execution) */
	uint32_t number;  /* of the block */
	uint64_t address; /* of its first byte */
	/* What it loads and stores, in the order of its instructions; copied.  NULL: unknown. */
	const struct tact_stream_access *accesses;
	size_t n_accesses;
	/* The branch before it was predicted to go elsewhere.  With trips, loads behind it that are
	 * executed wherever it goes begin before it is known (doc/models/trace.md, wrong paths).
	 */
	bool is_mispredicted;
	bool was_executed; /* before, outside this stream: it does not come from the decoders */
	/* Where each access finds its data; copied.  NULL: in the first level, and `extra` counts. */
	const struct tact_stream_trip *trips;
	bool is_decoded; /* it comes from them even so */
	/* Fetch runs ahead of the decoders.  It comes to this block only after the branch before it
	 * was decoded; and it needs so many cycles to come here, which pass unnoticed if it is far
	 * enough ahead.
	 */
	bool is_redirected;
	uint16_t fetch_delay;
	/* Where the lines of code, of 64 bytes, come from if the block is decoded; two bits each, the
	 * lowest for the first: 0 is the first-level cache, 1 the second level, 2 the third, 3
	 * memory.  Those after the 32nd are in the first level.
	 */
	uint64_t code_lines;
	uint32_t repeat_cycles; /* that the last instruction takes because it repeats itself, at
				   most 2^28; 0: as the tables say */
};
#define TACT_STREAM_EXECUTION_INIT TACT_SIZED(struct tact_stream_execution)

/* Why nothing retires in a cycle: what the oldest uop waits for.  Values are stable; new ones go to
 * the end.
 */
enum tact_stall {
	TACT_STALL_FRONT_END,	/* there is no uop */
	TACT_STALL_OPERANDS,	/* the result of another uop */
	TACT_STALL_LOADS,	/* a load that is not finished */
	TACT_STALL_PORTS,	/* its port, or the divider */
	TACT_STALL_BRANCH,	/* there is no uop, after a branch that was mispredicted */
	TACT_STALL_EXECUTION,	/* its own result */
	TACT_STALL_STORES,	/* there is no uop: too many stores wait to leave for the cache */
	TACT_STALL_LOCKED,	/* it belongs to a locked instruction, which runs alone */
	TACT_STALL_SERIALIZING, /* it belongs to a fence, cpuid or the like, or these hold it up */
	TACT_STALL_STRINGS,	/* it belongs to a repeated string instruction that is not over */
	TACT_N_STALLS
};

/* Capacity of arrays that are indexed by enum tact_stall; entries from TACT_N_STALLS on are 0. */
enum { TACT_MAX_STALLS = 16 };

/* Returns the name of a reason ("front end", "operands", ...), or "unknown". */
const char *tact_stall_name(enum tact_stall stall);

/* Where a stream stands. */
struct tact_stream_totals {
	size_t size;	       /* sizeof(struct tact_stream_totals) */
	uint64_t cycles;       /* so far; some blocks may still be in flight */
	uint64_t instructions; /* fed */
	uint64_t blocks;       /* fed */
	uint64_t blocks_retired;
};
#define TACT_STREAM_TOTALS_INIT TACT_SIZED(struct tact_stream_totals)

/* Creates a stream without blocks.
 * Returns 0, or
 *   -TACT_E_INVAL  out is NULL
 *   -TACT_E_NOMEM  out of memory
 */
int tact_stream_create(struct tact_stream **out, struct tact_diag *diag);

/* Creates a stream with a pipeline of its own and the blocks of another stream, for programs with
 * several threads.  Blocks that are added to one are known to both, and what a block does is summed
 * over both.  The new stream must be destroyed before `owner`.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing
 *   -TACT_E_NOMEM  out of memory
 */
int tact_stream_create_beside(struct tact_stream **out, struct tact_stream *owner,
			      struct tact_diag *diag);

/* Frees a stream and, if it is not beside another one, its blocks.  NULL is allowed. */
void tact_stream_destroy(struct tact_stream *stream);

/* Adds a loaded block, and sets *number to its number: 0, 1, ...  What is needed of the block is
 * copied; its architecture must outlive the stream.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, the block is empty, or its architecture is not that of
 *                  the stream's first block
 *   -TACT_E_NOMEM  out of memory
 */
int tact_stream_add(struct tact_stream *stream, const struct tact_block *block, uint32_t *number);

/* Feeds an execution of block `number` at an address, with n accesses.
 *
 * A block that does not begin where the previous one ended was jumped to.  The first time a block
 * runs it comes from the decoders, later from the DSB or the LSD.  If accesses is NULL, addresses
 * are unknown: a load then depends only on stores of the same execution of the block.
 * tact_stream_execute does the same, with everything that can be said about an execution.
 * Return 0, or
 *   -TACT_E_INVAL  an argument is missing, there is no such block, or the accesses are not in the
 *                  order of the block's instructions
 *   -TACT_E_NOMEM  out of memory
 *   -TACT_E_LIMIT  the pipeline's memory was too small; the stream cannot be used any more
 */
int tact_stream_feed(struct tact_stream *stream, uint32_t number, uint64_t address,
		     const struct tact_stream_access *accesses, size_t n);
int tact_stream_execute(struct tact_stream *stream, const struct tact_stream_execution *execution);

/* Runs the pipeline until everything that was fed has retired.  More can be fed after that.
 * Returns 0, or
 *   -TACT_E_INVAL  stream is NULL
 *   -TACT_E_LIMIT  the pipeline's memory was too small; the stream cannot be used any more
 */
int tact_stream_drain(struct tact_stream *stream);

/* Forgets all blocks of a stream and of the streams beside it: numbers begin at 0 again, and so do
 * sums over blocks.  All these streams must have been drained.  Does nothing for NULL.
 */
void tact_stream_forget(struct tact_stream *stream);

/* Sets what is called for every execution that retires, in order, with the cycle of its retirement;
 * NULL for `retired` ends that.  Does nothing if stream is NULL.
 */
void tact_stream_on_retire(struct tact_stream *stream, void (*retired)(void *arg, uint64_t cycle),
			   void *arg);

/* Shows every uop that retires from now on; NULL for on_uop ends that.  `iteration` of a uop is the
 * number of its block among those that were fed, from 0.  The record is valid during the call.  A
 * result of on_uop other than 0 ends the watching; the stream and its numbers are not affected.
 * Returns 0, or
 *   -TACT_E_INVAL  stream is NULL
 */
int tact_stream_watch(struct tact_stream *stream,
		      int (*on_uop)(void *arg, const struct tact_sim_uop *uop), void *arg);

/* Fills in where the stream stands.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, or out->size is wrong
 */
int tact_stream_get_totals(const struct tact_stream *stream, struct tact_stream_totals *out);

/* Fills in what instruction i of a block did, summed over all executions of the block, and how many
 * these are.  by_source is always 0.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, there is no such block or instruction, or out->size is
 *                  wrong
 */
int tact_stream_get_insn(const struct tact_stream *stream, uint32_t number, size_t i,
			 struct tact_sim_insn *out, uint64_t *executions);

/* What a block did, summed over all its executions. */
struct tact_stream_block {
	size_t size; /* sizeof(struct tact_stream_block) */
	uint64_t executions;
	uint64_t uops[TACT_MAX_PORTS];	  /* by port */
	uint64_t stalls[TACT_MAX_STALLS]; /* cycles in which nothing retired, by enum tact_stall */
	uint64_t cycles; /* from the retirement of what was before it to its own, with those */
};
#define TACT_STREAM_BLOCK_INIT TACT_SIZED(struct tact_stream_block)

/* Fills in what a block did.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, there is no such block, or out->size is wrong
 */
int tact_stream_get_block(const struct tact_stream *stream, uint32_t number,
			  struct tact_stream_block *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_SIMULATE_H */

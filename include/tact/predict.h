/* SPDX-License-Identifier: MIT
 *
 * Analytical throughput prediction: FACILE's bounds, and some that measurements ask for.
 *
 * The functions that take a block follow its rule: one thread at a time.
 */
#ifndef TACT_PREDICT_H
#define TACT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bounds; the first seven are the paper's.  Values are stable: new ones go to the end. */
enum tact_bound {
	TACT_BOUND_PREDECODE,
	TACT_BOUND_DECODE,
	TACT_BOUND_DSB,
	TACT_BOUND_LSD,
	TACT_BOUND_ISSUE,
	TACT_BOUND_PORTS,
	TACT_BOUND_PRECEDENCE,
	TACT_BOUND_DIVIDER,
	TACT_BOUND_STORES,
	TACT_BOUND_STACK_SYNC,
	TACT_BOUND_FORWARDING,
	TACT_BOUND_BLOCKED,
	TACT_BOUND_MICROCODE, /* with fences and locked instructions */
	TACT_BOUND_BINDING,   /* of uops to ports, before it is known when they run */
	TACT_BOUND_LOADS,     /* in flight, those that wait for their addresses included */
	TACT_N_BOUNDS	      /* those that this version knows */
};

/* The room for bounds in structs: more than there are, so that a later version can add some. */
enum { TACT_MAX_BOUNDS = 32 };

/* Return the name of a bound: for people ("Predecoder", "Decoder", ...), and as columns and options
 * spell it ("predec", "dec", ...).  Other values give "unknown".
 */
const char *tact_bound_name(enum tact_bound bound);
const char *tact_bound_column(enum tact_bound bound);

/* Returns the name for people in the words of a core's vendor: on AMD's cores the DSB is the "Op
 * cache", and what Intel calls issue is "Dispatch".  NULL for arch: as tact_bound_name.
 */
const char *tact_bound_name_on(const struct tact_arch *arch, enum tact_bound bound);

/* ---- predicting a block ---- */

struct tact_predict_options {
	size_t size;		/* sizeof(struct tact_predict_options), set by the caller */
	uint32_t bounds;	/* bit b: enum tact_bound b counts; 0: all of them */
	bool simple_predecoder; /* SimplePredec and SimpleDec of the paper, for comparison */
	bool simple_decoder;
	bool exact_ports; /* all sets of ports instead of the unions of pairs */
	/* Stop as soon as a bound exceeds this many cycles; 0: compute all bounds.  For a search
	 * that only wants to know whether a block beats the best one so far.
	 */
	double stop_above;
};
#define TACT_PREDICT_OPTIONS_INIT TACT_SIZED(struct tact_predict_options)

struct tact_prediction {
	size_t size;		     /* sizeof(struct tact_prediction), set by the caller */
	double cycles_per_iteration; /* the largest bound that applies */
	double coverage;     /* share of the instructions with data; below 1, the cycles are a lower
				bound */
	enum tact_mode mode; /* LOOP or UNROLL */
	uint32_t applies;    /* bit b: bound b was computed and counts */
	uint32_t bottlenecks; /* bit b: bound b equals the maximum */
	/* A bound exceeded stop_above, and the rest was not computed: cycles_per_iteration, itself
	 * above stop_above, is then a lower bound of the prediction, and `applies` and
	 * `bottlenecks` only speak of what was computed.
	 */
	bool is_stopped;
	double bound[TACT_MAX_BOUNDS]; /* cycles per iteration if this were the only limit */
};
#define TACT_PREDICTION_INIT TACT_SIZED(struct tact_prediction)

/* Predicts a loaded block.  opt may be NULL, which means the same as all zeros.  Does not allocate
 * once the block's buffers have grown.  With stop_above the bounds are computed from the cheapest
 * to the dearest: either is_stopped is set and the prediction exceeds stop_above, or *out is what
 * it is without stop_above.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  block or out is NULL, the block is empty, out->size is not set, or opt has
 *                  unknown values: bits of bounds that this library does not know, a stop_above
 *                  below 0
 *   -TACT_E_NOMEM  out of memory
 */
int tact_predict(struct tact_block *block, const struct tact_predict_options *opt,
		 struct tact_prediction *out);

/* ---- why ---- */

/* The formulas of bounds.  Values are stable: new ones go to the end. */
enum tact_rule {
	TACT_RULE_RATIO,   /* amount * each / per */
	TACT_RULE_CEILING, /* amount / per, rounded up */
	TACT_RULE_COPIES,  /* amount * copies / per, rounded up; the result divided by copies */
	TACT_RULE_TABLE,   /* so many cycles were measured for this amount: no formula */
	TACT_N_RULES
};

/* What a bound counts.  Values are stable: new ones go to the end. */
enum tact_counted {
	TACT_COUNTED_CYCLES,	    /* in so many iterations (`per`) */
	TACT_COUNTED_UOPS,	    /* fused ones; for Ports, those that go to ports */
	TACT_COUNTED_LINES,	    /* of the DSB */
	TACT_COUNTED_WIDE_UOPS,	    /* that take more than one slot of the DSB */
	TACT_COUNTED_INSNS,	    /* instructions */
	TACT_COUNTED_COMPLEX_INSNS, /* instructions that only the complex decoder takes */
	TACT_COUNTED_BYTES,
	TACT_COUNTED_LOADS, /* blocked ones that wait for each other, in so many iterations; of
			       Ports: those of one bank of the cache, in so many cycles */
	TACT_N_COUNTED
};

/* How a bound comes about: its formula with the numbers of this block. */
struct tact_derivation {
	size_t size; /* sizeof(struct tact_derivation), set by the caller */
	enum tact_rule rule;
	enum tact_counted counted;
	unsigned amount, per; /* per is not 0 */
	unsigned each;	      /* cycles for each one that is counted; 1 for most bounds */
	unsigned copies;      /* of a loop that are streamed as one; 1 unless the rule is COPIES */
	double cycles_per_iteration; /* what the rule gives: exactly the bound */
};
#define TACT_DERIVATION_INIT TACT_SIZED(struct tact_derivation)

/* Derives any bound of a loaded block, whether it applies or not, under the options of tact_predict
 * (NULL means all zeros).
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  block or out is NULL, the block is empty, there is no such bound, out->size is
 *                  not set, or opt has values that this library does not know
 *   -TACT_E_NOMEM  out of memory
 */
int tact_explain_bound(struct tact_block *block, const struct tact_predict_options *opt,
		       enum tact_bound bound, struct tact_derivation *out);

/* How the cycles of a prediction divide among its bounds. */
struct tact_shares {
	size_t size; /* sizeof(struct tact_shares), set by the caller */
	/* By bound: its part of the cycles, which add up to 1: the mean, over all orders in which
	 * components can be made ideal one after the other, of what each one gains (its Shapley
	 * value).
	 */
	double share[TACT_MAX_BOUNDS];
	uint32_t set;	/* the smallest set of bounds without which the cycles are fewer */
	double without; /* cycles per iteration without that set; 0: no other bound is left */
};
#define TACT_SHARES_INIT TACT_SIZED(struct tact_shares)

/* Divides the cycles of a prediction, which tact_predict has filled, among the bounds that apply.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  an argument is NULL, or a size is not set
 */
int tact_explain_shares(const struct tact_prediction *prediction, struct tact_shares *out);

/* Ports: the set of ports whose uops are the bottleneck, and the instructions they belong to.  Where
 * the bound counts loads of one bank of the cache (tact_derivation.counted), it is higher than this.
 */
struct tact_port_contention {
	size_t size;	       /* sizeof(struct tact_port_contention), set by the caller */
	unsigned ports;	       /* bit p: port p */
	double uops;	       /* uops per iteration that can go nowhere else */
	const uint32_t *insns; /* owned by the block, valid until its next call */
	size_t n_insns;
};
#define TACT_PORT_CONTENTION_INIT TACT_SIZED(struct tact_port_contention)

/* Explains the Ports bound of a loaded block.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  an argument is NULL, the block is empty, or out->size is not set
 *   -TACT_E_NOMEM  out of memory
 */
int tact_explain_ports(struct tact_block *block, struct tact_port_contention *out);

/* The same under the options of tact_predict, of which exact_ports counts; NULL means all zeros.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  block or out is NULL, the block is empty, out->size is not set, or opt has
 *                  values that this library does not know
 *   -TACT_E_NOMEM  out of memory
 */
int tact_explain_ports_with(struct tact_block *block, const struct tact_predict_options *opt,
			    struct tact_port_contention *out);

/* One step of a chain of dependences. */
struct tact_chain_link {
	uint32_t insn;	     /* the instruction that the value passes through */
	unsigned latency;    /* cycles from its input to its output */
	unsigned iterations; /* 1 if the next link is in the next iteration */
	uint8_t from_kind,
		to_kind; /* how it enters and leaves: 0 register, 1 address, 2 flags, 3 memory */
	uint8_t from_reg, to_reg; /* the register, or that of the address; else TACT_REG_NONE */
	uint8_t input, output;	  /* of the instruction, as the block numbers them */
};

/* Dependencies, and through memory Forwarding: the cycle in the dependence graph with the largest
 * ratio of latency to iterations.
 */
struct tact_chain {
	size_t size;		     /* sizeof(struct tact_chain), set by the caller */
	double cycles_per_iteration; /* 0: there is no cycle, and no link */
	unsigned latency, iterations;
	const struct tact_chain_link *links; /* owned by the block, valid until its next call */
	size_t n_links;
};
#define TACT_CHAIN_INIT TACT_SIZED(struct tact_chain)

/* Explains the Dependencies and Forwarding bounds of a loaded block.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  an argument is NULL, the block is empty, or out->size is not set
 *   -TACT_E_NOMEM  out of memory
 */
int tact_explain_chain(struct tact_block *block, struct tact_chain *out);

/* Finds the latency of one pass: the longest chain of dependences from what the block reads to what
 * it leaves, if everything that it reads is there when it begins and nothing else limits it.  A
 * store ends when its data and its address are there, a branch when it is executed.  out->latency
 * and out->cycles_per_iteration are the cycles, out->iterations is 1, and links are in the order of
 * the block, their field iterations 0.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  an argument is NULL, the block is empty, or out->size is not set
 *   -TACT_E_NOMEM  out of memory
 */
int tact_explain_pass(struct tact_block *block, struct tact_chain *out);

/* Explains one of the two: the chain whose ratio is the bound TACT_BOUND_PRECEDENCE, where memory
 * counts as the paper has it, or TACT_BOUND_FORWARDING, where the chain passes through memory and
 * takes the latency of forwarding.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  block or out is NULL, the block is empty, out->size is not set, or it is
 *                  another bound
 *   -TACT_E_NOMEM  out of memory
 */
int tact_explain_chain_of(struct tact_block *block, enum tact_bound bound, struct tact_chain *out);

/* Returns what people call the value of a link or an edge: the name of a register, "flags",
 * "memory", or "?" if there is none.  `kind` and `reg` are those of struct tact_chain_link or
 * struct tact_edge.  The text is a constant.
 */
const char *tact_explain_value(const struct tact_block *block, unsigned kind, unsigned reg);

/* How much an instruction matters. */
struct tact_criticality {
	size_t size; /* sizeof(struct tact_criticality), set by the caller */
	/* By how many cycles all latencies of the instruction may grow before dependences alone
	 * take longer than the prediction: the minimum of (cycles_per_iteration * iterations -
	 * latency) / passes over all cycles that pass through it, in the graph that
	 * tact_explain_chain searches.  0 if it is on the critical cycle and that is the
	 * bottleneck; INFINITY if it is on no cycle.  If the options leave dependences out, the
	 * ratio of the critical cycle counts where it is more.
	 */
	double slack;
	/* Cycles per iteration that the prediction becomes less without the instruction; less than
	 * 0 if it becomes more, as when a dependence was broken.  The block is taken as a loop or
	 * unrolled as it is now.
	 */
	double saved;
	/* False for the branch of a loop and for the only instruction: `saved` is then 0. */
	bool is_erasable;
};
#define TACT_CRITICALITY_INIT TACT_SIZED(struct tact_criticality)

/* Says how critical instruction i of a loaded block is, under the options of tact_predict
 * (stop_above is ignored; NULL means all zeros).  Takes about as long as three predictions.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  block or out is NULL, there is no instruction i, out->size is not set, or opt
 *                  has values that this library does not know
 *   -TACT_E_NOMEM  out of memory
 */
int tact_explain_criticality(struct tact_block *block, const struct tact_predict_options *opt,
			     size_t i, struct tact_criticality *out);

/* A load that needs bytes which the last store to them does not hold in full. */
struct tact_blocked_load {
	uint32_t load, store; /* instructions */
	unsigned iterations;  /* 1: the store is in the iteration before */
};

/* Walks the loads that the Blocked bound counts: *cursor begins at 0 and is advanced.  Returns 1
 * with *out filled, 0 after the last one, or -TACT_E_INVAL if an argument is NULL.
 */
int tact_explain_blocked(const struct tact_block *block, size_t *cursor,
			 struct tact_blocked_load *out);

/* An edge of the dependence graph. */
struct tact_edge {
	uint32_t from, to;   /* instructions */
	unsigned latency;    /* of `from` to the value, on its slowest path */
	unsigned iterations; /* 1: `to` is in the next iteration */
	uint8_t kind, reg;   /* of the value: as in struct tact_chain_link */
};

/* Walks the edges of the dependence graph: *cursor begins at 0 and is advanced.  Returns 1 with
 * *out filled, 0 after the last one, or -TACT_E_INVAL if an argument is NULL.
 */
int tact_block_edge(const struct tact_block *block, size_t *cursor, struct tact_edge *out);

/* One 16-byte chunk of the predecoder, one group of the decoders, or one line of the DSB.  Instructions are counted in
 * the order of the (unrolled) code, modulo the block's length.
 */
struct tact_front_end_group {
	uint32_t first_insn, n_insns;
	unsigned cycles, lcp_cycles; /* lcp_cycles: those that length-changing prefixes cost */
};

/* Explain the Predecoder and the Decoder bound: fill up to `capacity` groups of the steady state,
 * and store in *iterations how many iterations they span.  groups may be NULL if capacity is 0.
 *
 * Return the number of groups, which may exceed capacity, or:
 *   -TACT_E_INVAL  another argument is NULL, or the block is empty
 *   -TACT_E_NOMEM  out of memory
 */
int tact_explain_predecoder(struct tact_block *block, struct tact_front_end_group *groups,
			    size_t capacity, unsigned *iterations);
int tact_explain_decoder(struct tact_block *block, struct tact_front_end_group *groups,
			 size_t capacity, unsigned *iterations);

/* Explains the DSB bound of cores that read a loop line by line or window by window: fills up to
 * `capacity` groups with the instructions of each line, or of the lines that begin in each window,
 * and stores 1 in *iterations.  groups may be NULL if capacity is 0.
 *
 * Returns the number of groups, which may exceed capacity, 0 if the core has no such rule, or:
 *   -TACT_E_INVAL  another argument is NULL, or the block is empty
 */
int tact_explain_dsb(struct tact_block *block, struct tact_front_end_group *groups, size_t capacity,
		     unsigned *iterations);

/* ---- many blocks ---- */

/* One block to predict.  The jobs of an array all have the size of the first one, which is the
 * distance from one to the next.
 */
struct tact_job {
	size_t size;	     /* sizeof(struct tact_job), set by the caller */
	const uint8_t *code; /* borrowed during the call */
	size_t code_size;
	int status; /* out: 0, or what tact_block_load or tact_predict failed with */
	struct tact_prediction prediction; /* out; its size is set by the library */
};
#define TACT_JOB_INIT TACT_SIZED(struct tact_job)

/* Threads that predict blocks, each with a block of its own that remembers decoded instructions.
 * Between runs they sleep.  The handle belongs to one thread at a time; a process that forks must
 * not use it in the child.
 */
struct tact_predictor;

/* Creates a predictor for one microarchitecture with up to `threads` threads (0: one per core), the
 * calling one included; they are started when a run first needs them.  block_opt and opt may be
 * NULL and are copied.  arch is borrowed as in tact_block_create.  The caller owns *out and gives
 * it to tact_predictor_destroy.
 *
 * Returns 0, or with *out set to NULL:
 *   -TACT_E_INVAL  out or arch is NULL, or options have values that this library does not know
 *   -TACT_E_NOMEM  out of memory
 */
int tact_predictor_create(struct tact_predictor **out, const struct tact_arch *arch,
			  const struct tact_block_options *block_opt,
			  const struct tact_predict_options *opt, unsigned threads,
			  struct tact_diag *diag);

/* Destroys a predictor and ends its threads.  NULL is allowed. */
void tact_predictor_destroy(struct tact_predictor *predictor);

/* Predicts n blocks.  If there are few, the calling thread predicts them alone, without waking the
 * others.  No one else may use the jobs meanwhile.
 *
 * Returns the number of jobs that failed, or with no job done:
 *   -TACT_E_INVAL  predictor is NULL, jobs is NULL and n is not 0, or the size of the first job is
 *                  too small for a status, or not a multiple of the alignment of struct tact_job
 *   -TACT_E_NOMEM  out of memory
 */
long tact_predictor_run(struct tact_predictor *predictor, struct tact_job *jobs, size_t n);

/* Predicts n blocks with a predictor that is created and destroyed for them.  A program that does
 * so more than once keeps a predictor instead.  Returns what tact_predictor_create and
 * tact_predictor_run return.
 */
long tact_predict_batch(const struct tact_arch *arch, const struct tact_block_options *block_opt,
			const struct tact_predict_options *opt, struct tact_job *jobs, size_t n,
			unsigned threads);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PREDICT_H */

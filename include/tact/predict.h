/* SPDX-License-Identifier: MIT
 *
 * Analytical throughput prediction: FACILE's bounds, and some that measurements ask for.
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
	TACT_N_BOUNDS
};

/* "Predecoder", "Decoder", ...: for people; "predec", "dec", ...: columns and options. */
const char *tact_bound_name(enum tact_bound bound);
const char *tact_bound_column(enum tact_bound bound);

struct tact_predict_options {
	size_t size;
	uint32_t bounds;	/* bit per enum tact_bound: those that count; 0: all */
	bool simple_predecoder; /* SimplePredec and SimpleDec of the paper, for comparison */
	bool simple_decoder;
	bool exact_ports; /* all sets of ports instead of the unions of pairs */
};

struct tact_prediction {
	size_t size;
	double cycles_per_iteration;
	double coverage;      /* share of the instructions with data; below 1 the cycles are a lower
				 bound */
	enum tact_mode mode;  /* LOOP or UNROLL */
	uint32_t applies;     /* bit per bound: it was computed and counts */
	uint32_t bottlenecks; /* bits of the bounds that equal the maximum */
	double bound[TACT_N_BOUNDS]; /* cycles per iteration if this were the only limit */
};

/* Predicts a loaded block.  opt may be NULL.  Does not allocate once the block's buffers have
 * grown. Returns -TACT_E_INVAL for an empty block, -TACT_E_NOMEM.
 */
int tact_predict(struct tact_block *block, const struct tact_predict_options *opt,
		 struct tact_prediction *out);

/* ---- why ---- */

/* Ports: the set of ports whose uops are the bottleneck, and the instructions that they belong to.
 */
struct tact_port_contention {
	unsigned ports;	       /* bit p: port p */
	double uops;	       /* that can go nowhere else */
	const uint32_t *insns; /* owned by the block, valid until the next call for it */
	size_t n_insns;
};
int tact_explain_ports(struct tact_block *block, struct tact_port_contention *out);

/* Dependencies, and through memory Forwarding: the cycle in the dependence graph with the largest
 * ratio. */
struct tact_chain_link {
	uint32_t insn;	     /* that the value passes through */
	unsigned latency;    /* cycles from its input to its output */
	unsigned iterations; /* 1 if the next link is in the next iteration */
	uint8_t from_kind,
		to_kind; /* how it enters and leaves: 0 register, 1 address, 2 flags, 3 memory */
	uint8_t from_reg, to_reg; /* of registers and addresses, else TACT_REG_NONE */
	uint8_t input, output;	  /* of the instruction, as the block numbers them */
};
struct tact_chain {
	double cycles_per_iteration;
	unsigned latency, iterations;
	const struct tact_chain_link
		*links; /* owned by the block, valid until the next call for it */
	size_t n_links;
};
int tact_explain_chain(struct tact_block *block, struct tact_chain *out);

/* What people call the value of a link or an edge: a register, "flags" or "memory". */
const char *tact_explain_value(const struct tact_block *block, unsigned kind, unsigned reg);

/* Blocked: loads that need bytes which the last store to them does not hold all.  *cursor begins at
 * 0 and is advanced.  Returns 1, or 0 behind the last one.
 */
struct tact_blocked_load {
	uint32_t load, store; /* instructions */
	unsigned iterations;  /* 1: the store is in the iteration before */
};
int tact_explain_blocked(const struct tact_block *block, size_t *cursor,
			 struct tact_blocked_load *out);

/* Edges of the dependence graph, for drawing: *cursor begins at 0 and is advanced.  Returns 1, or 0
 * behind the last one.
 */
struct tact_edge {
	uint32_t from, to; /* instructions */
	unsigned latency;  /* of `from` to the value, on its slowest path */
	unsigned iterations;
	uint8_t kind, reg; /* of the value: as in struct tact_chain_link */
};
int tact_block_edge(const struct tact_block *block, size_t *cursor, struct tact_edge *out);

/* Front end: one 16-byte block of the predecoder, or one group of the decoders. */
struct tact_front_end_group {
	uint32_t first_insn,
		n_insns; /* in the order of the (unrolled) code, modulo the block's length */
	unsigned cycles, lcp_cycles;
};
/* Fills up to `capacity` groups and returns how many there are in the steady state. */
int tact_explain_predecoder(struct tact_block *block, struct tact_front_end_group *groups,
			    size_t capacity, unsigned *iterations);
int tact_explain_decoder(struct tact_block *block, struct tact_front_end_group *groups,
			 size_t capacity, unsigned *iterations);

/* ---- many blocks ---- */

struct tact_job {
	const uint8_t *code; /* borrowed */
	size_t code_size;
	int status;			   /* out: 0 or -TACT_E_* */
	struct tact_prediction prediction; /* out */
};

/* Predicts n blocks on up to `threads` threads (0: all cores).  Returns the number that failed, or
 * -TACT_E_NOMEM, -TACT_E_INVAL.
 */
long tact_predict_batch(const struct tact_arch *arch, const struct tact_block_options *block_opt,
			const struct tact_predict_options *opt, struct tact_job *jobs, size_t n,
			unsigned threads);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PREDICT_H */

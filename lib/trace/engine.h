/* SPDX-License-Identifier: MIT
 *
 * Cycles of a program: what the files of the engine share.
 */
#ifndef TRACE_ENGINE_H
#define TRACE_ENGINE_H

#include <tact/cycles.h>

#include "block/block.h"
#include "trace/branch_predictor.h"
#include "trace/caches.h"
#include "trace/memo.h"

/* A block of the trace. */
struct engine_code {
	const struct tact_trace_block *block; /* NULL: not executed so far */
	bool is_known;			      /* its instructions could be decoded */
	bool is_added;			      /* the pipelines have it */
	uint32_t number;		      /* there */
	uint32_t unknown;		      /* instructions without data */
	enum branch_kind branch;	      /* that it ends with */
	uint64_t branch_address, end;
	uint64_t executions, simulated;
	double cycles;
	/* What the pipelines saw of it before they forgot it. */
	uint64_t seen;
	float uops[16], stalls[TACT_N_STALLS];
};

enum {
	ENGINE_CONTEXT = 16, /* blocks before an execution that are its context */
	ENGINE_MEDIUM = 6,   /* and smaller ones, for contexts that are new */
	ENGINE_SHORT = 2,
	ENGINE_SIZES = 3,
	ENGINE_MEETING = 32,  /* executions back that a store may still be forwarded from */
	ENGINE_RECENT = 128,  /* blocks that are remembered, to fill the pipeline again */
	ENGINE_STORES = 4096, /* eight bytes each, whose last store is remembered */
	ENGINE_PENDING = 4096 /* executions in flight: as many as a stream takes */
};

/* An execution that is in the pipeline. */
struct engine_pending {
	uint64_t key[ENGINE_SIZES]; /* of its contexts, the largest first */
	uint32_t code;
	bool is_counted;
	bool is_new; /* the first execution of its block that is simulated */
};

/* A thread of the program. */
struct engine_thread {
	uint32_t id;
	bool is_over;
	struct tact_cycles *owner;   /* borrowed */
	struct tact_stream *stream;  /* owned */
	struct caches *caches;	     /* owned; NULL: not asked for */
	struct predictor *predictor; /* likewise */
	double cycles;
	uint64_t instructions, simulated;

	/* What was executed last, as numbers of codes and where. */
	struct {
		uint32_t code;
		uint64_t address;
	} recent[ENGINE_RECENT];
	uint64_t n_executed;
	uint64_t context[ENGINE_CONTEXT]; /* hashes of the last blocks */
	uint64_t rolling[ENGINE_SIZES];	  /* of so many of them together */

	/* What was stored last, by granule of eight bytes. */
	struct {
		uint64_t address, execution; /* from 1 */
		uint16_t insn;
		uint8_t size;
	} stores[ENGINE_STORES];

	/* The pipeline. */
	struct engine_pending pending[ENGINE_PENDING];
	uint64_t n_fed, n_retired;
	uint64_t last_cycle; /* of a retirement */

	/* Without it. */
	bool is_skipping;
	unsigned calm;	  /* executions in a row whose context is known */
	unsigned sampled; /* executions since the pipeline was entered */
	uint64_t skip_limit;
	uint64_t skipped;	      /* since the pipeline was left */
	double new_cycles, new_insns; /* of blocks that were simulated for the first time */
	double debt;		      /* contexts that were new, the older the less */
};

/* Somebody wants to see uops of the first thread. */
struct engine_watch {
	struct engine_thread *thread; /* borrowed; NULL: there is none yet */
	uint64_t first, last;
	void (*on_uop)(void *arg, const struct tact_trace_block *block,
		       const struct tact_sim_uop *uop);
	void *arg;
};

struct tact_cycles {
	const struct tact_arch *arch;
	struct tact_cycles_options opt;
	struct tact_block *block; /* owned; for decoding */
	const struct tact_trace_block
		*loaded;	    /* that it holds, as the pipelines want it; NULL: none */
	struct tact_stream *stream; /* owned; it has the blocks, and executes nothing */
	struct engine_code *codes;  /* owned; by number of the trace */
	size_t n_codes, code_capacity;
	size_t n_added;			/* that the pipelines have */
	struct engine_thread **threads; /* owned */
	size_t n_threads, thread_capacity;
	struct engine_thread *last; /* that an event was for */
	struct memo memo[ENGINE_SIZES];
	uint64_t powers[ENGINE_SIZES];	     /* for keys */
	struct tact_stream_access *accesses; /* owned; of the execution at hand */
	size_t access_capacity;
	struct engine_watch *watch; /* owned; NULL: nobody watches */
	uint64_t accesses_seen, misses[CACHE_LEVELS], branches, mistakes;
};

/* A block is executed.  Returns 0, -TACT_E_NOMEM. */
int engine_execute(struct engine_thread *t, uint32_t code, const struct tact_trace_event *event);

void engine_init_powers(uint64_t *powers);

/* Lets the pipelines have a block that they have forgotten.  Returns 0 or -TACT_E_NOMEM. */
int engine_add_code(struct tact_cycles *c, struct engine_code *code);

/* For tact_stream_on_retire, with the thread. */
void engine_retired(void *thread, uint64_t cycle);

/* What a block took, without FACILE's bound. */
void engine_fill_block(const struct tact_cycles *c, const struct engine_code *code,
		       struct tact_cycles_block *out);

/* The thread is the one to watch, if there was none before. */
void engine_watch(struct engine_thread *t);

/* All that is in flight retires. */
int engine_drain(struct engine_thread *t);

#endif /* TRACE_ENGINE_H */

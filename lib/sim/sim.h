/* SPDX-License-Identifier: MIT
 *
 * A cycle-level pipeline.  One file a stage; pipeline.c calls them in order, retirement first,
 * fetch last.
 *
 *   program.c    what each instruction of the block becomes: uops with their sources and results
 *   fetch.c      predecoder, instruction queue, decoders, microcode sequencer, DSB, LSD -> IDQ
 *   rename.c     IDQ -> reorder buffer and reservation station: idioms, moves, binding to ports
 *   schedule.c   reservation station -> ports; results
 *   retire.c     in order, out of the reorder buffer
 *   pipeline.c   the cycle, and the steady state
 */
#ifndef TACT_SIM_PRIVATE_H
#define TACT_SIM_PRIVATE_H

#include <tact/pipeline.h>

#include "block/block.h"

enum {
	SIM_MAX_UOPS =
		48, /* uops of one instruction; of longer microcode only so many are followed */
	SIM_MAX_PORTS = 16,
	SIM_SLOTS = 1024, /* instances of instructions that are remembered; a power of two */
	SIM_ROB = 1024,	  /* rings: powers of two above what any core has */
	SIM_RS = 512,
	SIM_IDQ = 1024,
	SIM_IQ = 256,
	SIM_CALENDAR = 4096, /* cycles that are planned ahead */
	SIM_WAITERS = 4096,
	SIM_BUSY = 64,
	SIM_RECORDS = 8192, /* uops in flight, for those who watch */
	SIM_NEVER = 0x3fffffff,
	SIM_SYNC =
		SIM_MAX_UOPS /* the stack engine's uop, as a uop of the instruction that needs it */
};

enum sim_kind { SIM_ALU, SIM_LOAD, SIM_STORE_ADDRESS, SIM_STORE_DATA, SIM_NOTHING };

/* Where a uop gets a value from: an input of the instruction, or another uop of it. */
struct sim_source {
	bool is_internal;
	uint8_t index;	  /* of the input, or of the uop */
	uint16_t latency; /* internal: added to that uop's result */
};

/* An unfused uop of an instruction. */
struct sim_uop {
	uint16_t ports;
	uint8_t kind; /* enum sim_kind */
	uint8_t n_sources;
	uint32_t first_source; /* in the program's list */
	uint16_t divider;
	uint16_t latency; /* from its dispatch to what other uops of the instruction get from it */
	bool makes_outputs; /* its dispatch decides when the instruction's outputs are ready */
};

/* An instruction of the block; a macro-fused pair is one. */
struct sim_insn {
	uint32_t insn; /* in the block */
	uint32_t first_uop;
	uint32_t first_group; /* in the program's list: number of unfused uops of each fused one */
	uint16_t n_uops, n_fused, n_decoded, mite, ms;
	uint8_t n_outputs;
	uint16_t output_latency[LOWERED_MAX_OUT]; /* from the dispatch of the uop that makes them */
	uint16_t cycles;  /* measured throughput, where nothing else explains it; 0: none */
	uint16_t forward; /* cycles from a store's data to the result of the load that takes it */
	bool eliminated, eliminated_vector, complex_decoder, is_branch, fusible, is_pair,
		stack_sync;
	uint8_t simple_beside;
};

struct sim_program {
	struct sim_insn *insns;
	size_t n_insns, insn_capacity;
	struct sim_uop *uops;
	size_t n_uops, uop_capacity;
	struct sim_source *sources;
	size_t n_sources, source_capacity;
	uint8_t *groups;
	size_t n_groups, group_capacity;
	uint32_t *of_block_insn; /* the program's instruction for each one of the block */
	size_t of_capacity;
};

int sim_program_build(struct sim_program *p, const struct tact_block *block);
void sim_program_fini(struct sim_program *p);

/* Instances are named by iteration and number in one word: iteration << SIM_NUMBER_BITS | number.
 */
enum { SIM_NUMBER_BITS = 17 };

static inline uint64_t sim_iteration(uint64_t id)
{
	return id >> SIM_NUMBER_BITS;
}

static inline uint32_t sim_number(uint64_t id)
{
	return (uint32_t)id & ((1u << SIM_NUMBER_BITS) - 1);
}

/* The one behind it, where an iteration has n. */
static inline uint64_t sim_next(uint64_t id, size_t n)
{
	return sim_number(id) + 1 < n ? id + 1 : (sim_iteration(id) + 1) << SIM_NUMBER_BITS;
}

/* An instance of an instruction, from the renamer on. */
struct sim_instance {
	int32_t output[LOWERED_MAX_OUT];  /* cycle in which it is ready, or SIM_NEVER */
	int32_t result[SIM_MAX_UOPS + 1]; /* of its uops for each other: cycle of dispatch */
	uint64_t alias_id;		  /* eliminated: where its output comes from */
	uint8_t alias_output;
	bool is_alias;
	uint16_t waiter[LOWERED_MAX_OUT],
		internal_waiter[SIM_MAX_UOPS + 1]; /* heads of lists, 0: none */
};

/* A uop in the reservation station. */
struct sim_entry {
	uint64_t age;
	uint64_t id; /* of its instance */
	uint8_t uop; /* of the instruction */
	uint8_t port;
	uint16_t unknown; /* sources that are not known yet */
	bool is_live;
	bool is_load_pending; /* dispatched; waits for the data of a store */
	uint16_t rob;
	int32_t ready, issued;
	uint32_t producer; /* instruction of the block whose result came last */
	uint16_t record;   /* for those who watch */
	uint16_t next;	   /* in the calendar or in the list of free ones */
};

struct sim_rob_entry {
	uint64_t id;
	uint16_t remaining; /* uops that are not executed */
	int32_t finish;
	bool ends_insn;
	uint16_t first_record, n_records;
};

struct sim_waiter {
	uint16_t entry, next;
	uint16_t latency;
};

/* What an instruction of the program did since the statistics began. */
struct sim_stats {
	uint32_t port[SIM_MAX_PORTS], divider;
	uint64_t wait_operand, wait_port;
};

struct sim_state {
	const struct tact_block *block;
	const struct arch_params *params;
	const struct sim_program *program;
	int32_t clock;

	/* fetch */
	enum block_source source;
	uint64_t next_raw; /* instruction of the block to be predecoded, named as instances are */
	int stall, block_cycles; /* of the predecoder */
	bool has_partial;	 /* an instruction that crosses into the next block */
	uint64_t block_end;	 /* address where the current 16-byte block ends; 0: none */
	unsigned held;		 /* predecoded instructions that a stall holds back */
	unsigned iq_head, iq_count;
	uint64_t next_fetch; /* instance that goes to the IDQ next (DSB, LSD) */
	unsigned fetch_uop;  /* decoded uops of it that are delivered */
	unsigned ms_left, ms_next, ms_stall,
		ms_after; /* microcode: uops, stalls before and behind */
	uint64_t ms_id;
	int64_t next_iteration_at; /* hundredths of a cycle: small loops from the DSB */
	unsigned idq_head, idq_count;

	/* rename */
	uint8_t port_use[SIM_MAX_PORTS], use_before[2][SIM_MAX_PORTS]; /* uops bound to each port */
	uint8_t alternate[3]; /* loads, store addresses, store data: which one next */
	int sync_pending;
	uint64_t age;
	int32_t rob_full, rs_full; /* last cycle in which that kept the renamer from working */

	/* reorder buffer and reservation station */
	unsigned rob_head, rob_count;
	unsigned rs_count;
	uint16_t rs_free, rs_used; /* list of free entries; entries that were ever used */
	uint16_t waiter_free, waiters_used;
	unsigned n_ready[SIM_MAX_PORTS];
	unsigned ready_ports; /* bit p: something is ready for port p */
	unsigned dispatched;  /* bit p: port p took a uop in this cycle */
	int32_t divider_free;
	int32_t insn_free[SIM_BUSY]; /* instructions that do not overlap with themselves */

	/* those who watch */
	struct sim_stats *stats; /* one an instruction of the program; owned by the simulator */
	bool watch;		 /* somebody wants to see uops */
	int (*on_uop)(void *arg, const struct tact_sim_uop *uop);
	void *on_uop_arg;
	uint16_t next_record;
	bool stop; /* it has seen enough */

	uint64_t retired; /* iterations */
	bool overflow;	  /* a ring was too small: the result is void */

	uint16_t calendar[SIM_CALENDAR];
	uint64_t slot_id[SIM_SLOTS]; /* instance in each slot */

	/* Not cleared between runs: what is in use is told above. */
	struct {
		uint64_t raw;
		int32_t at;
	} iq[SIM_IQ];
	struct {
		uint64_t id;
		uint16_t uop;
		int32_t at;
	} idq[SIM_IDQ]; /* decoded uops */
	struct sim_rob_entry rob[SIM_ROB];
	struct sim_entry rs[SIM_RS];
	uint16_t ready[SIM_MAX_PORTS][SIM_RS];
	struct sim_waiter waiters[SIM_WAITERS];
	struct sim_instance slots[SIM_SLOTS];
	struct tact_sim_uop record[SIM_RECORDS];
};

void sim_fetch(struct sim_state *s);
void sim_rename(struct sim_state *s);
void sim_schedule(struct sim_state *s);
void sim_retire(struct sim_state *s);

/* Enters a uop of an instance into the reservation station; its port is chosen. */
void sim_schedule_add(struct sim_state *s, uint64_t id, unsigned uop, unsigned port, uint16_t rob,
		      uint16_t record);

/* The instruction of an instance, its slot, and whether it is still there. */
static inline const struct sim_insn *sim_insn_of(const struct sim_state *s, uint64_t id)
{
	return &s->program->insns[sim_number(id)];
}

static inline unsigned sim_slot(const struct sim_state *s, uint64_t id)
{
	return (unsigned)(sim_iteration(id) * s->program->n_insns + sim_number(id)) &
	       (SIM_SLOTS - 1);
}

static inline struct sim_instance *sim_instance_of(struct sim_state *s, uint64_t id)
{
	return &s->slots[sim_slot(s, id)];
}

static inline bool sim_is_there(const struct sim_state *s, uint64_t id)
{
	return s->slot_id[sim_slot(s, id)] == id;
}

/* The instance that makes what an input of another one needs; false: there is none, or it was long
 * before the first iteration.
 */
static inline bool sim_producer(const struct sim_state *s, uint64_t id,
				const struct block_node *node, uint64_t *producer)
{
	if (node->producer == BLOCK_NO_PRODUCER || sim_iteration(id) < node->iterations)
		return false;
	*producer = (sim_iteration(id) - node->iterations) << SIM_NUMBER_BITS |
		    s->program->of_block_insn[node->producer];
	return true;
}

/* ---- steady.c ---- */

/* A number for the state, relative to the present cycle and iteration: equal states have equal
 * ones. The outline leaves the contents of reorder buffer and reservation station aside and costs
 * little: as long as it is new, the state is.
 */
uint64_t sim_outline_hash(const struct sim_state *s, uint64_t iteration);
uint64_t sim_state_hash(const struct sim_state *s, uint64_t iteration, uint64_t outline);

/* ---- pipeline.c ---- */

struct sim_result {
	double cycles_per_iteration;
	bool repeats; /* the state was there before; otherwise an average of the second half */
	uint64_t period;
	uint64_t cycles, iterations;
	uint64_t counted; /* iterations that the statistics are of */
};
struct sim_run_options {
	uint64_t max_cycles;
	int (*on_uop)(void *arg, const struct tact_sim_uop *uop); /* NULL: nobody watches */
	void *arg;
	uint64_t min_iterations; /* that are simulated even if the state repeats earlier */
	struct sim_stats *stats;
};
int sim_run(struct sim_state *s, const struct tact_block *block, const struct sim_program *program,
	    const struct sim_run_options *opt, struct sim_result *out);

/* ---- watch.c: only called if somebody watches ---- */

/* A uop was issued from the IDQ entry at `delivered`; returns the number of its record. */
uint16_t sim_watch_issue(struct sim_state *s, uint64_t id, unsigned uop, unsigned slot, int port,
			 int32_t delivered);
void sim_watch_dispatch(struct sim_state *s, const struct sim_entry *e, int32_t ready);
/* Its result is there in cycle `result`. */
void sim_watch_finish(struct sim_state *s, const struct sim_entry *e, int32_t result,
		      bool waited_for_store);
void sim_watch_retire(struct sim_state *s, const struct sim_rob_entry *e);

#endif /* TACT_SIM_PRIVATE_H */

/* SPDX-License-Identifier: MIT
 *
 * A cycle-level pipeline.  One file per stage; pipeline.c calls them in order, retirement first,
 * fetch last.
 *
 *   program.c    what each instruction of the block becomes: uops with their sources and results
 *   compute.c    those of them that compute, each for the results that it makes
 *   draft_memory.c  those that load and store
 *   program_copy.c  all instructions of a block, and a copy of these in one piece of memory
 *   ahead.c      lines of code that are fetched ahead of the decoders, in a stream
 *   fetch.c      predecoder, instruction queue, decoders, microcode sequencer, DSB, LSD -> IDQ
 *   rename.c     IDQ -> reorder buffer and reservation station: idioms, moves
 *   bind.c       the port of a uop
 *   stack.c      where the stack pointer comes from if the stack engine makes it
 *   moves.c      which moves the renamer eliminates
 *   wake.h       what renamer and scheduler share: uops that wait for values
 *   schedule.c   reservation station -> ports; results
 *   ready.h      what is ready, by port and age
 *   retire.c     in order, out of the reorder buffer
 *   in_order.c   CPUs that execute in order: IDQ -> units, in place of renamer and scheduler
 *   in_order_code.c  what each instruction of the block is for that
 *   pipeline.c   the cycle; one block that repeats, and its steady state
 *   stream.c     different blocks, one after the other
 *   trips.c      loads and stores of a stream that miss the first-level cache
 *   arrivals.c   when lines arrive
 *   wrong_path.c, ghosts.c  what a stream executes behind a mispredicted branch
 */
#ifndef TACT_SIM_PRIVATE_H
#define TACT_SIM_PRIVATE_H

#include <tact/pipeline.h>

#include "arch/arch_llvm.h"
#include "arch/units.h"
#include "block/block.h"
#include "block/dsb_line.h"
#include "block/dsb_pairs.h"
#include "sim/arrivals.h"
#include "sim/wrong_path.h"

enum {
	SIM_MAX_UOPS =
		192, /* uops of one instruction; of longer microcode the rest only takes time */
	SIM_FEW_UOPS = 4, /* most instructions have no more */
	SIM_SLOTS = 1024, /* instances of instructions that are remembered; a power of two */
	SIM_ROB = 1024,	  /* rings: powers of two above what any core has */
	SIM_RS = 1024,	  /* loads that wait for stores stay there */
	SIM_IDQ = 1024,
	SIM_IQ = 256,
	SIM_HOLD = 8,	     /* more than the largest port_rs_hold */
	SIM_LOAD_RING = 128, /* longest time to the completion of a load that is followed */
	SIM_CALENDAR = 4096, /* cycles that are planned ahead */
	SIM_WAITERS = 4096,
	SIM_RECORDS = 8192,	/* uops in flight, for sinks */
	SIM_FEEDS = 2048,	/* of a stream: more than can wait and be in flight */
	SIM_STORES = 1024,	/* that wait to leave; a power of two */
	SIM_GRANULES = 4096,	/* of memory, eight bytes each, whose last store is remembered */
	SIM_CODE_LINES = 32,	/* of code, on their way at the same time */
	SIM_LOW = 512,		/* of a page of 4096 bytes */
	SIM_MEETINGS = 4096,	/* instructions that load, and what they met */
	SIM_LAST_STORES = 1024, /* instructions that store, and their last execution */
	SIM_STACK_WORDS = 1,	/* an address by the stack pointer */
	SIM_MOVE_SLOTS = 64,	/* of a register file: what params.def allows */
	SIM_RESULTS = 64,	/* cycles until results that can collide */
	SIM_KEYS = ISA_MAX_KEYS,
	SIM_KEY_NONE =
		SIM_KEYS, /* of outputs that do not exist or go to memory: it is never read */
	SIM_NO_KEY = 255,
	SIM_SYNC_OUTPUT = 254, /* what SIM_SYNC makes, as an output */
	SIM_NEVER = 0x3fffffff,
	SIM_SYNC = SIM_MAX_UOPS /* the uop of the stack engine, or one that joins a register, as a
				   uop of the instruction that needs it */
};

/* Why nothing retires: what the oldest uop waits for. */
enum sim_stall {
	SIM_STALL_FRONT_END, /* there is no uop */
	SIM_STALL_OPERANDS,
	SIM_STALL_LOADS, /* a load that is not finished */
	SIM_STALL_PORTS,
	SIM_STALL_BRANCH, /* there is no uop, after a mispredicted branch */
	SIM_STALL_EXECUTION,
	SIM_STALL_STORES, /* there is no uop, because there is no room for another store */
	SIM_STALL_LOCKED,
	SIM_STALL_SERIALIZING,
	SIM_STALL_STRINGS,
	SIM_N_STALLS
};

enum sim_kind { SIM_ALU, SIM_LOAD, SIM_STORE_ADDRESS, SIM_STORE_DATA };

/* What a uop needs for itself: the divider; or that no other instruction of its kind runs (locked
 * ones, those of the system); or its port, for many cycles (units of LLVM's CPUs).  FACILE's bound
 * adds them up in the same way.
 */
enum sim_need { SIM_NEEDS_NOTHING, SIM_NEEDS_DIVIDER, SIM_NEEDS_SOLITUDE, SIM_NEEDS_PORT };

/* Where a uop gets a value from: another uop of the instruction, or one of its inputs. */
enum sim_source_kind { SIM_FROM_UOP, SIM_FROM_INPUT };
struct sim_source {
	uint8_t kind;	 /* enum sim_source_kind */
	uint8_t index;	 /* of the input, or of the uop */
	int16_t latency; /* added to the dispatch of the uop, or to when the input is ready */
};

/* A value that an instruction reads. */
struct sim_input {
	uint8_t kind;  /* enum value_kind */
	uint8_t key;   /* below SIM_KEYS */
	uint8_t stack; /* enum value_stack */
};

/* An unfused uop of an instruction. */
struct sim_uop {
	uint32_t ports, taken_ports; /* for a taken branch; 0: no difference */
	uint16_t divider;	     /* cycles that it needs that, or its port */
	uint16_t latency; /* from its dispatch to what other uops of the instruction get from it */
	uint32_t first_source; /* in the program's list */
	uint8_t kind;	       /* enum sim_kind */
	uint8_t n_sources;     /* that it waits for before it can run */
	uint8_t n_memory;      /* for a load: inputs from memory, in the list after those */
	uint8_t makes;	  /* bit o: its dispatch decides when output o is ready; 0 for memory */
	uint8_t need;	  /* enum sim_need */
	uint8_t result;	  /* cycles until it writes a general register; 0: it cannot collide */
	uint8_t together; /* for a load: so many of its kind at most in one cycle; 0: no limit */
	bool in_window;	  /* a load that counts as in flight */
	bool is_double;	  /* holds its port twice as long for others of its kind */
};

/* An instruction of the block; a macro-fused pair is one.  The fields that every execution needs
 * come first, within 64 bytes.
 */
struct sim_insn {
	uint32_t insn; /* in the block */
	uint32_t first_uop;
	uint32_t first_group; /* in the program's list: number of unfused uops of each fused one */
	uint32_t first_input;
	uint16_t n_uops, n_fused, n_decoded;
	uint16_t n_direct; /* decoded ones that do not come from the microcode sequencer */
	uint8_t n_inputs, n_outputs;
	uint8_t memory_outputs; /* bit o: goes to memory */
	uint8_t unmade_outputs; /* bit o: no uop that is followed makes it */
	uint8_t n_store_uops;
	uint8_t n_window;    /* loads that count as in flight */
	uint8_t extra_slots; /* in its line of the DSB */
	uint8_t constants;   /* there */
	uint8_t merge_key;   /* register that is first joined with its high byte, or SIM_NO_KEY */
	bool is_last;	     /* of the block */
	uint8_t output_key[LOWERED_MAX_OUT];	  /* also for outputs that do not exist */
	uint16_t output_latency[LOWERED_MAX_OUT]; /* from the dispatch of the uop that makes them */
	uint16_t holds;	 /* cycles that what follows waits for, after it was renamed */
	uint16_t rest;	 /* cycles in which its uops issue that are not followed */
	bool serializes; /* Intel SDM, volume 3, 9.3; lfence: waits for everything, and everything
			    waits for it */
	bool eliminated, is_pair, names_stack, writes_stack, changes_stack, uses_memory;
	bool stack_sync;	/* if the block repeats */
	uint64_t written_moves; /* bit r: writes register r, if moves.c knows it */

	bool takes_stored, leaves_stored; /* as in struct block_lowered */
	bool loads_at_once; /* its uops that load are one load which takes several units or cycles */
	uint32_t words;	    /* how its address is spelled; 0: it has none */
	/* As in struct block_lowered, for streams: */
	int8_t turn;
	bool exchanges;
	uint8_t exchanged[2];
	bool makes_late_flags, takes_late_flags; /* see the parameter late_flags */
	bool complex_decoder, is_branch, fusible, is_split;
	int16_t added; /* by the renamer, if it executes it */
	uint8_t simple_beside;
	uint16_t mite, ms, fused; /* all of them: n_fused has a limit */
	/* Cycles in which the DSB and the sequencer deliver what is not followed. */
	uint16_t direct_rest, sequencer_rest;
	uint16_t cycles; /* measured throughput, where nothing else explains it; 0: none */
	uint8_t bank_offset, bank_bytes, bank_step; /* as in struct block_insn */
	uint64_t banks;	   /* of every iteration; 0: they differ, or are not known */
	uint16_t forward;  /* cycles from a store's data to the result of the load that takes it */
	uint8_t own_stall; /* enum sim_stall: what it is that waits for its own execution */
	bool exchanges_memory; /* its load makes what it stores */
};

/* An instruction as issue in order sees it (struct block_issue). */
struct sim_order {
	uint64_t groups;
	uint32_t first_use, first_advance; /* in the program's lists */
	uint16_t micro_ops, latency, first_write;
	uint16_t load_extra; /* cycles that its load takes longer than from the first level */
	uint8_t n_uses, n_advances;
	bool has_overlapping_groups;
	bool loads, stores, load_barrier, store_barrier, begins_group, ends_group, retires_early;
	bool exchanges_memory; /* loads what it stores a result of */
	uint16_t made[LOWERED_MAX_OUT], write_id[LOWERED_MAX_OUT];
	uint16_t forwarded[LOWERED_MAX_OUT]; /* from a store that its load meets */
};

/* What the front end sees of an instruction of the block. */
struct sim_raw {
	uint32_t insn;	 /* of the program */
	uint32_t offset; /* in the code */
	uint8_t length, opcode_offset;
	bool has_lcp, fused_prev, is_nop;
};

/* What an instruction of the program did since the statistics began. */
struct sim_stats {
	uint32_t port[TACT_MAX_PORTS]; /* uops; stops at its largest value */
	uint64_t divider, wait_operand, wait_port;
	uint64_t spent; /* cycles from the retirement of the previous instruction to its own */
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
	struct sim_input *inputs;
	size_t n_inputs, input_capacity;
	struct block_node *nodes; /* where inputs come from if the block repeats */
	size_t node_capacity;
	struct sim_raw *raws; /* one per instruction of the block */
	size_t n_raws, raw_capacity;
	struct block_node *sync_nodes; /* of insns: what SIM_SYNC makes the stack pointer from if
					  the block repeats */
	size_t sync_capacity;
	/* For CPUs that execute in order; parallel to insns. */
	struct sim_order *orders;
	size_t order_capacity;
	struct llvm_use *uses;
	size_t n_uses, use_capacity;
	struct block_advance *advances;
	size_t n_advances, advance_capacity;
	uint8_t *merges; /* of the block's instructions: the register that is first joined */
	size_t merge_capacity;
	unsigned n_decoded; /* uops of all instructions */
	unsigned n_slots;   /* of the DSB that they take */
	uint32_t code_size;
	bool has_lcp; /* an instruction has a prefix that changes its length */

	/* For a copy: everything is in one piece, beginning with what every execution needs. */
	void *memory;
	size_t hot_size;
	struct sim_stats *stats; /* one per instruction */
};

/* Builds the program of a block, which it does not refer to afterwards.  For a stream it is open
 * whether the last branch is taken.  Returns 0 or -TACT_E_NOMEM.
 */
int sim_program_build(struct sim_program *p, const struct tact_block *block, bool for_stream);
void sim_program_fini(struct sim_program *p);

/* Makes what reads the stack pointer wait for the stack engine's uops; for a block that repeats. */
void sim_connect_stack(struct sim_program *p);

/* Adds instruction i of the block, and the next one if they are macro-fused. */
void sim_program_add(struct sim_program *p, const struct tact_block *block, size_t i,
		     bool for_stream);

/* Adds the instruction that was added last, for issue in order; with sim_draft_in_order (draft.h).
 * Returns 0 or -TACT_E_NOMEM.
 */
int sim_order_add(struct sim_program *p, const struct block_insn *bi);

/* Copies a program for a stream, into one piece of memory and with statistics, which are zero.
 * Returns 0 or -TACT_E_NOMEM; even then `to` may be given to sim_program_fini.
 */
int sim_program_copy(struct sim_program *to, const struct sim_program *from);

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

/* Returns the next instance, where an iteration has n. */
static inline uint64_t sim_next(uint64_t id, size_t n)
{
	return sim_number(id) + 1 < n ? id + 1 : (sim_iteration(id) + 1) << SIM_NUMBER_BITS;
}

/* Where a value comes from: an output of an instance. */
struct sim_origin {
	uint64_t id;   /* SIM_NO_ID: its origin is unknown */
	uint16_t slot; /* of the instance, if it is still there */
	uint8_t output;
	bool is_blocked;     /* memory: the store does not hold all bytes that are loaded */
	bool is_narrow;	     /* so it is, but only the latency counts */
	bool is_renamed;     /* memory: what was stored is available at once */
	uint8_t early, late; /* memory: as in struct block_node */
};
#define SIM_NO_ID UINT64_MAX

/* A value of an instance: when it is ready, and which uops wait for it. */
struct sim_value {
	int32_t ready;	 /* cycle, or SIM_NEVER */
	uint16_t waiter; /* head of a list, 0: none */
};

/* An instance of an instruction, from the renamer on.  It refers to its instruction and what
 * belongs to it, so that these need not be looked up; most cases need only the first 128 bytes.
 */
struct sim_instance {
	uint64_t id;
	const struct sim_program *program;
	const struct sim_insn *insn;
	struct sim_stats *stats;
	struct sim_value *result; /* of its uops for each other: cycle of dispatch */
	struct sim_value sync;	  /* of its SIM_SYNC: cycle of dispatch */
	uint32_t number;	  /* of the instruction in the block */
	int32_t retired;	  /* cycle, or -1 */
	int32_t issued;		  /* cycle */
	uint16_t slot;
	uint16_t extra;	     /* additional cycles of its loads */
	uint8_t stores_left; /* uops that are not dispatched */
	uint8_t sync_key;    /* register that its SIM_SYNC makes, or SIM_NO_KEY */
	uint8_t n_trips;     /* accesses that are followed to where their data are */
	uint8_t loads_done;  /* uops that load, and have been executed */
	uint64_t first_trip; /* in the stream's ring */
	bool is_alias : 1, is_eliminated : 1;
	bool has_accesses : 1; /* `from` says which store its loads meet */
	bool is_late : 1;      /* its results come a cycle later: late_flags */
	struct sim_value few[SIM_FEW_UOPS];
	struct sim_value output[LOWERED_MAX_OUT];
	struct sim_origin
		from; /* for an alias, its output; otherwise the store that its loads meet */
	struct sim_origin beside; /* a store elsewhere, with the low bits of a load's address */
	struct sim_value data;	  /* what it stores, for loads that take it at once */
	int32_t stored;		  /* last dispatch of its stores' uops */
	int32_t arrived;	  /* when all that it loads is there, if it loads at once */
};

/* A uop in the reservation station. */
struct sim_entry {
	struct sim_instance *inst;
	struct sim_stats *stats;
	const struct sim_uop *u;
	uint64_t age;
	int32_t ready, issued;
	uint32_t producer; /* instruction of the block whose result came last */
	uint16_t index;	   /* its own */
	uint16_t rob;
	uint16_t unknown; /* sources that are not known yet */
	uint16_t record;  /* for sinks */
	uint16_t next;	  /* in the calendar or in the list of free ones */
	uint8_t uop;	  /* of the instruction */
	uint8_t port;
	uint8_t kind, need, makes,
		result; /* copies from `u`, which may no longer be in the cache */
	bool is_double : 1;
	bool is_live : 1;
	bool is_load_pending : 1; /* dispatched; waits for the data of a store */
	bool is_renamed : 1;	  /* which are available at once */
	uint8_t early, late;	  /* as in struct block_node */
	bool is_vector : 1;	  /* in the station of vectors */
};

struct sim_rob_entry {
	uint64_t id;
	int32_t finish;
	uint16_t slot;	    /* of its instance */
	uint16_t entry;	    /* of its last uop in the reservation station */
	uint16_t remaining; /* uops that are not executed */
	uint16_t first_record, n_records;
	bool ends_insn, ends_store, ends_block;
};

struct sim_waiter {
	uint16_t entry, next;
	int32_t latency; /* added to the cycle in which the value is ready */
};

/* A memory access of an instruction of the block. */
struct sim_access {
	uint64_t address;
	uint32_t insn;
	uint16_t size;	/* 0: a prefetch */
	uint16_t extra; /* cycles that a load takes longer than from the first-level cache */
	bool is_store;
	struct sim_trip trip; /* where its data are; only if the stream follows that */
};

/* Blocks of a stream that are waiting or in flight. */
struct sim_feed {
	const struct sim_program *program;
	struct sim_stats *stats;
	uint64_t address;
	uint32_t first_instance; /* number of its first instance in the stream, as far as slots need
				    it */
	uint32_t n_accesses;
	uint64_t first_access; /* in the ring */
	enum block_source source;
	bool is_contiguous;   /* begins where the previous one ends */
	bool has_accesses;    /* known; otherwise there is only what the block itself says */
	bool is_mispredicted; /* the branch before it was predicted to go elsewhere */
	bool misses; /* data that are not in the first level, or a page not in the first TLB */
	bool is_redirected;   /* fetch comes here when the branch before it was decoded */
	uint16_t fetch_delay; /* cycles that fetch needs to come here */
	uint64_t code_lines;  /* where its lines of code come from (struct tact_stream_execution) */
	int32_t resume_at;    /* then: when it may be fetched; 0: not known yet */
	int32_t repeat_cycles; /* of its last instruction, which repeats itself; 0: not known */
	uint64_t
		*stalls; /* cycles in which nothing retired, by enum sim_stall; NULL: not counted */
};

/* Fetch, ahead of the decoders. */
struct sim_ahead {
	uint64_t feed;	   /* block that it has come to */
	unsigned line;	   /* of that block, next */
	bool has_entered;  /* that block */
	int32_t free_at;   /* when it can enter it */
	uint64_t last;	   /* line that was missing last; address / 64 */
	int64_t filled_at; /* hundredths of a cycle: when that comes */
	unsigned first, n; /* lines on their way, in order */
	struct sim_code_line {
		uint64_t feed;
		uint32_t line; /* of the block */
		int32_t ready;
	} lines[SIM_CODE_LINES];
};

/* What a stream needs beyond the pipeline of one block. */
struct sim_stream {
	uint64_t n_feeds;
	bool is_closed;	    /* nothing follows */
	bool stack_changed; /* by push or pop, since it was last written back */
	struct sim_feed feeds[SIM_FEEDS];
	struct sim_ahead ahead;
	struct sim_origin writer[SIM_KEYS + 1];
	struct sim_granule {
		uint64_t granule; /* address / 8 */
		uint64_t id;	  /* of the store, SIM_NO_ID: none */
		int16_t offset;	  /* of the store's first byte from that of the granule */
		uint16_t size;
		uint16_t slot;
		uint8_t output;
		bool leaves_stored;
		uint32_t words, place; /* in the code, modulo 2^32 */
	} stores[SIM_GRANULES];
	struct sim_meeting {
		uint32_t load, store; /* places in the code */
		uint8_t times;	      /* that this load met this store, in sequence */
	} meetings[SIM_MEETINGS];
	struct sim_last_store {
		uint64_t id;
		uint32_t place;
	} last_stores[SIM_LAST_STORES];
	struct sim_low {
		uint64_t id, address; /* of the last store with such low bits; SIM_NO_ID: none */
		uint16_t size, slot;
	} low[SIM_LOW];
	bool follows_low;
	uint8_t renamed_sure;		  /* the parameter store_renamed_sure */
	struct sim_origin sync_origin;	  /* what SIM_SYNC of the last one is made of */
	struct sim_access *accesses;	  /* ring; owned */
	size_t access_capacity;		  /* a power of two */
	uint64_t n_accesses, next_access; /* ever entered; the first one that has not been used */
	uint64_t kept_access;		  /* the oldest one that may still be needed */
	uint32_t n_instances;		  /* ever, modulo 2^32 */

	/* Memory beyond the first level, once an execution says where its data are. */
	bool follows_trips;
	struct sim_memory memory;
	unsigned n_stores; /* that were renamed and have not left */
	unsigned leaving_head, n_leaving;
	int32_t leaving[SIM_STORES]; /* ring: when those that have retired leave, in order */
	int32_t last_left;	     /* when the last one leaves, or has left */
	struct sim_wrong_path wrong;
	uint64_t last_line;  /* where to, in parts of store_line_bytes */
	unsigned n_together; /* how many leave with it */
};

/* Issue in order. */
struct sim_in_order {
	const struct arch_llvm *llvm; /* NULL: not a CPU of LLVM */
	unsigned left, issued;	      /* micro-ops: room in this cycle, issued in it */
	unsigned carried;	      /* of the last instruction, left for the next cycles */
	bool ends_group;	      /* that one */
	/* The oldest instruction that is not issued, from when all older ones are. */
	struct sim_instance *head;
	int32_t ready;	      /* its operands are there, with their read-advances */
	int32_t stored_ready; /* all but its addresses, without: what it stores */
	int32_t ordered;      /* and it need not wait for older results or barriers */
	uint32_t producer;    /* instruction of the block whose result comes last */
	bool waits_for_load;  /* that one loads */
	bool has_producer;
	uint8_t wait;	    /* enum tact_wait: why it is not issued when its operands are there */
	int32_t write_back; /* of what was issued last */
	int32_t load_done, load_barrier, store_barrier; /* the last of each has executed */
	struct units units;
};

struct sim_state {
	const struct tact_block *block;
	const struct arch_params *params;
	const struct isa_registers *registers;
	const struct sim_program *program; /* of the block that repeats */
	struct sim_stream *stream;	   /* NULL: one block repeats */
	int32_t clock;

	/* fetch */
	enum block_source source;
	uint64_t next_raw; /* instruction of the block to be predecoded, named like instances */
	int stall, block_cycles; /* of the predecoder */
	bool has_partial;	 /* an instruction that crosses into the next block */
	uint64_t block_end;	 /* address where the current 16-byte block ends; 0: none */
	unsigned held;		 /* predecoded instructions that a stall holds back */
	unsigned iq_head, iq_count;
	struct {
		unsigned held;	     /* instructions, with those that are on their way out */
		unsigned before;     /* at the end of the cycle before the last */
		unsigned leaving[8]; /* decoded in this cycle and those before */
		int32_t at;	     /* cycle that begins */
	} iq_room;		     /* of a small queue (iq_leave_delay) */
	uint64_t next_fetch;	     /* instance that goes to the IDQ next (DSB, LSD) */
	unsigned fetch_uop;	     /* its decoded uops that are delivered */
	uint32_t
		cached; /* instructions that the DSB has, if the others are decoded; 0: all, or none */
	unsigned ms_left, ms_next, ms_stall,
		ms_after; /* microcode: uops, stalls before and after */
	uint64_t ms_id;
	const struct sim_insn *ms_insn;
	struct block_line line;	   /* read last, on cores that read one per cycle */
	bool reads_tail;	   /* next, the window in which the last branch ends */
	struct block_pairs pairs;  /* read so far, on cores that read two lines per cycle */
	bool is_stepwise;	   /* this block is read window by window, */
	bool is_due;		   /* and its next pair of lines has been waited for */
	unsigned dsb_wait;	   /* cycles until a line can be read again */
	int64_t next_iteration_at; /* hundredths of a cycle: small loops from the DSB */
	unsigned idq_head, idq_count;

	/* rename */
	uint8_t port_use[TACT_MAX_PORTS],
		use_before[2][TACT_MAX_PORTS]; /* uops bound to each port */
	/* Ports that have a limited number of places, and the port that shares those of each; its
	 * own number if none does.
	 */
	params_ports movable; /* ports whose uops may go to one that is idle */
	bool moves_late;      /* at any time, not only when their last operand has just come */
	params_ports stationed, shared; /* shared: those of alu_ports that share them */
	uint8_t shares[TACT_MAX_PORTS];
	unsigned next_port;
	struct sim_instance *renamed; /* the last one */
	/* Loads, store addresses, store data: the ports that they take in turn, or 0; which one is
	 * next.
	 */
	params_ports turns[3];
	uint8_t turn[3];
	int sync_pending;
	int n_vector_moves; /* in this cycle */
	struct {
		uint8_t set[ISA_MAX_MOVED]; /* of registers that share a physical one; 0: none */
		uint8_t members[2 * SIM_MOVE_SLOTS + 1];
		uint64_t shared; /* bit r: register r is in a set */
		/* What the renamer has added to the register that holds the value of r; bit r of
		 * `folded`: something.  Only followed if constants are so large that the sum can
		 * matter.
		 */
		int16_t added[ISA_MAX_MOVED];
		uint64_t folded;
		bool follows_added;
	} moves;
	uint64_t age;	       /* of the next uop */
	uint64_t group_age[2]; /* of the first uop of this cycle, and of the one before */
	int32_t fenced_until;  /* no serializing instruction issues before this cycle */
	int32_t held_until;    /* nothing issues before this cycle */
	bool is_serializing;   /* nothing issues before everything has retired */
	int32_t rob_full, rs_full, serialized,
		stores_full; /* last cycle in which this held up the renamer */

	/* reorder buffer and reservation station */
	unsigned rob_head, rob_count;
	unsigned rob_size; /* at most SIM_ROB */
	unsigned rs_count;
	/* For vectors, if they have a station of their own: in it and in the queue before it. */
	unsigned vec_count, vec_head, vec_queued;
	uint16_t rs_free, rs_used; /* list of free entries; entries that were ever used */
	uint16_t waiter_free, waiters_used;
	unsigned ready_begin[TACT_MAX_PORTS], ready_end[TACT_MAX_PORTS];
	unsigned ready_ports;		    /* bit p: something is ready for port p */
	uint8_t dispatched[TACT_MAX_PORTS]; /* uops that each port took in this cycle: 0 or 1 */
	uint8_t held_places[SIM_HOLD][TACT_MAX_PORTS]; /* the same of the cycles before (ring) */
	/* Loads that are not complete, and how many will be in each of the next cycles (ring). */
	unsigned n_loads;
	unsigned n_together; /* loads of this cycle of a kind that has a limit */
	uint8_t complete[SIM_LOAD_RING];
	/* Bit p: a 256-bit access still moves data through port p, from the next cycle on. */
	unsigned data_ports, next_data_ports;
	uint64_t bank_once, bank_twice; /* banks that one load, two loads of this cycle need */
	bool moves_banks;		/* an instruction has a bank_step */
	uint64_t waits_with_result;	/* age of a uop that a result keeps from its port now */
	/* Bit k: in k cycles, a result comes from this port. */
	uint64_t results[TACT_MAX_PORTS];
	params_ports held_ports;	    /* by uops that need them for many cycles */
	int32_t ports_free[TACT_MAX_PORTS]; /* these: when they are free again */
	int32_t divider_free;
	uint16_t n_blocked; /* loads that wait for a store to retire: their entries */
	int32_t alias_free; /* end of the last load that a store elsewhere delayed */
	int32_t alone_free; /* end of an instruction that does not overlap with others of its kind
			     */

	/* sinks */
	struct sim_stats *stats; /* one per instruction of the program; owned by the simulator */
	bool watch;		 /* there is a sink */
	int (*on_uop)(void *arg, const struct tact_sim_uop *uop);
	void *on_uop_arg;
	uint16_t next_record;
	bool stop; /* the sink has seen enough */

	uint64_t retired;     /* iterations */
	int32_t last_retired; /* cycle in which an instruction last retired */
	bool overflow;	      /* a ring was too small: the result is void */

	uint16_t calendar[SIM_CALENDAR];
	uint64_t slot_id[SIM_SLOTS]; /* instance in each slot */

	/* Not cleared between runs: the fields above say what is in use. */
	struct {
		uint64_t raw;
		int32_t at;
	} iq[SIM_IQ];
	struct {
		uint64_t id;
		const struct sim_insn *insn;
		int32_t at;
		uint16_t uop;
	} idq[SIM_IDQ]; /* decoded uops */
	struct sim_rob_entry rob[SIM_ROB];
	struct sim_entry rs[SIM_RS];
	uint16_t vec_queue[SIM_RS]; /* ring of entries */
	/* By age: age << 16 | entry, after ready_begin and up to ready_end; a zero before. */
	uint64_t ready[TACT_MAX_PORTS][SIM_RS + 1];
	struct {
		const struct sim_instance *store;
		uint16_t entry;
	} blocked[SIM_RS];
	struct sim_waiter waiters[SIM_WAITERS];
	struct sim_instance slots[SIM_SLOTS];
	struct sim_value many[SIM_SLOTS]
			     [SIM_MAX_UOPS]; /* results, where SIM_FEW_UOPS are too few */
	struct tact_sim_uop record[SIM_RECORDS];
	struct sim_in_order in_order; /* set up where the CPU executes in order */
};

void sim_fetch(struct sim_state *s);

/* In a stream: lets fetch go on, ahead of the decoders; tells whether the code at an address in the
 * block of an instance is still on its way; tells whether that block waits for the branch before it.
 */
void sim_ahead_run(struct sim_state *s);
bool sim_ahead_waits(struct sim_state *s, uint64_t id, uint64_t address);
bool sim_waits_for_branch(const struct sim_state *s, uint64_t id);
void sim_bind_init(struct sim_state *s);
void sim_rename(struct sim_state *s);
void sim_schedule(struct sim_state *s);
void sim_retire(struct sim_state *s);
void sim_retire_quietly(struct sim_state *s); /* without counting stalls: in order */

/* Returns the block of a stream that is issued next, if it is known. */
const struct sim_feed *sim_next_feed(const struct sim_state *s);

/* ---- in_order.c: in place of sim_rename and sim_schedule ---- */

void sim_issue(struct sim_state *s);

/* A cycle begins: ports that are held for many cycles; CPUs of LLVM, out of order. */
void sim_hold_ports(struct sim_state *s);
void sim_issue_init(struct sim_state *s, const struct tact_arch *arch);
void sim_issue_rebase(struct sim_state *s, int32_t by);

/* The state at the end of an iteration, for steady.c. */
uint64_t sim_issue_hash(const struct sim_state *s, uint64_t first);

/* Returns whether the renamer executes a move now; if not, sim_moves_write must be called, as for
 * every other instruction that writes a shared register.
 */
bool sim_moves_eliminate(struct sim_state *s, const struct sim_program *p,
			 const struct sim_insn *insn);
void sim_moves_write(struct sim_state *s, const struct sim_insn *insn);

/* Decides whether sums of constants are followed in this program. */
void sim_moves_init(struct sim_state *s);

/* Renamed memory: a load of what a uop stores has it as soon as the store's data are ready. */
void sim_schedule_stored(struct sim_state *s, const struct sim_entry *e);

/* An instruction retires: loads that its store blocked continue. */
void sim_schedule_unblock(struct sim_state *s, struct sim_instance *inst);

/* In a stream, the iteration of an instance is the number of its block. */
static inline const struct sim_feed *sim_feed_of(const struct sim_state *s, uint64_t id)
{
	return &s->stream->feeds[sim_iteration(id) & (SIM_FEEDS - 1)];
}

static inline const struct sim_program *sim_program_of(const struct sim_state *s, uint64_t id)
{
	return s->stream ? sim_feed_of(s, id)->program : s->program;
}

static inline struct sim_stats *sim_stats_of(const struct sim_state *s, uint64_t id)
{
	return (s->stream ? sim_feed_of(s, id)->stats : s->stats) + sim_number(id);
}

/* The instruction of an instance, its slot, and whether it is still there. */
static inline const struct sim_insn *sim_insn_of(const struct sim_state *s, uint64_t id)
{
	return &sim_program_of(s, id)->insns[sim_number(id)];
}

static inline unsigned sim_slot(const struct sim_state *s, uint64_t id)
{
	if (s->stream)
		return (sim_feed_of(s, id)->first_instance + sim_number(id)) & (SIM_SLOTS - 1);
	return (unsigned)(sim_iteration(id) * s->program->n_insns + sim_number(id)) &
	       (SIM_SLOTS - 1);
}

static inline bool sim_is_there(const struct sim_state *s, const struct sim_origin *origin)
{
	return s->slot_id[origin->slot] == origin->id;
}

/* Finds where a value comes from in a block that repeats; false if that is unknown, or long before
 * the first iteration.
 */
static inline bool sim_origin_of(const struct sim_state *s, uint64_t id,
				 const struct block_node *node, struct sim_origin *origin)
{
	if (node->producer == BLOCK_NO_PRODUCER || sim_iteration(id) < node->iterations)
		return false;
	origin->id = (sim_iteration(id) - node->iterations) << SIM_NUMBER_BITS |
		     sim_program_of(s, id)->raws[node->producer].insn;
	origin->slot = (uint16_t)sim_slot(s, origin->id);
	origin->output = node->output;
	origin->is_blocked = node->is_blocked;
	origin->is_narrow = node->is_narrow;
	origin->is_renamed = node->is_renamed;
	origin->early = node->early;
	origin->late = node->late;
	return true;
}

/* Finds what makes input k, not from memory, of the instance that is being renamed. */
static inline bool sim_producer(const struct sim_state *s, const struct sim_instance *inst,
				unsigned k, struct sim_origin *origin)
{
	if (!s->stream)
		return sim_origin_of(s, inst->id,
				     &inst->program->nodes[inst->insn->first_input + k], origin);
	*origin = s->stream->writer[inst->program->inputs[inst->insn->first_input + k].key];
	return origin->id != SIM_NO_ID;
}

/* Does the same for its stack engine's uop. */
static inline bool sim_sync_producer(const struct sim_state *s, const struct sim_instance *inst,
				     struct sim_origin *origin)
{
	if (!s->stream)
		return sim_origin_of(s, inst->id, &inst->program->sync_nodes[sim_number(inst->id)],
				     origin);
	*origin = s->stream->sync_origin;
	return origin->id != SIM_NO_ID;
}

/* Finds the store that input k of an instance, from memory, takes its value from. */
static inline bool sim_store_of(const struct sim_state *s, const struct sim_instance *inst,
				unsigned k, struct sim_origin *origin)
{
	const struct block_node *node = &inst->program->nodes[inst->insn->first_input + k];

	if (inst->has_accesses) {
		*origin = inst->from;
		return origin->id != SIM_NO_ID;
	}
	/* In a stream without addresses: the store of the same execution of the block. */
	return !(s->stream && node->iterations) && sim_origin_of(s, inst->id, node, origin);
}

/* ---- steady.c ---- */

/* The state at the end of an iteration, relative to the current cycle and that iteration, in numbers
 * that are equal for equal states: cheap ones first, because most states differ in them.
 */
struct sim_mark {
	uint64_t counts; /* how full the queues are, and where fetch is */
	uint64_t sketch; /* fetch and rename */
	uint64_t state;	 /* the reorder buffer and the reservation station too */
};
struct sim_mark sim_mark_state(const struct sim_state *s, uint64_t iteration);
bool sim_is_marked(const struct sim_state *s, uint64_t iteration, const struct sim_mark *mark);

/* ---- stream.c ---- */

/* An instance of a stream is renamed: finds the stores that its loads meet.  The writers tell where
 * its other inputs come from until all its uops are issued; then they must learn what it has
 * written.
 */
void sim_stream_connect(struct sim_state *s, struct sim_instance *inst);
void sim_stream_write(struct sim_state *s, const struct sim_instance *inst);

/* Notes whether push or pop have changed the stack pointer after this instruction. */
static inline void sim_stream_pass_stack(struct sim_stream *t, const struct sim_insn *insn)
{
	t->stack_changed = insn->changes_stack |
			   (t->stack_changed & !(insn->names_stack | insn->writes_stack));
}

/* Finds the youngest store that a load meets; *found stays if there is none. */
void sim_stream_find_store(const struct sim_stream *t, const struct sim_access *a,
			   struct sim_origin *found);

void sim_stream_init(struct sim_state *s, struct sim_stream *t, const struct tact_arch *arch);

/* ---- trips.c: only for streams that follow where data are ---- */

/* Returns for how many cycles longer than from the first level the next load of an instance takes. */
int32_t sim_trip_load(struct sim_state *s, struct sim_instance *inst);

/* An access is executed on a wrong path, before its turn.  Returns as sim_trip_load, in cycles of the
 * clock.
 */
int32_t sim_trip_ghost(struct sim_state *s, uint64_t access);

/* The stores of an instance retire. */
void sim_trip_store(struct sim_state *s, const struct sim_instance *inst);

/* Returns whether there is room for another instruction that stores; if so, it takes that. */
bool sim_trip_has_room(struct sim_state *s, const struct sim_insn *insn);

/* A cycle begins: stores leave. */
void sim_trip_leave(struct sim_state *s);

/* Feeds another block.  The caller makes sure that sim_stream_has_room, and has filled as many
 * accesses as the block has: sim_stream_reserve makes room for n and returns 0 or -TACT_E_NOMEM,
 * sim_stream_access names them.
 */
enum { SIM_LOOK_AHEAD = 64 /* blocks that wait to be fetched: more than a cycle can take */ };

static inline bool sim_stream_has_room(const struct sim_state *s)
{
	uint64_t next = s->source == BLOCK_FROM_MITE ? s->next_raw : s->next_fetch;

	return s->stream->n_feeds < sim_iteration(next) + SIM_LOOK_AHEAD;
}

int sim_stream_reserve(struct sim_stream *t, size_t n);

static inline struct sim_access *sim_stream_access(struct sim_stream *t, size_t i)
{
	return &t->accesses[(t->n_accesses + i) & (t->access_capacity - 1)];
}

void sim_stream_feed(struct sim_stream *t, const struct sim_feed *feed);

/* Returns whether everything that was fed has retired. */
static inline bool sim_stream_is_empty(const struct sim_state *s)
{
	return s->retired == s->stream->n_feeds;
}

/* Moves the clock on while nothing but a repeated instruction is being executed.  Returns by how
 * much.
 */
int32_t sim_stream_skip(struct sim_state *s);

/* Moves the clock back by a multiple of SIM_CALENDAR: it has 32 bits, and a stream may be longer.
 */
void sim_stream_rebase(struct sim_state *s, int32_t by);

/* ---- pipeline.c ---- */

void sim_init(struct sim_state *s, const struct tact_arch *arch);
void sim_cycle(struct sim_state *s);

/* Values of the clock stay below SIM_NEVER, with room for planned cycles. */
enum { SIM_MAX_CLOCK = 1 << 29 };

/* Statistics that a run needs, as a multiple of the program's instructions. */
enum { SIM_STATS = 3 };

struct sim_result {
	bool is_known; /* a figure was found; otherwise the sink ended the run before */
	bool is_stopped;
	bool repeats;	  /* the state recurred; otherwise the figure is an average */
	bool has_settled; /* the figure is an average over stretches that agree */
	double cycles_per_iteration;
	double uncertainty; /* half of its 95% interval; 0 if the state recurred */
	uint64_t period;
	uint64_t cycles, iterations;
	const struct sim_stats *stats; /* of the instructions, in the memory of the options */
	uint64_t counted;	       /* iterations that the statistics are of; not 0 */
};
struct sim_run_options {
	uint64_t max_cycles; /* at most SIM_MAX_CLOCK */
	bool is_strict;	     /* max_cycles wins over min_iterations */
	bool is_exact;	     /* go on to max_cycles unless the state recurs */
	int (*on_uop)(void *arg, const struct tact_sim_uop *uop); /* NULL: no sink */
	void *arg;
	double bound;		 /* cycles per iteration, at least; 0: not known */
	bool is_front_end;	 /* the bound is one of the front end */
	bool is_bound_exact;	 /* no pace is faster than the bound */
	uint64_t min_iterations; /* that are simulated even if the state repeats earlier */
	struct sim_stats *stats; /* SIM_STATS for each instruction of the program */
};

/* Returns 0; -TACT_E_LIMIT if there is no figure, or fewer iterations than were asked for. */
int sim_run(struct sim_state *s, const struct tact_block *block, const struct sim_program *program,
	    const struct sim_run_options *opt, struct sim_result *out);

/* ---- watch.c: only called if there is a sink ---- */

/* A uop was issued from the IDQ entry at `delivered`; returns the number of its record. */
uint16_t sim_watch_issue(struct sim_state *s, const struct sim_instance *inst, unsigned uop,
			 unsigned slot, int port, int32_t delivered);
void sim_watch_dispatch(struct sim_state *s, const struct sim_entry *e, int32_t ready);
/* Its result is there in cycle `result`. */
void sim_watch_finish(struct sim_state *s, const struct sim_entry *e, int32_t result,
		      bool waited_for_store);
/* The head is issued in order, to these ports (-1: none). */
void sim_watch_order(struct sim_state *s, const struct sim_instance *inst, int port,
		     int32_t executed, uint32_t store);
void sim_watch_retire(struct sim_state *s, const struct sim_rob_entry *e);

#endif /* TACT_SIM_PRIVATE_H */

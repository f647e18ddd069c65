/* SPDX-License-Identifier: MIT
 *
 * What the library and the program that runs blocks (runner/) know of each other.
 *
 * The library decides, emits code and evaluates numbers; the runner only runs what it is told to,
 * survives the faults of the block and records times.  They share two areas of memory, code and
 * data, and exchange messages over a socket that keeps their bounds.
 *
 *   library            keeper                    child, one for each block
 *   START   ---------> forks a child ---------->
 *           <--------------------------------    STARTED, or FAILED
 *   ORDER   -------------------------------->
 *           <--------------------------------    ANSWER, and STEPS
 *   QUIT    -------------------------------->    ends
 *           <--------- ENDED
 *
 * Every message from the runner carries the nonce of its child and the number of the order that it
 * answers.
 */
#ifndef TACT_RUNNER_WIRE_H
#define TACT_RUNNER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where things are in the runner: far from each other and from everything else.  Addresses relative
 * to code, or to registers, then fall into free memory.
 */
#define MEASURE_CODE_BASE 0x200000000000ull /* emitted code; never writable here */
/* The runner's own code is close to the emitted code, in the same table of pages: further away,
 * Golden Cove takes some 35 cycles for each page of code that it enters after a run.
 */
#define MEASURE_TEXT_BASE   0x200000180000ull
#define MEASURE_OWN_BASE    0x3d0000000000ull /* from here to OWN_END nothing is the block's */
#define MEASURE_DATA_BASE   0x3e0000000000ull /* the runner's view of the data, for filling */
#define MEASURE_PERF_BASE   0x3e8000000000ull /* the counter's page, with rdpmc */
#define MEASURE_STAMP_BASE  0x3ea000000000ull /* struct measure_stamp */
#define MEASURE_KEEPER_BASE 0x3f0000000000ull /* the keeper's own memory; not there in a child */
#define MEASURE_OWN_END	    0x400000000000ull
/* Where emitted code goes after a block: if a register that the block cannot read has kept the way to
 * the hidden memory; and if the kernel must be asked, which takes time and space in caches.
 */
#define MEASURE_LEAVE	      MEASURE_TEXT_BASE
#define MEASURE_LEAVE_BY_CALL (MEASURE_TEXT_BASE + 64)

/* A child's own memory is between these, at an address that nobody but the child and the kernel
 * knows: random, another one for each block, and in no register and no memory while a block runs.
 */
#define MEASURE_HIDDEN_LOW   0x400000000000ull
#define MEASURE_HIDDEN_PAGES ((1ull << 34) - (1 << 20)) /* to choose from */

/* Thread-local data of the block. */
#define MEASURE_THREAD_BASE 0x2a000000ull

enum {
	MEASURE_CODE_BYTES = 1 << 17,
	MEASURE_TEXT_BYTES = 1 << 16, /* at most */
	MEASURE_PAGE = 4096,
	MEASURE_SIGNAL_BYTES =
		1 << 16, /* stack of signal handlers: the first part of the hidden memory */
	MEASURE_HIDDEN_BEGIN = MEASURE_SIGNAL_BYTES + 8, /* where emitted code records the start */
	MEASURE_MAX_PAGES = 256,			 /* virtual pages of one block */
	MEASURE_MAX_PHYSICAL = 16,
	MEASURE_MAX_SAMPLES = 512,
	MEASURE_MAX_STEPS = 1024,
	MEASURE_MAX_REGISTERS = 32,
	MEASURE_CANARIES = 4, /* parts of the canary, at most */
	MEASURE_LISTEN = 16   /* readings of the core without a block */
};

/* The only descriptors that the runner has. */
enum { MEASURE_SOCKET_FD = 3, MEASURE_CODE_FD = 4, MEASURE_DATA_FD = 5, MEASURE_N_FDS = 6 };

enum measure_order {
	ORDER_PREPARE, /* unmap all pages; run until it finishes, mapping pages as needed */
	ORDER_SAMPLE,  /* take samples */
	ORDER_STEP,    /* run once step by step, recording registers */
	ORDER_LISTEN   /* take readings of the core; no block runs */
};

/* How a run ended. */
enum measure_outcome {
	OUTCOME_DONE,
	OUTCOME_MAPPED, /* a page was mapped: run again */
	OUTCOME_UNMAPPABLE,
	OUTCOME_PAGES,
	OUTCOME_PROTECTION,
	OUTCOME_ILLEGAL,
	OUTCOME_ARITHMETIC,
	OUTCOME_TRAP,
	OUTCOME_OWN_CODE,
	OUTCOME_COUNTER, /* the counter cannot be read, for no fault of the block */
	OUTCOME_FORGED	 /* the record of the start was overwritten */
};

/* How fast the core is at one moment, in ticks of the time stamp counter. */
struct measure_reading {
	uint64_t begin;			   /* time stamp before it */
	uint32_t chain_short, chain_long;  /* the clock: multiplications of known latency */
	uint32_t canary[MEASURE_CANARIES]; /* code that needs the whole core */
	uint32_t cpu;			   /* that it ran on */
	uint32_t padding;
};

/* One run of each size, and the core right after them.  The reading before is that of the sample
 * before, or the first one of the pass.
 */
struct measure_sample {
	uint64_t low, high; /* ticks or cycles of the two runs */
	uint32_t disturbed; /* a page had to be mapped: times are void */
	uint32_t padding;
	struct measure_reading after;
};

/* State before one instruction of a traced run. */
struct measure_step {
	uint64_t pc;
	uint64_t reg[MEASURE_MAX_REGISTERS]; /* the general ones, by number */
};

/* Room for what emitted code needs to enter a run; the instruction set defines its contents. */
enum { MEASURE_FRAME_WORDS = 8 };

/* What emitted code needs to start.  A block can write here: nothing is read after it has run. */
struct measure_stamp {
	uint64_t frame[MEASURE_FRAME_WORDS];
	uint64_t counter;				   /* iterations of a loop */
	uint32_t begin_low, begin_high, end_low, end_high; /* of a clock, when no block runs */
	uint64_t found[3];				   /* the way out finds the hidden memory */
};

/* Orders and answers.  Each is sent as a range of this struct. */
struct measure_host {
	/* Orders. */
	uint32_t order, n_samples;
	uint64_t entry;		      /* of the emitted code */
	uint64_t body_low, body_high; /* first instruction of the run with low, high copies */
	uint64_t body_step;	      /* of the run step by step */
	uint64_t counter_low, counter_high;
	uint64_t chain_short, chain_long;  /* entries of the clock */
	uint64_t canary[MEASURE_CANARIES]; /* entries; 0: there is no such part */
	uint64_t init_stack, init_value;
	uint32_t n_physical, max_pages, max_steps;
	uint32_t order_padding;

	/* Answers. */
	uint32_t outcome, n_pages;
	uint64_t fault_address, fault_pc;
	uint64_t pilot_low, pilot_high, pilot_chain;
	int32_t counter_void; /* why the cycles of the last run do not count: an enum counter_error;
				 0: they do */
	uint32_t padding;
	uint32_t n_taken, n_steps;    /* samples and steps that follow */
	struct measure_reading first; /* before the first sample */
	struct measure_reading listen[MEASURE_LISTEN];
	uint64_t page[MEASURE_MAX_PAGES];
	struct measure_sample sample[MEASURE_MAX_SAMPLES];

	struct measure_step step[MEASURE_MAX_STEPS];
};

enum {
	MEASURE_ORDERS_SIZE = offsetof(struct measure_host, outcome),
	MEASURE_ANSWERS = offsetof(struct measure_host, outcome),
	/* without samples */
	MEASURE_ANSWERS_SIZE = offsetof(struct measure_host, sample) - MEASURE_ANSWERS
};

/* ---- messages ---- */

#define MEASURE_MAGIC 0x74636174u

enum measure_kind {
	KIND_START,
	KIND_ORDER,
	KIND_QUIT,
	KIND_READY, /* the keeper, once */
	KIND_STARTED,
	KIND_FAILED,
	KIND_ANSWER,
	KIND_STEPS,
	KIND_ENDED
};

struct measure_header {
	uint32_t magic, kind;
	uint64_t nonce, number;
};

enum { MEASURE_CORE_TYPES = 2 };

struct measure_start {
	struct measure_header header;
	uint32_t rung;				/* enum tact_rung */
	uint32_t aperf_type, aperf_config;	/* of perf's msr device */
	uint32_t core_type[MEASURE_CORE_TYPES]; /* of perf's devices for other cores; 0: none */
	uint32_t n_physical;			/* pages of the data area that a block may have */
};

/* Body of READY, STARTED, FAILED and ENDED. */
struct measure_report {
	int32_t counter_error; /* STARTED: an errno or an enum counter_error; 0: it counts */
	int32_t part;	       /* FAILED: enum measure_part */
	int32_t error;	       /* FAILED: errno */
	int32_t status;	       /* ENDED: of wait */
};

enum { MEASURE_STEPS_PER_MESSAGE = 32 };

struct measure_order_message {
	struct measure_header header;
	uint8_t orders[MEASURE_ORDERS_SIZE];
};

/* Parts of the sandbox: the call that makes them, and what for.  Each must be in place, or nothing
 * runs.
 */
#define MEASURE_PARTS(X)                                                                           \
	X(EXEC, "execveat", "blocks run in a program of their own")                                \
	X(DESCRIPTORS, "close_range", "it has no files")                                           \
	X(NAMESPACES, "unshare", "it has namespaces of its own, without a network")                \
	X(DEATH, "prctl(PR_SET_PDEATHSIG)", "it ends with its parent")                             \
	X(LIMITS, "prlimit64", "limits of memory, processes and files")                            \
	X(NO_NEW_PRIVILEGES, "prctl(PR_SET_NO_NEW_PRIVS)", "it cannot gain privileges")            \
	X(NOT_DUMPABLE, "prctl(PR_SET_DUMPABLE)", "nobody else can look into it")                  \
	X(MEMORY, "mmap", "memory at addresses of its own")                                        \
	X(UNMAPPED, "munmap", "nothing else is in its memory")                                     \
	X(SIGNALS, "rt_sigaction", "it survives faults of a block")                                \
	X(SIGNAL_MASK, "rt_sigprocmask", "signals for the program do not reach it")                \
	X(SIGNAL_STACK, "sigaltstack", "it survives whatever a block does to the stack")           \
	X(THREAD_DATA, "arch_prctl", "blocks have thread data of their own")                       \
	X(PRIVILEGES, "setresuid, setresgid, setgroups, capset", "it has no privileges")           \
	X(RANDOM, "getrandom", "a block can neither find nor forge what is not its own")           \
	X(FILTER, "seccomp", "it may not call the kernel but for a few things")                    \
	X(CHILD, "clone", "each block has a process of its own")                                   \
	X(MESSAGES, "socketpair", "messages between the program and its blocks")

enum measure_part {
#define X(name, call, purpose) PART_##name,
	MEASURE_PARTS(X)
#undef X
		N_PARTS
};

/* A call with this argument that the filter answers with this error, if it is in place. */
enum { MEASURE_PROBE_ARGUMENT = 0x7461, MEASURE_PROBE_ERROR = 1234 };

#endif /* TACT_RUNNER_WIRE_H */

/* SPDX-License-Identifier: MIT
 *
 * What parent and child of a harness share.
 *
 * The parent decides, emits code and evaluates numbers.  The child only runs what it is told to,
 * survives the faults of the block and records times.  They share three areas of memory:
 *
 *   code   emitted by the parent; executable and read-only in the child
 *   host   struct measure_host: orders, results, what the child needs to return from a block
 *   data   the physical pages that back every address that a block touches
 */
#ifndef TACT_MEASURE_PRIVATE_H
#define TACT_MEASURE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/measure.h>

#include "base/base.h"
#include "isa/isa.h"

/* Where the areas are in the child: far from each other and from everything else.  Addresses
 * relative to code, or to registers, then fall into free memory.
 */
#define MEASURE_CODE_BASE 0x200000000000ull
#define MEASURE_HOST_BASE 0x3f0000000000ull
#define MEASURE_DATA_BASE 0x3e0000000000ull /* the child's own view, for filling */
#define MEASURE_PERF_BASE 0x3e8000000000ull /* the counter's page, with rdpmc */
#define MEASURE_THREAD_BASE                                                                        \
	0x2a000000ull /* thread-local data of the block, instead of the child's own */

enum {
	MEASURE_CODE_BYTES = 1 << 17,
	MEASURE_MAX_BODY = 24 * 1024, /* unrolled code: stays in a first-level cache of 32 KB */
	MEASURE_MAX_BLOCK = MEASURE_MAX_BODY / 32,
	MEASURE_PAGE = 4096,
	MEASURE_LINE = 64,	 /* bytes of a cache line, and of what front ends fetch together */
	MEASURE_MAX_PAGES = 256, /* virtual pages of one block */
	MEASURE_MAX_PHYSICAL = 16,
	MEASURE_MAX_SAMPLES = 512,
	MEASURE_MAX_STEPS = 1024,
	MEASURE_MAX_FIXUP = 288,
	/* Dependent multiplications.  With fewer in the short chain, a bias would remain.  The
	 * difference takes some 3 microseconds, because time stamps may advance in steps of 10
	 * nanoseconds.
	 */
	MEASURE_CHAIN_SHORT = 256,
	MEASURE_CHAIN_LONG = 4352,
	MEASURE_CHAIN_UNROLL = 64,
	MEASURE_CANARY_NOPS = 8192,
	MEASURE_CANARY_UNROLL = 16,
	MEASURE_QUIET = 3 /* canaries after the last run of a pass */
};

/* Registers and memory at the start (BHive, section III-A). */
#define MEASURE_INIT_VALUE 0x12345600ull
#define MEASURE_INIT_STACK 0x12355a00ull /* with --init stack: pages and offsets of their own */
#define MEASURE_INIT_FRAME 0x12365200ull

enum measure_order {
	ORDER_PREPARE, /* unmap all pages; run until it finishes, mapping pages as needed */
	ORDER_SAMPLE,  /* take samples */
	ORDER_STEP     /* run once step by step, recording registers */
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
	OUTCOME_COUNTER /* the counter cannot be read, for no fault of the block */
};

/* Counters around one run; 64-bit time stamps or counter values. */
struct measure_sample {
	uint32_t chain_before,
		chain_after; /* ticks of the long chain minus those of the short one */
	uint32_t canary_before, canary_after; /* ticks of code that needs the whole core */
	uint64_t low, high;		      /* ticks or cycles of the two runs */
	uint32_t disturbed;		      /* a page had to be mapped: times are void */
};

/* The canary and the clock after the last run of a pass.  No block runs afterwards that could
 * tamper with them.
 */
struct measure_quiet {
	uint32_t canary, chain;
};

/* Written once when the child starts, then only read. */
struct measure_child_state {
	int32_t order, answer, data, counter; /* descriptors; counter: of perf, or -1 */
	uint32_t rung;
};

/* State before one instruction of a traced run. */
struct measure_step {
	uint64_t pc;
	uint64_t reg[ISA_MAX_GENERAL]; /* the general ones, by number */
};

/* Room for what emitted code needs to enter a run; the instruction set defines its contents. */
enum { MEASURE_FRAME_WORDS = 8 };

struct measure_host {
	/* Addressed by emitted code. */
	uint64_t saved_stack;				   /* the child's own stack pointer */
	uint32_t begin_low, begin_high, end_low, end_high; /* counter values */
	uint64_t counter;				   /* iterations of a loop */
	uint64_t counter_index;				   /* of perf, for code that reads it */
	uint32_t float_control, padding;		   /* modes of floating point */
	uint64_t frame[MEASURE_FRAME_WORDS];

	/* Orders. */
	uint32_t order, n_samples;
	uint64_t entry;		      /* of the emitted code, in the child */
	uint64_t body_low, body_high; /* first instruction of the run with low, high copies */
	uint64_t counter_low, counter_high;
	uint64_t chain_short, chain_long, canary; /* entries of the clock and the canary */
	uint64_t init_stack, init_value;
	uint32_t n_physical, max_pages, max_steps;
	bool calibrate; /* take the chains and the canary too */

	/* Results. */
	int32_t counter_error; /* an errno or an enum counter_error; 0: it counts */
	int32_t counter_void;  /* the same for the last run; 0: its cycles are good */
	uint32_t outcome, n_pages;
	uint64_t fault_address, fault_pc;
	uint64_t pilot_low, pilot_high, pilot_chain;
	uint32_t n_steps;
	uint64_t page[MEASURE_MAX_PAGES];
	struct measure_sample sample[MEASURE_MAX_SAMPLES];
	struct measure_step step[MEASURE_MAX_STEPS];

	struct measure_quiet quiet[MEASURE_QUIET];

	/* Private to the child.  The parent checks whether a block has written there. */
	struct measure_child_state child;
	volatile bool running, stepping;
	uint8_t signal_stack[1 << 16];
};

/* ---- sets ---- */

/* What a block needs of the registers that it starts with. */
struct measure_needs {
	uint32_t index_vectors; /* bit r: vector register r holds indices of addresses */
	uint32_t mask_vectors;	/* bit r: vector register r masks an access */
	unsigned
		vector_bytes; /* how much of each vector register is not zero; 0: does not matter */
	bool has_short_vectors; /* has instructions that need the rest to be zero */
	unsigned stack_depth;	/* values on the stack of floating-point registers */
	bool uses_media;	/* uses these registers without a stack */
};

/* What the parent wants to run. */
struct measure_plan {
	const uint8_t *code;
	size_t size; /* bytes of one copy */
	bool loop;
	unsigned alignment; /* of the first byte, modulo MEASURE_LINE */
	unsigned copies;    /* unrolled: number of copies; the low run enters after some of them */
	uint8_t counter;    /* loop: number of the register that counts */
	bool own_branch;    /* loop: the block counts and branches itself */
	bool reads_counter; /* perf's, not the clock */
	enum tact_init init;
	enum tact_contents memory;
	enum tact_vectors vectors;
	uint32_t features; /* of the CPU; the instruction set defines the bits */
	struct measure_needs needs;
};

/* Offsets in the code area. */
struct measure_layout {
	uint32_t entry, body, end, chain_short, chain_long, canary;
	uint32_t copy_size; /* bytes of one iteration in the body */
};

/* What is known about a block before it runs. */
struct measure_screen {
	enum tact_measure_status status; /* OK, DECODE or REFUSED */
	uint32_t flags;			 /* R, F, V */
	uint32_t used;			 /* bit r: general register r is read or written */
	bool is_loop;			 /* ends in a branch to its start */
	size_t branch_size;		 /* of that branch */
	int own_counter; /* register that the block itself counts down to its branch, or -1 */
	size_t n_insns;
	struct measure_needs needs;
	/* Instructions between two iterations, which keep the floating-point stack level. */
	uint8_t fixup[MEASURE_MAX_FIXUP];
	size_t fixup_size;
};

/* A memory access of a traced run. */
struct measure_access {
	uint64_t address;
	unsigned size; /* bytes */
	bool is_load, is_store;
};

enum { MEASURE_MAX_ACCESSES = 16 };

/* How code of an instruction set is measured.  Each folder here has one constant measure_<folder>.
 * What runs only in the child, on a machine of that set, is in native.h.
 */
struct measure_set {
	const struct tact_isa *isa;
	unsigned chain_cycles; /* of one multiplication in the clock's chain */

	void (*screen)(struct measure_screen *s, const uint8_t *code, size_t size, bool loop,
		       char *reason, size_t reason_size);
	/* Fills the code area.  Returns 0, or -TACT_E_LIMIT if it does not fit. */
	int (*emit)(uint8_t *area, const struct measure_plan *plan, struct measure_layout *layout);
	/* Writes code that counts a register down and branches back to `distance` bytes before
	 * `to`, which has room for TACT_MEASURE_LOOP_BYTES.  Returns the size of that code.
	 */
	size_t (*put_counter)(uint8_t *to, unsigned reg, size_t distance);
	/* Lists up to MEASURE_MAX_ACCESSES that the instruction at `code` makes in a step. */
	unsigned (*accesses)(struct measure_access *out, const uint8_t *code, size_t size,
			     const struct measure_step *step);
};

/* Returns NULL if code of this set cannot be measured. */
const struct measure_set *measure_set_of(const struct tact_isa *isa);

/* The set of the machine that this runs on. */
extern const struct measure_set *const measure_native;

/* ---- loop.c ---- */

/* Returns the highest general register that a block does not use (bit r of `used`: register r),
 * other than the stack pointer; -1 if it uses all of them.
 */
int measure_free_register(const struct tact_isa *isa, uint32_t used);

/* ---- child.c ---- */

struct measure_child_fds {
	int order, answer; /* pipes */
	int code, host, data;
	int cpu; /* to pin to, or -1 */
	unsigned n_physical;
	enum tact_rung rung;
	unsigned aperf_type, aperf_config; /* of perf's msr device */
};

/* Becomes the child; does not return. */
void measure_child_main(const struct measure_child_fds *fds) __attribute__((noreturn));

/* ---- addresses of a traced run ---- */

/* Returns the flags L, X, D and S that the steps of a traced run show.  Its body is at `body`, in
 * copies of `size` bytes; the counter of the loop may follow the last one.
 */
uint32_t measure_trace_flags(const struct measure_set *set, const struct measure_host *host,
			     const uint8_t *code, size_t size, uint64_t body, bool loop);

/* ---- estimate.c ---- */

struct measure_pass {
	double low, high; /* cycles, or ticks converted to cycles */
	unsigned kept, dropped;
	bool valid;
};

/* Evaluates a pass: the lowest cluster of its undisturbed samples.  `quantum` is the step of the
 * counter, `canary_floor` the fastest canary so far, in units of the clock, or 0.
 */
void measure_evaluate_pass(struct measure_pass *pass, const struct measure_sample *samples,
			   unsigned n, bool calibrated, unsigned quantum, double canary_floor);

/* Lowers the floor (0: none yet) to the canaries after a pass. */
void measure_lower_floor(double *canary_floor, const struct measure_quiet quiet[MEASURE_QUIET],
			 unsigned quantum);

#endif /* TACT_MEASURE_PRIVATE_H */

/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share.  What the program that runs blocks knows as well is in
 * runner_wire.h.
 */
#ifndef TACT_MEASURE_PRIVATE_H
#define TACT_MEASURE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact-program/known.h>
#include <tact/measure.h>

#include "base/base.h"
#include "isa/isa.h"
#include "measure/runner_wire.h"
#include "measure/sweep_code.h"

enum {
	MEASURE_MAX_BODY = 24 * 1024, /* unrolled code: stays in a first-level cache of 32 KB */
	MEASURE_MAX_BLOCK = MEASURE_MAX_BODY / 32,
	MEASURE_MAX_FIXUP = 288,
	MEASURE_MAX_BACK = 16 * ISA_MAX_GENERAL,
	MEASURE_LINE = 64, /* bytes of a cache line, and of what front ends fetch together */
	/* Dependent multiplications.  With fewer in the short chain, a bias would remain.  The
	 * difference takes some 3 microseconds where time stamps advance in steps of 10
	 * nanoseconds, and one where they count cycles.
	 */
	MEASURE_CHAIN_SHORT = 256,
	MEASURE_CHAIN_LONG = 1280,
	MEASURE_CHAIN_LONG_COARSE = 4352,
	MEASURE_CHAIN_UNROLL = 64,
	MEASURE_COARSE = 8 /* steps of the time stamp counter from which it is coarse */
};

/* Registers and memory at the start (BHive, section III-A). */
#define MEASURE_INIT_VALUE 0x12345600ull
#define MEASURE_INIT_STACK 0x12355a00ull /* with --init stack: pages and offsets of their own */
#define MEASURE_INIT_FRAME 0x12365200ull

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

/* What decides how the canary looks, and how fast it can be. */
struct measure_core {
	unsigned width;	 /* uops that it issues in a cycle; 0: not known */
	unsigned window; /* uops in its reorder buffer; 0: not known */
	bool coarse;	 /* its time stamps advance in large steps */
};

/* A part of the canary: a loop. */
struct measure_canary {
	const char *name;    /* for files and people */
	unsigned iterations; /* that are timed */
	unsigned uops;	     /* issue slots of an iteration */
	unsigned cycles;     /* that an iteration takes on any core, at least */
	double credible;     /* how many times the ideal it may take on a core of its own */
	double tolerance;    /* 0.04: 4% more than usual is still quiet */
};

/* What the parent wants to run. */
struct measure_plan {
	const uint8_t *code;
	size_t size; /* bytes of one copy */
	bool loop;
	unsigned alignment; /* of the first byte, modulo MEASURE_LINE */
	unsigned copies;    /* of the block, or of the loop */
	/* Unrolled: copies of the low run, which enters after the others.  Several loops: iterations
	 * of each one in the two runs.
	 */
	unsigned low, high;
	unsigned group; /* unrolled: after so many copies, `back` follows; 0: never */
	/* Code that sets pointers back, by a group or by the iterations of one loop in the two runs.
	 */
	uint8_t back[MEASURE_MAX_BACK], back_low[MEASURE_MAX_BACK];
	size_t back_size;
	uint64_t page[MEASURE_MAX_PHYSICAL]; /* that the way in touches */
	unsigned n_pages;
	uint8_t counter;    /* loop: number of the register that counts */
	bool own_branch;    /* loop: the block counts and branches itself */
	bool reads_counter; /* perf's, not the clock */
	bool asks_kernel;   /* the way out cannot be kept in a register */
	enum tact_init init;
	enum tact_contents memory;
	enum tact_vectors vectors;
	uint32_t features; /* of the CPU; the instruction set defines the bits */
	struct measure_needs needs;
	struct measure_core core;
};

/* Offsets in the code area. */
struct measure_layout {
	uint32_t entry, body, body_low, end, chain_short, chain_long;
	/* Where the entry is told to go on, for the two runs, for none, and for one step by step. */
	uint32_t enter_low, enter_high, enter_end, enter_step;
	uint32_t step_body;		   /* code of that run, if it has its own */
	uint32_t canary[MEASURE_CANARIES]; /* 0: there is no such part */
	uint32_t copy_size;		   /* bytes of one iteration in the body */
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
	bool uses_kept; /* accesses memory through the register that could keep the way out */
};

/* A memory access of a traced run. */
struct measure_access {
	uint64_t address;
	unsigned size; /* bytes */
	bool is_load, is_store;
};

enum { MEASURE_MAX_ACCESSES = 16 };

/* How code of an instruction set is measured.  Each folder here has one constant measure_<folder>.
 * What needs a machine of that set is in native.h, and in runner/.
 */
struct measure_set {
	const struct tact_isa *isa;
	uint32_t keeps_way; /* bit of `features`: a register can keep the way out of a block */
	const struct tact_known *known;
	unsigned chain_cycles; /* of one multiplication in the clock's chain */
	const char *unaligned; /* what a fault without an address comes from */

	void (*screen)(struct measure_screen *s, const uint8_t *code, size_t size, bool loop,
		       char *reason, size_t reason_size);
	/* Fills the code area.  Returns 0, or -TACT_E_LIMIT if it does not fit. */
	int (*emit)(uint8_t *area, const struct measure_plan *plan, struct measure_layout *layout);
	/* Fills the code area with the clock and the canary alone. */
	int (*emit_clocks)(uint8_t *area, const struct measure_plan *plan,
			   struct measure_layout *layout);
	/* Returns where in the body the instruction is that a step was recorded at.  NULL: there. */
	uint64_t (*step_pc)(const struct measure_layout *layout, uint64_t pc);
	/* Describes the parts of the canary that emit makes for a core.  Returns their number. */
	unsigned (*canaries)(struct measure_canary out[MEASURE_CANARIES],
			     const struct measure_core *core);
	/* Returns the issue width and the window of a core that has no model; false if they are not
	 * known.
	 */
	bool (*core_of)(const char *name, struct measure_core *core);
	/* Writes code that counts a register down and branches back to `distance` bytes before
	 * `to`, which has room for TACT_MEASURE_LOOP_BYTES.  Returns the size of that code.
	 */
	size_t (*put_counter)(uint8_t *to, unsigned reg, size_t distance);
	/* Writes code that adds to a register without changing flags, 16 bytes at most.  Returns
	 * the size of that code.
	 */
	size_t (*put_move)(uint8_t *to, unsigned reg, int32_t by);
	/* Lists up to MEASURE_MAX_ACCESSES that the instruction at `code` makes in a step. */
	unsigned (*accesses)(struct measure_access *out, const uint8_t *code, size_t size,
			     const struct measure_step *step);
	/* Does what sweep_emit does; NULL: there are no sweeps. */
	size_t (*sweep)(enum sweep_kernel kernel, uint64_t size, uint64_t step, uint32_t features,
			uint8_t *to, size_t room);
};

/* Returns NULL if code of this set cannot be measured. */
const struct measure_set *measure_set_of(const struct tact_isa *isa);

/* The set of the machine that this runs on. */
extern const struct measure_set *const measure_native;

/* ---- measure.c ---- */

/* Returns the step of the time stamp counter.  Of n - 1 possible differences between readings in a
 * row, count[d] were d.
 */
unsigned measure_quantum(const unsigned *count, unsigned n);

/* ---- loop.c ---- */

/* Returns the highest general register that a block does not use (bit r of `used`: register r),
 * other than the stack pointer; -1 if it uses all of them.
 */
int measure_free_register(const struct tact_isa *isa, uint32_t used);

/* ---- addresses of a traced run ---- */

/* Returns the flags L, X, D and S that the steps of a traced run show.  Its body is at `body`, in
 * copies of `size` bytes; the counter of the loop may follow the last one.
 */
uint32_t measure_trace_flags(const struct measure_set *set, const struct measure_host *host,
			     const uint8_t *code, size_t size, uint64_t body, bool loop);

/* ---- quiet.c ---- */

/* How fast the canary is on a core of its own: cycles of an iteration of each part. */
struct measure_floor {
	struct measure_canary part[MEASURE_CANARIES];
	unsigned n_parts;
	double least[MEASURE_CANARIES]; /* nothing is faster */
	double known[MEASURE_CANARIES]; /* what the core should reach; 0: not known */
	double best[MEASURE_CANARIES];	/* reached so far; 0: nothing yet */
	double overhead;		/* cycles that reading the counter adds */
	bool has_overhead;		/* it was measured */
	double chain, short_chain;	/* cycles by which the clock's two chains differ; of one */
	unsigned quantum;		/* step of the time stamp counter */
	bool is_emulated; /* the core is none: nothing is known, any moment is quiet */
};

/* Begins with what is known about a core. */
void measure_floor_init(struct measure_floor *floor, const struct measure_set *set,
			const struct measure_core *core, unsigned quantum);

/* Takes over what was reached before, unless it cannot be. */
void measure_floor_offer(struct measure_floor *floor, unsigned part, double cycles);

/* Learns from readings that no block can have influenced.  Returns false if their clocks differ. */
bool measure_floor_learn(struct measure_floor *floor, const struct measure_reading *readings,
			 unsigned n);

/* Returns the cycles of a tick at the time of a reading; 0: it is void. */
double measure_cycles_per_tick(const struct measure_floor *floor,
			       const struct measure_reading *reading);

/* Returns whether the core was quiet at the time of a reading.  The excess is how much longer than on
 * a core of its own the slowest part of the canary took: 0.25 is a quarter longer.  Steps of the
 * counter are allowed for.  Negative: the reading is void.
 */
bool measure_is_quiet(const struct measure_floor *floor, const struct measure_reading *reading,
		      double *excess);

/* ---- quiet_state.c ---- */

/* Takes over what a file says about a CPU, and writes what is better than that.  A file that cannot
 * be read or written changes nothing.  The name of a CPU has no blanks.
 */
void measure_floor_load(struct measure_floor *floor, const char *path, const char *cpu);
void measure_floor_save(const struct measure_floor *floor, const char *path, const char *cpu);

/* ---- estimate.c ---- */

struct measure_pass {
	double low, high; /* cycles, or ticks converted to cycles */
	unsigned kept, dropped;
	unsigned busy;	    /* dropped because the core was not quiet */
	double disturbance; /* the median excess of its samples; negative: there is none */
	bool valid;
};

/* Evaluates a pass: the lowest cluster of its undisturbed samples.  With `ticks`, samples are time
 * stamps, otherwise cycles.
 */
void measure_evaluate_pass(struct measure_pass *pass, const struct measure_reading *first,
			   const struct measure_sample *samples, unsigned n, bool ticks,
			   const struct measure_floor *floor);

/* Concludes from the values of the passes: the number is the median of the lower half.  If the
 * values form several groups, the block has several modes.  Without two passes, if they disagree, or
 * if the number is below what any core needs, there is none, and out says why.
 */
void measure_conclude(struct tact_measurement *out, double *value, unsigned n, double max_spread,
		      double least);

#endif /* TACT_MEASURE_PRIVATE_H */

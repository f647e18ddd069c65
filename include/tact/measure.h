/* SPDX-License-Identifier: MIT
 *
 * Cycles of a basic block on this very CPU.
 *
 * A block is taken out of its program: registers and memory get known values, every page that it
 * touches is mapped on demand, and it runs unrolled or as a loop in a child process that survives
 * or is replaced, whatever the block does.
 */
#ifndef TACT_MEASURE_H
#define TACT_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What counts cycles, best first. */
enum tact_rung {
	TACT_RUNG_AUTO,
	TACT_RUNG_RDPMC, /* core cycles, read in user mode right at the block */
	TACT_RUNG_PERF,	 /* core cycles, read by a system call around the block */
	TACT_RUNG_APERF, /* APERF through perf's msr device, likewise */
	TACT_RUNG_TSC	 /* time stamps, with a chain of known latency as the clock right before and
			    after */
};
const char *tact_rung_name(enum tact_rung rung); /* "rdpmc", "perf", "aperf", "tsc" */

/* Why there is a number, or none.  Values are stable; the names are what files hold. */
enum tact_measure_status {
	TACT_MEASURE_OK,
	TACT_MEASURE_DECODE,	 /* bytes that are no instruction */
	TACT_MEASURE_TOO_LONG,	 /* does not fit the code area at the smallest unroll factor */
	TACT_MEASURE_REFUSED,	 /* has an instruction that is not run: system call, privileged,
				    random, branch */
	TACT_MEASURE_UNMAPPABLE, /* touches an address that cannot be mapped */
	TACT_MEASURE_PAGES,	 /* touches too many pages */
	TACT_MEASURE_PROTECTION, /* general protection: misaligned vector access, non-canonical
				    address */
	TACT_MEASURE_ILLEGAL,	 /* an instruction that this CPU does not have */
	TACT_MEASURE_ARITHMETIC, /* division by zero or overflow, unmasked floating point */
	TACT_MEASURE_TRAP,	 /* breakpoint, trap flag, alignment check */
	TACT_MEASURE_OWN_CODE,	 /* writes to its own code, or to what belongs to the harness */
	TACT_MEASURE_TIMEOUT,	 /* did not come to its end */
	TACT_MEASURE_CRASHED,	 /* took the child process with it */
	TACT_MEASURE_NO_COUNTER, /* loop: no register is free to count */
	TACT_MEASURE_UNSTABLE,	 /* ran, but no two passes agree */
	TACT_N_MEASURE_STATUS
};
const char *tact_measure_status_name(enum tact_measure_status status); /* "ok", "refused", ... */

/* What may make a number differ from the ideal machine's. */
enum tact_measure_flag {
	TACT_MFLAG_CROSSES_LINE = 1 << 0, /* L: an access crosses a cache line */
	TACT_MFLAG_ALIAS_PAGE = 1 << 1, /* X: loads what was stored through another virtual page */
	TACT_MFLAG_FORWARDS = 1 << 2,	/* D: loads what was stored at the same address */
	TACT_MFLAG_PARTIAL = 1 << 3,	/* S: loads partly what was stored */
	TACT_MFLAG_RIP = 1 << 4,	/* R: addresses relative to the instruction */
	TACT_MFLAG_X87 = 1 << 5,	/* F: x87 or MMX */
	TACT_MFLAG_VEX = 1 << 6,	/* V: VEX or EVEX */
	TACT_MFLAG_MANY_PAGES = 1 << 7, /* W: many pages */
	TACT_MFLAG_MODES = 1 << 8,	/* B: several steady states */
	TACT_MFLAG_SHORT = 1 << 9	/* T: fewer iterations than wanted fit */
};
/* "L", "LX", "-": the letters above; buf holds at least 16. */
const char *tact_measure_flags_text(uint32_t flags, char *buf);

struct tact_measure_options {
	size_t size; /* sizeof(struct tact_measure_options) */
	enum tact_mode
		mode; /* LOOP, UNROLL; AUTO: loop if the block ends in a branch to its start */
	enum tact_init init; /* SAME (the default of the paper) or STACK (its pointers apart) */
	enum tact_rung rung; /* AUTO: the best that works */
	int cpu;	     /* pins the child to this CPU; -1: not pinned */
	unsigned pages;	     /* physical pages behind all virtual ones; 0: 1 */
	unsigned max_pages;  /* virtual pages that a block may touch; 0: 64 */
	unsigned passes;     /* 0: 5 */
	unsigned samples;    /* in a pass; 0: 32 */
	unsigned timeout_ms; /* for a block as a whole; 0: 2000 */
	double max_spread;   /* coefficient of variation of what is kept; 0: 0.10 */
};

struct tact_measurement {
	size_t size;
	enum tact_measure_status status;
	double cycles_per_iteration; /* only if status is OK */
	double spread;		     /* coefficient of variation of the passes */
	unsigned kept, dropped;	     /* samples */
	enum tact_rung rung;
	enum tact_mode mode; /* LOOP or UNROLL */
	enum tact_init init;
	uint32_t flags;	    /* bits of enum tact_measure_flag */
	unsigned low, high; /* unroll factors or numbers of iterations */
	unsigned n_pages;   /* virtual pages that were mapped */
	char reason[160];   /* for people, if there is no number; "" otherwise */
};

struct tact_harness; /* owns a child process; one thread at a time */

/* opt may be NULL.  Returns -TACT_E_IO with the reason if the child cannot be set up,
 * -TACT_E_INVAL. */
int tact_harness_create(struct tact_harness **out, const struct tact_measure_options *opt,
			struct tact_diag *diag);
void tact_harness_destroy(struct tact_harness *harness); /* NULL is allowed */

/* The rung that the harness uses. */
enum tact_rung tact_harness_rung(const struct tact_harness *harness);

/* Measures a block.  Returns 0 whenever out says what happened, good or bad; < 0 only if the
 * harness itself is broken and could not be set up again.  A hanging or crashing block costs its
 * child; the next call has a new one.
 */
int tact_measure(struct tact_harness *harness, const uint8_t *code, size_t size,
		 struct tact_measurement *out);

/* Does not run anything: OK, or DECODE, TOO_LONG or REFUSED with the reason. */
enum tact_measure_status tact_measure_check(const struct tact_isa *isa, const uint8_t *code,
					    size_t size, enum tact_mode mode, char *reason,
					    size_t reason_size);

/* Bytes that a loop of a block may have more than the block. */
enum { TACT_MEASURE_LOOP_BYTES = 9 };

/* The loop that the harness makes of a block without a branch of its own: behind it stand a counter
 * in a register that the block does not use, and a branch to the start.  `to` has room for size +
 * TACT_MEASURE_LOOP_BYTES.  Returns the loop's size; that of the block if code of this set cannot
 * be measured.
 */
size_t tact_measure_loop(const struct tact_isa *isa, uint8_t *to, const uint8_t *code, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* TACT_MEASURE_H */

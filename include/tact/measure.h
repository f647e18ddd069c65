/* SPDX-License-Identifier: MIT
 *
 * Measures how many cycles a basic block takes on the CPU that this program runs on.
 *
 * A block is taken out of its program: registers and memory get known values, every page that it
 * touches is mapped on demand, and it runs unrolled or as a loop in a child process.  Whatever the
 * block does, the caller survives; the child survives too or is replaced.
 *
 * A harness belongs to one thread at a time; different harnesses may be used by different threads
 * at once.  When the thread that created a harness ends, so does the harness's child process; the
 * next call from another thread starts a new one.  After fork, only the parent may use a harness.
 * The functions that take no harness may be called by any thread at any time.
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

/* ---- names ---- */

/* What counts cycles, best first.  Values are stable. */
enum tact_rung {
	TACT_RUNG_AUTO,	 /* as an option: the best one that works; in a result: not known */
	TACT_RUNG_RDPMC, /* core cycles, read in user mode right at the block */
	TACT_RUNG_PERF,	 /* core cycles, read by a system call around the block */
	TACT_RUNG_APERF, /* APERF, read through perf's msr device around the block */
	TACT_RUNG_TSC	 /* time stamps; a chain of known latency, run right before and right after
			    the block, converts them to cycles */
};

/* Returns the name of a rung: "auto", "rdpmc", "perf", "aperf" or "tsc"; "unknown" for any other
 * value.  The string is static.
 */
const char *tact_rung_name(enum tact_rung rung);

/* Why a block has a number, or why it has none.  Values are stable; files hold the names. */
enum tact_measure_status {
	TACT_MEASURE_OK,
	TACT_MEASURE_DECODE,	 /* the bytes are not instructions */
	TACT_MEASURE_TOO_LONG,	 /* does not fit the code area at the smallest unroll factor */
	TACT_MEASURE_REFUSED,	 /* has an instruction that is never run: system call, privileged,
				    random number, branch */
	TACT_MEASURE_UNMAPPABLE, /* touches an address that cannot be mapped */
	TACT_MEASURE_PAGES,	 /* touches too many pages */
	TACT_MEASURE_PROTECTION, /* general protection: misaligned vector access, non-canonical
				    address */
	TACT_MEASURE_ILLEGAL,	 /* has an instruction that this CPU does not have */
	TACT_MEASURE_ARITHMETIC, /* division by zero or overflow, unmasked floating point */
	TACT_MEASURE_TRAP,	 /* breakpoint or trap flag */
	TACT_MEASURE_OWN_CODE,	 /* writes to its own code, or to memory of the harness */
	TACT_MEASURE_TIMEOUT,	 /* did not finish in time */
	TACT_MEASURE_CRASHED,	 /* killed the child process */
	TACT_MEASURE_NO_COUNTER, /* as a loop: no register is free to count iterations */
	TACT_MEASURE_UNSTABLE,	 /* ran, but the passes disagree */
	TACT_MEASURE_DISTURBED,	 /* ran, but the core was never its own: something else kept running
				    on it */
	TACT_MEASURE_UNCONFIRMED, /* several rounds, and no two of them confirm the lowest */
	TACT_N_MEASURE_STATUS
};

/* Returns the name of a status, such as "ok" or "refused"; "unknown" for any other value.  The
 * string is static.
 */
const char *tact_measure_status_name(enum tact_measure_status status);

/* Reasons why a number may differ from that of an ideal machine.  New flags get new bits. */
enum tact_measure_flag {
	TACT_MFLAG_CROSSES_LINE = 1 << 0, /* L: an access crosses a cache line */
	TACT_MFLAG_ALIAS_PAGE = 1 << 1, /* X: loads what was stored through another virtual page */
	TACT_MFLAG_FORWARDS = 1 << 2,	/* D: loads what was stored at the same address */
	TACT_MFLAG_PARTIAL = 1 << 3,	/* S: a load overlaps an earlier store only in part */
	TACT_MFLAG_RIP = 1 << 4,	/* R: addresses relative to the instruction */
	TACT_MFLAG_X87 = 1 << 5,	/* F: x87 or MMX */
	TACT_MFLAG_VEX = 1 << 6,	/* V: VEX or EVEX */
	TACT_MFLAG_MANY_PAGES = 1 << 7, /* W: touches many pages */
	TACT_MFLAG_MODES = 1 << 8,	/* B: has several steady states */
	TACT_MFLAG_SHORT = 1 << 9,	/* T: fewer iterations than wanted fit */
	/* C: the number includes instructions that keep the x87 stack level */
	TACT_MFLAG_COMPENSATED = 1 << 10,
	TACT_MFLAG_STACK_FAULT = 1 << 11, /* O: overflows or underflows the x87 stack */
	/* P: walks through memory; its pointers are set back now and then */
	TACT_MFLAG_WALKS = 1 << 12
};

/* Room for the letters of any set of flags, with the final NUL. */
enum { TACT_MEASURE_FLAGS_SIZE = 33 };

/* Writes the letters of flags, "LX" for example, to `buf`; "-" if there are none.  Bits that have
 * no letter are skipped.  Returns buf, or "" if buf is NULL.
 */
const char *tact_measure_flags_text(uint32_t flags, char buf[TACT_MEASURE_FLAGS_SIZE]);

/* ---- measuring ---- */

/* What memory holds at the start of a run.  Values are stable; files hold the names. */
enum tact_contents {
	TACT_CONTENTS_POINTER, /* every 8 bytes are an address that can be read and written */
	TACT_CONTENTS_ZERO,
	TACT_CONTENTS_INT,  /* every 8 bytes are a small integer */
	TACT_CONTENTS_FLOAT /* ordinary floating-point numbers of 4 and of 8 bytes */
};

/* What vector registers hold at the start of a run.  Values are stable; files hold the names. */
enum tact_vectors {
	TACT_VECTORS_ORDINARY, /* ordinary numbers in all lanes, and masks full of ones */
	TACT_VECTORS_ZERO      /* zeros; some cores know that, and wait for less */
};

/* Return the names of these: "pointer", "zero", "int" or "float", and "ordinary" or "zero";
 * "unknown" for any other value.  The strings are static.
 */
const char *tact_contents_name(enum tact_contents contents);
const char *tact_vectors_name(enum tact_vectors vectors);

struct tact_measure_options {
	size_t size;	     /* sizeof(struct tact_measure_options) */
	enum tact_mode mode; /* LOOP or UNROLL; AUTO: a loop if the block ends in a branch to its
				start */
	enum tact_init init; /* STACK: rsp and rbp have values of their own; SAME: all registers
				have the same value, as in BHive; DIFF is refused */
	enum tact_rung rung; /* AUTO: the best one that works */
	bool pin; /* the child runs on `cpu` only; otherwise where the scheduler puts it, and on
		     another CPU when that one stays busy */
	int cpu;  /* 0 to 1023; must be 0 unless `pin` is set */
	/* Physical pages that back all virtual ones; 0: one each, or one for all if they do not fit
	 * the first-level cache.
	 */
	unsigned pages;
	unsigned max_pages;  /* virtual pages that a block may touch; 0: 256 */
	unsigned passes;     /* 0: 5 */
	unsigned samples;    /* per pass; 0: 32 */
	unsigned timeout_ms; /* for a block as a whole; 0: 2000 */
	double max_spread;   /* largest accepted coefficient of variation; 0: 0.10 */
	enum tact_contents memory;
	enum tact_vectors vectors;
	unsigned wait_ms; /* longest wait for a quiet moment, for a block as a whole; 0: 500 */
	const int *cpus;  /* CPUs, 0 to 1023, that it may move to while its own is busy; read by
			     tact_harness_create only */
	unsigned n_cpus;  /* 0: with `pin` it stays on `cpu`, without it may move to any */
	/* Blocks run without namespaces of their own.  Most containers refuse those; the filter of
	 * system calls and all else stays.
	 */
	bool no_namespaces;
	const char *state; /* file that keeps how fast CPUs of a model are when nothing else runs on
			      them; it is read, and replaced when there is news; NULL: none */
	bool noisy;	   /* samples count even while something else runs on the core */
};
#define TACT_MEASURE_OPTIONS_INIT TACT_SIZED(struct tact_measure_options)

struct tact_measurement {
	size_t size; /* sizeof(struct tact_measurement) */
	enum tact_measure_status status;
	double cycles_per_iteration; /* only if status is OK */
	double spread;		     /* coefficient of variation of the passes */
	unsigned kept, dropped;	     /* samples */
	enum tact_rung rung;
	enum tact_mode mode; /* LOOP or UNROLL */
	enum tact_init init;
	uint32_t flags;	    /* bits of enum tact_measure_flag */
	unsigned low, high; /* unroll factors or numbers of iterations of the two runs */
	unsigned n_pages;   /* virtual pages that were mapped */
	char reason[160];   /* explains to people why there is no number; "" if there is one */
	unsigned alignment; /* where its first byte was in a cache line */
	enum tact_contents memory;
	enum tact_vectors vectors;
	int cpu; /* that it ran on; -1: not known */
	/* How much longer code that needs the whole core took than it does on a core of its own, at
	 * the quietest moment: 0.25 is a quarter longer.
	 */
	double disturbance;
	unsigned rounds;    /* how often it was measured; 1 if nobody asked for more */
	unsigned agree;	    /* rounds that saw the number; 0 if there is none */
	unsigned disturbed; /* rounds without a quiet moment */
};
#define TACT_MEASUREMENT_INIT TACT_SIZED(struct tact_measurement)

struct tact_harness; /* owns a child process */

/* Creates a harness and starts its child process.  opt may be NULL, which means the same as all
 * zeros.  The caller destroys *out; it is NULL on failure.
 * -TACT_E_INVAL: out is NULL, or an option is out of range.
 * -TACT_E_NOMEM: out of memory.
 * -TACT_E_IO: the child process or the rung cannot be set up on this machine; diag has the reason.
 */
int tact_harness_create(struct tact_harness **out, const struct tact_measure_options *opt,
			struct tact_diag *diag);

/* Ends the child process and destroys the harness.  NULL is allowed. */
void tact_harness_destroy(struct tact_harness *harness);

/* Returns the rung that the harness uses; TACT_RUNG_AUTO for NULL. */
enum tact_rung tact_harness_rung(const struct tact_harness *harness);

/* Returns why the harness did not take a rung that is better than its own, and what helps; "" if
 * that rung works, was not tried, or does not exist, and for NULL.  The harness owns the string.
 */
const char *tact_harness_refusal(const struct tact_harness *harness, enum tact_rung rung);

/* Measures a block.  Returns 0 whenever out->status says what happened, good or bad.  A block that
 * hangs or crashes costs the harness its child process; the next call starts a new one.
 * -TACT_E_INVAL: harness or out is NULL, code is NULL and size is not 0, or out->size is 0.
 * -TACT_E_NOMEM, -TACT_E_IO: the harness has lost its child and cannot start a new one.
 */
int tact_measure(struct tact_harness *harness, const uint8_t *code, size_t size,
		 struct tact_measurement *out);

/* Measures a block whose first byte (unrolled: that of its first copy) is at an address of this
 * value modulo 64; tact_measure takes 0.
 * -TACT_E_INVAL: also if the alignment is above 63.
 * It fails as tact_measure does otherwise.
 */
int tact_measure_at(struct tact_harness *harness, const uint8_t *code, size_t size,
		    unsigned alignment, struct tact_measurement *out);

/* ---- rounds ---- */

/* What else runs on a core makes code slower, never faster, and it comes and goes.  So a block is
 * measured again at another time and, where there are several, on another core: the lowest number
 * that two of these rounds saw is its number.
 *
 * Rounds belong to one thread at a time.  They need no harness: their measurements may come from
 * several harnesses, and from a store.
 */
struct tact_rounds;

/* Creates an empty set of rounds of one block.  The caller destroys *out; it is NULL on failure.
 * -TACT_E_INVAL: out is NULL.
 * -TACT_E_NOMEM: out of memory.
 */
int tact_rounds_create(struct tact_rounds **out);

/* Destroys a set of rounds.  NULL is allowed. */
void tact_rounds_destroy(struct tact_rounds *rounds);

/* Adds what a round measured.  The result of earlier rounds counts as that many.
 * -TACT_E_INVAL: rounds or m is NULL, m->size is 0, its status is unknown; or, with status OK, its
 *     cycles are not a number above 0; or its mode, init, alignment, memory or vectors are not those
 *     of the rounds before.
 * -TACT_E_NOMEM: out of memory; nothing was added.
 */
int tact_rounds_add(struct tact_rounds *rounds, const struct tact_measurement *m);

/* Sets how many rounds have to agree at least; without this, and for less, it is 2.  Where other
 * blocks show that neighbours come often, two may agree by chance.
 * -TACT_E_INVAL: rounds is NULL.
 */
int tact_rounds_set_least(struct tact_rounds *rounds, unsigned agree);

/* Returns whether another round is not worth its time; false for NULL.  That is so if
 *  - two rounds agree within 1% (and the step of the counter), at least one of them on a quiet core,
 *    and none was lower.  A single lower round is outvoted by five that agree, two by seven;
 *  - or the block fails in a way that does not depend on time: it is refused, has an illegal
 *    instruction, and so on.  It is also enough if two rounds ran into the time limit, if two
 *    crashed, or if four were unstable, and none has a number.
 */
bool tact_rounds_is_confirmed(const struct tact_rounds *rounds);

/* Says what the rounds have shown so far, whatever their order was.  A confirmed number is the
 * median of the rounds that agree; its spread includes the differences between them.  One round is
 * reported as it is.  If several have not confirmed a number, the status is UNCONFIRMED, and the
 * reason has the lowest number; if none has a number, the status is that of a round.
 * -TACT_E_INVAL: rounds or out is NULL, out->size is 0, or there was no round yet.
 */
int tact_rounds_result(const struct tact_rounds *rounds, struct tact_measurement *out);

/* ---- without running anything ---- */

/* Says whether a harness would run a block: returns OK, DECODE, TOO_LONG or REFUSED.  The reason,
 * "" if it is OK, goes to `reason`, which may be NULL, and is cut to reason_size bytes.  Without
 * an instruction set that can be measured (or with isa NULL), or with an unknown mode, the block is
 * REFUSED; no code (NULL or size 0) is DECODE.
 */
enum tact_measure_status tact_measure_check(const struct tact_isa *isa, const uint8_t *code,
					    size_t size, enum tact_mode mode, char *reason,
					    size_t reason_size);

/* Bytes by which tact_measure_loop may lengthen a block. */
enum { TACT_MEASURE_LOOP_BYTES = 9 };

/* Writes the loop that a harness makes of a block without a branch of its own: the block, a counter
 * in a register that the block does not use, and a branch to the start.  `to` has room for size +
 * TACT_MEASURE_LOOP_BYTES.  Returns the size of the loop; the size of the block, which is then
 * copied as it is, if code of this instruction set cannot be measured; 0 if isa, to or code is
 * NULL.
 */
size_t tact_measure_loop(const struct tact_isa *isa, uint8_t *to, const uint8_t *code, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* TACT_MEASURE_H */

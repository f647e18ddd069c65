/* SPDX-License-Identifier: MIT
 *
 * A basic block on one architecture: decoded, fused, lowered to uops, with its dependence graph.
 */
#ifndef TACT_BLOCK_H
#define TACT_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/arch.h>
#include <tact/insn.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which throughput: of the block unrolled (TP_U), or as a loop (TP_L; the block ends in its
 * branch). */
enum tact_mode {
	TACT_MODE_AUTO, /* loop if the block ends in a branch to its start */
	TACT_MODE_LOOP,
	TACT_MODE_UNROLL
};

/* What registers hold at entry, for memory dependence. */
enum tact_init {
	TACT_INIT_STACK, /* the same value, but stack and frame pointer have values of their own */
	TACT_INIT_SAME,	 /* all the same value */
	TACT_INIT_DIFF	 /* all different values */
};

/* "loop" or "unroll"; "stack", "same" or "diff". */
const char *tact_mode_name(enum tact_mode mode);
const char *tact_init_name(enum tact_init init);

struct tact_block_options {
	size_t size; /* sizeof(struct tact_block_options) */
	enum tact_mode mode;
	enum tact_init init;
	unsigned alignment; /* address of the first byte modulo 64 */
	bool paper;	    /* restrict the model to what the FACILE paper describes */
};

/* Longer ones are refused with -TACT_E_LIMIT: no basic block of real code comes near. */
enum { TACT_BLOCK_MAX_BYTES = 1 << 16 };

struct tact_block;

/* An empty block, to be loaded as often as wanted.  It belongs to one thread at a time; it
 * remembers decoded instructions, so one that is used for many blocks becomes fast.  opt may be
 * NULL. Returns -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_block_create(struct tact_block **out, const struct tact_arch *arch,
		      const struct tact_block_options *opt, struct tact_diag *diag);
void tact_block_destroy(struct tact_block *block); /* NULL is allowed */

/* Decodes and lowers code.  Allocates only while buffers grow to the largest block seen.
 * Returns -TACT_E_DECODE (diag->offset says where), -TACT_E_LIMIT, -TACT_E_INVAL for no code,
 * -TACT_E_NOMEM.  After a failure the block is empty.
 */
int tact_block_load(struct tact_block *block, const uint8_t *code, size_t size,
		    struct tact_diag *diag);

/* Lowers the loaded code again, for another architecture or other options, without decoding it.
 * arch or opt may be NULL: as before.  Returns -TACT_E_INVAL if arch has another instruction set.
 */
int tact_block_rebind(struct tact_block *block, const struct tact_arch *arch,
		      const struct tact_block_options *opt);

const struct tact_arch *tact_block_arch(const struct tact_block *block);
enum tact_mode tact_block_mode(const struct tact_block *block); /* LOOP or UNROLL, never AUTO */

/* Instructions: their number, one of them with its constants filled in, its offset in the code. */
size_t tact_block_length(const struct tact_block *block);
int tact_block_insn(const struct tact_block *block, size_t i, struct tact_insn *insn);
size_t tact_block_offset(const struct tact_block *block, size_t i);
const uint8_t *tact_block_code(const struct tact_block *block, size_t *size);

/* Share of the instructions that the tables have data for. */
double tact_block_coverage(const struct tact_block *block);

enum tact_note {
	TACT_NOTE_UNKNOWN = 1 << 0,    /* no data: counted as one uop that needs no port */
	TACT_NOTE_FUSED_PREV = 1 << 1, /* macro-fused with the instruction before */
	TACT_NOTE_FUSED_NEXT = 1 << 2,
	TACT_NOTE_ELIMINATED = 1 << 3, /* a move that the renamer may execute */
	TACT_NOTE_IDIOM = 1 << 4,      /* needs no port and does not wait for its registers */
	TACT_NOTE_MICROCODED = 1 << 5,
	TACT_NOTE_JCC = 1 << 6, /* keeps its window out of the DSB (JCC erratum) */
	TACT_NOTE_LCP = 1 << 7,
	TACT_NOTE_COMPLEX = 1 << 8,	/* needs the complex decoder */
	TACT_NOTE_UNLAMINATED = 1 << 9, /* more fused uops behind the renamer than in front of it */
	TACT_NOTE_STACK_SYNC =
		1 << 10 /* a uop in front of it writes the stack engine's offset back */
};

/* What an instruction costs in this block. */
struct tact_insn_cost {
	size_t size;
	unsigned notes;	   /* bits of enum tact_note */
	unsigned uops;	   /* unfused */
	unsigned issued;   /* fused, after unlamination */
	unsigned mite, ms; /* from decoders (or DSB, LSD) and from the microcode sequencer */
	unsigned divider;  /* cycles */
	double port[TACT_MAX_PORTS]; /* uops by port, spread over the block so that the busiest port
			    is as idle as possible */
};

int tact_block_cost(struct tact_block *block, size_t i, struct tact_insn_cost *cost);

#ifdef __cplusplus
}
#endif

#endif /* TACT_BLOCK_H */

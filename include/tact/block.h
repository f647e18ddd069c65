/* SPDX-License-Identifier: MIT
 *
 * A basic block on one microarchitecture: decoded, fused, lowered to uops, with its dependence
 * graph.
 *
 * A block belongs to one thread at a time; different blocks may be used by different threads at
 * once, also if they share a microarchitecture.
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

/* Which throughput is meant: that of the block unrolled (TP_U), or as a loop (TP_L), in which case
 * the block ends in the branch of the loop.
 */
enum tact_mode {
	TACT_MODE_AUTO, /* loop if the block ends in a branch to its start, else unrolled */
	TACT_MODE_LOOP,
	TACT_MODE_UNROLL
};

/* What registers hold at entry, for dependences through memory. */
enum tact_init {
	TACT_INIT_STACK, /* the same value, but stack and frame pointer have values of their own */
	TACT_INIT_SAME,	 /* all the same value */
	TACT_INIT_DIFF	 /* all different values */
};

/* Where loads find their data.  Only latencies differ: what a level delivers per cycle is not
 * modelled.
 */
enum tact_memory {
	TACT_MEMORY_L1,
	TACT_MEMORY_L2,
	TACT_MEMORY_L3,
	TACT_MEMORY_RAM,
	TACT_N_MEMORIES /* those that this version knows */
};

/* Which loads meet stores, and so wait for them. */
enum tact_alias {
	TACT_ALIAS_ADDRESSES, /* those whose addresses tell: the values of their registers, as far
				 as these are known, and constants */
	TACT_ALIAS_NEVER,     /* none: a load never waits for a store */
	TACT_ALIAS_ALWAYS     /* all: a load waits for the store before it, wherever that goes */
};

/* Return the name of a value, as options and files spell it: "auto", "loop" or "unroll"; "stack",
 * "same" or "diff".  Other values give "unknown".
 */
const char *tact_mode_name(enum tact_mode mode);
const char *tact_init_name(enum tact_init init);

/* Returns "l1", "l2", "l3" or "ram"; "unknown" for other values. */
const char *tact_memory_name(enum tact_memory memory);

struct tact_block_options {
	size_t size; /* sizeof(struct tact_block_options), set by the caller */
	enum tact_mode mode;
	enum tact_init init;
	unsigned alignment;	 /* address of the first byte; only its value modulo 64 counts */
	bool paper;		 /* restrict the model to what the FACILE paper describes */
	enum tact_memory memory; /* of all loads that meet no store of the block */
	enum tact_alias alias;
	/* General registers (bit r: register r) that code outside of the block changes from one
	 * iteration to the next, in a way that is not known: addresses with them never meet those
	 * of other iterations.
	 */
	uint32_t moving;
	/* What code before the block has set that costs depend on, as the set numbers it: for RISC-V
	 * 1 + vlmul, and 1 + vsew in the second byte, as in vtype; 0: it is not known, and the end of
	 * the block tells what its next iteration begins with.
	 */
	uint16_t setting;
};
#define TACT_BLOCK_OPTIONS_INIT TACT_SIZED(struct tact_block_options)

/* The longest code that is accepted; no basic block of real code comes near. */
enum { TACT_BLOCK_MAX_BYTES = 1 << 16 };

struct tact_block;

/* ---- making and loading one ---- */

/* Creates an empty block, which may be loaded any number of times.  It remembers decoded
 * instructions, so a block that is reused becomes fast: create one per thread, not one per load.
 * opt may be NULL, which means the same as all zeros; it is copied.
 *
 * The block borrows arch: one that tact_arch_derive or tact_arch_copy made must outlive the block,
 * unless the block is only destroyed or bound to another one (tact_block_rebind) afterwards.
 *
 * The caller owns *out and gives it to tact_block_destroy.  Returns 0, or with *out set to NULL:
 *   -TACT_E_INVAL  out or arch is NULL, or opt has values that this library does not know
 *   -TACT_E_NOMEM  out of memory
 */
int tact_block_create(struct tact_block **out, const struct tact_arch *arch,
		      const struct tact_block_options *opt, struct tact_diag *diag);

/* Destroys a block, and with it everything that functions have said the block owns.  NULL is
 * allowed.
 */
void tact_block_destroy(struct tact_block *block);

/* Decodes and lowers `size` bytes of code, which are copied.  Allocates only while buffers grow to
 * the largest block seen.
 *
 * Returns 0, or with the block left empty:
 *   -TACT_E_INVAL   block or code is NULL, or size is 0
 *   -TACT_E_LIMIT   there are more than TACT_BLOCK_MAX_BYTES
 *   -TACT_E_DECODE  some bytes are not an instruction; diag->offset says where they begin
 *   -TACT_E_NOMEM   out of memory
 */
int tact_block_load(struct tact_block *block, const uint8_t *code, size_t size,
		    struct tact_diag *diag);

/* Lowers the loaded code again for another microarchitecture or with other options, without
 * decoding it.  NULL for arch or opt leaves that one as it was.  An empty block stays empty and is
 * loaded with the new settings later.  The block borrows arch as in tact_block_create, and does not
 * refer to its previous one any more.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  block is NULL, arch has another instruction set, or opt has values that this
 *                  library does not know; the block is as it was
 *   -TACT_E_NOMEM  out of memory; the block is empty, with the new settings
 */
int tact_block_rebind(struct tact_block *block, const struct tact_arch *arch,
		      const struct tact_block_options *opt);

/* ---- changing it ---- */

/* Change one instruction of a loaded block.  tact_block_replace puts the instruction that `bytes`
 * hold, which may have another length, in place of instruction i.  tact_block_insert puts one
 * before instruction i, or at the end if i is tact_block_length.  tact_block_erase removes
 * instruction i.  `bytes` may point into the block's own code.
 *
 * Afterwards, predictions, costs and explanations are those that a load of the changed code gives,
 * to the last bit.  A load takes several times as long: these functions decode and lower one
 * instruction only.  They allocate nothing once buffers have grown.
 *
 * The other instructions keep their bytes.  So a relative branch keeps its encoded distance, and
 * with TACT_MODE_AUTO a loop whose length changes is no longer taken as a loop.
 *
 * Return 0, or with the block as it was:
 *   -TACT_E_INVAL   block or bytes is NULL, n_bytes is 0, the block is empty, there is no such
 *                   instruction, or no code would be left
 *   -TACT_E_DECODE  the bytes are not exactly one instruction; diag->offset is its place
 *   -TACT_E_LIMIT   the code would be longer than TACT_BLOCK_MAX_BYTES
 *   -TACT_E_NOMEM   out of memory
 */
int tact_block_replace(struct tact_block *block, size_t i, const uint8_t *bytes, size_t n_bytes,
		       struct tact_diag *diag);
int tact_block_insert(struct tact_block *block, size_t i, const uint8_t *bytes, size_t n_bytes,
		      struct tact_diag *diag);
int tact_block_erase(struct tact_block *block, size_t i, struct tact_diag *diag);

/* Says where the loads of instruction i find their data, whatever the options say.  It holds until
 * the block is loaded again or the instruction is replaced.
 *
 * Returns 0, or -TACT_E_INVAL if block is NULL, there is no instruction i, or there is no such
 * memory.
 */
int tact_block_set_memory(struct tact_block *block, size_t i, enum tact_memory memory);

/* Sets the latency of instruction i, from each input to each result that depends on it, whatever
 * the tables say; that of a load includes the access.  Throughput stays: uops and ports are those
 * of the tables.  A move is no longer eliminated.  Instructions without inputs, moves that never
 * need a port, and those that are fused with the one before do not change.  The models mca and
 * llvm-mca do not know of it.
 *
 * It holds until the block is loaded again or the instruction is replaced.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  block is NULL, there is no instruction i, or cycles is not from 1 to
 *                  TACT_MAX_LATENCY
 *   -TACT_E_NOMEM  out of memory; the block is as it was
 */
enum { TACT_MAX_LATENCY = 1000 };
int tact_block_set_latency(struct tact_block *block, size_t i, unsigned cycles);

/* Says that something sets, before instruction i, what costs depend on: parts of a setting as in
 * struct tact_block_options; a byte that is 0 leaves its part as it is.  Instructions of the block
 * that set it come after it.  It holds until the block is loaded again.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  block is NULL, there is no instruction i, or its set has no settings
 *   -TACT_E_NOMEM  out of memory; the block is empty
 */
int tact_block_set_setting(struct tact_block *block, size_t i, uint16_t setting);

/* Returns how many instructions have costs that depend on a setting which is not known: they have
 * LLVM's default.  NULL gives 0.
 */
size_t tact_block_unset(const struct tact_block *block);

/* Returns how many instructions are of an extension that the CPU lacks, as LLVM knows it, and stores
 * the first of them in *first unless that is NULL or there is none.  Their costs are those that LLVM's
 * model has nevertheless.  0 for NULL, and for CPUs that are not LLVM's.
 */
size_t tact_block_foreign(const struct tact_block *block, size_t *first);

/* ---- what is in it ---- */

/* Returns the microarchitecture that the block is bound to.  NULL gives NULL. */
const struct tact_arch *tact_block_arch(const struct tact_block *block);

/* Returns how the loaded code is taken: TACT_MODE_LOOP or TACT_MODE_UNROLL.  NULL and an empty
 * block give TACT_MODE_AUTO.
 */
enum tact_mode tact_block_mode(const struct tact_block *block);

/* Returns the number of instructions; 0 for NULL and for an empty block. */
size_t tact_block_length(const struct tact_block *block);

/* Fills *insn with instruction i, its constants included.  Returns 0, or -TACT_E_INVAL if an
 * argument is NULL or there is no instruction i.
 */
int tact_block_insn(const struct tact_block *block, size_t i, struct tact_insn *insn);

/* Returns the offset of instruction i in the code; past the last one, the size of the code.  NULL
 * gives 0.
 */
size_t tact_block_offset(const struct tact_block *block, size_t i);

/* Returns the loaded code, which the block owns and which is valid until it is loaded, changed or
 * destroyed, and stores its size in *size unless size is NULL.  NULL and an empty block give NULL
 * and a size of 0.
 */
const uint8_t *tact_block_code(const struct tact_block *block, size_t *size);

/* Returns the share of the instructions that the tables have data for, from 0 to 1.  NULL and an
 * empty block give 0.
 */
double tact_block_coverage(const struct tact_block *block);

/* ---- what it costs ---- */

enum tact_note {
	TACT_NOTE_UNKNOWN = 1 << 0,	/* no data: counted as one uop that needs no port */
	TACT_NOTE_FUSED_PREV = 1 << 1,	/* macro-fused with the instruction before */
	TACT_NOTE_FUSED_NEXT = 1 << 2,	/* macro-fused with the instruction after */
	TACT_NOTE_ELIMINATED = 1 << 3,	/* a move that the renamer may execute */
	TACT_NOTE_IDIOM = 1 << 4,	/* needs no port and does not wait for its registers */
	TACT_NOTE_MICROCODED = 1 << 5,	/* some uops come from the microcode sequencer */
	TACT_NOTE_JCC = 1 << 6,		/* keeps its window out of the DSB (JCC erratum) */
	TACT_NOTE_LCP = 1 << 7,		/* has a length-changing prefix */
	TACT_NOTE_COMPLEX = 1 << 8,	/* needs the complex decoder */
	TACT_NOTE_UNLAMINATED = 1 << 9, /* more fused uops after the renamer than before it */
	TACT_NOTE_STACK_SYNC = 1 << 10, /* a uop before it writes the stack engine's offset back */
	TACT_NOTE_SWITCHES = 1 << 11	/* saves or restores upper parts of vector registers */
};

/* What an instruction costs in its block.  For a macro-fused pair, the first instruction is charged
 * with everything.
 */
struct tact_insn_cost {
	size_t size;	   /* sizeof(struct tact_insn_cost), set by the caller */
	unsigned notes;	   /* bits of enum tact_note */
	unsigned uops;	   /* unfused */
	unsigned issued;   /* fused, after unlamination */
	unsigned mite, ms; /* from decoders (or DSB, LSD) and from the microcode sequencer */
	unsigned divider;  /* cycles */
	double port[TACT_MAX_PORTS]; /* uops by port, spread over the block so that the busiest port
					is as idle as possible */
	/* Cycles in which no other instruction of this kind starts: the divider's, or those of
	 * microcode, locks and fences that do not overlap.
	 */
	unsigned exclusive;
};
#define TACT_INSN_COST_INIT TACT_SIZED(struct tact_insn_cost)

/* Fills *cost for instruction i.  Allocates on the first call for a block.
 *
 * Returns 0, or:
 *   -TACT_E_INVAL  an argument is NULL, there is no instruction i, or cost->size is not set
 *   -TACT_E_NOMEM  out of memory
 */
int tact_block_cost(struct tact_block *block, size_t i, struct tact_insn_cost *cost);

#ifdef __cplusplus
}
#endif

#endif /* TACT_BLOCK_H */

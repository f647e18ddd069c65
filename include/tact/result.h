/* SPDX-License-Identifier: MIT
 *
 * What a run took, by function, block, source line and thread; and how two runs differ.
 * doc/formats.md describes the stored form.
 */
#ifndef TACT_RESULT_H
#define TACT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/cycles.h>
#include <tact/insn.h>
#include <tact/status.h>
#include <tact/symbols.h>
#include <tact/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tact_result_kind {
	TACT_RESULT_FUNCTION,
	TACT_RESULT_BLOCK, /* as QEMU translated it: some overlap.  Of a run with more than 32768
			      those with the least cycles are one row for each function, without
			      code */
	TACT_RESULT_LINE,
	TACT_RESULT_THREAD,
	TACT_N_RESULT_KINDS
};

/* A part of the run.  What does not belong to its kind is 0, NULL or "". */
struct tact_result_row {
	size_t size;
	const char *module;   /* path of the file; "": none */
	const char *function; /* as struct tact_place has it */
	const char *source;   /* of a line: its file; of a block: that of its first instruction */
	int line;
	uint64_t address;	    /* of a block in its file, or of a function's first byte */
	const struct tact_isa *isa; /* of its code */
	const uint8_t *code;	    /* of a block */
	uint32_t code_size;
	const float *insns; /* of a block: cycles by instruction (see tact_cycles_get_insns); NULL:
			       not asked for */
	uint32_t n_insns;
	uint32_t thread, process; /* of a thread: numbers in this run */
	uint64_t executions;	  /* of a function: how often it was entered at its first byte */
	uint64_t instructions;
	double cycles, uops[TACT_MAX_PORTS], stalls[TACT_N_STALLS];
	double bound; /* cycles if all executions took what FACILE says of the block alone; of a
			 block with less than 1/100,000 of all cycles: its cycles */
	uint32_t bottlenecks; /* bits of enum tact_bound: FACILE's bound where the block ran at
				 about it, or hardly stalled (see tact/cycles.h); of a function or
				 line: those of most of its cycles, a quarter at least.  0: what
				 stalled it is the reason */
	uint64_t unknown;     /* executed instructions without data */
};

struct tact_result_info {
	size_t size;
	const char *arch;    /* "SKL" */
	const char *command; /* what was run, or the name of the trace; "" if it is not known */
	bool is_exact, has_caches, has_branches;
	bool is_partial; /* the trace was cut short, or the program was ended */
	struct tact_cycles_totals totals;
};

struct tact_result; /* immutable once it is made */

enum tact_result_part { TACT_RESULT_WITH_LINES = 1, TACT_RESULT_WITH_INSNS = 2 };

/* Made of a run whose events have all been given to `cycles`, which has been finished.  Strings of
 * the info are copied; its totals are taken from `cycles`.  Everything is copied: trace, cycles and
 * symbols may go.  parts: bits of enum tact_result_part, for what takes time or memory.
 * Cycles of lines, and of functions that share a block, are those of their instructions: see
 * tact_cycles_get_insns.
 * Returns -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_result_create(struct tact_result **out, const struct tact_result_info *info,
		       const struct tact_cycles *cycles, const struct tact_trace *trace,
		       struct tact_symbols *symbols, unsigned parts, struct tact_diag *diag);

/* Adds a thread.  Rows of threads that were asked for before are gone. */
int tact_result_add_thread(struct tact_result *result, uint32_t process, uint32_t thread,
			   double cycles, uint64_t instructions);

/* Reads a stored result; "-" is standard input.
 * Returns -TACT_E_IO, -TACT_E_FORMAT (diag has the line), -TACT_E_VERSION, -TACT_E_LIMIT,
 * -TACT_E_NOMEM.
 */
int tact_result_load(struct tact_result **out, const char *path, struct tact_diag *diag);
int tact_result_load_memory(struct tact_result **out, const void *data, size_t size,
			    struct tact_diag *diag);
/* Whether a file is one, by its first byte or its name. */
bool tact_result_is_one(const char *path);
void tact_result_destroy(struct tact_result *result); /* NULL is allowed */

/* Writes the stored form.  `write` gets pieces of text; if it returns anything but 0, that is the
 * end.  Returns 0, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_result_write(const struct tact_result *result,
		      int (*write)(void *arg, const char *data, size_t size), void *arg);

const struct tact_result_info *tact_result_get_info(const struct tact_result *result);

/* Rows of a kind: *n of them, those with most cycles first. */
const struct tact_result_row *tact_result_rows(const struct tact_result *result,
					       enum tact_result_kind kind, size_t *n);

/* "front_end", ...: tact_stall_name for programs. */
const char *tact_stall_column(enum tact_stall stall);

/* ---- two of them ---- */

struct tact_diff; /* refers to both results, which have to stay */

/* Functions are matched by name and file, then by name alone; those without a name by the content
 * of the block that takes most of their cycles.  Blocks of matched functions are matched by
 * content: addresses and displacements that only say where code or data lies do not count.
 */
int tact_diff_create(struct tact_diff **out, const struct tact_result *a,
		     const struct tact_result *b, struct tact_diag *diag);
void tact_diff_destroy(struct tact_diff *diff); /* NULL is allowed */

const struct tact_result *tact_diff_side(const struct tact_diff *diff, unsigned side); /* 0: A */
double
tact_diff_ratio(const struct tact_diff *diff); /* cycles of B over those of A; 0: none in A */

struct tact_diff_row {
	size_t size;
	const struct tact_result_row *a,
		*b; /* NULL: only in the other; blocks of the same content in one
		       function are summed up, and this is the first one */
	double cycles[2];
	uint64_t executions[2], instructions[2];
	double stalls[2][TACT_N_STALLS];
	uint32_t function; /* number of the row of its function */
};

/* Rows of functions or blocks, those whose cycles changed most first. */
const struct tact_diff_row *tact_diff_rows(const struct tact_diff *diff, enum tact_result_kind kind,
					   size_t *n);

/* Executed instructions of a function by mnemonic, those whose number changed most first.  row is a
 * row of functions; NULL: all.  Fills up to `capacity` and returns how many there are, or
 * -TACT_E_NOMEM.
 */
struct tact_diff_insn {
	char mnemonic[24];
	uint64_t executed[2];
};
long tact_diff_insns(const struct tact_diff *diff, const struct tact_diff_row *row,
		     struct tact_diff_insn *out, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* TACT_RESULT_H */

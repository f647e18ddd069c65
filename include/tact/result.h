/* SPDX-License-Identifier: MIT
 *
 * Results of traced runs: cycles by function, block, source line and thread; and how two runs
 * differ.  doc/formats.md describes the stored form.
 *
 * Results and comparisons do not change once they are made: any number of threads may read them at
 * once.
 */
#ifndef TACT_RESULT_H
#define TACT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/cycles.h>
#include <tact/insn.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tact_result_kind {
	TACT_RESULT_FUNCTION,
	TACT_RESULT_BLOCK, /* as QEMU translated it: some overlap.  In a run with more than 32768
			      blocks, those with the fewest cycles share one row per function, which
			      has no code */
	TACT_RESULT_LINE,  /* only if they were asked for: see enum tact_result_part */
	TACT_RESULT_THREAD,
	TACT_N_RESULT_KINDS
};

/* Parts of a result that take more time or memory: bits. */
enum tact_result_part {
	TACT_RESULT_WITH_LINES = 1,
	TACT_RESULT_WITH_INSNS = 2,
	TACT_RESULT_WITH_CALLS = 4
};

struct tact_result;

/* ---- loading and storing ---- */

/* Loads a stored result; the path "-" means standard input.  Returns 0 with a result for
 * tact_result_destroy, or:
 *   -TACT_E_INVAL    no path
 *   -TACT_E_IO       the file cannot be read
 *   -TACT_E_FORMAT   not a stored result; diag->line says where
 *   -TACT_E_VERSION  a result of another version
 *   -TACT_E_LIMIT    more than four million rows
 *   -TACT_E_NOMEM
 */
int tact_result_load(struct tact_result **out, const char *path, struct tact_diag *diag);

/* Loads the stored results of a run on several CPUs, at most `most`, which tact_result_load refuses.
 * Returns their number, with results for tact_result_destroy, or errors of tact_result_load;
 * -TACT_E_INVAL without room, -TACT_E_LIMIT if there are more.
 */
long tact_result_load_all(struct tact_result **out, size_t most, const char *path,
			  struct tact_diag *diag);

/* Loads a stored result from memory, which is not needed after the call.  Returns as
 * tact_result_load does.
 */
int tact_result_load_memory(struct tact_result **out, const void *data, size_t size,
			    struct tact_diag *diag);

/* Destroys a result.  NULL is allowed. */
void tact_result_destroy(struct tact_result *result);

/* Writes the stored form, one JSON object per line.  `write` gets the text in pieces; it ends the
 * writing by returning anything but 0.  Returns 0, also if `write` ended it, -TACT_E_INVAL without
 * a result or `write`, -TACT_E_NOMEM.
 */
int tact_result_write(const struct tact_result *result,
		      int (*write)(void *arg, const char *data, size_t size), void *arg);

/* ---- reading ---- */

/* How a result was made.  Strings are owned by the result. */
struct tact_result_info {
	size_t size;
	const char *arch;    /* "SKL" */
	const char *command; /* what was run, or the name of the trace; "" if unknown */
	bool is_exact, has_caches, has_branches; /* see struct tact_cycles_options */
	bool is_partial; /* the trace was cut short, or the program was ended early */
};
#define TACT_RESULT_INFO_INIT TACT_SIZED(struct tact_result_info)

/* Gets how a result was made.  Returns 0, or -TACT_E_INVAL without a result or out->size. */
int tact_result_get_info(const struct tact_result *result, struct tact_result_info *out);

/* Gets the sums over the whole run.  Returns 0, or -TACT_E_INVAL without a result or out->size. */
int tact_result_get_totals(const struct tact_result *result, struct tact_cycles_totals *out);

/* Return the name of something that costs time on a CPU and is not part of the result ("kernel", "page
 * faults"), and that of a part of the microarchitecture with parameters that were never measured
 * ("caches" if most of them were not, otherwise "prefetchers" and the like), by number from 0.  NULL
 * past the last one and without a result.
 */
const char *tact_result_unmodelled(const struct tact_result *result, size_t i);
const char *tact_result_unmeasured(const struct tact_result *result, size_t i);

/* A function, block, source line or thread of a run.  Members that do not apply to its kind are 0,
 * NULL or "".  Strings, code and insns are owned by the result.
 */
struct tact_result_row {
	size_t size;
	const char *module;   /* path of the file; "": none */
	const char *function; /* as in struct tact_place */
	const char *source;   /* of a line: its file; of a block: that of its first instruction */
	int line;
	uint64_t address;	    /* of a block, or of a function's first byte, in its file */
	const struct tact_isa *isa; /* of the code */
	const uint8_t *code;	    /* of a block */
	uint32_t code_size;
	const float *insns; /* of a block: cycles by instruction, see tact_cycles_get_insns; NULL
			       without TACT_RESULT_WITH_INSNS */
	uint32_t n_insns;
	uint32_t thread, process; /* of a thread: numbers in this run */
	uint64_t executions;	  /* of a function: how often it was entered at its first byte */
	uint64_t instructions;	  /* executed */
	double cycles;
	double uops[TACT_MAX_PORTS];	/* by port */
	double stalls[TACT_MAX_STALLS]; /* cycles, by enum tact_stall */
	double bound; /* cycles if every execution took what FACILE predicts for the block alone;
			 for a block with less than 1/100,000 of all cycles: its cycles */
	uint32_t bottlenecks; /* bits of enum tact_bound.  Of a block: as tact_cycles_block.limits;
				 of a function or line: those of most of its cycles, at least a
				 quarter.  0: the stalls are the reason */
	uint64_t unknown;     /* executed instructions without data */
};
#define TACT_RESULT_ROW_INIT TACT_SIZED(struct tact_result_row)

/* Returns the number of rows of a kind; 0 for an unknown kind and for a result of NULL. */
size_t tact_result_count(const struct tact_result *result, enum tact_result_kind kind);

/* Gets row i of a kind; the row with the most cycles is row 0.  Returns 0, or -TACT_E_INVAL if
 * there is no such row or kind, without a result or out->size.
 */
int tact_result_get_row(const struct tact_result *result, enum tact_result_kind kind, size_t i,
			struct tact_result_row *out);

/* ---- calls ---- */

#define TACT_NO_ROW SIZE_MAX

/* A function below the path of its callers.  A function that calls itself has one row for all of
 * these calls; jumps to another function (tail calls) take the place of the one that jumps.  Paths
 * with few cycles share a row below their caller: "[other calls]".  Strings are owned by the
 * result.
 */
struct tact_result_call {
	size_t size;
	size_t parent;	      /* number of its caller's row, less than its own; TACT_NO_ROW: none */
	unsigned depth;	      /* callers above it */
	const char *module;   /* path of the file; "": none */
	const char *function; /* as in struct tact_place */
	uint64_t calls;
	uint64_t instructions; /* executed by it and by what it called */
	double cycles;	       /* of it and of what it called */
	double self;	       /* of it alone */
};
#define TACT_RESULT_CALL_INIT TACT_SIZED(struct tact_result_call)

/* Returns the number of call paths; 0 without TACT_RESULT_WITH_CALLS and for NULL. */
size_t tact_result_count_calls(const struct tact_result *result);

/* Gets call path i.  Each comes right after its caller or the callees of its caller that have more
 * cycles.  Returns 0, or -TACT_E_INVAL if there is no such path, without a result or out->size.
 */
int tact_result_get_call(const struct tact_result *result, size_t i, struct tact_result_call *out);

/* ---- two results side by side ---- */

struct tact_diff;

/* Compares two results, which must outlive the comparison.  Functions are matched by name and file,
 * then by name alone; variants that a compiler made of a function (hash.constprop.0) belong to it.
 * Functions without a name are matched by the content of the block that takes most of their cycles.
 * Blocks of matched functions are matched by content: addresses and displacements that only say
 * where code or data lies do not count.  Returns 0 with a handle for tact_diff_destroy,
 * -TACT_E_INVAL if a result is missing, -TACT_E_NOMEM.
 */
int tact_diff_create(struct tact_diff **out, const struct tact_result *a,
		     const struct tact_result *b, struct tact_diag *diag);

/* Destroys a comparison.  NULL is allowed. */
void tact_diff_destroy(struct tact_diff *diff);

/* Returns result A for side 0 and result B for side 1; NULL for other sides and for NULL. */
const struct tact_result *tact_diff_side(const struct tact_diff *diff, unsigned side);

/* Returns the cycles of B divided by those of A; 0 if A has none, and for NULL. */
double tact_diff_ratio(const struct tact_diff *diff);

/* A function or block in both results.  Blocks of one function with the same content share a row.
 */
struct tact_diff_row {
	size_t size;
	size_t row[2];	  /* its number among the rows of A and of B, for tact_result_get_row; of
			     blocks that share a row: the first one; TACT_NO_ROW: not there */
	size_t function;  /* number of the function's row in this comparison */
	double cycles[2]; /* in A and in B; so are the next ones */
	uint64_t executions[2], instructions[2];
	double stalls[2][TACT_MAX_STALLS]; /* cycles, by enum tact_stall */
};
#define TACT_DIFF_ROW_INIT TACT_SIZED(struct tact_diff_row)

/* Returns the number of rows of a kind: TACT_RESULT_FUNCTION or TACT_RESULT_BLOCK; 0 for any other
 * kind and for NULL.
 */
size_t tact_diff_count(const struct tact_diff *diff, enum tact_result_kind kind);

/* Gets row i of a kind; the row whose cycles changed most is row 0.  Returns 0, or -TACT_E_INVAL if
 * there is no such row or kind, without a comparison or out->size.
 */
int tact_diff_get_row(const struct tact_diff *diff, enum tact_result_kind kind, size_t i,
		      struct tact_diff_row *out);

/* Executions of the instructions with one mnemonic in A and in B.  This struct never changes. */
struct tact_diff_insn {
	char mnemonic[24];
	uint64_t executed[2];
};

/* Counts the executed instructions of a function by mnemonic, or of all functions if `function` is
 * TACT_NO_ROW; the mnemonic whose number changed most comes first.  Fills up to `capacity` and
 * returns how many there are, -TACT_E_INVAL if there is no such function, without a comparison, or
 * with a capacity but no `out`; -TACT_E_NOMEM.
 */
long tact_diff_get_insns(const struct tact_diff *diff, size_t function, struct tact_diff_insn *out,
			 size_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* TACT_RESULT_H */

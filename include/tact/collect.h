/* SPDX-License-Identifier: MIT
 *
 * Basic blocks of real programs: those that a program executes, with how often, or those that an
 * ELF file has.
 *
 * A block is straight code that is entered at its first instruction and left at its last one: it
 * ends after a branch, call, return or system call, and before the target of a branch.
 *
 * A collection belongs to one thread at a time; different collections may be used by different
 * threads at once.
 */
#ifndef TACT_COLLECT_H
#define TACT_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>
#include <tact/store.h>
#include <tact/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- collecting ---- */

struct tact_collect_options {
	size_t size;	/* sizeof(struct tact_collect_options) */
	bool no_branch; /* cuts off the branch, call, return or system call that ends a block; a
			   block that has nothing else is left out */
};
#define TACT_COLLECT_OPTIONS_INIT TACT_SIZED(struct tact_collect_options)

struct tact_collect;

/* Creates an empty collection.  opt may be NULL.  The caller destroys *out; it is NULL on failure.
 * -TACT_E_INVAL: out is NULL, or the options are of a newer version.
 * -TACT_E_NOMEM: out of memory.
 */
int tact_collect_create(struct tact_collect **out, const struct tact_collect_options *opt);

/* Destroys a collection.  NULL is allowed. */
void tact_collect_destroy(struct tact_collect *collect);

/* Collects the blocks of a trace from where it stands to its end.  The trace may be closed
 * afterwards.  What came before an error is collected.
 * -TACT_E_INVAL: collect or trace is NULL.
 * -TACT_E_NOMEM: out of memory.
 * It also fails with errors of tact_trace_next.
 */
int tact_collect_trace(struct tact_collect *collect, struct tact_trace *trace,
		       struct tact_diag *diag);

/* Collects all blocks of an ELF file: first from its entry, symbols and unwind tables along
 * branches and calls, then from the code in between.
 * -TACT_E_INVAL: collect or path is NULL.
 * -TACT_E_IO: the file cannot be read.
 * -TACT_E_FORMAT: it is not an ELF file whose code can be read.
 * -TACT_E_LIMIT: a section has 4 GiB of code or more.
 * -TACT_E_NOMEM: out of memory.
 */
int tact_collect_file(struct tact_collect *collect, const char *path, struct tact_diag *diag);

/* ---- results ---- */

/* A collected block.  The collection owns the code and the names; they are valid until the sink
 * returns.
 */
struct tact_collect_block {
	size_t size; /* set by the library: how much of the struct there is */
	const uint8_t *code;
	size_t code_size;
	uint64_t address;     /* as the file has it; for code of no file, where it was in memory */
	const char *module;   /* path of the file; "" if there is none */
	const char *function; /* "" if no symbol covers it, and the program has told none */
	uint64_t count;	      /* how often it was executed; 0 if it comes from a file */
};

/* Hands the blocks to a sink: most often executed first, then by file and address.  The same code
 * at several places is several blocks.  Stops when the sink returns something other than 0, and
 * returns that; returns 0 after the last block.
 * -TACT_E_INVAL: collect or sink is NULL.
 * -TACT_E_NOMEM: out of memory.
 */
int tact_collect_finish(struct tact_collect *collect,
			int (*sink)(void *arg, const struct tact_collect_block *block), void *arg);

/* Puts the blocks into a store instead, as blocks of an application.  The same code at several
 * places is one block; its weight is the sum of all counts, or not known without has_counts (for
 * files).  Blocks longer than TACT_BLOCK_MAX_BYTES are left out.
 * -TACT_E_INVAL: collect, store or app is NULL, app is not a name for a store, or the store is
 *     between tact_store_begin and _end.
 * -TACT_E_NOMEM: out of memory.
 * It also fails with errors of the store.
 */
int tact_collect_store(struct tact_collect *collect, struct tact_store *store, const char *app,
		       bool has_counts, struct tact_diag *diag);

/* What the last tact_collect_finish or tact_collect_store has handed over. */
struct tact_collect_summary {
	size_t size;	   /* sizeof(struct tact_collect_summary) */
	uint64_t n_blocks; /* handed over */
	uint64_t n_insns;  /* in these blocks */
	uint64_t executed_blocks, executed_insns;
	uint64_t n_undecoded; /* places where code could not be decoded */
};
#define TACT_COLLECT_SUMMARY_INIT TACT_SIZED(struct tact_collect_summary)

/* Fills the summary.  Returns 0.
 * -TACT_E_INVAL: collect or out is NULL, or out->size is 0.
 */
int tact_collect_get_summary(const struct tact_collect *collect, struct tact_collect_summary *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_COLLECT_H */

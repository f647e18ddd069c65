/* SPDX-License-Identifier: MIT
 *
 * Basic blocks of real programs: those that a program executes, with how often, or those that an
 * ELF file has.
 *
 * A block is straight code that is entered at its first instruction and left at its last one: it
 * ends behind a branch, call, return or call of the kernel, and in front of the target of a branch.
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

struct tact_collect_options {
	size_t size;
	bool no_branch; /* without the instruction that ends a block, if it is a branch, call,
			   return or call of the kernel; a block that was nothing else is left out
			 */
};

struct tact_collect_block {
	size_t size;
	const uint8_t *code; /* owned by the collection until the sink returns, as are the names */
	size_t code_size;
	uint64_t address;     /* as the file has it; for code of no file, where it was in memory */
	const char *module;   /* path of the file; "" if there is none */
	const char *function; /* "" if no symbol covers it */
	uint64_t count;	      /* how often it was executed; 0 if it comes from a file */
};

struct tact_collect; /* one thread at a time */

/* opt may be NULL.  Returns -TACT_E_INVAL, -TACT_E_NOMEM. */
int tact_collect_create(struct tact_collect **out, const struct tact_collect_options *opt);
void tact_collect_destroy(struct tact_collect *collect); /* NULL is allowed */

/* Takes what is left of a trace, of either mode.  Errors are those of tact_trace_next; what came
 * before one is collected.
 */
int tact_collect_trace(struct tact_collect *collect, struct tact_trace *trace,
		       struct tact_diag *diag);

/* All blocks of an ELF file: from its entry, symbols and unwind tables along branches and calls,
 * then from what lies between.  Returns -TACT_E_IO, -TACT_E_FORMAT, -TACT_E_NOMEM.
 */
int tact_collect_file(struct tact_collect *collect, const char *path, struct tact_diag *diag);

/* Hands over the blocks: those that were executed most often first, then by file and address.  The
 * same code at several places is several blocks.  A sink that returns other than 0 ends it.
 * Returns that, 0, or -TACT_E_NOMEM.
 */
int tact_collect_finish(struct tact_collect *collect,
			int (*sink)(void *arg, const struct tact_collect_block *block), void *arg);

/* Instead of a sink: into a store, as blocks of an application.  The same code at several places is
 * one block; its weight is the sum of all counts, or not known without has_counts (for files).
 * Returns 0, -TACT_E_INVAL, -TACT_E_NOMEM, or errors of the store.
 */
int tact_collect_store(struct tact_collect *collect, struct tact_store *store, const char *app,
		       bool has_counts, struct tact_diag *diag);

struct tact_collect_summary {
	size_t size;
	uint64_t n_blocks; /* handed over */
	uint64_t n_insns;  /* in them */
	uint64_t executed_blocks, executed_insns;
	uint64_t n_undecoded; /* places where code could not be decoded */
};

/* After one of them. */
void tact_collect_get_summary(const struct tact_collect *collect, struct tact_collect_summary *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_COLLECT_H */

/* SPDX-License-Identifier: MIT
 *
 * Files of counts as they are written; counts.c reads them.
 */
#ifndef MIX_COUNTS_FILE_H
#define MIX_COUNTS_FILE_H

#include <tact/trace.h>

#include "mix/mix.h"

/* A block and how often it ran. */
struct mix_counted {
	const struct tact_trace_block *block;
	uint64_t count;
	const double *spread; /* the part of it in each group of windows; NULL: every execution was
				 counted */
};

/* What is written.  Everything is borrowed. */
struct mix_counts_file {
	const char *path;
	const struct tact_trace *trace;
	char *const *argv;   /* the command; NULL: */
	const char *command; /* as a text; NULL: unknown */
	struct mix_counted *items;
	size_t n;
	uint64_t windows; /* that the counts come from; 0: every execution was counted */
};

/* Writes a file of counts; sorts the items.  Returns 0, -TACT_E_IO, -TACT_E_NOMEM. */
int mix_write_counts(const struct mix_counts_file *file, struct tact_diag *diag);

#endif /* MIX_COUNTS_FILE_H */

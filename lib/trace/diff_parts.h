/* SPDX-License-Identifier: MIT
 *
 * Two results side by side: shared by the files that compare them.
 */
#ifndef TRACE_DIFF_PARTS_H
#define TRACE_DIFF_PARTS_H

#include "trace/result.h"

/* A function or a block of one side. */
struct part {
	const struct tact_result_row *row;
	uint64_t key;	  /* of a block: its content; of a function with a name: its stem */
	uint64_t place;	  /* of a function: its file's name */
	uint64_t content; /* of a function: of its block with the most cycles; 0: unknown */
	int64_t match;	  /* number of its row in the comparison; < 0: it has none yet */
};

struct side {
	struct part *functions, *blocks; /* owned */
	size_t n_functions, n_blocks;
};

struct diff_table {
	struct diff_row *items; /* owned */
	size_t n, capacity;
};

struct tact_diff {
	const struct tact_result *results[2];
	struct side sides[2];
	struct diff_table functions, blocks;
};

#endif /* TRACE_DIFF_PARTS_H */

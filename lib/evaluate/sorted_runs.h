/* SPDX-License-Identifier: MIT
 *
 * Sorted runs of records in a temporary file or in a file of partial scores, and what sorts them.
 *
 * Most bytes of neighbours in a run are the same, and most measured cycles have two decimals, so a
 * record takes some 10 bytes instead of 40:
 *
 *	byte	flags	bits 0-1: x, bits 2-3: y (0: as before, 1: hundredths as a varint, 2: 8 bytes)
 *			bit 4: w has 8 bytes (else: as before); bit 5: v has 8 bytes (else: it is w);
 *			bit 6: v is a whole number, as a varint
 *	...	x, y, w, v, as the flags say; then the tag as a varint
 *
 * Before the first record x and y are 0 and w is 1.  A varint has seven bits in a byte, the lowest
 * first; all but its last byte have the highest bit.  Eight bytes are a double, the lowest first.
 */
#ifndef EVALUATE_SORTED_RUNS_H
#define EVALUATE_SORTED_RUNS_H

#include "base/base.h"
#include "base/spill.h"
#include "evaluate/sum.h"

struct run_record {
	double x, y, w, v;
	uint64_t tag;
};

enum { RUN_MAX_RECORD = 64, RUN_BUFFER = 1 << 15 };

/* Writes a run.  All zeros but the first three members is a new one. */
struct run_writer {
	int (*put)(void *arg, const void *data, size_t size, struct tact_diag *diag);
	void *arg;
	const uint32_t *tags; /* what is written for the upper bits of a tag; NULL: itself */
	struct run_record last;
	uint64_t n, n_bytes;
	size_t used;
	uint8_t buffer[RUN_BUFFER + RUN_MAX_RECORD];
};
void run_writer_init(struct run_writer *w,
		     int (*put)(void *arg, const void *data, size_t size, struct tact_diag *diag),
		     void *arg);
int run_write(struct run_writer *w, const struct run_record *record, struct tact_diag *diag);
int run_flush(struct run_writer *w, struct tact_diag *diag); /* at its end */

/* Reads a run. */
struct run_reader {
	int (*get)(void *arg, void *to, size_t size, uint64_t offset, struct tact_diag *diag);
	void *arg;
	uint64_t at, end; /* what was not read yet */
	struct run_record last;
	size_t used, have;
	uint8_t buffer[RUN_BUFFER];
};
void run_reader_init(struct run_reader *r,
		     int (*get)(void *arg, void *to, size_t size, uint64_t offset,
				struct tact_diag *diag),
		     void *arg, uint64_t begin, uint64_t end);
/* Returns 1, 0 at the end, -TACT_E_IO, or -TACT_E_FORMAT for bytes that are no record. */
int run_read(struct run_reader *r, struct run_record *record, struct tact_diag *diag);

/* ---- sorting ---- */

/* How records are sorted. */
struct sort_order {
	int (*compare)(const void *context, const struct run_record *a, const struct run_record *b);
	/* Adds what equal records have, b to a. */
	void (*join)(struct run_record *a, const struct run_record *b);
	const void *context;
	/* NULL, or: sums, by tag, of what changes places.  Each pair of records of one tag counts with
	 * the product of their w, if sorting turns their order around.
	 */
	struct sum *crossed;
};

/* Sorts any number of records in bounded memory: what has no room goes to a temporary file.  Equal
 * records are joined.  Sorting is stable.
 */
struct sorter {
	struct sort_order order;
	struct run_record *record; /* owned; the first n_sorted are sorted */
	struct run_record *other;  /* owned; the same room, to merge into */
	size_t n, n_sorted, capacity, most;
	struct sorter_run *run; /* owned; in the order in which they were added */
	size_t n_runs, run_capacity;
	struct spill spill;
};

/* most: records in memory.  folder: of temporary files, borrowed. */
void sorter_init(struct sorter *s, const struct sort_order *order, size_t most, const char *folder);
void sorter_fini(struct sorter *s);

/* Adds a record.  Returns 0, -TACT_E_NOMEM, -TACT_E_IO. */
int sorter_add(struct sorter *s, const struct run_record *record, struct tact_diag *diag);

/* Makes one run of all, in memory or in the file; nothing may be added after that.  Returns as
 * above.
 */
int sorter_finish(struct sorter *s, struct tact_diag *diag);

/* Walks over a finished one; several threads may do so at once, each with a walk of its own. */
struct sorter_walk {
	const struct sorter *s;
	size_t i;
	struct run_reader reader;
};
void sorter_walk_init(struct sorter_walk *walk, const struct sorter *s);
/* Returns 1, 0 at the end, or an error. */
int sorter_walk_next(struct sorter_walk *walk, struct run_record *record, struct tact_diag *diag);

#endif /* EVALUATE_SORTED_RUNS_H */

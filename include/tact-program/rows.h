/* SPDX-License-Identifier: MIT
 *
 * Measured rows: blocks and the cycles that they took, from CSV files and from stores.
 */
#ifndef TACT_PROGRAM_ROWS_H
#define TACT_PROGRAM_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An application that the block comes from, and its weight there, above 0. */
struct tact_row_source {
	const char *app;
	double weight;
};

/* The reader owns everything that is pointed to, until its next call.  Strings are "" if the row
 * does not say.
 */
struct tact_row {
	size_t size;
	uint64_t line;	     /* in a CSV file; 0: it comes from a store */
	int64_t block;	     /* in a store; 0: it comes from a file */
	const uint8_t *code; /* never empty */
	size_t code_size;
	const uint8_t *loop; /* the loop that ran, with its branch */
	size_t loop_size;    /* 0: it is not known */
	double cycles;	     /* only if has_cycles */
	bool has_cycles;     /* false: nothing was measured, or the status is not ok */
	double weight;	     /* above 0; 1 if the row does not say */
	int clean;	     /* 1, 0, or -1 if the row does not say */
	enum tact_mode mode; /* AUTO if the row does not say */
	int init;	     /* enum tact_init, or -1 if the row does not say */
	uint32_t flags;	     /* of a store: enum tact_measure_flag */
	const char *letters; /* of a store: the same, and letters that this version does not know */
	const char *status;  /* "ok", or why there is no number */
	const char *arch, *machine; /* names of the CPU: tact's, and its own */
	const char *category;
	const char *origin; /* of a store: the file that the row was imported from */
	const struct tact_row_source *sources;
	size_t n_sources;
	unsigned alignment; /* of the first byte in a cache line; 0 if the row does not say */
	unsigned rounds;    /* how often it was measured; 0 if the row does not say */
	unsigned agree;	    /* rounds that saw the number */
	const char *const
		*asked; /* one text for each column of tact_rows_ask; NULL: there are none */
};

/* Returns whether there is a number that at least two rounds saw; false for NULL. */
bool tact_row_is_confirmed(const struct tact_row *row);

/* Returns whether there is a measured number above 0; false for NULL. */
bool tact_row_has_number(const struct tact_row *row);

struct tact_rows; /* one thread at a time */

/* Opens a store, or a CSV file with a header.  A file has at least the columns hex and cycles (or
 * cycles_per_iteration, as tact measure writes them); hex_loop, app, category, weight, clean, arch,
 * mode, init, alignment, rounds, agree and status are optional.  Columns may be in any order; others
 * are ignored.  Path "-" is standard input.  Returns -TACT_E_IO if it cannot be read,
 * -TACT_E_FORMAT without such a header, errors of tact_store_open, -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_rows_open(struct tact_rows **out, const char *path, struct tact_diag *diag);

/* Does the same for the text of a CSV file, which must outlive the rows. */
int tact_rows_open_memory(struct tact_rows **out, const void *data, size_t size,
			  struct tact_diag *diag);

/* Reads rows of a store that is already open and must outlive the rows.  filter may be NULL. */
int tact_rows_open_store(struct tact_rows **out, struct tact_store *store,
			 const struct tact_store_filter *filter, struct tact_diag *diag);

/* Asks for more columns of a CSV file by their names, before its first row; what is not there is "".
 * The names are borrowed.  A store has none.  Returns 0 or -TACT_E_NOMEM.
 */
int tact_rows_ask(struct tact_rows *rows, const char *const *names, size_t n);

/* Returns 1 with *row filled, 0 after the last row, or -TACT_E_FORMAT for one bad row of a file:
 * diag has its line and the reason, and the next call goes on with the next row.  A store that has
 * rows which cannot be read returns -TACT_E_FORMAT once, after its last row; diag says how many.
 * Other errors end it: the next call returns 0.
 */
int tact_rows_next(struct tact_rows *rows, struct tact_row *row, struct tact_diag *diag);
void tact_rows_close(struct tact_rows *rows); /* NULL is allowed */

/* ---- the code that ran ---- */

struct tact_ran; /* memory for the code; one thread at a time */

int tact_ran_create(struct tact_ran **out);
void tact_ran_destroy(struct tact_ran *ran); /* NULL is allowed */

struct tact_isa;

/* Returns whether code ends in a branch to its start. */
bool tact_ran_is_loop(const struct tact_isa *isa, const uint8_t *code, size_t size);

/* Finds the code as it ran in a mode, LOOP or UNROLL.  A loop has its branch: it is the row's loop
 * if that is known, the row's code if it ends in a branch to its start, and otherwise the loop that
 * the harness makes of it (tact_measure_loop), if code of the set can be measured.  The row owns
 * *code, or `ran` does until its next call.  Returns 0 or -TACT_E_NOMEM.
 */
int tact_ran_code(struct tact_ran *ran, const struct tact_isa *isa, const struct tact_row *row,
		  enum tact_mode mode, const uint8_t **code, size_t *size);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_ROWS_H */

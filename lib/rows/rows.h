/* SPDX-License-Identifier: MIT
 *
 * What readers of files about blocks share: columns are found by their names.
 */
#ifndef ROWS_ROWS_H
#define ROWS_ROWS_H

#include <tact-program/rows.h>

#include "base/csv.h"

/* The columns that are known. */
enum rows_column {
	COL_HEX,
	COL_RECORD,
	COL_APP,
	COL_WEIGHT,
	COL_CATEGORY,
	COL_CLASSIFIER,
	COL_ARCH,
	COL_MODE,
	COL_INIT,
	COL_MODEL,
	COL_VERSION,
	COL_STATUS,
	COL_CYCLES,
	COL_COVERAGE,
	COL_BOTTLENECKS,
	COL_SPREAD,
	COL_KEPT,
	COL_DROPPED,
	COL_LOW,
	COL_HIGH,
	COL_RUNG,
	COL_FLAGS,
	COL_PAGES,
	COL_REASON,
	COL_CLEAN,
	COL_ORIGIN,
	COL_HEX_LOOP,
	COL_MACHINE,
	COL_VENDOR,
	COL_FAMILY,
	COL_CPU_MODEL,
	COL_STEPPING,
	COL_MICROCODE,
	COL_HYPERVISOR,
	COL_ALIGNMENT,
	COL_ROUNDS,
	COL_AGREE,
	COL_DISTURBED,
	COL_CPU,
	COL_MEMORY,
	COL_VECTORS,
	COL_HOST,
	COL_KERNEL,
	ROWS_N_COLUMNS
};

/* Finds the column of a name, whatever its case; returns -1 if there is none.  Other programs have
 * other names for some columns; with `is_foreign` these count too.
 */
int rows_find_column(const char *name, bool is_foreign);

/* A file whose header was read. */
struct rows_file {
	struct csv *csv;	/* owned */
	int at[ROWS_N_COLUMNS]; /* where a column is; -1: nowhere */
	const struct csv_field *fields;
	size_t n_fields;
};

/* Returns the field of a column in the current record; "" if it is missing. */
const char *rows_field(const struct rows_file *file, enum rows_column column);

/* Reads the field of an alignment, 0 if it is empty or missing.  Returns whether it is one. */
bool rows_alignment(const struct rows_file *file, unsigned *alignment);

/* Reads a field that is a number of rounds.  An empty or missing one is 0.  Returns whether it is
 * one.
 */
bool rows_count(const struct rows_file *file, enum rows_column column, unsigned *count);

/* Measured rows of a CSV file.  rows_table_open takes ownership of the file, even if it fails. */
struct rows_table;
int rows_table_open(struct rows_table **out, struct csv *csv, struct tact_diag *diag);
int rows_table_next(struct rows_table *table, struct tact_row *row, struct tact_diag *diag);
int rows_table_ask(struct rows_table *table, const char *const *names, size_t n);
void rows_table_close(struct rows_table *table);

#endif /* ROWS_ROWS_H */

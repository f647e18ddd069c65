/* SPDX-License-Identifier: MIT
 *
 * Reads inputs of measured rows and reports bad ones.
 */
#ifndef TACT_MEASURED_H
#define TACT_MEASURED_H

#include <tact-program/rows.h>

/* Calls take() for every row of a CSV file or a store.  A bad row is reported and left out; after
 * the first few, only their number is reported.  Returns an exit code; messages were given.
 */
int measured_read(const char *path, void (*take)(void *context, const struct tact_row *row),
		  void *context);

/* Does the same, and asks for more columns: tact_rows_ask. */
int measured_read_with(const char *path, const char *const *columns, size_t n_columns,
		       void (*take)(void *context, const struct tact_row *row), void *context);

#endif /* TACT_MEASURED_H */

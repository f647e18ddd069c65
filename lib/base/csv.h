/* SPDX-License-Identifier: MIT
 *
 * Records of CSV files, one at a time in bounded memory.
 */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include "base/base.h"

enum { CSV_MAX_RECORD = 1 << 20 };

struct csv_field {
	const char *text; /* NUL-terminated; without quotes and surrounding blanks */
	size_t size;
};

struct csv; /* belongs to one thread at a time */

/* Open a CSV file or bytes in memory; the path "-" is standard input.  The separator is a comma,
 * or, if the first line has none, a tab or a semicolon.  A byte order mark, blank lines and lines
 * that begin with # are skipped.  Memory is bounded whatever the file contains.  Return 0,
 * -TACT_E_IO, -TACT_E_FORMAT for what is certainly not CSV (with the reason), -TACT_E_NOMEM.
 */
int csv_open(struct csv **out, const char *path, struct tact_diag *diag);
int csv_open_memory(struct csv **out, const void *data, size_t size, struct tact_diag *diag);
void csv_close(struct csv *csv); /* NULL is allowed */

/* Reads the next record.  Returns 1 with its fields, at least one, which are valid until the next
 * call; 0 at the end; -TACT_E_FORMAT with line and reason for a malformed record: the next call
 * continues after its first line.  Other errors end the file.
 */
int csv_next(struct csv *csv, const struct csv_field **fields, size_t *n, struct tact_diag *diag);

/* Returns the line on which the last record began, from 1. */
uint64_t csv_line(const struct csv *csv);

/* Returns what was read and not used yet; at first, up to 64 KiB from the beginning. */
const char *csv_peek(const struct csv *csv, size_t *size);

#endif /* BASE_CSV_H */

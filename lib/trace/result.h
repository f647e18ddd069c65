/* SPDX-License-Identifier: MIT
 *
 * A result as the files that make, read and compare it share it.
 */
#ifndef TACT_TRACE_RESULT_H
#define TACT_TRACE_RESULT_H

#include <tact/result.h>

#include "base/hash.h"

struct result_rows {
	struct tact_result_row *items; /* owned */
	size_t n, capacity;
};

struct tact_result {
	struct tact_result_info info;
	struct result_rows rows[TACT_N_RESULT_KINDS];
	struct tact_arena memory; /* strings and code */
	const char **strings;	  /* owned: those that are there */
	size_t n_strings, strings_capacity;
	struct hash string_of;
};

struct tact_result *result_new(void); /* NULL: out of memory */

/* A copy that lives as long as the result; equal strings are one.  NULL: out of memory. */
const char *result_string(struct tact_result *r, const char *text);

/* A new row, all zero but its strings, which are "".  NULL: out of memory. */
struct tact_result_row *result_add(struct tact_result *r, enum tact_result_kind kind);

/* Room for so many rows.  Returns 0 or -TACT_E_NOMEM. */
int result_reserve(struct tact_result *r, enum tact_result_kind kind, size_t n);

/* Puts the rows in order. */
void result_sort(struct tact_result *r);

#endif /* TACT_TRACE_RESULT_H */

/* SPDX-License-Identifier: MIT
 *
 * Results and comparisons as the files that make, read, compare and report them share them.
 */
#ifndef TACT_TRACE_RESULT_H
#define TACT_TRACE_RESULT_H

#include <tact/result.h>
#include <tact/symbols.h>
#include <tact/trace.h>

#include "base/base.h"
#include "base/hash.h"
#include "trace/calls.h"

struct result_rows {
	struct tact_result_row *items; /* owned */
	size_t n, capacity;
};

#define RESULT_NO_CALL UINT32_MAX

/* What a thread had done at some moment: differences of neighbours are slices of its run. */
struct result_slice {
	uint32_t thread;
	uint32_t call; /* row of the call path that was executed, or RESULT_NO_CALL */
	double cycles;
	uint64_t instructions, misses[3], mispredicted;
};

struct tact_result {
	struct tact_result_info info;
	struct tact_cycles_totals totals;
	struct result_rows rows[TACT_N_RESULT_KINDS];
	struct tact_result_call *calls; /* owned; callers before callees */
	size_t n_calls, calls_capacity;
	struct result_slice *slices; /* owned; those of a thread follow each other */
	size_t n_slices, slices_capacity;
	struct tact_arena memory; /* strings and code */
	const char **strings;	  /* owned: the array; the strings are in the arena */
	size_t n_strings, strings_capacity;
	struct hash string_of;
};

struct tact_result *result_new(void); /* NULL: out of memory */

/* Makes a result from a run whose events have all been given to `cycles`, which has been finished.
 * Everything is copied, the strings of the info as well: trace, cycles and symbols may go.  parts:
 * bits of enum tact_result_part.  Returns 0 or -TACT_E_NOMEM.
 */
int result_make(struct tact_result **out, const struct tact_result_info *info,
		const struct tact_cycles *cycles, const struct tact_trace *trace,
		struct tact_symbols *symbols, unsigned parts, struct tact_diag *diag);

/* Adds a thread; rows of threads move.  Returns 0 or -TACT_E_NOMEM. */
int result_add_thread(struct tact_result *r, uint32_t process, uint32_t thread, double cycles,
		      uint64_t instructions);

/* Adds the tree of calls, with names from place_of.  *row_of, which the caller frees, has the row of
 * each node; it may be NULL.  Returns 0 or -TACT_E_NOMEM.
 */
int result_add_calls(struct tact_result *r, const struct calls *calls, calls_place_fn *place_of,
		     void *arg, uint32_t **row_of);

/* Adds a slice; NULL: out of memory. */
struct result_slice *result_add_slice(struct tact_result *r);

/* Adds a call path, all zero except for its strings, which are "".  NULL: out of memory. */
struct tact_result_call *result_add_call(struct tact_result *r);

/* Returns a copy that lives as long as the result; equal strings share one copy.  NULL: out of
 * memory.
 */
const char *result_string(struct tact_result *r, const char *text);

/* Adds a row, all zero except for its strings, which are "".  NULL: out of memory. */
struct tact_result_row *result_add(struct tact_result *r, enum tact_result_kind kind);

/* Makes room for n rows.  Returns 0 or -TACT_E_NOMEM. */
int result_reserve(struct tact_result *r, enum tact_result_kind kind, size_t n);

/* Puts the rows in order. */
void result_sort(struct tact_result *r);

/* Rows of a kind without copying them: *n of them, the one with the most cycles first. */
const struct tact_result_row *result_rows(const struct tact_result *r, enum tact_result_kind kind,
					  size_t *n);

/* Writes the arrays not_modelled and not_measured. */
struct json;
void result_put_left_out(struct json *json, const struct tact_result *r);

/* "front_end", ...: tact_stall_name as a column. */
const char *result_stall_column(enum tact_stall stall);

/* Whether text is JSON, by its syntax alone. */
bool result_is_json(const char *text, size_t size);

/* ---- two of them ---- */

/* struct tact_diff_row with pointers instead of numbers. */
struct diff_row {
	const struct tact_result_row *a, *b; /* NULL: only in the other one */
	double cycles[2];
	uint64_t executions[2], instructions[2];
	double stalls[2][TACT_N_STALLS];
	uint32_t function; /* number of the function's row */
};

/* Rows of functions or blocks: *n of them, the one whose cycles changed most first. */
const struct diff_row *diff_rows(const struct tact_diff *d, enum tact_result_kind kind, size_t *n);

#endif /* TACT_TRACE_RESULT_H */

/* SPDX-License-Identifier: MIT
 *
 * Shared by the reports of mixes.
 */
#ifndef REPORT_MIX_REPORT_H
#define REPORT_MIX_REPORT_H

#include <tact/mix.h>

#include "base/tabular.h"
#include "report/report.h"

/* Columns of a table: its keys, and what follows them. */
enum { MIX_MAX_COLUMNS = TACT_MIX_MAX_KEYS + 4 };
struct mix_columns {
	struct column items[MIX_MAX_COLUMNS];
	size_t n, n_keys;
};

/* offset: of the keys in a row. */
void mix_columns_init(struct mix_columns *columns, const enum tact_mix_key *keys, size_t n_keys,
		      size_t offset, const struct column *rest, size_t n);
void mix_columns_json(const struct mix_columns *columns, struct json *json); /* the keys */

/* Rows of either kind. */
struct mix_rows {
	const void *of; /* a pivot, or two of them */
	void (*get)(const void *of, size_t i, void *row);
	size_t n;
};

/* Writes all of them, as text with columns as wide as needed, or as CSV. */
void mix_rows_write(struct report *report, const struct mix_rows *rows, struct table *table);
void mix_rows_json(struct report *report, const struct mix_rows *rows, struct table *table,
		   struct json *json); /* "rows": an array of arrays */

#endif /* REPORT_MIX_REPORT_H */

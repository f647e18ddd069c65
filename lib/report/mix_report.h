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
enum { MIX_MAX_COLUMNS = TACT_MIX_MAX_KEYS + TACT_N_MIX_VALUES + 4 };
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

/* The columns of a table of rows: keys and values. */
void mix_row_columns(struct mix_columns *columns, const struct tact_mix_report *r);
void mix_values_json(const struct mix_columns *columns, struct json *json); /* their names */

/* A column of values in a table whose getters find a row at cell_at.row, by mix_value_of. */
struct column mix_value_column(enum tact_mix_value value);
/* Returns a value of a cell; margins may be NULL if there are none. */
struct cell mix_value_of(enum tact_mix_value value, const struct tact_mix_row *cell,
			 const struct tact_mix_row *row, const struct tact_mix_row *column);

/* Parts of a report. */
void mix_summary_add(const struct tact_mix_summary *s, struct text *out);
void mix_figures_add(const struct tact_mix_figures *f, struct text *out);
void mix_summary_json(const struct tact_mix_summary *s, struct json *json);
void mix_figures_json(const struct tact_mix_figures *f, struct json *json);

/* Writes a cross table with what is around it. */
void mix_cross_write(struct report *report, const struct tact_mix_report *r);

#endif /* REPORT_MIX_REPORT_H */

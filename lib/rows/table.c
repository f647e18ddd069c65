/* SPDX-License-Identifier: MIT
 *
 * Reads measured rows of a CSV file with a header.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rows/rows.h"
#include "store/store.h"

enum { MAX_LABEL = 255 };

struct rows_table {
	struct rows_file file;
	uint8_t *code; /* owned; hex, followed by hex_loop */
	size_t capacity;
	struct tact_row_source source;
	/* columns that were asked for: where they are (-1: nowhere), and their texts; owned */
	int *asked_at;
	const char **asked;
	size_t n_asked;
	const struct csv_field *header; /* of the file, until its first row */
};

/* ---- header ---- */

/* If two names stand for the same column, the first one in the file counts. */
static int find_columns(struct rows_file *file, struct tact_diag *diag)
{
	for (int c = 0; c < ROWS_N_COLUMNS; c++)
		file->at[c] = -1;
	for (size_t i = 0; i < file->n_fields; i++) {
		int column = rows_find_column(file->fields[i].text, false);

		if (column >= 0 && file->at[column] < 0)
			file->at[column] = (int)i;
	}
	if (file->at[COL_HEX] < 0 || file->at[COL_CYCLES] < 0)
		return tact_fail_at(diag, TACT_E_FORMAT, csv_line(file->csv), 0,
				    "the header has no column '%s'",
				    file->at[COL_HEX] < 0 ? "hex" : "cycles");
	if (file->at[COL_BOTTLENECKS] >= 0 && file->at[COL_RECORD] < 0)
		return tact_fail_at(diag, TACT_E_FORMAT, csv_line(file->csv), 0,
				    "the columns are those of predictions: nothing is measured");
	return 0;
}

int rows_table_open(struct rows_table **out, struct csv *csv, struct tact_diag *diag)
{
	struct rows_table *t = calloc(1, sizeof(*t));
	int status;

	if (!t) {
		csv_close(csv);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	t->file.csv = csv;
	status = csv_next(csv, &t->file.fields, &t->file.n_fields, diag);
	if (!status)
		status = tact_fail(diag, TACT_E_FORMAT, "the file is empty");
	if (status > 0)
		status = find_columns(&t->file, diag);
	t->header = t->file.fields;
	return HAND_OVER(out, t, status, rows_table_close);
}

void rows_table_close(struct rows_table *table)
{
	if (!table)
		return;
	csv_close(table->file.csv);
	FREE_ALL(table->code, table->asked_at, table->asked, table);
}

int rows_table_ask(struct rows_table *t, const char *const *names, size_t n)
{
	free(t->asked_at);
	free(t->asked);
	t->asked_at = malloc((n + 1) * sizeof(*t->asked_at));
	t->asked = malloc((n + 1) * sizeof(*t->asked));
	t->n_asked = t->asked_at && t->asked ? n : 0;
	for (size_t i = 0; i < t->n_asked; i++) {
		t->asked_at[i] = -1;
		for (size_t k = 0; t->header && k < t->file.n_fields; k++)
			if (t->asked_at[i] < 0 && !strcmp(t->header[k].text, names[i]))
				t->asked_at[i] = (int)k;
	}
	return t->n_asked == n ? 0 : -TACT_E_NOMEM;
}

static void read_asked(struct rows_table *t, struct tact_row *row)
{
	for (size_t i = 0; i < t->n_asked; i++) {
		const int at = t->asked_at[i];

		t->asked[i] =
			at >= 0 && (size_t)at < t->file.n_fields ? t->file.fields[at].text : "";
	}
	row->asked = t->n_asked ? t->asked : NULL;
}

/* ---- rows ---- */

static int bad(const struct rows_table *t, struct tact_diag *diag, const char *column,
	       const char *what)
{
	return tact_fail_at(diag, TACT_E_FORMAT, csv_line(t->file.csv), 0, "column %s: %s", column,
			    what);
}

/* Decimal only: strtod accepts more than a table should have. */
static bool read_number(const char *text, double *value)
{
	char *end;

	if (strspn(text, "0123456789+-.eE") != strlen(text))
		return false;
	*value = strtod(text, &end);
	return end != text && !*end && isfinite(*value);
}

static int read_code(struct rows_table *t, enum rows_column column, size_t at, size_t *size,
		     struct tact_diag *diag)
{
	const char *name = column == COL_HEX ? "hex" : "hex_loop";
	const char *text = rows_field(&t->file, column);
	size_t where = 0, length = strlen(text);
	long n;

	if (tact_grow(&t->code, &t->capacity, at + length / 2 + 1, 1) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	n = tact_hex_decode(t->code + at, text, length, &where);
	if (n < 0 && where < length)
		return tact_fail_at(diag, TACT_E_FORMAT, csv_line(t->file.csv), where,
				    "column %s: position %zu is no hex digit", name, where + 1);
	if (n < 0)
		return bad(t, diag, name, "the number of hex digits is odd");
	*size = (size_t)n;
	return 0;
}

/* A file may have records of other kinds (tact dataset export), and measurements that failed. */
static int read_cycles(const struct rows_table *t, struct tact_row *row, struct tact_diag *diag)
{
	const char *cycles = rows_field(&t->file, COL_CYCLES);
	const char *record = rows_field(&t->file, COL_RECORD);

	row->status = rows_field(&t->file, COL_STATUS);
	if (!*row->status)
		row->status = "ok";
	if (!*cycles || strcmp(row->status, "ok") || (*record && strcmp(record, "measurement")))
		return 0;
	row->has_cycles = true;
	return read_number(cycles, &row->cycles) ? 0 : bad(t, diag, "cycles", "not a number");
}

static int read_labels(struct rows_table *t, struct tact_row *row, struct tact_diag *diag)
{
	static const enum rows_column labels[] = {COL_APP, COL_CATEGORY, COL_ARCH, COL_MODE,
						  COL_INIT};
	enum tact_init init;

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		if (strlen(rows_field(&t->file, labels[i])) > MAX_LABEL)
			return bad(t, diag, "app, category, arch, mode or init", "too long");
	t->source = (struct tact_row_source){rows_field(&t->file, COL_APP), row->weight};
	row->sources = &t->source;
	row->n_sources = *t->source.app != '\0';
	row->category = rows_field(&t->file, COL_CATEGORY);
	row->arch = rows_field(&t->file, COL_ARCH);
	row->machine = row->origin = row->letters = "";
	if (!store_read_mode(rows_field(&t->file, COL_MODE), &row->mode))
		row->mode = TACT_MODE_AUTO;
	row->init = store_read_init(rows_field(&t->file, COL_INIT), &init) ? (int)init : -1;
	return 0;
}

static int read_rest(struct rows_table *t, struct tact_row *row, struct tact_diag *diag)
{
	const char *weight = rows_field(&t->file, COL_WEIGHT);
	const char *clean = rows_field(&t->file, COL_CLEAN);

	if (*weight && (!read_number(weight, &row->weight) || !(row->weight > 0)))
		return bad(t, diag, "weight", "not a positive number");
	if (*clean && strcmp(clean, "0") && strcmp(clean, "1"))
		return bad(t, diag, "clean", "neither 0 nor 1 nor empty");
	if (!rows_alignment(&t->file, &row->alignment))
		return bad(t, diag, "alignment", "not a number from 0 to 63");
	if (!rows_count(&t->file, COL_ROUNDS, &row->rounds) ||
	    !rows_count(&t->file, COL_AGREE, &row->agree))
		return bad(t, diag, "rounds or agree", "not a number of rounds");
	if (row->rounds && row->agree > row->rounds)
		return bad(t, diag, "agree", "more than there were rounds");
	row->clean = *clean ? *clean == '1' : -1;
	return read_labels(t, row, diag);
}

int rows_table_next(struct rows_table *t, struct tact_row *row, struct tact_diag *diag)
{
	int status = csv_next(t->file.csv, &t->file.fields, &t->file.n_fields, diag);

	t->header = NULL;
	if (status <= 0)
		return status;
	*row = (struct tact_row){.size = sizeof(*row), .line = csv_line(t->file.csv), .weight = 1};
	status = read_code(t, COL_HEX, 0, &row->code_size, diag);
	if (!status)
		status = read_code(t, COL_HEX_LOOP, row->code_size, &row->loop_size, diag);
	if (!status && !row->code_size)
		status = bad(t, diag, "hex", "empty");
	if (!status)
		status = read_cycles(t, row, diag);
	if (!status)
		status = read_rest(t, row, diag);
	read_asked(t, row);
	row->code = t->code;
	row->loop = t->code + row->code_size;
	return status < 0 ? status : 1;
}

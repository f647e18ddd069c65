/* SPDX-License-Identifier: MIT
 *
 * Tables of measured blocks: what the columns of a CSV file with a header say.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <tact/evaluate.h>

#include "base/csv.h"

enum { MAX_LABEL = 255 };

enum column {
	HEX,
	CYCLES,
	HEX_LOOP,
	WEIGHT,
	CLEAN,
	STATUS,
	RECORD,
	BOTTLENECKS,
	APP, /* from here on: labels */
	CATEGORY,
	ARCH,
	MODE,
	INIT,
	N_COLUMNS
};

/* Of two names for a column the first in the file counts. */
static const struct {
	const char *name;
	enum column column;
} names[] = {
	{"hex", HEX},		{"cycles", CYCLES}, {"cycles_per_iteration", CYCLES},
	{"hex_loop", HEX_LOOP}, {"app", APP},	    {"application", APP},
	{"category", CATEGORY}, {"weight", WEIGHT}, {"clean", CLEAN},
	{"arch", ARCH},		{"mode", MODE},	    {"init", INIT},
	{"status", STATUS},	{"record", RECORD}, {"bottlenecks", BOTTLENECKS},
};

struct tact_table {
	struct csv *csv;      /* owned */
	int where[N_COLUMNS]; /* the column's place in the file, -1: it is not there */
	const struct csv_field *field;
	size_t n_fields;
	uint8_t *code; /* owned; hex, and behind it hex_loop */
	size_t capacity;
};

/* The field of a column, "" where it is not there. */
static const char *get(const struct tact_table *t, enum column column)
{
	int where = t->where[column];

	return where >= 0 && (size_t)where < t->n_fields ? t->field[where].text : "";
}

/* ---- header ---- */

static int find_columns(struct tact_table *t, struct tact_diag *diag)
{
	for (int c = 0; c < N_COLUMNS; c++)
		t->where[c] = -1;
	for (size_t i = 0; i < t->n_fields; i++)
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			if (!strcasecmp(t->field[i].text, names[k].name) &&
			    t->where[names[k].column] < 0)
				t->where[names[k].column] = (int)i;
	if (t->where[HEX] < 0 || t->where[CYCLES] < 0)
		return tact_fail_at(diag, TACT_E_FORMAT, csv_line(t->csv), 0,
				    "the header has no column '%s'",
				    t->where[HEX] < 0 ? "hex" : "cycles");
	if (t->where[BOTTLENECKS] >= 0 && t->where[RECORD] < 0)
		return tact_fail_at(diag, TACT_E_FORMAT, csv_line(t->csv), 0,
				    "the columns are those of predictions: nothing is measured");
	return 0;
}

static int open_table(struct tact_table **out, struct csv *csv, struct tact_diag *diag)
{
	struct tact_table *t = calloc(1, sizeof(*t));
	int status;

	if (!t) {
		csv_close(csv);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	t->csv = csv;
	status = csv_next(csv, &t->field, &t->n_fields, diag);
	if (!status)
		status = tact_fail(diag, TACT_E_FORMAT, "the file is empty");
	if (status > 0)
		status = find_columns(t, diag);
	if (status < 0) {
		tact_table_close(t);
		return status;
	}
	*out = t;
	return 0;
}

int tact_table_open(struct tact_table **out, const char *path, struct tact_diag *diag)
{
	struct csv *csv;
	int status;

	if (!out || !path)
		return tact_fail(diag, TACT_E_INVAL, "no path");
	status = csv_open(&csv, path, diag);
	return status < 0 ? status : open_table(out, csv, diag);
}

int tact_table_open_memory(struct tact_table **out, const void *data, size_t size,
			   struct tact_diag *diag)
{
	struct csv *csv;
	int status;

	if (!out || (!data && size))
		return tact_fail(diag, TACT_E_INVAL, "no text");
	status = csv_open_memory(&csv, data, size, diag);
	return status < 0 ? status : open_table(out, csv, diag);
}

void tact_table_close(struct tact_table *table)
{
	if (!table)
		return;
	csv_close(table->csv);
	free(table->code);
	free(table);
}

/* ---- rows ---- */

static int bad(const struct tact_table *t, struct tact_diag *diag, const char *column,
	       const char *what)
{
	return tact_fail_at(diag, TACT_E_FORMAT, csv_line(t->csv), 0, "column %s: %s", column,
			    what);
}

/* Decimal only: strtod takes more than a table should have. */
static bool read_number(const char *text, double *value)
{
	char *end;

	if (strspn(text, "0123456789+-.eE") != strlen(text))
		return false;
	*value = strtod(text, &end);
	return end != text && !*end && isfinite(*value);
}

static int read_code(struct tact_table *t, enum column column, size_t at, size_t *size,
		     struct tact_diag *diag)
{
	const char *name = column == HEX ? "hex" : "hex_loop", *text = get(t, column);
	size_t where = 0, length = strlen(text);
	long n;

	if (tact_grow(&t->code, &t->capacity, at + length / 2 + 1, 1) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	n = tact_hex_decode(t->code + at, text, length, &where);
	if (n < 0 && where < length)
		return tact_fail_at(diag, TACT_E_FORMAT, csv_line(t->csv), where,
				    "column %s: position %zu is no hex digit", name, where + 1);
	if (n < 0)
		return bad(t, diag, name, "the number of hex digits is odd");
	*size = (size_t)n;
	return 0;
}

/* A file may have records of other kinds (tact dataset export), and measurements that failed. */
static int read_cycles(const struct tact_table *t, struct tact_table_row *row,
		       struct tact_diag *diag)
{
	const char *cycles = get(t, CYCLES), *status = get(t, STATUS), *record = get(t, RECORD);

	if (!*cycles || (*status && strcmp(status, "ok")) ||
	    (*record && strcmp(record, "measurement")))
		return 0;
	row->has_cycles = true;
	return read_number(cycles, &row->cycles) ? 0 : bad(t, diag, "cycles", "not a number");
}

static int read_rest(const struct tact_table *t, struct tact_table_row *row, struct tact_diag *diag)
{
	const char *weight = get(t, WEIGHT), *clean = get(t, CLEAN);

	if (*weight && (!read_number(weight, &row->weight) || !(row->weight > 0)))
		return bad(t, diag, "weight", "not a positive number");
	if (*clean && strcmp(clean, "0") && strcmp(clean, "1"))
		return bad(t, diag, "clean", "neither 0 nor 1 nor empty");
	row->clean = *clean ? *clean == '1' : -1;
	for (enum column c = APP; c <= INIT; c++)
		if (strlen(get(t, c)) > MAX_LABEL)
			return bad(t, diag, "app, category, arch, mode or init", "too long");
	row->app = get(t, APP);
	row->category = get(t, CATEGORY);
	row->arch = get(t, ARCH);
	row->mode = get(t, MODE);
	row->init = get(t, INIT);
	return 0;
}

int tact_table_next(struct tact_table *t, struct tact_table_row *row, struct tact_diag *diag)
{
	int status;

	if (!t || !row)
		return tact_fail(diag, TACT_E_INVAL, "no table or row");
	status = csv_next(t->csv, &t->field, &t->n_fields, diag);
	if (status <= 0)
		return status;
	*row = (struct tact_table_row){.size = sizeof(*row), .line = csv_line(t->csv), .weight = 1};
	status = read_code(t, HEX, 0, &row->code_size, diag);
	if (!status)
		status = read_code(t, HEX_LOOP, row->code_size, &row->loop_size, diag);
	if (!status && !row->code_size)
		status = bad(t, diag, "hex", "empty");
	if (!status)
		status = read_cycles(t, row, diag);
	if (!status)
		status = read_rest(t, row, diag);
	row->code = t->code;
	row->loop = t->code + row->code_size;
	return status < 0 ? status : 1;
}

/* SPDX-License-Identifier: MIT
 *
 * Tables: one list of columns gives text for people, CSV and JSON.
 *
 *	static const struct column columns[] = {
 *		{"Name", "name", COLUMN_FIELD(struct item, name, STRING), .width = 12},
 *		{"Cycles", "cycles_per_iteration", COLUMN_FIELD(struct item, cycles, DOUBLE),
 *		 .width = 10, .decimals = 2},
 *		{"Share", "share", .get = get_share, .width = 7, .decimals = 1,
 *		 .flags = COLUMN_PERCENT, .form = FORM_DECIMALS(6)},
 *	};
 *	struct table table = {.columns = columns, .n_columns = ARRAY_SIZE(columns),
 *			      .format = format, .out = &text, .schema = "tact.items/1"};
 *
 *	table_header(&table);
 *	for (...)
 *		table_row(&table, &items[i]);
 *	table_fini(&table);
 *
 * Text: titles and cells in columns, fields of strings flush left and of numbers flush right, no
 * blanks at the end of a line; control characters are shown as '?'.  CSV: a header, and fields in
 * quotes where they need them.  JSON: one object per line.  A value that a row does not
 * have is `none` in text, an empty field in CSV, and no member in JSON.
 *
 * Text that must fit (`screen`): columns with a rank are dropped, the highest rank first, until the
 * rest fits with names at their least width.  On a terminal (`is_cut`), names that are still too
 * long then lose their middle; elsewhere they never do.
 */
#ifndef TACT_BASE_TABULAR_H
#define TACT_BASE_TABULAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"

struct table;
struct column;

/* ---- values ---- */

enum cell_type {
	CELL_NONE,
	CELL_STRING,
	CELL_HEX,
	CELL_INTEGER,
	CELL_COUNT,
	CELL_NUMBER,
	CELL_BOOL, /* yes and no; true and false in JSON */
};

struct cell {
	enum cell_type type;
	union {
		const char *string; /* not owned */
		const uint8_t *bytes;
		int64_t integer;
		uint64_t count;
		double number;
		bool flag;
	};
	size_t size; /* of the string or of the bytes */
};

struct cell cell_none(void);
struct cell cell_string(const char *string); /* NULL: none */
struct cell cell_chars(const char *string, size_t size);
struct cell cell_hex(const uint8_t *bytes, size_t size);
struct cell cell_integer(int64_t value);
struct cell cell_count(uint64_t value);
struct cell cell_number(double value); /* not finite: none */
struct cell cell_bool(bool value);
/* Makes a string as printf does, valid until the table's next one. */
struct cell cell_printf(struct table *table, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- columns ---- */

/* What a getter is asked. */
struct cell_at {
	const void *row;
	const struct column *column;
	struct table *table;
};

/* What is at a column's offset in a row. */
enum column_field {
	FIELD_NONE, /* nothing: the column has a getter */
	FIELD_STRING,
	FIELD_CHARS, /* an array of char in the row */
	FIELD_INT,
	FIELD_UNSIGNED,
	FIELD_INT64,
	FIELD_UINT64,
	FIELD_SIZE,
	FIELD_FLOAT,
	FIELD_DOUBLE,
	FIELD_BOOL,
};
#define COLUMN_FIELD(type, member, kind) .field = FIELD_##kind, .offset = offsetof(type, member)

/* How CSV and JSON show a number: 0 as put_cycles does, otherwise one of these. */
#define FORM_DECIMALS(n) (1 + (n)) /* "%.nf" */
#define FORM_DIGITS(n)	 (-(n))	   /* "%.ng" */
#define FORM_EXACT	 (-100)	   /* reads back as the same number */

enum {
	COLUMN_RIGHT =
		1 << 0, /* text: flush right, like numbers; columns with a getter must say so */
	COLUMN_LEFT = 1 << 1,	    /* text: flush left, like strings */
	COLUMN_PERCENT = 1 << 2,    /* text: a number times 100, and a percent sign */
	COLUMN_SIGNED = 1 << 3,	    /* text: a number with its sign, even + */
	COLUMN_SEPARATED = 1 << 4,  /* text: commas between thousands */
	COLUMN_CYCLES = 1 << 5,	    /* text: a number as text_cycles2 shows it */
	COLUMN_NULL = 1 << 6,	    /* JSON: null for what the row does not have */
	COLUMN_SKIP_EMPTY = 1 << 7, /* everywhere: an empty string counts as missing, */
	COLUMN_SKIP_ZERO = 1 << 8,  /* and so does a number that is 0 */
	COLUMN_LOWER = 1 << 9,	    /* CSV: in lower case */
	COLUMN_FIT = 1 << 10,	    /* text: table_fit widens it, and nothing cuts it */
};

struct column {
	const char *title; /* in text; NULL: not shown */
	const char *name;  /* in CSV and JSON, with its unit; NULL: not shown */
	enum column_field field;
	size_t offset;
	struct cell (*get)(const struct cell_at *at);
	unsigned argument; /* for the getter: which of several similar columns this is */
	unsigned views;	   /* text: the table's views that show it, one bit each; 0: all */
	size_t width;	   /* text: 0 for the last column, which needs no width */
	size_t least;  /* text: of a column of names, which table_fit widens as rows need it; where
			    * names are cut, not below this.  0: the width is fixed */
	unsigned rank; /* text: dropped on a narrow screen, the highest first; 0: never */
	int gap;       /* text: blanks before it; 0 means two */
	int decimals;  /* text: of numbers; negative: the number of significant digits, as for %g */
	int form;      /* CSV and JSON: of numbers, FORM_* */
	unsigned flags;	  /* COLUMN_* */
	const char *none; /* text: stands for a missing value; NULL: blanks */
};

enum { TABLE_MAX_COLUMNS = 64 };

struct table {
	const struct column *columns; /* not owned; up to TABLE_MAX_COLUMNS */
	size_t n_columns;
	int format;	     /* FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON */
	struct text *out;    /* not owned */
	const char *schema;  /* JSON: the first member of each row; NULL: none */
	const char *kind;    /* JSON: "kind", the second one; NULL: none */
	unsigned view;	     /* text: a bit of column.views */
	const void *context; /* for getters */
	size_t screen;	     /* text: how wide a line may be; 0: as wide as it gets */
	bool is_cut;	     /* text: names lose their middle if that is not enough */
	struct text scratch; /* owned; for cell_printf */
	uint16_t fitted[TABLE_MAX_COLUMNS]; /* made by table_fit: what names need */
	uint16_t cut[TABLE_MAX_COLUMNS];    /* made by table_header: at most this; 0: all of it */
	uint64_t dropped;		    /* made by table_header: bits of columns */
};

void table_header(struct table *table); /* the titles; nothing for JSON */
void table_row(struct table *table, const void *row);
void table_fini(struct table *table);

/* Put the row's members or values into a JSON object or array that the caller begins and ends. */
void table_members(struct table *table, const void *row, struct json *json);
void table_values(struct table *table, const void *row, struct json *json);

/* Widens columns of names so that this row fits, for text; before table_header. */
void table_fit(struct table *table, const void *row);

#endif /* TACT_BASE_TABULAR_H */

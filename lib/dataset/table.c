/* SPDX-License-Identifier: MIT
 *
 * Tables of measured blocks: CSV with a header, one line after the other.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/evaluate.h>

#include "base/base.h"

/* No block of code comes near; a file without line ends would otherwise be read as a whole. */
enum { MAX_LINE = 1 << 20, MAX_COLUMNS = 256, MAX_LABEL = 255 };

enum column {
	HEX,
	CYCLES,
	HEX_LOOP,
	APP,
	CATEGORY,
	WEIGHT,
	CLEAN,
	ARCH,
	MODE,
	INIT,
	STATUS,
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
	{"status", STATUS},
};

struct field {
	char *text; /* in the line, NUL-terminated */
	size_t length;
};

struct tact_table {
	FILE *file;
	char *text; /* owned; a line and a NUL */
	size_t capacity, length;
	uint64_t line;
	int where[N_COLUMNS]; /* the column's place in the file, -1: it is not there */
	struct field field[MAX_COLUMNS];
	size_t n_fields;
	uint8_t *code; /* owned; hex, and behind it hex_loop */
	size_t code_capacity;
};

/* ---- lines and fields ---- */

/* The next line without its end.  Returns 1, 0 at the end, -TACT_E_FORMAT for one that is too long
 * or has a NUL, -TACT_E_IO, -TACT_E_NOMEM.
 */
static int read_line(struct tact_table *t, struct tact_diag *diag)
{
	bool has_nul = false, is_long = false;
	int c;

	t->length = 0;
	errno = 0;
	while ((c = getc_unlocked(t->file)) != EOF && c != '\n') {
		has_nul |= !c;
		if (t->length == MAX_LINE) {
			is_long = true;
			continue;
		}
		if (t->length + 1 >= t->capacity &&
		    tact_grow(&t->text, &t->capacity, t->length + 2, 1) < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		t->text[t->length++] = (char)c;
	}
	if (c == EOF && ferror(t->file))
		return tact_fail(diag, TACT_E_IO, "%s", strerror(errno ? errno : EIO));
	if (c == EOF && !t->length)
		return 0;
	t->line++;
	if (!t->length && tact_grow(&t->text, &t->capacity, 1, 1) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (t->length && t->text[t->length - 1] == '\r')
		t->length--;
	t->text[t->length] = '\0';
	if (is_long)
		return tact_fail_at(diag, TACT_E_FORMAT, t->line, 0,
				    "the line is longer than %d bytes", MAX_LINE);
	if (has_nul)
		return tact_fail_at(diag, TACT_E_FORMAT, t->line, 0, "a zero byte: not text");
	return 1;
}

/* A field in quotes, from behind the first one; doubled ones inside are one.  Returns what follows
 * it, or NULL if it does not end.
 */
static char *unquote(char *p, struct field *field)
{
	char *to = p;

	field->text = p;
	for (;; p++) {
		if (!*p)
			return NULL;
		if (*p == '"' && *++p != '"')
			break;
		*to++ = *p;
	}
	field->length = (size_t)(to - field->text);
	return p;
}

static int split(struct tact_table *t, struct tact_diag *diag)
{
	char *p = t->text;
	char after;

	t->n_fields = 0;
	do {
		struct field *field = &t->field[t->n_fields];

		if (t->n_fields++ == MAX_COLUMNS)
			return tact_fail_at(diag, TACT_E_FORMAT, t->line, 0, "more than %d columns",
					    MAX_COLUMNS);
		if (*p == '"') {
			p = unquote(p + 1, field);
			if (!p || (*p && *p != ','))
				return tact_fail_at(diag, TACT_E_FORMAT, t->line, 0,
						    "quotes that do not end with their field");
		} else {
			field->text = p;
			p += strcspn(p, ",");
			field->length = (size_t)(p - field->text);
		}
		after = *p;
		field->text[field->length] = '\0';
		p++;
	} while (after == ',');
	return 0;
}

static const struct field *get(const struct tact_table *t, enum column column)
{
	static const struct field none = {.text = (char *)""};
	int where = t->where[column];

	return where >= 0 && (size_t)where < t->n_fields ? &t->field[where] : &none;
}

/* ---- header ---- */

static int read_header(struct tact_table *t, struct tact_diag *diag)
{
	int status;

	for (int c = 0; c < N_COLUMNS; c++)
		t->where[c] = -1;
	do {
		status = read_line(t, diag);
		if (status == 1 && t->line == 1 && !strncmp(t->text, "\xef\xbb\xbf", 3))
			memmove(t->text, t->text + 3, t->length - 2);
	} while (status == 1 && !*t->text);
	if (!status)
		return tact_fail(diag, TACT_E_FORMAT, "the file is empty");
	if (status > 0)
		status = split(t, diag);
	if (status < 0)
		return status;
	for (size_t i = 0; i < t->n_fields; i++)
		for (size_t k = 0; k < ARRAY_SIZE(names); k++)
			if (!strcmp(t->field[i].text, names[k].name) &&
			    t->where[names[k].column] < 0)
				t->where[names[k].column] = (int)i;
	if (t->where[HEX] < 0 || t->where[CYCLES] < 0)
		return tact_fail_at(diag, TACT_E_FORMAT, t->line, 0,
				    "the header has no column '%s'",
				    t->where[HEX] < 0 ? "hex" : "cycles");
	return 0;
}

static int open_file(struct tact_table **out, FILE *file, struct tact_diag *diag)
{
	struct tact_table *t = calloc(1, sizeof(*t));
	int status;

	if (!t) {
		fclose(file);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	t->file = file;
	status = read_header(t, diag);
	if (status < 0) {
		tact_table_close(t);
		return status;
	}
	*out = t;
	return 0;
}

int tact_table_open(struct tact_table **out, const char *path, struct tact_diag *diag)
{
	bool is_stdin = path && !strcmp(path, "-");
	FILE *file;

	if (!out || !path)
		return tact_fail(diag, TACT_E_INVAL, "no path");
	/* Its own stream: one that somebody else has read from would have lost bytes. */
	file = is_stdin ? fdopen(dup(STDIN_FILENO), "rb") : fopen(path, "rbe");
	if (!file)
		return tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	return open_file(out, file, diag);
}

int tact_table_open_memory(struct tact_table **out, const void *data, size_t size,
			   struct tact_diag *diag)
{
	FILE *file;

	if (!out || (!data && size))
		return tact_fail(diag, TACT_E_INVAL, "no text");
	if (!size)
		return tact_fail(diag, TACT_E_FORMAT, "the file is empty");
	file = fmemopen((void *)(uintptr_t)data, size, "rb");
	if (!file)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return open_file(out, file, diag);
}

void tact_table_close(struct tact_table *table)
{
	if (!table)
		return;
	fclose(table->file);
	free(table->text);
	free(table->code);
	free(table);
}

/* ---- rows ---- */

static int bad(const struct tact_table *t, struct tact_diag *diag, const char *column,
	       const char *what)
{
	return tact_fail_at(diag, TACT_E_FORMAT, t->line, 0, "column %s: %s", column, what);
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
	const struct field *field = get(t, column);
	const char *name = column == HEX ? "hex" : "hex_loop";
	size_t where = 0;
	long n;

	if (tact_grow(&t->code, &t->code_capacity, at + field->length / 2 + 1, 1) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	n = tact_hex_decode(t->code + at, field->text, field->length, &where);
	if (n < 0 && where < field->length)
		return tact_fail_at(diag, TACT_E_FORMAT, t->line, where,
				    "column %s: position %zu is no hex digit", name, where + 1);
	if (n < 0)
		return bad(t, diag, name, "the number of hex digits is odd");
	*size = (size_t)n;
	return 0;
}

static int read_cycles(const struct tact_table *t, struct tact_table_row *row,
		       struct tact_diag *diag)
{
	const struct field *cycles = get(t, CYCLES), *status = get(t, STATUS);

	if (!cycles->length || (status->length && strcmp(status->text, "ok")))
		return 0;
	row->has_cycles = true;
	return read_number(cycles->text, &row->cycles) ? 0 : bad(t, diag, "cycles", "not a number");
}

static int read_rest(const struct tact_table *t, struct tact_table_row *row, struct tact_diag *diag)
{
	const struct field *weight = get(t, WEIGHT), *clean = get(t, CLEAN);

	if (weight->length && (!read_number(weight->text, &row->weight) || !(row->weight > 0)))
		return bad(t, diag, "weight", "not a positive number");
	if (clean->length && strcmp(clean->text, "0") && strcmp(clean->text, "1"))
		return bad(t, diag, "clean", "neither 0 nor 1 nor empty");
	row->clean = clean->length ? clean->text[0] == '1' : -1;
	for (enum column c = APP; c < STATUS; c++)
		if (c != WEIGHT && c != CLEAN && get(t, c)->length > MAX_LABEL)
			return bad(t, diag, "app, category, arch, mode or init", "too long");
	row->app = get(t, APP)->text;
	row->category = get(t, CATEGORY)->text;
	row->arch = get(t, ARCH)->text;
	row->mode = get(t, MODE)->text;
	row->init = get(t, INIT)->text;
	return 0;
}

int tact_table_next(struct tact_table *t, struct tact_table_row *row, struct tact_diag *diag)
{
	int status;

	if (!t || !row)
		return tact_fail(diag, TACT_E_INVAL, "no table or row");
	do {
		status = read_line(t, diag);
		if (status <= 0)
			return status;
	} while (!*t->text);
	*row = (struct tact_table_row){.size = sizeof(*row), .line = t->line, .weight = 1};
	status = split(t, diag);
	if (!status)
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

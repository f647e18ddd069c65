/* SPDX-License-Identifier: MIT */
#include "base/tabular.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

struct cell cell_none(void)
{
	return (struct cell){0};
}

struct cell cell_chars(const char *string, size_t size)
{
	return (struct cell){.type = CELL_STRING, .string = string, .size = size};
}

struct cell cell_string(const char *string)
{
	return string ? cell_chars(string, strlen(string)) : cell_none();
}

struct cell cell_hex(const uint8_t *bytes, size_t size)
{
	return (struct cell){.type = CELL_HEX, .bytes = bytes, .size = size};
}

struct cell cell_integer(int64_t value)
{
	return (struct cell){.type = CELL_INTEGER, .integer = value};
}

struct cell cell_count(uint64_t value)
{
	return (struct cell){.type = CELL_COUNT, .count = value};
}

struct cell cell_number(double value)
{
	return isfinite(value) ? (struct cell){.type = CELL_NUMBER, .number = value} : cell_none();
}

struct cell cell_bool(bool value)
{
	return (struct cell){.type = CELL_BOOL, .flag = value};
}

struct cell cell_printf(struct table *table, const char *format, ...)
{
	va_list args;

	text_reset(&table->scratch);
	va_start(args, format);
	text_vprintf(&table->scratch, format, args);
	va_end(args);
	table->out->failed |= table->scratch.failed;
	return cell_chars(table->scratch.data, table->scratch.size);
}

static struct cell read_field(const struct column *column, const void *row)
{
	const void *at = (const char *)row + column->offset;

	switch (column->field) {
	case FIELD_STRING:
		return cell_string(*(const char *const *)at);
	case FIELD_CHARS:
		return cell_string(at);
	case FIELD_INT:
		return cell_integer(*(const int *)at);
	case FIELD_UNSIGNED:
		return cell_count(*(const unsigned *)at);
	case FIELD_INT64:
		return cell_integer(*(const int64_t *)at);
	case FIELD_UINT64:
		return cell_count(*(const uint64_t *)at);
	case FIELD_SIZE:
		return cell_count(*(const size_t *)at);
	case FIELD_FLOAT:
		return cell_number((double)*(const float *)at);
	case FIELD_DOUBLE:
		return cell_number(*(const double *)at);
	case FIELD_BOOL:
		return cell_bool(*(const bool *)at);
	case FIELD_NONE:
		break;
	}
	return cell_none();
}

static bool is_zero(const struct cell *cell)
{
	return (cell->type == CELL_INTEGER && !cell->integer) ||
	       (cell->type == CELL_COUNT && !cell->count) ||
	       (cell->type == CELL_NUMBER && cell->number == 0);
}

static struct cell cell_of(struct table *table, const struct column *column, const void *row)
{
	const struct cell_at at = {row, column, table};
	struct cell cell = column->get ? column->get(&at) : read_field(column, row);
	bool is_string = cell.type == CELL_STRING || cell.type == CELL_HEX;

	if ((column->flags & COLUMN_SKIP_ZERO && is_zero(&cell)) ||
	    (column->flags & COLUMN_SKIP_EMPTY && is_string && !cell.size))
		return cell_none();
	return cell;
}

/* ---- text ---- */

enum { COLUMN_OF_NUMBERS = COLUMN_PERCENT | COLUMN_SIGNED | COLUMN_SEPARATED | COLUMN_CYCLES };

static bool is_shown(const struct table *table, size_t i)
{
	const struct column *column = &table->columns[i];

	return column->title && (!column->views || column->views & table->view) &&
	       !(i < TABLE_MAX_COLUMNS && table->dropped >> i & 1);
}

static size_t cut_of(const struct table *table, size_t i)
{
	return i < TABLE_MAX_COLUMNS && table->cut[i] ? table->cut[i] : SIZE_MAX;
}

static size_t fitted_width(const struct table *table, size_t i)
{
	const size_t fitted = i < TABLE_MAX_COLUMNS ? table->fitted[i] : 0;

	return fitted > table->columns[i].width ? fitted : table->columns[i].width;
}

static size_t width_of(const struct table *table, size_t i)
{
	const size_t width = fitted_width(table, i), cut = cut_of(table, i);

	return width < cut ? width : cut;
}

/* Shows characters that would control a terminal as something else. */
static void add_clean(struct text *out, const char *string, size_t size, size_t width)
{
	size_t start = out->size;

	text_short(out, string, size, width);
	for (size_t i = start; i < out->size; i++)
		if ((unsigned char)out->data[i] < ' ' || out->data[i] == 127)
			out->data[i] = '?';
}

/* Inserts commas into the digits of the whole number that begins at `start`. */
static void separate_thousands(struct text *out, size_t start)
{
	size_t first = start, end;

	while (first < out->size && (out->data[first] < '0' || out->data[first] > '9'))
		first++;
	for (end = first; end < out->size && out->data[end] >= '0' && out->data[end] <= '9';)
		end++;
	for (size_t at = end; at > first + 3;) {
		at -= 3;
		text_add(out, " "); /* room */
		if (out->failed)
			return;
		memmove(out->data + at + 1, out->data + at, out->size - 1 - at);
		out->data[at] = ',';
	}
}

static void show_number(struct text *out, const struct column *column, double value)
{
	if (column->flags & COLUMN_CYCLES) {
		text_cycles2(out, value, 0);
		return;
	}
	if (column->flags & COLUMN_PERCENT)
		value *= 100;
	if (column->decimals < 0)
		text_printf(out, "%.*g", -column->decimals, value);
	else if (column->flags & COLUMN_SIGNED)
		text_printf(out, "%+.*f", column->decimals, value);
	else
		text_printf(out, "%.*f", column->decimals, value);
	if (column->flags & COLUMN_PERCENT)
		text_add(out, "%");
}

/* Formats what text and CSV show alike. */
static void add_plain(struct text *out, const struct cell *cell)
{
	if (cell->type == CELL_HEX)
		text_hex(out, cell->bytes, cell->size);
	else if (cell->type == CELL_INTEGER)
		text_printf(out, "%lld", (long long)cell->integer);
	else if (cell->type == CELL_COUNT)
		text_printf(out, "%llu", (unsigned long long)cell->count);
	else if (cell->type == CELL_BOOL)
		text_add(out, cell->flag ? "yes" : "no");
}

static void add_shown(struct text *out, const struct column *column, const struct cell *cell,
		      size_t width)
{
	size_t start = out->size;

	if (cell->type == CELL_NONE)
		text_add(out, column->none ? column->none : "");
	else if (cell->type == CELL_STRING)
		add_clean(out, cell->string, cell->size, width);
	else if (cell->type == CELL_NUMBER)
		show_number(out, column, cell->number);
	else if (cell->type == CELL_INTEGER && column->flags & COLUMN_SIGNED)
		text_printf(out, "%+lld", (long long)cell->integer);
	else
		add_plain(out, cell);
	if (column->flags & COLUMN_SEPARATED)
		separate_thousands(out, start);
}

/* Moves what was added from `start` on to the right. */
static void flush_right(struct text *out, size_t start, size_t width)
{
	size_t size = out->size - start;

	if (size >= width)
		return;
	text_pad(out, width, start);
	if (out->failed)
		return;
	memmove(out->data + start + width - size, out->data + start, size);
	memset(out->data + start, ' ', width - size);
}

/* Aligns titles and missing values like the column's values. */
static bool is_right(const struct column *column)
{
	if (column->flags & (COLUMN_LEFT | COLUMN_RIGHT))
		return column->flags & COLUMN_RIGHT;
	return (column->field >= FIELD_INT && column->field <= FIELD_DOUBLE) || column->decimals ||
	       column->form || column->flags & COLUMN_OF_NUMBERS;
}

static size_t gap_of(const struct column *column)
{
	return column->gap ? (size_t)column->gap : 2;
}

static void text_line(struct table *table, const void *row)
{
	struct text *out = table->out;
	const size_t line = out->size;
	bool is_first = true;

	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];
		struct cell cell;
		size_t start;

		if (!is_shown(table, i))
			continue;
		if (!is_first)
			text_pad(out, gap_of(column), out->size);
		is_first = false;
		start = out->size;
		cell = row ? cell_of(table, column, row) : cell_string(column->title);
		add_shown(out, column, &cell, cut_of(table, i));
		if (is_right(column))
			flush_right(out, start, width_of(table, i));
		else
			text_pad(out, width_of(table, i), start);
	}
	text_trim(out, line);
	text_add(out, "\n");
}

void table_fit(struct table *table, const void *row)
{
	struct text *out = table->out;
	const size_t start = out->size;

	for (size_t i = 0; i < table->n_columns && i < TABLE_MAX_COLUMNS; i++) {
		const struct column *column = &table->columns[i];
		struct cell cell;
		size_t needs;

		if ((!column->least && !(column->flags & COLUMN_FIT)) || !is_shown(table, i))
			continue;
		cell = cell_of(table, column, row);
		add_shown(out, column, &cell, SIZE_MAX);
		needs = out->size - start;
		if (needs < strlen(column->title))
			needs = strlen(column->title);
		if (needs > table->fitted[i])
			table->fitted[i] = (uint16_t)(needs < UINT16_MAX ? needs : UINT16_MAX);
		out->size = start;
	}
}

/* ---- what fits ---- */

/* Returns the width of a line; are_least: with names at their least. */
static size_t line_width(const struct table *table, bool are_least)
{
	size_t sum = 0;
	bool is_first = true;

	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];
		size_t width;

		if (!is_shown(table, i))
			continue;
		width = width_of(table, i);
		if (width < strlen(column->title) && !column->width)
			width = strlen(column->title);
		if (are_least && column->least && width > column->least)
			width = column->least;
		sum += width + (is_first ? 0 : gap_of(column));
		is_first = false;
	}
	return sum;
}

/* Returns the column that is shown and dropped next; SIZE_MAX: none. */
static size_t next_to_drop(const struct table *table)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < table->n_columns && i < TABLE_MAX_COLUMNS; i++)
		if (is_shown(table, i) && table->columns[i].rank &&
		    (found == SIZE_MAX || table->columns[i].rank >= table->columns[found].rank))
			found = i;
	return found;
}

/* Returns the widest column of names that can still be narrower; SIZE_MAX: none. */
static size_t next_to_cut(const struct table *table)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < table->n_columns && i < TABLE_MAX_COLUMNS; i++)
		if (is_shown(table, i) && table->columns[i].least &&
		    width_of(table, i) > table->columns[i].least &&
		    (found == SIZE_MAX || width_of(table, i) > width_of(table, found)))
			found = i;
	return found;
}

static void lay_out(struct table *table)
{
	size_t i;

	table->dropped = 0;
	memset(table->cut, 0, sizeof(table->cut));
	if (!table->screen)
		return;
	while (line_width(table, true) > table->screen && (i = next_to_drop(table)) != SIZE_MAX)
		table->dropped |= UINT64_C(1) << i;
	while (table->is_cut && line_width(table, false) > table->screen &&
	       (i = next_to_cut(table)) != SIZE_MAX)
		table->cut[i] = (uint16_t)(width_of(table, i) - 1);
}

/* ---- CSV and JSON ---- */

static void add_number(struct text *out, const struct column *column, double value)
{
	if (!column->form)
		text_number(out, value);
	else if (column->form == FORM_EXACT)
		text_exact(out, value);
	else if (column->form > 0)
		text_printf(out, "%.*f", column->form - 1, value);
	else
		text_printf(out, "%.*g", -column->form, value);
}

static void csv_cell(struct text *out, const struct column *column, const struct cell *cell)
{
	if (cell->type == CELL_STRING)
		text_csv_field(out, cell->string, cell->size, column->flags & COLUMN_LOWER);
	else if (cell->type == CELL_NUMBER)
		add_number(out, column, cell->number);
	else
		add_plain(out, cell);
}

static void csv_line(struct table *table, const void *row)
{
	const char *comma = "";

	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];
		struct cell cell;

		if (!column->name)
			continue;
		text_add(table->out, comma);
		comma = ",";
		cell = row ? cell_of(table, column, row) : cell_string(column->name);
		csv_cell(table->out, column, &cell);
	}
	text_add(table->out, "\n");
}

static void json_cell(struct json *json, const char *key, const struct column *column,
		      const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NONE:
		json_put_null(json, key);
		break;
	case CELL_STRING:
		json_put_bytes(json, key, cell->string, cell->size);
		break;
	case CELL_HEX:
		json_put_hex(json, key, cell->bytes, cell->size);
		break;
	case CELL_INTEGER:
		json_put_integer(json, key, cell->integer);
		break;
	case CELL_COUNT:
		json_put_count(json, key, cell->count);
		break;
	case CELL_NUMBER:
		json_begin_value(json, key);
		add_number(json->out, column, cell->number);
		break;
	case CELL_BOOL:
		json_put_bool(json, key, cell->flag);
		break;
	}
}

static void json_cells(struct table *table, const void *row, struct json *json, bool has_keys)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];
		struct cell cell;

		if (!column->name)
			continue;
		cell = cell_of(table, column, row);
		if (has_keys && cell.type == CELL_NONE && !(column->flags & COLUMN_NULL))
			continue;
		json_cell(json, has_keys ? column->name : NULL, column, &cell);
	}
}

void table_members(struct table *table, const void *row, struct json *json)
{
	json_cells(table, row, json, true);
}

void table_values(struct table *table, const void *row, struct json *json)
{
	json_cells(table, row, json, false);
}

static void json_line(struct table *table, const void *row)
{
	struct json json = {.out = table->out};

	json_begin_object(&json, NULL);
	if (table->schema)
		json_put_string(&json, "schema", table->schema);
	if (table->kind)
		json_put_string(&json, "kind", table->kind);
	table_members(table, row, &json);
	json_end_line(&json);
}

void table_header(struct table *table)
{
	if (table->format == FORMAT_CSV) {
		csv_line(table, NULL);
	} else if (table->format != FORMAT_JSON) {
		lay_out(table);
		text_line(table, NULL);
	}
}

void table_row(struct table *table, const void *row)
{
	if (table->format == FORMAT_CSV)
		csv_line(table, row);
	else if (table->format == FORMAT_JSON)
		json_line(table, row);
	else
		text_line(table, row);
}

void table_fini(struct table *table)
{
	text_free(&table->scratch);
}

/* SPDX-License-Identifier: MIT
 *
 * A mix as a cross table: rows, columns, and chosen values in the cells.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/mix_report.h"

/* A table has room for TABLE_MAX_COLUMNS; columns with few executions are added up if need be. */
struct cross {
	const struct tact_mix_report *r;
	const enum tact_mix_value *values;
	size_t n_values;
	size_t n_columns; /* with columns of their own */
	bool has_others;
	size_t n_keys;
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	struct column items[TABLE_MAX_COLUMNS];
	char titles[TABLE_MAX_COLUMNS][160], names[TABLE_MAX_COLUMNS][160];
	size_t n;
};

struct cross_row {
	const char *key[TACT_MIX_MAX_KEYS];
	size_t number; /* of the row; SIZE_MAX: the sums */
	struct tact_mix_row all;
	const struct cross *cross;
};

/* The sum of everything. */
static struct tact_mix_row get_total(const struct cross *c)
{
	struct tact_mix_row total = TACT_MIX_ROW_INIT, row = TACT_MIX_ROW_INIT;
	const struct tact_mix_pivot *rows = tact_mix_cross_rows(c->r->cross);

	total.error = total.low = total.high = -1;
	for (size_t i = 0; !tact_mix_pivot_get_row(rows, i, &row); i++) {
		total.executions += row.executions;
		total.share += row.share;
		total.flops += row.flops;
	}
	/* Blocks with several kinds of instructions are in several rows. */
	total.entries = NAN;
	return total;
}

static void get_column(const struct cross *c, size_t j, struct tact_mix_row *out)
{
	out->size = sizeof(*out);
	tact_mix_pivot_get_row(tact_mix_cross_columns(c->r->cross), j, out);
}

static void get_cell(const struct cross_row *row, size_t j, struct tact_mix_row *out)
{
	out->size = sizeof(*out);
	if (row->number == SIZE_MAX)
		get_column(row->cross, j, out);
	else
		tact_mix_cross_get_cell(row->cross->r->cross, row->number, j, out);
}

/* Adds up the columns that have none of their own; what does not add up is unknown. */
static void add_others(const struct cross_row *row, bool of_column, struct tact_mix_row *sum)
{
	const struct cross *c = row->cross;
	const size_t n = tact_mix_pivot_count(tact_mix_cross_columns(c->r->cross));
	struct tact_mix_row one = TACT_MIX_ROW_INIT;

	*sum = (struct tact_mix_row)TACT_MIX_ROW_INIT;
	sum->error = sum->low = sum->high = -1;
	sum->entries = NAN;
	for (size_t j = c->n_columns; j < n; j++) {
		if (of_column)
			get_column(c, j, &one);
		else
			get_cell(row, j, &one);
		sum->executions += one.executions;
		sum->share += one.share;
		sum->flops += one.flops;
	}
}

static struct cell get_value(const struct cell_at *at)
{
	const struct cross_row *row = at->row;
	const struct cross *c = row->cross;
	const size_t j = at->column->argument / c->n_values;
	const enum tact_mix_value value = c->values[at->column->argument % c->n_values];
	struct tact_mix_row cell, column;

	if (j < c->n_columns) {
		get_cell(row, j, &cell);
		get_column(c, j, &column);
	} else if (j == c->n_columns && c->has_others) {
		add_others(row, false, &cell);
		add_others(row, true, &column);
	} else {
		cell = row->all;
		column = get_total(c);
	}
	/* Nothing was executed: no error is known, and none matters. */
	if (!(cell.executions > 0))
		return cell_none();
	return mix_value_of(value, &cell, &row->all, &column);
}

static void add_column(struct cross *c, const char *name)
{
	for (size_t v = 0; v < c->n_values; v++) {
		struct column *column = &c->items[c->n];
		const bool is_one = c->n_values == 1;

		*column = mix_value_column(c->values[v]);
		snprintf(c->titles[c->n], sizeof(c->titles[c->n]), "%s%s%s", name,
			 is_one ? "" : " ", is_one ? "" : column->title);
		snprintf(c->names[c->n], sizeof(c->names[c->n]), "%s%s%s", name, is_one ? "" : " ",
			 is_one ? "" : column->name);
		column->title = c->titles[c->n];
		column->name = c->names[c->n];
		if (column->width < strlen(column->title))
			column->width = strlen(column->title);
		column->get = get_value;
		column->argument = (unsigned)(c->n - c->n_keys);
		column->rank = 0;
		column->none = ".";
		column->flags |= COLUMN_NULL;
		c->n++;
	}
}

/* "packed", or "avx, packed" for several keys. */
static void name_column(const struct tact_mix_row *row, size_t n_keys, char *name, size_t size)
{
	size_t n = 0;

	name[0] = '\0';
	for (size_t k = 0; k < n_keys && n < size; k++)
		n += (size_t)snprintf(name + n, size - n, "%s%s", k ? ", " : "", row->key[k]);
}

static void make_columns(struct cross *c)
{
	const struct tact_mix_pivot *columns = tact_mix_cross_columns(c->r->cross);
	const size_t all = tact_mix_pivot_count(columns);
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	const size_t n_keys = tact_mix_pivot_get_keys(columns, keys);
	const size_t room = (TABLE_MAX_COLUMNS - c->n_keys) / c->n_values - 1;

	c->has_others = all > room;
	c->n_columns = c->has_others ? room - 1 : all;
	for (size_t k = 0; k < c->n_keys; k++)
		c->items[c->n++] = (struct column){.title = tact_mix_key_name(c->keys[k]),
						   .name = tact_mix_key_name(c->keys[k]),
						   .field = FIELD_STRING,
						   .offset = k * sizeof(const char *),
						   .least = 8};
	for (size_t j = 0; j < c->n_columns; j++) {
		struct tact_mix_row row;
		char name[120];

		get_column(c, j, &row);
		name_column(&row, n_keys, name, sizeof(name));
		add_column(c, name);
	}
	if (c->has_others)
		add_column(c, "(others)");
	add_column(c, "(all)");
}

static void make_row(const struct cross *c, size_t i, struct cross_row *row)
{
	*row = (struct cross_row){.number = i, .cross = c, .all = TACT_MIX_ROW_INIT};
	if (i == SIZE_MAX) {
		row->all = get_total(c);
		for (size_t k = 0; k < TACT_MIX_MAX_KEYS; k++)
			row->key[k] = k ? "" : "(all)";
		return;
	}
	tact_mix_pivot_get_row(tact_mix_cross_rows(c->r->cross), i, &row->all);
	memcpy(row->key, row->all.key, sizeof(row->key));
}

static void add_json(struct report *report, struct cross *c, struct table *table, size_t n)
{
	const struct tact_mix_pivot *columns = tact_mix_cross_columns(c->r->cross);
	struct json json = {.out = &report->text};
	struct tact_mix_figures figures = TACT_MIX_FIGURES_INIT;
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	const size_t n_keys = tact_mix_pivot_get_keys(columns, keys);
	struct cross_row row;

	tact_mix_pivot_get_figures(c->r->pivot, &figures);
	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.mix.cross/1");
	mix_summary_json(c->r->summary, &json);
	mix_figures_json(&figures, &json);
	json_begin_array(&json, "keys");
	for (size_t k = 0; k < c->n_keys; k++)
		json_put_string(&json, NULL, tact_mix_key_name(c->keys[k]));
	json_end(&json);
	json_begin_array(&json, "column_keys");
	for (size_t k = 0; k < n_keys; k++)
		json_put_string(&json, NULL, tact_mix_key_name(keys[k]));
	json_end(&json);
	json_begin_array(&json, "values");
	for (size_t i = c->n_keys; i < c->n; i++)
		json_put_string(&json, NULL, c->items[i].name);
	json_end(&json);
	json_begin_array(&json, "rows");
	for (size_t i = 0; i <= n && report_flush(report); i++) {
		make_row(c, i < n ? i : SIZE_MAX, &row);
		json_begin_array(&json, NULL);
		table_values(table, &row, &json);
		json_end(&json);
	}
	json_end(&json);
	json_end_line(&json);
}

static void add_table(struct report *report, struct cross *c, struct table *table, size_t n)
{
	const size_t all = tact_mix_pivot_count(tact_mix_cross_rows(c->r->cross));
	struct tact_mix_figures figures = TACT_MIX_FIGURES_INIT;
	struct cross_row row;

	if (table->format == FORMAT_TEXT) {
		tact_mix_pivot_get_figures(c->r->pivot, &figures);
		mix_summary_add(c->r->summary, &report->text);
		mix_figures_add(&figures, &report->text);
		text_add(&report->text, "\n");
		for (size_t i = 0; i <= n; i++) {
			make_row(c, i < n ? i : SIZE_MAX, &row);
			table_fit(table, &row);
		}
	}
	table_header(table);
	for (size_t i = 0; i <= n && report_flush(report); i++) {
		make_row(c, i < n ? i : SIZE_MAX, &row);
		table_row(table, &row);
	}
	if (table->format == FORMAT_TEXT && n < all)
		text_printf(&report->text, "(%zu more rows)\n", all - n);
}

void mix_cross_write(struct report *report, const struct tact_mix_report *r)
{
	static const enum tact_mix_value usual[] = {TACT_MIX_VALUE_SHARE};
	struct cross *c = calloc(1, sizeof(*c));
	struct table table;
	size_t n;

	if (!c) {
		report->text.failed = true;
		return;
	}
	c->r = r;
	c->values = r->n_values ? r->values : usual;
	c->n_values = r->n_values ? r->n_values : 1;
	c->n_keys = tact_mix_pivot_get_keys(tact_mix_cross_rows(r->cross), c->keys);
	make_columns(c);
	n = tact_mix_pivot_count(tact_mix_cross_rows(r->cross));
	n = r->top && r->top < n ? r->top : n;
	table = (struct table){.columns = c->items,
			       .n_columns = c->n,
			       .format = (int)r->format,
			       .screen = r->width,
			       .is_cut = r->is_cut,
			       .out = &report->text};
	if (r->format == TACT_FORMAT_JSON)
		add_json(report, c, &table, n);
	else
		add_table(report, c, &table, n);
	table_fini(&table);
	free(c);
}

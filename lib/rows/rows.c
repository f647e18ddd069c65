/* SPDX-License-Identifier: MIT
 *
 * Reads measured rows, wherever they come from.
 */
#include <math.h>
#include <stdlib.h>

#include "rows/rows.h"

struct tact_rows {
	struct rows_table *table;	 /* owned; NULL: a store */
	struct tact_store *own_store;	 /* owned; NULL: a file, or the caller's store */
	struct tact_store_iter *iter;	 /* owned */
	struct tact_row_source *sources; /* owned; of the row of a store */
	size_t capacity;
	bool is_over; /* after an error that ends it */
};

/* ---- opening ---- */

static int create(struct tact_rows **out, struct tact_diag *diag)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

static int open_table(struct tact_rows **out, struct csv *csv, struct tact_diag *diag)
{
	struct tact_rows *rows;
	int status = create(&rows, diag);

	if (status < 0) {
		csv_close(csv);
		return status;
	}
	status = rows_table_open(&rows->table, csv, diag);
	return HAND_OVER(out, rows, status, tact_rows_close);
}

int tact_rows_open_store(struct tact_rows **out, struct tact_store *store,
			 const struct tact_store_filter *filter, struct tact_diag *diag)
{
	struct tact_rows *rows;
	int status;

	if (!out || !store)
		return tact_fail(diag, TACT_E_INVAL, "no store");
	status = create(&rows, diag);
	if (status < 0)
		return status;
	status = tact_store_iter_create(&rows->iter, store, filter, diag);
	return HAND_OVER(out, rows, status, tact_rows_close);
}

static int open_store(struct tact_rows **out, const char *path, struct tact_diag *diag)
{
	struct tact_store *store;
	int status = tact_store_open(&store, path, TACT_STORE_READONLY, diag);

	if (status < 0)
		return status;
	status = tact_rows_open_store(out, store, NULL, diag);
	if (status < 0)
		tact_store_close(store);
	else
		(*out)->own_store = store;
	return status;
}

int tact_rows_open(struct tact_rows **out, const char *path, struct tact_diag *diag)
{
	struct csv *csv;
	int status;

	if (!out || !path)
		return tact_fail(diag, TACT_E_INVAL, "no path");
	if (tact_store_is_store(path))
		return open_store(out, path, diag);
	status = csv_open(&csv, path, diag);
	return status < 0 ? status : open_table(out, csv, diag);
}

int tact_rows_open_memory(struct tact_rows **out, const void *data, size_t size,
			  struct tact_diag *diag)
{
	struct csv *csv;
	int status;

	if (!out || (!data && size))
		return tact_fail(diag, TACT_E_INVAL, "no text");
	status = csv_open_memory(&csv, data, size, diag);
	return status < 0 ? status : open_table(out, csv, diag);
}

int tact_rows_ask(struct tact_rows *rows, const char *const *names, size_t n)
{
	if (!rows || (n && !names))
		return -TACT_E_INVAL;
	return rows->table ? rows_table_ask(rows->table, names, n) : 0;
}

void tact_rows_close(struct tact_rows *rows)
{
	if (!rows)
		return;
	rows_table_close(rows->table);
	tact_store_iter_destroy(rows->iter);
	tact_store_close(rows->own_store);
	FREE_ALL(rows->sources, rows);
}

bool tact_row_has_number(const struct tact_row *row)
{
	return row && row->has_cycles && row->cycles > 0;
}

bool tact_row_is_confirmed(const struct tact_row *row)
{
	return tact_row_has_number(row) && row->agree >= 2;
}

/* ---- rows of a store ---- */

/* The weight of a block is the sum of its weights in applications; an unknown one counts as 1. */
static int take_sources(struct tact_rows *rows, const struct tact_store_row *from,
			struct tact_row *row, struct tact_diag *diag)
{
	double sum = 0;

	if (tact_grow(&rows->sources, &rows->capacity, from->n_sources, sizeof(*rows->sources)) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < from->n_sources; i++) {
		double weight = from->sources[i].weight;

		rows->sources[i] = (struct tact_row_source){
			from->sources[i].app, weight > 0 && isfinite(weight) ? weight : 1};
		sum += rows->sources[i].weight;
	}
	row->sources = rows->sources;
	row->n_sources = from->n_sources;
	row->weight = sum > 0 ? sum : 1;
	return 1;
}

static int next_of_store(struct tact_rows *rows, struct tact_row *row, struct tact_diag *diag)
{
	struct tact_store_row from = {.size = sizeof(from)};
	const struct tact_measurement *m;
	int status = tact_store_iter_next(rows->iter, &from, diag);

	if (status <= 0)
		return status;
	m = from.measurement;
	*row = (struct tact_row){
		.size = sizeof(*row),
		.block = from.block,
		.code = from.code,
		.code_size = from.code_size,
		.loop = from.loop_code,
		.loop_size = from.loop_code ? from.loop_size : 0,
		.cycles = m->cycles_per_iteration,
		.has_cycles = m->status == TACT_MEASURE_OK,
		.clean = from.clean == TACT_CLEAN_UNKNOWN ? -1 : from.clean == TACT_CLEAN_YES,
		.mode = m->mode,
		.init = (int)m->init,
		.flags = m->flags,
		.letters = from.flags,
		.status = tact_measure_status_name(m->status),
		.arch = from.machine->arch,
		.machine = from.machine->brand,
		.category = from.category,
		.origin = from.origin,
		.alignment = m->alignment,
		.rounds = m->rounds,
		.agree = m->agree,
	};
	return take_sources(rows, &from, row, diag);
}

int tact_rows_next(struct tact_rows *rows, struct tact_row *row, struct tact_diag *diag)
{
	uint64_t n_skipped;
	int status;

	if (!rows || !row)
		return tact_fail(diag, TACT_E_INVAL, "no rows or nowhere to put one");
	if (rows->is_over)
		return 0;
	if (rows->table) {
		status = rows_table_next(rows->table, row, diag);
		rows->is_over = status < 0 && status != -TACT_E_FORMAT;
		return status;
	}
	status = next_of_store(rows, row, diag);
	rows->is_over = status <= 0;
	n_skipped = tact_store_iter_skipped(rows->iter);
	if (!status && n_skipped)
		return tact_fail(diag, TACT_E_FORMAT, "rows that cannot be read, left out: %llu",
				 (unsigned long long)n_skipped);
	return status;
}

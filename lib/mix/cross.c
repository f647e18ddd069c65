/* SPDX-License-Identifier: MIT
 *
 * Cross tables: three pivots, one of all keys and one of each side, whose rows are matched by text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "mix/pivot.h"

struct tact_mix_cross {
	struct tact_mix_pivot *rows, *columns, *cells; /* owned */
	size_t n_row_keys;
	struct place {
		size_t row, column;
	} * places; /* owned; of each cell */
	struct hash cell_of;
};

static uint64_t hash_keys(const char *const *key, size_t n)
{
	uint64_t hash = n;

	for (size_t k = 0; k < n; k++)
		hash = hash * UINT64_C(0x9e3779b97f4a7c15) + hash_string(key[k]);
	return hash * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t hash_place(size_t row, size_t column)
{
	const uint64_t place[] = {row, column};

	return hash_bytes(place, sizeof(place));
}

static int index_rows(struct hash *table, const struct tact_mix_pivot *p, size_t n_keys)
{
	struct tact_mix_row row = TACT_MIX_ROW_INIT;
	int status = 0;

	for (size_t i = 0; !tact_mix_pivot_get_row(p, i, &row) && !status; i++)
		status = hash_add(table, hash_keys(row.key, n_keys), (uint32_t)i);
	return status;
}

static size_t find_row(const struct hash *table, const struct tact_mix_pivot *p,
		       const char *const *key, size_t n_keys)
{
	struct tact_mix_row row = TACT_MIX_ROW_INIT;
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(table, hash_keys(key, n_keys), &at)) != HASH_NONE) {
		size_t k = 0;

		tact_mix_pivot_get_row(p, i, &row);
		while (k < n_keys && !strcmp(row.key[k], key[k]))
			k++;
		if (k == n_keys)
			break;
	}
	return i;
}

static int place_cells(struct tact_mix_cross *c)
{
	enum tact_mix_key keys[TACT_MIX_MAX_KEYS];
	const size_t n_keys = tact_mix_pivot_get_keys(c->cells, keys);
	struct tact_mix_row cell = TACT_MIX_ROW_INIT;
	struct hash rows = {0}, columns = {0};
	int status = index_rows(&rows, c->rows, c->n_row_keys);

	if (!status)
		status = index_rows(&columns, c->columns, n_keys - c->n_row_keys);
	c->places = calloc(tact_mix_pivot_count(c->cells) + 1, sizeof(*c->places));
	if (!c->places)
		status = -TACT_E_NOMEM;
	for (size_t i = 0; !status && !tact_mix_pivot_get_row(c->cells, i, &cell); i++) {
		struct place *p = &c->places[i];

		p->row = find_row(&rows, c->rows, cell.key, c->n_row_keys);
		p->column = find_row(&columns, c->columns, cell.key + c->n_row_keys,
				     n_keys - c->n_row_keys);
		status = hash_add(&c->cell_of, hash_place(p->row, p->column), (uint32_t)i);
	}
	hash_free(&rows);
	hash_free(&columns);
	return status;
}

static int fill(struct tact_mix_cross *c, struct tact_mix *const *mixes, size_t n,
		const struct tact_mix_pivot_options *rows, const enum tact_mix_key *columns,
		size_t n_columns, struct tact_diag *diag)
{
	struct tact_mix_pivot_options o = *rows;
	int status = tact_mix_pivot_create_all(&c->rows, mixes, n, &o, diag);

	memcpy(o.keys + o.n_keys, columns, n_columns * sizeof(*columns));
	o.n_keys += n_columns;
	if (status >= 0)
		status = tact_mix_pivot_create_all(&c->cells, mixes, n, &o, diag);
	memcpy(o.keys, columns, n_columns * sizeof(*columns));
	o.n_keys = n_columns;
	if (status >= 0)
		status = tact_mix_pivot_create_all(&c->columns, mixes, n, &o, diag);
	if (status < 0)
		return status;
	return place_cells(c) ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : 0;
}

int tact_mix_cross_create(struct tact_mix_cross **out, struct tact_mix *const *mixes, size_t n,
			  const struct tact_mix_pivot_options *opt,
			  const enum tact_mix_key *columns, size_t n_columns,
			  struct tact_diag *diag)
{
	struct tact_mix_pivot_options o;
	struct tact_mix_cross *c;
	int status;

	if (out)
		*out = NULL;
	if (!out || tact_read_options(&o, sizeof(o), opt))
		return tact_fail(diag, TACT_E_INVAL, "nowhere to put the table, or wrong options");
	o.size = sizeof(o);
	if (!o.n_keys) {
		o.keys[0] = TACT_MIX_BY_MNEMONIC;
		o.n_keys = 1;
	}
	if (!columns || !n_columns || o.n_keys > TACT_MIX_MAX_KEYS ||
	    n_columns > TACT_MIX_MAX_KEYS - o.n_keys)
		return tact_fail(diag, TACT_E_INVAL, "no columns, or more than %d keys in all",
				 TACT_MIX_MAX_KEYS);
	c = calloc(1, sizeof(*c));
	if (!c)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	c->n_row_keys = o.n_keys;
	status = fill(c, mixes, n, &o, columns, n_columns, diag);
	return HAND_OVER(out, c, status, tact_mix_cross_destroy);
}

void tact_mix_cross_destroy(struct tact_mix_cross *c)
{
	if (!c)
		return;
	tact_mix_pivot_destroy(c->rows);
	tact_mix_pivot_destroy(c->columns);
	tact_mix_pivot_destroy(c->cells);
	hash_free(&c->cell_of);
	free(c->places);
	free(c);
}

const struct tact_mix_pivot *tact_mix_cross_rows(const struct tact_mix_cross *c)
{
	return c ? c->rows : NULL;
}

const struct tact_mix_pivot *tact_mix_cross_columns(const struct tact_mix_cross *c)
{
	return c ? c->columns : NULL;
}

int tact_mix_cross_get_cell(const struct tact_mix_cross *c, size_t i, size_t j,
			    struct tact_mix_row *out)
{
	struct tact_mix_row none = TACT_MIX_ROW_INIT;
	size_t at = 0;
	uint32_t cell;
	int status;

	if (i >= tact_mix_pivot_count(tact_mix_cross_rows(c)) ||
	    j >= tact_mix_pivot_count(c->columns))
		return -TACT_E_INVAL;
	while ((cell = hash_next(&c->cell_of, hash_place(i, j), &at)) != HASH_NONE)
		if (c->places[cell].row == i && c->places[cell].column == j)
			break;
	if (cell == HASH_NONE) {
		for (size_t k = 0; k < TACT_MIX_MAX_KEYS; k++)
			none.key[k] = "";
		return tact_fill(out, &none, sizeof(none));
	}
	status = tact_mix_pivot_get_row(c->cells, cell, out);
	return status < 0 ? status : 1;
}

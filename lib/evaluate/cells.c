/* SPDX-License-Identifier: MIT */
#include "evaluate/cells.h"

#include <stdlib.h>
#include <string.h>

/* Appends a label and the byte that ends it; labels have none. */
static int put(struct cells *c, size_t *size, const char *label, size_t length)
{
	if (tact_grow(&c->scratch, &c->scratch_capacity, *size + length + 1, 1) < 0)
		return -TACT_E_NOMEM;
	memcpy(c->scratch + *size, label, length);
	c->scratch[*size + length] = '\0';
	*size += length + 1;
	return 0;
}

/* Makes the name of a key in the scratch. */
static int make_name(struct cells *c, const struct cell_key *key, size_t *size)
{
	const char kind[] = {(char)('0' + key->mode), key->is_whole ? '1' : '0'};
	int status;

	*size = 0;
	status = put(c, size, key->arch, strlen(key->arch));
	if (status >= 0)
		status = put(c, size, kind, sizeof(kind));
	if (status >= 0)
		status = put(c, size, key->category, strlen(key->category));
	for (size_t i = 0; i < key->n_sources && status >= 0; i++)
		status = put(c, size, key->sources[i].app, strlen(key->sources[i].app));
	return status;
}

static int add(struct cells *c, size_t size, uint64_t hash)
{
	struct cell cell = {.size = size, .hash = hash};
	char *name = tact_arena_take(&c->arena, size);

	cell.outcomes =
		tact_arena_take(&c->arena, c->n_models * TACT_N_OUTCOMES * sizeof(uint64_t));
	if (!name || !cell.outcomes ||
	    tact_grow(&c->cell, &c->capacity, c->n + 1, sizeof(*c->cell)) < 0 ||
	    hash_add(&c->index, hash, (uint32_t)c->n) < 0)
		return -TACT_E_NOMEM;
	memset(cell.outcomes, 0, c->n_models * TACT_N_OUTCOMES * sizeof(uint64_t));
	memcpy(name, c->scratch, size);
	cell.name = name;
	c->cell[c->n++] = cell;
	return 0;
}

long cells_find(struct cells *c, const struct cell_key *key, bool *is_new)
{
	uint64_t hash;
	uint32_t i;
	size_t size, at = 0;

	*is_new = false;
	if (make_name(c, key, &size) < 0)
		return -TACT_E_NOMEM;
	hash = hash_bytes(c->scratch, size);
	while ((i = hash_next(&c->index, hash, &at)) != HASH_NONE)
		if (c->cell[i].size == size && !memcmp(c->cell[i].name, c->scratch, size))
			return (long)i;
	if (add(c, size, hash) < 0)
		return -TACT_E_NOMEM;
	*is_new = true;
	c->cell[c->n - 1].is_whole = key->is_whole;
	return (long)c->n - 1;
}

int cells_compare(const struct cells *c, size_t a, size_t b)
{
	const struct cell *x = &c->cell[a], *y = &c->cell[b];
	int order;

	if (a == b)
		return 0;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	order = memcmp(x->name, y->name, x->size < y->size ? x->size : y->size);
	return order ? order : ORDER(x->size, y->size);
}

static int by_name(const void *a, const void *b, void *cells)
{
	return cells_compare(cells, *(const uint32_t *)a, *(const uint32_t *)b);
}

uint32_t *cells_order(const struct cells *c)
{
	uint32_t *sorted = malloc((c->n + 1) * sizeof(*sorted));
	uint32_t *place = malloc((c->n + 1) * sizeof(*place));

	if (!sorted || !place) {
		FREE_ALL(sorted, place);
		return NULL;
	}
	for (size_t i = 0; i < c->n; i++)
		sorted[i] = (uint32_t)i;
	qsort_r(sorted, c->n, sizeof(*sorted), by_name, (void *)c);
	for (size_t i = 0; i < c->n; i++)
		place[sorted[i]] = (uint32_t)i;
	free(sorted);
	return place;
}

void cells_fini(struct cells *c)
{
	FREE_ALL(c->cell, c->scratch);
	hash_free(&c->index);
	tact_arena_reset(&c->arena);
}

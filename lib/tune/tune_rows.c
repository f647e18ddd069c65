/* SPDX-License-Identifier: MIT
 *
 * Measured blocks, each once, and their parts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "tune/tune.h"

static bool is_known(const struct tune_rows *r, uint64_t hash, const uint8_t *code, size_t size)
{
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&r->index, hash, &at)) != HASH_NONE)
		if (r->rows[i].size == size && !memcmp(r->code + r->rows[i].code, code, size))
			return true;
	return false;
}

/* Returns the number of a group, a new one if necessary; beyond a limit, all share the nameless
 * one.
 */
static int find_group(struct tune_rows *r, const char *name)
{
	enum { MAX_GROUPS = 1000 };
	char wanted[sizeof(r->groups[0])] = "";

	if (name)
		strncpy(wanted, name, sizeof(wanted) - 1);
	for (size_t i = 0; i < r->n_groups; i++)
		if (!strcmp(r->groups[i], wanted))
			return (int)i;
	if (r->n_groups == MAX_GROUPS)
		return 0;
	if (tact_grow(&r->groups, &r->group_capacity, r->n_groups + 2, sizeof(*r->groups)) < 0)
		return -TACT_E_NOMEM;
	if (!r->n_groups)
		memset(r->groups[r->n_groups++], 0, sizeof(*r->groups));
	if (!wanted[0])
		return 0;
	memcpy(r->groups[r->n_groups], wanted, sizeof(wanted));
	return (int)r->n_groups++;
}

int tune_rows_add(struct tune_rows *r, const uint8_t *code, size_t size, double cycles,
		  const char *group)
{
	const uint64_t hash = hash_bytes(code, size);
	int number = find_group(r, group);

	if (number < 0)
		return -TACT_E_NOMEM;
	if (is_known(r, hash, code, size))
		return 0;
	if (r->code_size + size > UINT32_MAX || r->n >= UINT32_MAX - 1)
		return -TACT_E_LIMIT;
	if (tact_grow(&r->rows, &r->capacity, r->n + 1, sizeof(*r->rows)) < 0 ||
	    tact_grow(&r->code, &r->code_capacity, r->code_size + size, 1) < 0 ||
	    hash_add(&r->index, hash, (uint32_t)r->n) < 0)
		return -TACT_E_NOMEM;
	memcpy(r->code + r->code_size, code, size);
	r->rows[r->n] = (struct tune_row){.code = (uint32_t)r->code_size,
					  .size = (uint32_t)size,
					  .group = (uint16_t)number,
					  .cycles = cycles};
	r->code_size += size;
	r->n++;
	return 1;
}

void tune_rows_fini(struct tune_rows *r)
{
	FREE_ALL(r->rows, r->code);
	hash_free(&r->index);
	free(r->groups);
}

struct ticket {
	uint64_t hash;
	size_t row;
};

static int by_hash(const void *a, const void *b)
{
	const struct ticket *x = a, *y = b;

	return 2 * ORDER(x->hash, y->hash) + ORDER(x->row, y->row);
}

int tune_rows_split(struct tune_rows *r, uint64_t seed)
{
	struct ticket *tickets = calloc(r->n ? r->n : 1, sizeof(*tickets));

	if (!tickets)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < r->n; i++) {
		const struct tune_row *row = &r->rows[i];
		uint64_t rng = hash_bytes(r->code + row->code, row->size) ^ seed;

		tickets[i] = (struct ticket){random_next(&rng), i};
	}
	qsort(tickets, r->n, sizeof(*tickets), by_hash);
	memset(r->n_part, 0, sizeof(r->n_part));
	for (size_t i = 0; i < r->n; i++) {
		enum tact_tune_part part = i < r->n / 10  ? TACT_TUNE_TEST
					   : i < r->n / 5 ? TACT_TUNE_VALIDATION
							  : TACT_TUNE_TRAIN;

		r->rows[tickets[i].row].part = (uint8_t)part;
		r->n_part[part]++;
	}
	free(tickets);
	return 0;
}

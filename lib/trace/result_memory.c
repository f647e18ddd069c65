/* SPDX-License-Identifier: MIT
 *
 * The memory of a result, and the order of its rows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "trace/result.h"

const char *result_stall_column(enum tact_stall stall)
{
	return stall == TACT_STALL_FRONT_END ? "front_end" : tact_stall_name(stall);
}

struct tact_result *result_new(void)
{
	struct tact_result *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->info = (struct tact_result_info){.size = sizeof(r->info), .arch = "", .command = ""};
	r->totals.size = sizeof(r->totals);
	return r;
}

void tact_result_destroy(struct tact_result *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < TACT_N_RESULT_KINDS; i++)
		free(r->rows[i].items);
	tact_arena_reset(&r->memory);
	FREE_ALL(r->calls, r->slices, r->strings);
	hash_free(&r->string_of);
	free(r);
}

const char *result_string(struct tact_result *r, const char *text)
{
	const size_t length = strlen(text);
	const uint64_t hash = hash_bytes(text, length);
	size_t at = 0;
	uint32_t i;
	char *copy;

	if (!length)
		return "";
	while ((i = hash_next(&r->string_of, hash, &at)) != HASH_NONE)
		if (!strcmp(r->strings[i], text))
			return r->strings[i];
	if (tact_grow(&r->strings, &r->strings_capacity, r->n_strings + 1, sizeof(*r->strings)) ||
	    hash_reserve(&r->string_of, r->n_strings + 1))
		return NULL;
	copy = tact_arena_take(&r->memory, length + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, length + 1);
	hash_add(&r->string_of, hash, (uint32_t)r->n_strings);
	r->strings[r->n_strings++] = copy;
	return copy;
}

int result_reserve(struct tact_result *r, enum tact_result_kind kind, size_t n)
{
	struct result_rows *rows = &r->rows[kind];
	struct tact_result_row *grown;

	if (n <= rows->capacity)
		return 0;
	grown = realloc(rows->items, n * sizeof(*rows->items));
	if (!grown)
		return -TACT_E_NOMEM;
	rows->items = grown;
	rows->capacity = n;
	return 0;
}

struct result_slice *result_add_slice(struct tact_result *r)
{
	if (tact_grow(&r->slices, &r->slices_capacity, r->n_slices + 1, sizeof(*r->slices)))
		return NULL;
	return &r->slices[r->n_slices++];
}

struct tact_result_row *result_add(struct tact_result *r, enum tact_result_kind kind)
{
	struct result_rows *rows = &r->rows[kind];
	struct tact_result_row *row;

	if (tact_grow(&rows->items, &rows->capacity, rows->n + 1, sizeof(*rows->items)))
		return NULL;
	row = &rows->items[rows->n++];
	*row = (struct tact_result_row){.size = sizeof(*row),
					.module = "",
					.function = "",
					.source = "",
					.isa = tact_isa_default()};
	return row;
}

int result_add_thread(struct tact_result *r, uint32_t process, uint32_t thread, double cycles,
		      uint64_t instructions)
{
	struct tact_result_row *row = result_add(r, TACT_RESULT_THREAD);

	if (!row)
		return -TACT_E_NOMEM;
	row->process = process;
	row->thread = thread;
	row->cycles = cycles;
	row->instructions = instructions;
	result_sort(r);
	return 0;
}

/* ---- order ---- */

/* Equal rows have an order as well, so that the output is the same every time. */
static int compare(const void *a, const void *b)
{
	const struct tact_result_row *x = a, *y = b;
	int order;

	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	if (x->instructions != y->instructions)
		return x->instructions > y->instructions ? -1 : 1;
	order = strcmp(x->module, y->module);
	if (!order)
		order = strcmp(x->function, y->function);
	if (!order)
		order = strcmp(x->source, y->source);
	if (order)
		return order;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

void result_sort(struct tact_result *r)
{
	for (unsigned i = 0; i < TACT_N_RESULT_KINDS; i++)
		if (r->rows[i].n)
			qsort(r->rows[i].items, r->rows[i].n, sizeof(*r->rows[i].items), compare);
}

/* ---- reading ---- */

int tact_result_get_info(const struct tact_result *r, struct tact_result_info *out)
{
	return r ? tact_fill(out, &r->info, sizeof(r->info)) : -TACT_E_INVAL;
}

int tact_result_get_totals(const struct tact_result *r, struct tact_cycles_totals *out)
{
	return r ? tact_fill(out, &r->totals, sizeof(r->totals)) : -TACT_E_INVAL;
}

const struct tact_result_row *result_rows(const struct tact_result *r, enum tact_result_kind kind,
					  size_t *n)
{
	*n = r->rows[kind].n;
	return r->rows[kind].items;
}

size_t tact_result_count(const struct tact_result *r, enum tact_result_kind kind)
{
	return r && (unsigned)kind < TACT_N_RESULT_KINDS ? r->rows[kind].n : 0;
}

int tact_result_get_row(const struct tact_result *r, enum tact_result_kind kind, size_t i,
			struct tact_result_row *out)
{
	if (i >= tact_result_count(r, kind))
		return -TACT_E_INVAL;
	return tact_fill(out, &r->rows[kind].items[i], sizeof(r->rows[kind].items[i]));
}

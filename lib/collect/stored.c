/* SPDX-License-Identifier: MIT
 *
 * Puts a collection into a store.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collect/collect.h"
#include "store/store.h"

/* The same code at several places is one block of a store, with one weight. */
struct sum {
	const struct collect_item *item;
	double weight;
	size_t order;
};

static int compare_code(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;
	int order;

	if (x->item->code_size != y->item->code_size)
		return x->item->code_size < y->item->code_size ? -1 : 1;
	order = memcmp(x->item->code, y->item->code, x->item->code_size);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int compare_order(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

static bool is_same(const struct collect_item *x, const struct collect_item *y)
{
	return x->code_size == y->code_size && !memcmp(x->code, y->code, x->code_size);
}

/* Adds up the weights of the same code.  Returns how many different blocks there are; they keep the
 * order in which they came.
 */
static size_t add_up(const struct tact_collect *c, bool has_counts, struct sum *sums)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_items; i++)
		sums[i] =
			(struct sum){&c->items[i], has_counts ? (double)c->items[i].count : NAN, i};
	qsort(sums, c->n_items, sizeof(*sums), compare_code);
	for (size_t i = 0; i < c->n_items; i++) {
		if (n && is_same(sums[n - 1].item, sums[i].item))
			sums[n - 1].weight += sums[i].weight;
		else
			sums[n++] = sums[i];
	}
	qsort(sums, n, sizeof(*sums), compare_order);
	return n;
}

static int ignore(void *arg, const struct tact_collect_block *block)
{
	(void)arg;
	(void)block;
	return 0;
}

int tact_collect_store(struct tact_collect *c, struct tact_store *store, const char *app,
		       bool has_counts, struct tact_diag *diag)
{
	struct sum *sums = NULL;
	size_t n;
	int status;

	if (!c || !store || !app)
		return tact_fail(diag, TACT_E_INVAL, "a collection, a store and a name are needed");
	if (!store_is_name(app))
		return store_fail_name(diag, "an application");
	status = tact_collect_finish(c, ignore, NULL);
	if (!status)
		sums = malloc((c->n_items + 1) * sizeof(*sums));
	if (!sums)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	n = add_up(c, has_counts, sums);
	status = tact_store_begin(store, diag);
	for (size_t i = 0; i < n && status >= 0; i++) {
		const struct collect_item *item = sums[i].item;
		int64_t id;

		if (item->code_size > TACT_BLOCK_MAX_BYTES)
			continue;
		status = tact_store_put_block(store, item->code, item->code_size, &id, diag);
		if (status >= 0)
			status = tact_store_put_source(store, id, app, sums[i].weight, diag);
	}
	if (status >= 0)
		status = tact_store_end(store, diag);
	free(sums);
	return status < 0 ? status : 0;
}

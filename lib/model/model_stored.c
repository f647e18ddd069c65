/* SPDX-License-Identifier: MIT
 *
 * Predictions in stores as a model: those of other programs, or of other versions.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/store.h>

#include "model/model.h"
#include "store/store.h"

/* A row, by the number of its block in the store that is read. */
struct key {
	int64_t block;
	size_t row;
};

struct stored {
	const struct model_batch *batch;
	struct key *keys; /* owned; sorted */
	size_t n;
	size_t n_found; /* rows that have a prediction */
};

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	return 2 * ORDER(a->block, b->block) + ORDER(a->row, b->row);
}

/* Finds the rows' blocks: rows of this store know them, rows of no store are found by their code. */
static int make_keys(struct stored *s, struct tact_store *store, uint32_t number,
		     struct tact_diag *diag)
{
	s->n = 0;
	for (size_t i = 0; i < s->batch->n; i++) {
		const struct tact_model_row *r = &s->batch->rows[i];
		int64_t block = r->store == number ? r->block : 0;
		int status;

		if (!r->store) {
			status = store_look_for_block(store, r->code, r->code_size, &block, diag);
			if (status < 0)
				return status;
		}
		if (block > 0)
			s->keys[s->n++] = (struct key){block, i};
	}
	qsort(s->keys, s->n, sizeof(*s->keys), compare_keys);
	return 0;
}

static bool is_for(const struct tact_store_prediction *x, const struct tact_model_row *row)
{
	if (row->alignment) /* what is stored begins a cache line */
		return false;
	return row->mode == x->mode && !strcmp(tact_arch_name(row->arch), x->arch);
}

static int status_of(const struct tact_store_prediction *x)
{
	if (!strcmp(x->status, "decode_error"))
		return -TACT_E_DECODE;
	if (strcmp(x->status, "ok") != 0 || !(x->cycles_per_iteration > 0) ||
	    !isfinite(x->cycles_per_iteration))
		return -TACT_E_FORMAT;
	return 0;
}

/* A prediction for other values at entry counts if there is none for the same. */
static void take(struct stored *s, const struct key *key, const struct tact_store_prediction *x)
{
	const struct tact_model_row *row = &s->batch->rows[key->row];
	struct model_answer *answer = &s->batch->answers[key->row];

	if (!is_for(x, row) || (answer->status != -TACT_E_FORMAT && (int)row->init != (int)x->init))
		return;
	*answer = (struct model_answer){
		.status = status_of(x), .cycles = x->cycles_per_iteration, .coverage = x->coverage};
	s->n_found++;
}

/* Reads the predictions of the blocks from keys[first] on that are close to each other: stepping from
 * one to the next is cheaper than searching.  Returns where they end, or < 0.
 */
static long read_neighbours(struct stored *s, struct store_predicted *predicted, size_t first,
			    struct tact_diag *diag)
{
	enum { GAP = 16 };
	struct tact_store_prediction x;
	size_t end = first + 1, at = first;
	int64_t block;
	int status;

	while (end < s->n && s->keys[end].block - s->keys[end - 1].block <= GAP)
		end++;
	status = store_predicted_between(predicted, s->keys[first].block, s->keys[end - 1].block,
					 diag);
	while (status >= 0 && (status = store_predicted_next(predicted, &block, &x, diag)) > 0) {
		while (at < end && s->keys[at].block < block)
			at++;
		for (size_t i = at; i < end && s->keys[i].block == block; i++)
			take(s, &s->keys[i], &x);
	}
	return status < 0 ? status : (long)end;
}

/* Returns how many predictions could not be read. */
static int walk(struct stored *s, struct tact_store *store, uint32_t number, const char *parts,
		struct tact_diag *diag)
{
	struct store_predicted *predicted;
	const char *at = strchr(parts, '@');
	char name[TACT_STORE_NAME_MAX + 1];
	uint64_t n_skipped;
	long next = 0;
	int status;

	snprintf(name, sizeof(name), "%.*s", at ? (int)(at - parts) : TACT_STORE_NAME_MAX, parts);
	status = make_keys(s, store, number, diag);
	if (status >= 0)
		status = store_predicted_create(&predicted, store, name, at ? at + 1 : NULL, diag);
	if (status < 0)
		return status;
	while (next >= 0 && (size_t)next < s->n)
		next = read_neighbours(s, predicted, (size_t)next, diag);
	n_skipped = store_predicted_skipped(predicted);
	store_predicted_destroy(predicted);
	return next < 0 ? (int)next : n_skipped > INT_MAX ? INT_MAX : (int)n_skipped;
}

static int read_store(struct stored *s, const struct tact_estimator *e, size_t i)
{
	const char *path = e->opt.stores[i];
	struct tact_diag diag = {0};
	struct tact_store *store;
	int status = tact_store_open(&store, path, TACT_STORE_READONLY, &diag);

	if (status >= 0) {
		status = walk(s, store, (uint32_t)i + 1, e->parts, &diag);
		tact_store_close(store);
	}
	if (status > 0)
		model_say(e, "%s: predictions that cannot be read, left out: %d", path, status);
	if (status < 0)
		model_say(e, "%s: %s", path, diag.text[0] ? diag.text : tact_strerror(status));
	return status;
}

int model_stored_many(struct tact_estimator *e, const struct model_batch *batch)
{
	struct stored s = {.batch = batch};
	int all = 0, status;

	s.keys = malloc((batch->n + 1) * sizeof(*s.keys));
	status = s.keys ? 0 : -TACT_E_NOMEM;

	for (size_t i = 0; i < e->opt.n_stores && status >= 0; i++) {
		int one = read_store(&s, e, i);

		all = one < 0 ? one : all;
		status = one == -TACT_E_NOMEM ? one : 0;
	}
	free(s.keys);
	if (status >= 0 && all >= 0 && !s.n_found && !e->is_part) {
		model_say(e, "no store has predictions of this model for the measured rows");
		return -TACT_E_NO_DATA;
	}
	return status < 0 ? status : all;
}

int model_stored_check(const char *parts, struct tact_diag *diag)
{
	return parts && *parts && *parts != '@'
		       ? 0
		       : tact_fail(diag, TACT_E_INVAL,
				   "what follows stored: is the name of a model");
}

/* ---- columns ---- */

int model_column_check(const char *parts, struct tact_diag *diag)
{
	return parts && *parts ? 0
			       : tact_fail(diag, TACT_E_INVAL,
					   "what follows column: is the name of a column");
}

/* tact evaluate takes them from the rows. */
int model_column_many(struct tact_estimator *e, const struct model_batch *batch)
{
	(void)batch;
	model_say(e, "only rows of a CSV have such predictions: see 'tact evaluate'");
	return -TACT_E_NO_DATA;
}

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

#include "base/hash.h"
#include "model/model.h"

/* Rows by where they are in a store or, if they are in none, by a hash of their code. */
struct key {
	uint32_t store;
	uint64_t value;
	size_t row;
};

struct stored {
	const struct model_batch *batch;
	struct key *keys; /* owned; sorted */
	size_t n_found;	  /* rows that have a prediction */
};

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	return 4 * ORDER(a->store, b->store) + 2 * ORDER(a->value, b->value) +
	       ORDER(a->row, b->row);
}

static int make_keys(struct stored *s)
{
	s->keys = malloc((s->batch->n + 1) * sizeof(*s->keys));
	if (!s->keys)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < s->batch->n; i++) {
		const struct tact_model_row *r = &s->batch->rows[i];

		s->keys[i] = (struct key){.store = r->store,
					  .value = r->store ? (uint64_t)r->block
							    : hash_bytes(r->code, r->code_size),
					  .row = i};
	}
	qsort(s->keys, s->batch->n, sizeof(*s->keys), compare_keys);
	return 0;
}

static size_t first_of(const struct stored *s, const struct key *wanted)
{
	size_t low = 0, high = s->batch->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_keys(&s->keys[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A prediction, and the code that it is for. */
struct found {
	const struct tact_store_prediction *x;
	const uint8_t *code;
	size_t code_size;
};

static bool is_for(const struct found *f, const struct tact_model_row *row)
{
	if (row->alignment) /* what is stored begins a cache line */
		return false;
	if (row->mode != f->x->mode || strcmp(tact_arch_name(row->arch), f->x->arch) != 0)
		return false;
	return row->store ||
	       (row->code_size == f->code_size && !memcmp(row->code, f->code, f->code_size));
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
static void take(struct stored *s, const struct key *key, const struct found *f)
{
	for (size_t i = first_of(s, key);
	     i < s->batch->n && s->keys[i].store == key->store && s->keys[i].value == key->value;
	     i++) {
		const struct tact_model_row *row = &s->batch->rows[s->keys[i].row];
		struct model_answer *answer = &s->batch->answers[s->keys[i].row];

		if (!is_for(f, row) ||
		    (answer->status != -TACT_E_FORMAT && (int)row->init != (int)f->x->init))
			continue;
		*answer = (struct model_answer){.status = status_of(f->x),
						.cycles = f->x->cycles_per_iteration,
						.coverage = f->x->coverage};
		s->n_found++;
	}
}

/* Returns how many predictions could not be read. */
static int walk(struct stored *s, struct tact_store *store, uint32_t number, const char *parts,
		struct tact_diag *diag)
{
	struct tact_store_prediction x = {.size = sizeof(x)};
	struct tact_store_filter filter = {.size = sizeof(filter)};
	struct tact_store_predictions *predictions;
	const char *at = strchr(parts, '@');
	char name[TACT_STORE_NAME_MAX + 1];
	struct found found = {.x = &x};
	uint64_t n_skipped;
	int64_t block;
	int status;

	snprintf(name, sizeof(name), "%.*s", at ? (int)(at - parts) : TACT_STORE_NAME_MAX, parts);
	filter.model = name;
	filter.version = at ? at + 1 : NULL;
	status = tact_store_predictions_create(&predictions, store, &filter, diag);
	if (status < 0)
		return status;
	while ((status = tact_store_predictions_next(predictions, &block, &found.code,
						     &found.code_size, &x, diag)) > 0) {
		take(s, &(struct key){.store = number, .value = (uint64_t)block}, &found);
		take(s, &(struct key){.value = hash_bytes(found.code, found.code_size)}, &found);
	}
	n_skipped = tact_store_predictions_skipped(predictions);
	if (n_skipped > INT_MAX)
		n_skipped = INT_MAX;
	tact_store_predictions_destroy(predictions);
	return status < 0 ? status : (int)n_skipped;
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
	int all = 0, status = make_keys(&s);

	for (size_t i = 0; i < e->opt.n_stores && status >= 0; i++) {
		int one = read_store(&s, e, i);

		all = one < 0 ? one : all;
		status = one == -TACT_E_NOMEM ? one : 0;
	}
	free(s.keys);
	if (status >= 0 && all >= 0 && !s.n_found) {
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

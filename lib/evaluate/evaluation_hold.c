/* SPDX-License-Identifier: MIT
 *
 * Whether the intervals of predictions hold the measurements, and what learning them needs to know.
 */
#include <stdlib.h>

#include <tact/predict.h>

#include "base/pool.h"
#include "evaluate/evaluation.h"

/* Rows that a thread takes at a time. */
enum { CHUNK = 512 };

struct holding {
	struct evaluation *e;
	struct evaluation_batch *b;
	size_t model;
	enum confidence_model kind;
	struct tact_block **block;	/* owned; one per thread */
	struct confidence_class *class; /* owned; one per row */
	bool *has_class;		/* owned */
};

static int classify(struct holding *h, struct tact_block *block, size_t i)
{
	const struct evaluation_answers *a = &h->b->answers[h->model];
	struct tact_prediction x = TACT_PREDICTION_INIT;
	int status;

	h->has_class[i] = false;
	if (a->outcomes[i] != TACT_OUTCOME_GOOD || !(a->predicted[i] > 0))
		return 0;
	status = tact_evaluation_load_row(&h->e->view, &h->b->row[i], block);
	if (status >= 0)
		status = tact_predict(block, NULL, &x);
	if (status < 0)
		return status == -TACT_E_NOMEM ? status : 0;
	h->class[i] = confidence_classify(block, h->kind, &x, a->predicted[i]);
	h->has_class[i] = true;
	return 0;
}

static int classify_chunk(void *context, unsigned thread, size_t chunk)
{
	struct holding *h = context;
	size_t begin = chunk * CHUNK, end = begin + CHUNK;
	int status = 0;

	if (!h->block[thread])
		status = tact_block_create(&h->block[thread], h->e->view.set[h->b->row[0].set].arch,
					   NULL, NULL);
	for (size_t i = begin; i < end && i < h->b->n && status >= 0; i++)
		status = classify(h, h->block[thread], i);
	return status;
}

static void compare(const struct holding *h, size_t i)
{
	const struct evaluation_answers *a = &h->b->answers[h->model];
	const struct tact_evaluated_set *set = &h->e->view.set[h->b->row[i].set];
	const struct confidence_table *table = confidence_table_of(tact_arch_name(set->arch));
	const struct confidence_line *line =
		table ? confidence_find(table->lines, table->n, set->mode, h->kind, h->class[i])
		      : NULL;
	const double ratio = h->b->measured[i] / a->predicted[i];

	a->held[i] = !line					 ? TACT_HELD_UNKNOWN
		     : ratio >= line->low && ratio <= line->high ? TACT_HELD
								 : TACT_HELD_NOT;
}

/* A row that is of several programs belongs to the first one. */
static int add_sample(const struct holding *h, size_t i)
{
	struct evaluation *e = h->e;
	const struct tact_evaluated_row *row = &h->b->row[i];
	const struct evaluation_label *label = &h->b->label[i];
	struct evaluation_sample sample = {
		.ratio = h->b->measured[i] / h->b->answers[h->model].predicted[i],
		.set = row->set,
		.program = -1,
		.of = h->class[i],
		.half = (uint8_t)(hash_bytes(row->code, row->code_size) >> 7 & 1),
		.model = (uint8_t)h->model};

	if (label->n_sources) {
		long group = evaluation_group(e, TACT_BY_APP, row->set,
					      h->b->source[label->first_source].app);

		if (group < 0)
			return -TACT_E_NOMEM;
		sample.program = (int32_t)group;
	}
	if (tact_grow(&e->sample, &e->sample_capacity, e->n_samples + 1, sizeof(sample)) < 0)
		return -TACT_E_NOMEM;
	e->sample[e->n_samples++] = sample;
	return 0;
}

static int hold_model(struct holding *h, unsigned n_threads)
{
	int status = pool_run(n_threads, (h->b->n + CHUNK - 1) / CHUNK, classify_chunk, h);

	for (size_t i = 0; i < h->b->n && status >= 0; i++) {
		h->b->answers[h->model].held[i] = TACT_HELD_UNKNOWN;
		if (!h->has_class[i])
			continue;
		compare(h, i);
		if (h->e->opt.is_for_calibration)
			status = add_sample(h, i);
	}
	return status;
}

int evaluation_hold(struct evaluation *e, struct evaluation_batch *b, struct tact_diag *diag)
{
	const unsigned n_threads = pool_threads(e->opt.threads, (b->n + CHUNK - 1) / CHUNK);
	struct holding h = {.e = e,
			    .b = b,
			    .block = calloc(n_threads, sizeof(struct tact_block *)),
			    .class = malloc((b->n + 1) * sizeof(*h.class)),
			    .has_class = malloc(b->n + 1)};
	int status = h.block && h.class && h.has_class ? 0 : -TACT_E_NOMEM;

	for (h.model = 0; h.model < e->view.n_models && status >= 0; h.model++) {
		int kind = confidence_model_find(e->view.model[h.model].model);

		h.kind = (enum confidence_model)kind;
		if (kind >= 0)
			status = hold_model(&h, n_threads);
	}
	for (unsigned i = 0; i < n_threads && h.block; i++)
		tact_block_destroy(h.block[i]);
	FREE_ALL(h.block, h.class, h.has_class);
	return status < 0 ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : 0;
}

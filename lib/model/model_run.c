/* SPDX-License-Identifier: MIT
 *
 * Many blocks: models that take single blocks share the loading, on several threads; the others get
 * all blocks at once.
 */
#include <stdlib.h>

#include "base/pool.h"
#include "block/block.h"
#include "model/model.h"

/* Rows that a thread takes at a time: few enough that threads end together. */
enum { CHUNK = 128 };

/* ---- parts ---- */

static bool is_same_part(const struct tact_model_row *a, const struct tact_model_row *b)
{
	return a->arch == b->arch && a->mode == b->mode;
}

/* Groups are found in the order of their first rows; there are few. */
int model_parts_make(struct model_parts *parts, const struct model_batch *batch, size_t most)
{
	bool *is_done = calloc(batch->n + 1, sizeof(*is_done));
	size_t n = 0, capacity = 0;

	*parts = (struct model_parts){.rows = malloc((batch->n + 1) * sizeof(*parts->rows))};
	if (!parts->rows || !is_done)
		goto fail;
	for (size_t first = 0; first < batch->n; first++) {
		size_t begin = n;

		for (size_t i = first; i < batch->n && !is_done[first]; i++)
			if (!is_done[i] && is_same_part(&batch->rows[first], &batch->rows[i]))
				parts->rows[n++] = i;
		for (size_t i = begin; i < n; i++)
			is_done[parts->rows[i]] = true;
		for (; begin < n; begin += most) {
			if (tact_grow(&parts->part, &capacity, parts->n + 1, sizeof(*parts->part)) <
			    0)
				goto fail;
			parts->part[parts->n++] = (struct model_part){
				parts->rows + begin, n - begin < most ? n - begin : most};
		}
	}
	free(is_done);
	return 0;
fail:
	free(is_done);
	model_parts_free(parts);
	return -TACT_E_NOMEM;
}

void model_parts_free(struct model_parts *parts)
{
	FREE_ALL(parts->rows, parts->part);
	*parts = (struct model_parts){.n = 0};
}

/* ---- models that take one block ---- */

/* What one thread has. */
struct tools {
	struct tact_block *block; /* owned; NULL: nothing is open yet */
	struct tact_block_options options;
	const struct tact_arch *arch;
	struct tact_estimator **estimators; /* owned; by model, NULL for one that takes many */
};

struct job {
	const char *const *names;
	size_t n_models;
	struct model_batch batch;
	struct tact_model_options opt;
	void (*take)(void *arg, size_t model, size_t row, int status,
		     const struct tact_estimate *estimate);
	void *arg;
	bool is_part;
	struct tools *tools; /* owned */
	unsigned n_threads;
};

static void close_tools(const struct job *job, struct tools *t)
{
	for (size_t m = 0; m < job->n_models && t->estimators; m++)
		tact_model_close(t->estimators[m]);
	free(t->estimators);
	tact_block_destroy(t->block);
}

static bool takes_many(const struct tact_estimator *e)
{
	return !e->entry->estimate;
}

/* Models that take many blocks are opened once, with the first tools. */
static int open_tools(const struct job *job, struct tools *t, struct tact_diag *diag)
{
	int status;

	t->options.size = sizeof(t->options);
	t->arch = job->batch.rows[0].arch;
	t->estimators = calloc(job->n_models, sizeof(struct tact_estimator *));
	if (!t->estimators)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = tact_block_create(&t->block, t->arch, &t->options, diag);
	for (size_t m = 0; m < job->n_models && status >= 0; m++)
		if (t == job->tools || !takes_many(job->tools[0].estimators[m]))
			status = tact_model_open(&t->estimators[m], job->names[m], &job->opt, diag);
	for (size_t m = 0; m < job->n_models && status >= 0; m++)
		if (t->estimators[m])
			t->estimators[m]->is_part = job->is_part;
	return status;
}

static int load(struct tools *t, const struct tact_model_row *row)
{
	const struct tact_block_options options = {.size = sizeof(options),
						   .mode = row->mode,
						   .init = row->init,
						   .alignment = row->alignment};

	if (row->arch != t->arch || row->mode != t->options.mode || row->init != t->options.init ||
	    row->alignment != t->options.alignment) {
		int status;

		t->block->n_insns = 0; /* what is loaded need not be lowered again */
		status = tact_block_rebind(t->block, row->arch, &options);
		if (status < 0)
			return status;
		t->arch = row->arch;
		t->options = options;
	}
	return tact_block_load(t->block, row->code, row->code_size, NULL);
}

static int run_row(const struct job *job, struct tools *t, size_t row)
{
	int loaded = load(t, &job->batch.rows[row]), status = loaded;

	for (size_t m = 0; m < job->n_models && status != -TACT_E_NOMEM; m++) {
		struct tact_estimate x = TACT_ESTIMATE_INIT;

		if (takes_many(job->tools[0].estimators[m]))
			continue;
		status = loaded < 0 ? loaded : tact_model_estimate(t->estimators[m], t->block, &x);
		job->take(job->arg, m, row, status < 0 ? status : 0, status < 0 ? NULL : &x);
	}
	return status == -TACT_E_NOMEM ? status : 0;
}

static int run_chunk(void *context, unsigned thread, size_t chunk)
{
	const struct job *job = context;
	struct tools *t = &job->tools[thread];
	size_t begin = chunk * CHUNK, end = begin + CHUNK;
	int status = t->block ? 0 : open_tools(job, t, NULL);

	for (size_t i = begin; i < end && i < job->batch.n && status >= 0; i++)
		status = run_row(job, t, i);
	return status;
}

/* ---- models that take many ---- */

static int run_many(struct job *job, size_t m)
{
	struct tact_estimator *e = job->tools[0].estimators[m];
	int status;

	for (size_t i = 0; i < job->batch.n; i++)
		job->batch.answers[i] = (struct model_answer){.status = -TACT_E_FORMAT};
	status = e->entry->estimate_many(e, &job->batch);
	for (size_t i = 0; i < job->batch.n && status != -TACT_E_NOMEM; i++) {
		const struct model_answer *a = &job->batch.answers[i];
		const struct tact_estimate x = {.size = sizeof(x),
						.cycles_per_iteration = a->cycles,
						.coverage = a->coverage};
		const bool has_no_program = status == -TACT_E_NO_TOOL && a->status < 0;

		job->take(job->arg, m, i, has_no_program ? status : a->status,
			  a->status < 0 ? NULL : &x);
	}
	return status;
}

/* A missing program outweighs one that fails. */
static int worse(int a, int b)
{
	if (a == -TACT_E_NO_TOOL || b == -TACT_E_NO_TOOL)
		return -TACT_E_NO_TOOL;
	return a < 0 || b < 0 ? -TACT_E_FORMAT : 0;
}

static int run(struct job *job, struct tact_diag *diag)
{
	size_t n_chunks = (job->batch.n + CHUNK - 1) / CHUNK, n_single = 0;
	int status = open_tools(job, &job->tools[0], diag), all = 0;

	if (status < 0)
		return status;
	for (size_t m = 0; m < job->n_models; m++)
		n_single += !takes_many(job->tools[0].estimators[m]);
	if (n_single)
		status = pool_run(job->n_threads, n_chunks, run_chunk, job);
	for (size_t m = 0; m < job->n_models && status != -TACT_E_NOMEM; m++)
		if (takes_many(job->tools[0].estimators[m])) {
			status = run_many(job, m);
			all = worse(all, status);
		}
	return status == -TACT_E_NOMEM ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : all;
}

/* Returns the architecture of all rows, or NULL if there are several. */
static const struct tact_arch *arch_of(const struct tact_model_row *rows, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (rows[i].arch != rows[0].arch)
			return NULL;
	return n ? rows[0].arch : NULL;
}

static bool is_good_row(const struct tact_model_row *row, const struct tact_model_options *opt)
{
	return row->arch && (unsigned)row->mode <= TACT_MODE_UNROLL &&
	       (unsigned)row->init <= TACT_INIT_DIFF && row->store <= opt->n_stores &&
	       (row->code || !row->code_size) && row->alignment < 64;
}

/* Gets the rows as this library knows them: the caller's own, or copies in *copies. */
static int read_rows(struct job *job, const struct tact_model_row *rows, size_t n,
		     struct tact_model_row **copies, struct tact_diag *diag)
{
	const size_t stride = rows->size;
	int status = tact_can_fill(rows) ? 0 : -TACT_E_INVAL;

	job->batch.rows = rows;
	if (status >= 0 && stride != sizeof(*rows)) {
		job->batch.rows = *copies = calloc(n, sizeof(**copies));
		if (!*copies)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		for (size_t i = 0; i < n && status >= 0; i++) {
			const struct tact_model_row *row =
				(const void *)((const char *)rows + i * stride);

			status = row->size == stride
					 ? tact_read_options(&(*copies)[i], sizeof(**copies), row)
					 : -TACT_E_INVAL;
		}
	}
	for (size_t i = 0; i < n && status >= 0; i++)
		status = is_good_row(&job->batch.rows[i], &job->opt) ? 0 : -TACT_E_INVAL;
	return status < 0 ? tact_fail(diag, TACT_E_INVAL, "a row is not as it should be") : 0;
}

static int run_rows(struct job job, const struct tact_model_row *rows, size_t n,
		    const struct tact_model_options *opt, struct tact_diag *diag)
{
	const char *const *names = job.names;
	const size_t n_models = job.n_models;
	struct tact_model_row *copies = NULL;
	int status;

	if ((n_models && !names) || (n && !rows) || !job.take ||
	    tact_read_options(&job.opt, sizeof(job.opt), opt) < 0)
		return tact_fail(diag, TACT_E_INVAL, "no models or no rows to run them on");
	for (size_t i = 0; i < n_models; i++)
		if (!names[i])
			return tact_fail(diag, TACT_E_INVAL, "a model has no name");
	if (!n || !n_models)
		return 0;
	status = read_rows(&job, rows, n, &copies, diag);
	if (status >= 0) {
		job.opt.size = sizeof(job.opt);
		job.opt.arch = arch_of(job.batch.rows, n);
		job.n_threads = pool_threads(job.opt.threads, (n + CHUNK - 1) / CHUNK);
		job.tools = calloc(job.n_threads, sizeof(*job.tools));
		job.batch.n = n;
		job.batch.answers = malloc(n * sizeof(*job.batch.answers));
		status = job.tools && job.batch.answers
				 ? run(&job, diag)
				 : tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	for (unsigned i = 0; i < job.n_threads && job.tools; i++)
		close_tools(&job, &job.tools[i]);
	FREE_ALL(job.tools, job.batch.answers, copies);
	return status;
}

int tact_model_run(const char *const *names, size_t n_models, const struct tact_model_row *rows,
		   size_t n, const struct tact_model_options *opt,
		   void (*take)(void *arg, size_t model, size_t row, int status,
				const struct tact_estimate *estimate),
		   void *arg, struct tact_diag *diag)
{
	const struct job job = {.names = names, .n_models = n_models, .take = take, .arg = arg};

	return run_rows(job, rows, n, opt, diag);
}

int model_run_part(const char *const *names, size_t n_models, const struct tact_model_row *rows,
		   size_t n, const struct tact_model_options *opt,
		   void (*take)(void *arg, size_t model, size_t row, int status,
				const struct tact_estimate *estimate),
		   void *arg, struct tact_diag *diag)
{
	const struct job job = {
		.names = names, .n_models = n_models, .take = take, .arg = arg, .is_part = true};

	return run_rows(job, rows, n, opt, diag);
}

/* SPDX-License-Identifier: MIT
 *
 * Batches of blocks in a ring: this thread fills the batches and writes their results, the other
 * threads process them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/progress.h"
#include "common/terminal.h"
#include "predictor.h"

enum {
	BATCH_ROWS = 512,
	BATCH_BYTES = 1 << 20, /* a batch of large blocks ends earlier */
	CHUNK_BYTES = 64 << 10
};

struct predict_chunk {
	struct predict_chunk *next;
	size_t size, capacity;
	char data[];
};

void predict_batch_init(struct predict_batch *b)
{
	*b = (struct predict_batch){.rows = cli_alloc(BATCH_ROWS * sizeof(*b->rows))};
}

static void clear_remarks(struct predict_batch *b)
{
	while (b->n_remarks)
		tact_remarks_destroy(b->remarks[--b->n_remarks]);
}

void predict_batch_fini(struct predict_batch *b)
{
	while (b->chunks) {
		struct predict_chunk *next = b->chunks->next;

		free(b->chunks);
		b->chunks = next;
	}
	clear_remarks(b);
	free(b->remarks);
	text_free(&b->out);
	text_free(&b->err);
	free(b->rows);
}

/* Memory that does not move while the batch lives; the first chunk is kept for the next filling. */
static void *batch_copy(struct predict_batch *b, const void *data, size_t size)
{
	struct predict_chunk *c = b->chunks;
	char *copy;

	if (!c || c->capacity - c->size < size) {
		size_t capacity = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		c = cli_alloc(sizeof(*c) + capacity);
		*c = (struct predict_chunk){.next = b->chunks, .capacity = capacity};
		b->chunks = c;
	}
	copy = c->data + c->size;
	if (size)
		memcpy(copy, data, size);
	c->size += size;
	return copy;
}

/* Begins where structures may: what was copied before has any size. */
static void batch_align(struct predict_batch *b)
{
	struct predict_chunk *c = b->chunks;
	const size_t unit = _Alignof(max_align_t);

	if (c) {
		const size_t place = (c->size + unit - 1) / unit * unit;

		c->size = place < c->capacity ? place : c->capacity;
	}
}

static const struct tact_given_latency *batch_latencies(struct predict_batch *b,
							const struct tact_region *r)
{
	if (!r->n_latencies)
		return NULL;
	batch_align(b);
	return batch_copy(b, r->latencies, r->n_latencies * sizeof(*r->latencies));
}

static const struct tact_given_setting *batch_settings(struct predict_batch *b,
						       const struct tact_region *r)
{
	if (!r->n_settings)
		return NULL;
	batch_align(b);
	return batch_copy(b, r->settings, r->n_settings * sizeof(*r->settings));
}

static const char *batch_string(struct predict_batch *b, const char *string)
{
	return *string ? batch_copy(b, string, strlen(string) + 1) : "";
}

/* Few blocks have remarks. */
static const struct tact_remarks *batch_remarks(struct predict_batch *b,
						const struct tact_remarks *remarks)
{
	struct tact_remarks **copy;

	if (!remarks)
		return NULL;
	if (!b->remarks)
		b->remarks = cli_alloc(BATCH_ROWS * sizeof(*b->remarks));
	copy = &b->remarks[b->n_remarks];
	predict_remarked(tact_remarks_create(copy));
	b->n_remarks++;
	predict_remarked(tact_remarks_append(*copy, remarks));
	return *copy;
}

static void batch_clear(struct predict_batch *b)
{
	clear_remarks(b);
	while (b->chunks && b->chunks->next) {
		struct predict_chunk *next = b->chunks->next;

		free(b->chunks);
		b->chunks = next;
	}
	if (b->chunks)
		b->chunks->size = 0;
	b->n = 0;
	b->is_done = false;
}

static size_t batch_add(struct predict_batch *b, const struct source_block *block)
{
	struct source_block *row = &b->rows[b->n++];
	const struct tact_region *r = &block->region;

	row->path = block->path;
	row->index = block->index;
	row->candidate = block->candidate;
	row->status = block->status;
	row->is_input = block->is_input;
	row->is_elf = block->is_elf;
	if (block->status < 0)
		row->diag = block->diag;
	row->excerpt.column = 0;
	if (block->is_input) {
		row->excerpt = block->excerpt;
		row->region = (struct tact_region){.size = sizeof(row->region),
						   .name = "",
						   .function = "",
						   .source = "",
						   .text = "",
						   .member = ""};
		return 0;
	}
	row->region = *r;
	row->region.code = batch_copy(b, r->code, r->code_size);
	row->region.text = batch_copy(b, r->text, r->text_size);
	row->region.name = batch_string(b, r->name);
	row->region.function = batch_string(b, r->function);
	row->region.symbol = batch_string(b, r->symbol);
	row->region.inlined = batch_string(b, r->inlined);
	row->region.source = batch_string(b, r->source);
	row->region.member = batch_string(b, r->member);
	row->region.latencies = batch_latencies(b, r);
	row->region.settings = batch_settings(b, r);
	row->region.remarks = batch_remarks(b, r->remarks);
	return r->code_size + r->text_size;
}

bool predict_batch_fill(struct predict_batch *b, struct source *source)
{
	struct source_block block;
	size_t bytes = 0;

	batch_clear(b);
	while (b->n < BATCH_ROWS && bytes < BATCH_BYTES) {
		if (!source_next(source, &block))
			return false;
		bytes += batch_add(b, &block);
	}
	return true;
}

void predict_batch_work(struct predict_batch *b, struct predict_worker *w)
{
	for (size_t i = 0; i < b->n; i++)
		w->p->crew->work(w, &b->rows[i], &b->out);
	text_append(&b->err, &w->err);
	w->err.size = 0;
}

void predict_batch_write(struct predict_batch *b, struct output *out)
{
	text_to_stderr(&b->err);
	output_write(out, &b->out);
}

/* ---- threads ---- */

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t posted_one, done_one;
	struct predict_batch *batches; /* a ring */
	size_t n_batches;
	size_t posted, taken, written; /* counts; modulo n_batches they are places in the ring */
	bool is_end;
};

struct pool_thread {
	struct pool *pool;
	struct predict_worker worker;
	pthread_t thread;
	bool is_running;
};

static void *thread_main(void *arg)
{
	struct pool_thread *t = arg;
	struct pool *pool = t->pool;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		struct predict_batch *b;

		while (pool->taken == pool->posted && !pool->is_end)
			pthread_cond_wait(&pool->posted_one, &pool->lock);
		if (pool->taken == pool->posted)
			break;
		b = &pool->batches[pool->taken++ % pool->n_batches];
		pthread_mutex_unlock(&pool->lock);
		predict_batch_work(b, &t->worker);
		pthread_mutex_lock(&pool->lock);
		b->is_done = true;
		pthread_cond_signal(&pool->done_one);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

/* Returns how many blocks it has. */
static size_t write_oldest(struct pool *pool, struct output *out)
{
	struct predict_batch *b = &pool->batches[pool->written++ % pool->n_batches];

	pthread_mutex_lock(&pool->lock);
	while (!b->is_done)
		pthread_cond_wait(&pool->done_one, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
	predict_batch_write(b, out);
	return b->n;
}

static void post(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->posted++;
	pthread_cond_signal(&pool->posted_one);
	pthread_mutex_unlock(&pool->lock);
}

/* The first batch is filled already. */
static void feed(struct pool *pool, struct source *source, struct output *out, bool is_quiet)
{
	struct progress progress;
	bool more = true;
	uint64_t done = 0;

	progress_init(&progress, "blocks", 0, is_quiet);
	post(pool);
	while (more && !out->failed) {
		if (pool->posted - pool->written == pool->n_batches) {
			done += write_oldest(pool, out);
			progress_show(&progress, done);
		}
		more = predict_batch_fill(&pool->batches[pool->posted % pool->n_batches], source);
		post(pool);
	}
	while (pool->written < pool->posted) {
		done += write_oldest(pool, out);
		progress_show(&progress, done);
	}
	progress_clear(&progress);
}

static void count(struct predict_worker *total, const struct predict_worker *w)
{
	total->n_blocks += w->n_blocks;
	total->n_failed += w->n_failed;
	total->n_candidates += w->n_candidates;
	total->is_unable |= w->is_unable;
}

int predict_batches(const struct predictor *p, struct source *source, struct predict_batch *first,
		    unsigned n, struct output *out, struct predict_worker *total)
{
	struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
			    .posted_one = PTHREAD_COND_INITIALIZER,
			    .done_one = PTHREAD_COND_INITIALIZER,
			    .n_batches = 2 * (size_t)n + 1};
	struct pool_thread *threads = cli_alloc(n * sizeof(*threads));
	unsigned n_ready = 0, n_running = 0;
	int status = 0;

	pool.batches = cli_alloc(pool.n_batches * sizeof(*pool.batches));
	pool.batches[0] = *first;
	for (size_t i = 1; i < pool.n_batches; i++)
		predict_batch_init(&pool.batches[i]);
	for (; n_ready < n && !status; n_ready++) {
		threads[n_ready].pool = &pool;
		status = p->crew->init(&threads[n_ready].worker, p);
	}
	for (unsigned i = 0; i < n && !status; i++) {
		threads[i].is_running =
			!pthread_create(&threads[i].thread, NULL, thread_main, &threads[i]);
		n_running += threads[i].is_running;
	}
	if (!status && !n_running) {
		cli_message("cannot start any thread; try -j 1");
		status = CLI_FAILED;
	}
	if (!status)
		feed(&pool, source, out, p->is_quiet || terminal_is_output(p->output));
	pthread_mutex_lock(&pool.lock);
	pool.is_end = true;
	pthread_cond_broadcast(&pool.posted_one);
	pthread_mutex_unlock(&pool.lock);
	for (unsigned i = 0; i < n_ready; i++) {
		if (!status && threads[i].is_running)
			pthread_join(threads[i].thread, NULL);
		count(total, &threads[i].worker);
		p->crew->fini(&threads[i].worker);
	}
	for (size_t i = 1; i < pool.n_batches; i++)
		predict_batch_fini(&pool.batches[i]);
	*first = pool.batches[0];
	free(pool.batches);
	free(threads);
	return status;
}

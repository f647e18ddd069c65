/* SPDX-License-Identifier: MIT
 *
 * Many blocks on all cores: each thread has a block of its own and takes a slice of the jobs at a
 * time from a shared counter.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "facile/facile.h"

enum { SLICE = 256, MAX_THREADS = 256 };

struct batch {
	const struct tact_predict_options *opt;
	struct tact_job *jobs;
	size_t n;
	atomic_size_t next;
	atomic_long failed;
};

struct worker {
	struct batch *batch;
	struct tact_block *block; /* owned */
	pthread_t thread;
	bool started;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct batch *b = w->batch;
	size_t first;

	while ((first = atomic_fetch_add(&b->next, SLICE)) < b->n) {
		size_t end = first + SLICE < b->n ? first + SLICE : b->n;

		for (size_t i = first; i < end; i++) {
			struct tact_job *job = &b->jobs[i];

			job->status = tact_block_load(w->block, job->code, job->code_size, NULL);
			if (job->status >= 0)
				job->status = tact_predict(w->block, b->opt, &job->prediction);
			if (job->status < 0)
				atomic_fetch_add(&b->failed, 1);
		}
	}
	return NULL;
}

static unsigned choose_threads(unsigned threads, size_t n)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t useful = (n + SLICE - 1) / SLICE;

	if (!threads)
		threads = cores > 0 ? (unsigned)cores : 1;
	if (threads > useful)
		threads = (unsigned)useful;
	return threads > MAX_THREADS ? MAX_THREADS : threads ? threads : 1;
}

long tact_predict_batch(const struct tact_arch *arch, const struct tact_block_options *block_opt,
			const struct tact_predict_options *opt, struct tact_job *jobs, size_t n,
			unsigned threads)
{
	struct batch batch = {.opt = opt, .jobs = jobs, .n = n};
	struct worker *workers;
	long result = 0;

	if (!arch || (!jobs && n))
		return -TACT_E_INVAL;
	threads = choose_threads(threads, n);
	workers = calloc(threads, sizeof(*workers));
	if (!workers)
		return -TACT_E_NOMEM;
	for (unsigned t = 0; t < threads && result >= 0; t++) {
		workers[t].batch = &batch;
		result = tact_block_create(&workers[t].block, arch, block_opt, NULL);
	}
	if (result < 0)
		goto out_destroy;
	/* The caller's thread works too; where no thread can be started, it does everything. */
	for (unsigned t = 1; t < threads; t++)
		workers[t].started = !pthread_create(&workers[t].thread, NULL, work, &workers[t]);
	work(&workers[0]);
	for (unsigned t = 1; t < threads; t++)
		if (workers[t].started)
			pthread_join(workers[t].thread, NULL);
	result = atomic_load(&batch.failed);
out_destroy:
	for (unsigned t = 0; t < threads; t++)
		tact_block_destroy(workers[t].block);
	free(workers);
	return result;
}

/* SPDX-License-Identifier: MIT
 *
 * Many blocks on all cores: each thread has a block of its own.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/pool.h"
#include "facile/facile.h"

enum { SLICE = 256 }; /* jobs that a thread takes at a time */

struct batch {
	const struct tact_predict_options *opt;
	char *jobs;
	size_t n, stride;	    /* of the jobs, bytes from one to the next */
	struct tact_block **blocks; /* owned; one a thread */
	atomic_long failed;
};

static int work(void *context, unsigned thread, size_t slice)
{
	struct batch *b = context;
	struct tact_block *block = b->blocks[thread];
	size_t first = slice * SLICE, end = first + SLICE < b->n ? first + SLICE : b->n;

	for (size_t i = first; i < end; i++) {
		struct tact_job *job = (struct tact_job *)(void *)(b->jobs + i * b->stride);
		size_t room = b->stride - offsetof(struct tact_job, prediction);

		job->status = tact_block_load(block, job->code, job->code_size, NULL);
		if (job->status >= 0 && room >= sizeof(size_t)) {
			job->prediction.size = room;
			job->status = tact_predict(block, b->opt, &job->prediction);
		}
		if (job->status < 0)
			atomic_fetch_add(&b->failed, 1);
	}
	return 0;
}

long tact_predict_batch(const struct tact_arch *arch, const struct tact_block_options *block_opt,
			const struct tact_predict_options *opt, struct tact_job *jobs, size_t n,
			unsigned threads)
{
	const size_t n_slices = n / SLICE + (n % SLICE != 0);
	struct batch batch = {.opt = opt, .jobs = (char *)jobs, .n = n};
	long result = 0;

	if (!arch || (!jobs && n))
		return -TACT_E_INVAL;
	batch.stride = n ? jobs[0].size : 0;
	if (n && (batch.stride < offsetof(struct tact_job, prediction) ||
		  batch.stride % _Alignof(struct tact_job) || !tact_can_fill(jobs)))
		return -TACT_E_INVAL;
	threads = pool_threads(threads, n_slices);
	batch.blocks = calloc(threads, sizeof(*batch.blocks));
	if (!batch.blocks)
		return -TACT_E_NOMEM;
	for (unsigned t = 0; t < threads && result >= 0; t++)
		result = tact_block_create(&batch.blocks[t], arch, block_opt, NULL);
	if (result >= 0) {
		pool_run(threads, n_slices, work, &batch);
		result = atomic_load(&batch.failed);
	}
	for (unsigned t = 0; t < threads; t++)
		tact_block_destroy(batch.blocks[t]);
	free(batch.blocks);
	return result;
}

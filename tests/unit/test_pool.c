/* SPDX-License-Identifier: MIT
 *
 * Work on several threads.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "base/pool.h"

enum { MAX_CHUNKS = 1000 };

struct job {
	atomic_uint done[MAX_CHUNKS];
	atomic_bool is_busy[POOL_MAX_THREADS];
	atomic_uint mistakes, calls;
	unsigned threads;
	size_t fails_at;
};

static int work(void *context, unsigned thread, size_t chunk)
{
	struct job *job = context;

	if (thread >= job->threads || atomic_exchange(&job->is_busy[thread], true))
		atomic_fetch_add(&job->mistakes, 1);
	atomic_fetch_add(&job->calls, 1);
	atomic_fetch_add(&job->done[chunk], 1);
	atomic_store(&job->is_busy[thread], false);
	return chunk >= job->fails_at ? -3 : (int)chunk;
}

TEST(every_chunk_is_done_once)
{
	static const unsigned threads[] = {1, 2, 7, 64};
	static const size_t chunks[] = {0, 1, 2, 5, MAX_CHUNKS};

	for (size_t t = 0; t < sizeof(threads) / sizeof(threads[0]); t++) {
		for (size_t c = 0; c < sizeof(chunks) / sizeof(chunks[0]); c++) {
			struct job job = {.threads = threads[t], .fails_at = SIZE_MAX};

			assert_int_equal(pool_run(threads[t], chunks[c], work, &job), 0);
			assert_int_equal(atomic_load(&job.mistakes), 0);
			for (size_t i = 0; i < MAX_CHUNKS; i++)
				assert_int_equal(atomic_load(&job.done[i]), i < chunks[c]);
		}
	}
}

TEST(a_failure_ends_it)
{
	struct job job = {.threads = 1, .fails_at = 10};

	assert_int_equal(pool_run(1, MAX_CHUNKS, work, &job), -3);
	assert_int_equal(atomic_load(&job.calls), 11);
	job = (struct job){.threads = 8, .fails_at = 10};
	assert_int_equal(pool_run(8, MAX_CHUNKS, work, &job), -3);
	assert_true(atomic_load(&job.calls) < 10 + 2 * 8);
}

TEST(threads_are_as_many_as_are_useful)
{
	assert_int_equal(pool_threads(4, 100), 4);
	assert_int_equal(pool_threads(4, 3), 3);
	assert_int_equal(pool_threads(4, 0), 1);
	assert_int_equal(pool_threads(100000, 100000), POOL_MAX_THREADS);
	assert_in_range(pool_threads(0, 100000), 1, POOL_MAX_THREADS);
	assert_int_equal(pool_threads(0, 1), 1);
}

RUN_TESTS(NULL, NULL)

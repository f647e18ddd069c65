/* SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

struct pool {
	int (*work)(void *context, unsigned thread, size_t chunk);
	void *context;
	size_t n_chunks;
	atomic_size_t next;
	atomic_int status;
};

struct pool_thread {
	struct pool *pool;
	unsigned number;
	pthread_t id;
	bool is_started;
};

unsigned pool_threads(unsigned wanted, size_t n_chunks)
{
	if (!wanted) {
		long cores = sysconf(_SC_NPROCESSORS_ONLN);

		wanted = cores > 0 ? (unsigned)cores : 1;
	}
	if (wanted > n_chunks)
		wanted = n_chunks ? (unsigned)n_chunks : 1;
	return wanted > POOL_MAX_THREADS ? POOL_MAX_THREADS : wanted;
}

static void *run(void *argument)
{
	struct pool_thread *t = argument;
	struct pool *pool = t->pool;
	size_t chunk;

	while (!atomic_load(&pool->status) &&
	       (chunk = atomic_fetch_add(&pool->next, 1)) < pool->n_chunks) {
		int status = pool->work(pool->context, t->number, chunk), none = 0;

		if (status < 0)
			atomic_compare_exchange_strong(&pool->status, &none, status);
	}
	return NULL;
}

int pool_run(unsigned threads, size_t n_chunks,
	     int (*work)(void *context, unsigned thread, size_t chunk), void *context)
{
	struct pool pool = {.work = work, .context = context, .n_chunks = n_chunks};
	struct pool_thread t[POOL_MAX_THREADS];

	threads = pool_threads(threads ? threads : 1, n_chunks);
	for (unsigned i = 0; i < threads; i++) {
		t[i] = (struct pool_thread){.pool = &pool, .number = i};
		if (i)
			t[i].is_started = !pthread_create(&t[i].id, NULL, run, &t[i]);
	}
	run(&t[0]);
	for (unsigned i = 1; i < threads; i++)
		if (t[i].is_started)
			pthread_join(t[i].id, NULL);
	return atomic_load(&pool.status);
}

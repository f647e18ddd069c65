/* SPDX-License-Identifier: MIT
 *
 * Work on several threads.
 */
#ifndef TACT_BASE_POOL_H
#define TACT_BASE_POOL_H

#include <stddef.h>

enum { POOL_MAX_THREADS = 1024 };

/* Returns how many threads are useful for a number of chunks: as many as are wanted (0: one per
 * core), at least one.
 */
unsigned pool_threads(unsigned wanted, size_t n_chunks);

/* Calls `work` for every chunk from 0 to n_chunks - 1, on that many threads (at most
 * POOL_MAX_THREADS), and returns when all are done.  Chunks are begun in order.  `thread` is below
 * `threads` and serves one call at a time, so that it can select memory of its own.  The calling
 * thread is number 0: if no other can be started, it does everything.  Returns 0, or the negative
 * result of the first chunk that failed; no chunk is begun after that.
 */
int pool_run(unsigned threads, size_t n_chunks,
	     int (*work)(void *context, unsigned thread, size_t chunk), void *context);

#endif /* TACT_BASE_POOL_H */

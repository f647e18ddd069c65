/* SPDX-License-Identifier: MIT
 *
 * Work on several threads.
 */
#ifndef TACT_BASE_POOL_H
#define TACT_BASE_POOL_H

#include <stddef.h>

enum { POOL_MAX_THREADS = 1024 };

/* How many threads are useful for so many chunks: those that are wanted, 0 for one a core; at
 * least one.
 */
unsigned pool_threads(unsigned wanted, size_t n_chunks);

/* Calls work for every chunk from 0 to n_chunks - 1, on that many threads (at most
 * POOL_MAX_THREADS), and returns when all is done.  Chunks are begun in order; `thread` is below
 * `threads` and serves one call at a time, so that it can choose memory of its own.  This thread is
 * number 0: where no other can be started, it does everything.  Returns 0, or what the first work
 * that failed returned, below 0; no chunk is begun after that.
 */
int pool_run(unsigned threads, size_t n_chunks,
	     int (*work)(void *context, unsigned thread, size_t chunk), void *context);

#endif /* TACT_BASE_POOL_H */

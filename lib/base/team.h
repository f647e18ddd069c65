/* SPDX-License-Identifier: MIT
 *
 * Threads that stay: between two pieces of work they sleep.  For work of less than some
 * milliseconds, where starting threads (pool.h) would cost more than they bring.
 */
#ifndef TACT_BASE_TEAM_H
#define TACT_BASE_TEAM_H

#include <stddef.h>

struct team;

/* A team of up to `threads` threads, the caller's included (0: one per core).  They are started
 * when work first needs them, with all signals blocked.  Returns 0 or -TACT_E_NOMEM.
 */
int team_create(struct team **out, unsigned threads);
void team_destroy(struct team *team); /* NULL is allowed */

/* How many threads there may be, the caller's included. */
unsigned team_size(const struct team *team);

/* Calls work for every chunk from 0 to n_chunks - 1 and returns when all is done.  `thread` is
 * below team_size and serves one call at a time; the calling thread is number 0 and does everything
 * where no other thread can be started.  One call at a time.
 */
void team_run(struct team *team, size_t n_chunks,
	      void (*work)(void *context, unsigned thread, size_t chunk), void *context);

#endif /* TACT_BASE_TEAM_H */

/* SPDX-License-Identifier: MIT
 *
 * Hands things over from one thread to another one in order: a ring of places.  One thread fills
 * them, the other one empties them; each waits for the other.
 */
#ifndef TACT_BASE_RELAY_H
#define TACT_BASE_RELAY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Places so far, under the lock. */
struct relay_count {
	size_t n, wanted; /* the thread that waits goes on when there are so many */
};

struct relay {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t n_places;
	struct relay_count filled, emptied;
	bool is_closed; /* under the lock */
};

enum { RELAY_CLOSED = -1 };

void relay_init(struct relay *r, size_t n_places);
void relay_fini(struct relay *r);

/* For the thread that fills: waits for a place, and hands it over.  Returns the number of the place,
 * or RELAY_CLOSED if nobody wants more.
 */
long relay_begin_fill(struct relay *r);
void relay_end_fill(struct relay *r);

/* For the thread that empties: the same.  RELAY_CLOSED: all are emptied, and no more will come. */
long relay_begin_empty(struct relay *r);
void relay_end_empty(struct relay *r);

/* Either thread: nothing more is filled.  What is filled can still be emptied. */
void relay_close(struct relay *r);

#endif /* TACT_BASE_RELAY_H */

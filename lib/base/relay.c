/* SPDX-License-Identifier: MIT */
#include "base/relay.h"

void relay_init(struct relay *r, size_t n_places)
{
	*r = (struct relay){
		.n_places = n_places, .filled.wanted = SIZE_MAX, .emptied.wanted = SIZE_MAX};
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->moved, NULL);
}

void relay_fini(struct relay *r)
{
	pthread_cond_destroy(&r->moved);
	pthread_mutex_destroy(&r->lock);
}

/* To sleep and to be woken takes longer than to fill a place, so a thread that has to wait waits for
 * half of them.  Called with the lock, which is held afterwards.
 */
static void wait_for(struct relay *r, struct relay_count *c, size_t wanted)
{
	c->wanted = wanted;
	while (c->n < wanted && !r->is_closed)
		pthread_cond_wait(&r->moved, &r->lock);
	c->wanted = SIZE_MAX;
}

long relay_begin_fill(struct relay *r)
{
	long place;

	pthread_mutex_lock(&r->lock);
	if (r->filled.n - r->emptied.n == r->n_places)
		wait_for(r, &r->emptied, r->filled.n - r->n_places / 2);
	place = r->is_closed ? RELAY_CLOSED : (long)(r->filled.n % r->n_places);
	pthread_mutex_unlock(&r->lock);
	return place;
}

long relay_begin_empty(struct relay *r)
{
	long place;

	pthread_mutex_lock(&r->lock);
	if (r->filled.n == r->emptied.n)
		wait_for(r, &r->filled, r->emptied.n + (r->n_places + 1) / 2);
	place = r->filled.n == r->emptied.n ? RELAY_CLOSED : (long)(r->emptied.n % r->n_places);
	pthread_mutex_unlock(&r->lock);
	return place;
}

/* Only one thread can be waiting, and for this count: the other one is here. */
static void advance(struct relay *r, struct relay_count *c)
{
	pthread_mutex_lock(&r->lock);
	if (++c->n >= c->wanted)
		pthread_cond_signal(&r->moved);
	pthread_mutex_unlock(&r->lock);
}

void relay_end_fill(struct relay *r)
{
	advance(r, &r->filled);
}

void relay_end_empty(struct relay *r)
{
	advance(r, &r->emptied);
}

void relay_close(struct relay *r)
{
	pthread_mutex_lock(&r->lock);
	r->is_closed = true;
	pthread_cond_signal(&r->moved);
	pthread_mutex_unlock(&r->lock);
}

/* SPDX-License-Identifier: MIT
 *
 * From one thread to another one: everything arrives once and in order, and both ends can stop.
 */
#include "testing.h"

#include <pthread.h>

#include "support.h"

#include "base/relay.h"

enum { PLACES = 4, NUMBERS = 20000 };

struct line {
	struct relay relay;
	long places[PLACES];
	long wanted; /* numbers that are sent */
	long sent;
};

static void *send(void *argument)
{
	struct line *l = argument;
	long place;

	while (l->sent < l->wanted && (place = relay_begin_fill(&l->relay)) != RELAY_CLOSED) {
		l->places[place] = l->sent++;
		relay_end_fill(&l->relay);
	}
	relay_close(&l->relay);
	return NULL;
}

/* Takes up to `most` numbers, and returns how many there were. */
static long receive(struct line *l, long most)
{
	long n = 0, place;

	while (n < most && (place = relay_begin_empty(&l->relay)) != RELAY_CLOSED) {
		assert_int_equal(l->places[place], n);
		n++;
		relay_end_empty(&l->relay);
	}
	return n;
}

static long pass(long wanted, long most, long *sent)
{
	struct line l = {.wanted = wanted};
	pthread_t thread;
	long n;

	relay_init(&l.relay, PLACES);
	assert_int_equal(pthread_create(&thread, NULL, send, &l), 0);
	n = receive(&l, most);
	relay_close(&l.relay);
	pthread_join(thread, NULL);
	*sent = l.sent;
	relay_fini(&l.relay);
	return n;
}

TEST(everything_in_order)
{
	long sent;

	assert_int_equal(pass(NUMBERS, NUMBERS + 1, &sent), NUMBERS);
	assert_int_equal(sent, NUMBERS);
	assert_int_equal(pass(0, 1, &sent), 0);
	assert_int_equal(pass(1, 2, &sent), 1);
}

/* Whoever fills is not left waiting, and is at most the ring ahead. */
TEST(the_receiver_stops)
{
	long sent;

	assert_int_equal(pass(NUMBERS, 10, &sent), 10);
	assert_true(sent >= 10 && sent <= 10 + PLACES);
}

RUN_TESTS(NULL, NULL)

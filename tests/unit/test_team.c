/* SPDX-License-Identifier: MIT
 *
 * Threads that stay: every chunk is done once, in every round.
 */
#include "testing.h"

#include <stdatomic.h>

#include "support.h"

#include "base/team.h"

enum { CHUNKS = 1000, THREADS = 5 };

struct counts {
	atomic_int done[CHUNKS];
	atomic_int busy[THREADS], overlaps, strangers;
};

static void work(void *context, unsigned thread, size_t chunk)
{
	struct counts *c = context;

	if (thread >= THREADS || chunk >= CHUNKS) {
		atomic_fetch_add(&c->strangers, 1);
		return;
	}
	if (atomic_fetch_add(&c->busy[thread], 1))
		atomic_fetch_add(&c->overlaps, 1);
	atomic_fetch_add(&c->done[chunk], 1);
	atomic_fetch_sub(&c->busy[thread], 1);
}

TEST(every_chunk_once_in_every_round)
{
	static struct counts c;
	struct team *team;

	assert_int_equal(team_create(&team, THREADS), 0);
	assert_int_equal(team_size(team), THREADS);
	for (int round = 1; round <= 50; round++) {
		team_run(team, CHUNKS, work, &c);
		for (size_t i = 0; i < CHUNKS; i++)
			assert_int_equal(atomic_load(&c.done[i]), round);
	}
	team_run(team, 0, work, &c);
	team_run(team, 1, work, &c);
	assert_int_equal(atomic_load(&c.done[0]), 51);
	assert_int_equal(atomic_load(&c.overlaps), 0);
	assert_int_equal(atomic_load(&c.strangers), 0);
	team_destroy(team);
}

TEST(a_team_of_one)
{
	static struct counts c;
	struct team *team;

	assert_int_equal(team_create(&team, 1), 0);
	team_run(team, CHUNKS, work, &c);
	for (size_t i = 0; i < CHUNKS; i++)
		assert_int_equal(atomic_load(&c.done[i]), 1);
	team_destroy(team);
	team_destroy(NULL);
}

RUN_TESTS(NULL, NULL)

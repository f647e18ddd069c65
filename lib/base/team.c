/* SPDX-License-Identifier: MIT */
#include "base/team.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/pool.h"

struct member {
	struct team *team;
	pthread_t id;
	unsigned number;
};

struct team {
	unsigned threads;
	unsigned n_members;	/* threads that were started */
	struct member *members; /* owned; threads - 1 places */

	pthread_mutex_t lock;
	pthread_cond_t begins, ends;
	/* Under the lock: */
	unsigned long round; /* of work; members wait for the next one */
	unsigned n_working;  /* members that have not finished the present round */
	bool is_over;

	/* The present work, unchanged while members are at it. */
	void (*work)(void *context, unsigned thread, size_t chunk);
	void *context;
	size_t n_chunks;
	atomic_size_t next;
};

int team_create(struct team **out, unsigned threads)
{
	struct team *team = calloc(1, sizeof(*team));

	*out = NULL;
	if (!team)
		return -TACT_E_NOMEM;
	team->threads = pool_threads(threads, SIZE_MAX);
	team->members = calloc(team->threads, sizeof(*team->members));
	if (!team->members) {
		free(team);
		return -TACT_E_NOMEM;
	}
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->begins, NULL);
	pthread_cond_init(&team->ends, NULL);
	*out = team;
	return 0;
}

unsigned team_size(const struct team *team)
{
	return team->threads;
}

void team_destroy(struct team *team)
{
	if (!team)
		return;
	pthread_mutex_lock(&team->lock);
	team->is_over = true;
	pthread_cond_broadcast(&team->begins);
	pthread_mutex_unlock(&team->lock);
	for (unsigned i = 0; i < team->n_members; i++)
		pthread_join(team->members[i].id, NULL);
	pthread_cond_destroy(&team->ends);
	pthread_cond_destroy(&team->begins);
	pthread_mutex_destroy(&team->lock);
	FREE_ALL(team->members, team);
}

static void take_chunks(struct team *team, unsigned thread)
{
	size_t chunk;

	while ((chunk = atomic_fetch_add(&team->next, 1)) < team->n_chunks)
		team->work(team->context, thread, chunk);
}

static void *serve(void *argument)
{
	const struct member *m = argument;
	struct team *team = m->team;
	unsigned long seen = 0;

	pthread_mutex_lock(&team->lock);
	for (;;) {
		while (team->round == seen && !team->is_over)
			pthread_cond_wait(&team->begins, &team->lock);
		if (team->is_over)
			break;
		seen = team->round;
		pthread_mutex_unlock(&team->lock);
		take_chunks(team, m->number);
		pthread_mutex_lock(&team->lock);
		if (!--team->n_working)
			pthread_cond_signal(&team->ends);
	}
	pthread_mutex_unlock(&team->lock);
	return NULL;
}

/* Starts members until there are `wanted`, or as many as there can be.  The signals of the program
 * are not theirs to handle.
 */
static void start_members(struct team *team, unsigned wanted)
{
	sigset_t all, before;

	if (team->n_members >= wanted)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (team->n_members < wanted) {
		struct member *m = &team->members[team->n_members];

		*m = (struct member){.team = team, .number = team->n_members + 1};
		if (pthread_create(&m->id, NULL, serve, m))
			break;
		team->n_members++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void team_run(struct team *team, size_t n_chunks,
	      void (*work)(void *context, unsigned thread, size_t chunk), void *context)
{
	if (team->threads == 1 || n_chunks < 2) {
		for (size_t chunk = 0; chunk < n_chunks; chunk++)
			work(context, 0, chunk);
		return;
	}
	/* A member that is just being started waits for the lock, and then finds this round. */
	pthread_mutex_lock(&team->lock);
	start_members(team, team->threads - 1);
	team->work = work;
	team->context = context;
	team->n_chunks = n_chunks;
	atomic_store(&team->next, 0);
	team->n_working = team->n_members;
	team->round++;
	pthread_cond_broadcast(&team->begins);
	pthread_mutex_unlock(&team->lock);
	take_chunks(team, 0);
	pthread_mutex_lock(&team->lock);
	while (team->n_working)
		pthread_cond_wait(&team->ends, &team->lock);
	pthread_mutex_unlock(&team->lock);
}

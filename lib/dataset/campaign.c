/* SPDX-License-Identifier: MIT
 *
 * Distributes blocks to harnesses and writes the results to a store.
 *
 * Each worker is a thread with a harness of its own, which it creates and destroys itself: a child
 * process may be bound to the thread that made it.  A result goes to the store at once, whatever
 * the order, so that any kind of end loses only the blocks in flight.
 */
#include <tact-program/campaign.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tact/store.h>

#include "base/base.h"

struct worker {
	struct tact_campaign *campaign;
	int cpu;
	pthread_t thread;
};

struct tact_campaign {
	struct tact_campaign_options opt;
	const struct tact_campaign_block *blocks; /* borrowed */
	size_t n;
	struct tact_store *store; /* owned; NULL: none */
	struct worker *workers;	  /* owned */
	unsigned n_workers;
	pthread_mutex_t lock; /* protects everything below, and the store */
	pthread_cond_t changed;
	uint8_t *state;			   /* owned; enum tact_campaign_state of each block */
	struct tact_measurement **results; /* owned, and each of them */
	size_t next, n_started;
	unsigned n_up, n_ended;
	bool may_go, is_stopped;
	struct tact_campaign_progress progress;
};

/* ---- a worker: it holds the lock except while it measures ---- */

static void stop(struct tact_campaign *c, enum tact_campaign_end end, const char *what,
		 const char *why)
{
	if (!c->is_stopped)
		snprintf(c->progress.why, sizeof(c->progress.why), "%s%s%s", what,
			 *what ? ": " : "", why);
	c->is_stopped = true;
	if (end > c->progress.end)
		c->progress.end = end;
}

static bool is_interrupted(const struct tact_campaign *c)
{
	return c->opt.interrupt && *c->opt.interrupt;
}

static bool is_in_store(struct tact_campaign *c, const struct tact_campaign_block *block)
{
	enum tact_mode mode = c->opt.measure.mode;
	struct tact_diag diag = {0};
	int has;

	if (!c->opt.is_resumed || !c->store)
		return false;
	if (mode == TACT_MODE_AUTO)
		mode = block->is_loop ? TACT_MODE_LOOP : TACT_MODE_UNROLL;
	has = tact_store_has_measurement(c->store, block->code, block->code_size, mode,
					 c->opt.measure.init, &diag);
	if (has < 0)
		stop(c, TACT_CAMPAIGN_FAILED, c->opt.store, diag.text);
	return has > 0;
}

/* Takes the next block to be measured. */
static bool take(struct tact_campaign *c, size_t *i)
{
	while (!c->is_stopped && !is_interrupted(c) && c->next < c->n) {
		const struct tact_campaign_block *block = &c->blocks[c->next];

		if (c->opt.limit && c->n_started == c->opt.limit)
			return false;
		*i = c->next++;
		if (!block->code) {
			c->state[*i] = TACT_CAMPAIGN_NO_BLOCK;
			c->progress.n_none++;
		} else if (is_in_store(c, block)) {
			c->state[*i] = TACT_CAMPAIGN_SKIPPED;
			c->progress.n_skipped++;
		} else if (!c->is_stopped) {
			c->state[*i] = TACT_CAMPAIGN_IN_FLIGHT;
			c->n_started++;
			return true;
		}
	}
	return false;
}

static void finish(struct tact_campaign *c, size_t i, int status, const struct tact_measurement *m)
{
	const struct tact_campaign_block *block = &c->blocks[i];
	struct tact_diag diag = {0};

	if (status < 0) {
		stop(c, TACT_CAMPAIGN_UNABLE, "the harness broke down", tact_strerror(status));
		return;
	}
	/* The signal that ends this program may have killed the child as well; that is not the
	 * block's fault.
	 */
	if (is_interrupted(c) &&
	    (m->status == TACT_MEASURE_CRASHED || m->status == TACT_MEASURE_TIMEOUT))
		return;
	if (c->store &&
	    tact_store_put_measurement(c->store, block->code, block->code_size, m, &diag) < 0) {
		stop(c, TACT_CAMPAIGN_FAILED, c->opt.store, diag.text);
		return;
	}
	c->results[i] = malloc(sizeof(*m));
	if (!c->results[i]) {
		stop(c, TACT_CAMPAIGN_FAILED, "", tact_strerror(-TACT_E_NOMEM));
		return;
	}
	*c->results[i] = *m;
	c->state[i] = TACT_CAMPAIGN_MEASURED;
	c->progress.n_done++;
	c->progress.n_good += m->status == TACT_MEASURE_OK;
	if (m->status < TACT_N_MEASURE_STATUS)
		c->progress.n_status[m->status]++;
}

static void work(struct tact_campaign *c, struct tact_harness *harness)
{
	size_t i;

	while (take(c, &i)) {
		struct tact_measurement m = {.size = sizeof(m)};
		int status;

		pthread_mutex_unlock(&c->lock);
		status = tact_measure_at(harness, c->blocks[i].code, c->blocks[i].code_size,
					 c->blocks[i].alignment, &m);
		pthread_mutex_lock(&c->lock);
		finish(c, i, status, &m);
		pthread_cond_broadcast(&c->changed);
	}
}

static void *worker_main(void *arg)
{
	const struct worker *w = arg;
	struct tact_campaign *c = w->campaign;
	struct tact_measure_options options = c->opt.measure;
	struct tact_harness *harness = NULL;
	struct tact_diag diag = {0};
	int status;

	options.pin = w->cpu >= 0;
	options.cpu = options.pin ? w->cpu : 0;
	status = tact_harness_create(&harness, &options, &diag);
	pthread_mutex_lock(&c->lock);
	if (status == -TACT_E_INVAL)
		stop(c, TACT_CAMPAIGN_BAD_OPTIONS, "", diag.text);
	else if (status < 0)
		stop(c, TACT_CAMPAIGN_UNABLE, "this machine cannot measure",
		     diag.text[0] ? diag.text : tact_strerror(status));
	c->n_up++;
	pthread_cond_broadcast(&c->changed);
	while (!c->may_go && !c->is_stopped)
		pthread_cond_wait(&c->changed, &c->lock);
	work(c, harness);
	c->n_ended++;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	tact_harness_destroy(harness);
	return NULL;
}

/* ---- the campaign ---- */

static void start_workers(struct tact_campaign *c)
{
	unsigned wanted = c->opt.n_workers;
	struct tact_diag diag = {0};

	while (c->n_workers < wanted) {
		struct worker *w = &c->workers[c->n_workers];

		*w = (struct worker){.campaign = c, .cpu = c->opt.cpus[c->n_workers]};
		if (pthread_create(&w->thread, NULL, worker_main, w))
			break;
		c->n_workers++;
	}
	pthread_mutex_lock(&c->lock);
	if (c->n_workers < wanted)
		stop(c, TACT_CAMPAIGN_FAILED, "",
		     "a thread could not be started; try a smaller -j");
	while (c->n_up < c->n_workers)
		pthread_cond_wait(&c->changed, &c->lock);
	if (!c->is_stopped && c->opt.store &&
	    tact_store_open(&c->store, c->opt.store, TACT_STORE_CREATE, &diag) < 0)
		stop(c, TACT_CAMPAIGN_FAILED, c->opt.store, diag.text);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

int tact_campaign_create(struct tact_campaign **out, const struct tact_campaign_block *blocks,
			 size_t n, const struct tact_campaign_options *opt)
{
	struct tact_campaign *c;
	int status;

	if (!out || !blocks || !n || !opt)
		return -TACT_E_INVAL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -TACT_E_NOMEM;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	status = tact_read_options(&c->opt, sizeof(c->opt), opt);
	if (status >= 0 && (!c->opt.cpus || !c->opt.n_workers))
		status = -TACT_E_INVAL;
	c->blocks = blocks;
	c->n = n;
	c->state = calloc(n, 1);
	c->results = calloc(n, sizeof(*c->results));
	c->workers = calloc(c->opt.n_workers + 1, sizeof(*c->workers));
	if (status >= 0 && (!c->state || !c->results || !c->workers))
		status = -TACT_E_NOMEM;
	if (status < 0) {
		tact_campaign_destroy(c);
		return status;
	}
	start_workers(c);
	*out = c;
	return 0;
}

void tact_campaign_start(struct tact_campaign *c)
{
	pthread_mutex_lock(&c->lock);
	c->may_go = true;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

void tact_campaign_wait(struct tact_campaign *c, unsigned ms, struct tact_campaign_progress *out)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&c->lock);
	if (ms && c->n_ended < c->n_workers)
		pthread_cond_timedwait(&c->changed, &c->lock, &until);
	while (c->progress.n_ready < c->n &&
	       c->state[c->progress.n_ready] > TACT_CAMPAIGN_IN_FLIGHT)
		c->progress.n_ready++;
	*out = c->progress;
	out->size = sizeof(*out);
	out->is_running = c->n_ended < c->n_workers;
	pthread_mutex_unlock(&c->lock);
}

void tact_campaign_stop(struct tact_campaign *c)
{
	pthread_mutex_lock(&c->lock);
	stop(c, TACT_CAMPAIGN_NOT_STOPPED, "", "");
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

enum tact_campaign_state tact_campaign_get_state(const struct tact_campaign *c, size_t i)
{
	return i < c->n ? (enum tact_campaign_state)c->state[i] : TACT_CAMPAIGN_PENDING;
}

const struct tact_measurement *tact_campaign_result(const struct tact_campaign *c, size_t i)
{
	return i < c->n ? c->results[i] : NULL;
}

void tact_campaign_drop(struct tact_campaign *c, size_t i)
{
	if (i >= c->n)
		return;
	free(c->results[i]);
	c->results[i] = NULL;
}

void tact_campaign_destroy(struct tact_campaign *c)
{
	if (!c)
		return;
	if (c->n_workers)
		tact_campaign_stop(c);
	for (unsigned i = 0; i < c->n_workers; i++)
		pthread_join(c->workers[i].thread, NULL);
	for (size_t i = 0; i < c->n && c->results; i++)
		free(c->results[i]);
	tact_store_close(c->store);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	FREE_ALL(c->workers, c->results, c->state, c);
}

/* SPDX-License-Identifier: MIT
 *
 * Distributes blocks to harnesses and writes the results to a store.
 *
 * Each worker is a thread with a harness of its own, which it creates and destroys itself: a child
 * process may be bound to the thread that made it.  A result goes to the store at once, whatever
 * the order, so that any kind of end loses only the blocks in flight.
 *
 * A round begins when the one before has ended.  Then all workers move to other CPUs.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/condition.h"
#include "dataset/campaigns.h"
#include "store/store.h"

static void start_workers(struct tact_campaign *c)
{
	unsigned wanted = c->opt.n_workers;
	struct tact_diag diag = {0};

	while (c->n_workers < wanted) {
		struct campaign_worker *w = &c->workers[c->n_workers];

		*w = (struct campaign_worker){.campaign = c, .number = c->n_workers};
		if (pthread_create(&w->thread, NULL, campaign_worker_main, w))
			break;
		c->n_workers++;
	}
	pthread_mutex_lock(&c->lock);
	if (c->n_workers < wanted)
		campaign_stop(c, TACT_CAMPAIGN_FAILED, "",
			      "a thread could not be started; try a smaller -j");
	while (c->n_up < c->n_workers)
		pthread_cond_wait(&c->changed, &c->lock);
	if (!c->is_stopped && c->opt.store &&
	    tact_store_open(&c->store, c->opt.store, TACT_STORE_CREATE, &diag) < 0)
		campaign_stop(c, TACT_CAMPAIGN_FAILED, c->opt.store, diag.text);
	if (c->store && c->opt.host)
		store_copy(c->store->host_name, sizeof(c->store->host_name), c->opt.host);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static int read_options(struct tact_campaign *c, const struct tact_campaign_options *opt)
{
	if (tact_read_options(&c->opt, sizeof(c->opt), opt) < 0)
		return -TACT_E_INVAL;
	c->opt.n_cpus = c->opt.n_cpus ? c->opt.n_cpus : c->opt.n_workers;
	c->opt.rounds = c->opt.rounds ? c->opt.rounds : 1;
	if (!c->opt.cpus || !c->opt.n_workers || c->opt.n_cpus < c->opt.n_workers ||
	    c->opt.n_cpus > CAMPAIGN_MAX_CPUS)
		return -TACT_E_INVAL;
	c->cpus = malloc(c->opt.n_cpus * sizeof(*c->cpus));
	if (!c->cpus)
		return -TACT_E_NOMEM;
	memcpy(c->cpus, c->opt.cpus, c->opt.n_cpus * sizeof(*c->cpus));
	return 0;
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
	condition_init(&c->changed);
	status = read_options(c, opt);
	c->blocks = blocks;
	c->n = n;
	c->slots = calloc(n, sizeof(*c->slots));
	c->workers = calloc(c->opt.n_workers + 1, sizeof(*c->workers));
	if (status >= 0 && (!c->slots || !c->workers))
		status = -TACT_E_NOMEM;
	if (status >= 0)
		status = visits_init(&c->visits, n, c->opt.seed, 1e-3 * c->opt.interval_ms);
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

/* Measurements of blocks that have not been started. */
static size_t visits_of_the_rest(const struct tact_campaign *c)
{
	const struct campaign_slot none = {.state = TACT_CAMPAIGN_PENDING};
	size_t n = c->visits.round ? 0 : c->visits.end - c->visits.next;

	if (c->opt.limit && c->opt.limit - c->n_started < n)
		n = c->opt.limit - c->n_started;
	return n * campaign_expected_visits(c, &none);
}

void tact_campaign_wait(struct tact_campaign *c, unsigned ms, struct tact_campaign_progress *out)
{
	pthread_mutex_lock(&c->lock);
	if (ms && c->n_ended < c->n_workers)
		campaign_wait_for_change(c, ms);
	while (c->progress.n_ready < c->n &&
	       c->slots[c->progress.n_ready].state > TACT_CAMPAIGN_IN_FLIGHT)
		c->progress.n_ready++;
	*out = c->progress;
	out->size = sizeof(*out);
	out->n_expected += visits_of_the_rest(c);
	out->round = c->visits.round + 1;
	out->is_running = c->n_ended < c->n_workers;
	pthread_mutex_unlock(&c->lock);
}

void tact_campaign_stop(struct tact_campaign *c)
{
	pthread_mutex_lock(&c->lock);
	campaign_stop(c, TACT_CAMPAIGN_NOT_STOPPED, "", "");
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

enum tact_campaign_state tact_campaign_get_state(const struct tact_campaign *c, size_t i)
{
	return i < c->n ? (enum tact_campaign_state)c->slots[i].state : TACT_CAMPAIGN_PENDING;
}

const struct tact_measurement *tact_campaign_result(const struct tact_campaign *c, size_t i)
{
	return i < c->n ? c->slots[i].result : NULL;
}

void tact_campaign_drop(struct tact_campaign *c, size_t i)
{
	if (i >= c->n)
		return;
	free(c->slots[i].result);
	c->slots[i].result = NULL;
}

void tact_campaign_destroy(struct tact_campaign *c)
{
	if (!c)
		return;
	if (c->n_workers)
		tact_campaign_stop(c);
	for (unsigned i = 0; i < c->n_workers; i++)
		pthread_join(c->workers[i].thread, NULL);
	for (size_t i = 0; i < c->n && c->slots; i++) {
		tact_rounds_destroy(c->slots[i].rounds);
		free(c->slots[i].result);
	}
	tact_store_close(c->store);
	visits_fini(&c->visits);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	FREE_ALL(c->workers, c->slots, c->cpus, c);
}

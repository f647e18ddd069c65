/* SPDX-License-Identifier: MIT
 *
 * The workers of a campaign.
 *
 * A worker holds the lock except while it measures, and while it moves to another CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <string.h>

#include <tact-program/known.h>

#include "base/condition.h"
#include "dataset/campaigns.h"
#include "store/store.h"

enum { POLL_MS = 100 };
/* Blocks to a canary: few until each was measured once, then a share of three percent. */
enum { FIRST_PERIOD = 4, CANARY_PERIOD = 32 };
#define PATIENCE 3.0 /* seconds */

void campaign_stop(struct tact_campaign *c, enum tact_campaign_end end, const char *what,
		   const char *why)
{
	if (!c->is_stopped)
		snprintf(c->progress.why, sizeof(c->progress.why), "%s%s%s", what,
			 *what ? ": " : "", why);
	c->is_stopped = true;
	if (end > c->progress.end)
		c->progress.end = end;
}

static void stop_without_memory(struct tact_campaign *c)
{
	campaign_stop(c, TACT_CAMPAIGN_FAILED, "", tact_strerror(-TACT_E_NOMEM));
}

static bool is_interrupted(const struct tact_campaign *c)
{
	return c->opt.interrupt && *c->opt.interrupt;
}

static bool is_over(const struct tact_campaign *c)
{
	return c->is_stopped || is_interrupted(c);
}

static bool has_rounds(const struct tact_campaign *c)
{
	return c->opt.rounds > 1;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void campaign_wait_for_change(struct tact_campaign *c, unsigned ms)
{
	condition_wait_ms(&c->changed, &c->lock, ms);
}

/* ---- what the store has ---- */

/* Whether a row is of the setting that is measured now. */
static bool is_same_setting(const struct tact_campaign *c, const struct tact_campaign_block *block,
			    const struct tact_measurement *m)
{
	return m->alignment == block->alignment && m->memory == c->opt.measure.memory &&
	       m->vectors == c->opt.measure.vectors;
}

/* Begins the rounds of a block, with what the store has. */
static void begin_rounds(struct tact_campaign *c, size_t i, const struct tact_measurement *stored)
{
	struct campaign_slot *slot = &c->slots[i];

	if (tact_rounds_create(&slot->rounds) < 0 ||
	    (stored && tact_rounds_add(slot->rounds, stored) == -TACT_E_NOMEM))
		stop_without_memory(c);
}

/* Whether nothing is left to do for a block that has not been visited yet. */
static bool is_in_store(struct tact_campaign *c, size_t i)
{
	const struct tact_campaign_block *block = &c->blocks[i];
	struct tact_measurement m = {.size = sizeof(m)};
	enum tact_mode mode = c->opt.measure.mode;
	struct tact_diag diag = {0};
	int has = 0;

	if (mode == TACT_MODE_AUTO)
		mode = block->is_loop ? TACT_MODE_LOOP : TACT_MODE_UNROLL;
	if (c->opt.is_resumed && c->store)
		has = tact_store_get_measurement(c->store, block->code, block->code_size, mode,
						 c->opt.measure.init, &m, &diag);
	if (has < 0)
		campaign_stop(c, TACT_CAMPAIGN_FAILED, c->opt.store, diag.text);
	has = has > 0 && is_same_setting(c, block, &m);
	if (!has_rounds(c))
		return has;
	begin_rounds(c, i, has ? &m : NULL);
	return tact_rounds_is_confirmed(c->slots[i].rounds);
}

/* ---- taking a block ---- */

/* Measurements that a block will probably need in all. */
size_t campaign_expected_visits(const struct tact_campaign *c, const struct campaign_slot *slot)
{
	if (slot->state > TACT_CAMPAIGN_IN_FLIGHT)
		return slot->n_visits;
	if (!c->opt.is_until_confirmed)
		return c->opt.rounds;
	return slot->n_visits ? slot->n_visits + 1 : 2;
}

/* Of a block that has been started; n_visits is how often it was visited. */
static void set_state(struct tact_campaign *c, size_t i, enum tact_campaign_state state,
		      unsigned n_visits)
{
	struct campaign_slot *slot = &c->slots[i];

	c->progress.n_expected -= campaign_expected_visits(c, slot);
	c->n_partial -= slot->state == TACT_CAMPAIGN_PARTIAL;
	slot->state = state;
	slot->n_visits = n_visits;
	c->n_partial += slot->state == TACT_CAMPAIGN_PARTIAL;
	c->progress.n_expected += campaign_expected_visits(c, slot);
}

/* Decides in the first round whether a block is to be measured. */
static bool is_wanted(struct tact_campaign *c, size_t i)
{
	if (!c->blocks[i].code) {
		c->slots[i].state = TACT_CAMPAIGN_NO_BLOCK;
		c->progress.n_none++;
		return false;
	}
	if (is_in_store(c, i)) {
		tact_rounds_destroy(c->slots[i].rounds);
		c->slots[i].rounds = NULL;
		c->slots[i].state = TACT_CAMPAIGN_SKIPPED;
		c->progress.n_skipped++;
		return false;
	}
	c->n_started++;
	c->progress.n_expected += campaign_expected_visits(c, &c->slots[i]);
	return !c->is_stopped;
}

static bool is_partial(const void *context, size_t i)
{
	const struct tact_campaign *c = context;

	return c->slots[i].state == TACT_CAMPAIGN_PARTIAL;
}

/* Takes a block of this round.  Returns whether there is one; if not, *wait is as in visits_take.
 */
static bool take_of_round(struct tact_campaign *c, const struct campaign_worker *w, bool may_repeat,
			  size_t *i, double *wait)
{
	*wait = 0;
	while (!is_over(c)) {
		if (!c->visits.round && c->opt.limit && c->n_started == c->opt.limit)
			visits_drop_rest(&c->visits);
		if (!visits_take(&c->visits, w->cpu, may_repeat, seconds(), i, wait))
			return false;
		if (c->visits.round || is_wanted(c, *i)) {
			set_state(c, *i, TACT_CAMPAIGN_IN_FLIGHT, c->slots[*i].n_visits);
			c->n_in_flight++;
			return true;
		}
	}
	return false;
}

/* Takes the next block; waits for it if it must, and for the next round.  Returns false if there
 * are no more, or if the worker has to move first: a new round has begun.
 */
static bool take(struct tact_campaign *c, const struct campaign_worker *w, size_t *i)
{
	const double start = seconds();
	double wait;

	while (!is_over(c) && w->round == c->visits.round) {
		/* Blocks that were here the last time are for the others, but not for ever. */
		if (take_of_round(c, w, c->opt.n_workers == 1 || seconds() > start + PATIENCE, i,
				  &wait))
			return true;
		if (wait > 0)
			campaign_wait_for_change(
				c, wait < 1e-3 * POLL_MS ? 1 + (unsigned)(1e3 * wait) : POLL_MS);
		else if (c->n_in_flight)
			campaign_wait_for_change(c, POLL_MS);
		else if (is_over(c) || !c->n_partial || c->visits.round + 1 >= c->opt.rounds)
			break;
		else if (visits_begin(&c->visits, is_partial, c))
			pthread_cond_broadcast(&c->changed);
	}
	return false;
}

/* ---- results ---- */

static void count_result(struct tact_campaign *c, struct campaign_slot *slot,
			 const struct tact_measurement *m)
{
	struct tact_campaign_progress *now = &c->progress;

	if (slot->is_measured) {
		now->n_done--;
		now->n_good -= slot->status == TACT_MEASURE_OK;
		now->n_confirmed -= slot->is_confirmed;
		now->n_status[slot->status]--;
	}
	slot->is_measured = true;
	slot->status = m->status < TACT_N_MEASURE_STATUS ? m->status : TACT_MEASURE_CRASHED;
	slot->is_confirmed = m->status == TACT_MEASURE_OK && m->agree >= 2;
	now->n_done++;
	now->n_good += slot->status == TACT_MEASURE_OK;
	now->n_confirmed += slot->is_confirmed;
	now->n_status[slot->status]++;
}

/* Keeps the result of a block that is not visited again. */
static void keep(struct tact_campaign *c, size_t i, const struct tact_measurement *m)
{
	struct campaign_slot *slot = &c->slots[i];

	slot->result = malloc(sizeof(*m));
	if (!slot->result) {
		stop_without_memory(c);
		return;
	}
	*slot->result = *m;
	tact_rounds_destroy(slot->rounds);
	slot->rounds = NULL;
	set_state(c, i, TACT_CAMPAIGN_MEASURED, slot->n_visits);
}

/* Notes how often numbers contradict those of earlier rounds. */
static void note_agreement(struct tact_campaign *c, struct campaign_slot *slot,
			   const struct tact_measurement *m)
{
	const double same = 1.03, weight = 1.0 / 32; /* coarser than a step of the clock */
	const double now = m->cycles_per_iteration;
	bool is_other;

	if (m->status != TACT_MEASURE_OK)
		return;
	if (slot->lowest > 0) {
		is_other = now > same * slot->lowest || slot->lowest > same * now;
		c->contradicted += weight * (is_other - c->contradicted);
	}
	if (!(slot->lowest > 0) || now < slot->lowest)
		slot->lowest = now;
}

/* Rounds that have to agree.  If one in ten contradicts, one in a hundred pairs is slowed down
 * twice, and a part of these by the same amount.
 */
static unsigned least_agreement(const struct tact_campaign *c)
{
	const unsigned least = c->contradicted < 0.1	? 2
			       : c->contradicted < 0.25 ? 3
			       : c->contradicted < 0.5	? 4
							: 5;

	return least < c->opt.rounds ? least : c->opt.rounds;
}

/* Whether a block is visited again: `m` is what its rounds have shown. */
static bool needs_more(const struct tact_campaign *c, const struct campaign_slot *slot,
		       const struct tact_measurement *m)
{
	if (!slot->rounds || c->visits.round + 1 >= c->opt.rounds)
		return false;
	return !tact_rounds_is_confirmed(slot->rounds) ||
	       (m->status == TACT_MEASURE_OK && !c->opt.is_until_confirmed);
}

static void take_result(struct tact_campaign *c, size_t i, struct tact_measurement *m)
{
	const struct tact_campaign_block *block = &c->blocks[i];
	struct campaign_slot *slot = &c->slots[i];
	struct tact_diag diag = {0};

	note_agreement(c, slot, m);
	tact_rounds_set_least(slot->rounds, least_agreement(c));
	if (slot->rounds && (tact_rounds_add(slot->rounds, m) == -TACT_E_NOMEM ||
			     tact_rounds_result(slot->rounds, m) < 0)) {
		stop_without_memory(c);
		return;
	}
	if (c->store &&
	    tact_store_put_measurement(c->store, block->code, block->code_size, m, &diag) < 0) {
		campaign_stop(c, TACT_CAMPAIGN_FAILED, c->opt.store, diag.text);
		return;
	}
	count_result(c, slot, m);
	if (!needs_more(c, slot, m))
		keep(c, i, m);
}

static void finish(struct tact_campaign *c, const struct campaign_worker *w, size_t i, int status,
		   struct tact_measurement *m)
{
	struct campaign_slot *slot = &c->slots[i];

	c->n_in_flight--;
	if (status < 0) {
		campaign_stop(c, TACT_CAMPAIGN_UNABLE, "the harness broke down",
			      tact_strerror(status));
	} else if (!is_interrupted(c) ||
		   (m->status != TACT_MEASURE_CRASHED && m->status != TACT_MEASURE_TIMEOUT)) {
		/* otherwise the signal that ends this program may have killed the child as well;
		 * that is not the block's fault
		 */
		set_state(c, i, TACT_CAMPAIGN_IN_FLIGHT, slot->n_visits + 1);
		c->progress.n_visits++;
		visits_note(&c->visits, i, m->cpu >= 0 ? m->cpu : w->cpu, seconds());
		take_result(c, i, m);
	}
	if (slot->state == TACT_CAMPAIGN_IN_FLIGHT)
		set_state(c, i, slot->is_measured ? TACT_CAMPAIGN_PARTIAL : TACT_CAMPAIGN_PENDING,
			  slot->n_visits);
}

/* When all workers have ended: what the rounds of a block have shown is its result. */
static void keep_partial(struct tact_campaign *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct tact_measurement m = {.size = sizeof(m)};

		if (is_partial(c, i) && tact_rounds_result(c->slots[i].rounds, &m) >= 0)
			keep(c, i, &m);
	}
}

/* What is said to be measured then is on the disk. */
static void sync_store(struct tact_campaign *c)
{
	struct tact_diag diag = {0};

	if (c->store && tact_store_sync(c->store, &diag) < 0)
		campaign_stop(c, TACT_CAMPAIGN_FAILED, c->opt.store, diag.text);
}

/* ---- harnesses ---- */

/* Lists the CPUs of a worker in a round, the one to begin with first. */
static unsigned cpus_of(const struct tact_campaign *c, unsigned worker, unsigned round, int *cpus)
{
	const unsigned step = c->opt.n_workers % c->opt.n_cpus ? c->opt.n_workers : 1;
	unsigned n = 0;

	for (unsigned k = worker; k < c->opt.n_cpus; k += c->opt.n_workers)
		cpus[n++] = c->cpus[(k + round * step) % c->opt.n_cpus];
	return n;
}

/* Gives a worker a harness on the CPU of the round.  If there is one, and the new one fails, it
 * stays.
 */
static int move(const struct tact_campaign *c, struct campaign_worker *w, unsigned round,
		struct tact_diag *diag)
{
	struct tact_measure_options options = c->opt.measure;
	struct tact_harness *harness = NULL;
	int cpus[CAMPAIGN_MAX_CPUS], status;
	const unsigned n = cpus_of(c, w->number, round, cpus);

	options.pin = cpus[0] >= 0;
	options.cpu = options.pin ? cpus[0] : 0;
	options.cpus = options.pin ? cpus : NULL;
	options.n_cpus = options.pin ? n : 0;
	if (c->opt.visit) {
		w->cpu = cpus[0];
		return 0;
	}
	if (w->harness && w->cpu == cpus[0])
		return 0;
	status = tact_harness_create(&harness, &options, diag);
	if (status < 0)
		return w->harness ? 0 : status;
	tact_harness_destroy(w->harness);
	w->harness = harness;
	w->cpu = cpus[0];
	return 0;
}

static int visit(const struct tact_campaign *c, const struct campaign_worker *w, size_t i,
		 struct tact_measurement *m)
{
	const struct tact_campaign_block *block = &c->blocks[i];

	if (c->opt.visit)
		return c->opt.visit(c->opt.context, w->cpu, block, m);
	return tact_measure_at(w->harness, block->code, block->code_size, block->alignment, m);
}

/* Now and then, measures one of the blocks that all hosts measure, so that hosts can be compared.  Its
 * failure means nothing: the next block will show what is wrong.
 */
static void visit_canary(struct tact_campaign *c, struct campaign_worker *w)
{
	const struct tact_known *known = tact_known();
	struct tact_measurement m = {.size = sizeof(m)};
	const char *hex;
	uint8_t code[64];
	struct tact_diag diag = {0};
	size_t bad;
	long size;

	if (!c->store || c->opt.visit || is_over(c) ||
	    w->n_visits++ % (w->has_all_canaries ? CANARY_PERIOD : FIRST_PERIOD))
		return;
	if (w->canary == TACT_KNOWN_ANSWERS || !known->answer[w->canary].hex) {
		w->canary = 0;
		w->has_all_canaries = true;
	}
	hex = known->answer[w->canary++].hex;
	pthread_mutex_unlock(&c->lock);
	size = tact_hex_decode(code, hex, strlen(hex), &bad);
	if (size <= 0 || tact_measure(w->harness, code, (size_t)size, &m) < 0)
		m.status = TACT_MEASURE_CRASHED;
	pthread_mutex_lock(&c->lock);
	if (m.status == TACT_MEASURE_OK &&
	    store_put_canary(c->store, code, (size_t)size, &m, &diag) < 0)
		campaign_stop(c, TACT_CAMPAIGN_FAILED, c->opt.store, diag.text);
}

static void work(struct tact_campaign *c, struct campaign_worker *w)
{
	unsigned round;
	size_t i;

	for (;;) {
		while (take(c, w, &i)) {
			struct tact_measurement m = {.size = sizeof(m)};
			int status;

			pthread_mutex_unlock(&c->lock);
			status = visit(c, w, i, &m);
			pthread_mutex_lock(&c->lock);
			finish(c, w, i, status, &m);
			visit_canary(c, w);
			pthread_cond_broadcast(&c->changed);
		}
		round = c->visits.round;
		if (is_over(c) || w->round == round)
			return;
		pthread_mutex_unlock(&c->lock);
		move(c, w, round, NULL);
		pthread_mutex_lock(&c->lock);
		w->round = round;
	}
}

void *campaign_worker_main(void *arg)
{
	struct campaign_worker *w = arg;
	struct tact_campaign *c = w->campaign;
	struct tact_diag diag = {0};
	int status = move(c, w, 0, &diag);

	pthread_mutex_lock(&c->lock);
	if (status == -TACT_E_INVAL)
		campaign_stop(c, TACT_CAMPAIGN_BAD_OPTIONS, "", diag.text);
	else if (status < 0)
		campaign_stop(c, TACT_CAMPAIGN_UNABLE, "this machine cannot measure",
			      diag.text[0] ? diag.text : tact_strerror(status));
	c->n_up++;
	pthread_cond_broadcast(&c->changed);
	while (!c->may_go && !c->is_stopped)
		pthread_cond_wait(&c->changed, &c->lock);
	work(c, w);
	if (c->n_ended + 1 == c->n_workers) {
		keep_partial(c);
		sync_store(c);
	}
	c->n_ended++;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	tact_harness_destroy(w->harness);
	return NULL;
}

/* SPDX-License-Identifier: MIT
 *
 * What the files of a campaign share.
 */
#ifndef DATASET_CAMPAIGNS_H
#define DATASET_CAMPAIGNS_H

#include <tact-program/campaign.h>

#include <pthread.h>

#include <tact/store.h>

#include "base/base.h"
#include "dataset/visits.h"

enum { CAMPAIGN_MAX_CPUS = 1024 };

struct campaign_worker {
	struct tact_campaign *campaign;
	unsigned number, round;
	int cpu;		      /* -1: any */
	struct tact_harness *harness; /* owned; NULL: the caller measures */
	pthread_t thread;
	size_t n_visits; /* by this worker */
	unsigned canary; /* the next one */
	bool has_all_canaries;
};

/* What is known about a block. */
struct campaign_slot {
	struct tact_rounds *rounds;	 /* owned; NULL: one round is enough, or it is finished */
	struct tact_measurement *result; /* owned; when it is finished */
	uint8_t state;			 /* enum tact_campaign_state */
	bool is_measured, is_confirmed;
	enum tact_measure_status status; /* if it is measured */
	unsigned n_visits;
	double lowest; /* number; 0: none yet */
};

struct tact_campaign {
	struct tact_campaign_options opt;
	const struct tact_campaign_block *blocks; /* borrowed */
	size_t n;
	int *cpus;			 /* owned */
	struct tact_store *store;	 /* owned; NULL: none */
	struct campaign_worker *workers; /* owned */
	unsigned n_workers;
	pthread_mutex_t lock; /* protects everything below, and the store */
	pthread_cond_t changed;
	struct campaign_slot *slots; /* owned */
	struct visits visits;
	size_t n_started, n_in_flight, n_partial;
	unsigned n_up, n_ended;
	bool may_go, is_stopped;
	double contradicted; /* share of late visits that contradict the earlier ones */
	struct tact_campaign_progress progress;
};

/* Ends the campaign early. */
void campaign_stop(struct tact_campaign *c, enum tact_campaign_end end, const char *what,
		   const char *why);

/* Waits until something changes, but no longer than that. */
void campaign_wait_for_change(struct tact_campaign *c, unsigned ms);

/* Measurements that a block will probably need in all. */
size_t campaign_expected_visits(const struct tact_campaign *c, const struct campaign_slot *slot);

/* The thread of a worker; the argument is its struct campaign_worker. */
void *campaign_worker_main(void *arg);

#endif /* DATASET_CAMPAIGNS_H */

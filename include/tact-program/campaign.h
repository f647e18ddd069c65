/* SPDX-License-Identifier: MIT
 *
 * Measures many blocks: with several harnesses at a time, in several rounds, into a store, continuing
 * where the last run ended.
 */
#ifndef TACT_PROGRAM_CAMPAIGN_H
#define TACT_PROGRAM_CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/measure.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_campaign_block {
	const uint8_t *code; /* borrowed: it must outlive the campaign; NULL: there is no block */
	size_t code_size;
	bool is_loop;	    /* ends in a branch to its start */
	unsigned alignment; /* of its first byte, 0 to 63 */
};

struct tact_campaign_options {
	size_t size;
	struct tact_measure_options measure; /* its pin, cpu and cpus do not count */
	const int *cpus; /* each worker has those that no other one has; -1: any */
	unsigned n_workers;
	const char *store; /* each result goes there at once, whatever the order; NULL: none */
	/* Blocks are skipped if the store has a row of this setting.  With several rounds, they are
	 * skipped if that is confirmed; otherwise it counts as a round.
	 */
	bool is_resumed;
	size_t limit; /* measures at most this many; 0: all */
	/* Becomes other than 0 when a signal has come: no more blocks are started, and failures
	 * from then on do not count.  May be NULL.
	 */
	const volatile int *interrupt;
	unsigned n_cpus; /* of cpus, at least one for each worker; 0: as many as workers */
	/* Visits each block in so many rounds: in another order and, where there are several, on
	 * another CPU.  0: 1.  A block that fails in a way that does not depend on time is not
	 * visited again.
	 */
	unsigned rounds;
	bool is_until_confirmed; /* a block that is confirmed is not visited again */
	unsigned interval_ms;	 /* least time between two visits of a block */
	unsigned seed;		 /* of the orders of rounds */
	/* Measures a block instead of a harness, as tact_measure_at does; NULL: a harness.  Tests
	 * need it.
	 */
	int (*visit)(void *context, int cpu, const struct tact_campaign_block *block,
		     struct tact_measurement *out);
	void *context;
	const char *host; /* name of this host in the store; NULL: its own */
};

enum tact_campaign_state {
	TACT_CAMPAIGN_PENDING,
	TACT_CAMPAIGN_PARTIAL, /* measured, and to be visited again */
	TACT_CAMPAIGN_IN_FLIGHT,
	TACT_CAMPAIGN_MEASURED,
	TACT_CAMPAIGN_SKIPPED,
	TACT_CAMPAIGN_NO_BLOCK
};

/* Why it ended early; if there are several reasons, the largest counts. */
enum tact_campaign_end {
	TACT_CAMPAIGN_NOT_STOPPED,
	TACT_CAMPAIGN_FAILED,	   /* the store, or a thread */
	TACT_CAMPAIGN_BAD_OPTIONS, /* of measuring */
	TACT_CAMPAIGN_UNABLE	   /* this machine cannot measure, or can no longer do so */
};

struct tact_campaign_progress {
	size_t size;
	bool is_running;
	size_t n_done, n_good, n_skipped,
		n_none; /* measured; of these, with a number; already in the store; no block */
	size_t n_status[TACT_N_MEASURE_STATUS]; /* of the measured blocks */
	size_t n_ready;				/* this many of the first blocks are finished */
	size_t n_confirmed; /* of the measured blocks: with a number that two rounds confirm */
	size_t n_visits, n_expected; /* measurements, with those that are probably to come */
	unsigned round;		     /* from 1 */
	enum tact_campaign_end end;
	char why[300]; /* "" if it was not stopped, or if the caller stopped it */
};

struct tact_campaign; /* only for the thread that created it */

/* Creates the workers, each a thread with a harness of its own, waits until all are ready, and
 * opens the store.  The progress shows what went wrong with these.  Signals that the calling thread
 * blocks are blocked in the workers and their children. Returns -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_campaign_create(struct tact_campaign **out, const struct tact_campaign_block *blocks,
			 size_t n, const struct tact_campaign_options *opt);

/* Lets the workers begin. */
void tact_campaign_start(struct tact_campaign *campaign);

/* Waits for up to ms milliseconds while workers run, and reports the progress. */
void tact_campaign_wait(struct tact_campaign *campaign, unsigned ms,
			struct tact_campaign_progress *out);

/* Starts no more blocks. */
void tact_campaign_stop(struct tact_campaign *campaign);

/* Ask about a block that is finished, or about any block when no worker runs: then the result is
 * what its rounds have shown, even if more were wanted.  It is NULL if the block was not measured;
 * it may be dropped to save memory.
 */
enum tact_campaign_state tact_campaign_get_state(const struct tact_campaign *campaign, size_t i);
const struct tact_measurement *tact_campaign_result(const struct tact_campaign *campaign, size_t i);
void tact_campaign_drop(struct tact_campaign *campaign, size_t i);

/* Waits for the blocks in flight and destroys the campaign.  NULL is allowed. */
void tact_campaign_destroy(struct tact_campaign *campaign);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_CAMPAIGN_H */

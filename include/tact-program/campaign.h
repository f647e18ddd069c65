/* SPDX-License-Identifier: MIT
 *
 * Measuring many blocks: several harnesses at a time, into a store, from where the last run ended.
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
	const uint8_t *code; /* borrowed as long as the campaign; NULL: there is no block */
	size_t code_size;
	bool is_loop; /* ends in a branch to its start */
};

struct tact_campaign_options {
	size_t size;
	struct tact_measure_options measure; /* its cpu is that of a single worker */
	const int *cpus;		     /* where workers run; -1: anywhere */
	unsigned n_workers;
	const char *store; /* each result goes there at once, whatever the order; NULL: none */
	bool is_resumed;   /* blocks that the store has are skipped */
	size_t limit;	   /* so many are measured at most; 0: all */
	/* Other than 0 when a signal has come: no block is begun any more, and those that fail now
	 * do not count.  May be NULL.
	 */
	const volatile int *interrupt;
};

enum tact_campaign_state {
	TACT_CAMPAIGN_PENDING,
	TACT_CAMPAIGN_IN_FLIGHT,
	TACT_CAMPAIGN_MEASURED,
	TACT_CAMPAIGN_SKIPPED,
	TACT_CAMPAIGN_NO_BLOCK
};

/* Why it ended early; the larger one counts. */
enum tact_campaign_end {
	TACT_CAMPAIGN_NOT_STOPPED,
	TACT_CAMPAIGN_FAILED,	   /* the store, or a thread */
	TACT_CAMPAIGN_BAD_OPTIONS, /* of measuring */
	TACT_CAMPAIGN_UNABLE	   /* this machine cannot measure, or not any more */
};

struct tact_campaign_progress {
	size_t size;
	bool is_running;
	size_t n_done, n_good, n_skipped,
		n_none; /* measured; with a number; in the store; no blocks */
	size_t n_status[TACT_N_MEASURE_STATUS]; /* of those that were measured */
	size_t n_ready;				/* from the first block on, so many are through */
	enum tact_campaign_end end;
	char why[300]; /* "" if it was not stopped, or by the caller */
};

struct tact_campaign; /* for the thread that made it */

/* Makes the workers, each a thread with a harness of its own, waits until all are ready, and opens
 * the store.  What goes wrong with these shows in the progress.  Signals that the calling thread
 * blocks are blocked in the workers and their children.
 * Returns -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_campaign_create(struct tact_campaign **out, const struct tact_campaign_block *blocks,
			 size_t n, const struct tact_campaign_options *opt);

/* Lets them begin. */
void tact_campaign_start(struct tact_campaign *campaign);

/* Waits for at most ms milliseconds while anything runs, and tells how far it is. */
void tact_campaign_wait(struct tact_campaign *campaign, unsigned ms,
			struct tact_campaign_progress *out);

/* No block is begun any more. */
void tact_campaign_stop(struct tact_campaign *campaign);

/* Of one block that is through, or of any when nothing runs any more.  The result is NULL if it was
 * not measured; it may be dropped to save memory.
 */
enum tact_campaign_state tact_campaign_get_state(const struct tact_campaign *campaign, size_t i);
const struct tact_measurement *tact_campaign_result(const struct tact_campaign *campaign, size_t i);
void tact_campaign_drop(struct tact_campaign *campaign, size_t i);

/* Waits for the blocks in flight.  NULL is allowed. */
void tact_campaign_destroy(struct tact_campaign *campaign);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_CAMPAIGN_H */

/* SPDX-License-Identifier: MIT
 *
 * Reads a trace ahead, in a thread of its own: events, and what happened in each of them (front.h),
 * in batches.  What happened depends on events alone, so the result does not depend on which thread
 * is faster.
 */
#ifndef TRACE_FRONT_RUN_H
#define TRACE_FRONT_RUN_H

#include <tact/trace.h>

#include "base/base.h"
#include "trace/front.h"

/* An execution.  Most are of the same thread as the one before, and repeat nothing: so the rest of
 * the event is the same as well.
 */
struct front_execution {
	struct tact_trace_block *block; /* NULL: it is the next of the other events */
	uint32_t number;		/* of the block */
	uint32_t n_accesses : 30;
	uint32_t is_rare : 1; /* the next of the other events has the rest */
	uint32_t is_bare : 1; /* its accesses are not kept: it was passed by */
};

/* What a front says about a batch. */
struct front_answers {
	struct front_outcome *outcomes; /* owned; by event */
	struct front_counts *counts;	/* owned; likewise */
	struct front_trips trips;
	struct front_pace pace; /* its cycles are filled in by who reads the batch */
};

struct front_batch {
	size_t n;
	struct front_execution events[FRONT_EVENTS];
	struct tact_trace_access *accesses; /* owned */
	size_t n_accesses, access_capacity;
	struct tact_trace_event *others; /* owned */
	size_t n_others, others_capacity;
	struct front_answers *answers; /* owned; by front */
	int status; /* after these events: 1, 0 at the end of the trace, or < 0 */
	struct tact_diag diag;
};

/* Where the reader of the batches is. */
struct front_cursor {
	struct tact_trace_event event;		  /* the last one */
	const struct front_batch *batch;	  /* NULL: none yet */
	size_t at;				  /* events of it so far */
	const struct tact_trace_access *accesses; /* of the next one */
	const struct tact_trace_event *other;	  /* the next one */
};

struct front_run;

/* Starts to read a trace for `n` fronts, which are borrowed.  Nobody else may read the trace or use
 * the fronts until front_run_end.  Returns 0, -TACT_E_NOMEM, or -TACT_E_NOT_MODELLED if the trace has
 * to be read by the thread that opened it, or no thread can be started: nothing has been read then.
 */
int front_run_start(struct front_run **out, struct tact_trace *trace, struct front *const *fronts,
		    size_t n);

/* Goes to the next batch; all zeros at first.  Returns 1, 0 at the end of the trace, or < 0 with a
 * message.
 */
int front_run_turn(struct front_run *run, struct front_cursor *cursor, struct tact_diag *diag);

/* Goes to the next event of the batch.  Returns whether there is one. */
static inline bool front_cursor_step(struct front_cursor *c)
{
	const struct front_execution *x;

	if (c->at == c->batch->n)
		return false;
	x = &c->batch->events[c->at++];
	if (!x->block || x->is_rare)
		c->event = *c->other++;
	if (!x->block)
		return true;
	c->event.block = x->block;
	c->event.accesses = c->accesses;
	c->event.n_accesses = x->n_accesses;
	if (!x->is_bare && x->n_accesses) /* there may be no array */
		c->accesses += x->n_accesses;
	return true;
}

/* Returns what happened in the last event, if it is an execution, by the front of that number. */
static inline const struct front_outcome *
front_cursor_outcome(const struct front_cursor *c, size_t front, const struct front_trip **trips)
{
	const struct front_answers *answers = &c->batch->answers[front];
	const struct front_outcome *outcome = &answers->outcomes[c->at - 1];

	*trips = answers->trips.list ? answers->trips.list + outcome->first_trip : NULL;
	return outcome;
}

enum { FRONT_LATER = 6 }; /* events: about as long as memory takes */

/* Returns the number of the block of an execution that comes soon, UINT32_MAX if that is not known: its
 * data can be fetched in time.
 */
static inline uint32_t front_cursor_later(const struct front_cursor *c)
{
	return c->at + FRONT_LATER < c->batch->n ? c->batch->events[c->at + FRONT_LATER].number
						 : UINT32_MAX;
}

/* Returns its key, as the front of that number sees it; any other one if that is not known. */
static inline uint64_t front_cursor_later_key(const struct front_cursor *c, size_t front)
{
	const size_t later = c->at + FRONT_LATER;

	return c->batch->answers[front].outcomes[later < c->batch->n ? later : 0].key;
}

/* Fetches what says which executions come soon: the other thread has written it.  Their blocks follow.
 */
static inline void front_cursor_expect(const struct front_cursor *c, size_t front)
{
	const struct front_batch *b = c->batch;

	tact_fetch(&b->answers[front].outcomes[(c->at + 3 * FRONT_LATER) % FRONT_EVENTS]);
	tact_fetch(&b->events[(c->at + 3 * FRONT_LATER) % FRONT_EVENTS]);
	tact_fetch(b->events[(c->at + FRONT_LATER) % FRONT_EVENTS].block);
}

/* Ends the thread.  If the trace was not read to its end, the traced program is ended first. */
void front_run_end(struct front_run *run);

#endif /* TRACE_FRONT_RUN_H */

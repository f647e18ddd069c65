/* SPDX-License-Identifier: MIT
 *
 * See front_run.h.
 */
#include "trace/front_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/relay.h"
#include "trace/events.h"
#include "trace/trace.h"

enum { MANY_ACCESSES = 1 << 16 }; /* a batch with so many is full */

#define NO_THREAD UINT32_MAX

/* What belongs to the thread that reads the trace comes first, what belongs to the other one last:
 * each is written all the time.
 */
struct front_run {
	struct tact_trace *trace;
	struct trace_events *events; /* of it */
	struct front *const *fronts;
	size_t n_fronts;
	struct tact_trace_event read; /* the last one */
	struct front_cursor taken;    /* likewise: events are read before they are taken */
	uint32_t plain_thread; /* of the last one that was read, if it is an execution that repeats
				  nothing; else NO_THREAD */
	struct front_batch batches[FRONT_BATCHES];
	struct relay relay;
	pthread_t thread;
	bool is_started, is_read;	 /* to its end */
	const struct front_batch *given; /* to the thread that asks; NULL: none yet */
};

/* ---- the thread that reads ---- */

static int keep_other(struct front_batch *b, const struct tact_trace_event *event)
{
	if (tact_grow(&b->others, &b->others_capacity, b->n_others + 1, sizeof(*b->others)) < 0)
		return -TACT_E_NOMEM;
	b->others[b->n_others] = *event;
	b->others[b->n_others++].text = ""; /* valid until the next one is read */
	return 0;
}

static int keep_accesses(struct front_batch *b, const struct tact_trace_event *event)
{
	struct tact_trace_access *to;

	if (b->n_accesses + event->n_accesses > b->access_capacity &&
	    tact_grow(&b->accesses, &b->access_capacity, b->n_accesses + event->n_accesses,
		      sizeof(*b->accesses)) < 0)
		return -TACT_E_NOMEM;
	to = b->accesses + b->n_accesses;
	for (size_t i = 0; i < event->n_accesses; i++) /* mostly one or two */
		to[i] = event->accesses[i];
	b->n_accesses += event->n_accesses;
	return 0;
}

static int keep_event(struct front_run *run, struct front_batch *b)
{
	const struct tact_trace_event *event = &run->read;
	struct front_execution *x = &b->events[b->n];

	if (event->kind != TACT_TRACE_EXEC) {
		*x = (struct front_execution){.block = NULL};
		run->plain_thread = NO_THREAD;
		return keep_other(b, event);
	}
	if (event->n_accesses && keep_accesses(b, event) < 0)
		return -TACT_E_NOMEM;
	x->block = event->block;
	x->number = event->block->number;
	x->n_accesses = (uint32_t)event->n_accesses & INT32_MAX / 2;
	x->is_bare = false;
	x->is_rare =
		(event->repeats != 0) | event->is_descending | (event->thread != run->plain_thread);
	if (!x->is_rare)
		return 0;
	run->plain_thread = event->repeats || event->is_descending ? NO_THREAD : event->thread;
	return keep_other(b, event);
}

/* Reads events, at most so many.  Returns 1, 0 at the end of the trace, or < 0 after a failure. */
static int read_events(struct front_run *run, struct front_batch *b, size_t most)
{
	for (; most && b->n < FRONT_EVENTS && b->n_accesses < MANY_ACCESSES; most--) {
		int status = trace_events_next(run->events, &run->read, &b->diag);

		if (!status) /* it was the last one of a piece */
			status = trace_next(run->trace, &run->read, &b->diag);
		if (status <= 0)
			return status;
		if (keep_event(run, b) < 0)
			return tact_fail(&b->diag, TACT_E_NOMEM, "out of memory");
		b->n++;
	}
	return 1;
}

/* Takes the events that were read.  They are known before they are taken, so what is known of their
 * blocks can be fetched in time.
 */
static int take_events(struct front_run *run, struct front_batch *b)
{
	struct front_cursor *at = &run->taken;

	while (front_cursor_step(at))
		for (size_t i = 0; i < run->n_fronts; i++) {
			struct front_answers *answers = &b->answers[i];

			front_expect(run->fronts[i], front_cursor_later(at));
			if (front_take(run->fronts[i], &at->event, &answers->outcomes[at->at - 1],
				       &answers->trips) < 0) {
				b->n = at->at - 1; /* nothing is known about the rest */
				return -TACT_E_NOMEM;
			}
		}
	return 0;
}

/* Takes executions that are passed by straight from the words.  Returns 0 or -TACT_E_NOMEM. */
static int pass_some(struct front_run *run, struct front_batch *b)
{
	const struct trace_stream *s = run->events->stream;
	struct trace_glance g;

	/* The rest of the event has to be as it was. */
	if (!s || s->number != run->plain_thread)
		return 0;
	while (b->n < FRONT_EVENTS && trace_glance(run->events, &g)) {
		struct tact_trace_block *block = &g.entry->block;
		const int passed = front_pass(run->fronts[0], s->number, s->pid, block, g.words,
					      g.n, &b->answers[0].outcomes[b->n]);

		if (passed <= 0)
			return passed;
		b->events[b->n++] =
			(struct front_execution){.block = block,
						 .number = block->number,
						 .n_accesses = (uint32_t)g.n & INT32_MAX / 2,
						 .is_bare = true};
		trace_glance_take(run->events, &g);
	}
	return 0;
}

/* Takes the next events.  As long as executions are passed by, one that is not as usual is read on its
 * own.  Returns as read_events.
 */
static int take_some(struct front_run *run, struct front_batch *b)
{
	const bool is_passing = run->n_fronts == 1 && front_passes(run->fronts[0]);
	size_t n_accesses, n_others;
	int status;

	if (is_passing && pass_some(run, b) < 0)
		return tact_fail(&b->diag, TACT_E_NOMEM, "out of memory");
	run->taken.batch = b;
	run->taken.at = b->n;
	n_accesses = b->n_accesses;
	n_others = b->n_others;
	status = read_events(run, b, is_passing ? 1 : FRONT_EVENTS);
	/* Both may have moved. */
	run->taken.accesses = b->accesses ? b->accesses + n_accesses : NULL;
	run->taken.other = b->others ? b->others + n_others : NULL;
	if (take_events(run, b) < 0)
		return tact_fail(&b->diag, TACT_E_NOMEM, "out of memory");
	return status;
}

/* Fills a batch.  Returns as read_events. */
static int fill(struct front_run *run, struct front_batch *b)
{
	int status = 1;

	b->n = b->n_accesses = b->n_others = 0;
	for (size_t i = 0; i < run->n_fronts; i++) {
		b->answers[i].trips.n = 0;
		front_begin_batch(run->fronts[i], &b->answers[i].pace);
	}
	while (status > 0 && b->n < FRONT_EVENTS && b->n_accesses < MANY_ACCESSES)
		status = take_some(run, b);
	for (size_t i = 0; i < run->n_fronts; i++)
		b->answers[i].pace = (struct front_pace){.guessed = front_guess(run->fronts[i])};
	return status;
}

static void *read_ahead(void *argument)
{
	struct front_run *run = argument;
	int status = 1;
	long place;

	while (status > 0 && (place = relay_begin_fill(&run->relay)) != RELAY_CLOSED) {
		status = run->batches[place].status = fill(run, &run->batches[place]);
		relay_end_fill(&run->relay);
	}
	relay_close(&run->relay);
	return NULL;
}

/* ---- the thread that asks ---- */

static void destroy(struct front_run *run)
{
	for (size_t i = 0; i < FRONT_BATCHES; i++) {
		struct front_batch *b = &run->batches[i];

		for (size_t k = 0; b->answers && k < run->n_fronts; k++) {
			tact_table_destroy(b->answers[k].outcomes, FRONT_EVENTS,
					   sizeof(*b->answers[k].outcomes));
			FREE_ALL(b->answers[k].counts, b->answers[k].trips.list);
		}
		FREE_ALL(b->accesses, b->others, b->answers);
	}
	relay_fini(&run->relay);
	free(run);
}

static int reserve_answers(struct front_answers *answers)
{
	answers->outcomes = tact_table_create(FRONT_EVENTS, sizeof(*answers->outcomes));
	answers->counts = calloc(FRONT_EVENTS, sizeof(*answers->counts));
	if (!answers->outcomes || !answers->counts)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < FRONT_EVENTS; i++)
		answers->outcomes[i].counts = &answers->counts[i];
	return 0;
}

static int reserve(struct front_run *run)
{
	for (size_t i = 0; i < FRONT_BATCHES; i++) {
		struct front_batch *b = &run->batches[i];

		b->answers = calloc(run->n_fronts, sizeof(*b->answers));
		for (size_t k = 0; b->answers && k < run->n_fronts; k++)
			if (reserve_answers(&b->answers[k]) < 0)
				return -TACT_E_NOMEM;
		if (!b->answers)
			return -TACT_E_NOMEM;
	}
	return 0;
}

int front_run_start(struct front_run **out, struct tact_trace *trace, struct front *const *fronts,
		    size_t n)
{
	struct front_run *run;
	sigset_t all, before;

	*out = NULL;
	if (trace_is_tied(trace))
		return -TACT_E_NOT_MODELLED;
	run = calloc(1, sizeof(*run));
	if (!run)
		return -TACT_E_NOMEM;
	run->trace = trace;
	run->events = trace_get_events(trace);
	run->fronts = fronts;
	run->n_fronts = n;
	run->read = (struct tact_trace_event)TACT_TRACE_EVENT_INIT;
	run->plain_thread = NO_THREAD;
	relay_init(&run->relay, FRONT_BATCHES);
	if (reserve(run) < 0) {
		destroy(run);
		return -TACT_E_NOMEM;
	}
	/* The signals of the program are not its to handle. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	run->is_started = !pthread_create(&run->thread, NULL, read_ahead, run);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!run->is_started) {
		destroy(run);
		return -TACT_E_NOT_MODELLED;
	}
	*out = run;
	return 0;
}

int front_run_turn(struct front_run *run, struct front_cursor *cursor, struct tact_diag *diag)
{
	const struct front_batch *b = run->given;

	if (b && b->status <= 0) {
		if (b->status < 0 && diag)
			*diag = b->diag;
		run->is_read = true;
		return b->status;
	}
	if (b)
		relay_end_empty(&run->relay);
	b = run->given = &run->batches[relay_begin_empty(&run->relay)];
	cursor->batch = b;
	cursor->at = 0;
	cursor->accesses = b->accesses;
	cursor->other = b->others;
	return 1;
}

void front_run_end(struct front_run *run)
{
	if (!run)
		return;
	if (!run->is_read)
		tact_trace_stop(run->trace);
	relay_close(&run->relay);
	pthread_join(run->thread, NULL);
	destroy(run);
}

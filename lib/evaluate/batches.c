/* SPDX-License-Identifier: MIT
 *
 * Batches of rows: one is filled while the other one is run by a thread.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <tact/model.h>

#include "evaluate/evaluation.h"
#include "evaluate/tallies.h"

/* ---- room ---- */

void evaluation_batch_fini(struct evaluation *e, struct evaluation_batch *b)
{
	for (size_t m = 0; m < e->view.n_models && b->answers; m++)
		FREE_ALL(b->answers[m].predicted, b->answers[m].outcomes, b->answers[m].held);
	for (size_t a = 0; a < e->view.n_bottlenecks && b->limits; a++)
		FREE_ALL(b->limits[a].kind, b->limits[a].gain);
	FREE_ALL(b->row, b->measured, b->weight, b->label, b->source, b->answers, b->limits,
		 b->entry);
	tact_arena_reset(&b->arena);
	*b = (struct evaluation_batch){.n = 0};
}

int evaluation_start_batch(struct evaluation *e, struct evaluation_batch *b)
{
	const size_t n_models = e->view.n_models, n_limits = e->view.n_bottlenecks;

	if (b->answers)
		return 0;
	b->answers = calloc(n_models + 1, sizeof(*b->answers));
	b->limits = calloc(n_limits + 1, sizeof(*b->limits));
	if (!b->answers || !b->limits)
		return -TACT_E_NOMEM;
	for (size_t m = 0; m < n_models; m++) {
		struct evaluation_answers *a = &b->answers[m];

		a->predicted = calloc(EVALUATION_BATCH, sizeof(double));
		a->outcomes = malloc(EVALUATION_BATCH);
		a->held = calloc(EVALUATION_BATCH, 1); /* TACT_HELD_UNKNOWN */
		if (!a->predicted || !a->outcomes || !a->held)
			return -TACT_E_NOMEM;
	}
	for (size_t a = 0; a < n_limits; a++) {
		b->limits[a].kind = malloc(EVALUATION_BATCH);
		b->limits[a].gain = malloc(EVALUATION_BATCH * sizeof(*b->limits[a].gain));
		if (!b->limits[a].kind || !b->limits[a].gain)
			return -TACT_E_NOMEM;
	}
	return 0;
}

static void empty(struct evaluation_batch *b, size_t first)
{
	b->first = first;
	b->n = b->n_sources = b->n_entries = 0;
	tact_arena_reset(&b->arena);
}

int evaluation_start(struct evaluation *e, struct tact_diag *diag)
{
	const size_t n = e->view.n_models;
	struct sort_order order;

	if (e->is_started)
		return 0;
	e->is_started = true;
	e->cells.n_models = n;
	e->tally = malloc((n + 1) * sizeof(*e->tally));
	e->limits = calloc(e->view.n_bottlenecks + 1, sizeof(*e->limits));
	e->has_stored = calloc(n + 1, sizeof(*e->has_stored));
	if (e->opt.has_pictures) {
		e->powers_below = calloc(EVALUATION_POWERS, sizeof(*e->powers_below));
		e->powers_above = calloc(EVALUATION_POWERS, sizeof(*e->powers_above));
	}
	tally_order(&order, &e->cells);
	for (size_t m = 0; m < n && e->tally; m++)
		sorter_init(&e->tally[m], &order,
			    EVALUATION_MEMORY / 2 / n / sizeof(struct run_record), e->opt.folder);
	if (!e->tally || !e->limits || !e->has_stored ||
	    (e->opt.has_pictures && (!e->powers_below || !e->powers_above)))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return 0;
}

/* ---- what models say ---- */

/* Each text is told once, by the thread of the caller: later batches would say the same. */
void evaluation_say(void *arg, const char *text)
{
	struct evaluation *e = arg;
	char *copy;

	for (size_t i = 0; i < e->n_said; i++)
		if (!strcmp(e->said[i], text))
			return;
	copy = strdup(text);
	if (!copy || tact_grow(&e->said, &e->said_capacity, e->n_said + 1, sizeof(*e->said)) < 0) {
		free(copy);
		return;
	}
	e->said[e->n_said++] = copy;
}

static void tell(struct evaluation *e)
{
	for (; e->n_told < e->n_said; e->n_told++)
		if (e->opt.say)
			e->opt.say(e->opt.context, e->said[e->n_told]);
}

/* ---- running ---- */

static int run_batch(struct evaluation *e, struct evaluation_batch *b, struct tact_diag *diag)
{
	int status = 0;

	if (e->view.n_bottlenecks)
		status = evaluation_find_limits(e, b, diag);
	if (status >= 0)
		status = evaluation_run_models(e, b, diag);
	if (status >= 0)
		status = evaluation_hold(e, b, diag);
	if (status >= 0)
		status = evaluation_tally(e, b, diag);
	return status >= 0 && e->opt.has_pictures ? evaluation_picture(e, b, diag) : status;
}

static void *run(void *arg)
{
	struct evaluation *e = arg;

	e->run_status = run_batch(e, e->run, &e->why);
	return NULL;
}

/* Signals are for the program's own threads. */
static bool start_thread(struct evaluation *e)
{
	sigset_t all, before;
	bool is_good;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_good = !pthread_create(&e->thread, NULL, run, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_good;
}

static void show(struct evaluation *e, const struct evaluation_batch *b)
{
	struct tact_evaluation *view = &e->view;

	view->n_here = b->n;
	view->row = b->row;
	view->measured = b->measured;
	view->weight = b->weight;
	for (size_t m = 0; m < view->n_models; m++) {
		view->model[m].predicted = b->answers[m].predicted;
		view->model[m].outcomes = b->answers[m].outcomes;
		view->model[m].held = b->answers[m].held;
	}
	for (size_t a = 0; a < view->n_bottlenecks; a++)
		view->bottlenecks[a].kind = b->limits[a].kind;
}

void evaluation_wait(struct evaluation *e)
{
	if (!e->is_running)
		return;
	if (e->has_thread)
		pthread_join(e->thread, NULL);
	e->is_running = e->has_thread = false;
	tell(e);
	e->status = e->run_status;
	if (e->status < 0)
		return;
	show(e, e->run);
	if (e->opt.take_rows)
		e->opt.take_rows(e->opt.context);
}

int evaluation_flush(struct evaluation *e)
{
	struct evaluation_batch *b = &e->batch[e->filling];

	evaluation_wait(e);
	if (e->status >= 0)
		e->status = evaluation_start(e, &e->why);
	if (e->status >= 0 && evaluation_start_batch(e, b) < 0)
		e->status = tact_fail(&e->why, TACT_E_NOMEM, "out of memory");
	if (e->status < 0)
		return e->status == -TACT_E_NOMEM ? e->status : 0;
	e->run = b;
	e->is_running = true;
	e->has_thread = start_thread(e);
	if (!e->has_thread)
		run(e);
	e->filling = !e->filling;
	empty(&e->batch[e->filling], b->first + b->n);
	return 1;
}

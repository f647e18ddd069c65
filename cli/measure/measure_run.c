/* SPDX-License-Identifier: MIT
 *
 * Blocks to the harnesses, results to the store and to the output.
 *
 * Each worker is a thread with a harness of its own, which it makes and destroys itself: a child
 * may be bound to the thread that made it.  A result goes to the store as soon as it is there,
 * whatever the order, so that an end of any kind loses no more than the blocks in flight; this
 * thread prints results in the order of the input.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tact/doctor.h>

#include "common/cli.h"
#include "measurer.h"

enum { MAX_WORKERS = 256, POLL_MS = 100 };

enum state { PENDING, IN_FLIGHT, MEASURED, SKIPPED, NO_BLOCK };

struct run {
	const struct measurer *p;
	struct measure_outcome *o;
	struct tact_store *store; /* owned; NULL: none */
	pthread_mutex_t lock;	  /* of everything below, of *o and of the store */
	pthread_cond_t changed;
	uint8_t *state; /* owned; enum state of each block */
	size_t next, n_started;
	unsigned n_workers, n_ready, n_ended;
	bool may_go, is_stopped;
	int status; /* exit code of what stopped it */
	char why[300];
};

struct worker {
	struct run *run;
	int cpu;
	pthread_t thread;
};

/* The only thing that a signal changes. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

/* ---- a worker; the lock is held but while it measures ---- */

static void stop(struct run *run, int status, const char *what, const char *why)
{
	if (!run->is_stopped)
		snprintf(run->why, sizeof(run->why), "%s%s%s", what, *what ? ": " : "", why);
	run->is_stopped = true;
	if (status > run->status)
		run->status = status;
}

static bool is_in_store(struct run *run, const struct measure_block *block)
{
	const struct measurer *p = run->p;
	enum tact_mode mode = (enum tact_mode)p->mode;
	struct tact_diag diag = {0};
	int has;

	if (!p->is_resumed)
		return false;
	if (mode == TACT_MODE_AUTO)
		mode = block->is_loop ? TACT_MODE_LOOP : TACT_MODE_UNROLL;
	has = tact_store_has_measurement(run->store, block->code, block->code_size, mode,
					 (enum tact_init)p->init, &diag);
	if (has < 0)
		stop(run, CLI_FAILED, p->output, diag.text);
	return has > 0;
}

/* The next block that is to be measured. */
static bool take(struct run *run, size_t *i)
{
	struct measure_outcome *o = run->o;

	while (!run->is_stopped && !interrupted && run->next < o->list->n) {
		const struct measure_block *block = &o->list->block[run->next];

		if (run->p->limit && run->n_started == run->p->limit)
			return false;
		*i = run->next++;
		if (block->why[0]) {
			run->state[*i] = NO_BLOCK;
			o->n_bad_lines++;
		} else if (is_in_store(run, block)) {
			run->state[*i] = SKIPPED;
			o->n_skipped++;
		} else if (!run->is_stopped) {
			run->state[*i] = IN_FLIGHT;
			run->n_started++;
			return true;
		}
	}
	return false;
}

static void finish(struct run *run, size_t i, int status, const struct tact_measurement *m)
{
	const struct measure_block *block = &run->o->list->block[i];
	struct measure_outcome *o = run->o;
	struct tact_diag diag = {0};

	if (status < 0) {
		stop(run, CLI_UNABLE, "the harness broke down", tact_strerror(status));
		return;
	}
	/* What ends this program may have hit the child as well, and then it is not the block's
	 * fault.
	 */
	if (interrupted && (m->status == TACT_MEASURE_CRASHED || m->status == TACT_MEASURE_TIMEOUT))
		return;
	if (run->store) {
		status = tact_store_put_measurement(run->store, block->code, block->code_size, m,
						    &diag);
		if (status < 0) {
			stop(run, CLI_FAILED, run->p->output, diag.text);
			return;
		}
	}
	o->results[i] = cli_alloc(sizeof(*m));
	*o->results[i] = *m;
	run->state[i] = MEASURED;
	o->n_done++;
	o->n_good += m->status == TACT_MEASURE_OK;
	if (m->status < TACT_N_MEASURE_STATUS)
		o->n_status[m->status]++;
}

static void work(struct run *run, struct tact_harness *harness)
{
	size_t i;

	while (take(run, &i)) {
		const struct measure_block *block = &run->o->list->block[i];
		struct tact_measurement m = {.size = sizeof(m)};
		int status;

		pthread_mutex_unlock(&run->lock);
		status = tact_measure(harness, block->code, block->code_size, &m);
		pthread_mutex_lock(&run->lock);
		finish(run, i, status, &m);
		pthread_cond_broadcast(&run->changed);
	}
}

static void *worker_main(void *arg)
{
	const struct worker *w = arg;
	struct run *run = w->run;
	struct tact_measure_options options = run->p->options;
	struct tact_harness *harness = NULL;
	struct tact_diag diag = {0};
	int status;

	options.cpu = w->cpu;
	status = tact_harness_create(&harness, &options, &diag);
	pthread_mutex_lock(&run->lock);
	if (status == -TACT_E_INVAL)
		stop(run, CLI_USAGE, "", diag.text);
	else if (status < 0)
		stop(run, CLI_UNABLE, "this machine cannot measure",
		     diag.text[0] ? diag.text : tact_strerror(status));
	run->n_ready++;
	pthread_cond_broadcast(&run->changed);
	while (!run->may_go && !run->is_stopped)
		pthread_cond_wait(&run->changed, &run->lock);
	work(run, harness);
	run->n_ended++;
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->lock);
	tact_harness_destroy(harness);
	return NULL;
}

/* ---- results in order ---- */

static bool is_printed(const struct measurer *p)
{
	return !p->is_compared && (!p->is_store || p->is_format_given);
}

static void print_one(struct run *run, size_t i, struct text *text)
{
	struct measure_outcome *o = run->o;

	if (is_printed(run->p) && (run->state[i] == MEASURED || run->state[i] == NO_BLOCK))
		measure_row(run->p, &o->list->block[i], o->results[i], text);
	if (!o->is_kept) {
		free(o->results[i]);
		o->results[i] = NULL;
	}
}

/* Prints what is done, workers or not; without the lock, as nobody else looks at what is done. */
static size_t print_from(struct run *run, size_t from, size_t to, struct output *out)
{
	struct text text = {0};

	for (; from < to; from++)
		print_one(run, from, &text);
	output_write(out, &text);
	text_free(&text);
	return from;
}

static void wait_a_while(struct run *run)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += POLL_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&run->changed, &run->lock, &until);
}

/* Until all workers have ended. */
static void follow(struct run *run, struct output *out)
{
	struct measure_outcome *o = run->o;
	size_t n = o->list->n, printed = 0;
	struct measure_progress progress;

	progress_init(&progress, run->p, run->p->limit && run->p->limit < n ? run->p->limit : n);
	pthread_mutex_lock(&run->lock);
	run->may_go = true;
	pthread_cond_broadcast(&run->changed);
	while (run->n_ended < run->n_workers) {
		size_t ready = printed, done, measured;

		wait_a_while(run);
		while (ready < n && run->state[ready] > IN_FLIGHT)
			ready++;
		measured = o->n_done;
		done = measured + (run->p->limit ? 0 : o->n_skipped + o->n_bad_lines);
		pthread_mutex_unlock(&run->lock);
		if (printed < ready && is_printed(run->p))
			progress_clear(&progress);
		printed = print_from(run, printed, ready, out);
		progress_show(&progress, done, measured);
		pthread_mutex_lock(&run->lock);
		if (out->failed)
			stop(run, CLI_FAILED, "", "");
	}
	pthread_mutex_unlock(&run->lock);
	progress_clear(&progress);
	print_from(run, printed, n, out); /* with holes, if it ended early */
}

/* ---- the whole ---- */

/* Signals go to this thread, and children inherit that they do not get those of a terminal. */
static unsigned start_workers(struct run *run, struct worker *workers, unsigned wanted)
{
	sigset_t signals, before;
	unsigned n = 0;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	while (n < wanted && !pthread_create(&workers[n].thread, NULL, worker_main, &workers[n]))
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_mutex_lock(&run->lock);
	run->n_workers = n;
	if (n < wanted)
		stop(run, CLI_FAILED, "", "a thread could not be started; try a smaller -j");
	while (run->n_ready < n)
		pthread_cond_wait(&run->changed, &run->lock);
	pthread_mutex_unlock(&run->lock);
	return n;
}

static unsigned choose_cpus(const struct measurer *p, struct worker *workers, struct run *run)
{
	int cpus[MAX_WORKERS];
	unsigned n = tact_host_cores(cpus, MAX_WORKERS), wanted = p->jobs ? p->jobs : n;

	if (n > MAX_WORKERS)
		n = MAX_WORKERS;
	if (wanted > n) {
		if (!p->is_quiet && p->jobs)
			cli_message("there are %u cores: %u workers instead of %u", n, n, wanted);
		wanted = n;
	}
	if (wanted > run->o->list->n)
		wanted = (unsigned)run->o->list->n;
	for (unsigned i = 0; i < wanted; i++) {
		workers[i].run = run;
		workers[i].cpu = cpus[i];
	}
	/* One alone goes where the scheduler finds room, unless it was told where. */
	if (p->jobs == 1 || p->is_cpu_given)
		workers[0].cpu = p->is_cpu_given ? (int)p->cpu : -1;
	return wanted;
}

static void catch_signals(struct sigaction old[3], bool on)
{
	static const int numbers[3] = {SIGINT, SIGTERM, SIGHUP};
	/* The second one ends the program at once. */
	struct sigaction action = {.sa_handler = on_signal,
				   .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};

	sigemptyset(&action.sa_mask);
	for (unsigned i = 0; i < 3; i++) {
		if (!on) {
			sigaction(numbers[i], &old[i], NULL);
			continue;
		}
		sigaction(numbers[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN) /* nohup */
			sigaction(numbers[i], &action, NULL);
	}
}

/* Where results go is opened only when it is sure that there will be some. */
static void open_outputs(struct run *run, struct output *out)
{
	const struct measurer *p = run->p;
	struct tact_diag diag = {0};
	struct text text = {0};

	if (run->is_stopped)
		return;
	if (p->is_store && tact_store_open(&run->store, p->output, TACT_STORE_CREATE, &diag) < 0) {
		stop(run, CLI_FAILED, p->output, diag.text);
		return;
	}
	if (output_open(out, p->is_store ? NULL : p->output)) {
		stop(run, CLI_FAILED, "", "");
		return;
	}
	if (is_printed(p))
		measure_header(p, &text);
	output_write(out, &text);
	text_free(&text);
}

static void summarize(const struct run *run)
{
	const struct measure_outcome *o = run->o;
	struct text text = {0};
	const char *separator = " (";

	text_printf(&text, "tact: %zu block%s measured: %zu with a number, %zu without", o->n_done,
		    o->n_done == 1 ? "" : "s", o->n_good, o->n_done - o->n_good);
	for (unsigned s = TACT_MEASURE_OK + 1; s < TACT_N_MEASURE_STATUS; s++) {
		if (!o->n_status[s])
			continue;
		text_printf(&text, "%s%zu %s", separator, o->n_status[s],
			    tact_measure_status_name((enum tact_measure_status)s));
		separator = ", ";
	}
	if (o->n_done > o->n_good)
		text_add(&text, ")");
	if (o->n_skipped)
		text_printf(&text, "; %zu were there already", o->n_skipped);
	if (o->n_done && o->seconds > 0)
		text_printf(&text, "; %.1f a second", (double)o->n_done / o->seconds);
	text_add(&text, "\n");
	text_to_stderr(&text);
	text_free(&text);
}

static int conclude(const struct run *run)
{
	const struct measurer *p = run->p;
	const struct measure_outcome *o = run->o;

	if (run->why[0])
		cli_message("%s", run->why);
	if (run->status == CLI_UNABLE)
		cli_message("'tact doctor' says what is missing and what helps");
	if (o->signal)
		cli_message("interrupted: %zu of %zu blocks are done%s",
			    o->n_done + o->n_skipped + o->n_bad_lines, o->list->n,
			    p->is_store ? "; --resume goes on from here" : "");
	if (run->may_go && ((!p->is_quiet && (p->is_store || o->signal)) || p->is_verbose))
		summarize(run);
	if (run->status)
		return run->status;
	if (o->signal)
		return 128 + o->signal;
	return o->n_good < o->n_done || o->n_bad_lines ? CLI_FAILED : CLI_GOOD;
}

int measure_run(const struct measurer *p, struct measure_outcome *o, struct output *out)
{
	struct run run = {.p = p,
			  .o = o,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .changed = PTHREAD_COND_INITIALIZER};
	struct worker *workers = cli_alloc(MAX_WORKERS * sizeof(*workers));
	struct sigaction old[3];
	double start = progress_seconds();
	unsigned n;

	run.state = cli_alloc(o->list->n);
	memset(run.state, PENDING, o->list->n);
	n = choose_cpus(p, workers, &run);
	catch_signals(old, true);
	n = start_workers(&run, workers, n);
	pthread_mutex_lock(&run.lock);
	open_outputs(&run, out);
	pthread_cond_broadcast(&run.changed);
	pthread_mutex_unlock(&run.lock);
	if (!run.is_stopped)
		follow(&run, out);
	for (unsigned i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	catch_signals(old, false);
	o->signal = interrupted;
	o->seconds = progress_seconds() - start;
	tact_store_close(run.store);
	free(workers);
	free(run.state);
	return conclude(&run);
}

/* SPDX-License-Identifier: MIT
 *
 * A campaign of `tact measure`: signals, results in the order of the input, and the summary at the
 * end.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact-program/campaign.h>
#include <tact/doctor.h>

#include "common/cli.h"
#include "measurer.h"

enum {
	MAX_WORKERS = 256,
	POLL_MS = 100,
	INTERVAL_MS = 500 /* between two visits of a block */
};

struct run {
	const struct measurer *p;
	struct measure_outcome *o;
	struct tact_campaign *campaign;
	struct tact_campaign_progress progress;
	bool has_begun, is_output_bad;
};

/* The only thing that a signal changes. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

/* ---- results in order ---- */

static bool is_printed(const struct measurer *p)
{
	return !p->is_compared && (!p->is_store || p->is_format_given);
}

static void print_one(struct run *run, size_t i, struct text *text)
{
	enum tact_campaign_state state = tact_campaign_get_state(run->campaign, i);

	if (is_printed(run->p) &&
	    (state == TACT_CAMPAIGN_MEASURED || state == TACT_CAMPAIGN_NO_BLOCK))
		measure_row(run->p, &run->o->list->block[i], tact_campaign_result(run->campaign, i),
			    text);
	if (!run->p->is_compared)
		tact_campaign_drop(run->campaign, i);
}

/* Prints finished results; no worker touches them any more. */
static size_t print_from(struct run *run, size_t from, size_t to, struct output *out)
{
	struct text text = {0};

	for (; from < to; from++)
		print_one(run, from, &text);
	output_write(out, &text);
	text_free(&text);
	return from;
}

/* Blocks, or with rounds measurements: how many there will be is known better and better. */
static void show_progress(const struct run *run, struct progress *bar)
{
	const struct tact_campaign_progress *now = &run->progress;
	char what[60];

	if (run->p->rounds == 1) {
		/* Blocks that the store had already say nothing about the speed. */
		bar->skipped = run->p->limit ? 0 : now->n_skipped + now->n_none;
		progress_show(bar, now->n_done + bar->skipped);
		return;
	}
	snprintf(what, sizeof(what), "measurements in round %u", now->round);
	bar->what = what;
	bar->total = now->n_expected;
	progress_show(bar, now->n_visits);
}

/* Until all workers have ended. */
static void follow(struct run *run, struct output *out)
{
	struct tact_campaign_progress *now = &run->progress;
	size_t n = run->o->list->n, limit = run->p->limit, printed = 0;
	struct progress bar;

	progress_init(&bar, "blocks", limit && limit < n ? limit : n,
		      run->p->is_quiet || (n < 2 && run->p->rounds == 1));
	run->has_begun = true;
	tact_campaign_start(run->campaign);
	for (;;) {
		tact_campaign_wait(run->campaign, POLL_MS, now);
		if (!now->is_running)
			break;
		printed = print_from(run, printed, now->n_ready, out);
		show_progress(run, &bar);
		run->is_output_bad = out->failed;
		if (run->is_output_bad)
			tact_campaign_stop(run->campaign);
	}
	progress_clear(&bar);
	print_from(run, printed, n, out); /* with holes, if it ended early */
}

/* ---- the whole ---- */

/* Returns the number of workers; *n_cpus is what they share. */
static unsigned choose_cpus(const struct measurer *p, int *cpus, unsigned *n_cpus, size_t n_blocks)
{
	unsigned n = tact_host_cores(cpus, MAX_WORKERS), wanted = p->jobs ? p->jobs : n;

	if (n > MAX_WORKERS)
		n = MAX_WORKERS;
	if (wanted > n) {
		if (!p->is_quiet && p->jobs)
			cli_message("using %u workers instead of %u: there are %u cores", n, wanted,
				    n);
		wanted = n;
	}
	if (wanted > n_blocks)
		wanted = (unsigned)n_blocks;
	*n_cpus = n;
	/* A single worker runs where the scheduler puts it, unless --cpu is given, or it is to run
	 * on another core in each round.
	 */
	if (p->is_cpu_given || (p->jobs == 1 && (p->rounds == 1 || n == 1))) {
		cpus[0] = p->is_cpu_given ? (int)p->cpu : -1;
		*n_cpus = 1;
	}
	return wanted;
}

/* Those that end a campaign.  SIGUSR1 is what schedulers send before the time is up, if they are asked
 * to (sbatch --signal).
 */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
enum { N_ENDING = CLI_ARRAY_SIZE(ending) };

static void catch_signals(struct sigaction old[N_ENDING], bool on)
{
	/* The second one ends the program at once. */
	struct sigaction action = {.sa_handler = on_signal,
				   .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};

	sigemptyset(&action.sa_mask);
	for (unsigned i = 0; i < N_ENDING; i++) {
		if (!on) {
			sigaction(ending[i], &old[i], NULL);
			continue;
		}
		sigaction(ending[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN) /* nohup */
			sigaction(ending[i], &action, NULL);
	}
}

/* Signals go to this thread; children inherit the mask, so that signals of a terminal do not reach
 * them.
 */
static void create(struct run *run, const struct tact_campaign_block *blocks)
{
	const struct measurer *p = run->p;
	int cpus[MAX_WORKERS];
	unsigned n_cpus;
	const unsigned n_workers = choose_cpus(p, cpus, &n_cpus, run->o->list->n);
	const struct tact_campaign_options options = {
		.size = sizeof(options),
		.measure = p->options,
		.cpus = cpus,
		.n_cpus = n_cpus,
		.n_workers = n_workers,
		.rounds = p->rounds,
		.is_until_confirmed = p->is_until_confirmed,
		.interval_ms = INTERVAL_MS,
		.seed = p->seed,
		.store = p->is_store ? p->output : NULL,
		.is_resumed = p->is_resumed,
		.limit = p->limit,
		.interrupt = &interrupted,
		.host = p->host,
	};
	sigset_t signals, before;

	sigemptyset(&signals);
	for (unsigned i = 0; i < N_ENDING; i++)
		sigaddset(&signals, ending[i]);
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	if (tact_campaign_create(&run->campaign, blocks, run->o->list->n, &options) < 0)
		cli_out_of_memory();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	tact_campaign_wait(run->campaign, 0, &run->progress);
}

/* Opens the output only once there will be results. */
static bool open_output(struct run *run, struct output *out)
{
	const struct measurer *p = run->p;
	struct text text = {0};

	if (run->progress.end)
		return false;
	run->is_output_bad = output_open(out, p->is_store ? NULL : p->output);
	if (run->is_output_bad)
		return false;
	if (is_printed(p))
		measure_header(p, &text);
	output_write(out, &text);
	text_free(&text);
	return true;
}

static void summarize(const struct run *run)
{
	const struct tact_campaign_progress *now = &run->progress;
	struct text text = {0};
	const char *separator = " (";

	text_printf(&text, "tact: %zu block%s measured: %zu with a number, %zu without",
		    now->n_done, now->n_done == 1 ? "" : "s", now->n_good,
		    now->n_done - now->n_good);
	for (unsigned s = TACT_MEASURE_OK + 1; s < TACT_N_MEASURE_STATUS; s++) {
		if (!now->n_status[s])
			continue;
		text_printf(&text, "%s%zu %s", separator, now->n_status[s],
			    tact_measure_status_name((enum tact_measure_status)s));
		separator = ", ";
	}
	if (now->n_done > now->n_good)
		text_add(&text, ")");
	if (run->p->rounds > 1)
		text_printf(&text, "; %zu confirmed", now->n_confirmed);
	if (now->n_skipped)
		text_printf(&text, "; %zu were in the store already", now->n_skipped);
	if (now->n_done && run->o->seconds > 0)
		text_printf(&text, "; %.1f a second", (double)now->n_done / run->o->seconds);
	text_add(&text, "\n");
	text_to_stderr(&text);
	text_free(&text);
}

static int conclude(const struct run *run, int signal)
{
	static const int codes[] = {[TACT_CAMPAIGN_NOT_STOPPED] = CLI_GOOD,
				    [TACT_CAMPAIGN_FAILED] = CLI_FAILED,
				    [TACT_CAMPAIGN_BAD_OPTIONS] = CLI_USAGE,
				    [TACT_CAMPAIGN_UNABLE] = CLI_UNABLE};
	const struct tact_campaign_progress *now = &run->progress;
	const struct measurer *p = run->p;

	if (now->why[0])
		cli_message("%s", now->why);
	if (now->end == TACT_CAMPAIGN_UNABLE)
		cli_message("'tact doctor' tells what is missing and what helps%s",
			    strstr(now->why, "unshare")
				    ? "; --no-namespaces measures where a container refuses them"
				    : "");
	if (signal && p->rounds == 1)
		cli_message("interrupted: %zu of %zu blocks are done%s",
			    now->n_done + now->n_skipped + now->n_none, run->o->list->n,
			    p->is_store ? "; --resume continues from here" : "");
	else if (signal)
		cli_message("interrupted in round %u: %zu of %zu blocks are measured, %zu are "
			    "confirmed%s",
			    now->round, now->n_done + now->n_skipped + now->n_none, run->o->list->n,
			    now->n_confirmed + now->n_skipped,
			    p->is_store ? "; --resume continues from here" : "");
	if (run->has_begun && ((!p->is_quiet && (p->is_store || signal)) || p->is_verbose))
		summarize(run);
	if (now->end)
		return codes[now->end];
	if (run->is_output_bad)
		return CLI_FAILED;
	if (signal && p->is_store && (signal == SIGTERM || signal == SIGUSR1))
		return CLI_UNFINISHED;
	if (signal)
		return 128 + signal;
	return now->n_good < now->n_done || now->n_none ? CLI_FAILED : CLI_GOOD;
}

int measure_run(const struct measurer *p, struct measure_outcome *o, struct output *out)
{
	struct run run = {.p = p, .o = o};
	struct tact_campaign_block *blocks = cli_alloc(o->list->n * sizeof(*blocks));
	double start = progress_seconds();
	struct sigaction old[N_ENDING];

	for (size_t i = 0; i < o->list->n; i++) {
		const struct measure_block *b = &o->list->block[i];

		blocks[i] = (struct tact_campaign_block){b->why[0] ? NULL : b->code, b->code_size,
							 b->is_loop, b->alignment};
	}
	cli_warn_of_emulator();
	catch_signals(old, true);
	create(&run, blocks);
	if (open_output(&run, out))
		follow(&run, out);
	for (size_t i = 0; i < o->list->n && p->is_compared; i++) {
		const struct tact_measurement *m = tact_campaign_result(run.campaign, i);

		if (m) {
			o->results[i] = cli_alloc(sizeof(*m));
			*o->results[i] = *m;
		}
	}
	tact_campaign_destroy(run.campaign);
	catch_signals(old, false);
	o->n_done = run.progress.n_done;
	o->seconds = progress_seconds() - start;
	free(blocks);
	return conclude(&run, interrupted);
}

/* SPDX-License-Identifier: MIT
 *
 * A run from its first event to its result.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "tracer.h"

enum { LOOK_EVENTS = 1 << 16 }; /* how often the clock is looked at */

struct thread {
	uint32_t thread, pid, process; /* number, from 1: the kernel's are others every time */
};

struct analysis {
	struct trace_run run;
	struct tact_cycles *cycles;
	struct thread *threads; /* owned */
	size_t n_threads, threads_capacity;
	struct trace_progress progress;
	struct tact_diag diag;
};

static void add_thread(struct analysis *a, const struct tact_trace_event *event)
{
	uint32_t process = 0;

	for (size_t i = 0; i < a->n_threads; i++)
		if (a->threads[i].process > process)
			process = a->threads[i].process;
	if (a->n_threads == a->threads_capacity) {
		a->threads_capacity = a->threads_capacity ? 2 * a->threads_capacity : 16;
		a->threads = cli_realloc(a->threads, a->threads_capacity * sizeof(*a->threads));
	}
	a->threads[a->n_threads] = (struct thread){event->thread, event->pid, process + 1};
	for (size_t i = 0; i < a->n_threads; i++)
		if (a->threads[i].pid == event->pid)
			a->threads[a->n_threads].process = a->threads[i].process;
	a->n_threads++;
}

static int create_cycles(struct analysis *a)
{
	const struct trace_setup *s = a->run.setup;
	struct tact_cycles_options opt = {
		.size = sizeof(opt),
		.exact = s->is_exact || a->run.job->watch,
		.caches = s->has_caches,
		.branches = s->has_branches,
		.insns = a->run.job->parts != 0,
	};
	int status;

	memcpy(opt.cache_bytes, s->cache_bytes, sizeof(opt.cache_bytes));
	status = tact_cycles_create(&a->cycles, s->archs.arch[0], &opt, &a->diag);
	if (status < 0) {
		cli_message("%s", a->diag.text);
		return CLI_FAILED;
	}
	if (a->run.job->watch)
		trace_watch_start(a->run.job->watch, a->cycles);
	return CLI_GOOD;
}

/* All events.  Returns a status of the library. */
static int read_events(struct analysis *a)
{
	struct trace_samples *samples = a->run.job->samples;
	struct tact_trace_event event;
	unsigned n = 0;
	int status;

	while ((status = tact_trace_next(a->run.trace, &event, &a->diag)) > 0) {
		if (event.kind == TACT_TRACE_BEGIN)
			add_thread(a, &event);
		status = tact_cycles_event(a->cycles, &event, &a->diag);
		if (status < 0)
			break;
		if (samples && event.kind == TACT_TRACE_EXEC)
			trace_samples_add(samples, a->cycles, &event);
		if (++n % LOOK_EVENTS == 0)
			trace_progress_show(&a->progress, a->cycles);
	}
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	return status;
}

static void add_command(struct text *out, const struct trace_job *job)
{
	for (char **w = job->words; w && *w; w++)
		text_printf(out, "%s%s", w == job->words ? "" : " ", *w);
	if (!job->words)
		text_add(out, job->path ? job->path : job->listen);
	text_add_bytes(out, "", 1);
}

static struct tact_result *make_result(struct analysis *a, bool is_partial)
{
	const struct trace_setup *s = a->run.setup;
	struct text command = {0};
	struct tact_result *result;
	struct tact_result_info info = {
		.size = sizeof(info),
		.arch = tact_arch_name(s->archs.arch[0]),
		.is_exact = s->is_exact || a->run.job->watch,
		.has_caches = s->has_caches,
		.has_branches = s->has_branches,
		.is_partial = is_partial,
	};

	add_command(&command, a->run.job);
	info.command = command.data;
	if (tact_result_create(&result, &info, a->cycles, a->run.trace, a->run.symbols,
			       a->run.job->parts, &a->diag))
		cli_out_of_memory();
	text_free(&command);
	for (size_t i = 0; i < a->n_threads; i++) {
		uint64_t instructions;
		double cycles;

		if (!tact_cycles_get_thread(a->cycles, a->threads[i].thread, &cycles,
					    &instructions) &&
		    instructions &&
		    tact_result_add_thread(result, a->threads[i].process, a->threads[i].thread,
					   cycles, instructions))
			cli_out_of_memory();
	}
	return result;
}

static int finish(struct analysis *a, int status, int number, struct tact_result **result)
{
	struct tact_cycles_totals totals = {.size = sizeof(totals)};
	int code = CLI_GOOD;

	if (a->run.is_program)
		code = program_report(a->run.trace, a->run.name, a->run.setup->is_quiet);
	if (status < 0) {
		cli_message("%s%s%s; what came before it counts",
			    a->run.is_program ? "" : a->run.name, a->run.is_program ? "" : ": ",
			    a->diag.text);
		code = CLI_FAILED;
	}
	if (number) {
		cli_message("interrupted: what was executed up to here counts");
		code = 128 + number;
	}
	status = tact_cycles_finish(a->cycles, &a->diag);
	if (status < 0) {
		cli_message("%s", a->diag.text);
		code = CLI_FAILED;
	}
	tact_cycles_get_totals(a->cycles, &totals);
	if (trace_run_complain(&a->run, totals.instructions) && !code)
		code = CLI_FAILED;
	if (!totals.instructions)
		return code;
	*result = make_result(a, code != CLI_GOOD);
	if (a->run.job->samples)
		trace_samples_name(a->run.job->samples, a->run.symbols, a->run.trace);
	if (a->run.job->watch)
		trace_watch_draw(a->run.job->watch, a->run.symbols, a->run.trace);
	return code;
}

int trace_analyse(struct trace_setup *setup, const struct trace_job *job,
		  struct tact_result **result)
{
	struct analysis a = {0};
	int code, status, number = 0;

	*result = NULL;
	code = trace_run_open(&a.run, setup, job);
	if (!code)
		code = create_cycles(&a);
	if (!code) {
		trace_progress_init(&a.progress, setup->is_quiet);
		if (a.run.is_program)
			program_signals_catch(a.run.trace);
		status = read_events(&a);
		if (a.run.is_program)
			number = program_signals_release();
		trace_progress_clear(&a.progress);
		code = finish(&a, status, number, result);
	}
	tact_cycles_destroy(a.cycles);
	trace_run_fini(&a.run);
	free(a.threads);
	return code;
}

/* ---- recording ---- */

static int on_words(void *arg, uint64_t words)
{
	trace_progress_words(arg, words);
	return 0;
}

static int record(struct trace_run *run, int fd, const char *name)
{
	struct trace_progress progress;
	struct tact_diag diag = {0};
	int status, code, number;

	trace_progress_init(&progress, run->setup->is_quiet);
	program_signals_catch(run->trace);
	status = tact_trace_record(run->trace, fd, on_words, &progress, &diag);
	number = program_signals_release();
	trace_progress_clear(&progress);
	if (status < 0) {
		cli_message("%s: %s", name, diag.text);
		code = CLI_FAILED;
	} else {
		code = program_report(run->trace, run->name, run->setup->is_quiet);
	}
	if (number) {
		cli_message("interrupted: the trace up to here is written");
		code = 128 + number;
	}
	return code;
}

int trace_record_to(struct trace_setup *setup, const struct trace_job *job, const char *path,
		    const char *connect)
{
	struct tact_diag diag = {0};
	struct trace_run run;
	int fd, code;

	/* Before the program runs: there must be somewhere to write to. */
	fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
		  : tact_trace_connect(connect, &diag);
	if (fd < 0) {
		cli_message("%s%s%s", path ? path : "", path ? ": " : "",
			    path ? strerror(errno) : diag.text);
		return path ? CLI_FAILED : trace_exit_code(fd);
	}
	code = trace_run_open(&run, setup, job);
	if (!code)
		code = record(&run, fd, path ? path : connect);
	trace_run_fini(&run);
	if (close(fd) && !code) {
		cli_message("%s: %s", path ? path : connect, strerror(errno));
		code = CLI_FAILED;
	}
	return code;
}

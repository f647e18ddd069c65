/* SPDX-License-Identifier: MIT
 *
 * A run: where its events come from, its analysis, or its record.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/output.h"
#include "tracer.h"

#include <tact-program/tracing.h>

static int exit_code(int status)
{
	if (status == -TACT_E_NO_TOOL)
		return CLI_UNABLE;
	return status == -TACT_E_INVAL ? CLI_USAGE : CLI_FAILED;
}

/* ---- programs ---- */

/* The option that a text comes from. */
static const char *option_of(const struct trace_setup *s, const char *text)
{
	if (text == s->from)
		return "--from";
	if (text == s->until)
		return "--until";
	for (size_t i = 0; i < s->n_regions; i++)
		if (s->regions[i].text == text && s->regions[i].is_excluded)
			return "--exclude";
	return "--region";
}

static int choose(struct trace_run *run, struct tact_trace_options *opt)
{
	const struct trace_setup *s = run->setup;
	struct tact_diag diag = {0};
	const char *wrong;
	int status;

	tact_symbols_set_sysroot(run->symbols, opt->sysroot);
	status = tact_choice_create(&run->choice, run->symbols, run->job->words[0], opt->path,
				    s->regions, s->n_regions, s->from, s->until, &wrong, &diag);

	if (!status) {
		tact_choice_apply(run->choice, opt);
		return CLI_GOOD;
	}
	if (status == -TACT_E_INVAL)
		cli_message("%s %s: %s", option_of(s, wrong), wrong, diag.text);
	else
		cli_message("%s", diag.text);
	return exit_code(status);
}

/* The program inherits descriptor 1 in the state at its start. */
static int launch(struct trace_run *run, const struct tact_trace_options *opt,
		  struct tact_diag *diag)
{
	const int to = run->job->program_output;
	int kept = -1, status;

	if (to >= 0) {
		kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(to, STDOUT_FILENO);
	}
	status = run->job->words ? tact_trace_launch(&run->trace, opt, run->job->words, diag)
				 : tact_trace_attach(&run->trace, opt,
						     (int)run->setup->program.attach, diag);
	if (kept >= 0) {
		dup2(kept, STDOUT_FILENO);
		close(kept);
	}
	return status;
}

static int open_program(struct trace_run *run)
{
	struct tact_trace_options opt = {.size = sizeof(opt), .mode = TACT_TRACE_FULL};
	struct tact_diag diag = {0};
	const char *name = run->job->words ? run->job->words[0] : "the process";
	const char *slash = strrchr(name, '/');
	int code, status;

	run->is_program = true;
	run->name = slash ? slash + 1 : name;
	program_options_apply(&run->setup->program, &opt);
	opt.arch = run->setup->archs.arch[0];
	code = opt.native ? CLI_GOOD : choose(run, &opt);
	if (code)
		return code;
	status = launch(run, &opt, &diag);
	if (status < 0) {
		cli_message("%s", diag.text);
		return status == -TACT_E_NO_TOOL || status == -TACT_E_NOT_MODELLED ? CLI_UNABLE
										   : CLI_FAILED;
	}
	return CLI_GOOD;
}

/* ---- files and connections ---- */

static int open_file(struct trace_run *run)
{
	const char *path = run->name = run->job->path;
	struct tact_diag diag = {0};
	const struct tact_text_run how = {.iterations = run->job->iterations,
					  .isa = tact_arch_isa(run->setup->archs.arch[0]),
					  .callee = run->job->callee};
	struct text err = {0};
	int status = tact_trace_open_any(&run->trace, path, &how, &diag);

	if (status >= 0)
		return CLI_GOOD;
	cli_place(&err, path, diag.line, diag.text[0] ? diag.text : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
	return status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED;
}

static int open_connection(struct trace_run *run)
{
	const char *address = run->name = run->job->listen;
	struct tact_diag diag = {0};
	int listener = tact_trace_listen(address, &diag), fd = -1, status = listener;

	if (listener >= 0) {
		/* Port 0 is any free port: report which one it is. */
		if (!run->setup->is_quiet && tact_trace_port(listener) >= 0)
			cli_message("waiting for a trace on %.*s:%d",
				    (int)(strrchr(address, ':') - address), address,
				    tact_trace_port(listener));
		status = fd = tact_trace_accept(listener, &diag);
		close(listener);
	}
	if (fd >= 0)
		status = tact_trace_open_fd(&run->trace, fd, &diag);
	if (status >= 0)
		return CLI_GOOD;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || !strstr(diag.text, address))
		cli_message("%s: %s", address, diag.text);
	else
		cli_message("%s", diag.text);
	return exit_code(status);
}

/* The program ran elsewhere, or then: --sysroot has its files. */
static int open_recorded(struct trace_run *run)
{
	const char *root = run->setup->program.sysroot;

	if (root && access(root, R_OK | X_OK)) {
		cli_message("%s: %s", root, strerror(errno));
		return CLI_FAILED;
	}
	tact_symbols_set_root(run->symbols, root);
	return run->job->path ? open_file(run) : open_connection(run);
}

static int open_run(struct trace_run *run)
{
	const struct trace_job *job = run->job;
	int code;

	if (tact_symbols_create(&run->symbols))
		cli_out_of_memory();
	if (job->words || run->setup->program.attach)
		code = open_program(run);
	else
		code = open_recorded(run);
	if (!code && tact_trace_get_mode(run->trace) != TACT_TRACE_FULL) {
		cli_message("%s: this trace only counts blocks; cycles cannot be predicted from it",
			    run->name);
		code = CLI_FAILED;
	}
	return code;
}

void trace_run_fini(struct trace_run *run)
{
	for (size_t i = 0; i < run->n; i++) {
		tact_result_destroy(run->results[i]);
		tact_analysis_destroy(run->analyses[i]);
	}
	tact_trace_close(run->trace);
	tact_choice_destroy(run->choice);
	tact_symbols_destroy(run->symbols);
	text_free(&run->command);
}

/* ---- analysis ---- */

/* Reports regions that never ran; returns true if there is one. */
static bool complain(const struct trace_run *run, uint64_t instructions)
{
	const struct trace_setup *s = run->setup;
	bool is_missing = false;

	for (size_t i = 0; run->choice && i < s->n_regions; i++) {
		if (s->regions[i].is_excluded || tact_choice_has_run(run->choice, i, run->trace))
			continue;
		cli_message("--region %s: never executed%s", s->regions[i].text,
			    s->from ? ", or not after --from" : "");
		is_missing = true;
	}
	if (is_missing || instructions)
		return is_missing;
	if (program_is_native(&s->program))
		cli_message("%s did not run long enough for a window; without --native it runs "
			    "under QEMU, which sees everything",
			    run->name);
	else if (run->is_program && s->from)
		cli_message("--from %s was never reached: there is no result", s->from);
	else
		cli_message("%s: nothing was executed: there is no result", run->name);
	return true;
}

static const char *command_of(struct trace_run *run)
{
	const struct trace_job *job = run->job;

	for (char **w = job->words; w && *w; w++)
		text_printf(&run->command, "%s%s", w == job->words ? "" : " ", *w);
	if (run->setup->program.attach)
		text_printf(&run->command, "process %u", run->setup->program.attach);
	else if (!job->words)
		text_add(&run->command, job->path ? job->path : job->listen);
	return text_string(&run->command);
}

static void on_progress(void *arg, const struct tact_cycles *cycles)
{
	trace_progress_show(arg, cycles);
}

static int create_analysis(struct trace_run *run, struct trace_progress *progress)
{
	const struct trace_setup *s = run->setup;
	const struct trace_job *job = run->job;
	struct tact_analysis_options opt = {
		.size = sizeof(opt),
		.exact = s->is_exact || job->has_window,
		.caches = s->has_caches,
		.branches = s->has_branches,
		.partial = s->from != NULL,
		.thorough = s->is_thorough,
		.parts = job->parts,
		.command = command_of(run),
		.on_progress = on_progress,
		.arg = progress,
	};
	struct tact_diag diag = {0};

	memcpy(opt.cache_bytes, s->cache_bytes, sizeof(opt.cache_bytes));
	for (size_t i = 0; i < s->archs.n; i++) {
		struct tact_analysis **made = &run->analyses[run->n++];

		int status;

		opt.arch = s->archs.arch[i];
		status = tact_analysis_create(made, run->trace, run->symbols, &opt, &diag);
		if (status == -TACT_E_NOMEM)
			cli_out_of_memory();
		if (status < 0) {
			cli_message("%s", diag.text);
			return CLI_FAILED;
		}
		if (job->samples && tact_analysis_keep_samples(*made) < 0)
			cli_out_of_memory();
		if (job->views && tact_analysis_keep_views(*made) < 0)
			cli_out_of_memory();
		if (job->has_window &&
		    tact_analysis_keep_window(*made, job->window_thread, job->window_first,
					      job->window_last) < 0)
			cli_out_of_memory();
	}
	return CLI_GOOD;
}

/* status and diag are those of the events, number is that of a signal. */
static int finish(struct trace_run *run, int status, struct tact_diag *diag, int number)
{
	struct tact_cycles_totals totals = TACT_CYCLES_TOTALS_INIT;
	int code = CLI_GOOD;

	if (run->is_program)
		code = program_report(run->trace, run->name, run->setup->is_quiet);
	if (status < 0) {
		cli_message("%s%s%s; the result has what came before it",
			    run->is_program ? "" : run->name, run->is_program ? "" : ": ",
			    diag->text);
		code = CLI_FAILED;
	}
	if (number && run->setup->program.attach) {
		cli_message("the process runs on");
	} else if (number) {
		cli_message("interrupted: the result has what was executed so far");
		code = 128 + number;
	}
	for (size_t i = 0; i < run->n; i++) {
		if (tact_analysis_finish(run->analyses[i], &totals, diag) < 0) {
			cli_message("%s", diag->text);
			code = CLI_FAILED;
		}
	}
	if (complain(run, totals.instructions) && !code)
		code = CLI_FAILED;
	for (size_t i = 0; i < run->n && totals.instructions; i++)
		if (tact_analysis_result(run->analyses[i], code != CLI_GOOD, &run->results[i],
					 diag) < 0)
			cli_out_of_memory();
	return code;
}

int trace_analyse(struct trace_run *run, struct trace_setup *setup, const struct trace_job *job)
{
	struct trace_progress progress;
	struct tact_diag diag = {0};
	int code, status, number = 0;

	*run = (struct trace_run){.setup = setup, .job = job};
	code = open_run(run);
	if (!code)
		code = create_analysis(run, &progress);
	if (code)
		return code;
	trace_progress_init(&progress, setup->is_quiet, run->is_program && job->program_output < 0);
	if (run->is_program)
		program_signals_catch(run->trace);
	status = tact_analysis_run_all(run->analyses, run->n, &diag);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (run->is_program)
		number = program_signals_release();
	trace_progress_clear(&progress);
	return finish(run, status, &diag, number);
}

/* ---- recording ---- */

static int on_words(void *arg, uint64_t words)
{
	trace_progress_words(arg, words);
	return 0;
}

/* *is_whole: everything that there was to record has been written. */
static int record(struct trace_run *run, int fd, const char *name, bool *is_whole)
{
	struct trace_progress progress;
	struct tact_diag diag = {0};
	int status, code, number;

	trace_progress_init(&progress, run->setup->is_quiet, true);
	program_signals_catch(run->trace);
	status = tact_trace_record(run->trace, fd, on_words, &progress, &diag);
	number = program_signals_release();
	trace_progress_clear(&progress);
	*is_whole = status >= 0;
	if (status < 0) {
		cli_message("%s: %s", name, diag.text);
		code = CLI_FAILED;
	} else {
		code = program_report(run->trace, run->name, run->setup->is_quiet);
	}
	if (number) {
		cli_message("interrupted: the trace so far was written");
		code = 128 + number;
	}
	return code;
}

/* The file is opened before the program runs. */
static int record_to_file(struct trace_run *run, const char *path)
{
	struct output out;
	bool is_whole = false;
	int code;

	if (output_open(&out, path))
		return CLI_FAILED;
	code = open_run(run);
	if (!code)
		code = record(run, out.fd, path, &is_whole);
	if (is_whole)
		return output_close(&out) && !code ? CLI_FAILED : code;
	output_abandon(&out);
	return code;
}

static int record_to_socket(struct trace_run *run, const char *address)
{
	struct tact_diag diag = {0};
	const int fd = tact_trace_connect(address, &diag);
	bool is_whole;
	int code;

	if (fd < 0) {
		cli_message("%s", diag.text);
		return exit_code(fd);
	}
	code = open_run(run);
	if (!code)
		code = record(run, fd, address, &is_whole);
	if (close(fd) && !code) {
		cli_message("%s: %s", address, strerror(errno));
		code = CLI_FAILED;
	}
	return code;
}

int trace_record_to(struct trace_setup *setup, const struct trace_job *job, const char *path,
		    const char *connect)
{
	struct trace_run run = {.setup = setup, .job = job};
	const int code = path ? record_to_file(&run, path) : record_to_socket(&run, connect);

	trace_run_fini(&run);
	return code;
}

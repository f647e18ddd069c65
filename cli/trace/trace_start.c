/* SPDX-License-Identifier: MIT
 *
 * Where the events of a run come from: a program, a record, a connection, text.
 */
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cli.h"
#include "tracer.h"

int trace_exit_code(int status)
{
	if (status == -TACT_E_NO_TOOL)
		return CLI_UNABLE;
	return status == -TACT_E_INVAL ? CLI_USAGE : CLI_FAILED;
}

/* ---- programs ---- */

static int complain(const char *option, const char *text, long status, const struct tact_diag *diag)
{
	if (status == -TACT_E_INVAL)
		cli_message("%s %s: %s", option, text, diag->text);
	else
		cli_message("%s", diag->text);
	return trace_exit_code((int)status);
}

static int resolve(struct trace_run *run, const char *option, const char *text,
		   const struct tact_trace_options *opt, struct tact_trace_region *out)
{
	struct tact_diag diag = {0};
	const int status =
		tact_symbols_region(run->symbols, text, run->job->words[0], opt->path, out, &diag);

	return status ? complain(option, text, status, &diag) : CLI_GOOD;
}

/* A function may stand for several, of which the program uses one. */
static int add_regions(struct trace_run *run, const struct trace_region_option *r,
		       const struct tact_trace_options *opt)
{
	struct tact_trace_region found[TRACE_MAX_CHOICES];
	struct tact_diag diag = {0};
	const long n = tact_symbols_regions(run->symbols, r->text, run->job->words[0], opt->path,
					    found, TRACE_MAX_CHOICES, &diag);

	if (n < 0)
		return complain(r->is_excluded ? "--exclude" : "--region", r->text, n, &diag);
	run->regions =
		cli_realloc(run->regions, (run->n_regions + (size_t)n) * sizeof(*run->regions));
	for (long i = 0; i < n; i++) {
		found[i].is_excluded = r->is_excluded;
		run->regions[run->n_regions++] = (struct trace_run_region){found[i], r};
	}
	return CLI_GOOD;
}

static int resolve_regions(struct trace_run *run, struct tact_trace_options *opt)
{
	const struct trace_setup *s = run->setup;
	int code = CLI_GOOD;

	for (size_t i = 0; i < s->n_regions && !code; i++)
		code = add_regions(run, &s->regions[i], opt);
	run->plain = cli_alloc((run->n_regions + 1) * sizeof(*run->plain));
	for (size_t i = 0; i < run->n_regions; i++)
		run->plain[i] = run->regions[i].region;
	opt->regions = run->plain;
	opt->n_regions = run->n_regions;
	if (s->from && !code) {
		code = resolve(run, "--from", s->from, opt, &run->from);
		opt->from = &run->from;
	}
	if (s->until && !code) {
		code = resolve(run, "--until", s->until, opt, &run->until);
		opt->until = &run->until;
	}
	return code;
}

/* The program inherits descriptor 1 as it is while it is started. */
static int launch(struct trace_run *run, const struct tact_trace_options *opt,
		  struct tact_diag *diag)
{
	const int to = run->job->program_output;
	int kept = -1, status;

	if (to >= 0) {
		kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(to, STDOUT_FILENO);
	}
	status = tact_trace_launch(&run->trace, opt, run->job->words, diag);
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
	const char *slash = strrchr(run->job->words[0], '/');
	int code, status;

	run->is_program = true;
	run->name = slash ? slash + 1 : run->job->words[0];
	program_options_apply(&run->setup->program, &opt);
	code = resolve_regions(run, &opt);
	if (code)
		return code;
	status = launch(run, &opt, &diag);
	if (status < 0) {
		cli_message("%s", diag.text);
		return status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED;
	}
	return CLI_GOOD;
}

/* ---- records, text and connections ---- */

/* "{": a result. */
static bool is_result(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char first = 0;
	const bool is = fd >= 0 && read(fd, &first, 1) == 1 && first == '{';

	if (fd >= 0)
		close(fd);
	return is;
}

static bool is_record(const char *path)
{
	static const char magic[8] = "TTRACE\x1a\n";
	char head[8];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof(head));
	size_t length = strlen(path);

	if (fd >= 0)
		close(fd);
	return (n == sizeof(head) && !memcmp(head, magic, sizeof(head))) ||
	       (length > 4 && !strcmp(path + length - 4, ".tct"));
}

static int open_file(struct trace_run *run)
{
	const char *path = run->job->path;
	struct tact_diag diag = {0};
	struct text err = {0};
	int status;

	run->name = path;
	if (strcmp(path, "-") && is_result(path)) {
		cli_message("%s: a result, not a trace: 'tact diff' compares such files", path);
		return CLI_FAILED;
	}
	if (!strcmp(path, "-") || is_record(path))
		status = tact_trace_open(&run->trace, path, &diag);
	else
		status = tact_trace_open_text(&run->trace, path, NULL, run->job->iterations, &diag);
	if (status >= 0)
		return CLI_GOOD;
	cli_place(&err, path, diag.line, diag.text[0] ? diag.text : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
	return status == -TACT_E_NO_TOOL ? CLI_UNABLE : CLI_FAILED;
}

/* A port of 0 is one that is free: it has to be said. */
static void say_port(int fd, const char *address)
{
	struct sockaddr_storage name;
	socklen_t size = sizeof(name);
	char port[16];

	if (!getsockname(fd, (struct sockaddr *)&name, &size) &&
	    !getnameinfo((struct sockaddr *)&name, size, NULL, 0, port, sizeof(port),
			 NI_NUMERICSERV))
		cli_message("waiting for a trace on %.*s:%s",
			    (int)(strrchr(address, ':') - address), address, port);
}

static int open_connection(struct trace_run *run)
{
	const char *address = run->name = run->job->listen;
	struct tact_diag diag = {0};
	int listener = tact_trace_listen(address, &diag), fd = -1, status = listener;

	if (listener >= 0) {
		if (!run->setup->is_quiet)
			say_port(listener, address);
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
	return trace_exit_code(status);
}

int trace_run_open(struct trace_run *run, struct trace_setup *setup, const struct trace_job *job)
{
	int code;

	*run = (struct trace_run){.setup = setup, .job = job};
	if (tact_symbols_create(&run->symbols))
		cli_out_of_memory();
	if (job->words)
		code = open_program(run);
	else
		code = job->path ? open_file(run) : open_connection(run);
	if (!code && tact_trace_get_mode(run->trace) != TACT_TRACE_FULL) {
		cli_message("%s: a trace that only counts blocks says nothing about cycles",
			    run->name);
		code = CLI_FAILED;
	}
	return code;
}

void trace_run_fini(struct trace_run *run)
{
	tact_trace_close(run->trace);
	tact_symbols_destroy(run->symbols);
	free(run->regions);
	free(run->plain);
}

/* Whether any of what the option stands for was executed. */
static bool has_run(const struct trace_run *run, const struct trace_region_option *r)
{
	for (size_t i = 0; i < run->n_regions; i++)
		if (run->regions[i].option == r &&
		    tact_trace_has_region(run->trace, &run->regions[i].region))
			return true;
	return false;
}

bool trace_run_complain(const struct trace_run *run, uint64_t instructions)
{
	const struct trace_setup *s = run->setup;
	bool is_missing = false;

	for (size_t i = 0; run->is_program && i < s->n_regions; i++) {
		if (s->regions[i].is_excluded || has_run(run, &s->regions[i]))
			continue;
		cli_message("--region %s: it was never executed%s", s->regions[i].text,
			    s->from ? ", or not behind --from" : "");
		is_missing = true;
	}
	if (is_missing || instructions)
		return is_missing;
	if (run->is_program && s->from)
		cli_message("--from %s was never reached: there is nothing to show", s->from);
	else
		cli_message("%s: nothing was executed: there is nothing to show", run->name);
	return true;
}

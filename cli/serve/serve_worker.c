/* SPDX-License-Identifier: MIT
 *
 * A worker: a request becomes a command of this program, whose results are its answer, so that both
 * say the same.  It is in a box before it reads the first byte of a stranger.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tact/arch.h>

#include "base/beside.h"
#include "base/box.h"
#include "common/cli.h"
#include "common/commands.h"
#include "common/output.h"
#include "predict/predictor.h"
#include "serve.h"
#include "simulate/simulator.h"

struct station {
	struct serve_limits limits;
	int input, output; /* files in memory */
};

/* ---- words between the processes ---- */

static bool read_whole(void *data, size_t size)
{
	char *p = data;

	while (size) {
		const ssize_t n = read(SERVE_WORKER_FD, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

static bool write_whole(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		const ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		p += n;
		size -= (size_t)n;
	}
	return true;
}

static bool reply(unsigned status, const char *body, size_t size)
{
	const struct serve_head head = {status, (uint32_t)size};

	return write_whole(SERVE_WORKER_FD, &head, sizeof(head)) &&
	       write_whole(SERVE_WORKER_FD, body, size);
}

/* ---- files in memory as standard streams ---- */

static bool empty(int fd)
{
	return !ftruncate(fd, 0) && lseek(fd, 0, SEEK_SET) == 0;
}

static bool set_streams(const struct station *st, const struct serve_job *job)
{
	return empty(st->input) && write_whole(st->input, job->input, job->input_size) &&
	       lseek(st->input, 0, SEEK_SET) == 0 && dup2(st->input, STDIN_FILENO) >= 0 &&
	       empty(st->output) && dup2(st->output, STDOUT_FILENO) >= 0 && empty(STDERR_FILENO);
}

static bool read_back(int fd, struct text *out)
{
	const off_t size = lseek(fd, 0, SEEK_END);
	char *room = size >= 0 ? text_reserve(out, (size_t)size + 1) : NULL;

	if (!room || pread(fd, room, (size_t)size, 0) != size)
		return false;
	out->size += (size_t)size;
	return true;
}

/* ---- answers ---- */

static void put_head(struct text *out, enum serve_endpoint endpoint)
{
	text_printf(out, "{\"schema\":\"tact.serve/1\",\"endpoint\":\"%s\",\"results\":[",
		    serve_routes[endpoint].name);
}

/* Lines of standard error, without the program's name. */
static void put_messages(struct text *out, const char *p)
{
	bool is_first = true;

	text_add(out, "\"messages\":[");
	while (*p) {
		const size_t length = strcspn(p, "\n");
		const char *line = p;
		size_t n = length;

		p += length + (p[length] == '\n');
		if (n >= 6 && !strncmp(line, "tact: ", 6)) {
			line += 6;
			n -= 6;
		}
		if (!n)
			continue;
		text_add(out, is_first ? "" : ",");
		text_json_string(out, line, n);
		is_first = false;
	}
	text_add(out, "]}\n");
}

/* Lines of JSON, one after the other. */
static bool put_lines(struct text *out, enum serve_endpoint endpoint, const struct text *lines)
{
	const char *p = lines->data, *const end = p + lines->size;
	bool is_first = true;

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		stop = stop ? stop : end;
		text_add(out, is_first ? "" : ",\n");
		if (endpoint != SERVE_TIMELINE)
			text_add_bytes(out, p, (size_t)(stop - p));
		else if (!serve_timeline(p, (size_t)(stop - p), out))
			return false;
		is_first = false;
		p = stop + 1;
	}
	return true;
}

/* An exit code without results. */
static unsigned status_of(int code)
{
	switch (code) {
	case CLI_USAGE:
		return 400;
	case CLI_UNABLE:
		return 503;
	default:
		return 422;
	}
}

/* The first message says what is wrong, all of them where. */
static bool answer_failure(unsigned status, const struct text *messages)
{
	struct text text = {0}, list = {0};
	const char *first = messages->data;
	size_t length = strcspn(first, "\n");
	bool is_sent;
	char *why;

	if (length >= 6 && !strncmp(first, "tact: ", 6)) {
		first += 6;
		length -= 6;
	}
	why = strndup(first, length);
	put_messages(&list, messages->data);
	serve_error(&text, status, why && *why ? why : "it failed", cli_string(&list));
	is_sent = reply(status, cli_string(&text), text.size);
	free(why);
	text_free(&list);
	text_free(&text);
	return is_sent;
}

static bool answer_error(unsigned status, const char *why)
{
	struct text text = {0};
	bool is_sent;

	serve_error(&text, status, why, NULL);
	is_sent = reply(status, cli_string(&text), text.size);
	text_free(&text);
	return is_sent;
}

/* ---- requests ---- */

static int run_command(enum serve_endpoint endpoint, struct serve_job *job,
		       struct source_limits *limits)
{
	switch (endpoint) {
	case SERVE_ARCHS:
		return cmd_archs(job->n, job->words);
	case SERVE_INSN:
		return cmd_insn(job->n, job->words);
	case SERVE_SIMULATE:
	case SERVE_TIMELINE:
		return simulate_within(job->n, job->words, limits);
	default:
		return predict_within(job->n, job->words, limits, job->has_graph);
	}
}

static bool run_job(const struct station *st, enum serve_endpoint endpoint, struct serve_job *job)
{
	struct source_limits limits = {.blocks = st->limits.blocks,
				       .instructions = st->limits.instructions};
	struct text lines = {0}, messages = {0}, out = {0};
	int code;
	bool is_sent;

	if (!set_streams(st, job))
		return answer_error(500, "there is no memory for the request");
	code = run_command(endpoint, job, &limits);
	if (!read_back(st->output, &lines) || !read_back(STDERR_FILENO, &messages) ||
	    !text_string(&messages) || !text_string(&lines))
		return false;
	put_head(&out, endpoint);
	if (limits.is_exceeded) {
		is_sent = answer_failure(413, &messages);
	} else if (strstr(messages.data, strerror(EFBIG))) {
		is_sent = answer_error(413, "the answer is larger than --max-answer; ask for less");
	} else if (!lines.size) {
		is_sent = answer_failure(status_of(code), &messages);
	} else if (!put_lines(&out, endpoint, &lines)) {
		is_sent = answer_error(500, "the timeline could not be made");
	} else {
		text_add(&out, "],");
		put_messages(&out, messages.data);
		is_sent = reply(200, cli_string(&out), out.size);
	}
	text_free(&lines);
	text_free(&messages);
	text_free(&out);
	return is_sent;
}

static bool list_regions(const struct station *st, const struct serve_job *job)
{
	struct text out = {0}, why = {0};
	unsigned status = 422;
	bool is_sent;

	put_head(&out, SERVE_CODE);
	if (serve_regions(job, &st->limits, &out, &why, &status)) {
		text_add(&out, "],\"messages\":[]}\n");
		is_sent = reply(200, cli_string(&out), out.size);
	} else {
		is_sent = answer_error(status, cli_string(&why));
	}
	text_free(&out);
	text_free(&why);
	return is_sent;
}

static bool answer(const struct station *st, enum serve_endpoint endpoint, const char *body,
		   size_t size)
{
	struct serve_job job = {.status = 400};
	bool is_sent;

	if (!serve_read(&job, endpoint, body, size, &st->limits))
		is_sent = answer_error(job.status, cli_string(&job.why));
	else if (endpoint == SERVE_CODE)
		is_sent = list_regions(st, &job);
	else
		is_sent = run_job(st, endpoint, &job);
	serve_job_fini(&job);
	return is_sent;
}

/* ---- the worker ---- */

/* A write past the bound on files then fails with EFBIG, and is reported. */
static void ignore_bound(int number)
{
	(void)number;
}

static bool read_limits(const char *text, struct serve_limits *l)
{
	return sscanf(text, "%u,%u,%u,%u,%u,%u", &l->body_kb, &l->blocks, &l->instructions,
		      &l->iterations, &l->archs, &l->answer_mb) == 6;
}

/* Loads what is opened once, before files are closed off: LLVM's module. */
static void warm_up(void)
{
	struct tact_diag diag;

	tact_arch_llvm_check(&diag);
}

/* What stays readable and executable: PATH, and where LLVM's assembler is. */
static void find_programs(char *out, size_t size)
{
	const char *path = getenv("PATH");
	char assembler[PATH_MAX];
	const int status = beside_find("tact_llvm_as", assembler, sizeof(assembler));

	if (status < 0 || !strrchr(assembler, '/'))
		assembler[0] = '\0';
	else
		*strrchr(assembler, '/') = '\0';
	snprintf(out, size, "%s:%s", assembler, path ? path : "");
}

static int close_off(const struct station *st)
{
	char path[2 * PATH_MAX];
	const struct box box = {
#ifndef __SANITIZE_ADDRESS__ /* its shadow memory takes more */
		.memory = 8ull << 30,
#endif
		.file_size = (uint64_t)st->limits.answer_mb << 20,
		.descriptors = 256,
		.needs_files_closed = true,
		.may_write_null = true,
	};
	int error;

	find_programs(path, sizeof(path));
	error = box_enter(&box, path);
	if (!error)
		return CLI_GOOD;
	cli_message("requests cannot be closed off from files and network: %s; that takes Linux "
		    "5.13 or later with Landlock and seccomp",
		    strerror(error));
	return CLI_UNABLE;
}

int serve_worker(const char *limits)
{
	const struct sigaction ignore = {.sa_handler = ignore_bound, .sa_flags = SA_RESTART};
	struct station st = {.input = -1};
	struct serve_head head;
	bool goes_on = true;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* What the service inherited is not for strangers. */
	syscall(SYS_close_range, SERVE_WORKER_FD + 1, ~0u, 0);
	if (!read_limits(limits, &st.limits))
		return CLI_USAGE;
	signal(SIGINT, SIG_IGN); /* of a terminal: the service ends its workers itself */
	sigaction(SIGXFSZ, &ignore, NULL);
	st.input = memfd_create("tact-input", MFD_CLOEXEC);
	st.output = memfd_create("tact-output", MFD_CLOEXEC);
	if (st.input < 0 || st.output < 0)
		return CLI_UNABLE;
	warm_up();
	status = close_off(&st);
	if (status)
		return status;
	goes_on = reply(200, "", 0);
	while (goes_on && read_whole(&head, sizeof(head))) {
		char *body = malloc((size_t)head.size + 1);

		goes_on = body && read_whole(body, head.size) && head.what < SERVE_N_ENDPOINTS &&
			  answer(&st, (enum serve_endpoint)head.what, body, head.size);
		free(body);
	}
	return CLI_GOOD;
}

/* SPDX-License-Identifier: MIT
 *
 * Answers: a request becomes a command of this program, whose results are its answer, so that both
 * say the same.  Nothing here depends on who asks: workers use it, and the page without a server.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/commands.h"
#include "common/output.h"
#include "predict/predictor.h"
#include "serve.h"
#include "simulate/simulator.h"

/* ---- files in memory as standard streams ---- */

static bool empty(int fd)
{
	return !ftruncate(fd, 0) && lseek(fd, 0, SEEK_SET) == 0;
}

bool serve_write(int fd, const void *data, size_t size)
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

bool serve_set_streams(const struct serve_station *st, const struct serve_job *job)
{
	return empty(st->input) && serve_write(st->input, job->input, job->input_size) &&
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

/* ---- parts of answers ---- */

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
static unsigned fail(struct text *out, unsigned status, const struct text *messages)
{
	struct text list = {0};
	const char *first = messages->data;
	size_t length = strcspn(first, "\n");
	char *why;

	if (length >= 6 && !strncmp(first, "tact: ", 6)) {
		first += 6;
		length -= 6;
	}
	why = strndup(first, length);
	put_messages(&list, messages->data);
	serve_error(out, status, why && *why ? why : "it failed", cli_string(&list));
	free(why);
	text_free(&list);
	return status;
}

static unsigned fail_with(struct text *out, unsigned status, const char *why)
{
	text_reset(out);
	serve_error(out, status, why, NULL);
	return status;
}

/* ---- requests ---- */

static unsigned conclude(enum serve_endpoint endpoint, int code, bool is_exceeded,
			 const struct text *lines, const struct text *messages, struct text *out)
{
	if (is_exceeded)
		return fail(out, 413, messages);
	if (strstr(messages->data, strerror(EFBIG)))
		return fail_with(out, 413, "the answer is larger than --max-answer; ask for less");
	if (!lines->size)
		return fail(out, status_of(code), messages);
	put_head(out, endpoint);
	if (!put_lines(out, endpoint, lines))
		return fail_with(out, 500, "the timeline could not be made");
	text_add(out, "],");
	put_messages(out, messages->data);
	return 200;
}

unsigned serve_collect(const struct serve_station *st, enum serve_endpoint endpoint, int code,
		       bool is_exceeded, struct text *out)
{
	struct text lines = {0}, messages = {0};
	unsigned status = 0;

	if (read_back(st->output, &lines) && read_back(STDERR_FILENO, &messages) &&
	    text_string(&messages) && text_string(&lines))
		status = conclude(endpoint, code, is_exceeded, &lines, &messages, out);
	text_free(&lines);
	text_free(&messages);
	return status;
}

static int run_command(enum serve_endpoint endpoint, struct serve_job *job,
		       struct source_limits *limits)
{
	switch (endpoint) {
	case SERVE_ARCHS:
		return cmd_archs(job->n, job->words);
	case SERVE_INSN:
		return cmd_insn(job->n, job->words);
	case SERVE_MODELS:
		return serve_models(job->n, job->words, limits);
	case SERVE_SIMULATE:
	case SERVE_TIMELINE:
		return simulate_within(job->n, job->words, limits);
	default:
		return predict_within(job->n, job->words, limits, job->has_graph);
	}
}

static unsigned run_job(const struct serve_station *st, enum serve_endpoint endpoint,
			struct serve_job *job, struct text *out)
{
	struct source_limits limits = {.blocks = st->limits.blocks,
				       .instructions = st->limits.instructions};
	int code;

	if (!serve_set_streams(st, job))
		return fail_with(out, 500, "there is no memory for the request");
	code = run_command(endpoint, job, &limits);
	return serve_collect(st, endpoint, code, limits.is_exceeded, out);
}

static unsigned list_regions(const struct serve_station *st, const struct serve_job *job,
			     struct text *out)
{
	struct text why = {0};
	unsigned status = 422;

	put_head(out, SERVE_CODE);
	if (serve_regions(job, &st->limits, out, &why, &status)) {
		text_add(out, "],\"messages\":[]}\n");
		status = 200;
	} else {
		fail_with(out, status, cli_string(&why));
	}
	text_free(&why);
	return status;
}

unsigned serve_respond(const struct serve_station *st, enum serve_endpoint endpoint,
		       const char *body, size_t size, struct text *out)
{
	struct serve_job job = {.status = 400};
	unsigned status;

	if (!serve_read(&job, endpoint, body, size, &st->limits))
		status = fail_with(out, job.status, cli_string(&job.why));
	else if (endpoint == SERVE_CODE)
		status = list_regions(st, &job, out);
	else if (endpoint == SERVE_MEASURE)
		status = st->plan(st, &job, out);
	else
		status = run_job(st, endpoint, &job, out);
	serve_job_fini(&job);
	return status;
}

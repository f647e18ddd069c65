/* SPDX-License-Identifier: MIT
 *
 * A worker: reads requests and answers them, one after the other.  It is in a box before it reads
 * the first byte of a stranger; the one that measures gets none (serve_measure.c).
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
#include "common/output.h"
#include "serve.h"

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

static bool reply(unsigned status, const char *body, size_t size)
{
	const struct serve_head head = {status, (uint32_t)size};

	return serve_write(SERVE_WORKER_FD, &head, sizeof(head)) &&
	       serve_write(SERVE_WORKER_FD, body, size);
}

/* ---- the worker ---- */

/* A write past the bound on files then fails with EFBIG, and is reported. */
static void ignore_bound(int number)
{
	(void)number;
}

static bool read_limits(const char *text, struct serve_limits *l, unsigned *is_first)
{
	return sscanf(text, "%u,%u,%u,%u,%u,%u,%u,%u", &l->body_kb, &l->blocks, &l->instructions,
		      &l->iterations, &l->archs, &l->answer_mb, &l->measured, is_first) == 8;
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

/* Sanitizers have shadow memory, which takes more.  gcc has macros, clang has features. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WORKER_MEMORY 0 /* no limit */
#else
#define WORKER_MEMORY (8ull << 30)
#endif

static int close_off(const struct serve_station *st)
{
	char path[2 * PATH_MAX];
	const struct box box = {
		.memory = WORKER_MEMORY,
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

/* Makes it ready for requests.  Returns an exit code, with the message given. */
static int set_up(const struct serve_station *st, bool measures, bool is_first)
{
	if (measures) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		/* Nobody waits while one takes the place of another. */
		return is_first ? serve_measure_try(st) : CLI_GOOD;
	}
	warm_up();
	return close_off(st);
}

/* Returns false if this process is of no use any more. */
static bool answer(const struct serve_station *st, bool measures, const struct serve_head *head,
		   const char *body)
{
	struct text out = {0};
	unsigned status = 0;
	bool is_sent;

	if (measures && head->what == SERVE_MEASURE)
		status = serve_measure(st, body, head->size, &out);
	else if (!measures && head->what < SERVE_N_ENDPOINTS)
		status = serve_respond(st, (enum serve_endpoint)head->what, body, head->size, &out);
	is_sent = status && reply(status, cli_string(&out), out.size);
	text_free(&out);
	return is_sent;
}

int serve_worker(const char *limits, bool measures)
{
	const struct sigaction ignore = {.sa_handler = ignore_bound, .sa_flags = SA_RESTART};
	struct serve_station st = {.plan = serve_measure_plan, .input = -1};
	struct serve_head head;
	bool goes_on = true;
	unsigned is_first;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* What the service inherited is not for strangers. */
	syscall(SYS_close_range, SERVE_WORKER_FD + 1, ~0u, 0);
	if (!read_limits(limits, &st.limits, &is_first))
		return CLI_USAGE;
	signal(SIGINT, SIG_IGN); /* of a terminal: the service ends its workers itself */
	sigaction(SIGXFSZ, &ignore, NULL);
	st.input = memfd_create("tact-input", MFD_CLOEXEC);
	st.output = memfd_create("tact-output", MFD_CLOEXEC);
	if (st.input < 0 || st.output < 0)
		return CLI_UNABLE;
	status = set_up(&st, measures, is_first);
	if (status)
		return status;
	goes_on = reply(200, "", 0);
	while (goes_on && read_whole(&head, sizeof(head))) {
		char *body = malloc((size_t)head.size + 1);

		goes_on = body && read_whole(body, head.size) && answer(&st, measures, &head, body);
		free(body);
	}
	return CLI_GOOD;
}

/* SPDX-License-Identifier: MIT
 *
 * Another program as a filter: text in, text out, with limits of time and size.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tact/status.h>

#include "base/file.h"
#include "base/process.h"
#include "model/exchange.h"

struct pipes {
	int to, from; /* our ends; -1: closed */
	struct process process;
};

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Makes this process's environment, with changes.  The strings are borrowed; NULL: out of memory.
 */
static char **make_environment(const char *const *changes)
{
	size_t n = 0, n_changes = 0, n_all;
	char **all;

	while (environ && environ[n])
		n++;
	while (changes && changes[n_changes])
		n_changes++;
	all = calloc(n + n_changes + 1, sizeof(*all));
	if (!all)
		return NULL;
	for (n_all = 0; n_all < n_changes; n_all++)
		all[n_all] = (char *)(uintptr_t)changes[n_all];
	for (size_t i = 0; i < n; i++) {
		size_t k = 0, length = strcspn(environ[i], "=");

		while (k < n_changes &&
		       (strncmp(changes[k], environ[i], length) || changes[k][length] != '='))
			k++;
		if (k == n_changes)
			all[n_all++] = environ[i];
	}
	return all;
}

/* Runs it in a group of its own, so that the processes that it starts end with it.  Returns 0 or an
 * errno.
 */
static int start_process(const struct exchange *x, struct process *process, int in, int out)
{
	struct process_spec spec = {
		.argv = x->argv,
		.fds = {{in, STDIN_FILENO}, {out, STDOUT_FILENO}, {PROCESS_NULL, STDERR_FILENO}},
		.n_fds = x->is_quiet ? 3 : 2,
		.has_group = true};
	char **all = make_environment(x->environment);
	int error = ENOMEM;

	spec.environment = all;
	if (all)
		error = process_start(process, &spec);
	free(all);
	return error;
}

static int start(const struct exchange *x, struct pipes *p)
{
	int in[2], out[2], error;

	if (pipe2(in, O_CLOEXEC))
		return errno;
	if (pipe2(out, O_CLOEXEC)) {
		error = errno;
		close(in[0]);
		close(in[1]);
		return error;
	}
	error = start_process(x, &p->process, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	p->to = in[1];
	p->from = out[0];
	if (error) {
		close_end(&p->to);
		close_end(&p->from);
		return error;
	}
	fcntl(p->to, F_SETFL, O_NONBLOCK);
	return 0;
}

static void give(const struct exchange *x, struct pipes *p, size_t *given)
{
	ssize_t n = 0;

	if (*given < x->input_size)
		n = file_write_some(p->to, x->input + *given, x->input_size - *given);
	if (n > 0)
		*given += (size_t)n;
	else if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0 || *given == x->input_size)
		close_end(&p->to); /* it has everything, or does not want it */
}

static void take(const struct exchange *x, struct pipes *p)
{
	enum { ROOM = 1 << 16 };
	char *room = text_reserve(x->output, ROOM);
	ssize_t n = room ? read(p->from, room, ROOM) : 0;

	if (n > 0)
		x->output->size += (size_t)n;
	else if (!n || errno != EINTR)
		close_end(&p->from);
}

/* It has ended; processes that it has left behind may hold its output open for ever. */
static bool has_ended(struct exchange *x, struct pipes *p)
{
	if (!process_has_ended(&p->process))
		return false;
	x->status = p->process.status;
	return true;
}

static void talk(struct exchange *x, struct pipes *p)
{
	enum { TICK = 100 }; /* ms */
	size_t given = 0, before = x->output->size;
	unsigned silent = 0;

	while (p->from >= 0) {
		struct pollfd fds[2] = {{p->from, POLLIN, 0}, {p->to, POLLOUT, 0}};
		int n = poll(fds, 2, TICK);

		if (n < 0 && errno != EINTR)
			return;
		if (n <= 0) {
			silent += TICK;
			x->is_timeout = silent >= x->timeout * 1000;
			if (has_ended(x, p) || x->is_timeout)
				return;
			continue;
		}
		if (fds[1].revents)
			give(x, p, &given);
		if (fds[0].revents) {
			take(x, p);
			silent = 0;
		}
		x->is_flood = x->output->size - before > x->max_output;
		if (x->is_flood)
			return;
	}
}

int exchange_run(struct exchange *x)
{
	struct pipes p;
	int error;

	x->is_timeout = x->is_flood = false;
	error = start(x, &p);
	if (error == ENOMEM || error == EAGAIN || error == EMFILE || error == ENFILE)
		return error == ENOMEM ? -TACT_E_NOMEM : -TACT_E_IO;
	if (error) { /* as a shell does */
		x->status = (error == ENOENT ? 127 : 126) << 8;
		return 0;
	}
	talk(x, &p);
	close_end(&p.to);
	close_end(&p.from);
	/* Closing its output ends its work: what it does after that is not waited for long. */
	for (unsigned ms = 0; !x->is_timeout && !x->is_flood && !has_ended(x, &p) && ms < 2000;
	     ms += 2)
		usleep(2000);
	kill(-p.process.pid, SIGKILL);
	kill(p.process.pid, SIGKILL);
	process_await(&p.process);
	x->status = p.process.status;
	process_end(&p.process);
	return x->output->failed ? -TACT_E_NOMEM : 0;
}

void exchange_describe(const struct exchange *x, char *text, size_t size)
{
	if (x->is_timeout)
		snprintf(text, size, "printed nothing for %u seconds", x->timeout);
	else if (x->is_flood)
		snprintf(text, size, "printed far more than it was asked for");
	else if (WIFSIGNALED(x->status))
		snprintf(text, size, "was ended by signal %d (%s)", WTERMSIG(x->status),
			 strsignal(WTERMSIG(x->status)));
	else if (WEXITSTATUS(x->status) == 127)
		snprintf(text, size, "was not found (exit code 127)");
	else
		snprintf(text, size, "ended with exit code %d", WEXITSTATUS(x->status));
}

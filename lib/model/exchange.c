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
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tact/status.h>

#include "model/exchange.h"

struct pipes {
	int to, from; /* our ends; -1: closed */
	pid_t pid;
};

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A group of its own, so that what it starts ends with it; and it ends when we do. */
static _Noreturn void become(const struct exchange *x, int in, int out)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	if (x->is_quiet) {
		int null = open("/dev/null", O_WRONLY);

		if (null >= 0)
			dup2(null, STDERR_FILENO);
	}
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	for (const char *const *e = x->environment; e && *e; e++)
		putenv((char *)(uintptr_t)*e);
	execvp(x->argv[0], (char *const *)(uintptr_t)x->argv);
	syscall(SYS_exit_group, errno == ENOENT ? 127 : 126);
	__builtin_unreachable();
}

static int start(const struct exchange *x, struct pipes *p)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC))
		return -1;
	if (pipe2(out, O_CLOEXEC)) {
		close(in[0]);
		close(in[1]);
		return -1;
	}
	p->pid = fork();
	if (!p->pid)
		become(x, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	p->to = in[1];
	p->from = out[0];
	if (p->pid < 0) {
		close_end(&p->to);
		close_end(&p->from);
		return -1;
	}
	fcntl(p->to, F_SETFL, O_NONBLOCK);
	return 0;
}

/* A program that has ended does not end us: SIGPIPE stays away, whatever the process does with it.
 */
static ssize_t write_quietly(int fd, const char *data, size_t size)
{
	const struct timespec now = {0};
	sigset_t pipe, before, pending;
	ssize_t n;
	int error;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	n = write(fd, data, size);
	error = errno;
	if (n < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return n;
}

static void give(const struct exchange *x, struct pipes *p, size_t *given)
{
	ssize_t n = 0;

	if (*given < x->input_size)
		n = write_quietly(p->to, x->input + *given, x->input_size - *given);
	if (n > 0)
		*given += (size_t)n;
	else if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0 || *given == x->input_size)
		close_end(&p->to); /* it has all, or does not want it */
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

/* It has ended; what it has started and left behind may hold its output open for ever. */
static bool has_ended(struct exchange *x, struct pipes *p)
{
	if (p->pid > 0 && waitpid(p->pid, &x->status, WNOHANG) == p->pid)
		p->pid = 0;
	return !p->pid;
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
	pid_t group;

	x->is_timeout = x->is_flood = false;
	if (start(x, &p))
		return -TACT_E_IO;
	group = p.pid;
	talk(x, &p);
	close_end(&p.to);
	close_end(&p.from);
	/* Closing its output is the end of its work: what it does after that is not waited for
	 * long. */
	for (unsigned ms = 0; !x->is_timeout && !x->is_flood && !has_ended(x, &p) && ms < 2000;
	     ms += 2)
		usleep(2000);
	kill(-group, SIGKILL);
	if (p.pid)
		kill(p.pid, SIGKILL);
	while (p.pid && waitpid(p.pid, &x->status, 0) < 0 && errno == EINTR)
		;
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

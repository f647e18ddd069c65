/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/box.h"

/* Our descriptors have at least this number, so that they do not collide with those of a program. */
enum { FIRST_FD = 16, MOST_FDS = 65536 };

/* The order of clone's arguments differs between machines.  All but the exit signal are zero, and
 * that is the first argument, or on s390 the second.
 */
static pid_t clone_with(int exit_signal)
{
#ifdef __s390__
	return (pid_t)syscall(SYS_clone, 0L, (long)exit_signal, 0L, 0L, 0L);
#else
	return (pid_t)syscall(SYS_clone, (long)exit_signal, 0L, 0L, 0L, 0L);
#endif
}

/* Emulators know children with the usual signal only: there, the host program may notice them. */
pid_t process_fork(void)
{
	const pid_t pid = clone_with(0);

	return pid < 0 && errno == EINVAL ? clone_with(SIGCHLD) : pid;
}

pid_t process_fork_again(void)
{
	return clone_with(SIGCHLD);
}

pid_t process_start_file(int fd, const char *name, const char *emulator)
{
	char *const none[] = {NULL};
	const char *const arguments[] = {name, NULL};
	char path[32];
	char *const emulated[] = {(char *)(uintptr_t)name, path, NULL};
	volatile int error = 0; /* memory is shared until exec */
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	pid = vfork();
	if (pid == 0) {
		if (emulator)
			execve(emulator, emulated, none);
		else
			syscall(SYS_execveat, fd, "", arguments, none, AT_EMPTY_PATH);
		error = errno;
		process_exit(127);
	}
	if (pid > 0 && error) {
		process_wait(pid, NULL, 0);
		errno = error;
		return -1;
	}
	return pid;
}

pid_t process_wait(pid_t child, int *status, int options)
{
	pid_t pid;

	do
		pid = waitpid(child, status, options | __WALL);
	while (pid < 0 && errno == EINTR);
	return pid;
}

void process_exit(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

/* ---- words between the processes ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static bool put_word(int fd, int word)
{
	ssize_t n;

	do /* without SIGPIPE, which would reach the host */
		n = send(fd, &word, sizeof(word), MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(word);
}

static bool get_word(int fd, int *word)
{
	ssize_t n;

	do
		n = read(fd, word, sizeof(*word));
	while (n < 0 && errno == EINTR);
	return n == sizeof(*word);
}

/* A copy of a descriptor above those that a program gets.  Where the limit on descriptors is below
 * that, the kernel calls the number invalid.
 */
static int move_up(int fd)
{
	const int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);

	if (high < 0 && errno == EINVAL)
		errno = EMFILE;
	return high;
}

/* Opens a pair of connected descriptors above those that a program gets. */
static int open_pair(int fds[2])
{
	int low[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low))
		return errno;
	for (int i = 0; i < 2; i++) {
		fds[i] = move_up(low[i]);
		if (fds[i] < 0) {
			int error = errno;

			close(low[0]);
			close(low[1]);
			return error;
		}
	}
	close(low[0]);
	close(low[1]);
	return 0;
}

struct channels {
	int line[2], failed[2], go[2]; /* [0] is ours, [1] the child's; -1: none */
	/* Written by the program, which shares memory with its keeper until execve.  Where vfork is
	 * fork (emulators, ThreadSanitizer), the keeper sees neither, and trusts that it was told.
	 */
	volatile bool has_begun, is_told; /* told its number */
};

static void close_channels(struct channels *c, int side)
{
	close_fd(&c->line[side]);
	close_fd(&c->failed[side]);
	close_fd(&c->go[side]);
}

/* ---- the program, until execve ---- */

/* Removes the host's handlers.  Signals that the host ignores stay ignored, except SIGPIPE,
 * SIGXFSZ and SIGCHLD: programs do not expect that.
 */
static void reset_signals(const sigset_t *mask)
{
	struct sigaction action;

	for (int number = 1; number < NSIG; number++) {
		if (sigaction(number, NULL, &action))
			continue;
		if (action.sa_handler == SIG_DFL ||
		    (action.sa_handler == SIG_IGN && number != SIGPIPE && number != SIGXFSZ &&
		     number != SIGCHLD))
			continue;
		action = (struct sigaction){.sa_handler = SIG_DFL};
		sigaction(number, &action, NULL);
	}
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static bool place_fds(const struct process_spec *spec)
{
	int high[PROCESS_MAX_FDS];

	/* Move all of them away first: one may have the number that another one is to get. */
	for (size_t i = 0; i < spec->n_fds; i++) {
		int from = spec->fds[i].from, null = -1;

		if (from == PROCESS_NULL)
			from = null = open("/dev/null", O_RDWR | O_CLOEXEC);
		high[i] = move_up(from);
		if (null >= 0)
			close(null);
		if (high[i] < 0)
			return false;
	}
	for (size_t i = 0; i < spec->n_fds; i++)
		if (dup2(high[i], spec->fds[i].to) < 0)
			return false;
	return true;
}

static _Noreturn void become(const struct process_spec *spec, struct channels *c,
			     const sigset_t *mask, pid_t keeper)
{
	int word = 0, no_box = 0;

	c->has_begun = true;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		process_exit(127);
	if (spec->has_group)
		setpgid(0, 0);
	c->is_told = put_word(c->line[1], getpid());
	if (!c->is_told)
		process_exit(127);
	close_channels(c, 0);
	if ((c->go[1] < 0 || get_word(c->go[1], &word)) && place_fds(spec)) {
		reset_signals(mask);
		no_box = spec->box ? box_enter(spec->box, spec->box_path) : 0;
		if (!no_box)
			execvpe(spec->argv[0], (char *const *)(uintptr_t)spec->argv,
				spec->environment ? spec->environment : environ);
	}
	if (no_box)
		put_word(c->failed[1], PROCESS_NO_BOX + no_box);
	else
		put_word(c->failed[1], errno ? errno : EIO);
	process_exit(127);
}

/* ---- the keeper ---- */

/* A pipe that the program reads ends only when no other process holds its write end. */
static void close_all_but(int kept)
{
	struct rlimit limit = {.rlim_cur = MOST_FDS};

#ifdef SYS_close_range
	if (!syscall(SYS_close_range, (unsigned)kept + 1, ~0u, 0) &&
	    !syscall(SYS_close_range, 0u, (unsigned)kept - 1, 0))
		return;
#endif
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur > MOST_FDS)
		limit.rlim_cur = MOST_FDS;
	for (int fd = 0; fd < (int)limit.rlim_cur; fd++)
		if (fd != kept)
			close(fd);
}

static _Noreturn void keep(const struct process_spec *spec, struct channels *c,
			   const sigset_t *mask, pid_t parent)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	const pid_t self = getpid();
	siginfo_t info = {0};
	int word, status;
	pid_t program;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "tact-keeper");
	if (getppid() != parent)
		process_exit(1);
	sigaction(SIGCHLD, &standard, NULL); /* if it is ignored, the status is lost */
	close_channels(c, 0); /* or the program does not hear when they are closed over there */
	/* A second copy of a large host would take as long as the first.  The program tells its number
	 * itself: this process goes on after its execve.
	 */
	program = vfork();
	if (!program)
		become(spec, c, mask, self);
	if (program < 0 || (c->has_begun && !c->is_told)) {
		put_word(c->failed[1], program < 0 ? errno : EAGAIN);
		put_word(c->line[1], -1);
		process_exit(1);
	}
	close_all_but(c->line[1]);
	/* Leave it a zombie until we are told to end, so that its number is not reused. */
	while (waitid(P_PID, (id_t)program, &info, WEXITED | WNOWAIT) && errno == EINTR)
		;
	status = info.si_code == CLD_EXITED ? (info.si_status & 0xff) << 8
					    : info.si_status | (info.si_code == CLD_DUMPED) << 7;
	/* Without memory for a message, the end of the line is all that the other side hears. */
	if (put_word(c->line[1], status))
		get_word(c->line[1], &word);
	waitpid(program, NULL, 0);
	process_exit(0);
}

/* ---- this process ---- */

static int open_channels(struct channels *c, bool is_held)
{
	int error;

	*c = (struct channels){{-1, -1}, {-1, -1}, {-1, -1}, false, false};
	error = open_pair(c->line);
	if (!error)
		error = open_pair(c->failed);
	if (!error && is_held)
		error = open_pair(c->go);
	if (error) {
		close_channels(c, 0);
		close_channels(c, 1);
	}
	return error;
}

/* What execve said: 0, or an errno. */
static int exec_error(struct process *p)
{
	int error = 0;

	if (!get_word(p->failed, &error))
		error = 0;
	close_fd(&p->failed);
	return error;
}

int process_start(struct process *p, const struct process_spec *spec)
{
	const pid_t self = getpid();
	struct channels c;
	sigset_t all, mask;
	int error;

	*p = (struct process){.line = -1, .failed = -1, .go = -1, .status = -1};
	error = open_channels(&c, spec->is_held);
	if (error)
		return error;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	p->keeper = process_fork();
	if (!p->keeper)
		keep(spec, &c, &mask, self);
	error = errno;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	close_channels(&c, 1);
	p->line = c.line[0];
	p->failed = c.failed[0];
	p->go = c.go[0];
	if (p->keeper < 0) {
		p->keeper = 0;
	} else {
		error = get_word(p->line, &p->pid) && p->pid > 0 ? 0 : EAGAIN;
		if (error)
			close_fd(&p->go); /* or the program waits to be released */
		if (!spec->is_held || error) {
			int why = exec_error(p);

			error = why ? why : error;
		}
	}
	if (error)
		process_end(p);
	return error;
}

int process_release(struct process *p)
{
	put_word(p->go, 1);
	close_fd(&p->go);
	return exec_error(p);
}

void process_await(struct process *p)
{
	if (p->has_ended)
		return;
	if (!get_word(p->line, &p->status))
		p->status = -1;
	p->has_ended = true;
}

bool process_has_ended(struct process *p)
{
	struct pollfd ready = {.fd = p->line, .events = POLLIN};

	if (!p->has_ended && poll(&ready, 1, 0) > 0)
		process_await(p);
	return p->has_ended;
}

void process_end(struct process *p)
{
	if (p->keeper > 0) {
		/* A program of unknown number ends with its keeper. */
		if (!p->has_ended)
			kill(p->pid > 0 ? p->pid : p->keeper, SIGKILL);
		close_fd(&p->line);
		process_wait(p->keeper, NULL, 0);
		close_fd(&p->failed);
		close_fd(&p->go);
	} else if (p->line) {
		close_fd(&p->line);
		close_fd(&p->failed);
		close_fd(&p->go);
	}
	*p = (struct process){0};
}

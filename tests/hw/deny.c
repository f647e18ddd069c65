/* SPDX-License-Identifier: MIT
 *
 * Runs a program and takes away what it needs: the tests of the sandbox.
 *
 *   deny [OPTION...] [RULE...] -- PROGRAM [ARG...]
 *
 *   RULE            CALL[:I=VALUE][:I&MASK]...[#N[+]]=ERROR
 *                   The system call fails if argument I is VALUE, or has any bit of MASK; #N: only
 *                   the N-th one that matches, with + from there on.  ERROR is a name or a number;
 *                   0: nothing happens, and the caller is told that it worked.
 *   P.I=ERROR       The I-th system call of process P fails; 0 is the program, 1 the first process
 *                   that it starts, and so on.  --log numbers them.
 *   --log FILE      writes each system call of the processes, as "P.I NAME ARGUMENT..."
 *   --no-proc       /proc is empty
 *   --limit NAME=N  sets a limit of resources: nproc, nofile, as, fsize, memlock, stack
 *   --timeout S     ends the program after S seconds (default: 20); the exit status is 124 then
 *
 * The exit status is that of the program; 125 if a process has outlived it, 126 if this machine
 * cannot do what is asked for, 128 + N for signal N.  Calls are judged in this process (seccomp's
 * user notifications), so that they can be counted over all processes.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "deny_names.h"

enum {
	MAX_RULES = 32,
	MAX_CONDITIONS = 4,
	MAX_PROCESSES = 4096,
	N_ARGUMENTS = 6,
	GRACE_MS = 3000, /* for processes to end after the program */
	EXIT_TIMEOUT = 124,
	EXIT_LEFT = 125,
	EXIT_UNABLE = 126
};

struct rule {
	int call;		 /* -1: by position */
	unsigned process, index; /* by position */
	unsigned n_conditions, nth, matched;
	bool from_there_on;
	int error;
	struct {
		unsigned argument;
		bool is_mask;
		uint64_t value;
	} condition[MAX_CONDITIONS];
};

struct deny {
	struct rule rule[MAX_RULES];
	unsigned n_rules;
	bool no_proc, all_calls;
	struct {
		int resource;
		rlim_t value;
	} limit[8];
	unsigned n_limits;
	double timeout;
	FILE *log;
	/* Processes in the order in which they appear, and how many calls each has made. */
	struct {
		pid_t pid;
		unsigned n_calls;
	} process[MAX_PROCESSES];
	unsigned n_processes;
};

static _Noreturn void die(int status, const char *what, const char *detail)
{
	fprintf(stderr, "deny: %s%s%s\n", what, *detail ? ": " : "", detail);
	exit(status);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- rules ---- */

static const char *call_name(int number)
{
	static char text[32];

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return calls[i].name;
	snprintf(text, sizeof(text), "syscall_%d", number);
	return text;
}

static int call_number(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strlen(calls[i].name) == n && !strncmp(calls[i].name, name, n))
			return calls[i].number;
	die(2, "no such system call", name);
}

static int error_number(const char *name)
{
	char *end;
	long number = strtol(name, &end, 0);

	if (*name && !*end)
		return (int)number;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (!strcmp(errors[i].name, name))
			return errors[i].number;
	die(2, "no such error", name);
}

static void read_rule(struct deny *d, const char *text)
{
	const char *equals = strrchr(text, '='), *p = text;
	struct rule *r = &d->rule[d->n_rules++];
	char *end;

	if (!equals || d->n_rules == MAX_RULES)
		die(2, "not a rule", text);
	r->error = error_number(equals + 1);
	if (*text >= '0' && *text <= '9') {
		r->call = -1;
		d->all_calls = true;
		if (sscanf(text, "%u.%u=", &r->process, &r->index) != 2)
			die(2, "not a position", text);
		return;
	}
	p += strcspn(text, ":#=");
	r->call = call_number(text, (size_t)(p - text));
	while (*p == ':' && r->n_conditions < MAX_CONDITIONS) {
		r->condition[r->n_conditions].argument = (unsigned)(p[1] - '0');
		r->condition[r->n_conditions].is_mask = p[2] == '&';
		if (p[1] < '0' || p[1] >= '0' + N_ARGUMENTS || (p[2] != '&' && p[2] != '='))
			die(2, "not a condition", p);
		r->condition[r->n_conditions++].value = strtoull(p + 3, &end, 0);
		p = end;
	}
	if (*p == '#') {
		r->nth = (unsigned)strtoul(p + 1, &end, 10);
		r->from_there_on = *end == '+';
		p = end + r->from_there_on;
	}
	if (p != equals)
		die(2, "not a rule", text);
}

static bool matches(struct rule *r, const struct seccomp_data *data, unsigned process,
		    unsigned index)
{
	if (r->call < 0)
		return r->process == process && r->index == index;
	if (r->call != data->nr)
		return false;
	for (unsigned i = 0; i < r->n_conditions; i++) {
		uint64_t argument = data->args[r->condition[i].argument];

		if (r->condition[i].is_mask ? !(argument & r->condition[i].value)
					    : argument != r->condition[i].value)
			return false;
	}
	r->matched++;
	return !r->nth || r->matched == r->nth || (r->from_there_on && r->matched > r->nth);
}

/* ---- the program ---- */

/* In the new process: takes things away, and becomes the program.  The listener's number goes to
 * our parent, which shares our descriptors until the program begins.
 */
static _Noreturn void become_program(const struct deny *d, char **argv, volatile int *listener)
{
	struct sock_filter filter[MAX_RULES + 8];
	struct sock_fprog program = {0, filter};

	for (unsigned i = 0; i < d->n_limits; i++) {
		struct rlimit r = {d->limit[i].value, d->limit[i].value};

		if (setrlimit((__rlimit_resource_t)d->limit[i].resource, &r) < 0)
			die(EXIT_UNABLE, "setrlimit", strerror(errno));
	}
	if (d->no_proc && (unshare(CLONE_NEWNS | (geteuid() ? CLONE_NEWUSER : 0)) < 0 ||
			   mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
			   mount("none", "/proc", "tmpfs", MS_RDONLY, NULL) < 0))
		die(EXIT_UNABLE, "no way to hide /proc", strerror(errno));
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							     offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < d->n_rules && !d->all_calls; i++) {
		filter[program.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)d->rule[i].call,
			(unsigned char)(d->n_rules - i), 0);
	}
	filter[program.len++] = (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, d->all_calls ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW);
	filter[program.len++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	if (geteuid() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die(EXIT_UNABLE, "prctl", strerror(errno));
	*listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				 SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (*listener < 0)
		_exit(EXIT_UNABLE);
	execv(argv[0], argv);
	die(EXIT_UNABLE, argv[0], strerror(errno));
}

/* ---- judging ---- */

/* The process of a thread. */
static pid_t process_of(pid_t thread)
{
	char path[64], line[256];
	pid_t pid = thread;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (f)
		fclose(f);
	return pid;
}

static unsigned number_of(struct deny *d, pid_t thread)
{
	pid_t pid = process_of(thread);

	for (unsigned i = d->n_processes; i-- > 0;)
		if (d->process[i].pid == pid)
			return i;
	if (d->n_processes == MAX_PROCESSES)
		die(EXIT_UNABLE, "too many processes", "");
	d->process[d->n_processes].pid = pid;
	return d->n_processes++;
}

static void judge(struct deny *d, int listener)
{
	struct seccomp_notif request;
	struct seccomp_notif_resp answer;
	unsigned process, index;
	bool is_denied = false;

	memset(&request, 0, sizeof(request));
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
		return; /* its process has gone */
	process = number_of(d, (pid_t)request.pid);
	index = ++d->process[process].n_calls;
	answer = (struct seccomp_notif_resp){.id = request.id,
					     .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	for (unsigned i = 0; i < d->n_rules; i++)
		if (!is_denied && matches(&d->rule[i], &request.data, process, index)) {
			is_denied = true;
			answer.flags = 0;
			answer.error = -d->rule[i].error;
		}
	if (d->log) {
		fprintf(d->log, "%u.%u %s", process, index, call_name(request.data.nr));
		for (unsigned i = 0; i < N_ARGUMENTS; i++)
			fprintf(d->log, " 0x%llx", (unsigned long long)request.data.args[i]);
		fprintf(d->log, "%s\n", is_denied ? " denied" : "");
	}
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Judges calls until all processes have ended.  Returns the exit status. */
static int supervise(struct deny *d, int listener, pid_t program)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};
	double deadline = now() + d->timeout;
	int wait_status = 0, status = -1;

	for (;;) {
		if (status < 0 && waitpid(program, &wait_status, WNOHANG) == program) {
			status = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status)
							  : WEXITSTATUS(wait_status);
			deadline = now() + GRACE_MS / 1000.0;
		}
		while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
			; /* what the program has left to us */
		if (now() > deadline) {
			if (status >= 0)
				return EXIT_LEFT;
			kill(program, SIGKILL);
			waitpid(program, &wait_status, 0);
			status = EXIT_TIMEOUT;
			deadline = now() + GRACE_MS / 1000.0;
		}
		if (poll(&p, 1, 2) <= 0)
			continue;
		if (p.revents & POLLIN)
			judge(d, listener);
		else if (p.revents & (POLLHUP | POLLERR))
			break; /* nobody is left */
	}
	if (status >= 0)
		return status;
	waitpid(program, &wait_status, 0);
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int run(struct deny *d, char **argv)
{
	volatile int *listener =
		mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t program;
	int status;

	if (listener == MAP_FAILED)
		die(EXIT_UNABLE, "mmap", strerror(errno));
	*listener = -1;
	fflush(NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	program = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (program < 0)
		die(EXIT_UNABLE, "clone", strerror(errno));
	if (!program)
		become_program(d, argv, listener);
	number_of(d, program);
	while (*listener < 0) {
		if (waitpid(program, &status, WNOHANG) == program)
			die(EXIT_UNABLE, "seccomp has no user notifications here", "");
		usleep(100);
	}
	return supervise(d, *listener, program);
}

static void read_limit(struct deny *d, const char *text)
{
	const char *equals = strchr(text, '=');

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (equals && !strncmp(text, limits[i].name, (size_t)(equals - text)) &&
		    d->n_limits < sizeof(d->limit) / sizeof(d->limit[0])) {
			d->limit[d->n_limits].resource = limits[i].number;
			d->limit[d->n_limits++].value = strtoul(equals + 1, NULL, 0);
			return;
		}
	die(2, "not a limit", text);
}

int main(int argc, char **argv)
{
	static struct deny d;
	int i = 1;

	(void)argc;
	d.timeout = 20;
	for (; argv[i] && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--no-proc")) {
			d.no_proc = true;
		} else if (argv[i][0] != '-') {
			read_rule(&d, argv[i]);
		} else if (!argv[i + 1]) {
			die(2, "an option needs a value", argv[i]);
		} else if (!strcmp(argv[i], "--log")) {
			d.log = fopen(argv[++i], "we");
			d.all_calls = true;
			if (!d.log)
				die(EXIT_UNABLE, argv[i], strerror(errno));
		} else if (!strcmp(argv[i], "--limit")) {
			read_limit(&d, argv[++i]);
		} else if (!strcmp(argv[i], "--timeout")) {
			d.timeout = atof(argv[++i]);
		} else {
			die(2, "no such option", argv[i]);
		}
	}
	if (!argv[i] || !argv[i + 1])
		die(2, "no program", "");
	return run(&d, argv + i + 1);
}

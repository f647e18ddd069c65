/* SPDX-License-Identifier: MIT
 *
 * The keeper of a program that runs natively: starts it or attaches to it, follows its threads and
 * processes, passes signals on, and chooses the moments of the windows.  Only calls that are safe
 * after fork in a process with threads: nothing here allocates or uses stdio.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "trace/native_run.h"

enum {
	POLITE_MS = 2000,	/* between SIGTERM and SIGKILL */
	FIRST_SPAN = 1000000,	/* ns of CPU time that the first window stands for */
	PROBE_SPAN = 2000000,	/* ns between moments at which the program is looked at, at least */
	PROBES = 8,		/* moments of a span, at most */
	LONGEST_WAIT = 20000000 /* ns between two looks at what runs */
};

/* CPU time that a window stands for: this part of what has passed, so that short programs have
 * windows, too; but not so much that stepping takes more than this part of the time.
 */
static const double GROWTH = 0.12, SHARE = 0.5;

enum {
	FOLLOWED = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		   PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT
};

/* ---- stops ---- */

static void put_end(struct native_keeper *k, const struct native_thread *t)
{
	const uint64_t tid = (uint64_t)t->tid;

	/* The reader is asked for nothing: a ring that is full loses the end of a thread. */
	if (t->is_announced && k->head - atomic_load(&k->shared->tail) + 8 < NATIVE_RING) {
		native_put(k, NATIVE_THREAD_END, &tid, 1);
		native_publish(k);
	}
}

static void forget(struct native_keeper *k, pid_t tid)
{
	struct native_thread *t = native_thread_find(&k->table, tid);

	if (!t)
		return;
	put_end(k, t);
	native_thread_remove(&k->table, t);
}

/* The thread that called execve now has the number of its process; the others are gone. */
static void take_exec(struct native_keeper *k, pid_t tid)
{
	struct native_thread *t;
	unsigned long former = 0;

	ptrace(PTRACE_GETEVENTMSG, tid, NULL, &former);
	if (former && (pid_t)former != tid)
		forget(k, (pid_t)former);
	t = native_thread_find(&k->table, tid);
	if (!t)
		t = native_thread_add(&k->table, tid);
	if (!t)
		return;
	put_end(k, t);
	t->is_announced = false;
	t->process->maps = 0;
	t->process->is_ready = true;
	if (tid == k->program)
		atomic_store(&k->shared->progress, NATIVE_RUNNING);
}

static void take_new(struct native_keeper *k, pid_t tid)
{
	struct native_thread *t = native_thread_add(&k->table, tid);

	if (t)
		t->process->is_ready = true;
	else
		atomic_fetch_add(&k->shared->lost_threads, 1);
}

int native_take_stop(struct native_keeper *k, pid_t tid, int status)
{
	struct native_thread *t = native_thread_find(&k->table, tid);

	if (!WIFSTOPPED(status)) {
		if (tid == k->program) {
			atomic_store(&k->shared->wait_status, status);
			atomic_store(&k->shared->has_ended, 1);
		}
		forget(k, tid);
		return -1;
	}
	switch (status >> 16) {
	case 0:
		return WSTOPSIG(status);
	case PTRACE_EVENT_STOP:
		if (!t)
			take_new(k, tid);
		if (WSTOPSIG(status) == SIGTRAP)
			return 0;
		ptrace(PTRACE_LISTEN, tid, NULL, NULL); /* stopped by SIGSTOP and the like */
		return -1;
	case PTRACE_EVENT_EXEC:
		take_exec(k, tid);
		return 0;
	case PTRACE_EVENT_EXIT:
		if (t)
			native_process_look(t->process);
		return 0;
	default:
		return 0;
	}
}

void native_take_all(struct native_keeper *k)
{
	int status, number;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		number = native_take_stop(k, pid, status);
		if (number >= 0)
			ptrace(PTRACE_CONT, pid, NULL, number);
	}
}

void native_wait(struct native_keeper *k, uint64_t ns)
{
	const struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	const int number = sigtimedwait(k->signals, NULL, &t);

	if (number == SIGTERM || number == SIGUSR1)
		k->stop = number;
}

/* ---- moments ---- */

static uint64_t random_next(struct native_keeper *k)
{
	k->random = k->random * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
	return k->random >> 11;
}

static void put_time(struct native_keeper *k)
{
	const uint64_t cpu = native_table_cpu(&k->table);
	const double free = cpu > k->stepping ? (double)(cpu - k->stepping) : 0;
	const double part = k->weight > 0 ? k->user_weight / k->weight : 1;
	uint64_t words[2];

	/* The kernel's own division into user and system time is made by ticks, which stepping
	 * disturbs: random moments say where the program spends its time.
	 */
	words[0] = (uint64_t)(part * free);
	words[1] = (uint64_t)free - words[0];
	if (k->head - atomic_load(&k->shared->tail) + 8 < NATIVE_RING) {
		native_put(k, NATIVE_TIME, words, 2);
		native_publish(k);
	}
}

/* The plan of a span of CPU time: some moments at random, one of which is that of the window. */
struct plan {
	uint64_t begin, span; /* ns */
	unsigned n, next, chosen;
	uint64_t moment; /* of the next one */
};

static void plan_moment(struct native_keeper *k, struct plan *p)
{
	const uint64_t part = p->span / p->n;

	p->moment = p->begin + p->next * part + random_next(k) % part;
}

static void plan_span(struct native_keeper *k, struct plan *p, uint64_t begin, uint64_t span)
{
	*p = (struct plan){.begin = begin, .span = span < FIRST_SPAN ? FIRST_SPAN : span};
	p->n = p->span / PROBE_SPAN < 1	       ? 1
	       : p->span / PROBE_SPAN < PROBES ? (unsigned)(p->span / PROBE_SPAN)
					       : PROBES;
	p->chosen = (unsigned)(random_next(k) % p->n);
	plan_moment(k, p);
}

/* Lets the program run, with windows, until it has ended or the keeper is stopped. */
static void watch(struct native_keeper *k)
{
	const uint64_t start = native_now();
	struct plan p;
	double cost = 0; /* of a window, ns */

	plan_span(k, &p, 0, FIRST_SPAN);
	while (!k->stop) {
		struct native_thread *t;
		uint64_t cpu, left, before;

		native_take_all(k);
		if (!k->table.end_threads ||
		    (k->order->time_ns && native_now() - start >= k->order->time_ns))
			return;
		cpu = native_table_cpu(&k->table) - k->stepping;
		if (cpu < p.moment) {
			left = (p.moment - cpu) / 2 + 100000;
			native_wait(k, left < LONGEST_WAIT ? left : LONGEST_WAIT);
			continue;
		}
		before = native_now();
		t = p.next < p.n ? native_table_choose(&k->table, random_next(k)) : NULL;
		if (t && p.next == p.chosen) {
			native_window(k, t, p.span, p.span / p.n);
			put_time(k);
			cost = (double)(native_now() - before);
		} else if (t) {
			native_probe(k, t, p.span / p.n);
		}
		if (++p.next < p.n) {
			plan_moment(k, &p);
		} else if (p.next == p.n) {
			p.moment = p.begin + p.span;
		} else {
			const double grown = GROWTH * (double)cpu, most = cost / SHARE;

			plan_span(k, &p, cpu, (uint64_t)(grown < most ? grown : most));
		}
	}
}

/* ---- beginning and end ---- */

static void leave(void)
{
	process_exit(0);
}

static void fail(struct native_keeper *k, enum native_failure what)
{
	k->shared->error = errno;
	k->shared->failure = (int)what;
	atomic_store(&k->shared->progress, NATIVE_FAILED);
}

/* Waits until it may execute the program. */
static void run_program(struct native_keeper *k, const sigset_t *mask, pid_t keeper, pid_t group,
			int go)
{
	char byte;

	setpgid(0, isatty(STDIN_FILENO) ? group : 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper || read(go, &byte, 1) != 1)
		process_exit(127);
	close(go);
	prctl(PR_SET_PDEATHSIG, 0);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv(k->order->path, k->order->words);
	fail(k, NATIVE_NO_EXEC);
	process_exit(127);
}

static int launch(struct native_keeper *k, const sigset_t *mask, pid_t group)
{
	int line[2], status = 0;

	if (pipe2(line, O_CLOEXEC))
		return fail(k, NATIVE_NO_PROCESS), -1;
	k->program = process_fork_again();
	if (!k->program) {
		close(line[1]);
		run_program(k, mask, getppid(), group, line[0]);
	}
	close(line[0]);
	if (k->program < 0)
		return fail(k, NATIVE_NO_PROCESS), -1;
	if (ptrace(PTRACE_SEIZE, k->program, NULL, FOLLOWED | PTRACE_O_EXITKILL)) {
		fail(k, NATIVE_NO_TRACE);
		kill(k->program, SIGKILL);
		return -1;
	}
	native_thread_add(&k->table, k->program);
	if (write(line[1], "", 1) != 1)
		status = -1;
	close(line[1]);
	return status;
}

/* Seizes all threads of a process: until a look at the list finds none that is new. */
static int attach(struct native_keeper *k)
{
	char path[NATIVE_PATH], list[8192];
	bool is_new = true;

	k->program = k->order->target;
	while (is_new) {
		const int fd = open(native_proc_path(path, k->program, 0, "task"),
				    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		long n;

		is_new = false;
		if (fd < 0) {
			errno = ESRCH;
			return fail(k, NATIVE_NO_TRACE), -1;
		}
		while ((n = syscall(SYS_getdents64, fd, list, sizeof(list))) > 0) {
			for (long at = 0; at < n;) {
				const struct dirent64 *d = (const void *)(list + at);
				pid_t tid = 0;

				at += d->d_reclen;
				for (const char *c = d->d_name; *c >= '0' && *c <= '9'; c++)
					tid = tid * 10 + (*c - '0');
				if (!tid || native_thread_find(&k->table, tid))
					continue;
				if (!ptrace(PTRACE_SEIZE, tid, NULL, FOLLOWED)) {
					take_new(k, tid);
					is_new = true;
				} else if (tid == k->program) {
					fail(k, NATIVE_NO_TRACE);
					close(fd);
					return -1;
				}
			}
		}
		close(fd);
	}
	atomic_store(&k->shared->progress, NATIVE_RUNNING);
	return 0;
}

/* Lets go of all threads, which run on. */
static void detach(struct native_keeper *k)
{
	const uint64_t end = native_now() + POLITE_MS * 1000000ull;
	struct native_table *table = &k->table;
	int status;
	pid_t pid;

	for (unsigned i = 0; i < table->end_threads; i++)
		if (table->threads[i].tid)
			ptrace(PTRACE_INTERRUPT, table->threads[i].tid, NULL, NULL);
	while (table->end_threads && native_now() < end) {
		while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
			if (WIFSTOPPED(status)) {
				ptrace(PTRACE_DETACH, pid, NULL,
				       status >> 16 ? 0 : WSTOPSIG(status));
				forget(k, pid);
			} else {
				native_take_stop(k, pid, status);
			}
		}
		native_wait(k, 1000000);
	}
}

static void signal_all(struct native_keeper *k, int number)
{
	for (unsigned i = 0; i < k->table.end_processes; i++)
		if (k->table.processes[i].pid)
			kill(k->table.processes[i].pid, number);
}

/* Ends the program and everything that it started. */
static void end_program(struct native_keeper *k)
{
	const uint64_t end = native_now() + POLITE_MS * 1000000ull;

	if (k->stop == SIGTERM)
		signal_all(k, SIGTERM);
	while (k->table.end_threads) {
		native_take_all(k);
		if (k->stop != SIGTERM || native_now() > end)
			signal_all(k, SIGKILL);
		native_wait(k, 2000000);
	}
}

void native_keep(struct native_shared *shared, const struct native_order *order,
		 const sigset_t *mask, const sigset_t *signals, pid_t parent)
{
	const pid_t group = getpgrp();
	struct native_keeper *k = mmap(NULL, sizeof(*k), PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	setpgid(0, 0); /* so that it survives to end the others, whoever is killed */
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	prctl(PR_SET_NAME, "tact-keeper");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (getppid() != parent || k == MAP_FAILED)
		leave();
	signal(SIGCHLD, SIG_DFL);
	k->shared = shared;
	k->order = order;
	k->tracing = order->native->tracing;
	k->signals = signals;
	k->random = order->seed;
	if (!(order->words ? launch(k, mask, group) : attach(k))) {
		watch(k);
		put_time(k);
		if (order->words)
			end_program(k);
		else
			detach(k);
	}
	atomic_store(&shared->is_over, 1);
	leave();
	process_exit(0);
}

/* SPDX-License-Identifier: MIT
 *
 * Starts the program under QEMU, with a keeper between it and this process.
 *
 * The keeper is a child of ours that waits for the program and for everything that the program
 * starts: orphans become its children (PR_SET_CHILD_SUBREAPER).  When this process ends, in
 * whatever way, the keeper gets a signal and kills them all; so no process is left over.
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch_llvm.h"
#include "base/process.h"
#include "isa/isa.h"
#include "trace/trace.h"

/* QEMU -cpu CPU -plugin PLUGIN, perhaps -L SYSROOT: passed on to programs started by execve as well.
 */
enum { N_KEPT = 5, N_SYSROOT = 2, POLITE_ROUNDS = 100, ROUND_MS = 20 };

/* Memory of this process and the keeper alone: the program cannot reach it. */
struct trace_shared {
	atomic_int has_ended; /* the program */
	atomic_int is_over;   /* all of them */
	atomic_int wait_status;
	atomic_int exec_errno;
	atomic_int group; /* of the program and what it starts; 0: it has none of its own */
};

/* ---- the keeper: only calls that are safe after fork in a process with threads ---- */

static void leave(int status)
{
	syscall(SYS_exit_group, status);
}

/* Sends a signal to all children: /proc lists them; where it does not, only the program. */
static void signal_children(int number, pid_t program)
{
	char list[4096];
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, list, sizeof(list) - 1);
	pid_t pid = 0;

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++) {
		if (list[i] >= '0' && list[i] <= '9') {
			pid = pid * 10 + (list[i] - '0');
			continue;
		}
		if (pid > 0)
			kill(pid, number);
		pid = 0;
	}
	if (n <= 0 && program > 0)
		kill(program, number);
}

/* Reaps children that have ended.  False when none is left. */
static bool reap(struct trace_shared *shared, pid_t program)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0 || (pid < 0 && errno == EINTR)) {
		if (pid != program)
			continue;
		shared->wait_status = status;
		shared->has_ended = 1;
	}
	return pid == 0;
}

static void watch(struct trace_shared *shared, pid_t program, const sigset_t *signals)
{
	const struct timespec round = {0, ROUND_MS * 1000000L};
	int rounds = -1; /* until they are killed; -1: they may run */

	while (reap(shared, program)) {
		int number = sigtimedwait(signals, NULL, rounds < 0 ? NULL : &round);

		if (number == SIGUSR1) {
			rounds = 0;
		} else if (number == SIGTERM && rounds < 0) {
			rounds = POLITE_ROUNDS;
			signal_children(SIGTERM, program);
		}
		if (rounds > 0 && number < 0)
			rounds--;
		if (!rounds)
			signal_children(SIGKILL, program);
	}
}

/* A program may send a signal to its whole process group, but not to us.  However, a program that
 * may read from the terminal must be in the group that owns the terminal.
 */
static void run_program(struct trace_shared *shared, char *const *words, const sigset_t *mask,
			pid_t keeper, pid_t group)
{
	setpgid(0, isatty(STDIN_FILENO) ? group : 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		leave(127);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv(words[0], words);
	shared->exec_errno = errno;
	leave(127);
}

static void keep(struct trace_shared *shared, char *const *words, const sigset_t *mask,
		 const sigset_t *signals, pid_t parent)
{
	const pid_t self = getpid(), group = getpgrp();
	pid_t program;

	setpgid(0, 0); /* so that it survives to end the others, whoever is killed */
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	prctl(PR_SET_NAME, "tact-keeper");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (getppid() != parent)
		leave(1);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would lose the status */
	program = process_fork_again();
	if (!program)
		run_program(shared, words, mask, self, group);
	if (program > 0 && !isatty(STDIN_FILENO))
		shared->group = program;
	if (program > 0)
		watch(shared, program, signals);
	else
		shared->exec_errno = errno;
	shared->is_over = 1;
	leave(0);
}

/* ---- this process ---- */

struct words {
	char *data; /* owned */
	size_t size, capacity;
};

/* QEMU splits its options at commas; a literal comma is doubled. */
static int add_text(struct words *w, const char *text, bool is_quoted)
{
	for (; *text; text++) {
		if (tact_grow(&w->data, &w->capacity, w->size + 3, 1))
			return -TACT_E_NOMEM;
		w->data[w->size++] = *text;
		if (is_quoted && *text == ',')
			w->data[w->size++] = ',';
		w->data[w->size] = '\0';
	}
	return 0;
}

static int add_range(struct words *w, const char *key, const struct tact_trace_region *r,
		     bool is_single)
{
	char text[80];
	int status;

	snprintf(text, sizeof(text), ",%s=%llx", key, (unsigned long long)r->begin);
	status = add_text(w, text, false);
	if (!is_single && !status) {
		snprintf(text, sizeof(text), "-%llx", (unsigned long long)r->end);
		status = add_text(w, text, false);
	}
	if (r->file && !status)
		status = add_text(w, "@", false);
	if (r->file && !status)
		status = add_text(w, r->file, true);
	return status;
}

int trace_plugin_argument(const struct tact_trace_options *opt, const struct tact_isa *isa,
			  const char *path, const char *shm, size_t n_kept, char **out)
{
	const struct isa_calls *c = &isa->calls;
	struct words w = {0};
	char keep_text[160];
	int status = add_text(&w, path, true);

	snprintf(keep_text, sizeof(keep_text),
		 ",keep=%zu,target=%s,machine=%u,calls=%u/%u/%u/%u/%u", opt->no_exec ? 0 : n_kept,
		 isa->qemu_target, isa->elf_machine, c->mmap, c->munmap, c->mremap, c->execve,
		 c->execveat);
	if (!status)
		status = add_text(&w, ",shm=", false);
	if (!status)
		status = add_text(&w, shm, true);
	if (!status)
		status = add_text(&w, keep_text, false);
	for (size_t i = 0; i < opt->n_regions && !status; i++)
		status = add_range(&w, opt->regions[i].is_excluded ? "exclude" : "region",
				   &opt->regions[i], false);
	if (opt->from && !status)
		status = add_range(&w, "from", opt->from, true);
	if (opt->until && !status)
		status = add_range(&w, "until", opt->until, true);
	if (status)
		free(w.data);
	else
		*out = w.data;
	return status;
}

static int start_keeper(struct trace_child *child, char *const *words, struct tact_diag *diag)
{
	const pid_t self = getpid();
	sigset_t all, mask, signals;
	pid_t pid;

	sigfillset(&all);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pid = process_fork();
	if (!pid)
		keep(child->shared, words, &mask, &signals, self);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (pid < 0)
		return tact_fail_errno(diag, "cannot start a process");
	child->keeper = pid;
	return 0;
}

/* Fills `plugin`, of PATH_MAX bytes, if the options name none. */
static int find_tools(const struct tact_trace_options *opt, const struct tact_isa *isa, char **qemu,
		      char *plugin, struct tact_diag *diag)
{
	const char *name = opt->qemu ? opt->qemu : isa->qemu;

	if (trace_find_program(qemu, name, opt->path))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (!*qemu || access(*qemu, X_OK)) {
		free(*qemu);
		*qemu = NULL;
		return tact_fail(diag, TACT_E_NO_TOOL,
				 opt->path || strchr(name, '/')
					 ? "%s is not installed; Debian's package is qemu-user"
					 : "%s: there is no path to look for it in",
				 name);
	}
	if (!opt->plugin && tact_trace_plugin(plugin, PATH_MAX) < 0)
		return tact_fail(diag, TACT_E_NO_TOOL,
				 "tact_trace.so, the plugin for QEMU, is neither near the library "
				 "nor where it would be installed");
	if (opt->plugin && access(opt->plugin, R_OK))
		return tact_fail(diag, TACT_E_NO_TOOL, "there is no plugin %s for QEMU",
				 opt->plugin);
	return 0;
}

/* What the program may find on the CPU that it is shown. */
static const char *presented_cpu(const struct tact_isa *isa, const struct tact_arch *arch)
{
	return isa->wide_example && arch && arch->isa == isa && arch->llvm &&
			       arch_llvm_knows(arch->llvm, isa->wide_example)
		       ? isa->qemu_wide_cpu
		       : isa->qemu_cpu;
}

int trace_child_start(struct trace_child *child, const struct tact_trace_options *opt,
		      const char *shm, char *const argv[], struct tact_diag *diag)
{
	char cpu_option[] = "-cpu", plugin_option[] = "-plugin", sysroot_option[] = "-L";
	char *qemu = NULL, *plugin = NULL, **words = NULL, path[PATH_MAX] = "", sysroot[PATH_MAX];
	struct trace_command command = {0};
	size_t n_kept = N_KEPT;
	int status;

	status = trace_command_resolve(&command, opt->path, opt->sysroot, argv, diag);
	if (!status)
		status = find_tools(opt, command.isa, &qemu, path, diag);
	if (!status)
		status = trace_sysroot_find(sysroot, &command, opt->sysroot, diag);
	if (status)
		goto out;
	if (*sysroot)
		n_kept += N_SYSROOT;
	status = trace_plugin_argument(opt, command.isa, opt->plugin ? opt->plugin : path, shm,
				       n_kept, &plugin);
	words = calloc(n_kept + command.n_words + 1, sizeof(*words));
	child->shared = mmap(NULL, sizeof(*child->shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child->shared == MAP_FAILED)
		child->shared = NULL;
	if (status || !words || !child->shared) {
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
		goto out;
	}
	words[0] = qemu;
	words[1] = cpu_option;
	words[2] = (char *)(uintptr_t)(opt->cpu ? opt->cpu : presented_cpu(command.isa, opt->arch));
	words[3] = plugin_option;
	words[4] = plugin;
	if (*sysroot) {
		words[N_KEPT] = sysroot_option;
		words[N_KEPT + 1] = sysroot;
	}
	memcpy(words + n_kept, command.words, command.n_words * sizeof(*words));
	status = start_keeper(child, words, diag);
out:
	trace_command_fini(&command);
	free(words);
	free(plugin);
	free(qemu);
	return status;
}

bool trace_child_is_over(struct trace_child *child)
{
	if (child->keeper > 0 && process_wait(child->keeper, NULL, WNOHANG)) {
		__atomic_store_n(&child->keeper, 0, __ATOMIC_RELEASE);
		/* The kernel ends the program with its keeper, but not what the program started. */
		if (!child->shared->is_over && child->shared->group > 0)
			kill(-child->shared->group, SIGKILL);
	}
	return !child->keeper;
}

bool trace_child_is_lost(const struct trace_child *child)
{
	return child->shared && !child->keeper && !child->shared->is_over;
}

void trace_child_summary(const struct trace_child *child, struct tact_trace_summary *out)
{
	if (!child->shared)
		return;
	out->has_ended = child->shared->has_ended;
	out->wait_status = child->shared->wait_status;
}

void trace_child_stop(const struct trace_child *child)
{
	const pid_t keeper = __atomic_load_n(&child->keeper, __ATOMIC_ACQUIRE);

	if (keeper > 0)
		kill(keeper, SIGTERM);
}

void trace_child_finish(struct trace_child *child)
{
	if (child->keeper > 0) {
		kill(child->keeper, SIGUSR1);
		process_wait(child->keeper, NULL, 0);
	}
	if (child->shared)
		munmap(child->shared, sizeof(*child->shared));
	*child = (struct trace_child){0};
}

/* SPDX-License-Identifier: MIT
 *
 * Runs a program as if the kernel and the CPU had counters of cycles:
 *
 *	fake_kernel [OPTIONS] PROGRAM [ARGUMENTS...]
 *
 * It traces the program and everything that this starts.  A filter stops perf_event_open, reads of
 * 8 or 24 bytes, ioctl and openat; a file in memory stands for an event, so that mapping its
 * page just works; rdpmc faults, and the answer is put in.  Between two readings the program is
 * stepped, and each instruction has its cycles (fake_cost).  So every answer is exact, whatever
 * else runs on the machine, and known answers hold.
 *
 * The exit status is that of the program; 125 if it cannot be traced, and then standard error says
 * why.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_kernel.h"

enum {
	CANNOT = 125,
	MAX_TASKS = 256,
	MAX_STEPS = 60000, /* without a reading: nobody counts any more */
	GAP = 5000 * 16,   /* what a task counts while it is not stepped */
	MIN_RUN = 8,	   /* instructions for which a breakpoint is worth while */
	USER_TRAP_FLAG = 0x100
};

#define GOOD .paranoid = -2, .index = 1, .width = 48, .rate = 1

static struct fake fake = {GOOD}; /* with what the options ask for */
static struct fake good = {GOOD};
static unsigned n_good; /* events until that begins */
static unsigned n_opened;
static struct task tasks[MAX_TASKS];

static _Noreturn void cannot(const char *what)
{
	fprintf(stderr, "fake_kernel: %s: %s\n", what, strerror(errno));
	exit(CANNOT);
}

/* ---- the program ---- */

static void install_filter(void)
{
#define LOAD(field)	   BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
	struct sock_filter filter[] = {
		LOAD(arch),
		IF(AUDIT_ARCH_X86_64, 0, 9),
		LOAD(nr),
		IF(SYS_perf_event_open, 6, 0),
		IF(SYS_openat, 5, 0),
		IF(SYS_ioctl, 4, 0),
		IF(SYS_read, 0, 4),
		LOAD(args[2]),
		IF(8, 1, 0),
		IF(24, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)))
		cannot("no filter");
}

/* Starts the program, which waits until it is traced. */
static pid_t start(char **argv)
{
	int ready[2];
	pid_t pid;
	char byte = 0;

	if (pipe2(ready, O_CLOEXEC))
		cannot("pipe");
	pid = fork();
	if (pid < 0)
		cannot("fork");
	if (!pid) {
		close(ready[1]);
		if (read(ready[0], &byte, 1) != 1)
			exit(CANNOT);
		install_filter();
		execvp(argv[0], argv);
		cannot(argv[0]);
	}
	if (ptrace(PTRACE_SEIZE, pid, NULL,
		   PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
			   PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
			   PTRACE_O_TRACESYSGOOD))
		cannot("the program cannot be traced");
	if (write(ready[1], &byte, 1) != 1)
		cannot("pipe");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* ---- tasks ---- */

static struct task *task_of(pid_t tid)
{
	struct task *unused = NULL;

	for (int i = 0; i < MAX_TASKS; i++) {
		if (tasks[i].tid == tid)
			return &tasks[i];
		if (!tasks[i].tid && !unused)
			unused = &tasks[i];
	}
	if (!unused) {
		errno = EAGAIN;
		cannot("too many threads");
	}
	*unused = (struct task){.tid = tid};
	return unused;
}

static bool peek(pid_t tid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static bool poke(pid_t tid, uint64_t address, const void *from, size_t size)
{
	struct iovec local = {(void *)(uintptr_t)from, size};
	struct iovec remote = {(void *)(uintptr_t)address, size};

	return process_vm_writev(tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static void resume(struct task *t, int signal)
{
	ptrace(t->is_opening		       ? PTRACE_SYSCALL
	       : t->is_stepping && !t->stop_at ? PTRACE_SINGLESTEP
					       : PTRACE_CONT,
	       t->tid, NULL, (void *)(intptr_t)signal);
}

/* A reading of a counter.  The first one begins to step, the one that follows it ends that.  Where
 * a step has loaded the flags, the kernel takes the trap flag for the program's own.
 */
static void note_reading(struct task *t, struct user_regs_struct *regs, uint64_t pc)
{
	if (t->ends_next) {
		t->ends_next = false;
		return;
	}
	if (t->is_stepping && pc != t->begin_pc) {
		t->is_stepping = false;
		regs->eflags &= ~(unsigned long long)USER_TRAP_FLAG;
		return;
	}
	if (!t->is_stepping)
		t->count += GAP;
	t->is_stepping = true;
	t->begin_pc = pc;
	t->steps = 0;
	t->after_flags = false;
}

/* ---- system calls ---- */

/* Lets a call return this at once. */
static void answer(struct task *t, struct user_regs_struct *regs, long value)
{
	regs->orig_rax = ~0ull;
	regs->rax = (unsigned long long)value;
	ptrace(PTRACE_SETREGS, t->tid, NULL, regs);
}

/* A file takes the event's place. */
static void on_open(struct task *t, struct user_regs_struct *regs)
{
	const struct fake *f;
	int error;

	memset(&t->attr, 0, sizeof(t->attr));
	if (!peek(t->tid, regs->rdi, &t->attr, PERF_ATTR_SIZE_VER0)) {
		answer(t, regs, -EFAULT);
		return;
	}
	f = n_opened < n_good ? &good : &fake;
	error = fake_open_error(f, &t->attr);
	if (fake.is_verbose)
		fprintf(stderr, "fake_kernel: perf_event_open(type %u, config %llu)%s: %s\n",
			t->attr.type, (unsigned long long)t->attr.config,
			t->attr.exclude_kernel ? ", user" : "", strerror(error));
	if (error) {
		answer(t, regs, -error);
		return;
	}
	if (f->no_page) {
		regs->orig_rax = regs->rax = SYS_eventfd2;
		regs->rdi = 0;
		regs->rsi = 0;
	} else {
		/* The first byte of the attributes, a small type, is its name. */
		regs->orig_rax = regs->rax = SYS_memfd_create;
		regs->rsi = MFD_CLOEXEC;
	}
	regs->eflags &= ~(unsigned long long)USER_TRAP_FLAG;
	ptrace(PTRACE_SETREGS, t->tid, NULL, regs);
	t->is_stepping = false;
	t->is_opening = true;
}

/* Returns a copy of a descriptor of the task, or -1. */
static int take_fd(const struct task *t, unsigned long long fd)
{
	int process = (int)syscall(SYS_pidfd_open, t->tid, 0), copy;

	if (process < 0)
		return -1;
	copy = (int)syscall(SYS_pidfd_getfd, process, (int)fd, 0);
	close(process);
	return copy;
}

static void on_opened(struct task *t)
{
	const struct fake *f = n_opened++ < n_good ? &good : &fake;
	struct user_regs_struct regs;
	struct stat info;
	void *page = NULL;
	int fd;

	t->is_opening = false;
	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) || (long)regs.rax < 0)
		return;
	fd = take_fd(t, regs.rax);
	if (fd < 0 || fstat(fd, &info))
		cannot("the program's files");
	if (!f->no_page) {
		if (ftruncate(fd, 4096))
			cannot("ftruncate");
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (page == MAP_FAILED)
			cannot("mmap");
	}
	close(fd);
	if (!fake_open(f, t, info.st_ino, page)) {
		errno = EMFILE;
		cannot("too many events");
	}
}

/* Returns the event that a descriptor of the task stands for. */
static struct event *event_at(const struct task *t, unsigned long long fd)
{
	const int copy = take_fd(t, fd);
	struct event *e = NULL;
	struct stat info;

	if (copy < 0)
		return NULL;
	if (!fstat(copy, &info))
		e = fake_find_event(info.st_ino);
	close(copy);
	return e;
}

static void on_read(struct task *t, struct user_regs_struct *regs)
{
	struct event *e = event_at(t, regs->rdi);
	uint64_t words[3] = {0};
	long size;

	if (!e)
		return;
	size = e->owner == t->tid ? fake_read(e, t, words) : 8;
	if (size > (long)regs->rdx)
		size = -ENOSPC;
	if (size > 0 && !poke(t->tid, regs->rsi, words, (size_t)size))
		size = -EFAULT;
	if (size > 0 && e->owner == t->tid && !e->enabled_at && !e->attr.disabled)
		note_reading(t, regs, t->is_stepping ? ~t->begin_pc : 1);
	answer(t, regs, size);
}

/* Opens another file instead. */
static void on_openat(struct task *t, struct user_regs_struct *regs)
{
	static const char devices[] = "/sys/bus/event_source/devices";
	char path[256] = "", other[512];
	const uint64_t room = regs->rsp - 2048;

	for (size_t size = sizeof(path) - 1; size && !peek(t->tid, regs->rsi, path, size);)
		size /= 2; /* the string may be at the end of a page */
	if (fake.sysfs && !strncmp(path, devices, sizeof(devices) - 1))
		snprintf(other, sizeof(other), "%s%s", fake.sysfs, path + sizeof(devices) - 1);
	else
		return;
	if (!poke(t->tid, room, other, strlen(other) + 1))
		return;
	regs->rsi = room;
	ptrace(PTRACE_SETREGS, t->tid, NULL, regs);
}

static void on_call(struct task *t)
{
	struct user_regs_struct regs;
	struct event *e;

	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &regs))
		return;
	switch (regs.orig_rax) {
	case SYS_perf_event_open:
		on_open(t, &regs);
		break;
	case SYS_read:
		on_read(t, &regs);
		break;
	case SYS_openat:
		on_openat(t, &regs);
		break;
	case SYS_ioctl:
		e = event_at(t, regs.rdi);
		if (e)
			answer(t, &regs, fake_ioctl(e, t, (unsigned)regs.rsi));
		break;
	default:
		break;
	}
}

/* ---- instructions ---- */

/* Returns whether the fault was that of rdpmc, and is mended. */
static bool on_fault(struct task *t)
{
	struct user_regs_struct regs;
	struct event *e;
	uint8_t code[2];
	uint64_t value;

	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) || !peek(t->tid, regs.rip, code, 2) ||
	    code[0] != 0x0f || code[1] != 0x33)
		return false;
	e = fake_event_of(t->tid, (uint32_t)regs.rcx);
	if (!e || e->fake->faults)
		return false;
	note_reading(t, &regs, regs.rip);
	value = fake_rdpmc(e, t, (uint32_t)regs.rcx);
	regs.rax = (uint32_t)value;
	regs.rdx = value >> 32;
	regs.rip += 2;
	ptrace(PTRACE_SETREGS, t->tid, NULL, &regs);
	return true;
}

static void set_breakpoint(struct task *t, uint64_t address)
{
	const size_t registers = offsetof(struct user, u_debugreg);

	t->stop_at = 0;
	if (address && ptrace(PTRACE_POKEUSER, t->tid, registers, address))
		return;
	/* register 0, for instructions */
	if (!ptrace(PTRACE_POKEUSER, t->tid, registers + 7 * sizeof(long), address ? 1 : 0))
		t->stop_at = address;
}

/* Straight code that was seen before. */
static struct straight {
	uint64_t begin, cost;
	size_t length; /* bytes */
	unsigned n;
	uint8_t code[1 << 15];
} seen[8];

/* Finds straight code from an address on; the run that follows may be the same one as before. */
static const struct straight *find_straight(pid_t tid, uint64_t begin)
{
	static uint8_t code[sizeof(seen[0].code)];
	static unsigned last;
	struct straight *s;
	size_t size = 0;

	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		if (seen[i].begin == begin && peek(tid, begin, code, seen[i].length) &&
		    !memcmp(code, seen[i].code, seen[i].length))
			return &seen[i];
	s = &seen[last++ % (sizeof(seen) / sizeof(seen[0]))];
	s->begin = begin;
	s->length = 0;
	/* It may be long, or near the end of memory. */
	for (size = 256; size <= sizeof(code) && peek(tid, begin, s->code, size); size *= 2) {
		s->length = fake_straight(s->code, size, &s->n, &s->cost);
		if (size - s->length >= 16)
			break;
	}
	return s->length ? s : NULL;
}

/* Lets the task run to the end of straight code, which is much faster than stepping. */
static void maybe_run(struct task *t, struct user_regs_struct *regs)
{
	const struct straight *s = find_straight(t->tid, regs->rip);

	if (!s || s->n < MIN_RUN)
		return;
	set_breakpoint(t, regs->rip + s->length);
	if (!t->stop_at)
		return; /* no debug registers here */
	t->count += s->cost;
	regs->eflags &= ~(unsigned long long)USER_TRAP_FLAG;
	ptrace(PTRACE_SETREGS, t->tid, NULL, regs);
}

/* After a step: the next instruction.  Returns whether the trap was ours. */
static bool on_step(struct task *t)
{
	struct user_regs_struct regs;
	uint8_t code[8] = {0};

	if (!t->is_stepping || ptrace(PTRACE_GETREGS, t->tid, NULL, &regs))
		return false;
	if (t->stop_at)
		set_breakpoint(t, 0);
	else if (t->after_flags && regs.eflags & USER_TRAP_FLAG) {
		t->is_stepping = false; /* the program steps itself from here on */
		t->ends_next = true;
		return true;
	} else {
		maybe_run(t, &regs);
		if (t->stop_at)
			return true;
	}
	if (!peek(t->tid, regs.rip, code, sizeof(code)))
		peek(t->tid, regs.rip, code, 1);
	t->count += fake_cost(code);
	t->after_flags = code[0] == 0x9d || code[0] == 0xcf || (code[0] == 0x48 && code[1] == 0xcf);
	if (++t->steps > MAX_STEPS) {
		t->is_stepping = false;
		regs.eflags &= ~(unsigned long long)USER_TRAP_FLAG;
		ptrace(PTRACE_SETREGS, t->tid, NULL, &regs);
	}
	return true;
}

static void on_signal(struct task *t, int signal)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &info)) {
		resume(t, signal);
		return;
	}
	if (t->stop_at && signal != SIGTRAP)
		set_breakpoint(t, 0); /* a fault on the way: the run is void */
	if (signal == SIGSEGV && info.si_code == SI_KERNEL && on_fault(t))
		signal = 0;
	else if (signal == SIGTRAP && info.si_code > 0 && on_step(t))
		signal = 0;
	if (signal && fake.is_verbose) {
		struct user_regs_struct regs;

		ptrace(PTRACE_GETREGS, t->tid, NULL, &regs);
		fprintf(stderr, "fake_kernel: %d: %s (code %d) at %llx, flags %llx\n", t->tid,
			strsignal(signal), info.si_code, regs.rip, regs.eflags);
	}
	resume(t, signal);
}

/* ---- the loop ---- */

static void on_stop(struct task *t, int status)
{
	const int signal = WSTOPSIG(status), event = status >> 16;

	if (signal == (SIGTRAP | 0x80)) {
		if (t->is_opening)
			on_opened(t);
		resume(t, 0);
	} else if (event == PTRACE_EVENT_SECCOMP) {
		on_call(t);
		resume(t, 0);
	} else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
		ptrace(PTRACE_LISTEN, t->tid, NULL, NULL); /* stopped by a signal */
	} else if (event) {
		resume(t, 0);
	} else {
		on_signal(t, signal);
	}
}

static int trace(pid_t program)
{
	int status, result = CANNOT;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		struct task *t;

		if (tid < 0)
			continue;
		t = task_of(tid);
		if (WIFSTOPPED(status)) {
			on_stop(t, status);
			continue;
		}
		t->tid = 0;
		if (tid == program)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return result;
}

/* ---- options ---- */

static int error_named(const char *name)
{
	for (int i = 1; i < 200; i++) {
		const char *known = strerrorname_np(i);

		if (known && !strcmp(known, name))
			return i;
	}
	errno = EINVAL;
	cannot(name);
}

static void read_options(int argc, char **argv)
{
	static const struct option options[] = {
		{"open", required_argument, NULL, 'o'},
		{"exclude", required_argument, NULL, 'e'},
		{"paranoid", required_argument, NULL, 'p'},
		{"no-user-read", no_argument, NULL, 'u'},
		{"no-page", no_argument, NULL, 'm'},
		{"faults", no_argument, NULL, 'f'},
		{"still", no_argument, NULL, 's'},
		{"garbage", no_argument, NULL, 'g'},
		{"off", no_argument, NULL, 'z'},
		{"index", required_argument, NULL, 'i'},
		{"width", required_argument, NULL, 'w'},
		{"start", required_argument, NULL, 'a'},
		{"lock", required_argument, NULL, 'l'},
		{"switches", required_argument, NULL, 'c'},
		{"shared", required_argument, NULL, 'h'},
		{"lost", required_argument, NULL, 'n'},
		{"rate", required_argument, NULL, 'r'},
		{"sysfs", required_argument, NULL, 'd'},
		{"core", required_argument, NULL, 'k'},
		{"after", required_argument, NULL, 'b'},
		{"verbose", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		const unsigned long long number = optarg ? strtoull(optarg, NULL, 0) : 0;

		switch (c) {
		case 'o':
			fake.open_error = error_named(optarg);
			break;
		case 'e':
			fake.exclude_error = error_named(optarg);
			break;
		case 'p':
			fake.paranoid = (int)number;
			break;
		case 'u':
			fake.no_user_read = true;
			break;
		case 'm':
			fake.no_page = true;
			break;
		case 'f':
			fake.faults = true;
			break;
		case 's':
			fake.still = true;
			break;
		case 'g':
			fake.garbage = true;
			break;
		case 'z':
			fake.off = true;
			break;
		case 'i':
			fake.index = (uint32_t)number;
			break;
		case 'w':
			fake.width = (unsigned)number;
			break;
		case 'a':
			fake.start = number;
			break;
		case 'l':
			fake.lock = (uint32_t)number;
			break;
		case 'c':
			fake.switches = (unsigned)number;
			break;
		case 'h':
			fake.shared = (unsigned)number;
			break;
		case 'n':
			fake.lost = (unsigned)number;
			break;
		case 'r':
			fake.rate = strtod(optarg, NULL);
			break;
		case 'd':
			fake.sysfs = optarg;
			break;
		case 'k':
			fake.core_type = (uint32_t)number;
			break;
		case 'b':
			n_good = (unsigned)number;
			break;
		case 'v':
			fake.is_verbose = true;
			break;
		default:
			exit(CANNOT);
		}
	}
	if (optind >= argc) {
		errno = EINVAL;
		cannot("no program");
	}
}

static void write_file(const char *path, const char *format, unsigned id)
{
	char text[64];
	int fd = open(path, O_WRONLY | O_CLOEXEC), n = snprintf(text, sizeof(text), format, id, id);

	if (fd < 0 || write(fd, text, (size_t)n) != n)
		cannot(path);
	close(fd);
}

/* What is not dumpable can only be looked at with a capability, which a namespace gives.  Users in
 * it stay who they are.
 */
static void become_capable(void)
{
	const unsigned user = geteuid(), group = getegid();

	if (!user)
		return;
	if (unshare(CLONE_NEWUSER))
		cannot("no user namespace");
	write_file("/proc/self/uid_map", "%u %u 1", user);
	write_file("/proc/self/setgroups", "deny", 0);
	write_file("/proc/self/gid_map", "%u %u 1", group);
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	become_capable();
	return trace(start(argv + optind));
}

/* SPDX-License-Identifier: MIT
 *
 * Names that deny.c knows: system calls, errors and limits.
 */
#ifndef TESTS_DENY_NAMES_H
#define TESTS_DENY_NAMES_H

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>

struct deny_name {
	const char *name;
	int number;
};

/* clang-format off */
#define CALL(name) {#name, SYS_##name}
static const struct deny_name calls[] = {
	CALL(read), CALL(write), CALL(open), CALL(close), CALL(poll), CALL(lseek), CALL(mmap),
	CALL(mprotect), CALL(munmap), CALL(brk), CALL(rt_sigaction), CALL(rt_sigprocmask),
	CALL(rt_sigreturn), CALL(ioctl), CALL(pread64), CALL(pwrite64), CALL(readv),
	CALL(writev), CALL(access), CALL(pipe), CALL(sched_yield), CALL(mremap), CALL(madvise),
	CALL(dup), CALL(dup2), CALL(nanosleep), CALL(getpid), CALL(getppid), CALL(socket), CALL(sendmsg),
	CALL(recvmsg), CALL(sendto), CALL(recvfrom), CALL(socketpair), CALL(clone), CALL(fork),
	CALL(vfork), CALL(execve), CALL(exit), CALL(wait4), CALL(kill), CALL(fcntl),
	CALL(ftruncate), CALL(chdir), CALL(fchdir), CALL(umask), CALL(getrlimit),
	CALL(setrlimit), CALL(ptrace), CALL(getuid), CALL(getgid), CALL(setuid), CALL(setgid),
	CALL(geteuid), CALL(setpgid), CALL(setsid), CALL(setgroups), CALL(setresuid), CALL(setresgid),
	CALL(capget), CALL(capset), CALL(sigaltstack), CALL(personality), CALL(pivot_root),
	CALL(prctl), CALL(arch_prctl), CALL(chroot), CALL(mount), CALL(umount2),
	CALL(sethostname), CALL(gettid), CALL(futex), CALL(sched_setaffinity),
	CALL(sched_getaffinity), CALL(set_tid_address), CALL(timer_create), CALL(clock_gettime),
	CALL(exit_group), CALL(tgkill), CALL(waitid), CALL(openat), CALL(unshare), CALL(ppoll),
	CALL(set_robust_list), CALL(signalfd4), CALL(eventfd2), CALL(dup3), CALL(pipe2),
	CALL(perf_event_open), CALL(prlimit64), CALL(setns), CALL(process_vm_readv),
	CALL(seccomp), CALL(getrandom), CALL(memfd_create), CALL(execveat), CALL(membarrier),
	CALL(pkey_mprotect), CALL(pkey_alloc), CALL(rseq), CALL(pidfd_send_signal),
	CALL(pidfd_open), CALL(clone3), CALL(close_range), CALL(openat2),
	CALL(landlock_restrict_self), CALL(landlock_create_ruleset), CALL(clock_nanosleep),
	CALL(fstat), CALL(newfstatat), CALL(readlink), CALL(getdents64),
	CALL(sched_setscheduler), CALL(setpriority), CALL(mlock), CALL(mlockall),
};
#undef CALL

#define ERROR(name) {#name, name}
static const struct deny_name errors[] = {
	ERROR(EPERM), ERROR(ENOENT), ERROR(EACCES), ERROR(EINVAL), ERROR(ENOSYS), ERROR(ENOMEM),
	ERROR(EAGAIN), ERROR(EMFILE), ERROR(ENOSPC), ERROR(EFAULT), ERROR(EBADF), ERROR(EUSERS),
};
#undef ERROR
/* clang-format on */

static const struct deny_name limits[] = {
	{"nproc", RLIMIT_NPROC}, {"nofile", RLIMIT_NOFILE},   {"as", RLIMIT_AS},
	{"fsize", RLIMIT_FSIZE}, {"memlock", RLIMIT_MEMLOCK}, {"stack", RLIMIT_STACK},
};

#endif /* TESTS_DENY_NAMES_H */

/* SPDX-License-Identifier: MIT
 *
 * Looks at what the kernel lets a process do: filters, tracing, mappings.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "pmu/pmu.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { DENIED = 99 }; /* an errno that nothing else returns here */

/* Runs in a child: filters getppid.  Exits with 0 if that works, else with an errno. */
static _Noreturn void try_seccomp(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | DENIED),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		process_exit(errno);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		process_exit(errno);
	errno = 0;
	process_exit(syscall(SYS_getppid) == -1 && errno == DENIED ? 0 : EINVAL);
}

static int wait_for(pid_t child)
{
	int status;

	if (process_wait(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

enum tact_check_state pmu_probe_seccomp(char *found, size_t size)
{
	pid_t child = process_fork();
	int status;

	if (!child)
		try_seccomp();
	status = child < 0 ? errno : wait_for(child);
	if (!status) {
		snprintf(found, size, "filters work");
		return TACT_CHECK_GOOD;
	}
	snprintf(found, size, "no filters (%s)",
		 status > 0 ? strerror(status) : "the child that tried was killed");
	return TACT_CHECK_MISSING;
}

/* Runs in a child, because any wait of a process sees its traced children: traces a child of its
 * own.  Exits with 0 if that works.
 */
static _Noreturn void try_ptrace(void)
{
	int status = EINVAL, wait_status;
	pid_t child;

	signal(SIGCHLD, SIG_DFL);
	child = process_fork_again();
	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			process_exit(errno);
		kill(getpid(), SIGSTOP);
		process_exit(0);
	}
	if (child > 0 && process_wait(child, &wait_status, 0) == child) {
		if (WIFSTOPPED(wait_status)) {
			ptrace(PTRACE_CONT, child, NULL, NULL);
			status = wait_for(child);
		} else if (WIFEXITED(wait_status)) {
			status = WEXITSTATUS(wait_status);
		}
	}
	process_exit(status ? 1 : 0);
}

enum tact_check_state pmu_probe_ptrace(char *found, size_t size)
{
	char scope[16];
	pid_t child = process_fork();
	int status;
	bool is_known = pmu_read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));

	if (!child)
		try_ptrace();
	status = child < 0 ? -1 : wait_for(child);
	snprintf(found, size, "%s%s%s",
		 status ? "a process cannot trace its child" : "own children",
		 is_known ? "; ptrace_scope " : "; no Yama", is_known ? scope : "");
	return status ? TACT_CHECK_DEGRADED : TACT_CHECK_GOOD;
}

enum tact_check_state pmu_probe_memfd(char *found, size_t size)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = memfd_create("tact", MFD_CLOEXEC);
	void *map;

	if (fd < 0 || file_set_size(fd, page)) {
		snprintf(found, size, "%s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return TACT_CHECK_MISSING;
	}
	/* Emitted code is in such a page; hardened systems refuse to run it. */
	map = mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	snprintf(found, size, "%s%s", map == MAP_FAILED ? "pages cannot be executed: " : "works",
		 map == MAP_FAILED ? strerror(errno) : "");
	close(fd);
	if (map == MAP_FAILED)
		return TACT_CHECK_MISSING;
	munmap(map, (size_t)page);
	return TACT_CHECK_GOOD;
}

enum tact_check_state pmu_probe_fixed_map(char *found, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *first = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *second;
	bool is_refused;

	if (first == MAP_FAILED) {
		snprintf(found, size, "mmap: %s", strerror(errno));
		return TACT_CHECK_MISSING;
	}
	second = mmap(first, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		      0);
	/* A kernel before 4.17 takes the address as a hint and may map elsewhere. */
	is_refused = second == MAP_FAILED && errno == EEXIST;
	if (second != MAP_FAILED && second != first)
		munmap(second, page);
	munmap(first, page);
	snprintf(found, size, "%s", is_refused ? "works" : "not known to this kernel");
	return is_refused ? TACT_CHECK_GOOD : TACT_CHECK_DEGRADED;
}

enum tact_check_state pmu_probe_mmap_min(char *found, size_t size)
{
	char line[32];
	unsigned long long lowest;

	if (!pmu_read_line("/proc/sys/vm/mmap_min_addr", line, sizeof(line))) {
		snprintf(found, size, "unknown");
		return TACT_CHECK_DEGRADED;
	}
	lowest = strtoull(line, NULL, 10);
	snprintf(found, size, "%llu", lowest);
	return lowest <= 65536 ? TACT_CHECK_GOOD : TACT_CHECK_DEGRADED;
}

enum tact_check_state pmu_probe_huge_pages(char *found, size_t size)
{
	char transparent[64], reserved[32];
	const char *chosen, *end;
	bool is_known = pmu_read_line("/sys/kernel/mm/transparent_hugepage/enabled", transparent,
				      sizeof(transparent));

	if (!pmu_read_line("/proc/sys/vm/nr_hugepages", reserved, sizeof(reserved)))
		snprintf(reserved, sizeof(reserved), "unknown");
	chosen = is_known ? strchr(transparent, '[') : NULL;
	end = chosen ? strchr(chosen, ']') : NULL;
	snprintf(found, size, "transparent: %.*s; reserved: %s", end ? (int)(end - chosen - 1) : 2,
		 end ? chosen + 1 : "no", reserved);
	return TACT_CHECK_GOOD;
}

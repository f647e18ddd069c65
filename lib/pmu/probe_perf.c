/* SPDX-License-Identifier: MIT
 *
 * Looks at perf_event: whether there are counters, and how they can be read.
 *
 * That an event can be opened proves nothing: a virtual machine may offer events that never count.
 * Nor does the output of perf(1), which silently falls back to cpu-clock.  So every probe counts
 * something whose result is known.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "isa/isa.h"
#include "pmu/pmu.h"

static int open_event(struct perf_event_attr *attr)
{
	return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_cycles(uint64_t user_access)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.config1 = user_access,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return open_event(&attr);
}

static void say_errno(char *found, size_t size, int error)
{
	switch (error) {
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		snprintf(found, size, "there is none (%s)", strerror(error));
		return;
	case EACCES:
	case EPERM:
		snprintf(found, size, "not allowed (%s)", strerror(error));
		return;
	case ENOSYS:
		snprintf(found, size, "the kernel has no perf_event (%s)", strerror(error));
		return;
	default:
		snprintf(found, size, "%s", strerror(error));
	}
}

enum { CHAIN = 1 << 20 };

/* Counts an event around the chain.  Returns 0 or an errno. */
static int count_chain(int fd, uint64_t *count)
{
	if (ioctl(fd, PERF_EVENT_IOC_RESET, 0) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return errno;
	if (isa_native())
		isa_native()->native->run_chain(CHAIN);
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0))
		return errno;
	return read(fd, count, sizeof(*count)) == (ssize_t)sizeof(*count) ? 0 : EIO;
}

static bool is_plausible(double per_multiplication)
{
	return per_multiplication > 2.5 && per_multiplication < 4.5;
}

/* Finds out whether the counter `fd` counts cycles, and closes it; fd -1: it has this error. */
static enum tact_check_state check_counter(int fd, int error, char *found, size_t size)
{
	uint64_t count = 0;
	double each;

	if (fd >= 0) {
		error = count_chain(fd, &count);
		close(fd);
	}
	if (error) {
		say_errno(found, size, error);
		return TACT_CHECK_MISSING;
	}
	each = (double)count / CHAIN;
	snprintf(found, size, "%s (%.2f cycles for %s in a chain)",
		 is_plausible(each) ? "it counts" : "it opens, but does not count cycles", each,
		 isa_native() ? isa_native()->native->link : "nothing");
	return is_plausible(each) ? TACT_CHECK_GOOD : TACT_CHECK_MISSING;
}

enum tact_check_state pmu_probe_cycles(char *found, size_t size)
{
	int fd = open_cycles(0);

	return check_counter(fd, errno, found, size);
}

enum tact_check_state pmu_probe_rdpmc(char *found, size_t size)
{
	long page_size = sysconf(_SC_PAGESIZE);
	const struct perf_event_mmap_page *page;
	bool is_allowed;
	int fd = open_cycles(isa_native() ? isa_native()->native->user_access : 0);

	if (fd < 0) {
		snprintf(found, size, "no counter to read");
		return TACT_CHECK_MISSING;
	}
	page = mmap(NULL, (size_t)page_size, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		say_errno(found, size, errno);
		close(fd);
		return TACT_CHECK_MISSING;
	}
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	/* The index is valid only while the event is on a counter. */
	is_allowed = page->cap_user_rdpmc && page->index;
	snprintf(found, size, "%s",
		 is_allowed		? "allowed"
		 : page->cap_user_rdpmc ? "allowed, but the event is on no counter"
					: "not allowed");
	munmap((void *)(uintptr_t)page, (size_t)page_size);
	close(fd);
	return is_allowed ? TACT_CHECK_GOOD : TACT_CHECK_MISSING;
}

enum tact_check_state pmu_probe_lbr(char *found, size_t size)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.sample_period = 100000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = open_event(&attr);

	if (fd < 0) {
		say_errno(found, size, errno);
		return TACT_CHECK_MISSING;
	}
	close(fd);
	snprintf(found, size, "an event with branch stacks opens");
	return TACT_CHECK_GOOD;
}

/* The msr device names its events in files: "event=0x01". */
static int open_aperf(int *error)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .disabled = 1};
	struct pmu_event event;
	int fd;

	*error = ENOENT;
	if (!pmu_find_event(&event, PMU_DEVICES, "msr", "aperf"))
		return -1;
	attr.type = event.type;
	attr.config = event.config;
	fd = open_event(&attr);
	*error = errno;
	return fd;
}

enum tact_check_state pmu_probe_aperf(char *found, size_t size)
{
	int error, fd = open_aperf(&error);

	return check_counter(fd, error, found, size);
}

enum tact_check_state pmu_probe_paranoid(char *found, size_t size)
{
	char line[32];
	long level;

	if (!pmu_read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line))) {
		snprintf(found, size, "the kernel has no perf_event");
		return TACT_CHECK_MISSING;
	}
	level = strtol(line, NULL, 10);
	/* Above 2 (a patch of distributions), a process may not even use counters of its own. */
	snprintf(found, size, "%ld (%s)%s", level,
		 level > 2    ? "no events for ordinary users"
		 : level == 2 ? "own processes, user mode only"
		 : level == 1 ? "own processes, with the kernel"
			      : "whole system",
		 geteuid() ? "" : "; root is not bound by it");
	return level > 2 && geteuid() ? TACT_CHECK_DEGRADED : TACT_CHECK_GOOD;
}

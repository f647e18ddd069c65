/* SPDX-License-Identifier: MIT
 *
 * What a program in a box can reach: each line is tried from outside of it as well, so that a test
 * cannot pass because a file is not there.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/box.h"
#include "base/process.h"
#include "testing.h"

static const struct box small = {.memory = 1ull << 30,
				 .file_size = 1 << 20,
				 .cpu_seconds = 1,
				 .descriptors = 32,
				 .may_write_null = true};

/* Exit status, or minus the signal. */
static int run(const struct box *box, const char *script)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	const struct process_spec spec = {.argv = argv, .box = box, .box_path = getenv("PATH")};
	struct process p;
	int status;

	assert_int_equal(process_start(&p, &spec), 0);
	process_await(&p);
	status = p.status;
	process_end(&p);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* Landlock's version; 0: this kernel has none, and then only the other walls are tested. */
static long landlock(void)
{
	const long version = syscall(444, NULL, 0, 1);

	return version < 0 ? 0 : version;
}

TEST(programs_run)
{
	assert_int_equal(run(&small, "exit 7"), 7);
	assert_int_equal(run(&small, "ls / >/dev/null 2>&1; cat </dev/null"), 0);
}

TEST(files_are_closed_off)
{
	static const char read[] = "head -c 1 /etc/passwd >/dev/null 2>&1";
	static const char list[] = "ls /etc >/dev/null 2>&1";
	char file[] = "/tmp/tact-box-XXXXXX", write[80], script[200];
	const int fd = mkstemp(file);

	assert_true(fd >= 0);
	close(fd);
	snprintf(write, sizeof(write), "echo x >%s", file);
	assert_int_equal(run(NULL, read), 0);
	assert_int_equal(run(NULL, list), 0);
	assert_int_equal(run(NULL, write), 0);
	if (landlock()) {
		assert_int_not_equal(run(&small, read), 0);
		assert_int_not_equal(run(&small, list), 0);
		snprintf(script, sizeof(script), "exec 2>/dev/null; %s", write);
		assert_int_not_equal(run(&small, script), 0);
		snprintf(script, sizeof(script), "rm %s 2>/dev/null", file);
		assert_int_not_equal(run(&small, script), 0);
		assert_int_not_equal(run(&small, "cat /proc/1/maps >/dev/null 2>&1"), 0);
	}
	unlink(file);
}

TEST(bounds_hold)
{
	assert_int_equal(run(&small, "while :; do :; done"), -SIGKILL);
	assert_int_not_equal(run(&small, "ulimit -c unlimited 2>/dev/null"), 0);
	assert_int_equal(run(&small, "test $(ulimit -n) = 32"), 0);
	assert_int_equal(run(&small, "test $(ulimit -v) = 1048576"), 0);
}

/* Enters a box in a child and makes system calls there; returns its exit status. */
static int in_child(int (*try)(void), const struct box *box)
{
	const pid_t child = process_fork();
	int status;

	if (!child) {
		if (box_enter(box, NULL))
			process_exit(99);
		process_exit(try());
	}
	assert_true(child > 0);
	process_wait(child, &status, 0);
	return WEXITSTATUS(status);
}

static int make_socket(void)
{
	return syscall(SYS_socket, 2, 1, 0) < 0 && errno == EPERM ? 5 : 6;
}

static int trace(void)
{
	return syscall(SYS_ptrace, 0, 0, NULL, NULL) < 0 && errno == EPERM ? 5 : 6;
}

static int begin_ring(void)
{
	char room[256] = {0};

	return syscall(SYS_io_uring_setup, 1, room) < 0 && errno == EPERM ? 5 : 6;
}

TEST(calls_are_refused)
{
	assert_int_equal(in_child(make_socket, &small), 5);
	assert_int_equal(in_child(trace, &small), 5);
	assert_int_equal(in_child(begin_ring, &small), 5);
}

/* Where a wall cannot be built, nothing runs. */
static int ask_again(void)
{
	const struct box closed = {.needs_files_closed = true};

	return box_enter(&closed, NULL);
}

TEST(it_fails_closed)
{
	struct box box = small;

	box.needs_files_closed = true;
	if (landlock())
		assert_int_equal(run(&box, "exit 7"), 7);
	/* A box in a box. */
	assert_int_equal(in_child(ask_again, &small), landlock() ? 0 : ENOSYS);
}

RUN_TESTS(NULL, NULL)

/* SPDX-License-Identifier: MIT
 *
 * Children that a host does not notice.  tests/embed does the same with the whole library.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/process.h"
#include "testing.h"

static volatile sig_atomic_t n_signals;

static void count(int number)
{
	(void)number;
	n_signals++;
}

/* A host that hears of every child, or of none. */
static void set_handler(void (*handler)(int))
{
	const struct sigaction action = {.sa_handler = handler};

	n_signals = 0;
	assert_int_equal(sigaction(SIGCHLD, &action, NULL), 0);
}

static void no_child_is_seen(void)
{
	errno = 0;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(n_signals, 0);
}

static int run_shell(const char *script)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	const struct process_spec spec = {.argv = argv};
	struct process p;
	int status;

	assert_int_equal(process_start(&p, &spec), 0);
	no_child_is_seen();
	process_await(&p);
	assert_true(process_has_ended(&p));
	no_child_is_seen();
	status = p.status;
	process_end(&p);
	no_child_is_seen();
	return status;
}

static void statuses_arrive(void)
{
	assert_int_equal(run_shell("exit 0"), 0);
	assert_int_equal(WEXITSTATUS(run_shell("exit 7")), 7);
	assert_int_equal(WTERMSIG(run_shell("kill -9 $$")), SIGKILL);
}

TEST(a_host_with_a_handler_sees_nothing)
{
	set_handler(count);
	statuses_arrive();
	set_handler(SIG_DFL);
}

TEST(a_host_that_ignores_its_children_loses_nothing)
{
	set_handler(SIG_IGN);
	statuses_arrive();
	set_handler(SIG_DFL);
}

TEST(a_fork_is_not_seen)
{
	void (*const handlers[])(int) = {count, SIG_IGN, SIG_DFL};

	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		int status = 0;
		pid_t child;

		set_handler(handlers[i]);
		child = process_fork();
		if (!child)
			process_exit(5);
		assert_true(child > 0);
		usleep(20000);
		no_child_is_seen();
		assert_int_equal(process_wait(child, &status, 0), child);
		assert_int_equal(WEXITSTATUS(status), 5);
		no_child_is_seen();
	}
}

TEST(what_does_not_exist_is_said)
{
	const char *const argv[] = {"no-such-program-anywhere", NULL};
	const char *const directory[] = {"/", NULL};
	struct process p;

	assert_int_equal(process_start(&p, &(struct process_spec){.argv = argv}), ENOENT);
	process_end(&p); /* nothing to end: nothing happens */
	assert_int_equal(process_start(&p, &(struct process_spec){.argv = directory}), EACCES);
	no_child_is_seen();
}

TEST(descriptors_get_their_numbers)
{
	const char *const argv[] = {"sh", "-c", "read x; echo $x; echo err >&2; echo 3 >&3", NULL};
	char text[64] = "";
	int in[2], out[2];
	struct process p;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(process_start(&p, &(struct process_spec){.argv = argv,
								  .fds = {{in[0], 0},
									  {out[1], 1},
									  {PROCESS_NULL, 2},
									  {out[1], 3}},
								  .n_fds = 4}),
			 0);
	close(in[0]);
	close(out[1]);
	assert_int_equal(write(in[1], "word\n", 5), 5);
	close(in[1]);
	process_await(&p);
	/* The keeper holds neither: there is an end. */
	assert_int_equal(read(out[0], text, sizeof(text)), 7);
	assert_int_equal(read(out[0], text + 7, sizeof(text) - 7), 0);
	assert_string_equal(text, "word\n3\n");
	close(out[0]);
	assert_int_equal(p.status, 0);
	process_end(&p);
}

TEST(a_held_program_waits)
{
	const char *const argv[] = {"sh", "-c", "exit 3", NULL};
	const char *const none[] = {"no-such-program-anywhere", NULL};
	struct process_spec spec = {.argv = argv, .is_held = true};
	struct process p;

	assert_int_equal(process_start(&p, &spec), 0);
	usleep(20000);
	assert_false(process_has_ended(&p));
	assert_int_equal(kill(p.pid, 0), 0);
	assert_int_equal(process_release(&p), 0);
	process_await(&p);
	assert_int_equal(WEXITSTATUS(p.status), 3);
	process_end(&p);

	assert_int_equal(process_start(&p, &spec), 0);
	process_end(&p); /* never released */
	spec.argv = none;
	assert_int_equal(process_start(&p, &spec), 0);
	assert_int_equal(process_release(&p), ENOENT);
	process_end(&p);
	no_child_is_seen();
}

TEST(ending_kills)
{
	const char *const argv[] = {"sleep", "1000", NULL};
	struct process p;
	pid_t pid;

	assert_int_equal(process_start(&p, &(struct process_spec){.argv = argv}), 0);
	pid = p.pid;
	assert_false(process_has_ended(&p));
	process_end(&p);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

TEST(programs_have_the_mask_of_their_host)
{
	sigset_t blocked, before;

	set_handler(count);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
	/* The mask is the host's. */
	assert_int_equal(WEXITSTATUS(run_shell("kill -TERM $$; exit 9")), 9);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(WTERMSIG(run_shell("kill -TERM $$")), SIGTERM);
	set_handler(SIG_DFL);
}

RUN_TESTS(NULL, NULL)

/* SPDX-License-Identifier: MIT
 *
 * Looks for programs that tact can use, by running them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "isa/isa.h"
#include "pmu/pmu.h"

enum { TOOL_MS = 5000, ANSWER = 16384 };

static long milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Starts a program with its output in *fd.  Returns 0 or an errno. */
static int start(char *const *argv, pid_t *child, int *fd)
{
	posix_spawn_file_actions_t actions;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	error = posix_spawn_file_actions_init(&actions);
	if (!error) {
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
		error = posix_spawnp(child, argv[0], &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	if (error)
		close(ends[0]);
	else
		*fd = ends[0];
	return error;
}

/* Reads until the program closes its output, the room is full or time is up. */
static size_t read_answer(int fd, char *answer, size_t size)
{
	long end = milliseconds() + TOOL_MS;
	size_t n = 0;

	while (n + 1 < size) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		long left = end - milliseconds();
		ssize_t got;

		if (left <= 0 || poll(&ready, 1, (int)left) <= 0)
			break;
		got = read(fd, answer + n, size - 1 - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	answer[n] = '\0';
	return n;
}

/* Runs a program with one option.  Returns 0 and what it said, or an errno. */
static int ask(const char *program, const char *option, char *answer, size_t size)
{
	char name[32], argument[32], *argv[] = {name, argument, NULL};
	pid_t child;
	int fd = -1, error;

	snprintf(name, sizeof(name), "%s", program);
	snprintf(argument, sizeof(argument), "%s", option);
	error = start(argv, &child, &fd);
	if (error)
		return error;
	if (!read_answer(fd, answer, size))
		error = EIO;
	close(fd);
	kill(child, SIGKILL); /* it has answered, or never will */
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return error;
}

/* The first line of the answer that has `word` in it, as what was found. */
static enum tact_check_state ask_version(const char *program, const char *word, char *found,
					 size_t size)
{
	char answer[ANSWER];
	int error = ask(program, "--version", answer, sizeof(answer));
	const char *line = NULL;

	if (error) {
		snprintf(found, size, "%s: %s", program,
			 error == ENOENT ? "not installed" : strerror(error));
		return TACT_CHECK_MISSING;
	}
	for (const char *next = answer; next && *next;) {
		size_t length = strcspn(next, "\n");

		if (memmem(next, length, word, strlen(word))) {
			line = next;
			break;
		}
		next = next[length] ? next + length + 1 : NULL;
	}
	/* A program that cannot be loaded says something else. */
	if (!line) {
		snprintf(found, size, "%.*s", (int)strcspn(answer, "\n"), answer);
		return TACT_CHECK_MISSING;
	}
	line += strspn(line, " \t");
	snprintf(found, size, "%.*s", (int)strcspn(line, "\n"), line);
	return TACT_CHECK_GOOD;
}

enum tact_check_state pmu_probe_qemu(char *found, size_t size)
{
	return ask_version(tact_isa_default()->qemu, "version", found, size);
}

enum tact_check_state pmu_probe_qemu_plugin(char *found, size_t size)
{
	char answer[ANSWER];
	bool has_plugins;

	if (pmu_probe_qemu(found, size) != TACT_CHECK_GOOD ||
	    ask(tact_isa_default()->qemu, "-h", answer, sizeof(answer))) {
		snprintf(found, size, "no QEMU");
		return TACT_CHECK_MISSING;
	}
	/* The help lists the option only if it was built in. */
	has_plugins = strstr(answer, "-plugin") != NULL;
	snprintf(found, size, "%s", has_plugins ? "built in" : "not built in");
	return has_plugins ? TACT_CHECK_GOOD : TACT_CHECK_MISSING;
}

enum tact_check_state pmu_probe_llvm_mca(char *found, size_t size)
{
	return ask_version("llvm-mca", "version", found, size);
}

enum tact_check_state pmu_probe_as(char *found, size_t size)
{
	return ask_version("as", "GNU", found, size);
}

/* SPDX-License-Identifier: MIT
 *
 * Looks for programs that tact can use, by running them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "isa/isa.h"
#include "pmu/pmu.h"
#include "llvm/llvm.h"

enum { TOOL_MS = 5000, ANSWER = 16384 };

static long milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Starts a program with its output in *fd.  Returns 0 or an errno. */
static int start(const char *const *argv, struct process *child, int *fd)
{
	struct process_spec spec = {.argv = argv, .n_fds = 3};
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	spec.fds[0].from = PROCESS_NULL;
	spec.fds[1].from = spec.fds[2].from = ends[1];
	for (int i = 0; i < 3; i++)
		spec.fds[i].to = i;
	error = process_start(child, &spec);
	close(ends[1]);
	if (error)
		close(ends[0]);
	else
		*fd = ends[0];
	return error;
}

/* Reads until the program closes its output, the buffer is full or time is up. */
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
	const char *argv[] = {program, option, NULL};
	struct process child;
	int fd = -1, error;

	error = start(argv, &child, &fd);
	if (error)
		return error;
	if (!read_answer(fd, answer, size))
		error = EIO;
	close(fd);
	process_end(&child); /* it has answered, or will never do so */
	return error;
}

/* Takes the first line of the answer that contains `word` as what was found. */
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
	/* The help lists the option only if QEMU was built with it. */
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

enum tact_check_state pmu_probe_llvm(char *found, size_t size)
{
	const struct llvm_api *api = llvm_module(NULL);

	snprintf(found, size, "%s%s", api ? "LLVM " : "tact_llvm.so was not found",
		 api ? api->llvm_version : "");
	return api ? TACT_CHECK_GOOD : TACT_CHECK_MISSING;
}

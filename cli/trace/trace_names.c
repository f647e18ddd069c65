/* SPDX-License-Identifier: MIT
 *
 * Names of functions for people: C++ and Rust as they are written in the source, by way of c++filt
 * (binutils) where there is one, and as long as there is room.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cli.h"
#include "tracer.h"

enum { DEFAULT_WIDTH = 80, LEAST_WIDTH = 80, MOST_WIDTH = 400 };

extern char **environ;

int trace_width(const char *output)
{
	struct winsize size;

	if (output || !isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ||
	    size.ws_col < LEAST_WIDTH)
		return DEFAULT_WIDTH;
	return size.ws_col < MOST_WIDTH ? size.ws_col : MOST_WIDTH;
}

static bool is_mangled(const char *name)
{
	return (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2)) && !strchr(name, '\n');
}

/* Runs c++filt from one file to another.  False if it cannot be run. */
static bool run_filter(int from, int to)
{
	static char *const argv[] = {(char *)"c++filt", (char *)"-p", NULL}; /* no parameters */
	posix_spawn_file_actions_t actions;
	int error, status = -1;
	pid_t child;

	if (posix_spawn_file_actions_init(&actions))
		return false;
	error = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
							 O_WRONLY, 0);
	if (!error)
		error = posix_spawnp(&child, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		return false;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool write_all(int fd, const struct text *text)
{
	size_t done = 0;

	while (done < text->size) {
		ssize_t n = write(fd, text->data + done, text->size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return lseek(fd, 0, SEEK_SET) == 0;
}

static bool read_all(int fd, struct text *text)
{
	const off_t size = lseek(fd, 0, SEEK_END);
	ssize_t n;

	if (size <= 0)
		return false;
	n = pread(fd, cli_reserve(text, (size_t)size), (size_t)size, 0);
	if (n != (ssize_t)size)
		return false;
	text->size += (size_t)size;
	return text->data[text->size - 1] == '\n';
}

/* A line of the answer for each mangled name. */
static void take_answer(const struct tact_result_row *rows, size_t n, const struct text *answer,
			char **names)
{
	const char *at = answer->data, *end = answer->data + answer->size;

	for (size_t i = 0; i < n && at < end; i++) {
		const char *line = at;

		if (!is_mangled(rows[i].function))
			continue;
		at = memchr(line, '\n', (size_t)(end - line));
		names[i] = cli_alloc((size_t)(at - line) + 1);
		memcpy(names[i], line, (size_t)(at - line));
		names[i][at - line] = '\0';
		at++;
	}
}

char **trace_names_create(const struct tact_result_row *rows, size_t n)
{
	char **names = cli_alloc((n + 1) * sizeof(*names));
	struct text question = {0}, answer = {0};
	int from, to;

	memset(names, 0, (n + 1) * sizeof(*names));
	for (size_t i = 0; i < n; i++)
		if (is_mangled(rows[i].function))
			text_printf(&question, "%s\n", rows[i].function);
	if (!question.size)
		return names;
	from = memfd_create("names", MFD_CLOEXEC);
	to = memfd_create("names", MFD_CLOEXEC);
	if (from >= 0 && to >= 0 && write_all(from, &question) && run_filter(from, to) &&
	    read_all(to, &answer))
		take_answer(rows, n, &answer, names);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	text_free(&question);
	text_free(&answer);
	return names;
}

void trace_names_destroy(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

void trace_add_short(struct text *out, const char *name, size_t width)
{
	const size_t size = strlen(name);
	size_t head, tail;

	if (size <= width || width < 8) {
		text_add(out, name);
		return;
	}
	tail = (width - 3) / 2;
	head = width - 3 - tail;
	text_add_bytes(out, name, head);
	text_add(out, "...");
	text_add(out, name + size - tail);
}

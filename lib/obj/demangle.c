/* SPDX-License-Identifier: MIT
 *
 * Names of functions as in the source: C++ and Rust, by way of c++filt (binutils) where there is
 * one.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "obj/obj.h"

extern char **environ;

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

static bool read_all(int fd, struct text *text)
{
	const off_t size = lseek(fd, 0, SEEK_END);
	char *room = size > 0 ? text_reserve(text, (size_t)size) : NULL;

	if (!room || pread(fd, room, (size_t)size, 0) != (ssize_t)size)
		return false;
	text->size += (size_t)size;
	return text->data[text->size - 1] == '\n';
}

/* A line of the answer for each mangled name.  Without memory names stay as they are. */
static void take_answer(const char *const *names, size_t n, const struct text *answer, char **out)
{
	const char *at = answer->data, *end = answer->data + answer->size;

	for (size_t i = 0; i < n && at < end; i++) {
		const char *line = at;

		if (!is_mangled(names[i]))
			continue;
		at = memchr(line, '\n', (size_t)(end - line));
		out[i] = strndup(line, (size_t)(at - line));
		at++;
	}
}

char **obj_demangle(const char *const *names, size_t n)
{
	char **out = calloc(n + 1, sizeof(*out));
	struct text question = {0}, answer = {0};
	int from = -1, to = -1;

	for (size_t i = 0; out && i < n; i++)
		if (is_mangled(names[i]))
			text_printf(&question, "%s\n", names[i]);
	if (question.size && !question.failed) {
		from = memfd_create("names", MFD_CLOEXEC);
		to = memfd_create("names", MFD_CLOEXEC);
	}
	if (from >= 0 && to >= 0 && file_write_all(from, question.data, question.size) >= 0 &&
	    lseek(from, 0, SEEK_SET) == 0 && run_filter(from, to) && read_all(to, &answer))
		take_answer(names, n, &answer, out);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	text_free(&question);
	text_free(&answer);
	return out;
}

void obj_demangle_free(char **names, size_t n)
{
	for (size_t i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}

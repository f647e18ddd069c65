/* SPDX-License-Identifier: MIT
 *
 * Names of functions as in the source: C++ and Rust, through c++filt (binutils) where it is
 * installed.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"
#include "obj/obj.h"

static bool is_mangled(const char *name)
{
	return (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2)) && !strchr(name, '\n');
}

/* Runs c++filt from one file to another.  Returns false if it cannot be run. */
static bool run_filter(int from, int to)
{
	static const char *const argv[] = {"c++filt", "-p", NULL}; /* no parameters */
	const struct process_spec spec = {
		.argv = argv,
		.fds = {{from, STDIN_FILENO}, {to, STDOUT_FILENO}, {PROCESS_NULL, STDERR_FILENO}},
		.n_fds = 3,
	};
	struct process filter;
	int status;

	if (process_start(&filter, &spec))
		return false;
	process_await(&filter);
	status = filter.status;
	process_end(&filter);
	return !status;
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

/* Takes one line of the answer for each mangled name.  If memory runs out, names stay mangled. */
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

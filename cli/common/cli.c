/* SPDX-License-Identifier: MIT
 *
 * Messages, memory and small helpers of the program.
 */
#include "cli.h"

#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/doctor.h>
#include <tact/status.h>

#include "output.h"

static void say(const char *format, va_list args)
{
	struct text line = {0};

	text_add(&line, "tact: ");
	text_vprintf(&line, format, args);
	text_add(&line, "\n");
	text_to_stderr(&line);
	text_free(&line);
}

void cli_message(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

int cli_wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	return CLI_USAGE;
}

void cli_warn_of_emulator(void)
{
	char emulator[TACT_EMULATOR_SIZE];

	if (tact_host_emulator(emulator, sizeof(emulator)))
		cli_message("warning: %s executes this program: the numbers mean nothing, and "
			    "measured code is not kept in a sandbox",
			    emulator);
}

/* A name may have a line end, and the rest of it look like another message. */
static void add_path(struct text *out, const char *path)
{
	for (; *path; path++) {
		const size_t n = strcspn(path, "\n\r\t");

		text_add_bytes(out, path, n);
		path += n;
		if (!*path)
			break;
		text_printf(out, "\\x%02x", (unsigned char)*path);
	}
}

void cli_place(struct text *out, const char *path, uint64_t line, const char *text)
{
	text_add(out, "tact: ");
	if (path)
		add_path(out, path);
	if (path && line)
		text_printf(out, ":%llu", (unsigned long long)line);
	text_printf(out, "%s%s\n", path ? ": " : "", text);
}

int cli_complain(const char *path, const struct tact_diag *diag, int status, int exit_code)
{
	struct text text = {0};

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	cli_place(&text, path, diag->line, diag->text[0] ? diag->text : tact_strerror(status));
	text_to_stderr(&text);
	text_free(&text);
	return exit_code;
}

bool cli_has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcmp(name + n - k, suffix);
}

_Noreturn void cli_out_of_memory(void)
{
	static const char message[] = "tact: out of memory\n";

	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		_exit(CLI_FAILED);
	_exit(CLI_FAILED);
}

void *cli_alloc(size_t size)
{
	return cli_realloc(NULL, size);
}

void *cli_realloc(void *old, size_t size)
{
	void *memory = realloc(old, size ? size : 1);

	if (!memory)
		cli_out_of_memory();
	return memory;
}

char *cli_string(struct text *text)
{
	char *string = text_string(text);

	if (!string)
		cli_out_of_memory();
	return string;
}

char *cli_reserve(struct text *text, size_t room)
{
	char *p = text_reserve(text, room);

	if (!p)
		cli_out_of_memory();
	return p;
}

void cli_fill_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* Opened in the wrong direction, so that its use fails as if it were closed. */
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return;
	}
}

unsigned cli_distance(const char *a, const char *b)
{
	enum { MAX_WORD = 63 };
	unsigned row[MAX_WORD + 1], before[MAX_WORD + 1] = {0}, n = (unsigned)strlen(b);

	if (strlen(a) > MAX_WORD || n > MAX_WORD)
		return MAX_WORD;
	for (unsigned k = 0; k <= n; k++)
		row[k] = k;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0], last = 0; /* those of i - 1, k - 1; i - 2, k - 2 */

		row[0] = i;
		for (unsigned k = 1; k <= n; k++) {
			const int x = tolower((unsigned char)a[i - 1]);
			const int y = tolower((unsigned char)b[k - 1]);
			unsigned best = diagonal + (x != y);
			const unsigned two_before = before[k - 1];

			if (row[k] + 1 < best)
				best = row[k] + 1;
			if (row[k - 1] + 1 < best)
				best = row[k - 1] + 1;
			if (i > 1 && k > 1 && x == tolower((unsigned char)b[k - 2]) &&
			    y == tolower((unsigned char)a[i - 2]) && last + 1 < best)
				best = last + 1; /* two letters changed places */
			before[k - 1] = diagonal;
			last = two_before;
			diagonal = row[k];
			row[k] = best;
		}
	}
	return row[n];
}

static size_t longer(const char *a, const char *b)
{
	return strlen(a) > strlen(b) ? strlen(a) : strlen(b);
}

const char *cli_nearest(const char *word, size_t n,
			const char *(*name)(size_t i, const void *context), const void *context)
{
	unsigned best = 3 + (unsigned)strlen(word) / 4;
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *candidate = name(i, context);
		unsigned d = candidate ? cli_distance(word, candidate) : best;

		if (candidate && strlen(word) >= 3 && !strncmp(word, candidate, strlen(word)))
			d = 0; /* the beginning of it */
		/* More than half of the letters differ by chance. */
		else if (candidate && 2 * d >= longer(word, candidate))
			continue;
		if (d < best && d <= 3) {
			best = d;
			found = candidate;
		}
	}
	return found;
}

unsigned cli_cores(void)
{
	cpu_set_t set;
	long n;

	if (!sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 0)
		return (unsigned)CPU_COUNT(&set);
	n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (unsigned)n : 1;
}

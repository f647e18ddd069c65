/* SPDX-License-Identifier: MIT
 *
 * How wide text may be.
 */
#include "terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The user's word; 0: none. */
static size_t asked_for(void)
{
	const char *text = getenv("COLUMNS");
	char *end;
	unsigned long n;

	if (!text || *text < '0' || *text > '9')
		return 0;
	n = strtoul(text, &end, 10);
	return *end || n < TERMINAL_LEAST || n > TERMINAL_MOST ? 0 : (size_t)n;
}

static size_t width_of(int fd)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col && size.ws_col < TERMINAL_LEAST ? TERMINAL_LEAST : size.ws_col;
}

size_t terminal_width_of(int fd)
{
	const size_t asked = asked_for();

	return asked ? asked : width_of(fd);
}

size_t terminal_width(const char *output)
{
	const size_t asked = asked_for();

	if (output)
		return 0;
	return asked ? asked : width_of(STDOUT_FILENO);
}

bool terminal_is_output(const char *output)
{
	return !output && isatty(STDOUT_FILENO);
}

size_t terminal_width_of_errors(void)
{
	return width_of(STDERR_FILENO);
}

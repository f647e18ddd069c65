/* SPDX-License-Identifier: MIT
 *
 * Where text goes.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

int output_open(struct output *out, const char *path)
{
	*out = (struct output){.fd = STDOUT_FILENO, .name = "standard output"};
	if (!path)
		return 0;
	out->name = path;
	out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out->fd >= 0)
		return 0;
	cli_message("%s: %s", path, strerror(errno));
	out->failed = true;
	return -1;
}

static void fail(struct output *out)
{
	/* A reader that closed the pipe (head, less) needs no message. */
	if (errno != EPIPE)
		cli_message("%s: %s", out->name, strerror(errno));
	out->failed = true;
}

int output_sink(void *arg, const char *data, size_t size)
{
	struct output *out = arg;
	size_t done = 0;

	while (done < size && !out->failed) {
		ssize_t n = write(out->fd, data + done, size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			fail(out);
	}
	return out->failed;
}

void output_write(struct output *out, struct text *text)
{
	if (text->failed)
		cli_out_of_memory();
	output_sink(out, text->data, text->size);
	text->size = 0;
}

int output_close(struct output *out)
{
	/* Network file systems report only now that the disk is full. */
	if (out->fd >= 0 && close(out->fd) && !out->failed)
		fail(out);
	out->fd = -1;
	return out->failed ? -1 : 0;
}

int output_all(const char *path, struct text *text)
{
	struct output out;
	int status = CLI_FAILED;

	if (!output_open(&out, path)) {
		output_write(&out, text);
		status = output_close(&out) ? CLI_FAILED : CLI_GOOD;
	}
	text_free(text);
	return status;
}

void text_to_stderr(struct text *text)
{
	size_t done = 0;

	while (done < text->size) {
		ssize_t n = write(STDERR_FILENO, text->data + done, text->size - done);

		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			done += (size_t)n;
	}
	text->size = 0;
}

void text_clear_line(void)
{
	struct text text = {0};

	text_add(&text, "\r\033[K");
	text_to_stderr(&text);
	text_free(&text);
}

/* SPDX-License-Identifier: MIT
 *
 * Where text goes.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "plain.h"

/* The last line of the terminal is one of progress. */
static atomic_bool is_bar_shown;

/* Writes to standard error as it is; errors cannot be reported anywhere. */
static void write_raw(const char *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(STDERR_FILENO, data + done, size - done);

		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			done += (size_t)n;
	}
}

void output_bar(struct text *line)
{
	struct text whole = {0};

	text_add(&whole, "\r\033[K");
	if (line->size)
		plain_add(&whole, line->data, line->size);
	atomic_store(&is_bar_shown, true);
	write_raw(whole.data, whole.size);
	text_free(&whole);
}

void output_clear_bar(void)
{
	static const char clear[] = "\r\033[K";

	if (atomic_load_explicit(&is_bar_shown, memory_order_relaxed) &&
	    atomic_exchange(&is_bar_shown, false))
		write_raw(clear, sizeof(clear) - 1);
}

int output_open(struct output *out, const char *path)
{
	struct tact_diag diag = {0};

	*out = (struct output){.fd = STDOUT_FILENO, .name = "standard output"};
	if (!path || !strcmp(path, "-"))
		return 0;
	out->name = path;
	if (file_begin(&out->file, path, 0666, &diag) < 0) {
		cli_message("%s: %s", path, diag.text);
		out->failed = true;
		out->fd = -1;
		return -1;
	}
	out->is_made = true;
	out->fd = out->file.fd;
	return 0;
}

int output_open_beside(struct output *out, const char *path)
{
	if (path)
		return output_open(out, path);
	*out = (struct output){.fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3),
			       .name = "standard error"};
	return 0;
}

static void fail(struct output *out)
{
	/* A reader that closed the pipe (head, less) needs no message. */
	if (errno != EPIPE)
		cli_message("%s: %s", out->name, strerror(errno));
	out->failed = true;
}

static void write_out(struct output *out, const char *data, size_t size)
{
	size_t done = 0;

	while (done < size && !out->failed) {
		ssize_t n = write(out->fd, data + done, size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			fail(out);
	}
}

static void write_plain(struct output *out, const char *data, size_t size)
{
	struct text whole = {0}, plain = {0};

	text_add_bytes(&whole, out->held, out->n_held);
	text_add_bytes(&whole, data, size);
	out->n_held = (unsigned)plain_add(&plain, whole.data, whole.size);
	if (whole.failed || plain.failed)
		cli_out_of_memory();
	memcpy(out->held, whole.data + whole.size - out->n_held, out->n_held);
	write_out(out, plain.data, plain.size);
	text_free(&whole);
	text_free(&plain);
}

int output_sink(void *arg, const char *data, size_t size)
{
	struct output *out = arg;

	if (!size)
		return out->failed;
	output_clear_bar();
	if (!out->is_known)
		out->is_terminal = isatty(out->fd);
	out->is_known = true;
	if (out->is_terminal)
		write_plain(out, data, size);
	else
		write_out(out, data, size);
	return out->failed;
}

void output_write(struct output *out, struct text *text)
{
	if (text->failed)
		cli_out_of_memory();
	output_sink(out, text->data, text->size);
	text->size = 0;
}

static int close_made(struct output *out)
{
	struct tact_diag diag = {0};

	out->is_made = false;
	out->fd = -1;
	if (out->failed) {
		file_abandon(&out->file);
	} else if (file_finish(&out->file, &diag) < 0) {
		cli_message("%s: %s", out->name, diag.text);
		out->failed = true;
	}
	return out->failed ? -1 : 0;
}

int output_close(struct output *out)
{
	if (out->is_made)
		return close_made(out);
	/* Network file systems report only now that the disk is full. */
	if (out->fd >= 0 && close(out->fd) && !out->failed)
		fail(out);
	out->fd = -1;
	return out->failed ? -1 : 0;
}

void output_abandon(struct output *out)
{
	out->failed = true;
	output_close(out);
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

/* Wherever errors go: logs are shown on terminals, too. */
void text_to_stderr(struct text *text)
{
	struct text plain = {0};
	size_t left;

	if (text->size) {
		left = plain_add(&plain, text->data, text->size);
		if (plain.failed)
			cli_out_of_memory();
		output_clear_bar();
		write_raw(plain.data, plain.size);
		for (; left; left--)
			write_raw("?", 1);
	}
	text_free(&plain);
	text->size = 0;
}

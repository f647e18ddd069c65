/* SPDX-License-Identifier: MIT
 *
 * The compiler writes to files in memory, as the assembler does: no pipe can fill up.
 */
#include "input/compile.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

enum { LIMIT_MS = 120000, STEP_MS = 2 };

static int no_memory(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

/* Waits for the end; false if that takes too long. */
static bool await(struct process *child)
{
	const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
	int waited;

	for (waited = 0; waited < LIMIT_MS && !process_has_ended(child); waited += STEP_MS)
		nanosleep(&step, NULL);
	return child->has_ended;
}

/* Reports the first line that says error, as the compiler wrote it. */
static int report(const char *program, const char *messages, struct tact_diag *diag)
{
	const char *error = strstr(messages, "rror"), *line = messages;

	if (error)
		for (line = error; line > messages && line[-1] != '\n';)
			line--;
	if (!*line)
		return tact_fail(diag, TACT_E_FORMAT, "%s failed without a message", program);
	return tact_fail(diag, TACT_E_FORMAT, "%s: %.*s", program, (int)strcspn(line, "\n"), line);
}

static int run(const char *const *command, int out, int messages, struct text *said,
	       struct tact_diag *diag)
{
	const struct process_spec spec = {
		.argv = command,
		.fds = {{PROCESS_NULL, STDIN_FILENO},
			{out, STDOUT_FILENO},
			{messages, STDERR_FILENO}},
		.n_fds = 3,
	};
	struct process child;
	const int error = process_start(&child, &spec);
	bool has_ended;
	int status;

	if (error == ENOENT)
		return tact_fail(diag, TACT_E_NO_TOOL, "the compiler '%s' was not found",
				 command[0]);
	if (error) {
		errno = error;
		return tact_fail_errno(diag, command[0]);
	}
	has_ended = await(&child);
	status = child.status;
	process_end(&child);
	if (!has_ended)
		return tact_fail(diag, TACT_E_LIMIT, "%s was stopped after %d seconds", command[0],
				 LIMIT_MS / 1000);
	if (!status)
		return 0;
	if (lseek(messages, 0, SEEK_SET) < 0)
		return tact_fail_errno(diag, command[0]);
	status = file_read_all(messages, SIZE_MAX, said, diag);
	if (status < 0)
		return status;
	return text_string(said) ? report(command[0], said->data, diag) : no_memory(diag);
}

static int add_remark(struct tact_input *in, const char *const *command, struct tact_diag *diag)
{
	struct text words = {0};
	int status = in->general ? 0 : tact_remarks_create(&in->general);

	for (; *command; command++) {
		text_add(&words, words.size ? " " : "");
		text_add(&words, *command);
	}
	if (status >= 0 && text_string(&words))
		status = tact_remarks_add(in->general, "compiled", "compiled by: %s", words.data);
	if (status < 0 || words.failed)
		status = no_memory(diag);
	text_free(&words);
	return status;
}

int input_compile(struct tact_input *in, const char *const *command, struct tact_diag *diag)
{
	const int out = memfd_create("tact-assembly", MFD_CLOEXEC);
	const int messages = memfd_create("tact-messages", MFD_CLOEXEC);
	struct text said = {0}, text = {0};
	int status;

	if (out < 0 || messages < 0)
		status = tact_fail_errno(diag, "memfd_create");
	else
		status = run(command, out, messages, &said, diag);
	if (status >= 0 && lseek(out, 0, SEEK_SET) < 0)
		status = tact_fail_errno(diag, command[0]);
	if (status >= 0)
		status = file_read_all(out, SIZE_MAX, &text, diag);
	if (status >= 0)
		status = add_remark(in, command, diag);
	if (out >= 0)
		close(out);
	if (messages >= 0)
		close(messages);
	text_free(&said);
	if (status < 0) {
		text_free(&text);
		return status;
	}
	in->reader.data = text.data;
	in->reader.capacity = text.capacity;
	in->reader.end = text.size;
	in->reader.is_eof = true;
	return 0;
}

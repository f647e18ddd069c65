/* SPDX-License-Identifier: MIT
 *
 * An assembler as a subprocess.  Text, object and messages go through files in memory: nothing must be
 * removed afterwards, no pipe can fill up, and there is no name that two runs could share.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/box.h"
#include "base/emulator.h"
#include "base/file.h"
#include "base/process.h"
#include "isa/assemble.h"
#include "llvm/llvm.h"

extern char **environ;

/* Where the child finds the object: its own descriptor 3. */
#define OBJECT_FD   3
#define OBJECT_PATH "/proc/self/fd/3"

struct run {
	int text, object, messages; /* files in memory; -1: not open */
	const char **environment;   /* ours, with messages in English; owned, its strings are not */
	const char *path;	    /* PATH, or the folder of our own program; NULL: none */
	const struct isa_assembler *assembler;
	struct box box;
	struct tact_diag *diag;
};

static int fail_errno(const struct run *run, const char *what)
{
	return tact_fail_errno(run->diag, what);
}

/* Reads a whole file in memory and adds a NUL. */
static int read_all(const struct run *run, int fd, uint8_t **out, size_t *size)
{
	struct text text = {0};
	int status = lseek(fd, 0, SEEK_SET) < 0 ? fail_errno(run, "as")
						: file_read_all(fd, SIZE_MAX, &text, run->diag);

	if (status >= 0 && !text_string(&text))
		status = tact_fail(run->diag, TACT_E_NOMEM, "out of memory");
	if (status < 0) {
		text_free(&text);
		return status;
	}
	*out = (uint8_t *)text.data;
	*size = text.size;
	return 0;
}

/* A translated "Error:" would not be found in the messages. */
static int make_environment(struct run *run)
{
	size_t n = 0, i;

	while (environ && environ[n])
		n++;
	run->environment = calloc(n + 2, sizeof(*run->environment));
	if (!run->environment)
		return tact_fail(run->diag, TACT_E_NOMEM, "out of memory");
	run->environment[0] = "LC_ALL=C";
	for (i = 0, n = 1; environ && environ[i]; i++)
		if (strncmp(environ[i], "LC_ALL=", 7) && strncmp(environ[i], "LANGUAGE=", 9)) {
			run->environment[n++] = environ[i];
			if (!strncmp(environ[i], "PATH=", 5))
				run->path = environ[i] + 5;
		}
	return 0;
}

enum { MAX_WORDS = 16 };

static void add_options(const char **argv, size_t n, const char *const *options)
{
	while (options && *options && n + 1 < MAX_WORDS)
		argv[n++] = *options++;
}

/* Starts the usual assembler, or another command. */
static int spawn(const struct run *run, const struct asm_source *source, const char *const *command,
		 struct process *child)
{
	const struct isa_assembler *assembler = source->assembler;
	const char *argv[MAX_WORDS] = {assembler->program, "--no-warn", "-o", OBJECT_PATH};
	const struct process_spec spec = {
		.argv = argv,
		.environment = (char *const *)(uintptr_t)run->environment,
		.fds = {{run->text, STDIN_FILENO},
			{run->messages, STDOUT_FILENO},
			{run->messages, STDERR_FILENO},
			{run->object, OBJECT_FD}},
		.n_fds = 4,
		.box = &run->box,
		.box_path = run->path,
	};
	size_t n = 4;
	int error;

	/* A line table of the text itself.  If the text has a table of its own, clang's needs
	 * version 5, too: before that, as accepts no directory in .file.
	 */
	if (!source->is_listing && !command)
		argv[n++] = "--gdwarf-5";
	if (command) {
		add_options(argv, 0, command);
		for (n = 0; argv[n] && command[n]; n++)
			;
		argv[n] = OBJECT_PATH;
		argv[n + 1] = NULL;
	} else {
		add_options(argv, n, assembler->options);
	}
	error = process_start(child, &spec);
	if (error == ENOENT && command)
		return -TACT_E_NO_TOOL;
	if (error == ENOENT)
		return tact_fail(run->diag, TACT_E_NO_TOOL,
				 "the assembler '%s' was not found; it is in the package %s",
				 assembler->program, assembler->package);
	if (!error)
		return 0;
	errno = error > PROCESS_NO_BOX ? error - PROCESS_NO_BOX : error;
	return fail_errno(run, error > PROCESS_NO_BOX ? "cannot put the assembler into its sandbox"
						      : "cannot run the assembler");
}

/* Far more than text of this size takes, unless it repeats itself without end. */
static void set_box(struct run *run, size_t size)
{
	enum { MB = 1 << 20 };
	char emulator[PATH_MAX];

	run->box = (struct box){.memory = 1024ull * MB + 64 * (uint64_t)size,
				.file_size = 64ull * MB + 64 * (uint64_t)size,
				.cpu_seconds = 10 + size / MB,
				.descriptors = 64,
				.is_emulated = emulator_find(emulator, sizeof(emulator))};
}

static const char *program_name(const struct run *run)
{
	return run->assembler->own ? run->assembler->own[0] : run->assembler->program;
}

/* The bounds of its box end it so. */
static int report_signal(const struct run *run, int number)
{
	if (number == SIGXFSZ)
		return tact_fail(run->diag, TACT_E_LIMIT,
				 "the text makes more than %u MB of code or messages",
				 (unsigned)(run->box.file_size >> 20));
	if (number == SIGXCPU || number == SIGKILL)
		return tact_fail(run->diag, TACT_E_LIMIT,
				 "assembling takes more than %u seconds: does the text repeat "
				 "itself without end?",
				 (unsigned)run->box.cpu_seconds);
	if (number == SIGSEGV)
		return tact_fail(
			run->diag, TACT_E_LIMIT,
			"the assembler '%s' broke down: does the text repeat itself without end, "
			"or is an expression nested too deeply?",
			program_name(run));
	return tact_fail(run->diag, TACT_E_IO, "the assembler '%s' was ended by signal %d",
			 program_name(run), number);
}

/* Reports the first "{standard input}:12: Error: text"; the lines are the user's.  Messages about
 * other files (.include) keep their place in the text.
 */
static int report(const struct run *run, const char *messages, int wait_status)
{
	static const char input[] = ASM_INPUT;
	const char *line, *next, *text, *set = run->assembler->set;

	for (line = messages; *line; line = next) {
		const char *end = line + strcspn(line, "\n");
		unsigned long number = 0;

		next = end + (*end == '\n');
		text = memmem(line, (size_t)(end - line), "rror: ", 6); /* Error:, Fatal error: */
		if (!text)
			continue;
		text += 6;
		if (!strncmp(line, input, strlen(input)))
			number = strtoul(line + strlen(input), NULL, 10);
		else
			text = line;
		while (text < end && *text == ' ')
			text++;
		if (text == end)
			return tact_fail_at(run->diag, TACT_E_FORMAT, number, 0,
					    "the assembler '%s' gave no reason", program_name(run));
		return tact_fail_at(run->diag, TACT_E_FORMAT, number, 0, "%.*s%s%s%s",
				    (int)(end - text), text, set ? " (assembled as " : "",
				    set ? set : "", set ? ")" : "");
	}
	if (WIFSIGNALED(wait_status))
		return report_signal(run, WTERMSIG(wait_status));
	messages += strspn(messages, "\n");
	if (strstr(messages, "out of memory"))
		return tact_fail(run->diag, TACT_E_LIMIT,
				 "assembling takes more than %u MB of memory: does the text repeat "
				 "itself without end?",
				 (unsigned)(run->box.memory >> 20));
	return tact_fail(run->diag, TACT_E_FORMAT, "'%s' failed: %.*s", program_name(run),
			 (int)strcspn(messages, "\n"), messages);
}

/* Writes the text for the child.  A directive says that it begins in Intel syntax: with options for
 * that, as takes the FLAT of "OFFSET FLAT:x" for a register.
 */
static int write_source(const struct run *run, const struct asm_source *source)
{
	const struct isa_assembler *assembler = source->assembler;
	const char *directive = assembler->directive[TACT_SYNTAX_INTEL];

	if (source->starts_intel && directive &&
	    (file_write_all(run->text, directive, strlen(directive)) < 0 ||
	     file_write_all(run->text, assembler->intel_argument,
			    strlen(assembler->intel_argument)) < 0 ||
	     file_write_all(run->text, ";", 1) < 0))
		return fail_errno(run, "memory file");
	if (file_write_all(run->text, source->text, source->size) < 0 ||
	    lseek(run->text, 0, SEEK_SET) < 0)
		return fail_errno(run, "memory file");
	return 0;
}

/* Runs one program.  *messages, which the caller frees, is what it said if it failed. */
static int run_program(struct run *run, const struct asm_source *source, const char *const *command,
		       char **messages)
{
	struct process child;
	int status, wait_status;
	uint8_t *text = NULL;
	size_t size;

	*messages = NULL;
	if (ftruncate(run->object, 0) || ftruncate(run->messages, 0) ||
	    lseek(run->text, 0, SEEK_SET) < 0 || lseek(run->object, 0, SEEK_SET) < 0 ||
	    lseek(run->messages, 0, SEEK_SET) < 0)
		return fail_errno(run, "memory file");
	status = spawn(run, source, command, &child);
	if (status < 0)
		return status;
	process_await(&child);
	wait_status = child.status;
	process_end(&child);
	status = read_all(run, run->messages, &text, &size);
	if (status < 0)
		return status;
	*messages = (char *)text;
	if (wait_status || strstr(*messages, "rror: "))
		status = report(run, *messages, wait_status);
	return status;
}

static bool is_unknown(const char *messages)
{
	return messages && strstr(messages, ASM_UNKNOWN);
}

/* LLVM's own notation: a blank before a mask, an empty address, operands in another order. */
static bool is_notation(const char *messages)
{
	static const char *const signs[] = {"unknown vector operation", "after expression",
					    "operand type mismatch", "unknown pseudo-op"};

	for (size_t i = 0; messages && i < ARRAY_SIZE(signs); i++)
		if (strstr(messages, signs[i]))
			return true;
	return false;
}

/* An old assembler does not know new instructions; LLVM's may.  Returns whether one did. */
static bool run_others(struct run *run, struct asm_source *source)
{
	const struct isa_assembler *assembler = source->assembler;
	struct tact_diag *diag = run->diag;
	bool is_done = false;
	size_t i;

	run->diag = NULL; /* the first message is the one that counts */
	for (i = 0; i < assembler->n_others && !is_done; i++) {
		char *messages;

		is_done = run_program(run, source, assembler->others[i], &messages) >= 0;
		if (is_done)
			source->program = assembler->others[i][0];
		free(messages);
	}
	run->diag = diag;
	return is_done;
}

/* tact's own program reads no others, and nothing but its folder has to stay readable for it. */
static int run_own(struct run *run, const struct asm_source *source)
{
	const char *const *own = source->assembler->own;
	const char *command[MAX_WORDS] = {0};
	char path[PATH_MAX], folder[PATH_MAX];
	char *messages = NULL;
	int status = make_environment(run);

	if (status < 0)
		return status;
	status = llvm_program(own[0], path, sizeof(path), run->diag);
	if (status >= 0) {
		add_options(command, 0, own);
		command[0] = path;
		snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
		run->path = folder;
		status = run_program(run, source, command, &messages);
		free(messages);
	}
	return status;
}

static int run_as(struct run *run, struct asm_source *source)
{
	enum { ROUNDS = 4 }; /* as stops after some errors, which may hide others */
	char *messages = NULL;
	int status, round;

	status = make_environment(run);
	for (round = 0; status >= 0 && round < ROUNDS; round++) {
		size_t n;

		free(messages);
		status = run_program(run, source, NULL, &messages);
		if (status >= 0 || (!is_unknown(messages) && !is_notation(messages)))
			break;
		if (!round && run_others(run, source)) {
			status = 0;
			break;
		}
		n = source->is_skipping && is_unknown(messages) ? asm_skip_unknown(source, messages)
								: 0;
		if (!n)
			break;
		source->n_skipped += n;
		status = ftruncate(run->text, 0) || lseek(run->text, 0, SEEK_SET) < 0
				 ? fail_errno(run, "memory file")
				 : write_source(run, source);
	}
	free(messages);
	return status;
}

static int open_memory(const struct run *run, const char *name, int *out)
{
	const int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		return fail_errno(run, "memfd_create");
	/* Above the descriptors that have another meaning in the child. */
	*out = fcntl(fd, F_DUPFD_CLOEXEC, OBJECT_FD + 1);
	close(fd);
	return *out < 0 ? fail_errno(run, "dup") : 0;
}

static void close_memory(int fd)
{
	if (fd >= 0)
		close(fd);
}

int asm_assemble(struct asm_source *source, uint8_t **image, size_t *size, struct tact_diag *diag)
{
	const bool is_own = source->assembler->own;
	struct run run = {.text = -1,
			  .object = -1,
			  .messages = -1,
			  .assembler = source->assembler,
			  .diag = diag};
	int status;

	status = asm_refuse(source, diag);
	if (status < 0)
		return status;
	set_box(&run, source->size);
	status = open_memory(&run, "tact-text", &run.text);
	if (status >= 0)
		status = open_memory(&run, "tact-object", &run.object);
	if (status >= 0)
		status = open_memory(&run, "tact-messages", &run.messages);
	if (status >= 0)
		status = write_source(&run, source);
	if (status >= 0)
		status = is_own ? run_own(&run, source) : run_as(&run, source);
	if (status >= 0)
		status = read_all(&run, run.object, image, size);
	free(run.environment);
	close_memory(run.messages);
	close_memory(run.object);
	close_memory(run.text);
	return status;
}

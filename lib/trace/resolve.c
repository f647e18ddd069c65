/* SPDX-License-Identifier: MIT
 *
 * What QEMU runs: QEMU does not search PATH and does not know scripts.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "isa/isa.h"
#include "trace/trace.h"

/* The kernel reads 256 bytes, and follows interpreters four times. */
enum { HEAD_BYTES = 256, MAX_SCRIPTS = 4 };

static bool is_executable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* Searches the directories of a path below a root.  *out stays NULL if none has the program. */
static int search(char **out, const char *root, const char *name, const char *path)
{
	for (const char *p = path; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
		const int n = (int)strcspn(p, ":");
		char *full;

		if (*root && *p != '/') /* the current directory is below no other root */
			continue;
		if (asprintf(&full, "%s%.*s/%s", root, n ? n : 1, n ? p : ".", name) < 0)
			return -TACT_E_NOMEM;
		if (is_executable(full)) {
			*out = full;
			return 0;
		}
		free(full);
	}
	return 0;
}

int trace_find_program(char **out, const char *name, const char *path)
{
	*out = NULL;
	if (!strchr(name, '/'))
		return search(out, "", name, path);
	*out = strdup(name);
	return *out ? 0 : -TACT_E_NOMEM;
}

/* QEMU looks for what a program opens by an absolute path below the sysroot first; so do we for the
 * program and the interpreter of a script, which QEMU takes as they are.
 */
static int find_below(char **out, const struct trace_command *c, const char *name, const char *path)
{
	int status = 0;

	*out = NULL;
	if (c->sysroot && !strchr(name, '/'))
		status = search(out, c->sysroot, name, path);
	if (c->sysroot && *name == '/' && asprintf(out, "%s%s", c->sysroot, name) < 0) {
		*out = NULL;
		return -TACT_E_NOMEM;
	}
	if (status || (*out && is_executable(*out)))
		return status;
	free(*out);
	return trace_find_program(out, name, path);
}

static int check_access(const char *path, struct tact_diag *diag)
{
	struct stat st;

	if (stat(path, &st))
		return tact_fail(diag, TACT_E_IO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return tact_fail(diag, TACT_E_IO, "%s: not a file that can be executed", path);
	if (access(path, X_OK))
		return tact_fail(diag, TACT_E_IO, "%s: %s", path, strerror(errno));
	return 0;
}

static int check_elf(struct trace_command *c, const char *head, size_t size, struct tact_diag *diag)
{
	const char *path = c->words[2];
	char titles[96];
	Elf64_Ehdr e;

	if (size < sizeof(e))
		return tact_fail(diag, TACT_E_FORMAT, "%s: an ELF file that is cut short", path);
	memcpy(&e, head, sizeof(e));
	c->isa = isa_of_elf(e.e_ident, e.e_machine);
	if (!c->isa || !c->isa->qemu)
		return tact_fail(diag, TACT_E_FORMAT,
				 "%s: a program for another machine; only %s code can be run", path,
				 isa_titles(titles, sizeof(titles)));
	if (e.e_type != ET_EXEC && e.e_type != ET_DYN)
		return tact_fail(diag, TACT_E_FORMAT, "%s: an ELF file, but not a program", path);
	return isa_check(c->isa, diag);
}

const struct tact_isa *trace_foreign_set(const char *path)
{
	const struct tact_isa *isa = NULL;
	FILE *f = fopen(path, "re");
	Elf64_Ehdr e;

	if (!f)
		return NULL;
	if (fread(&e, sizeof(e), 1, f) == 1 && !memcmp(e.e_ident, ELFMAG, SELFMAG))
		isa = isa_of_elf(e.e_ident, e.e_machine);
	fclose(f);
	return isa && isa_native() && isa != isa_native() ? isa : NULL;
}

static int add_word(struct trace_command *c, size_t at, const char *word)
{
	char **grown = realloc(c->words, (c->n_words + 2) * sizeof(*c->words));
	char *copy;

	if (!grown)
		return -TACT_E_NOMEM;
	c->words = grown;
	copy = strdup(word);
	if (!copy)
		return -TACT_E_NOMEM;
	memmove(&grown[at + 1], &grown[at], (c->n_words - at) * sizeof(*grown));
	grown[at] = copy;
	grown[++c->n_words] = NULL;
	return 0;
}

/* Parses "#!interpreter argument" in head, which is modified. */
static char *interpreter_of(char *head, size_t size, char **argument)
{
	char *end, *name;

	head[size < HEAD_BYTES ? size : HEAD_BYTES - 1] = '\0';
	end = head + strcspn(head, "\n");
	while (end > head + 2 && strchr(" \t\r", end[-1]))
		end--;
	*end = '\0';
	name = head + 2 + strspn(head + 2, " \t");
	*argument = name + strcspn(name, " \t");
	if (**argument)
		*(*argument)++ = '\0';
	*argument += strspn(*argument, " \t");
	return name;
}

static int read_head(const char *path, char *head, size_t *size, struct tact_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : file_read_up_to(fd, head, HEAD_BYTES);

	if (n < 0)
		tact_fail(diag, TACT_E_IO, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	*size = n < 0 ? 0 : (size_t)n;
	return n < 0 ? -TACT_E_IO : 0;
}

/* words[2] is the program; the interpreter of a script takes its place.  Returns 1 if it did. */
static int resolve_once(struct trace_command *c, struct tact_diag *diag)
{
	char head[HEAD_BYTES], titles[96], *name, *argument, *file;
	size_t size;
	int status;

	status = check_access(c->words[2], diag);
	if (!status)
		status = read_head(c->words[2], head, &size, diag);
	if (status)
		return status;
	if (size >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG))
		return check_elf(c, head, size, diag);
	if (size < 3 || head[0] != '#' || head[1] != '!')
		return tact_fail(diag, TACT_E_FORMAT,
				 "%s: neither a program for %s (ELF) nor a script that begins "
				 "with #!",
				 c->words[2], isa_titles(titles, sizeof(titles)));
	name = interpreter_of(head, size, &argument);
	status = find_below(&file, c, name, ".");
	if (!status && (!file || access(file, X_OK)))
		status = tact_fail(diag, TACT_E_IO, "%s: its interpreter %s cannot be run: %s",
				   c->words[2], *name ? name : "(none)",
				   strerror(file ? errno : ENOENT));
	if (!status && *argument)
		status = add_word(c, 2, argument);
	if (!status)
		status = add_word(c, 2, file);
	free(file);
	if (status)
		return status;
	free(c->words[1]); /* argv[0] is the interpreter's name, as with the kernel */
	c->words[1] = strdup(name);
	return c->words[1] ? 1 : -TACT_E_NOMEM;
}

/* Makes the words of a command as it is given. */
static int begin_command(struct trace_command *c, const char *path, char *const argv[],
			 struct tact_diag *diag)
{
	char *program;
	int status = find_below(&program, c, argv[0], path);

	if (!status && !program && !*argv[0])
		return tact_fail(diag, TACT_E_IO, "the name of the program is empty");
	if (!status && !program)
		return tact_fail(diag, TACT_E_IO, "%s: there is no such program in PATH", argv[0]);
	if (!status)
		status = add_word(c, 0, "-0");
	if (!status)
		status = add_word(c, 1, argv[0]);
	if (!status)
		status = add_word(c, 2, program);
	for (size_t i = 1; argv[i] && !status; i++)
		status = add_word(c, c->n_words, argv[i]);
	free(program);
	return status;
}

int trace_command_resolve(struct trace_command *command, const char *path, const char *sysroot,
			  char *const argv[], struct tact_diag *diag)
{
	struct trace_command c = {0};
	int status = sysroot ? trace_sysroot_check(&c.sysroot, sysroot, diag) : 0, depth = 0;

	if (!status)
		status = begin_command(&c, path, argv, diag);
	while (!status) {
		status = resolve_once(&c, diag);
		if (!status)
			break;
		if (status == 1)
			status = ++depth <= MAX_SCRIPTS
					 ? 0
					 : tact_fail(diag, TACT_E_FORMAT,
						     "%s: too many interpreters", argv[0]);
	}
	if (status == -TACT_E_NOMEM)
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status)
		trace_command_fini(&c);
	else
		*command = c;
	return status;
}

void trace_command_fini(struct trace_command *command)
{
	for (size_t i = 0; i < command->n_words; i++)
		free(command->words[i]);
	free(command->words);
	free(command->sysroot);
	*command = (struct trace_command){0};
}

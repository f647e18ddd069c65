/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * execve.  QEMU would run the new program natively; here it is started under QEMU again, with the
 * same options, from the sysroot if that has it.  Programs for which that is impossible (other
 * machines, set-user-id programs) are left to QEMU, with a note.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tact_plugin.h"

enum { MAX_STRINGS = 65536, MAX_SCRIPTS = 4, HEAD_BYTES = 256 };

static char **own_argv; /* QEMU and its options, then -0, argv[0], the program, ... */
static unsigned n_own, n_kept;
static const char *sysroot; /* argument of QEMU's -L; NULL: none */
static char qemu_path[WIRE_MAX_PATH];

void exec_prepare(unsigned kept)
{
	ssize_t n = readlink("/proc/self/exe", qemu_path, sizeof(qemu_path) - 1);
	size_t size, at;
	char *text;

	if (!kept || n <= 0 || read_text("/proc/self/cmdline", &text, &size))
		return;
	qemu_path[n] = '\0';
	own_argv = calloc(size + 1, sizeof(*own_argv));
	if (!own_argv)
		return;
	for (at = 0; at < size; at += strlen(text + at) + 1)
		own_argv[n_own++] = text + at;
	/* -0 NAME PROGRAM must follow the options. */
	if (n_own >= kept + 3)
		n_kept = kept;
	for (unsigned i = 1; i + 1 < n_kept; i++)
		if (!strcmp(own_argv[i], "-L"))
			sysroot = own_argv[i + 1];
}

/* The program may pass any number as a pointer. */
static bool read_guest(uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size};
	struct iovec remote = {(void *)(uintptr_t)(address + plugin.guest_base), size};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static bool is_string(uint64_t address, char *copy, size_t room)
{
	for (size_t i = 0; i < room; i++) {
		if (!read_guest(address + i, &copy[i], 1))
			return false;
		if (!copy[i])
			return true;
	}
	return false;
}

/* Copies a vector of strings of the program, with `before` free places at its start.  The strings
 * stay the program's: execve of this process reads them, and refuses bad ones.
 */
static char **read_vector(uint64_t address, size_t before, size_t *count)
{
	char **vector = calloc(before + 1, sizeof(*vector));
	size_t n = before, room = before + 1;

	while (vector && address) {
		uint64_t string;

		if (n - before >= MAX_STRINGS || !read_guest(address, &string, sizeof(string))) {
			free(vector);
			return NULL;
		}
		if (!string)
			break;
		if (n + 1 >= room) {
			char **grown = realloc(vector, (room = 2 * room + 16) * sizeof(*vector));

			if (!grown) {
				free(vector);
				return NULL;
			}
			vector = grown;
		}
		vector[n++] = (char *)(uintptr_t)(string + plugin.guest_base);
		address += sizeof(string);
	}
	if (vector)
		vector[n] = NULL;
	*count = n - before;
	return vector;
}

static ssize_t read_head(const char *path, char *head)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	n = read(fd, head, HEAD_BYTES);
	close(fd);
	return n;
}

static bool is_program(const char *head, ssize_t n)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)head;

	return n >= (ssize_t)sizeof(*e) && !memcmp(e->e_ident, ELFMAG, SELFMAG) &&
	       e->e_ident[EI_CLASS] == ELFCLASS64 && e->e_machine == plugin.machine &&
	       (e->e_type == ET_EXEC || e->e_type == ET_DYN);
}

/* Parses "#!interpreter argument": cuts the line; *argument is NULL if there is none. */
static char *interpreter_of(char *head, ssize_t n, char **argument)
{
	char *end, *name;

	if (n < 4 || head[0] != '#' || head[1] != '!')
		return NULL;
	head[n < HEAD_BYTES ? n : HEAD_BYTES - 1] = '\0';
	end = strchr(head, '\n');
	if (!end)
		return NULL;
	while (end > head + 2 && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	*end = '\0';
	name = head + 2 + strspn(head + 2, " \t");
	if (!*name)
		return NULL;
	*argument = name + strcspn(name, " \t");
	if (**argument) {
		*(*argument)++ = '\0';
		*argument += strspn(*argument, " \t");
	}
	if (!**argument)
		*argument = NULL;
	return name;
}

/* Words that scripts put before the program's own arguments; the last ones come first. */
struct chain {
	const char *program; /* as the program calls it */
	const char *file;    /* where it is: below the sysroot, or the same */
	const char *before[2 * MAX_SCRIPTS];
	unsigned n_before;
	char heads[MAX_SCRIPTS][HEAD_BYTES] __attribute__((aligned(8)));
	char below[WIRE_MAX_PATH];
};

/* What the program opens by an absolute path, QEMU looks for below the sysroot first; but not what
 * it executes (linux-user/syscall.c).  A shell would then find other programs than it starts.
 */
static bool is_below(struct chain *c)
{
	const int n =
		snprintf(c->below, sizeof(c->below), "%s%s", sysroot ? sysroot : "", c->program);

	return sysroot && *c->program == '/' && n > 0 && (size_t)n < sizeof(c->below) &&
	       !access(c->below, X_OK);
}

/* Returns NULL, or why it cannot run under QEMU. */
static const char *resolve(struct chain *c, const char *path, bool is_sysroot)
{
	c->program = path;
	c->n_before = 0;
	for (unsigned depth = 0; depth < MAX_SCRIPTS; depth++) {
		char *argument = NULL, *name;
		struct stat st;
		ssize_t n;

		c->file = is_sysroot && is_below(c) ? c->below : c->program;
		n = read_head(c->file, c->heads[depth]);
		if (n < 0 || stat(c->file, &st))
			return "it cannot be read";
		if (st.st_mode & (S_ISUID | S_ISGID))
			return "set-user-id";
		if (is_program(c->heads[depth], n))
			return NULL;
		if (n >= SELFMAG && !memcmp(c->heads[depth], ELFMAG, SELFMAG))
			return "for another machine";
		name = interpreter_of(c->heads[depth], n, &argument);
		if (!name)
			return "neither ELF nor a script";
		c->before[c->n_before++] = c->program;
		if (argument)
			c->before[c->n_before++] = argument;
		c->program = name;
	}
	return "too many interpreters";
}

/* QEMU's options, -0 NAME, the program, what scripts add, the arguments. */
static void start(const struct chain *c, uint64_t argv, uint64_t envp)
{
	size_t n_arguments, n_environment, at = 0, before = n_kept + 3 + c->n_before;
	char **words = read_vector(argv, before, &n_arguments);
	char **environment = read_vector(envp, 0, &n_environment);
	const char *name = c->program;

	if (words && environment) {
		if (n_arguments && !c->n_before)
			name = words[before];
		for (; at < n_kept; at++)
			words[at] = own_argv[at];
		words[at++] = (char *)"-0";
		words[at++] = (char *)name;
		words[at++] = (char *)c->file;
		for (unsigned i = c->n_before; i > 0; i--)
			words[at++] = (char *)c->before[i - 1];
		/* argv[0] of the program follows -0, or is replaced by a script's path. */
		if (n_arguments)
			memmove(&words[at], &words[before + 1], n_arguments * sizeof(*words));
		execve(qemu_path, words, environment);
	}
	free(words);
	free(environment);
}

void exec_follow(struct vcpu *v, uint64_t path, uint64_t argv, uint64_t envp)
{
	static __thread struct chain chain; /* too large for a stack of unknown size */
	char name[WIRE_MAX_PATH - 64], note[WIRE_MAX_PATH];
	const char *program = name, *reason;

	if (!is_string(path, name, sizeof(name)))
		return;
	if (!strcmp(name, "/proc/self/exe") && n_kept)
		program = own_argv[n_kept + 2];
	chain.program = program;
	if (access(program, X_OK) && !is_below(&chain))
		return; /* it will fail without our help */
	if (n_kept && !resolve(&chain, program, true))
		start(&chain, argv, envp);
	reason = n_kept ? resolve(&chain, program, false) : "--no-exec";
	if (!reason)
		start(&chain, argv, envp);
	if (access(program, X_OK))
		return; /* only the sysroot has it, and its start failed */
	snprintf(note, sizeof(note), "%s (%s)", program, reason ? reason : "QEMU did not start");
	stream_note(v, WIRE_NOTE_NATIVE, note);
}

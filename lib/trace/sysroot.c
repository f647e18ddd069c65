/* SPDX-License-Identifier: MIT
 *
 * Where the libraries of a program for another machine are.
 *
 * QEMU looks for what the program opens by an absolute path below the directory of its option -L
 * first, and then where the path says.  So only the dynamic linker that the program names need be
 * found: what it opens is searched the same way.  What it executes is not; there resolve.c, for the
 * program itself, and the plugin, for execve, do the same.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/isa.h"
#include "trace/trace.h"

/* Debian's libc6-ARCHITECTURE-cross, and where Debian's QEMU looks by itself. */
static const char cross_directory[] = "/usr/%s", qemu_directory[] = "/etc/qemu-binfmt/%s";

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* Finds the dynamic linker that a program asks for; false if it asks for none. */
static bool read_linker(const char *program, char linker[PATH_MAX])
{
	const int fd = open(program, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr e;
	Elf64_Phdr p = {0};
	bool is_found = false;

	if (fd >= 0 && read_at(fd, &e, sizeof(e), 0) && e.e_phentsize == sizeof(p)) {
		for (unsigned i = 0; i < e.e_phnum && p.p_type != PT_INTERP; i++)
			if (!read_at(fd, &p, sizeof(p), e.e_phoff + i * sizeof(p)))
				break;
		is_found = p.p_type == PT_INTERP && p.p_filesz && p.p_filesz < PATH_MAX &&
			   read_at(fd, linker, p.p_filesz, p.p_offset);
	}
	if (fd >= 0)
		close(fd);
	if (is_found)
		linker[p.p_filesz] = '\0';
	return is_found && *linker == '/';
}

static bool has_file(const char *directory, const char *path)
{
	char joined[2 * PATH_MAX];

	snprintf(joined, sizeof(joined), "%s%s", directory, path);
	return !access(joined, F_OK);
}

static bool try_directory(const char *format, const char *name, const char *linker,
			  char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, format, name);
	return has_file(out, linker);
}

int trace_sysroot_check(char **out, const char *given, struct tact_diag *diag)
{
	struct stat st;

	*out = realpath(given, NULL);
	if (*out && !stat(*out, &st) && S_ISDIR(st.st_mode))
		return 0;
	if (!*out && errno == ENOMEM)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return tact_fail(diag, TACT_E_IO, "%s: %s", given, strerror(*out ? ENOTDIR : errno));
}

int trace_sysroot_find(char out[PATH_MAX], const struct trace_command *command, const char *given,
		       struct tact_diag *diag)
{
	const struct tact_isa *isa = command->isa;
	const char *program = command->words[2];
	char linker[PATH_MAX];

	snprintf(out, PATH_MAX, "%s", given ? command->sysroot : "");
	if (!read_linker(program, linker) || has_file(out, linker) || !access(linker, F_OK))
		return 0;
	if (given)
		return tact_fail(diag, TACT_E_NO_TOOL, "%s: there is no %s below %s", program,
				 linker, given);
	if (try_directory(cross_directory, isa->multiarch, linker, out) ||
	    try_directory(qemu_directory, isa->qemu_target, linker, out))
		return 0;
	*out = '\0';
	return tact_fail(diag, TACT_E_NO_TOOL,
			 "%s needs libraries for %s, and there is no %s; Debian's package is "
			 "libc6-%s-cross, or -L names a directory that has it",
			 program, isa->title, linker, isa->debian);
}

/* SPDX-License-Identifier: MIT
 *
 * An emulator answers for /proc/self/exe, and gives the program that it executes.  Under the other
 * name of the same file the kernel answers, and gives the emulator.
 */
#include "base/emulator.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

/* Returns the machine of an ELF file; EM_NONE: it cannot be read, or is none. */
static unsigned machine_of(const char *path)
{
	Elf64_Ehdr header = {.e_machine = EM_NONE};
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return EM_NONE;
	n = read(fd, &header, sizeof(header));
	close(fd);
	return n == sizeof(header) ? header.e_machine : EM_NONE;
}

bool emulator_is_other(const char *program, const char *running)
{
	const unsigned own = machine_of(program), other = machine_of(running);

	return own != EM_NONE && other != EM_NONE && own != other;
}

bool emulator_find(char *path, size_t size)
{
	static const char running[] = "/proc/thread-self/exe";
	ssize_t n;

	path[0] = '\0';
	if (!emulator_is_other("/proc/self/exe", running))
		return false;
	n = readlink(running, path, size - 1);
	path[n > 0 && (size_t)n < size - 1 ? n : 0] = '\0';
	return path[0];
}

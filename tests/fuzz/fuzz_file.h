/* SPDX-License-Identifier: MIT
 *
 * Input for what reads files by name.
 */
#ifndef TACT_FUZZ_FILE_H
#define TACT_FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file in memory with these bytes, and a name by which it can be opened.  Returns -1 if it cannot
 * be made.
 */
static int fuzz_file_open(char path[40], const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	snprintf(path, 40, "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size)
		return fd;
	close(fd);
	return -1;
}

#endif /* TACT_FUZZ_FILE_H */

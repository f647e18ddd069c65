/* SPDX-License-Identifier: MIT
 *
 * A log of what happens to files, in order, for power.py: it replays a part of it.
 *
 * Each record begins with six 64-bit numbers: event, inode (for events with names: of the file), size
 * of the data or of the first name, offset, size of the second name, and 0.  Then data or names
 * follow.  What goes to standard output and standard error is a record as well: what has been
 * reported by then.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inject.h"

static int log_fd = -1;
static ino_t said_to[2]; /* standard output and standard error, whatever has their numbers later */

bool inject_is_logging(void)
{
	return log_fd >= 0;
}

/* One system call each, so that records of several threads do not mix. */
static void put(const uint64_t head[6], const void *first, const void *second)
{
	const struct iovec parts[3] = {{(void *)(uintptr_t)head, 6 * sizeof(*head)},
				       {(void *)(uintptr_t)first, head[2]},
				       {(void *)(uintptr_t)second, head[4]}};

	syscall(SYS_writev, log_fd, parts, 3);
}

void inject_log_data(enum event event, int fd, const void *data, size_t size, int64_t offset)
{
	const int error = errno;
	struct stat info;

	if (log_fd < 0)
		return;
	if (!fstat(fd, &info)) {
		const bool is_report =
			event == WROTE && (info.st_ino == said_to[0] || info.st_ino == said_to[1]);

		if (is_report || (S_ISREG(info.st_mode) && !inject_is_memory(fd)) ||
		    S_ISDIR(info.st_mode)) {
			const uint64_t head[6] = {is_report ? REPORTED : event, info.st_ino, size,
						  (uint64_t)offset};

			put(head, data, NULL);
		}
	}
	errno = error;
}

void inject_log_names(enum event event, int fd, const char *from, const char *to)
{
	const int error = errno;
	struct stat info = {0};
	char first[4096], second[4096] = "";

	if (log_fd < 0)
		return;
	if (!realpath(from, first))
		strncpy(first, from, sizeof(first) - 1);
	if (to && !realpath(to, second))
		strncpy(second, to, sizeof(second) - 1);
	if (fd >= 0)
		fstat(fd, &info);
	else
		stat(to && *to ? to : from, &info);
	{
		const uint64_t head[6] = {event, info.st_ino, strlen(first), 0, strlen(second)};

		put(head, first, second);
	}
	errno = error;
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("FAULT_LOG"), *program = getenv("FAULT_PROGRAM");
	struct stat info;
	char self[4096];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0 || !path || !program)
		return;
	self[n] = 0;
	for (int fd = 1; fd <= 2; fd++)
		if (!fstat(fd, &info))
			said_to[fd - 1] = info.st_ino;
	if (!strcmp(self, program))
		log_fd = (int)syscall(SYS_openat, AT_FDCWD, path,
				      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log_fd >= 0 && log_fd < 200) { /* out of the way of those that count descriptors */
		const int high = fcntl(log_fd, F_DUPFD_CLOEXEC, 200);

		syscall(SYS_close, log_fd);
		log_fd = high;
	}
}

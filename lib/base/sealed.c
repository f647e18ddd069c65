/* SPDX-License-Identifier: MIT
 *
 * Copies of files that no one can change: in memory (memfd_create(2), fcntl(2) on seals) or, if they
 * are large, on disk without a name (O_TMPFILE, open(2)).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"

static ssize_t send_some(int to, int from, off_t *at, size_t size)
{
	struct file_quiet q;
	ssize_t n;

	file_quiet_begin(&q);
	n = sendfile(to, from, at, size);
	file_quiet_end(&q, n < 0);
	return n;
}

/* Copies what a file has of data; holes stay holes, so that a file that only claims to be large takes
 * nothing.  Sets *end to the size of the copy: a file that grows is not followed, and one that shrinks
 * meanwhile ends early.  Returns 0, or -1 with errno.
 */
static int copy_data(int to, int from, off_t size, off_t *end)
{
	off_t at = 0;

	*end = 0;
	while (at < size) {
		off_t data = lseek(from, at, SEEK_DATA), hole = size;
		ssize_t n = 1;

		if (data < 0 && errno == ENXIO) /* the rest is a hole, or not there any more */
			break;
		if (data < 0)
			data = at; /* a file system that knows no holes */
		else if ((hole = lseek(from, data, SEEK_HOLE)) < 0 || hole > size)
			hole = size;
		if (lseek(to, data, SEEK_SET) < 0)
			return -1;
		for (at = data; n > 0 && at < hole;) {
			n = send_some(to, from, &at, (size_t)(hole - at));
			if (n < 0 && errno == EINTR)
				n = 1;
		}
		if (n < 0)
			return -1;
		if (at > *end)
			*end = at;
		if (!n)
			return 0;
	}
	return 0;
}

/* The size that a copy of a file is to have: no more than the file has now. */
static int finish_copy(int to, int from, off_t copied, off_t size)
{
	struct stat now;

	if (fstat(from, &now))
		return -1;
	/* A hole at the end is a part of it. */
	if (now.st_size >= size)
		copied = size;
	return file_set_size(to, copied);
}

/* Moving the position is of this process alone: others may have the descriptor, too. */
static int open_again(int fd)
{
	char path[40];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return again >= 0 ? again : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static int copy_into(int to, int fd, size_t *size)
{
	const int from = open_again(fd);
	struct stat info, made;
	off_t copied = 0;
	int code = -1, error;

	if (from < 0)
		return -1;
	if (!fstat(from, &info) && !copy_data(to, from, info.st_size, &copied) &&
	    !finish_copy(to, from, copied, info.st_size) && !fstat(to, &made)) {
		*size = (size_t)made.st_size;
		code = 0;
	}
	error = errno;
	close(from);
	errno = error;
	return code;
}

/* Where files may be that are large and need not outlive the machine (hier(7)). */
static int open_on_disk(off_t needed)
{
	static const char *const folders[] = {"/var/tmp", "/tmp"};
	int error = ENOSPC;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		struct statvfs room;
		int fd;

		/* Others need some of it. */
		if (statvfs(folders[i], &room) ||
		    (double)room.f_bavail * (double)room.f_frsize < 1.1 * (double)needed)
			continue;
		fd = open(folders[i], O_RDWR | O_TMPFILE | O_CLOEXEC | O_EXCL, 0600);
		if (fd >= 0)
			return fd;
		error = errno;
	}
	errno = error;
	return -1;
}

static int close_with_error(int fd)
{
	const int error = errno;

	close(fd);
	errno = error;
	return -1;
}

/* Bytes of data that a file has: with holes, fewer than its size. */
static int copy_to_disk(int fd, const struct stat *info, size_t *size)
{
	const int copy = open_on_disk((off_t)info->st_blocks * 512);

	if (copy < 0)
		return -1;
	return copy_into(copy, fd, size) ? close_with_error(copy) : copy;
}

int file_copy_sealed(int fd, size_t *size)
{
	const unsigned seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct stat info;
	int copy;

	if (fstat(fd, &info))
		return -1;
	if (info.st_size > FILE_MEMORY_COPY)
		return copy_to_disk(fd, &info, size);
	copy = memfd_create("tact-copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (copy < 0)
		return -1;
	return copy_into(copy, fd, size) || fcntl(copy, F_ADD_SEALS, seals) ? close_with_error(copy)
									    : copy;
}

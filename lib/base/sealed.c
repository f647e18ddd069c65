/* SPDX-License-Identifier: MIT
 *
 * Copies of files in memory that no one can change (memfd_create(2), fcntl(2) on seals).
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

int file_copy_sealed(int fd, size_t *size)
{
	const int copy = memfd_create("tact-copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct stat info;
	off_t at = 0;
	ssize_t n = 1;

	if (copy < 0 || fstat(fd, &info))
		goto fail;
	while (n > 0 && at < info.st_size) { /* one that grows is not followed */
		n = sendfile(copy, fd, &at, (size_t)(info.st_size - at));
		if (n < 0 && errno == EINTR)
			n = 1;
	}
	if (n < 0 ||
	    fcntl(copy, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
		goto fail;
	*size = (size_t)at;
	return copy;
fail:
	if (copy >= 0) {
		const int error = errno;

		close(copy);
		errno = error;
	}
	return -1;
}

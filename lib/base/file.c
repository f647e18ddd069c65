/* SPDX-License-Identifier: MIT
 *
 * Files that are written as a whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

int tact_file_write(const char *path, const void *data, size_t size, struct tact_diag *diag)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), status = 0;

	if (fd < 0)
		return tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	if (write_all(fd, data, size) < 0)
		status = tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	if (close(fd) < 0 && !status)
		status = tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	return status;
}

int tact_file_replace(const char *path, const void *data, size_t size, struct tact_diag *diag)
{
	char temporary[4096];
	int fd, n = snprintf(temporary, sizeof(temporary), "%s.new", path), status = 0;

	if (n < 0 || (size_t)n >= sizeof(temporary))
		return tact_fail(diag, TACT_E_IO, "%s", strerror(ENAMETOOLONG));
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	if (write_all(fd, data, size) < 0 || fsync(fd) < 0)
		status = tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	if (close(fd) < 0 && !status)
		status = tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	if (!status && rename(temporary, path) < 0)
		status = tact_fail(diag, TACT_E_IO, "%s", strerror(errno));
	if (status < 0)
		unlink(temporary);
	return status;
}

/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

static int fail_errno(struct tact_diag *diag)
{
	return tact_fail_errno(diag, NULL);
}

bool file_begins_with(const char *path, const char *start)
{
	const int fd = path && strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	const size_t size = strlen(start);
	char found[64];
	bool is_it;

	if (fd < 0)
		return false;
	is_it = size <= sizeof(found) && file_read_exactly(fd, found, size) &&
		!memcmp(found, start, size);
	close(fd);
	return is_it;
}

const char *file_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

int file_check_magic(const char *line, const char *magic, int version, const char *what,
		     struct tact_diag *diag)
{
	const size_t n = strlen(magic);
	char expected[32];

	snprintf(expected, sizeof(expected), "%s %d", magic, version);
	if (!strcmp(line, expected))
		return 0;
	if (!strncmp(line, magic, n) && line[n] == ' ' && isdigit((unsigned char)line[n + 1]))
		return tact_fail_at(diag, TACT_E_VERSION, 1, 0,
				    "version %.20s; this library reads version %d", line + n + 1,
				    version);
	return tact_fail_at(diag, TACT_E_FORMAT, 1, 0, "'%s' expected%s%s", expected,
			    what ? ": this is not " : "", what ? what : "");
}

int file_read_all(int fd, size_t limit, struct text *out, struct tact_diag *diag)
{
	enum { CHUNK = 1 << 16 };
	const size_t start = out->size;

	for (;;) {
		char *p = text_reserve(out, CHUNK);
		ssize_t n = p ? read(fd, p, CHUNK) : 0;

		if (!p)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(diag);
		if (!n)
			return 0;
		out->size += (size_t)n;
		if (out->size - start > limit)
			return tact_fail(diag, TACT_E_FORMAT, "larger than %zu bytes", limit);
	}
}

int file_read(const char *path, size_t limit, struct text *out, struct tact_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), status;

	if (fd < 0)
		return fail_errno(diag);
	status = file_read_all(fd, limit, out, diag);
	close(fd);
	return status;
}

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

/* At an offset or, if that is below 0, at the current position. */
static bool read_exactly(int fd, void *to, size_t size, int64_t offset)
{
	size_t done = 0;

	while (done < size) {
		char *p = (char *)to + done;
		ssize_t n = offset < 0 ? read(fd, p, size - done)
				       : pread(fd, p, size - done, (off_t)offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

bool file_read_exactly(int fd, void *to, size_t size)
{
	return read_exactly(fd, to, size, -1);
}

bool file_read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && read_exactly(fd, to, size, (int64_t)offset);
}

/* SIGPIPE of a thread's own write is for that thread: it is kept away, and taken if it came, whatever
 * the process does with it.  One that was there before stays.
 */
ssize_t file_write_some(int fd, const void *data, size_t size)
{
	const struct timespec now = {0};
	sigset_t pipe, before, pending;
	ssize_t n;
	int error;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	n = write(fd, data, size);
	error = errno;
	if (n < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		sigtimedwait(&pipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return n;
}

int file_write_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		const ssize_t n = file_write_some(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Opens, writes and closes a file; one that replaces another reaches the disk first. */
static int write_file(const char *path, int flags, const void *data, size_t size,
		      struct tact_diag *diag)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666), status = 0;

	if (fd < 0)
		return fail_errno(diag);
	if (file_write_all(fd, data, size) < 0 || (flags & O_EXCL && fsync(fd) < 0))
		status = fail_errno(diag);
	if (close(fd) < 0 && !status)
		status = fail_errno(diag);
	return status;
}

int file_write(const char *path, const void *data, size_t size, struct tact_diag *diag)
{
	return write_file(path, O_CREAT | O_TRUNC, data, size, diag);
}

/* Creates a file next to another one, under a name that nobody can know before: who else may write
 * in that folder can neither lead us elsewhere with a link nor keep us from it.  The caller frees
 * *beside.
 */
static int write_beside(const char *path, char **beside, const void *data, size_t size,
			struct tact_diag *diag)
{
	enum { TRIES = 8 };
	int status = 0;

	*beside = NULL;
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t random = 0;

		free(*beside);
		*beside = NULL;
		if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
			random = (uint64_t)getpid() + i; /* early at boot */
		if (asprintf(beside, "%s.%016" PRIx64 ".tmp", path, random) < 0) {
			*beside = NULL;
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		}
		errno = 0;
		status = write_file(*beside, O_CREAT | O_EXCL | O_NOFOLLOW, data, size, diag);
		if (!status || errno != EEXIST)
			return status;
	}
	return status;
}

int file_replace(const char *path, const void *data, size_t size, struct tact_diag *diag)
{
	struct stat info;
	char *beside;
	int status;

	if (!stat(path, &info) && !S_ISREG(info.st_mode))
		return write_file(path, 0, data, size, diag);
	status = write_beside(path, &beside, data, size, diag);
	if (!status && rename(beside, path) < 0)
		status = fail_errno(diag);
	if (status < 0 && beside)
		unlink(beside);
	free(beside);
	return status;
}

static int give_text(const char *path, struct text *text,
		     int (*give)(const char *path, const void *data, size_t size,
				 struct tact_diag *diag),
		     struct tact_diag *diag)
{
	int status = text->failed ? tact_fail(diag, TACT_E_NOMEM, "out of memory")
				  : give(path, text->data, text->size, diag);

	text_free(text);
	return status;
}

int file_write_text(const char *path, struct text *text, struct tact_diag *diag)
{
	return give_text(path, text, file_write, diag);
}

int file_replace_text(const char *path, struct text *text, struct tact_diag *diag)
{
	return give_text(path, text, file_replace, diag);
}

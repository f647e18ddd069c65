/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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
		if (!n)
			errno = ENODATA;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

ssize_t file_read_up_to(int fd, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, (char *)to + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

bool file_read_exactly(int fd, void *to, size_t size)
{
	return read_exactly(fd, to, size, -1);
}

bool file_read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && read_exactly(fd, to, size, (int64_t)offset);
}

/* Signals of a thread's own calls are for that thread: they are kept away, and taken if they came,
 * whatever the process does with them.  One that was there before stays.
 */
void file_quiet_begin(struct file_quiet *q)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	sigpending(&q->pending);
	pthread_sigmask(SIG_BLOCK, &ours, &q->before);
}

void file_quiet_end(const struct file_quiet *q, bool has_failed)
{
	const int error = errno, number = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
	const struct timespec now = {0};
	sigset_t come;

	if (has_failed && number && !sigismember(&q->pending, number)) {
		sigemptyset(&come);
		sigaddset(&come, number);
		sigtimedwait(&come, NULL, &now);
	}
	pthread_sigmask(SIG_SETMASK, &q->before, NULL);
	errno = error;
}

ssize_t file_write_some(int fd, const void *data, size_t size)
{
	struct file_quiet q;
	ssize_t n;

	file_quiet_begin(&q);
	n = write(fd, data, size);
	file_quiet_end(&q, n < 0);
	return n;
}

int file_set_size(int fd, off_t size)
{
	struct file_quiet q;
	int code;

	file_quiet_begin(&q);
	do
		code = ftruncate(fd, size);
	while (code < 0 && errno == EINTR);
	file_quiet_end(&q, code < 0);
	return code;
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

int file_write(const char *path, const void *data, size_t size, struct tact_diag *diag)
{
	struct file_new f;
	int status = file_begin(&f, path, 0666, diag);

	if (status < 0)
		return status;
	if (file_write_all(f.fd, data, size) < 0) {
		status = fail_errno(diag);
		file_abandon(&f);
		return status;
	}
	return file_finish(&f, diag);
}

int file_write_text(const char *path, struct text *text, struct tact_diag *diag)
{
	int status = text->failed ? tact_fail(diag, TACT_E_NOMEM, "out of memory")
				  : file_write(path, text->data, text->size, diag);

	text_free(text);
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * Files that appear under their name as a whole.
 *
 * A name changes from one file to another at once (rename), and only after the contents have
 * reached the disk (fsync), or a loss of power could leave an empty file.  The change itself is a
 * matter of the folder, which is synced last.  See rename(2), fsync(2), and open(2) about
 * O_TMPFILE: a file without a name goes away with the process, however that ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"

enum { TRIES = 8 };

static int fail_memory(struct tact_diag *diag)
{
	return tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

static void clear(struct file_new *f)
{
	FREE_ALL(f->path, f->beside);
	*f = (struct file_new){.fd = -1};
}

/* Returns whether a file can be exchanged for another without anybody noticing more than its
 * contents.
 */
static bool is_replaceable(const char *path, const struct stat *info)
{
	return S_ISREG(info->st_mode) && info->st_nlink == 1 && info->st_uid == geteuid() &&
	       strncmp(path, "/dev/", 5) && strncmp(path, "/proc/", 6);
}

static int open_in_place(struct file_new *f, const char *path, mode_t mode, struct tact_diag *diag)
{
	struct stat info;

	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (f->fd < 0)
		return tact_fail_errno(diag, NULL);
	f->is_regular = !fstat(f->fd, &info) && S_ISREG(info.st_mode);
	return 0;
}

/* Returns the folder of a path, which the caller frees; NULL: out of memory. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* A name next to the file that nobody can know before: who else may write in that folder cannot keep
 * us from it.  Returns 0 or -1 if memory ran out.
 */
static int name_beside(struct file_new *f, unsigned try)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint64_t)getpid() + try; /* early at boot */
	free(f->beside);
	if (asprintf(&f->beside, "%s.%016" PRIx64 ".tmp", f->path, random) >= 0)
		return 0;
	f->beside = NULL;
	return -1;
}

/* Opens a file that has no name or, where there is no such thing, one next to the other. */
static int open_beside(struct file_new *f, mode_t mode, struct tact_diag *diag)
{
	char *folder = folder_of(f->path);
	int error;

	if (!folder)
		return fail_memory(diag);
	/* It gets its name through /proc. */
	if (!access("/proc/self/fd", X_OK))
		f->fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
	else
		errno = EOPNOTSUPP;
	free(folder);
	/* Kernels and file systems without it: see open(2). */
	if (f->fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return f->fd >= 0 ? 0 : tact_fail_errno(diag, NULL);
	for (unsigned try = 0; f->fd < 0 && try < TRIES; try++) {
		if (name_beside(f, try) < 0)
			return fail_memory(diag);
		f->fd = open(f->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		if (f->fd < 0 && errno != EEXIST)
			break;
	}
	if (f->fd >= 0)
		return 0;
	error = errno;
	free(f->beside); /* the name is somebody else's, or nobody's */
	f->beside = NULL;
	errno = error;
	return tact_fail_errno(diag, NULL);
}

/* Begins a file that replaces another, or that does not exist yet (info NULL). */
static int begin_beside(struct file_new *f, const char *path, const struct stat *info, mode_t mode,
			struct tact_diag *diag)
{
	int status;

	/* Links stay: what they lead to is replaced. */
	f->path = info ? realpath(path, NULL) : strdup(path);
	if (!f->path)
		return tact_fail_errno(diag, NULL);
	status = open_beside(f, mode, diag);
	if (status >= 0 && info && fchmod(f->fd, info->st_mode & 07777) < 0)
		status = tact_fail_errno(diag, NULL);
	return status;
}

int file_begin(struct file_new *f, const char *path, mode_t mode, struct tact_diag *diag)
{
	struct stat info, link;
	int status;

	*f = (struct file_new){.fd = -1, .is_regular = true};
	if (stat(path, &info) < 0) {
		if (errno != ENOENT)
			return tact_fail_errno(diag, NULL);
		/* A link to nothing, and "", are for the kernel. */
		status = *path && lstat(path, &link) < 0 ? begin_beside(f, path, NULL, mode, diag)
							 : open_in_place(f, path, mode, diag);
	} else if (!is_replaceable(path, &info)) {
		status = open_in_place(f, path, mode, diag);
	} else if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0) {
		status = tact_fail_errno(diag, NULL);
	} else {
		status = begin_beside(f, path, &info, mode, diag);
		/* Its folder may be one in which nothing can be made. */
		if (status == -TACT_E_IO && (errno == EACCES || errno == EPERM)) {
			file_abandon(f);
			status = open_in_place(f, path, mode, diag);
		}
	}
	if (status < 0)
		file_abandon(f);
	return status;
}

/* ---- the end ---- */

/* Returns 0, or -1 with errno.  Some things cannot be synced, and say so. */
static int sync_file(int fd)
{
	int code;

	do
		code = fsync(fd);
	while (code < 0 && errno == EINTR);
	return code < 0 && (errno == EINVAL || errno == ENOTSUP) ? 0 : code;
}

/* Returns 0, or -1 with errno.  A folder may be one in which nothing can be listed. */
static int sync_folder(const char *path)
{
	char *folder = folder_of(path);
	int fd, code = 0, error;

	if (!folder) {
		errno = ENOMEM;
		return -1;
	}
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = errno;
	free(folder);
	if (fd < 0) {
		errno = error;
		return error == EACCES ? 0 : -1;
	}
	code = sync_file(fd);
	error = errno;
	close(fd);
	errno = error;
	return code;
}

/* Gives a file without a name the one that it is to have or, if that is taken, another one: links
 * do not replace.  Returns 0, or -1 with errno.
 */
static int give_name(struct file_new *f)
{
	char from[40];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", f->fd);
	if (!linkat(AT_FDCWD, from, AT_FDCWD, f->path, AT_SYMLINK_FOLLOW))
		return 0;
	for (unsigned try = 0; errno == EEXIST && try < TRIES; try++) {
		if (name_beside(f, try) < 0) {
			errno = ENOMEM;
			return -1;
		}
		if (!linkat(AT_FDCWD, from, AT_FDCWD, f->beside, AT_SYMLINK_FOLLOW))
			return 0;
	}
	FREE_ALL(f->beside); /* it is somebody else's */
	f->beside = NULL;
	return -1;
}

/* Returns 0, or -1 with errno. */
static int put_in_place(struct file_new *f)
{
	if (!f->beside && give_name(f) < 0)
		return -1;
	if (f->beside) {
		if (rename(f->beside, f->path) < 0)
			return -1;
		free(f->beside);
		f->beside = NULL;
	}
	return sync_folder(f->path);
}

int file_finish(struct file_new *f, struct tact_diag *diag)
{
	int status = 0, fd = f->fd;

	if ((f->is_regular && sync_file(fd) < 0) || (f->path && put_in_place(f) < 0))
		status = tact_fail_errno(diag, NULL);
	f->fd = -1;
	/* Network file systems may report only now that the disk is full. */
	if (close(fd) < 0 && errno != EINTR && !status)
		status = tact_fail_errno(diag, NULL);
	file_abandon(f);
	return status;
}

void file_abandon(struct file_new *f)
{
	const int error = errno;

	if (f->fd >= 0)
		close(f->fd);
	if (f->beside)
		unlink(f->beside);
	clear(f);
	errno = error;
}

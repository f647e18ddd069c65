/* SPDX-License-Identifier: MIT
 *
 * The calls of the C library about files, waiting and starting that may fail, and the time of day.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inject.h"

/* ---- opening ---- */

static int open_it(int folder, const char *path, int flags, mode_t mode)
{
	int fd;

	if (inject_fails(OPEN))
		return -1;
	fd = (int)syscall(SYS_openat, folder, path, flags, mode);
	if (fd >= 0 && flags & O_CREAT)
		inject_log_names(OPENED, fd, path, NULL);
	if (fd >= 0 && flags & O_TRUNC)
		inject_log_data(TRUNCATED, fd, NULL, 0, 0);
	return fd;
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

#define DEFINE_OPEN(name)                                                                          \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		va_list args;                                                                      \
		mode_t mode;                                                                       \
		va_start(args, flags);                                                             \
		mode = mode_of(flags, args);                                                       \
		va_end(args);                                                                      \
		return open_it(AT_FDCWD, path, flags, mode);                                       \
	}
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define DEFINE_OPENAT(name)                                                                        \
	int name(int folder, const char *path, int flags, ...)                                     \
	{                                                                                          \
		va_list args;                                                                      \
		mode_t mode;                                                                       \
		va_start(args, flags);                                                             \
		mode = mode_of(flags, args);                                                       \
		va_end(args);                                                                      \
		return open_it(folder, path, flags, mode);                                         \
	}
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

/* Where a program is compiled with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags)
{
	return open_it(AT_FDCWD, path, flags, 0);
}

int __open64_2(const char *path, int flags)
{
	return open_it(AT_FDCWD, path, flags, 0);
}

int __openat_2(int folder, const char *path, int flags)
{
	return open_it(folder, path, flags, 0);
}

int __openat64_2(int folder, const char *path, int flags)
{
	return open_it(folder, path, flags, 0);
}

FILE *fopen(const char *path, const char *mode)
{
	REAL(fopen);
	return inject_fails(OPEN) ? NULL : real(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

DIR *opendir(const char *path)
{
	REAL(opendir);
	return inject_fails(OPEN) ? NULL : real(path);
}

int mkostemp(char *name, int flags)
{
	REAL(mkostemp);
	return inject_fails(OPEN) ? -1 : real(name, flags);
}

int mkstemp(char *name)
{
	REAL(mkstemp);
	return inject_fails(OPEN) ? -1 : real(name);
}

char *mkdtemp(char *name)
{
	REAL(mkdtemp);
	return inject_fails(OPEN) ? NULL : real(name);
}

int memfd_create(const char *name, unsigned flags)
{
	REAL(memfd_create);
	return inject_fails(OPEN) ? -1 : real(name, flags);
}

int pipe2(int fds[2], int flags)
{
	REAL(pipe2);
	return inject_fails(OPEN) ? -1 : real(fds, flags);
}

int pipe(int fds[2])
{
	return pipe2(fds, 0);
}

int socket(int domain, int type, int protocol)
{
	REAL(socket);
	return inject_fails(OPEN) ? -1 : real(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int fds[2])
{
	REAL(socketpair);
	return inject_fails(OPEN) ? -1 : real(domain, type, protocol, fds);
}

/* ---- reading and writing ---- */

/* Half of it.  Of one byte, nothing can be left out; nor of a message through a pipe, see pipe(7). */
static size_t less(int fd, size_t size)
{
	struct stat info;

	if (size < 2 || (size <= PIPE_BUF && !fstat(fd, &info) && !S_ISREG(info.st_mode)))
		return size;
	return size / 2;
}

bool inject_is_memory(int fd)
{
	char link[40], name[16] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return syscall(SYS_readlinkat, AT_FDCWD, link, name, sizeof(name) - 1) > 0 &&
	       !strncmp(name, "/memfd:", 7);
}

/* Only a disk is full or broken, and a message through a pipe or socket is whole. */
static bool write_fails(int fd, bool *is_short)
{
	struct stat info;

	if (!inject_fails_or(WRITE, is_short))
		return false;
	return !inject_is_memory(fd) &&
	       (errno != ENOSPC || fstat(fd, &info) || S_ISREG(info.st_mode));
}

ssize_t read(int fd, void *data, size_t size)
{
	bool is_short = false;

	if (inject_fails_or(READ, &is_short))
		return -1;
	return syscall(SYS_read, fd, data, is_short ? less(fd, size) : size);
}

ssize_t __read_chk(int fd, void *data, size_t size, size_t room)
{
	return size > room ? abort(), -1 : read(fd, data, size);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
	bool is_short = false;

	if (inject_fails_or(READ, &is_short))
		return -1;
	return syscall(SYS_pread64, fd, data, is_short ? less(fd, size) : size, offset);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
	return pread64(fd, data, size, offset);
}

ssize_t __pread64_chk(int fd, void *data, size_t size, off64_t offset, size_t room)
{
	return size > room ? abort(), -1 : pread64(fd, data, size, offset);
}

ssize_t __pread_chk(int fd, void *data, size_t size, off_t offset, size_t room)
{
	return size > room ? abort(), -1 : pread64(fd, data, size, offset);
}

ssize_t write(int fd, const void *data, size_t size)
{
	bool is_short = false;
	const off_t at = inject_is_logging() ? lseek(fd, 0, SEEK_CUR) : 0;
	ssize_t n;

	if (write_fails(fd, &is_short))
		return -1;
	n = syscall(SYS_write, fd, data, is_short ? less(fd, size) : size);
	if (n > 0)
		inject_log_data(WROTE, fd, data, (size_t)n, at);
	return n;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	bool is_short = false;
	ssize_t n;

	if (write_fails(fd, &is_short))
		return -1;
	n = syscall(SYS_pwrite64, fd, data, is_short ? less(fd, size) : size, offset);
	if (n > 0)
		inject_log_data(WROTE, fd, data, (size_t)n, offset);
	return n;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return pwrite64(fd, data, size, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	if (inject_fails(WRITE))
		return -1;
	return syscall(SYS_writev, fd, parts, n);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	bool is_short = false;

	REAL(send);
	if (write_fails(fd, &is_short))
		return -1;
	return real(fd, data, is_short ? less(fd, size) : size, flags);
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
	bool is_short = false;

	REAL(recv);
	if (inject_fails_or(READ, &is_short))
		return -1;
	return real(fd, data, is_short ? less(fd, size) : size, flags);
}

int fsync(int fd)
{
	if (inject_fails(SYNC))
		return -1;
	inject_log_data(SYNCED, fd, NULL, 0, 0);
	return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	if (inject_fails(SYNC))
		return -1;
	inject_log_data(SYNCED, fd, NULL, 0, 0);
	return (int)syscall(SYS_fdatasync, fd);
}

int ftruncate64(int fd, off64_t size)
{
	int code;

	if (inject_fails(TRUNCATE) && !inject_is_memory(fd))
		return -1;
	code = (int)syscall(SYS_ftruncate, fd, size);
	if (!code)
		inject_log_data(TRUNCATED, fd, NULL, 0, size);
	return code;
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

/* What was written is written: only the message can fail. */
int close(int fd)
{
	const bool fails = inject_fails(CLOSE);
	const int error = errno;
	const int code = (int)syscall(SYS_close, fd);

	if (!fails)
		return code;
	errno = error;
	return -1;
}

/* ---- names ---- */

int rename(const char *from, const char *to)
{
	int code;

	if (inject_fails(RENAME))
		return -1;
	inject_log_names(RENAMED, -1, from, to);
	code = (int)syscall(SYS_rename, from, to);
	return code;
}

int linkat(int folder, const char *from, int to_folder, const char *to, int flags)
{
	int code;

	if (inject_fails(RENAME))
		return -1;
	code = (int)syscall(SYS_linkat, folder, from, to_folder, to, flags);
	if (!code)
		inject_log_names(LINKED, -1, to, NULL);
	return code;
}

int unlink(const char *path)
{
	if (inject_fails(UNLINK))
		return -1;
	if (!access(path, F_OK))
		inject_log_names(UNLINKED, -1, path, NULL);
	return (int)syscall(SYS_unlink, path);
}

/* ---- memory ---- */

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
	if (inject_fails(MAP))
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	return mmap64(address, size, protection, flags, fd, offset);
}

/* ---- calls that only nap: others come between them ---- */

int accept4(int fd, __SOCKADDR_ARG from, socklen_t *restrict size, int flags)
{
	REAL(accept4);
	inject_naps();
	return real(fd, from, size, flags);
}

int fcntl(int fd, int what, ...)
{
	va_list args;
	long arg;

	va_start(args, what);
	arg = va_arg(args, long);
	va_end(args);
	inject_naps();
	return (int)syscall(SYS_fcntl, fd, what, arg);
}

int fcntl64(int fd, int what, ...)
{
	va_list args;
	long arg;

	va_start(args, what);
	arg = va_arg(args, long);
	va_end(args);
	return fcntl(fd, what, arg);
}

/* ---- waiting and starting ---- */

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	REAL(poll);
	return inject_fails(WAIT) ? -1 : real(fds, n, timeout);
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *signals)
{
	REAL(ppoll);
	return inject_fails(WAIT) ? -1 : real(fds, n, timeout, signals);
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	REAL(nanosleep);
	if (!inject_fails(WAIT))
		return real(time, left);
	if (left)
		*left = *time;
	return -1;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	REAL(waitpid);
	return inject_fails(WAIT) ? -1 : real(pid, status, options);
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	REAL(wait4);
	return inject_fails(WAIT) ? -1 : real(pid, status, options, usage);
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	REAL(waitid);
	return inject_fails(WAIT) ? -1 : real(type, id, info, options);
}

pid_t fork(void)
{
	REAL(fork);
	return inject_fails(START) ? -1 : real();
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	REAL(posix_spawn);
	return inject_fails(START) ? errno : real(pid, path, actions, attributes, argv, env);
}

int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const argv[], char *const env[])
{
	REAL(posix_spawnp);
	return inject_fails(START) ? errno : real(pid, path, actions, attributes, argv, env);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *),
		   void *arg)
{
	REAL(pthread_create);
	return inject_fails(START) ? EAGAIN : real(thread, attributes, main, arg);
}

/* ---- the time of day ---- */

/* How far the clock is off now: it changes with every hundredth call. */
static long offset(bool is_read)
{
	static long jump = -1, calls;

	if (jump < 0)
		jump = getenv("FAULT_CLOCK") ? atol(getenv("FAULT_CLOCK")) : 0;
	if (!jump)
		return 0;
	calls += is_read;
	return calls / 3 % 2 ? jump : -jump;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	const int code = (int)syscall(SYS_clock_gettime, clock, now);

	if (!code && clock == CLOCK_REALTIME)
		now->tv_sec += offset(true);
	return code;
}

time_t time(time_t *to)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (to)
		*to = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec exact;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &exact);
	*now = (struct timeval){exact.tv_sec, exact.tv_nsec / 1000};
	return 0;
}

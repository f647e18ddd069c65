/* SPDX-License-Identifier: MIT
 *
 * From the library's process to the runner.
 *
 * A process of ours waits for the runner: after exec, a child would announce its end to the host
 * program, which knows nothing of it.  Between fork and exec only system calls are safe;
 * they are made directly, because a sanitizer that follows descriptors takes this process for a
 * thread.
 */
#include <errno.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "measure/harness.h"

enum {
	IMAGE_FD = MEASURE_N_FDS,
	FIRST_FREE_FD = 64 /* above all that we place */
};

static void fail(enum measure_part part, int error)
{
	struct measure_header header = {.magic = MEASURE_MAGIC, .kind = KIND_FAILED};
	struct measure_report body = {.part = part, .error = error};
	struct iovec parts[2] = {{&header, sizeof(header)}, {&body, sizeof(body)}};

	if (syscall(SYS_writev, MEASURE_SOCKET_FD, parts, 2) < 0)
		process_exit(96);
	process_exit(97);
}

/* Puts the descriptors where the runner expects them, and closes all others.  is_kept: the program
 * that is started next opens the image itself.
 */
static void place_descriptors(const int from[4], bool is_kept)
{
	int moved[4];

	for (int i = 0; i < 4; i++)
		moved[i] = (int)syscall(SYS_fcntl, from[i], F_DUPFD, FIRST_FREE_FD);
	if (syscall(SYS_dup3, moved[0], MEASURE_SOCKET_FD, 0) < 0)
		process_exit(96);
	for (int i = 1; i < 4; i++)
		if (syscall(SYS_dup3, moved[i], MEASURE_SOCKET_FD + i, 0) < 0)
			fail(PART_DESCRIPTORS, errno);
	if (syscall(SYS_fcntl, IMAGE_FD, F_SETFD, is_kept ? 0 : FD_CLOEXEC) < 0 ||
	    syscall(SYS_close_range, 0, MEASURE_SOCKET_FD - 1, 0) < 0 ||
	    syscall(SYS_close_range, IMAGE_FD + 1, ~0u, 0) < 0)
		fail(PART_DESCRIPTORS, errno);
}

/* Namespaces of its own: no network, no other processes.  Who has no privilege gets them together
 * with a user namespace.
 */
static void unshare_namespaces(void)
{
	const int flags = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWPID |
			  CLONE_NEWCGROUP;

	if (unshare(flags) == 0 || unshare(flags | CLONE_NEWUSER) == 0)
		return;
	fail(PART_NAMESPACES, errno);
}

void harness_spawn(const struct tact_harness *h, int socket_fd)
{
	sigset_t all;
	pid_t keeper;
	int status, blocked;

	sigfillset(&all);
	/* First: a handler of the host's must not find other files in the place of its own. */
	blocked = sigprocmask(SIG_SETMASK, &all, NULL) == 0 ? 0 : errno;
	place_descriptors((const int[]){socket_fd, h->code_fd, h->data_fd, h->image_fd},
			  *h->emulator);
	if (blocked)
		fail(PART_SIGNAL_MASK, blocked);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		fail(PART_DEATH, errno);
	if (!h->opt.no_namespaces)
		unshare_namespaces();
	keeper = process_start_file(IMAGE_FD, "tact-runner", *h->emulator ? h->emulator : NULL);
	if (keeper < 0)
		fail(PART_EXEC, errno);
	if (syscall(SYS_close_range, 0, ~0u, 0) < 0)
		fail(PART_DESCRIPTORS, errno); /* and the keeper ends with us */
	process_wait(keeper, &status, 0);
	process_exit(0);
}

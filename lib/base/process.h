/* SPDX-License-Identifier: MIT
 *
 * Child processes that the rest of the program does not notice.
 *
 * A host program must not notice the library's children: its SIGCHLD handler must not run for them,
 * its waitpid(-1) must not return them, and if it ignores SIGCHLD, we must still get their status.
 * On Linux a child can be created without an exit signal.  Only a wait with __WALL or __WCLONE sees
 * such a child; but execve turns it into an ordinary one.  So a child that only runs our code is
 * forked directly (process_fork), and a program that we start has a keeper process between it and
 * us (process_start).
 *
 * The programs, and their keepers, are killed when the thread that started them ends.
 */
#ifndef TACT_PROCESS_H
#define TACT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Forks a child without an exit signal.  The libc does not know about it: the child may only call
 * functions that are safe in a signal handler, except raise(), which uses the libc's idea of the
 * calling thread.  The child ends with process_exit and never calls execve.  Returns as fork does.
 */
pid_t process_fork(void);

/* Forks an ordinary child, in a process that process_fork has made.  The same rules apply. */
pid_t process_fork_again(void);

/* Starts the program that is in a file, with its name as the only argument and no environment;
 * `emulator`: a program that executes it, or NULL.  For a process of ours that has no other thread.
 * Returns its pid, or -1 with errno.
 */
pid_t process_start_file(int fd, const char *name, const char *emulator);

/* Waits for a child of process_fork, as waitpid does, but resumes when a signal interrupts it. */
pid_t process_wait(pid_t child, int *status, int options);

/* Ends a child at once: nothing is flushed, no handler runs. */
_Noreturn void process_exit(int status);

/* ---- programs ---- */

struct box;

enum { PROCESS_MAX_FDS = 4, PROCESS_NULL = -1, PROCESS_NO_BOX = 10000 };

struct process_spec {
	const char *const *argv;  /* argv[0] without a slash is looked for in PATH */
	char *const *environment; /* NULL: that of this process */
	struct {
		int from; /* PROCESS_NULL: /dev/null */
		int to;
	} fds[PROCESS_MAX_FDS];
	size_t n_fds;
	bool has_group;	       /* a process group of its own */
	bool is_held;	       /* waits for process_release before it begins */
	const struct box *box; /* it runs in there; NULL: it is trusted */
	const char *box_path;  /* PATH, whose folders the box leaves readable; NULL: none */
};

struct process {
	pid_t pid;    /* not reused for another process before process_end */
	pid_t keeper; /* our child; 0: none */
	int line;   /* to the keeper: it says the pid, then the status, and ends when we close it */
	int failed; /* errno of execve; closed by a success */
	int go;	    /* a held program waits for a byte */
	bool has_ended;
	int status; /* as waitpid gives it, once it has ended; -1: unknown */
};

/* Starts a program.  Returns 0, or an errno: ENOENT if there is no such program, PROCESS_NO_BOX plus
 * an errno if it cannot be put into its box.  After a failure there is nothing to end.
 */
int process_start(struct process *p, const struct process_spec *spec);

/* Lets a held program begin.  Returns 0 or the errno of its execve. */
int process_release(struct process *p);

/* Tells whether the program has ended, or waits until it has.  p->status is valid then. */
bool process_has_ended(struct process *p);
void process_await(struct process *p);

/* Ends the keeper, and with it a program that still runs.  All zeros is allowed. */
void process_end(struct process *p);

#endif /* TACT_PROCESS_H */

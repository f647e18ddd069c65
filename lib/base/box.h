/* SPDX-License-Identifier: MIT
 *
 * A box for programs that work on text or files of strangers: no network, no files but those of
 * the system's programs and libraries, no way to other processes, and bounds on what they use.
 *
 * What is open when a process enters stays open, so input and output go through descriptors.
 */
#ifndef TACT_BOX_H
#define TACT_BOX_H

#include <stdbool.h>
#include <stdint.h>

/* 0 for a number: no bound of its own. */
struct box {
	uint64_t memory;      /* address space, bytes */
	uint64_t file_size;   /* of each file that it writes, bytes; those in memory count, too */
	uint64_t cpu_seconds; /* SIGXCPU at that time */
	uint64_t descriptors;
	/* Whether a kernel that cannot close off files (Landlock) makes box_enter fail.  Otherwise
	 * the rest of the box has to do.
	 */
	bool needs_files_closed;
	bool may_write_null; /* /dev/null stays open for writing */
	/* An emulator executes this process (emulator.h).  One that knows no filters of system calls
	 * does not make box_enter fail.
	 */
	bool is_emulated;
};

/* Puts this process and all that it will start into a box, for good.  The list of folders that stay
 * readable is that of programs and libraries, and that of PATH.  Safe between fork and exec; `path`
 * is PATH's value, or NULL.  Returns 0, or an errno; then it may be in parts of the box.
 */
int box_enter(const struct box *box, const char *path);

#endif /* TACT_BOX_H */

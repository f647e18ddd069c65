/* SPDX-License-Identifier: MIT
 *
 * What the parts of the preloaded library share: see inject.c.
 */
#ifndef TESTS_INJECT_H
#define TESTS_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Kinds of calls; faults.py has the same list. */
enum kind {
	ALLOC,
	OPEN,
	READ,
	WRITE,
	SYNC,
	RENAME,
	UNLINK,
	TRUNCATE,
	CLOSE,
	MAP,
	WAIT,
	START,
	N_KINDS
};

/* What FAULT_HOW says: the call fails with FAULT_ERRNO, or does less than it was asked for. */
enum how { FAIL, SHORT };

/* Notes a call of this program.  Returns whether it is to fail; errno is set then. */
bool inject_fails(enum kind kind);
/* The same for calls that may do less; *is_short is set if this one is to. */
bool inject_fails_or(enum kind kind, bool *is_short);

/* Waits, if there are naps. */
void inject_naps(void);

/* What happens to files, for the simulation of a loss of power. */
enum event { WROTE, TRUNCATED, SYNCED, OPENED, LINKED, RENAMED, UNLINKED, REPORTED };
void inject_log_data(enum event event, int fd, const void *data, size_t size, int64_t offset);
void inject_log_names(enum event event, int fd, const char *from, const char *to);
bool inject_is_logging(void);
/* Whether it is memory (memfd_create), not a file on a disk. */
bool inject_is_memory(int fd);

#define REAL(name)                                                                                 \
	static __typeof__(&name) real;                                                             \
	if (!real)                                                                                 \
	*(void **)&real = inject_find(#name)
void *inject_find(const char *name);

#endif /* TESTS_INJECT_H */

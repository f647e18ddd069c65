/* SPDX-License-Identifier: MIT
 *
 * Progress of long commands: one line on standard error if that is a terminal, else nothing.
 *
 *	struct progress progress;
 *
 *	progress_init(&progress, "blocks", n, p->is_quiet);
 *	for (...)
 *		progress_show(&progress, i);
 *	progress_clear(&progress);
 *
 * The line appears after half a second and is renewed some times a second.  Everything that is
 * written through output.h, messages among them, removes it first.
 */
#ifndef TACT_PROGRESS_H
#define TACT_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what;	/* is counted: "blocks", "rows"; NULL: only the share is shown */
	_Atomic uint64_t total; /* 0: unknown */
	uint64_t skipped;	/* of those that are done, those that took no time */
	bool is_shown;
	double start;
	_Atomic double next; /* when the line is due */
	atomic_flag is_busy; /* a thread writes it */
};

/* The total may be 0: then there is no bar and no time left.  Not shown if is_quiet, or if standard
 * error is no terminal.
 */
void progress_init(struct progress *progress, const char *what, uint64_t total, bool is_quiet);

/* Shows how many are done, if a new line is due.  Any thread may call it at any time. */
void progress_show(struct progress *progress, uint64_t done);

/* Shows a line of another kind, if one is due.  Returns whether it did. */
bool progress_is_due(struct progress *progress);
void progress_say(struct progress *progress, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Removes the line; a later call may show it again. */
void progress_clear(struct progress *progress);

/* Seconds of a clock that never goes back. */
double progress_seconds(void);

#endif /* TACT_PROGRESS_H */

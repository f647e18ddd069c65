/* SPDX-License-Identifier: MIT
 *
 * How far away data are that a window accesses for the first time.  Between windows a program that
 * runs natively is not seen, so that no cache can be followed; but the lines that windows have in
 * common tell how many there are.
 */
#ifndef TRACE_REUSE_H
#define TRACE_REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/caches.h"

struct reuse_line {
	uint64_t line;	 /* + 1, with the process; 0: the slot is free */
	uint32_t window; /* that it was last seen in */
	uint32_t n;	 /* windows that it was seen in */
};

struct reuse {
	struct reuse_line *lines; /* owned */
	size_t n_slots, n;
	uint32_t window;    /* from 1 on */
	size_t *at_windows; /* owned: lines known after so many windows */
	size_t n_windows, windows_capacity;
	double known, again; /* over first accesses: lines known before, and accesses to them */
	size_t position, distinct, near; /* accesses of this window, and lines: so far, at first */
	double due[CACHE_LEVELS]; /* misses of lines that windows access for the first time */
	double sum_near, sum_far, n_sums; /* lines after so many accesses, over windows */
};

void reuse_fini(struct reuse *r);

/* A window begins.  Returns 0 or -TACT_E_NOMEM. */
int reuse_begin(struct reuse *r);

/* A line is accessed.  Returns false if this is not its first access in this window.  Otherwise
 * *distance is an estimate of how many other lines were accessed since the last one.
 */
bool reuse_access(struct reuse *r, uint64_t line, uint32_t process, double *distance);

/* Returns the chance that the line that was just accessed for the first time in this window is not one
 * of the `lines` that were accessed last.
 */
double reuse_miss(const struct reuse *r, double lines);

/* The caches, which have so many lines, know only what windows accessed.  If they do not have a line
 * that was just accessed for the first time in this window, its level is that of its distance of
 * reuse.
 */
void reuse_correct(struct reuse *r, const double lines[CACHE_LEVELS], double distance,
		   struct tact_stream_trip *trip);

#endif /* TRACE_REUSE_H */

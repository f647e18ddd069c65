/* SPDX-License-Identifier: MIT
 *
 * Stores that displace each other's lines.
 *
 * A line is asked for while its store still waits behind others, and stores leave in order.  So the
 * lines of the stores that wait come to the first level together; if a set has more of them than ways,
 * a line is displaced before its store has left, and has to come again.  In the order of the program,
 * in which caches are followed, the set would have had it all the time.
 */
#ifndef TRACE_STORE_SETS_H
#define TRACE_STORE_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_SET_LINES = 16 }; /* that are remembered; more than the first level has ways */

/* Lines that were stored to, and when. */
struct store_set {
	uint64_t line[STORE_SET_LINES]; /* + 1; 0: none */
	uint64_t at[STORE_SET_LINES];	/* number of the last store to it */
};

struct store_sets {
	struct store_set *sets; /* owned; NULL: nothing is followed */
	size_t n_sets;
	unsigned ways;
	uint64_t ahead;	 /* stores that wait at once */
	uint64_t stores; /* so far */
};

/* sets: a power of two.  Returns 0 or -TACT_E_NOMEM. */
int store_sets_init(struct store_sets *s, size_t sets, unsigned ways, int ahead);
void store_sets_fini(struct store_sets *s);

/* A store to a line is the last one that was counted.  Returns whether the line was displaced by those
 * of other stores that waited.
 */
bool store_sets_displaced(struct store_sets *s, uint64_t line);

#endif /* TRACE_STORE_SETS_H */

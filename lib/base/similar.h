/* SPDX-License-Identifier: MIT
 *
 * Names that are close to a name that somebody mistyped.
 */
#ifndef TACT_SIMILAR_H
#define TACT_SIMILAR_H

#include <stddef.h>

/* Returns how many characters must be inserted, removed, replaced or exchanged with their neighbour
 * to turn a into b, ignoring case; `limit` + 1 if that is more than `limit`, or if a name is longer
 * than SIMILAR_LONGEST.
 */
enum { SIMILAR_LONGEST = 255 };
unsigned similar_distance(const char *a, const char *b, unsigned limit);

/* The closest of the names offered so far. */
struct similar {
	const char *wanted;  /* the caller's */
	const char *closest; /* one of those offered; NULL: none is close */
	unsigned distance;   /* of `closest` */
};

/* A third of the characters may be wrong, at most three of them. */
struct similar similar_to(const char *wanted);
void similar_offer(struct similar *s, const char *name);

#endif /* TACT_SIMILAR_H */

/* SPDX-License-Identifier: MIT
 *
 * Measured rows while they are sorted into classes: hunt_terms.c finds the terms of each row,
 * hunt_choose.c the class that explains most, hunt_rows.c does the work.
 */
#ifndef HUNT_ROWS_H
#define HUNT_ROWS_H

#include <math.h>

#include "hunt/hunt.h"

enum hunt_term_kind { TERM_ONE, TERM_EDGE, TERM_CHAIN, TERM_BOTTLENECK };

struct hunt_term {
	struct hunt_pattern a, b;
	unsigned copies; /* of a; for TERM_BOTTLENECK: 1 + enum tact_bound */
	enum hunt_term_kind kind;
};

struct hunt_sums {
	double all, off[2], left[2]; /* weights, and error that no class explains yet, by sign */
	uint32_t n, n_off[2];
};

struct hunt_sorting {
	struct tact_hunt *h;
	struct hunt_term *term; /* owned */
	struct hunt_sums *sums; /* owned */
	size_t n_terms, term_capacity;
	struct hash index;
	uint32_t *list;	    /* owned; terms of all rows */
	size_t *first;	    /* owned; of each row, and the end */
	uint8_t *sign;	    /* owned; 0: agrees, 1: predicted too low, 2: too high, 3: no number */
	bool *is_explained; /* owned */
	size_t n_list, list_capacity;
	uint32_t *rows_of;	/* owned; rows of all terms, from first_row[term] on */
	size_t *first_row;	/* owned */
	struct hunt_sums *pair; /* owned; as many as terms */
	uint32_t *touched;	/* owned */
	double mass;		/* all error */
};

struct hunt_choice {
	uint32_t a, b; /* terms; b may be HASH_NONE */
	unsigned side; /* 0: predicted too low */
	double score;
	struct hunt_sums sums;
};

static inline double hunt_error_of(const struct hunt_row *r)
{
	return (r->predicted - r->judged) / r->judged;
}

/* Adds the terms of a row, which must be the one after the last.  Returns 0 or -TACT_E_NOMEM. */
int hunt_terms_add(struct hunt_sorting *s, size_t row);

/* Adds a row to sums. */
void hunt_sums_count(const struct hunt_sorting *s, struct hunt_sums *sums, size_t row);

bool hunt_row_has(const struct hunt_sorting *s, size_t row, uint32_t term);

/* Returns the class that explains most of the error that is left; a is HASH_NONE: there is none. */
struct hunt_choice hunt_choose(struct hunt_sorting *s);

#endif /* HUNT_ROWS_H */

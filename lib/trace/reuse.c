/* SPDX-License-Identifier: MIT
 *
 * Distances of reuse, from windows at random moments.
 *
 * A line that k of n windows access comes back, on average, after n / k times the length of a
 * window.  The lines that n / k windows access together are those that are accessed in that time, if
 * windows at random moments are like a stretch of that length: locality makes the real number
 * smaller.  A line that no window has accessed before is as far away as there are lines in all,
 * which follows from how often the others come back: capture and recapture (Schnabel's estimator).
 */
#include "trace/reuse.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/hash.h"

void reuse_fini(struct reuse *r)
{
	FREE_ALL(r->lines, r->at_windows);
}

static int grow(struct reuse *r)
{
	const size_t n_slots = r->n_slots ? 2 * r->n_slots : 4096;
	struct reuse_line *lines = calloc(n_slots, sizeof(*lines));

	if (!lines)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < r->n_slots; i++) {
		size_t at = hash_number(r->lines[i].line) >> 20;

		if (!r->lines[i].line)
			continue;
		while (lines[at % n_slots].line)
			at++;
		lines[at % n_slots] = r->lines[i];
	}
	free(r->lines);
	r->lines = lines;
	r->n_slots = n_slots;
	return 0;
}

int reuse_begin(struct reuse *r)
{
	if ((!r->n_slots && grow(r)) || tact_grow(&r->at_windows, &r->windows_capacity,
						  r->n_windows + 1, sizeof(*r->at_windows)))
		return -TACT_E_NOMEM;
	r->at_windows[r->n_windows++] = r->n;
	r->window++;
	return 0;
}

/* Returns the lines that n windows access. */
static double lines_of(const struct reuse *r, double n)
{
	const size_t i = (size_t)n;

	return (double)(i + 1 < r->n_windows ? r->at_windows[i] : r->n);
}

bool reuse_access(struct reuse *r, uint64_t line, uint32_t process, double *distance)
{
	const uint64_t key = (line ^ (uint64_t)process << 44) + 1;
	size_t at = hash_number(key) >> 20;
	struct reuse_line *x;

	while (r->lines[at % r->n_slots].line && r->lines[at % r->n_slots].line != key)
		at++;
	x = &r->lines[at % r->n_slots];
	if (x->line && x->window == r->window)
		return false;
	r->known += (double)r->at_windows[r->n_windows - 1];
	if (x->line) {
		r->again++;
		*distance = lines_of(r, (double)r->window / x->n);
		x->window = r->window;
		x->n++;
		return true;
	}
	*distance = r->again > 0 ? r->known / r->again : (double)r->n;
	*x = (struct reuse_line){key, r->window, 1};
	r->n++;
	if (2 * r->n > r->n_slots)
		grow(r); /* if there is no memory, a table that is fuller will do */
	return true;
}

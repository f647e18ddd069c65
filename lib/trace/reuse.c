/* SPDX-License-Identifier: MIT
 *
 * Distances of reuse, from windows at random moments.
 *
 * A line that k of n windows access comes back, on average, after n / k times the length of a
 * window.  The lines that n / k windows access together are those that are accessed in that time, if
 * windows at random moments are like a stretch of that length: locality makes the real number
 * smaller.  A line that no window has accessed before is as far away as there are lines in all,
 * which follows from how often the others come back: capture and recapture (Schnabel's estimator).
 *
 * Locality shows within windows.  The lines that x accesses touch are a power of x, F(x) = a x^b, over
 * many orders of magnitude; so windows tell how many accesses touch as many lines as a cache has,
 * F(X) = C.  Of accesses that are the first to their line since x accesses, F'(x), those miss whose
 * line was not accessed since X either, F'(X): a share of (x / X)^(1 - b) (Denning and Schwartz,
 * Properties of the working-set model, 1972).
 */
#include "trace/reuse.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/hash.h"

enum { NEAR = 64, FAR = 512 }; /* accesses: a window has some 700 */
enum { MOST_DUE = 8 };	       /* misses that no line was found for */

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
	r->position = r->distinct = 0;
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
	r->distinct += !x->line || x->window != r->window;
	if (++r->position == NEAR)
		r->near = r->distinct;
	if (r->position == FAR) {
		r->sum_near += (double)r->near;
		r->sum_far += (double)r->distinct;
		r->n_sums++;
	}
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

double reuse_miss(const struct reuse *r, double lines)
{
	double power, accesses;

	if (!r->n_sums)
		return 1;
	power = log(r->sum_far / r->sum_near) / log((double)FAR / NEAR);
	if (power < 0.05) /* hardly a new line */
		power = 0.05;
	accesses = FAR * pow(lines * r->n_sums / r->sum_far, 1 / power);
	return (double)r->position < accesses ? pow((double)r->position / accesses, 1 - power) : 1;
}

void reuse_correct(struct reuse *r, const double lines[CACHE_LEVELS], double distance,
		   struct tact_stream_trip *trip)
{
	const uint8_t found = trip->level;
	uint8_t level = 0;
	double before = 1;

	trip->level = 0;
	for (unsigned i = 0; i < CACHE_LEVELS && trip->level == i; i++) {
		const double share = reuse_miss(r, lines[i]);

		/* Chances add up to misses, of lines that seem to be far away. */
		r->due[i] += share / before;
		before = share;
		if (distance > lines[i])
			level = (uint8_t)(i + 1);
		if (r->due[i] >= 1 && found > i && level > i) {
			r->due[i]--;
			trip->level = (uint8_t)(i + 1);
		}
		if (r->due[i] > MOST_DUE)
			r->due[i] = MOST_DUE;
	}
	/* Pages that are used as often as lines of the first two levels are in the TLBs. */
	if (trip->page && level < 2)
		trip->page = 1;
}

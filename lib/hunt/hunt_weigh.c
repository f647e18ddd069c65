/* SPDX-License-Identifier: MIT
 *
 * How much of the data set a class has.
 *
 * A data set has many more blocks than different instructions, so that patterns are compared with
 * the parts of the pool, once, and not with the instructions of all blocks.
 */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "hunt/hunt.h"

struct filter {
	const struct tact_hunt *h;
	const struct hunt_class *class;
	uint16_t *fits; /* owned; bit k: the part fits pattern k */
	bool is_plain;	/* only blocks without a number */
};

static bool begin(struct filter *f, const struct tact_hunt *h, const struct hunt_class *class)
{
	*f = (struct filter){
		.h = h, .class = class, .fits = calloc(h->pool.n + 1, sizeof(*f->fits))};
	if (!f->fits)
		return false;
	for (size_t i = 0; i < h->pool.n; i++)
		for (size_t k = 0; k < class->n; k++)
			if (hunt_pattern_fits(&class->pattern[k], &h->pool.part[i].insn))
				f->fits[i] |= (uint16_t)(1 << k);
	/* Rows are one data set, blocks without a number are another one, which says more. */
	for (size_t i = 0; i < h->n_rows; i++)
		f->is_plain |= !(h->row[i].judged > 0);
	return true;
}

/* Whether it is part of the data set that counts. */
static bool counts(const struct filter *f, const struct hunt_row *r)
{
	return !f->is_plain || !(r->judged > 0);
}

static bool has(const struct filter *f, const struct hunt_row *r)
{
	const uint32_t *piece = f->h->piece + r->first_piece;
	unsigned met = 0;
	struct hunt_code code;

	for (size_t i = 0; i < r->n_pieces; i++)
		met |= piece[i] == HASH_NONE ? 0 : f->fits[piece[i]];
	if (met != (1u << f->class->n) - 1)
		return false;
	code.n = r->n_pieces;
	for (size_t i = 0; i < r->n_pieces; i++)
		code.insn[i] = piece[i] == HASH_NONE ? (struct hunt_insn){.is_branch = true}
						     : f->h->pool.part[piece[i]].insn;
	if (f->class->relations & HUNT_DEPENDENCES)
		hunt_connect(&code);
	return hunt_class_is_in(f->class, &code);
}

/* The share of a class that disagrees: known of rows, and of real blocks as far as some of them
 * tell.
 */
static double share_off(const struct tact_hunt_finding *view)
{
	if (view->has_mape)
		return view->weight > 0 ? view->weight_off / view->weight : 0;
	return view->n_real ? (double)view->n_real_off / (double)view->n_real : 0;
}

void hunt_weigh(struct tact_hunt *h, const struct hunt_class *class, struct tact_hunt_finding *view)
{
	const double share = share_off(view);
	double weight = 0, total = 0;
	struct filter f;

	if (!begin(&f, h, class))
		return;
	/* The rows of a class that has a bottleneck were counted when it was found. */
	if (view->has_mape && (!f.is_plain || class->bottleneck)) {
		free(f.fits);
		return;
	}
	view->n_rows = 0;
	for (size_t i = 0; i < h->n_rows; i++) {
		const struct hunt_row *r = &h->row[i];

		if (!counts(&f, r))
			continue;
		total += r->weight;
		if (!has(&f, r))
			continue;
		weight += r->weight;
		view->n_rows++;
	}
	view->weight = total > 0 ? weight / total : 0;
	view->weight_off = view->weight * share;
	free(f.fits);
}

/* Weighted sampling without replacement: the largest log(u) / weight win (Efraimidis and Spirakis,
 * "Weighted random sampling with a reservoir", 2006).
 */
size_t hunt_sample_rows(struct tact_hunt *h, const struct hunt_class *class, size_t most,
			uint64_t *random, size_t rows[HUNT_MAX_REAL])
{
	double keys[HUNT_MAX_REAL];
	struct filter f;
	size_t n = 0;

	if (!begin(&f, h, class))
		return 0;
	for (size_t i = 0; i < h->n_rows; i++) {
		const struct hunt_row *r = &h->row[i];
		double key;
		size_t at;

		if (!counts(&f, r) || !has(&f, r))
			continue;
		key = log(random_unit(random) + 0x1p-60) / r->weight;
		for (at = n; at && keys[at - 1] < key; at--)
			;
		if (at >= most)
			continue;
		n = n < most ? n + 1 : most;
		for (size_t k = n - 1; k > at; k--) {
			keys[k] = keys[k - 1];
			rows[k] = rows[k - 1];
		}
		keys[at] = key;
		rows[at] = i;
	}
	free(f.fits);
	return n;
}

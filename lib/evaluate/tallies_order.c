/* SPDX-License-Identifier: MIT
 *
 * Kendall's tau-b of a tally: Knight's algorithm (W. R. Knight, JASA 61, 1966), with its merge sort
 * on disk.
 */
#include <math.h>
#include <stdlib.h>

#include "evaluate/tallies.h"

/* What is known of a group after its rows came in the order of the predictions, and of the measured
 * cycles where those are the same.  All sums are over pairs of rows, twice: (sum of weights)^2 less
 * the sum of their squares.
 */
struct ordering {
	double last_x, last_y;
	double x_weight, x_squares, both_weight, both_squares; /* of rows like the last one */
	double n;
	struct sum weight, squares, x_ties, both_ties, y_ties;
};

static void end_ties(struct sum *ties, double *weight, double *squares)
{
	sum_add_product(ties, *weight, *weight);
	sum_add(ties, -*squares);
	*weight = *squares = 0;
}

static void take(struct ordering *o, double x, double y, double w, double squares, double n)
{
	const bool is_x = o->n > 0 && x == o->last_x;

	if (!is_x)
		end_ties(&o->x_ties, &o->x_weight, &o->x_squares);
	if (!is_x || y != o->last_y)
		end_ties(&o->both_ties, &o->both_weight, &o->both_squares);
	o->last_x = x;
	o->last_y = y;
	o->n += n;
	o->x_weight += w;
	o->x_squares += squares;
	o->both_weight += w;
	o->both_squares += squares;
	sum_add(&o->weight, w);
	sum_add(&o->squares, squares);
}

static int compare_y(const void *unused, const struct run_record *a, const struct run_record *b)
{
	(void)unused;
	if (a->tag != b->tag)
		return a->tag < b->tag ? -1 : 1;
	return ORDER(a->y, b->y);
}

/* w adds up to their weight, v to the sum of its squares. */
static void join_y(struct run_record *a, const struct run_record *b)
{
	a->w += b->w;
	a->v += b->v;
}

struct ordered {
	const struct tally_scoring *t;
	size_t first, n;	  /* groups */
	struct ordering *of;	  /* owned */
	struct sum *crossed;	  /* owned; pairs that are in the other order */
	struct sorter_walk *walk; /* owned */
	struct sorter by_y;
};

static int take_all(struct ordered *o, struct tact_diag *diag)
{
	struct run_record r;
	int status;

	sorter_walk_init(o->walk, o->t->tally);
	while ((status = sorter_walk_next(o->walk, &r, diag)) > 0) {
		const struct cell *cell = &o->t->cells->cell[r.tag >> 2];
		const double y = o->t->is_rounded ? tally_round(r.y) : r.y;
		const double w = r.v * r.w, squares = r.v * (r.w * r.w);

		for (uint32_t k = 0; k < cell->n_groups; k++) {
			const size_t g = cell->group[k] - o->first;
			const struct run_record to = {.y = y, .w = w, .v = squares, .tag = g};

			if (cell->group[k] < o->first || g >= o->n)
				continue;
			take(&o->of[g], r.x, y, w, squares, r.v);
			status = sorter_add(&o->by_y, &to, diag);
			if (status < 0)
				return status;
		}
	}
	return status < 0 ? status : sorter_finish(&o->by_y, diag);
}

/* Rows with the same measured cycles were joined. */
static int find_y_ties(struct ordered *o, struct tact_diag *diag)
{
	struct run_record r;
	int status;

	sorter_walk_init(o->walk, &o->by_y);
	while ((status = sorter_walk_next(o->walk, &r, diag)) > 0) {
		sum_add_product(&o->of[r.tag].y_ties, r.w, r.w);
		sum_add(&o->of[r.tag].y_ties, -r.v);
	}
	return status;
}

static void set_tau(struct ordering *o, const struct sum *crossed, struct tact_scores *out)
{
	const double weight = sum_value(&o->weight);
	struct sum all = {0}, x, y, agreeing;
	double by_x, by_y;

	end_ties(&o->x_ties, &o->x_weight, &o->x_squares);
	end_ties(&o->both_ties, &o->both_weight, &o->both_squares);
	sum_add_product(&all, weight, weight);
	sum_add_sum(&all, -1, &o->squares);
	x = y = all;
	sum_add_sum(&x, -1, &o->x_ties);
	sum_add_sum(&y, -1, &o->y_ties);
	agreeing = x;
	sum_add_sum(&agreeing, -1, &o->y_ties);
	sum_add_sum(&agreeing, 1, &o->both_ties);
	sum_add_sum(&agreeing, -4, crossed);
	by_x = sum_value(&x);
	by_y = sum_value(&y);
	/* Weights are rounded: a remainder of rounding must not serve as a divisor. */
	out->has_tau =
		o->n >= 2 && by_x > 1e-12 * sum_value(&all) && by_y > 1e-12 * sum_value(&all);
	if (out->has_tau)
		out->tau = sum_value(&agreeing) / (sqrt(by_x) * sqrt(by_y));
}

int tally_score_order(const struct tally_scoring *t, enum tact_grouping kind,
		      struct tact_diag *diag)
{
	struct ordered o = {
		.t = t, .first = t->first[kind], .n = t->first[kind + 1] - t->first[kind]};
	struct sort_order order = {.compare = compare_y, .join = join_y};
	int status = -TACT_E_NOMEM;

	if (!o.n)
		return 0;
	o.of = calloc(o.n, sizeof(*o.of));
	o.crossed = order.crossed = calloc(o.n, sizeof(*o.crossed));
	o.walk = malloc(sizeof(*o.walk));
	sorter_init(&o.by_y, &order, t->most, t->folder);
	if (o.of && o.crossed && o.walk)
		status = take_all(&o, diag);
	else
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status >= 0)
		status = find_y_ties(&o, diag);
	for (size_t g = 0; g < o.n && status >= 0; g++)
		set_tau(&o.of[g], &o.crossed[g], &t->scores[o.first + g]);
	sorter_fini(&o.by_y);
	FREE_ALL(o.of, o.crossed, o.walk);
	return status;
}

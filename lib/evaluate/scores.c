/* SPDX-License-Identifier: MIT
 *
 * Scores of predictions: relative errors and order, of all rows or of groups of rows.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tact-program/evaluate.h>

#include "base/base.h"

/* A row that counts.  If all weights are 1, the sums of products below are whole numbers, and exact
 * for up to some 100 million rows.
 */
struct pair {
	double x, y, w;
};

struct error {
	double value, w;
};

/* Room for the largest group; all groups share it. */
struct work {
	struct pair *pairs, *scratch;
	struct error *errors;
	size_t n;
	double interval_weight; /* of the rows that have an interval */
};

const char *tact_outcome_name(enum tact_outcome outcome)
{
	static const char *const names[] = {[TACT_OUTCOME_GOOD] = "good",
					    [TACT_OUTCOME_UNDECODABLE] = "undecodable",
					    [TACT_OUTCOME_NO_DATA] = "no_data",
					    [TACT_OUTCOME_NOT_APPLICABLE] = "not_applicable",
					    [TACT_OUTCOME_NO_NUMBER] = "no_number",
					    [TACT_OUTCOME_TIMEOUT] = "timeout"};

	return NAME_OF(names, outcome, "?");
}

static int by_pair(const void *a, const void *b)
{
	const struct pair *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->y > q->y) - (p->y < q->y);
}

static int by_error(const void *a, const void *b)
{
	const struct error *e = a, *f = b;

	return (e->value > f->value) - (e->value < f->value);
}

/* ---- Kendall's tau-b ---- */

/* Returns the weight of all pairs of elements that are equal (in x, y or both) in a sorted array.
 */
static double count_ties(const struct pair *p, size_t n, bool with_x, bool with_y)
{
	double ties = 0, sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		bool ends = i + 1 == n || (with_x && p[i].x != p[i + 1].x) ||
			    (with_y && p[i].y != p[i + 1].y);

		sum += p[i].w;
		squares += p[i].w * p[i].w;
		if (ends) {
			ties += 0.5 * (sum * sum - squares);
			sum = squares = 0;
		}
	}
	return ties;
}

/* Merges two sorted neighbours; returns the weight of the pairs that were in the wrong order. */
static double merge(const struct pair *p, size_t middle, size_t n, struct pair *to)
{
	double exchanges = 0, left = 0;
	size_t i = 0, k = middle;

	for (size_t j = 0; j < middle; j++)
		left += p[j].w;
	while (i < middle || k < n) {
		if (k == n || (i < middle && p[i].y <= p[k].y)) {
			left -= p[i].w;
			*to++ = p[i++];
		} else {
			exchanges += i < middle ? left * p[k].w : 0;
			*to++ = p[k++];
		}
	}
	return exchanges;
}

/* Sorts by y with merge sort; returns the weight of all pairs that were in the wrong order. */
static double sort_counting(struct pair *p, struct pair *scratch, size_t n)
{
	double exchanges = 0;

	for (size_t width = 1; width < n; width *= 2) {
		for (size_t low = 0; low < n; low += 2 * width) {
			size_t rest = n - low, size = rest < 2 * width ? rest : 2 * width;

			exchanges +=
				merge(p + low, size < width ? size : width, size, scratch + low);
		}
		memcpy(p, scratch, n * sizeof(*p));
	}
	return exchanges;
}

/* Knight's algorithm (W. R. Knight, JASA 61, 1966): n log n instead of n squared. */
static bool kendall(struct pair *p, struct pair *scratch, size_t n, double *tau)
{
	double all, x_ties, y_ties, both_ties, exchanges, scale, sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		sum += p[i].w;
		squares += p[i].w * p[i].w;
	}
	all = 0.5 * (sum * sum - squares);
	qsort(p, n, sizeof(*p), by_pair);
	x_ties = count_ties(p, n, true, false);
	both_ties = count_ties(p, n, true, true);
	exchanges = sort_counting(p, scratch, n);
	y_ties = count_ties(p, n, false, true);
	/* Weights are rounded: a remainder of rounding must not serve as a divisor. */
	if (n < 2 || !(all - x_ties > 1e-12 * all) || !(all - y_ties > 1e-12 * all))
		return false;
	scale = sqrt(all - x_ties) * sqrt(all - y_ties);
	*tau = (all - x_ties - y_ties + both_ties - 2 * exchanges) / scale;
	return true;
}

/* ---- errors ---- */

/* Returns the value with half of the weight on either side; the mean if it is between two values.
 */
static double median_of(struct error *errors, size_t n, double weight)
{
	double below = 0;

	qsort(errors, n, sizeof(*errors), by_error);
	for (size_t i = 0; i < n; i++) {
		below += errors[i].w;
		if (2 * below > weight || i + 1 == n)
			return errors[i].value;
		if (2 * below == weight)
			return 0.5 * (errors[i].value + errors[i + 1].value);
	}
	return 0;
}

static void score_errors(const struct pair *pairs, size_t n, struct error *errors,
			 struct tact_scores *out)
{
	/* 1.05 / 1 - 1 is a little more than 0.05. */
	const double slack = 1e-9;

	for (size_t i = 0; i < n; i++) {
		double w = pairs[i].w, signed_error = (pairs[i].x - pairs[i].y) / pairs[i].y;
		double error = fabs(signed_error);

		errors[i] = (struct error){error, w};
		out->weight += w;
		out->mape += w * error;
		out->bias += w * signed_error;
		out->within_5 += error <= 0.05 + slack ? w : 0;
		out->within_10 += error <= 0.10 + slack ? w : 0;
	}
	out->mape /= out->weight;
	out->bias /= out->weight;
	out->within_5 /= out->weight;
	out->within_10 /= out->weight;
}

static void score(struct work *work, struct tact_scores *out)
{
	out->n = work->n;
	if (out->n_intervals)
		out->held /= work->interval_weight;
	if (!work->n)
		return;
	score_errors(work->pairs, work->n, work->errors, out);
	out->median = median_of(work->errors, work->n, out->weight);
	out->has_tau = kendall(work->pairs, work->scratch, work->n, &out->tau);
}

/* ---- rows and groups ---- */

static bool is_good(const struct tact_pairs *p, size_t i)
{
	return !p->outcomes || p->outcomes[i] == TACT_OUTCOME_GOOD;
}

static int check(const struct tact_pairs *p)
{
	if (!p || (p->n && (!p->predicted || !p->measured)))
		return -TACT_E_INVAL;
	for (size_t i = 0; i < p->n; i++) {
		if (p->outcomes && p->outcomes[i] >= TACT_N_OUTCOMES)
			return -TACT_E_INVAL;
		if (!is_good(p, i))
			continue;
		if (!(p->measured[i] > 0) || !isfinite(p->measured[i]) ||
		    !isfinite(p->predicted[i]))
			return -TACT_E_INVAL;
		if (p->weights && (!(p->weights[i] > 0) || !isfinite(p->weights[i])))
			return -TACT_E_INVAL;
	}
	return 0;
}

static int work_init(struct work *work, size_t n)
{
	*work = (struct work){0};
	work->pairs = calloc(n + 1, 2 * sizeof(*work->pairs));
	work->errors = calloc(n + 1, sizeof(*work->errors));
	if (work->pairs && work->errors) {
		work->scratch = work->pairs + n;
		return 0;
	}
	FREE_ALL(work->pairs, work->errors);
	return -TACT_E_NOMEM;
}

static void work_fini(struct work *work)
{
	FREE_ALL(work->pairs, work->errors);
}

static void take(struct work *work, const struct tact_pairs *p, size_t i, struct tact_scores *out)
{
	out->outcomes[p->outcomes ? p->outcomes[i] : TACT_OUTCOME_GOOD]++;
	if (is_good(p, i) && p->held && p->held[i] != TACT_HELD_UNKNOWN) {
		double weight = p->weights ? p->weights[i] : 1;

		out->n_intervals++;
		work->interval_weight += weight;
		out->held += p->held[i] == TACT_HELD ? weight : 0;
	}
	if (is_good(p, i))
		work->pairs[work->n++] = (struct pair){p->predicted[i], p->measured[i],
						       p->weights ? p->weights[i] : 1};
}

int tact_scores_compute(const struct tact_pairs *pairs, struct tact_scores *out)
{
	struct work work;
	int status = out ? check(pairs) : -TACT_E_INVAL;

	if (!status)
		status = work_init(&work, pairs->n);
	if (status)
		return status;
	*out = (struct tact_scores){.size = sizeof(*out)};
	for (size_t i = 0; i < pairs->n; i++)
		take(&work, pairs, i, out);
	score(&work, out);
	work_fini(&work);
	return 0;
}

/* Sorts rows by group: order[first[g]] to order[first[g + 1] - 1] belong to group g. */
static int sort_by_group(const uint32_t *group, size_t n, size_t n_groups, size_t **order,
			 size_t **first)
{
	*order = calloc(n + 1, sizeof(**order));
	*first = calloc(n_groups + 2, sizeof(**first));
	if (!*order || !*first)
		return -TACT_E_NOMEM;
	/* Counts go two places further, so that filling moves the end of each group into place. */
	for (size_t i = 0; i < n; i++) {
		if (group[i] != TACT_NO_GROUP && group[i] >= n_groups)
			return -TACT_E_INVAL;
		if (group[i] != TACT_NO_GROUP)
			(*first)[group[i] + 2]++;
	}
	for (size_t g = 2; g < n_groups + 2; g++)
		(*first)[g] += (*first)[g - 1];
	for (size_t i = 0; i < n; i++)
		if (group[i] != TACT_NO_GROUP)
			(*order)[(*first)[group[i] + 1]++] = i;
	return 0;
}

int tact_scores_by_group(const struct tact_pairs *pairs, const uint32_t *group, size_t n_groups,
			 struct tact_scores *out)
{
	size_t *order = NULL, *first = NULL;
	struct work work;
	int status = out && (group || !pairs || !pairs->n) ? check(pairs) : -TACT_E_INVAL;

	if (!status)
		status = work_init(&work, pairs->n);
	if (status)
		return status;
	status = sort_by_group(group, pairs->n, n_groups, &order, &first);
	for (size_t g = 0; g < n_groups && !status; g++) {
		out[g] = (struct tact_scores){.size = sizeof(*out)};
		work.n = 0;
		work.interval_weight = 0;
		for (size_t i = first[g]; i < first[g + 1]; i++)
			take(&work, pairs, order[i], &out[g]);
		score(&work, &out[g]);
	}
	FREE_ALL(order, first);
	work_fini(&work);
	return status;
}

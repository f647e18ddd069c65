/* SPDX-License-Identifier: MIT
 *
 * What adds up over a tally, and medians.
 */
#include "evaluate/tallies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- order ---- */

static int compare(const void *cells, const struct run_record *a, const struct run_record *b)
{
	int order;

	if (a->x != b->x)
		return a->x < b->x ? -1 : 1;
	if (a->y != b->y)
		return a->y < b->y ? -1 : 1;
	if (a->w != b->w)
		return a->w < b->w ? -1 : 1;
	if (a->tag == b->tag)
		return 0;
	order = cells_compare(cells, a->tag >> 2, b->tag >> 2);
	return order ? order : ORDER(a->tag & 3, b->tag & 3);
}

static void join(struct run_record *a, const struct run_record *b)
{
	a->v += b->v;
}

void tally_order(struct sort_order *order, const struct cells *cells)
{
	*order = (struct sort_order){.compare = compare, .join = join, .context = cells};
}

/* ---- what adds up ---- */

struct sums {
	double n, n_intervals; /* whole numbers */
	struct sum weight, error, bias, within_5, within_10, interval_weight, held;
};

static double error_of(const struct run_record *r)
{
	return fabs((r->x - r->y) / r->y);
}

static void add_record(struct sums *s, const struct run_record *r)
{
	/* 1.05 / 1 - 1 is a little more than 0.05. */
	const double slack = 1e-9, w = r->v * r->w, error = error_of(r);
	const unsigned held = r->tag & 3;

	s->n += r->v;
	sum_add(&s->weight, w);
	sum_add_product(&s->error, w, error);
	sum_add_product(&s->bias, w, (r->x - r->y) / r->y);
	if (error <= 0.05 + slack)
		sum_add(&s->within_5, w);
	if (error <= 0.10 + slack)
		sum_add(&s->within_10, w);
	if (held == TACT_HELD_UNKNOWN)
		return;
	s->n_intervals += r->v;
	sum_add(&s->interval_weight, w);
	if (held == TACT_HELD)
		sum_add(&s->held, w);
}

static void add_sums(struct sums *to, const struct sums *from)
{
	to->n += from->n;
	to->n_intervals += from->n_intervals;
	sum_add_sum(&to->weight, 1, &from->weight);
	sum_add_sum(&to->error, 1, &from->error);
	sum_add_sum(&to->bias, 1, &from->bias);
	sum_add_sum(&to->within_5, 1, &from->within_5);
	sum_add_sum(&to->within_10, 1, &from->within_10);
	sum_add_sum(&to->interval_weight, 1, &from->interval_weight);
	sum_add_sum(&to->held, 1, &from->held);
}

static void set_scores(const struct sums *s, struct tact_scores *out)
{
	const double weight = sum_value(&s->weight);

	out->n = (size_t)s->n;
	out->n_intervals = (size_t)s->n_intervals;
	if (out->n_intervals)
		out->held = sum_value(&s->held) / sum_value(&s->interval_weight);
	if (!out->n)
		return;
	out->weight = weight;
	out->mape = sum_value(&s->error) / weight;
	out->bias = sum_value(&s->bias) / weight;
	out->within_5 = sum_value(&s->within_5) / weight;
	out->within_10 = sum_value(&s->within_10) / weight;
}

/* Sums are made by cell.  Those of a group are added in the order of the cells' names. */
static int score_sums(const struct tally_scoring *t, struct tact_diag *diag)
{
	struct sums *cell = calloc(t->cells->n + 1, sizeof(*cell));
	struct sums *group = calloc(t->n_groups + 1, sizeof(*group));
	uint32_t *place = cells_order(t->cells);
	uint32_t *sorted = malloc((t->cells->n + 1) * sizeof(*sorted));
	struct sorter_walk *walk = malloc(sizeof(*walk));
	struct run_record r;
	int status = -TACT_E_NOMEM;

	if (cell && group && place && sorted && walk) {
		sorter_walk_init(walk, t->tally);
		while ((status = sorter_walk_next(walk, &r, diag)) > 0)
			add_record(&cell[r.tag >> 2], &r);
		for (size_t i = 0; i < t->cells->n; i++)
			sorted[place[i]] = (uint32_t)i;
		for (size_t i = 0; i < t->cells->n; i++) {
			const struct cell *c = &t->cells->cell[sorted[i]];

			for (uint32_t k = 0; k < c->n_groups; k++)
				add_sums(&group[c->group[k]], &cell[sorted[i]]);
		}
		for (size_t g = 0; g < t->n_groups && status >= 0; g++)
			set_scores(&group[g], &t->scores[g]);
	}
	FREE_ALL(cell, group, place, sorted, walk);
	return status == -TACT_E_NOMEM ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : status;
}

/* ---- medians ---- */

/* The errors of a group, as bits: those of numbers that are not negative sort as the numbers do.  The
 * median is found from its highest bits to its lowest.
 */
struct median {
	uint64_t prefix; /* the bits that are known */
	double weight, below;
	bool is_between;      /* half of the weight is exactly below the next error */
	uint64_t value, next; /* next: the smallest error above */
};

struct medians {
	const struct tally_scoring *t;
	struct median *median;	      /* owned; of each group */
	double *count;		      /* owned; groups x 2^bits */
	struct sorter_walk *walk;     /* owned */
	unsigned bits, known, n_half; /* n_half: groups with is_between */
};

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double value_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Counts the errors of each group that begin with what is known, by their next bits. */
static int count_errors(struct medians *m, unsigned bits, struct tact_diag *diag)
{
	const struct cells *cells = m->t->cells;
	const unsigned rest = 64 - m->known, shift = rest - bits;
	struct run_record r;
	int status;

	memset(m->count, 0, (m->t->n_groups << m->bits) * sizeof(*m->count));
	sorter_walk_init(m->walk, m->t->tally);
	while ((status = sorter_walk_next(m->walk, &r, diag)) > 0) {
		const struct cell *cell = &cells->cell[r.tag >> 2];
		const uint64_t error = bits_of(error_of(&r)), prefix = m->known ? error >> rest : 0;
		const uint64_t next = error >> shift & ((UINT64_C(1) << bits) - 1);

		for (uint32_t k = 0; k < cell->n_groups; k++) {
			const size_t g = cell->group[k];

			if (m->median[g].prefix == prefix)
				m->count[(g << m->bits) + next] += r.v * r.w;
		}
	}
	return status;
}

/* Chooses the bits in which half of the weight is reached. */
static void choose_bits(struct medians *m, size_t g, unsigned bits)
{
	const double *count = &m->count[g << m->bits];
	struct median *median = &m->median[g];
	const size_t n = (size_t)1 << bits;
	double below = median->below;
	size_t last = n;

	for (size_t i = 0; i < n && !m->known; i++)
		median->weight += count[i];
	for (size_t i = 0; i < n; i++) {
		if (!(count[i] > 0))
			continue;
		last = i;
		if (2 * (below + count[i]) >= median->weight)
			break;
		below += count[i];
	}
	if (last == n)
		return; /* no rows */
	if (below > median->below && 2 * (below + count[last]) < median->weight)
		below -= count[last]; /* rounding: the last of them */
	median->below = below;
	median->prefix = median->prefix << bits | last;
	median->is_between = 2 * (below + count[last]) == median->weight;
}

/* Finds the errors that follow the medians. */
static int find_next(struct medians *m, struct tact_diag *diag)
{
	const struct cells *cells = m->t->cells;
	struct run_record r;
	int status;

	sorter_walk_init(m->walk, m->t->tally);
	while ((status = sorter_walk_next(m->walk, &r, diag)) > 0) {
		const struct cell *cell = &cells->cell[r.tag >> 2];
		const uint64_t error = bits_of(error_of(&r));

		for (uint32_t k = 0; k < cell->n_groups; k++) {
			struct median *median = &m->median[cell->group[k]];

			if (error > median->prefix && error < median->next)
				median->next = error;
		}
	}
	return status;
}

static int find_medians(struct medians *m, struct tact_diag *diag)
{
	int status = 0;

	for (m->known = 0; m->known < 64 && status >= 0;) {
		unsigned bits = 64 - m->known < m->bits ? 64 - m->known : m->bits;

		status = count_errors(m, bits, diag);
		for (size_t g = 0; g < m->t->n_groups && status >= 0; g++)
			choose_bits(m, g, bits);
		m->known += bits;
	}
	for (size_t g = 0; g < m->t->n_groups; g++) {
		m->median[g].next = UINT64_MAX;
		m->n_half += m->median[g].is_between;
	}
	if (status >= 0 && m->n_half)
		status = find_next(m, diag);
	return status;
}

static int score_medians(const struct tally_scoring *t, struct tact_diag *diag)
{
	enum { LEAST = 4, MOST = 16 };
	struct medians m = {.t = t, .bits = MOST};
	int status = -TACT_E_NOMEM;

	while (m.bits > LEAST &&
	       t->n_groups << m.bits > t->most * sizeof(struct run_record) / sizeof(double))
		m.bits--;
	m.median = calloc(t->n_groups + 1, sizeof(*m.median));
	m.count = malloc(((t->n_groups << m.bits) + 1) * sizeof(*m.count));
	m.walk = malloc(sizeof(*m.walk));
	if (m.median && m.count && m.walk)
		status = find_medians(&m, diag);
	else
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t g = 0; g < t->n_groups && status >= 0; g++) {
		const struct median *median = &m.median[g];
		double value = value_of(median->prefix);

		if (median->is_between && median->next != UINT64_MAX)
			value = 0.5 * (value + value_of(median->next));
		if (t->scores[g].n)
			t->scores[g].median = value;
	}
	FREE_ALL(m.median, m.count, m.walk);
	return status;
}

int tally_score_errors(const struct tally_scoring *t, struct tact_diag *diag)
{
	int status = score_sums(t, diag);

	return status < 0 ? status : score_medians(t, diag);
}

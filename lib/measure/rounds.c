/* SPDX-License-Identifier: MIT
 *
 * Several measurements of one block, at different times and on different cores, into one.
 *
 * Rounds are kept in the order of their numbers, so that the result does not depend on the order in
 * which they came.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/measure_priv.h"

/* Numbers of the same state differ by no more than this, and by what the counter cannot resolve: its
 * step, in cycles, divided by the iterations that were counted, but no more than another percent.
 */
#define SAME   0.01
#define STEP   4.0
#define COARSE 0.01

/* A round beside a neighbour: its core's quietest moment was this much slower than it should be. */
#define QUIET 0.05

enum {
	ENOUGH = 2,	  /* rounds that agree, if none was lower */
	ENOUGH_BUSY = 3,  /* if none of them had a quiet core */
	ENOUGH_ABOVE = 3, /* if one was lower: this many, */
	ENOUGH_EACH = 2	  /* and this many for each that was lower */
};

struct round {
	double cycles, spread, disturbance;
	uint32_t flags;
	unsigned n; /* rounds that it stands for */
	unsigned low, high, n_pages;
	int cpu;
	enum tact_rung rung;
};

struct tact_rounds {
	struct tact_measurement failure; /* that counts; if its status is OK: only the setting */
	struct round *round;		 /* owned; those with a number, lowest first */
	size_t n, capacity;
	unsigned least; /* rounds that have to agree; 0: ENOUGH */
	unsigned n_made, n_disturbed, kept, dropped;
	unsigned n_failed[TACT_N_MEASURE_STATUS];
};

/* Rounds from number `begin` up to, not including, `end`. */
struct cluster {
	size_t begin, end;
	unsigned agree; /* rounds that they stand for */
	bool is_confirmed;
};

/* ---- failures ---- */

/* Rounds that must fail in the same way before another one is not worth its time; 0: another one
 * always is.  Everything else depends on the block alone.
 */
static unsigned rounds_to_fail(enum tact_measure_status status)
{
	switch (status) {
	case TACT_MEASURE_OK:
	case TACT_MEASURE_DISTURBED:
	case TACT_MEASURE_UNCONFIRMED:
		return 0;
	case TACT_MEASURE_TIMEOUT:
	case TACT_MEASURE_CRASHED:
		return 2;
	case TACT_MEASURE_UNSTABLE:
		return 4;
	default:
		return 1;
	}
}

/* How much a failure says about the block; the least counts. */
static int order_of(enum tact_measure_status status)
{
	static const enum tact_measure_status passing[] = {
		TACT_MEASURE_UNCONFIRMED, TACT_MEASURE_UNSTABLE, TACT_MEASURE_DISTURBED,
		TACT_MEASURE_TIMEOUT, TACT_MEASURE_CRASHED};

	for (size_t i = 0; i < ARRAY_SIZE(passing); i++)
		if (passing[i] == status)
			return TACT_N_MEASURE_STATUS + (int)i;
	return (int)status;
}

#define COMPARE(x, y) ((x) < (y) ? -1 : (x) > (y))

static int compare_failures(const struct tact_measurement *a, const struct tact_measurement *b)
{
	const int orders[] = {order_of(a->status) - order_of(b->status),
			      strcmp(a->reason, b->reason),
			      COMPARE(a->disturbance, b->disturbance),
			      COMPARE(a->cpu, b->cpu),
			      COMPARE(a->flags, b->flags),
			      COMPARE(a->low, b->low),
			      COMPARE(a->high, b->high),
			      COMPARE(a->n_pages, b->n_pages)};

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		if (orders[i])
			return orders[i];
	return 0;
}

static bool is_final(enum tact_measure_status status)
{
	return rounds_to_fail(status) == 1;
}

/* ---- adding ---- */

int tact_rounds_create(struct tact_rounds **out)
{
	if (out)
		*out = NULL;
	return tact_new(out, sizeof(**out), out, "no place for the result", NULL);
}

void tact_rounds_destroy(struct tact_rounds *rounds)
{
	if (!rounds)
		return;
	free(rounds->round);
	free(rounds);
}

static bool is_same_setting(const struct tact_measurement *a, const struct tact_measurement *b)
{
	return a->mode == b->mode && a->init == b->init && a->alignment == b->alignment &&
	       a->memory == b->memory && a->vectors == b->vectors;
}

static bool is_valid(const struct tact_rounds *rounds, const struct tact_measurement *m)
{
	if ((unsigned)m->status >= TACT_N_MEASURE_STATUS ||
	    (rounds->n_made && !is_same_setting(&rounds->failure, m)))
		return false;
	return m->status != TACT_MEASURE_OK ||
	       (isfinite(m->cycles_per_iteration) && m->cycles_per_iteration > 0);
}

/* By the number; what follows only makes the order of equal ones the same every time. */
static int compare(const struct round *a, const struct round *b)
{
	const int orders[] = {
		COMPARE(a->cycles, b->cycles),	 COMPARE(a->disturbance, b->disturbance),
		COMPARE(a->spread, b->spread),	 COMPARE(a->cpu, b->cpu),
		COMPARE(a->low, b->low),	 COMPARE(a->high, b->high),
		COMPARE(a->n_pages, b->n_pages), COMPARE(a->rung, b->rung)};

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		if (orders[i])
			return orders[i];
	return 0;
}

/* Most blocks need two rounds, and there may be many blocks. */
static int grow(struct tact_rounds *rounds)
{
	const size_t capacity = rounds->capacity ? 2 * rounds->capacity : 2;
	struct round *grown;

	if (rounds->n < rounds->capacity)
		return 0;
	grown = realloc(rounds->round, capacity * sizeof(*grown));
	if (!grown)
		return -TACT_E_NOMEM;
	rounds->round = grown;
	rounds->capacity = capacity;
	return 0;
}

static int insert(struct tact_rounds *rounds, const struct tact_measurement *m)
{
	const struct round round = {
		.cycles = m->cycles_per_iteration,
		.spread = m->spread > 0 && isfinite(m->spread) ? m->spread : 0,
		.disturbance = m->disturbance > 0 ? m->disturbance : 0,
		.flags = m->flags,
		.n = m->agree ? m->agree : 1,
		.low = m->low,
		.high = m->high,
		.n_pages = m->n_pages,
		.cpu = m->cpu,
		.rung = m->rung,
	};
	size_t at = rounds->n;

	if (grow(rounds) < 0)
		return -TACT_E_NOMEM;
	for (; at && compare(&rounds->round[at - 1], &round) > 0; at--)
		rounds->round[at] = rounds->round[at - 1];
	rounds->round[at] = round;
	rounds->n++;
	return 0;
}

int tact_rounds_add(struct tact_rounds *rounds, const struct tact_measurement *m)
{
	struct tact_measurement own;
	unsigned made;

	if (!rounds || !m || tact_read_options(&own, sizeof(own), m) < 0 || !is_valid(rounds, &own))
		return -TACT_E_INVAL;
	own.reason[sizeof(own.reason) - 1] = '\0';
	if (own.status == TACT_MEASURE_OK && insert(rounds, &own) < 0)
		return -TACT_E_NOMEM;
	made = own.rounds > own.agree ? own.rounds : own.agree;
	made = made ? made : 1;
	if (!rounds->n_made || (own.status && (!rounds->failure.status ||
					       compare_failures(&own, &rounds->failure) < 0)))
		rounds->failure = own;
	rounds->n_made += made;
	if (own.status == TACT_MEASURE_DISTURBED && !own.disturbed)
		own.disturbed = 1;
	rounds->n_disturbed += own.disturbed < made ? own.disturbed : made;
	rounds->kept += own.kept;
	rounds->dropped += own.dropped;
	if (own.status)
		rounds->n_failed[own.status] += made;
	return 0;
}

int tact_rounds_set_least(struct tact_rounds *rounds, unsigned agree)
{
	if (!rounds)
		return -TACT_E_INVAL;
	rounds->least = agree;
	return 0;
}

/* ---- concluding ---- */

/* Returns the highest number that is the same as this one. */
static double reach(const struct round *r)
{
	const double coarse = r->high > r->low ? STEP / (r->high - r->low) : 0;

	return r->cycles * (1 + SAME) + fmin(coarse, COARSE * r->cycles);
}

static struct cluster cluster_from(const struct tact_rounds *rounds, size_t begin, unsigned lower)
{
	struct cluster c = {.begin = begin, .end = begin};
	unsigned enough = lower ? ENOUGH_ABOVE + ENOUGH_EACH * lower : ENOUGH;
	bool is_quiet = false;

	while (c.end < rounds->n && rounds->round[c.end].cycles <= reach(&rounds->round[begin])) {
		c.agree += rounds->round[c.end].n;
		is_quiet |= rounds->round[c.end].disturbance <= QUIET;
		c.end++;
	}
	if (!is_quiet && enough < ENOUGH_BUSY)
		enough = ENOUGH_BUSY;
	if (enough < rounds->least)
		enough = rounds->least;
	c.is_confirmed = c.agree >= enough;
	return c;
}

/* Finds the lowest cluster that is confirmed; if there is none, the lowest. */
static struct cluster find_cluster(const struct tact_rounds *rounds)
{
	struct cluster lowest = {0};
	unsigned lower = 0;

	for (size_t i = 0; i < rounds->n; i++) {
		struct cluster c = cluster_from(rounds, i, lower);

		if (!i)
			lowest = c;
		if (c.is_confirmed)
			return c;
		lower += rounds->round[i].n;
	}
	return lowest;
}

bool tact_rounds_is_confirmed(const struct tact_rounds *rounds)
{
	enum tact_measure_status status;

	if (!rounds || !rounds->n_made)
		return false;
	status = rounds->failure.status;
	if (is_final(status))
		return true;
	if (rounds->n)
		return find_cluster(rounds).is_confirmed;
	return rounds_to_fail(status) && rounds->n_failed[status] >= rounds_to_fail(status);
}

/* Returns the round of a cluster after `before` of its rounds. */
static const struct round *round_after(const struct tact_rounds *rounds, const struct cluster *c,
				       unsigned before)
{
	const struct round *r = &rounds->round[c->begin];

	for (; before >= r->n; r++)
		before -= r->n;
	return r;
}

/* The spread is that of all passes of the rounds that agree: within rounds and between them. */
static void put_number(const struct tact_rounds *rounds, const struct cluster *c,
		       struct tact_measurement *out)
{
	const struct round *lower = round_after(rounds, c, (c->agree - 1) / 2);
	const struct round *upper = round_after(rounds, c, c->agree / 2);
	double mean = 0, within = 0, between = 0;

	out->disturbance = lower->disturbance;
	for (size_t i = c->begin; i < c->end; i++) {
		const struct round *r = &rounds->round[i];

		mean += r->cycles * r->n / c->agree;
		within += r->spread * r->spread * r->n / c->agree;
		out->flags |= r->flags;
		out->disturbance = fmin(out->disturbance, r->disturbance);
	}
	for (size_t i = c->begin; i < c->end; i++) {
		const double off = rounds->round[i].cycles / mean - 1;

		between += off * off * rounds->round[i].n / c->agree;
	}
	for (size_t i = 0; i < rounds->n; i++)
		out->flags |= rounds->round[i].flags & TACT_MFLAG_MODES;
	out->status = TACT_MEASURE_OK;
	out->cycles_per_iteration = (lower->cycles + upper->cycles) / 2;
	out->spread = sqrt(within + between);
	out->agree = c->agree;
	out->low = lower->low;
	out->high = lower->high;
	out->n_pages = lower->n_pages;
	out->cpu = lower->cpu;
	out->rung = lower->rung;
}

static void put_doubt(const struct tact_rounds *rounds, const struct cluster *c,
		      struct tact_measurement *out)
{
	const struct round *lowest = &rounds->round[0];

	put_number(rounds, c, out);
	out->status = TACT_MEASURE_UNCONFIRMED;
	out->cycles_per_iteration = out->spread = 0;
	out->agree = 0;
	if (c->agree >= ENOUGH)
		snprintf(out->reason, sizeof(out->reason), "%u of %u rounds saw %.2f cycles, %s",
			 c->agree, rounds->n_made, lowest->cycles,
			 c->agree < rounds->least ? "too few while neighbours come this often"
						  : "but never on a quiet core");
	else if (c->end < rounds->n)
		snprintf(out->reason, sizeof(out->reason),
			 "one of %u rounds saw %.2f cycles, the next lowest %.2f", rounds->n_made,
			 lowest->cycles, rounds->round[c->end].cycles);
	else
		snprintf(out->reason, sizeof(out->reason),
			 "one of %u rounds saw %.2f cycles, the others have no number",
			 rounds->n_made, lowest->cycles);
}

int tact_rounds_result(const struct tact_rounds *rounds, struct tact_measurement *out)
{
	struct tact_measurement m;
	struct cluster c;

	if (!rounds || !rounds->n_made || !tact_can_fill(out))
		return -TACT_E_INVAL;
	c = find_cluster(rounds);
	m = rounds->failure;
	m.size = sizeof(m);
	m.cycles_per_iteration = m.spread = 0;
	m.agree = 0;
	m.rounds = rounds->n_made;
	m.disturbed = rounds->n_disturbed;
	m.kept = rounds->kept;
	m.dropped = rounds->dropped;
	if (rounds->n && !is_final(m.status)) {
		m.flags = 0;
		m.reason[0] = '\0';
		if (c.is_confirmed || rounds->n_made == 1)
			put_number(rounds, &c, &m);
		else
			put_doubt(rounds, &c, &m);
	}
	return tact_fill(out, &m, sizeof(m));
}

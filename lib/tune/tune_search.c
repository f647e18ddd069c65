/* SPDX-License-Identifier: MIT
 *
 * Baselines in the same harness and with the same budget of block evaluations.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tune.h"

/* Without a budget: the training set this many times, some tens of seconds for the plain machine.
 */
enum { DEFAULT_PASSES = 100 };

static uint64_t budget_of(const struct tact_tuner *t)
{
	return t->opt.budget ? t->opt.budget
			     : (uint64_t)DEFAULT_PASSES * t->rows.n_part[TACT_TUNE_TRAIN];
}

/* ---- a latency and a cost an instruction ---- */

int tune_simple(struct tact_tuner *t, struct tact_diag *diag)
{
	unsigned n_forms = tact_isa_form_count(tune_isa(&t->defaults));

	for (unsigned i = 0; i < t->n_workers; i++) {
		struct tact_mca_params *p = t->workers[i].table.mca;

		for (unsigned form = 0; form < n_forms; form++) {
			tact_mca_set(p, form, TACT_MCA_LATENCY, 0, 1);
			tact_mca_set(p, form, TACT_MCA_MICRO_OPS, 0, 1);
			for (unsigned k = 0; k < TACT_MCA_READS; k++)
				tact_mca_set(p, form, TACT_MCA_READ_ADVANCE, k, 0);
			for (unsigned k = 0; k < TACT_MCA_PORTS; k++)
				tact_mca_set(p, form, TACT_MCA_PORT_CYCLES, k, 0);
		}
	}
	return tune_direct(t, diag);
}

/* ---- proposals ---- */

struct search {
	struct tact_tuner *t;
	uint64_t rng;
	int *best, *candidate, *elite; /* owned; elite: POOL vectors */
	double error, elite_error[8];
	unsigned n_elite;
};
enum { POOL = 8 };

static int random_value(struct search *s, size_t i)
{
	const struct tact_tuner *t = s->t;
	const struct tune_param *p = &t->params[i];
	int value;

	if (p->kind < TACT_MCA_N_KINDS) {
		/* The range that the paper gives OpenTuner for ports (section V-C), but mostly
		 * unused ports, as in its own distribution.
		 */
		if (p->kind == TACT_MCA_PORT_CYCLES && random_below(&s->rng, 10))
			return 0;
		return tune_sample_value(p->kind, &s->rng);
	}
	if (p->kind == TUNE_PORT_SET)
		return t->port_sets[random_below(&s->rng, t->n_port_sets)];
	value = tune_value(&t->start, p);
	value = random_in(&s->rng, value / 2, 2 * value + 2);
	return value < p->low ? p->low : value > p->high ? p->high : value;
}

static void propose_random(struct search *s)
{
	for (size_t i = 0; i < s->t->n_params; i++)
		s->candidate[i] = random_value(s, i);
}

/* Makes some parameters of the best vector random. */
static void mutate(struct search *s, double share)
{
	memcpy(s->candidate, s->best, s->t->n_params * sizeof(*s->best));
	for (size_t i = 0; i < s->t->n_params; i++)
		if (random_unit(&s->rng) < share)
			s->candidate[i] = random_value(s, i);
}

static void propose_few(struct search *s)
{
	mutate(s, 0.002);
}

static void propose_many(struct search *s)
{
	mutate(s, 0.05);
}

/* Moves some ordinal parameters by one. */
static void propose_step(struct search *s)
{
	memcpy(s->candidate, s->best, s->t->n_params * sizeof(*s->best));
	for (unsigned k = 0; k < 16; k++) {
		size_t i = random_below(&s->rng, (unsigned)s->t->n_params);
		const struct tune_param *p = &s->t->params[i];
		int value = s->candidate[i] + (random_next(&s->rng) & 1 ? 1 : -1);

		if (p->kind != TUNE_PORT_SET && value >= p->low && value <= p->high)
			s->candidate[i] = value;
	}
}

/* Crosses two good vectors. */
static void propose_cross(struct search *s)
{
	size_t n = s->t->n_params;
	const int *a = s->n_elite ? s->elite + n * random_below(&s->rng, s->n_elite) : s->best;

	for (size_t i = 0; i < n; i++)
		s->candidate[i] = random_next(&s->rng) & 1 ? s->best[i] : a[i];
}

static void (*const proposals[])(struct search *) = {propose_few, propose_step, propose_many,
						     propose_cross, propose_random};

static void remember(struct search *s, double error)
{
	size_t n = s->t->n_params;
	unsigned at = 0;

	for (unsigned i = 1; i < s->n_elite; i++)
		if (s->elite_error[i] > s->elite_error[at])
			at = i;
	if (s->n_elite < POOL)
		at = s->n_elite++;
	else if (error >= s->elite_error[at])
		return;
	s->elite_error[at] = error;
	memcpy(s->elite + at * n, s->candidate, n * sizeof(*s->candidate));
}

/* Evaluates the candidate; returns 1 if it is the best so far. */
static int judge(struct search *s)
{
	struct tact_tuner *t = s->t;
	double error;
	int status;

	tune_values_set(t, s->candidate);
	status = tune_evaluate_parts(t, 1u << TACT_TUNE_TRAIN);
	if (status < 0)
		return status;
	error = tune_error_of(t, TACT_TUNE_TRAIN);
	remember(s, error);
	if (error >= s->error)
		return 0;
	s->error = error;
	memcpy(s->best, s->candidate, t->n_params * sizeof(*s->best));
	return 1;
}

/* ---- the bandit ---- */

/* Chooses the next proposal: by the share of successes among its last uses, recent ones counting
 * more, plus a bonus for those that were used little (area under the curve credit, Fialho 2010, as
 * in OpenTuner).
 */
struct arm {
	unsigned uses;
	double credit;
};

static unsigned choose(const struct arm *arms, unsigned total)
{
	unsigned best = 0;
	double highest = -1;

	for (unsigned i = 0; i < ARRAY_SIZE(proposals); i++) {
		double score = INFINITY;

		if (arms[i].uses)
			score = arms[i].credit +
				0.05 * sqrt(2 * log((double)total + 1) / arms[i].uses);
		if (score > highest) {
			highest = score;
			best = i;
		}
	}
	return best;
}

static int run(struct search *s, bool is_bandit)
{
	struct arm arms[ARRAY_SIZE(proposals)] = {{0, 0}};
	struct tact_tuner *t = s->t;
	uint64_t limit = budget_of(t);
	unsigned total = 0;
	int status = 0;

	tune_values_get(t, s->best);
	memcpy(s->candidate, s->best, t->n_params * sizeof(*s->best));
	s->error = INFINITY;
	status = judge(s);
	while (t->evaluations < limit && status >= 0) {
		unsigned arm = is_bandit ? choose(arms, total) : ARRAY_SIZE(proposals) - 1;
		double used = tune_seconds() - t->start_seconds;
		double share = (double)t->evaluations / (double)limit;

		proposals[arm](s);
		status = judge(s);
		arms[arm].uses++;
		arms[arm].credit = 0.9 * arms[arm].credit + (status > 0 ? 0.1 : 0);
		total++;
		if (status >= 0)
			status = tune_report(t, is_bandit ? "bandit" : "random", total, 0, share,
					     s->error, NAN, share > 0 ? used / share - used : NAN);
	}
	tune_values_set(t, s->best);
	return status;
}

static int search(struct tact_tuner *t, bool is_bandit, struct tact_diag *diag)
{
	struct search s = {.t = t, .rng = t->opt.seed ^ 0xba2d17};
	int status = -TACT_E_NOMEM;

	s.best = calloc(t->n_params, sizeof(*s.best));
	s.candidate = calloc(t->n_params, sizeof(*s.candidate));
	s.elite = calloc(t->n_params, POOL * sizeof(*s.elite));
	if (s.best && s.candidate && s.elite)
		status = run(&s, is_bandit);
	free(s.best);
	free(s.candidate);
	free(s.elite);
	return status < 0 ? tact_fail(diag, (enum tact_error) - status, "%s", tact_strerror(status))
			  : 0;
}

int tune_random_search(struct tact_tuner *t, struct tact_diag *diag)
{
	return search(t, false, diag);
}

int tune_bandit(struct tact_tuner *t, struct tact_diag *diag)
{
	return search(t, true, diag);
}

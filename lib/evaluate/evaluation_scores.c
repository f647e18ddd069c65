/* SPDX-License-Identifier: MIT
 *
 * Computes the scores of all models and groups from their tallies.
 */
#include <stdlib.h>

#include "base/pool.h"
#include "evaluate/evaluation.h"
#include "evaluate/tallies.h"

void evaluation_first_groups(const struct evaluation *e, size_t first[TACT_N_GROUPINGS + 1])
{
	first[0] = 0;
	for (int kind = 0; kind < TACT_N_GROUPINGS; kind++)
		first[kind + 1] = first[kind] + e->view.by[kind].n;
}

/* Groups get their final numbers.  If there is one set, all rows are those of the set. */
static void number_groups(struct evaluation *e, const size_t first[TACT_N_GROUPINGS + 1])
{
	const uint32_t mask = (UINT32_C(1) << EVALUATION_KIND_SHIFT) - 1;

	for (size_t i = 0; i < e->cells.n; i++) {
		struct cell *cell = &e->cells.cell[i];
		uint32_t n = 0;

		for (uint32_t k = 0; k < cell->n_groups; k++) {
			const unsigned kind = cell->group[k] >> EVALUATION_KIND_SHIFT;

			if (kind == TACT_BY_NOTHING && e->view.n_sets == 1)
				continue;
			cell->group[n++] = (uint32_t)(first[kind] + (cell->group[k] & mask));
		}
		cell->n_groups = n;
	}
}

static void count_outcomes(const struct evaluation *e, size_t m, struct tact_scores *scores)
{
	for (size_t i = 0; i < e->cells.n; i++) {
		const struct cell *cell = &e->cells.cell[i];

		for (uint32_t k = 0; k < cell->n_groups; k++)
			for (unsigned o = 0; o < TACT_N_OUTCOMES; o++)
				scores[cell->group[k]].outcomes[o] +=
					cell->outcomes[m * TACT_N_OUTCOMES + o];
	}
}

/* Tasks of a model: one for what adds up, and one for each kind of group. */
enum { TASKS = TACT_N_GROUPINGS + 1 };

struct scoring {
	struct evaluation *e;
	struct tally_scoring *of; /* owned; one per model */
	struct tact_diag *diag;	  /* owned; one per task */
};

static int finish_tally(void *context, unsigned thread, size_t m)
{
	const struct scoring *s = context;

	(void)thread;
	return sorter_finish(&s->e->tally[m], &s->diag[m * TASKS]);
}

static int run_task(void *context, unsigned thread, size_t task)
{
	const struct scoring *s = context;
	const struct tally_scoring *of = &s->of[task / TASKS];
	const size_t kind = task % TASKS;

	(void)thread;
	if (kind == TACT_N_GROUPINGS)
		return tally_score_errors(of, &s->diag[task]);
	if (kind == TACT_BY_NOTHING && s->e->view.n_sets == 1)
		return 0;
	return tally_score_order(of, (enum tact_grouping)kind, &s->diag[task]);
}

/* Hands the scores of a model over, kind by kind. */
static int hand_over(struct evaluation *e, size_t m, const struct tact_scores *scores,
		     const size_t *first)
{
	struct tact_evaluated_model *model = &e->view.model[m];

	for (int kind = 0; kind < TACT_N_GROUPINGS; kind++) {
		const size_t n = first[kind + 1] - first[kind];

		free(model->scores[kind]);
		model->scores[kind] = calloc(n + 1, sizeof(struct tact_scores));
		if (!model->scores[kind])
			return -TACT_E_NOMEM;
		for (size_t g = 0; g < n; g++)
			model->scores[kind][g] = scores[first[kind] + g];
	}
	if (e->view.n_sets == 1 && first[TACT_BY_SET + 1] > first[TACT_BY_SET])
		model->scores[TACT_BY_NOTHING][0] = model->scores[TACT_BY_SET][0];
	return 0;
}

static int score(struct scoring *s, const size_t *first)
{
	struct evaluation *e = s->e;
	const size_t n = e->view.n_models, n_groups = first[TACT_N_GROUPINGS];
	const unsigned n_threads = pool_threads(e->opt.threads, n * TASKS);
	int status = pool_run(n_threads, n, finish_tally, s);

	for (size_t m = 0; m < n && status >= 0; m++) {
		struct tact_scores *scores = calloc(n_groups + 1, sizeof(*scores));

		for (size_t g = 0; g < n_groups && scores; g++)
			scores[g].size = sizeof(*scores);
		s->of[m] = (struct tally_scoring){.tally = &e->tally[m],
						  .cells = &e->cells,
						  .scores = scores,
						  .n_groups = n_groups,
						  .first = first,
						  .is_rounded = e->opt.is_rounded,
						  .most = EVALUATION_MEMORY / 2 / n_threads /
							  sizeof(struct run_record),
						  .folder = e->opt.folder};
		if (scores)
			count_outcomes(e, m, scores);
		else
			status = -TACT_E_NOMEM;
	}
	if (status >= 0)
		status = pool_run(n_threads, n * TASKS, run_task, s);
	for (size_t m = 0; m < n; m++) {
		if (status >= 0)
			status = hand_over(e, m, s->of[m].scores, first);
		free(s->of[m].scores);
	}
	return status;
}

/* The task of what adds up says how many rows there are, and those of the order need not know. */
int evaluation_score(struct evaluation *e, struct tact_diag *diag)
{
	const size_t n_tasks = e->view.n_models * TASKS;
	struct scoring s = {.e = e,
			    .of = calloc(e->view.n_models, sizeof(*s.of)),
			    .diag = calloc(n_tasks, sizeof(*s.diag))};
	size_t first[TACT_N_GROUPINGS + 1];
	int status = -TACT_E_NOMEM;

	evaluation_first_groups(e, first);
	if (s.of && s.diag) {
		number_groups(e, first);
		status = score(&s, first);
	}
	for (size_t i = 0; i < n_tasks && s.diag && status < 0; i++)
		if (s.diag[i].text[0])
			*diag = s.diag[i];
	FREE_ALL(s.of, s.diag);
	return status == -TACT_E_NOMEM ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : status;
}

size_t tact_scores_failed(const struct tact_scores *scores)
{
	size_t n = 0;

	for (int i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++)
		n += scores->outcomes[i];
	return n;
}

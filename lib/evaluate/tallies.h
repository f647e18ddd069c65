/* SPDX-License-Identifier: MIT
 *
 * Scores of any number of rows, from their sorted pairs of predicted and measured cycles.
 *
 * A tally is the multiset of the pairs of a model, sorted, with the cell of each: whatever the order in
 * which rows came and however they were divided, it is the same, and so are all scores, to the last
 * bit.
 */
#ifndef EVALUATE_TALLIES_H
#define EVALUATE_TALLIES_H

#include "evaluate/cells.h"
#include "evaluate/sorted_runs.h"

/* A record of a tally: x is predicted, y is measured, w is the weight of a row, v is how many rows
 * there are, and the tag is the cell, above two bits of enum tact_held.
 */
static inline uint64_t tally_tag(uint32_t cell, unsigned held)
{
	return (uint64_t)cell << 2 | held;
}

/* The order of a tally. */
void tally_order(struct sort_order *order, const struct cells *cells);

/* One model's tally, and where its scores go. */
struct tally_scoring {
	const struct sorter *tally;
	const struct cells *cells;
	struct tact_scores *scores; /* of all groups; outcomes are not filled in */
	size_t n_groups;
	/* Groups are numbered kind by kind: those of a kind begin here. */
	const size_t *first;
	bool is_rounded; /* the measured cycles count with two decimals in the order */
	size_t most;	 /* records that a task may keep in memory */
	const char *folder;
};

/* The work on a tally, in tasks that threads may do at once: what adds up, and the order within each
 * kind of group.  The task of a kind that says the same as another one may be left out.
 * Return 0, -TACT_E_NOMEM, -TACT_E_IO.
 */
int tally_score_errors(const struct tally_scoring *t, struct tact_diag *diag);
int tally_score_order(const struct tally_scoring *t, enum tact_grouping kind,
		      struct tact_diag *diag);

/* Rounds as the papers do: to two decimals, but never to 0. */
static inline double tally_round(double value)
{
	const double rounded = round(value * 100) / 100;

	return rounded > 0 ? rounded : value;
}

#endif /* EVALUATE_TALLIES_H */

/* SPDX-License-Identifier: MIT
 *
 * What executions of a block cost that were looked at, by how far away their data were: from this
 * follows what those cost that were skimmed (skim.h).
 */
#ifndef TRACE_STRATA_H
#define TRACE_STRATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STRATA = 4 /* data in the first level, the second, the third, in memory */ };

struct stratum {
	float mean; /* cycles */
	uint32_t n;
};

/* Executions of one block. */
struct strata {
	struct stratum of[STRATA];
};

/* How well these are known.  Windows of the pipeline say: what the strata say is corrected by the ratio.
 */
struct strata_judge {
	double simulated,
		said;	     /* cycles of windows, and those that the strata said; old ones fade */
	double squares, sum; /* of the difference that remained, and the cycles, over all windows */
	double excess[STRATA]; /* cycles for each cycle that a load takes longer, */
	double longer[STRATA]; /* of so many such cycles */
};

/* Learns from an execution.  is_sample: it stands for those that are skimmed; others count only as long
 * as there are few such.  longest: cycles that a load of it took longer than from the first level.
 */
void strata_add(struct strata *s, struct strata_judge *j, bool is_sample, unsigned level,
		unsigned longest, double cycles);

/* Returns the cycles of a level that the block has not had yet; without: a guess for a block that was
 * never looked at.
 */
double strata_guess(const struct strata *s, const struct strata_judge *j, unsigned level,
		    unsigned longest, double without);

/* Returns what an execution costs that was skimmed, uncorrected. */
static inline double strata_cost(const struct strata *s, const struct strata_judge *j,
				 unsigned level, unsigned longest, double without)
{
	return s->of[level].n ? (double)s->of[level].mean
			      : strata_guess(s, j, level, longest, without);
}

/* A window has ended that stands for what is skimmed: it took so many cycles, and the strata said so
 * many before it.
 */
void strata_judge_window(struct strata_judge *j, double simulated, double said);

/* Returns the factor that corrects costs. */
static inline double strata_factor(const struct strata_judge *j)
{
	return j->said > 0 ? j->simulated / j->said : 1;
}

/* Returns the standard error of `cycles` that were skimmed. */
double strata_error(const struct strata_judge *j, double cycles);

#endif /* TRACE_STRATA_H */

/* SPDX-License-Identifier: MIT
 *
 * See strata.h.
 */
#include "trace/strata.h"

#include <math.h>

enum {
	MOST_SAMPLES = 1024, /* of a mean: then old ones fade, so that it follows the program */
	FEW = 4,	     /* the same for executions that are no samples */
	WINDOWS = 64	     /* after which a window has lost most of its weight */
};

/* Those of the first level, and as much more as misses cost elsewhere. */
double strata_guess(const struct strata *s, const struct strata_judge *j, unsigned level,
		    unsigned longest, double without)
{
	const double each = j->longer[level] > 0 ? j->excess[level] / j->longer[level] : 1;

	return (s->of[0].n ? (double)s->of[0].mean : without) + (level ? each * longest : 0);
}

/* A program that comes to new code takes longer there, in the same blocks: that is not what they take
 * where it is skimmed.
 */
void strata_add(struct strata *s, struct strata_judge *j, bool is_sample, unsigned level,
		unsigned longest, double cycles)
{
	struct stratum *x = &s->of[level];

	if (!is_sample && x->n > FEW)
		return;
	if (level && s->of[0].n) {
		j->excess[level] += cycles - (double)s->of[0].mean;
		j->longer[level] += longest;
	}
	x->n += x->n < (is_sample ? MOST_SAMPLES : FEW);
	x->mean += ((float)cycles - x->mean) / (float)x->n;
}

void strata_judge_window(struct strata_judge *j, double simulated, double said)
{
	const double off = simulated - strata_factor(j) * said;

	if (j->said > 0) { /* the first one has nothing to be compared with */
		j->squares += off * off;
		j->sum += simulated;
	}
	j->simulated += simulated - j->simulated / WINDOWS;
	j->said += said - j->said / WINDOWS;
}

double strata_error(const struct strata_judge *j, double cycles)
{
	return j->sum > 0 ? sqrt(j->squares) / j->sum * cycles : 0;
}

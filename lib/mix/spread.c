/* SPDX-License-Identifier: MIT
 *
 * The error of counts from windows, by random groups (Wolter, Introduction to Variance Estimation,
 * chapter 2).  It is the error of a share: a group that has a share of all instructions should have
 * the same share of everything else.  How many instructions there are is another question, which
 * the model of the CPU answers.
 *
 * Windows that all agree do not prove that the next one would: of n windows, one more that has
 * nothing of a row is always possible.  So the error is at least 1 / (n + 1).
 */
#include <math.h>

#include "mix/mix.h"

double mix_groups_variance(const struct tact_mix *mix, const double found[MIX_GROUPS])
{
	const double *all = mix->in_groups;
	double sum = 0, total = 0, squares = 0, unseen;
	unsigned n = 0;

	for (unsigned i = 0; i < MIX_GROUPS; i++) {
		n += all[i] > 0;
		total += all[i];
		sum += found[i];
	}
	if (n < 2)
		return -1;
	for (unsigned i = 0; i < MIX_GROUPS; i++) {
		const double off = found[i] - sum * all[i] / total;

		squares += off * off;
	}
	unseen = sum / ((double)mix->summary.windows + 1);
	return squares * n / (n - 1) + unseen * unseen;
}

double mix_groups_error(const struct tact_mix *mix, const double found[MIX_GROUPS])
{
	const double variance = mix_groups_variance(mix, found);
	double sum = 0;

	for (unsigned i = 0; i < MIX_GROUPS; i++)
		sum += found[i];
	return variance >= 0 && sum > 0 ? sqrt(variance) / sum : -1;
}

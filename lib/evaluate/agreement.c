/* SPDX-License-Identifier: MIT
 *
 * How well predictions agree with measurements, in short: the scores of all rows.
 */
#include <tact-program/evaluate.h>

int tact_agreement_compute(const double *predicted, const double *measured, size_t n,
			   struct tact_agreement *out)
{
	const struct tact_pairs pairs = {.n = n, .predicted = predicted, .measured = measured};
	struct tact_scores scores;
	int status;

	if (!n || !out)
		return -TACT_E_INVAL;
	status = tact_scores_compute(&pairs, &scores);
	if (status < 0)
		return status;
	*out = (struct tact_agreement){
		.size = sizeof(*out),
		.n = scores.n,
		.mape = scores.mape,
		.median = scores.median,
		.tau = scores.tau,
		.has_tau = scores.has_tau,
	};
	return 0;
}

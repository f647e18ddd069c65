/* SPDX-License-Identifier: MIT
 *
 * Infers the topics of a document: the inner loop of latent Dirichlet allocation.
 *
 * The updates are those of Hoffman, Blei and Bach, "Online learning for latent Dirichlet
 * allocation" (2010), equations 3 to 5: phi, the topics of a word in a document, is proportional to
 * exp(E[log theta_k] + E[log beta_kw]) and is not stored; gamma_k = alpha + the sum of phi over the
 * document.
 */
#include "classify/lda.h"

#include <math.h>
#include <string.h>

/* digamma(x + 6) - digamma(x) = 1/x + ... + 1/(x + 5), with one division: pairs of terms from both
 * ends have the sum 2x + 5 over t, t + 4 and t + 6, where t = x (x + 5).
 */
static inline double shift_by_6(double x)
{
	double t = x * (x + 5);

	return (2 * x + 5) * (t * (3 * t + 20) + 24) / (t * (t + 4) * (t + 6));
}

/* From 6 on, five terms of the asymptotic series (Abramowitz and Stegun 6.3.18) are exact to 1e-11.
 */
double lda_digamma(double x)
{
	double shift = 0, f;

	if (x < 6) {
		shift = shift_by_6(x);
		x += 6;
	}
	f = 1 / (x * x);
	return log(x) - 0.5 / x - shift -
	       f * (1.0 / 12 -
		    f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f * (1.0 / 132)))));
}

/* exp(digamma(x)) is near x - 1/2; this is the asymptotic series in y = x - 1/2 that follows from
 * the one above, exact to 1e-8.  The inner loop needs only this, and is spared the logarithm.
 */
double lda_exp_digamma(double x)
{
	double factor = 1, y, f;

	if (x < 6) {
		factor = exp(-shift_by_6(x));
		x += 6;
	}
	y = x - 0.5;
	f = 1 / (y * y);
	return factor * y *
	       (1 + f * (1.0 / 24 -
			 f * (37.0 / 5760 - f * (10313.0 / 2903040 - f * 5509121.0 / 1393459200))));
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign); /* lgamma writes a global variable */
}

void lda_expect(const struct lda_prior *prior, const double *lambda, double *expected)
{
	const unsigned n_topics = prior->n_topics, n_words = prior->n_words;

	for (unsigned k = 0; k < n_topics; k++) {
		const double *row = lambda + (size_t)k * n_words;
		double sum = 0;

		for (unsigned w = 0; w < n_words; w++)
			sum += row[w];
		sum = lda_digamma(sum);
		for (unsigned w = 0; w < n_words; w++)
			expected[(size_t)w * n_topics + k] = exp(lda_digamma(row[w]) - sum);
	}
}

void lda_mixture_init(const struct lda_prior *prior, const struct lda_term *terms, size_t n,
		      double *gamma)
{
	double total = 0;

	for (size_t i = 0; i < n; i++)
		total += terms[i].count;
	for (unsigned k = 0; k < prior->n_topics; k++)
		gamma[k] = prior->alpha + total / prior->n_topics;
}

/* Computes the weight of each topic for a word, up to a factor; returns their sum, which is never
 * 0.
 */
static inline double weigh(const double *theta, const double *beta, unsigned n_topics, double *phi)
{
	double sum = 1e-300; /* all can underflow */

	for (unsigned k = 0; k < n_topics; k++) {
		phi[k] = theta[k] * beta[k];
		sum += phi[k];
	}
	return sum;
}

void lda_infer(const struct lda_prior *prior, const double *expected, const struct lda_term *terms,
	       size_t n, double *gamma, unsigned rounds, double tolerance)
{
	const unsigned n_topics = prior->n_topics;
	double theta[LDA_MAX_TOPICS], phi[LDA_MAX_TOPICS], next[LDA_MAX_TOPICS];

	for (unsigned round = 0; round < rounds; round++) {
		double change = 0;

		for (unsigned k = 0; k < n_topics; k++) {
			theta[k] = lda_exp_digamma(gamma[k]);
			next[k] = prior->alpha;
		}
		for (size_t i = 0; i < n; i++) {
			const double *beta = expected + (size_t)terms[i].word * n_topics;
			double factor = terms[i].count / weigh(theta, beta, n_topics, phi);

			for (unsigned k = 0; k < n_topics; k++)
				next[k] += factor * phi[k];
		}
		for (unsigned k = 0; k < n_topics; k++) {
			change += fabs(next[k] - gamma[k]);
			gamma[k] = next[k];
		}
		if (change < tolerance * n_topics)
			break;
	}
}

void lda_collect(const struct lda_prior *prior, const double *expected,
		 const struct lda_term *terms, size_t n, const double *gamma, double weight,
		 double *stats)
{
	const unsigned n_topics = prior->n_topics, n_words = prior->n_words;
	double theta[LDA_MAX_TOPICS], phi[LDA_MAX_TOPICS];

	for (unsigned k = 0; k < n_topics; k++)
		theta[k] = lda_exp_digamma(gamma[k]);
	for (size_t i = 0; i < n; i++) {
		const double *beta = expected + (size_t)terms[i].word * n_topics;
		double factor = weight * terms[i].count / weigh(theta, beta, n_topics, phi);

		for (unsigned k = 0; k < n_topics; k++)
			stats[(size_t)k * n_words + terms[i].word] += factor * phi[k];
	}
}

double lda_bound(const struct lda_prior *prior, const double *expected,
		 const struct lda_term *terms, size_t n, const double *gamma)
{
	const unsigned n_topics = prior->n_topics;
	double theta[LDA_MAX_TOPICS], phi[LDA_MAX_TOPICS];
	double sum = 0, of_sum, bound = 0;

	for (unsigned k = 0; k < n_topics; k++)
		sum += gamma[k];
	of_sum = lda_digamma(sum);
	for (unsigned k = 0; k < n_topics; k++) {
		double log_theta = lda_digamma(gamma[k]) - of_sum;

		theta[k] = exp(log_theta);
		bound += (prior->alpha - gamma[k]) * log_theta + log_gamma(gamma[k]);
	}
	for (size_t i = 0; i < n; i++) {
		const double *beta = expected + (size_t)terms[i].word * n_topics;

		bound += terms[i].count * log(weigh(theta, beta, n_topics, phi));
	}
	return bound + log_gamma(n_topics * prior->alpha) - n_topics * log_gamma(prior->alpha) -
	       log_gamma(sum);
}

double lda_topics_bound(const struct lda_prior *prior, const double *lambda)
{
	const unsigned n_words = prior->n_words;
	double bound = 0;

	for (unsigned k = 0; k < prior->n_topics; k++) {
		const double *row = lambda + (size_t)k * n_words;
		double sum = 0, of_sum;

		for (unsigned w = 0; w < n_words; w++)
			sum += row[w];
		of_sum = lda_digamma(sum);
		for (unsigned w = 0; w < n_words; w++)
			bound += (prior->eta - row[w]) * (lda_digamma(row[w]) - of_sum) +
				 log_gamma(row[w]) - log_gamma(prior->eta);
		bound += log_gamma(n_words * prior->eta) - log_gamma(sum);
	}
	return bound;
}

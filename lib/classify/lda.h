/* SPDX-License-Identifier: MIT
 *
 * Latent Dirichlet allocation (Blei, Ng and Jordan 2003) with variational inference: stochastic
 * steps (Hoffman, Blei, Wang and Paisley 2013), followed by passes over all documents.
 *
 * K topics are distributions over V words; a document mixes topics.  lambda[k * V + w] are the
 * parameters of the Dirichlet distribution of topic k, gamma[k] those of a document's mixture.
 */
#ifndef CLASSIFY_LDA_H
#define CLASSIFY_LDA_H

#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

enum { LDA_MAX_TOPICS = 32, LDA_MAX_WORDS = 256 };

/* The fixed part of the model. */
struct lda_prior {
	unsigned n_topics, n_words;
	double alpha; /* of a document's mixture */
	double eta;   /* of a topic's words */
};

struct lda_term {
	uint32_t word, count;
};

/* Documents with the same terms are one document with a weight. */
struct lda_corpus {
	size_t n_docs;
	const struct lda_term *terms; /* borrowed, as are the others */
	const size_t *first;	      /* n_docs + 1 */
	const double *weight;	      /* n_docs, > 0 */
};

/* Logarithmic derivative of the gamma function, for x > 0. */
double lda_digamma(double x);
double lda_exp_digamma(double x); /* its exponential, faster */

/* expected[w * K + k] = exp(E[log of topic k's probability of word w]). */
void lda_expect(const struct lda_prior *prior, const double *lambda, double *expected);

/* Sets gamma to its value before anything is known about a document. */
void lda_mixture_init(const struct lda_prior *prior, const struct lda_term *terms, size_t n,
		      double *gamma);

/* Improves gamma until it changes by less than `tolerance` on average, at most `rounds` times. */
void lda_infer(const struct lda_prior *prior, const double *expected, const struct lda_term *terms,
	       size_t n, double *gamma, unsigned rounds, double tolerance);

/* Adds the expected number of words by topic, times weight, to stats (as lambda). */
void lda_collect(const struct lda_prior *prior, const double *expected,
		 const struct lda_term *terms, size_t n, const double *gamma, double weight,
		 double *stats);

/* Returns a lower bound of the document's log likelihood, given the topics. */
double lda_bound(const struct lda_prior *prior, const double *expected,
		 const struct lda_term *terms, size_t n, const double *gamma);

/* Returns what the distributions of the topics add to the bound of a corpus. */
double lda_topics_bound(const struct lda_prior *prior, const double *lambda);

struct lda_training {
	uint64_t seed;
	unsigned starts; /* independent starts, of which the best is taken; > 0 */
	unsigned jobs;	 /* threads; > 0.  The result does not depend on them */
	void (*report)(void *context, double done); /* by any thread; NULL: nobody */
	void *context;
};

/* Finds topics and sorts them by their share of the words.  *bound is the bound of all documents,
 * *passes the number of passes that the best start took.  Returns 0 or -TACT_E_NOMEM.
 */
int lda_train(const struct lda_corpus *corpus, const struct lda_prior *prior,
	      const struct lda_training *how, double *lambda, double *bound, unsigned *passes);

#endif /* CLASSIFY_LDA_H */

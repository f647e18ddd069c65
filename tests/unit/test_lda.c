/* SPDX-License-Identifier: MIT
 *
 * Latent Dirichlet allocation: topics that are known are found again.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "classify/lda.h"

enum { N_TOPICS = 5, N_WORDS = 20, N_DOCS = 1000, DOC_LENGTH = 40 };

TEST(digamma_of_known_numbers)
{
	/* -gamma, -gamma - 2 log 2, and H(9) - gamma */
	const double euler = 0.57721566490153286;

	assert_true(fabs(lda_digamma(1) + euler) < 1e-10);
	assert_true(fabs(lda_digamma(0.5) + euler + 2 * log(2)) < 1e-10);
	assert_true(fabs(lda_digamma(10) - (7129.0 / 2520 - euler)) < 1e-10);
	for (double x = 1e-3; x < 1e4; x *= 1.3) {
		assert_true(fabs(lda_digamma(x + 1) - lda_digamma(x) - 1 / x) < 1e-10 / x + 1e-10);
		assert_true(fabs(lda_exp_digamma(x) - exp(lda_digamma(x))) <=
			    1e-8 * exp(lda_digamma(x)));
	}
	assert_true(fabs(lda_digamma(1e9) - log(1e9)) < 1e-8);
}

/* ---- documents of known topics ---- */

struct synthetic {
	struct lda_corpus corpus;
	struct lda_term terms[N_DOCS * N_WORDS];
	size_t first[N_DOCS + 1];
	double weight[N_DOCS];
	double topics[N_TOPICS][N_WORDS];
};

static double unit(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(*state >> 11) + 0.5) * 0x1p-53;
}

static unsigned pick(const double *probability, unsigned n, uint64_t *state)
{
	double at = unit(state);
	unsigned i;

	for (i = 0; i + 1 < n && at > probability[i]; i++)
		at -= probability[i];
	return i;
}

/* A topic has four words of its own and shares a fifth of its mass with the next one. */
static void make_topics(struct synthetic *s)
{
	for (unsigned k = 0; k < N_TOPICS; k++) {
		for (unsigned w = 0; w < N_WORDS; w++)
			s->topics[k][w] = 0;
		for (unsigned i = 0; i < 4; i++)
			s->topics[k][4 * k + i] = 0.8 * (i + 1) / 10;
		s->topics[k][(4 * k + 4) % N_WORDS] = 0.2;
	}
}

/* Most documents have one topic, some a mixture of two. */
static struct synthetic *make_documents(uint64_t seed)
{
	struct synthetic *s = calloc(1, sizeof(*s));
	size_t n = 0;

	assert_non_null(s);
	make_topics(s);
	for (unsigned d = 0; d < N_DOCS; d++) {
		unsigned count[N_WORDS] = {0}, a = (unsigned)(unit(&seed) * N_TOPICS);
		unsigned b = (unsigned)(unit(&seed) * N_TOPICS);
		double share = unit(&seed) < 0.5 ? 1 : unit(&seed);

		for (unsigned i = 0; i < DOC_LENGTH; i++)
			count[pick(s->topics[unit(&seed) < share ? a : b], N_WORDS, &seed)]++;
		s->first[d] = n;
		s->weight[d] = 1;
		for (unsigned w = 0; w < N_WORDS; w++)
			if (count[w])
				s->terms[n++] = (struct lda_term){.word = w, .count = count[w]};
	}
	s->first[N_DOCS] = n;
	s->corpus = (struct lda_corpus){
		.n_docs = N_DOCS, .terms = s->terms, .first = s->first, .weight = s->weight};
	return s;
}

static const struct lda_prior prior = {
	.n_topics = N_TOPICS, .n_words = N_WORDS, .alpha = 0.2, .eta = 0.05};

static double train(const struct lda_corpus *corpus, uint64_t seed, unsigned jobs, double *lambda)
{
	const struct lda_training how = {.seed = seed, .starts = 4, .jobs = jobs};
	unsigned passes;
	double bound;

	assert_int_equal(lda_train(corpus, &prior, &how, lambda, &bound, &passes), 0);
	assert_true(isfinite(bound) && bound < 0 && passes > 0);
	return bound;
}

/* Largest sum of differences between a true topic and the found one that is nearest to it; each
 * found one is taken once.
 */
static double worst_match(const struct synthetic *s, const double *lambda)
{
	bool taken[N_TOPICS] = {false};
	double worst = 0;

	for (unsigned k = 0; k < N_TOPICS; k++) {
		double nearest = INFINITY;
		unsigned best = 0;

		for (unsigned f = 0; f < N_TOPICS; f++) {
			double sum = 0, off = 0;

			for (unsigned w = 0; w < N_WORDS; w++)
				sum += lambda[f * N_WORDS + w];
			for (unsigned w = 0; w < N_WORDS; w++)
				off += fabs(lambda[f * N_WORDS + w] / sum - s->topics[k][w]);
			if (!taken[f] && off < nearest) {
				nearest = off;
				best = f;
			}
		}
		taken[best] = true;
		worst = fmax(worst, nearest);
	}
	return worst;
}

TEST(known_topics_are_found)
{
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct synthetic *s = make_documents(seed * 77);
		double lambda[N_TOPICS * N_WORDS], mass = INFINITY;

		train(&s->corpus, seed, 2, lambda);
		/* Of a distance that can be 2; 0.8 if two topics were mixed up. */
		assert_true(worst_match(s, lambda) < 0.08);
		for (unsigned k = 0; k < N_TOPICS; k++) {
			double sum = 0;

			for (unsigned w = 0; w < N_WORDS; w++)
				sum += lambda[k * N_WORDS + w];
			assert_true(sum <= mass); /* the largest first */
			mass = sum;
		}
		free(s);
	}
}

/* A mixture of a document is that of the words in it. */
TEST(a_mixture_is_inferred)
{
	struct synthetic *s = make_documents(5);
	const struct lda_term terms[] = {{3, 60}, {7, 20}}; /* words of topics 0 and 1 */
	double lambda[N_TOPICS * N_WORDS], expected[N_TOPICS * N_WORDS], gamma[N_TOPICS];
	double sum = 0, bound;

	for (unsigned k = 0; k < N_TOPICS; k++)
		for (unsigned w = 0; w < N_WORDS; w++)
			lambda[k * N_WORDS + w] = prior.eta + 1e6 * s->topics[k][w];
	lda_expect(&prior, lambda, expected);
	lda_mixture_init(&prior, terms, 2, gamma);
	bound = lda_bound(&prior, expected, terms, 2, gamma);
	lda_infer(&prior, expected, terms, 2, gamma, 1000, 1e-9);
	assert_true(lda_bound(&prior, expected, terms, 2, gamma) > bound);
	for (unsigned k = 0; k < N_TOPICS; k++)
		sum += gamma[k];
	assert_true(fabs(sum - (80 + N_TOPICS * prior.alpha)) < 1e-6);
	assert_true(fabs(gamma[0] - 60.2) < 0.1 && fabs(gamma[1] - 20.2) < 0.1);
	free(s);
}

TEST(threads_change_nothing)
{
	struct synthetic *s = make_documents(9);
	double one[N_TOPICS * N_WORDS], three[N_TOPICS * N_WORDS], other[N_TOPICS * N_WORDS];

	assert_true(train(&s->corpus, 4, 1, one) == train(&s->corpus, 4, 3, three));
	assert_memory_equal(one, three, sizeof(one));
	train(&s->corpus, 5, 1, other);
	assert_memory_not_equal(one, other, sizeof(one));
	free(s);
}

/* A document of weight 3 is three documents. */
TEST(weights_count_documents)
{
	const struct lda_term terms[] = {{0, 3}, {1, 1}, {2, 5}, {0, 3}, {1, 1}, {0, 3}, {1, 1}};
	const size_t first_long[] = {0, 2, 3, 5, 7}, first_short[] = {0, 2, 3};
	const double ones[] = {1, 1, 1, 1}, weights[] = {3, 1};
	const struct lda_prior small = {.n_topics = 2, .n_words = 3, .alpha = 0.5, .eta = 0.1};
	double lambda[] = {4, 2, 1, 1, 2, 6}, expected[6], stats[2][6] = {{0}}, sum[2] = {0};
	const struct lda_corpus corpus[] = {
		{.n_docs = 4, .terms = terms, .first = first_long, .weight = ones},
		{.n_docs = 2, .terms = terms, .first = first_short, .weight = weights}};

	lda_expect(&small, lambda, expected);
	for (unsigned c = 0; c < 2; c++) {
		for (size_t d = 0; d < corpus[c].n_docs; d++) {
			const struct lda_term *t = terms + corpus[c].first[d];
			size_t n = corpus[c].first[d + 1] - corpus[c].first[d];
			double gamma[2];

			lda_mixture_init(&small, t, n, gamma);
			lda_infer(&small, expected, t, n, gamma, 100, 1e-9);
			sum[c] += corpus[c].weight[d] * lda_bound(&small, expected, t, n, gamma);
			lda_collect(&small, expected, t, n, gamma, corpus[c].weight[d], stats[c]);
		}
	}
	assert_true(fabs(sum[0] - sum[1]) < 1e-9);
	for (unsigned i = 0; i < 6; i++)
		assert_true(fabs(stats[0][i] - stats[1][i]) < 1e-9);
}

/* One document, one word, and more topics than either. */
TEST(smallest_corpora)
{
	const struct lda_term terms[] = {{0, 1}};
	const size_t first[] = {0, 1};
	const double weight[] = {1};
	const struct lda_corpus corpus = {
		.n_docs = 1, .terms = terms, .first = first, .weight = weight};
	const struct lda_prior tiny = {.n_topics = 6, .n_words = 1, .alpha = 1. / 6, .eta = 0.1};
	const struct lda_training how = {.seed = 0, .starts = 3, .jobs = 8};
	double lambda[6], bound;
	unsigned passes;

	assert_int_equal(lda_train(&corpus, &tiny, &how, lambda, &bound, &passes), 0);
	for (unsigned k = 0; k < 6; k++)
		assert_true(lambda[k] >= tiny.eta && isfinite(lambda[k]));
}

RUN_TESTS(NULL, NULL)

/* SPDX-License-Identifier: MIT
 *
 * Training: many starts with stochastic variational inference; the best ones are refined.
 *
 * The bound has many local maxima, and a single run ends in one that depends on its seed.  So
 * training is a tournament: every start makes some stochastic steps and a few passes over all
 * documents; the best quarter makes more passes; the best of these makes passes until the bound no
 * longer improves.  Equal documents were joined before into one with a weight, which makes passes
 * cheap.
 *
 * A start depends only on the seed and its number, and runs on one thread: the result does not
 * depend on the number of threads.
 */
#include "base/pool.h"
#include "base/random.h"
#include "classify/lda.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Step t moves the topics by (DELAY + t)^-FORGETTING of the way; the values are in the range that
 * Hoffman, Blei and Bach (2010, table 1) found to be good.  STEPS * BATCH documents are about one
 * pass over BHive.  For a smaller corpus, a batch is a sixteenth of it, so that its steps are
 * stochastic as well.
 */
static const double DELAY = 64, FORGETTING = 0.7;
enum { STEPS = 100, BATCH = 2048, MIN_BATCH = 64, BATCHES = 16, STEP_ROUNDS = 50 };
static const double STEP_TOLERANCE = 1e-3;

/* Rounds per document and pass: gamma is kept between passes, so that few are enough. */
enum { PASS_ROUNDS = 5 };
static const double PASS_TOLERANCE = 1e-5;

/* A stage of the tournament: its passes, and the share of the starts that reach it. */
static const struct {
	unsigned passes, part;
	double gain; /* stop when a pass improves the bound by less than this share */
} stages[] = {{4, 1, 0}, {30, 4, 0}, {500, 12, 1e-9}};

struct start {
	double *lambda; /* of K * V; owned */
	double bound;
	unsigned index, passes;
};

struct tournament {
	const struct lda_corpus *corpus; /* borrowed, as prior and how */
	const struct lda_prior *prior;
	const struct lda_training *how;
	double *cumulated;    /* cumulative weights of the documents; owned */
	struct start *starts; /* owned */
	unsigned stage, n_left, batch;
	unsigned all;		/* passes of all stages, at most */
	atomic_uint done;	/* of these */
	struct worker *workers; /* owned, during a stage */
};

/* Memory of one thread. */
struct worker {
	double *gamma;	 /* of all documents */
	double *batch;	 /* weights of documents in the mini-batch; all 0 between steps */
	size_t *members; /* BATCH numbers */
	double *expected, *stats;
};

/* Returns a random number, uniform in (0, 1). */
static double next_unit(uint64_t *state)
{
	return ((double)(random_next(state) >> 11) + 0.5) * 0x1p-53;
}

/* Draws a document with a probability proportional to its weight. */
static size_t draw(const struct tournament *t, const double *cumulated, uint64_t *state)
{
	size_t low = 0, high = t->corpus->n_docs - 1;
	double at = next_unit(state) * cumulated[high];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cumulated[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* ---- where to start ---- */

static double total_weight(const struct tournament *t)
{
	return t->cumulated[t->corpus->n_docs - 1];
}

/* Returns half the squared Hellinger distance between a document's words and a distribution. */
static double distance(const struct lda_corpus *c, size_t d, const double *topic, double length)
{
	double common = 0;

	for (size_t i = c->first[d]; i < c->first[d + 1]; i++)
		common += sqrt(topic[c->terms[i].word] * c->terms[i].count / length);
	return common < 1 ? 1 - common : 0;
}

static double length_of(const struct lda_corpus *c, size_t d)
{
	double length = 0;

	for (size_t i = c->first[d]; i < c->first[d + 1]; i++)
		length += c->terms[i].count;
	return length;
}

/* Starts each topic as a document that is far from those chosen before, as in k-means++ (Arthur and
 * Vassilvitskii 2007), mixed with noise.  Uses the memory of gamma.
 */
static void start_from_documents(const struct tournament *t, struct worker *w, double *lambda,
				 uint64_t *state)
{
	const struct lda_corpus *c = t->corpus;
	const unsigned n_words = t->prior->n_words;
	const double scale = total_weight(t) / t->prior->n_topics, noise = 0.3;
	double *away = w->gamma, *cumulated = w->batch;

	for (size_t d = 0; d < c->n_docs; d++)
		away[d] = 1;
	for (unsigned k = 0; k < t->prior->n_topics; k++) {
		double *topic = lambda + (size_t)k * n_words, sum = 0, length;
		size_t chosen;

		for (size_t d = 0; d < c->n_docs; d++)
			cumulated[d] = sum += away[d] * c->weight[d] + 1e-12;
		chosen = draw(t, cumulated, state);
		length = length_of(c, chosen);
		memset(topic, 0, n_words * sizeof(*topic));
		for (size_t i = c->first[chosen]; i < c->first[chosen + 1]; i++)
			topic[c->terms[i].word] += c->terms[i].count / length;
		for (size_t d = 0; d < c->n_docs; d++) {
			double far = distance(c, d, topic, length_of(c, d));

			if (far < away[d])
				away[d] = far;
		}
		for (unsigned i = 0; i < n_words; i++)
			topic[i] =
				t->prior->eta + scale * ((1 - noise) * topic[i] -
							 noise * log(next_unit(state)) / n_words);
	}
	memset(w->batch, 0, c->n_docs * sizeof(*w->batch));
}

static void start_anywhere(const struct tournament *t, double *lambda, uint64_t *state)
{
	const size_t n = (size_t)t->prior->n_topics * t->prior->n_words;
	const double scale = total_weight(t) / (double)n;

	for (size_t i = 0; i < n; i++)
		lambda[i] = t->prior->eta - scale * log(next_unit(state));
}

/* ---- steps and passes ---- */

/* Makes a step with one mini-batch, drawn with replacement; equal documents count once, with a
 * weight.
 */
static void step(const struct tournament *t, struct worker *w, double *lambda, unsigned number,
		 uint64_t *state)
{
	const struct lda_corpus *c = t->corpus;
	const size_t n_params = (size_t)t->prior->n_topics * t->prior->n_words;
	const double rate = pow(DELAY + number, -FORGETTING);
	const double scale = total_weight(t) / t->batch;
	size_t n = 0;

	for (unsigned i = 0; i < t->batch; i++) {
		size_t d = draw(t, t->cumulated, state);

		if (!w->batch[d]++)
			w->members[n++] = d;
	}
	lda_expect(t->prior, lambda, w->expected);
	memset(w->stats, 0, n_params * sizeof(*w->stats));
	for (size_t i = 0; i < n; i++) {
		size_t d = w->members[i], length = c->first[d + 1] - c->first[d];
		const struct lda_term *terms = c->terms + c->first[d];
		double gamma[LDA_MAX_TOPICS];

		lda_mixture_init(t->prior, terms, length, gamma);
		lda_infer(t->prior, w->expected, terms, length, gamma, STEP_ROUNDS, STEP_TOLERANCE);
		lda_collect(t->prior, w->expected, terms, length, gamma, w->batch[d], w->stats);
		w->batch[d] = 0;
	}
	for (size_t i = 0; i < n_params; i++)
		lambda[i] += rate * (t->prior->eta + scale * w->stats[i] - lambda[i]);
}

/* Makes a pass over all documents.  If asked, returns the bound before the topics changed, which
 * takes a third of the time.
 */
static double pass(const struct tournament *t, struct worker *w, double *lambda, bool is_asked)
{
	const struct lda_corpus *c = t->corpus;
	const unsigned n_topics = t->prior->n_topics;
	const size_t n_params = (size_t)n_topics * t->prior->n_words;
	double bound = lda_topics_bound(t->prior, lambda);

	lda_expect(t->prior, lambda, w->expected);
	memset(w->stats, 0, n_params * sizeof(*w->stats));
	for (size_t d = 0; d < c->n_docs; d++) {
		const struct lda_term *terms = c->terms + c->first[d];
		size_t length = c->first[d + 1] - c->first[d];
		double *gamma = w->gamma + d * n_topics;

		lda_infer(t->prior, w->expected, terms, length, gamma, PASS_ROUNDS, PASS_TOLERANCE);
		lda_collect(t->prior, w->expected, terms, length, gamma, c->weight[d], w->stats);
		if (is_asked)
			bound += c->weight[d] *
				 lda_bound(t->prior, w->expected, terms, length, gamma);
	}
	for (size_t i = 0; i < n_params; i++)
		lambda[i] = t->prior->eta + w->stats[i];
	return bound;
}

static void begin(const struct tournament *t, struct worker *w, struct start *s)
{
	uint64_t state = t->how->seed;

	/* The random streams of different seeds and starts must not overlap. */
	state = random_next(&state) ^ (uint64_t)s->index << 32;
	state = random_next(&state);
	if (s->index % 2)
		start_anywhere(t, s->lambda, &state);
	else
		start_from_documents(t, w, s->lambda, &state);
	for (unsigned i = 0; i < STEPS; i++)
		step(t, w, s->lambda, i, &state);
}

static void count_passes(struct tournament *t, unsigned n)
{
	if (t->how->report && n)
		t->how->report(t->how->context,
			       (atomic_fetch_add(&t->done, n) + n) / (double)t->all);
}

static void run_stage(struct tournament *t, struct worker *w, struct start *s)
{
	const struct lda_corpus *c = t->corpus;
	const unsigned n = stages[t->stage].passes;
	const double gain = stages[t->stage].gain;
	double before = -INFINITY;

	if (!t->stage)
		begin(t, w, s);
	for (size_t d = 0; d < c->n_docs; d++)
		lda_mixture_init(t->prior, c->terms + c->first[d], c->first[d + 1] - c->first[d],
				 w->gamma + d * t->prior->n_topics);
	for (unsigned i = 1; i <= n; i++) {
		bool is_asked = gain > 0 || i == n;
		double bound = pass(t, w, s->lambda, is_asked);

		s->passes++;
		count_passes(t, 1);
		if (!is_asked)
			continue;
		s->bound = bound;
		if (bound - before < gain * fabs(bound) && i > 3) {
			count_passes(t, n - i);
			break;
		}
		before = bound;
	}
}

/* ---- threads ---- */

static void worker_fini(struct worker *w)
{
	FREE_ALL(w->gamma, w->batch, w->members, w->expected, w->stats);
}

static int worker_init(struct worker *w, const struct tournament *t)
{
	const size_t n = t->corpus->n_docs;
	const size_t n_params = (size_t)t->prior->n_topics * t->prior->n_words;

	*w = (struct worker){
		.gamma = calloc(n, t->prior->n_topics * sizeof(*w->gamma)),
		.batch = calloc(n, sizeof(*w->batch)),
		.members = calloc(BATCH, sizeof(*w->members)),
		.expected = calloc(n_params, sizeof(*w->expected)),
		.stats = calloc(n_params, sizeof(*w->stats)),
	};
	return w->gamma && w->batch && w->members && w->expected && w->stats ? 0 : -TACT_E_NOMEM;
}

static int work(void *context, unsigned thread, size_t start)
{
	struct tournament *t = context;
	struct worker *w = &t->workers[thread];

	if (!w->gamma && worker_init(w, t) < 0)
		return -TACT_E_NOMEM;
	run_stage(t, w, &t->starts[start]);
	return 0;
}

static int by_bound(const void *a, const void *b)
{
	const struct start *p = a, *q = b;

	if (p->bound != q->bound)
		return p->bound > q->bound ? -1 : 1;
	return p->index < q->index ? -1 : p->index > q->index;
}

static int run_threads(struct tournament *t)
{
	const unsigned n = pool_threads(t->how->jobs ? t->how->jobs : 1, t->n_left);
	int status;

	t->workers = calloc(n, sizeof(*t->workers));
	if (!t->workers)
		return -TACT_E_NOMEM;
	status = pool_run(n, t->n_left, work, t);
	for (unsigned i = 0; i < n; i++)
		worker_fini(&t->workers[i]);
	free(t->workers);
	return status;
}

static unsigned starts_of(const struct tournament *t, size_t stage)
{
	return (t->how->starts + stages[stage].part - 1) / stages[stage].part;
}

static int run_tournament(struct tournament *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(stages); i++)
		t->all += starts_of(t, i) * stages[i].passes;
	for (t->stage = 0; t->stage < ARRAY_SIZE(stages); t->stage++) {
		int status;

		t->n_left = starts_of(t, t->stage);
		status = run_threads(t);
		if (status < 0)
			return status;
		qsort(t->starts, t->n_left, sizeof(*t->starts), by_bound);
	}
	return 0;
}

/* Sorts the topics by the words that they explain, so that their numbers mean something. */
static void copy_sorted(const struct lda_prior *prior, const double *from, double *to)
{
	double mass[LDA_MAX_TOPICS] = {0};
	bool done[LDA_MAX_TOPICS] = {false};

	for (unsigned k = 0; k < prior->n_topics; k++)
		for (unsigned w = 0; w < prior->n_words; w++)
			mass[k] += from[(size_t)k * prior->n_words + w];
	for (unsigned i = 0; i < prior->n_topics; i++) {
		unsigned best = prior->n_topics;

		for (unsigned k = 0; k < prior->n_topics; k++)
			if (!done[k] && (best == prior->n_topics || mass[k] > mass[best]))
				best = k;
		done[best] = true;
		memcpy(to + (size_t)i * prior->n_words, from + (size_t)best * prior->n_words,
		       prior->n_words * sizeof(*to));
	}
}

int lda_train(const struct lda_corpus *corpus, const struct lda_prior *prior,
	      const struct lda_training *how, double *lambda, double *bound, unsigned *passes)
{
	const size_t n_params = (size_t)prior->n_topics * prior->n_words;
	struct tournament t = {.corpus = corpus, .prior = prior, .how = how};
	double *lambdas = calloc(how->starts, n_params * sizeof(*lambdas)), sum = 0;
	int status = -TACT_E_NOMEM;

	t.cumulated = calloc(corpus->n_docs, sizeof(*t.cumulated));
	t.starts = calloc(how->starts, sizeof(*t.starts));
	if (!lambdas || !t.cumulated || !t.starts)
		goto out_free;
	for (size_t d = 0; d < corpus->n_docs; d++)
		t.cumulated[d] = sum += corpus->weight[d];
	for (unsigned i = 0; i < how->starts; i++)
		t.starts[i] = (struct start){.lambda = lambdas + i * n_params, .index = i};
	t.batch = sum / BATCHES > BATCH	      ? BATCH
		  : sum / BATCHES > MIN_BATCH ? (unsigned)(sum / BATCHES)
					      : MIN_BATCH;
	status = run_tournament(&t);
	if (status < 0)
		goto out_free;
	copy_sorted(prior, t.starts[0].lambda, lambda);
	*bound = t.starts[0].bound;
	*passes = t.starts[0].passes;
out_free:
	FREE_ALL(lambdas, t.cumulated, t.starts);
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * Topics of port combinations, their names, and the category of a block.
 *
 * The method is that of BHive (Chen et al. 2019, section V): words are uops, distinguished by their
 * port combination; documents are blocks.  The category of a block is the topic that most of its
 * uops have.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "classify/classify.h"

/* BHive, section V.A. */
enum { DEFAULT_TOPICS = 6 };
static const double DEFAULT_ALPHA = 1.0 / 6, DEFAULT_BETA = 1.0 / 13;

/* With fewer starts, some seeds of BHive's blocks end in a worse maximum (doc/models/classify.md).
 */
enum { DEFAULT_STARTS = 24, MAX_STARTS = 10000, MAX_JOBS = 1024 };

/* For a single document: far more exact than in training, because labels depend on it. */
enum { LABEL_ROUNDS = 1000 };
static const double LABEL_TOLERANCE = 1e-7;

/* Bags that apply remembers before it starts over. */
enum { MAX_REMEMBERED = 1 << 18 };

int classify_create(struct tact_classifier **out, const struct lda_prior *prior)
{
	const size_t n = (size_t)prior->n_topics * prior->n_words;
	struct tact_classifier *c = calloc(1, sizeof(*c));

	if (!c)
		return -TACT_E_NOMEM;
	c->prior = *prior;
	c->lambda = calloc(n, sizeof(*c->lambda));
	c->expected = calloc(n, sizeof(*c->expected));
	if (!c->lambda || !c->expected) {
		tact_classifier_destroy(c);
		return -TACT_E_NOMEM;
	}
	*out = c;
	return 0;
}

void tact_classifier_destroy(struct tact_classifier *c)
{
	if (!c)
		return;
	tact_bags_destroy(c->bags);
	FREE_ALL(c->labels, c->lambda, c->expected, c);
}

void classify_prepare(struct tact_classifier *c)
{
	lda_expect(&c->prior, c->lambda, c->expected);
}

/* ---- topics ---- */

int tact_classifier_get_info(const struct tact_classifier *c, struct tact_classifier_info *out)
{
	struct tact_classifier_info info;

	if (!c || !tact_can_fill(out))
		return -TACT_E_INVAL;
	info = (struct tact_classifier_info){
		.size = sizeof(info),
		.arch = c->arch,
		.topics = c->prior.n_topics,
		.words = c->prior.n_words,
		.alpha = c->prior.alpha,
		.beta = c->prior.eta,
		.seed = c->seed,
		.starts = c->starts,
		.blocks = c->blocks,
		.bags = c->n_bags,
		.uops = c->uops,
		.perplexity = c->perplexity,
	};
	return tact_fill(out, &info, sizeof(info));
}

static double mass_of(const struct tact_classifier *c, unsigned topic)
{
	double sum = 0;

	for (unsigned w = 0; w < c->prior.n_words; w++)
		sum += c->lambda[(size_t)topic * c->prior.n_words + w];
	return sum;
}

int tact_classifier_get_topic(const struct tact_classifier *c, unsigned topic,
			      struct tact_topic *out)
{
	struct tact_topic t;
	const double *kinds;
	double uops = 0, all = 0;

	if (!c || !tact_can_fill(out) || topic >= c->prior.n_topics)
		return -TACT_E_INVAL;
	kinds = c->kinds[topic];
	for (unsigned k = 0; k < UOP_N_KINDS; k++)
		uops += kinds[k];
	for (unsigned k = 0; k < c->prior.n_topics; k++)
		all += mass_of(c, k);
	t = (struct tact_topic){
		.size = sizeof(t),
		.share = mass_of(c, topic) / all,
		.load = kinds[UOP_LOAD] / uops,
		.store = kinds[UOP_STORE] / uops,
		.scalar = kinds[UOP_SCALAR] / uops,
		.vector = kinds[UOP_VECTOR] / uops,
	};
	memcpy(t.name, c->names[topic], sizeof(t.name));
	return tact_fill(out, &t, sizeof(t));
}

int tact_classifier_leading(const struct tact_classifier *c, unsigned topic, unsigned rank,
			    char ports[TACT_CLASSIFY_PORTS_SIZE], double *probability)
{
	const double *row;

	if (!c || !ports || !probability || topic >= c->prior.n_topics)
		return -TACT_E_INVAL;
	row = c->lambda + (size_t)topic * c->prior.n_words;
	for (unsigned w = 0; w < c->prior.n_words; w++) {
		unsigned before = 0;

		for (unsigned v = 0; v < c->prior.n_words; v++)
			before += row[v] > row[w] || (row[v] == row[w] && v < w);
		if (before != rank)
			continue;
		classify_ports(c->words[w], ports);
		*probability = row[w] / mass_of(c, topic);
		return 1;
	}
	return 0;
}

/* Returns one of BHive's names (table II), which its authors assigned by inspection.  The limits
 * are ours: half of the uops for memory, and a quarter of them for mixtures.
 */
static const char *paper_name(const struct tact_topic *t)
{
	double memory = t->load + t->store, rest = t->scalar + t->vector;

	if (memory >= 0.5) {
		if (t->load >= memory / 4 && t->store >= memory / 4)
			return "Ld/St";
		return t->load > t->store ? "Ld" : "St";
	}
	if (t->vector >= rest / 4 && t->scalar >= rest / 4)
		return "Scalar/Vec";
	return t->vector > t->scalar ? "Vec" : "Scalar";
}

/* Names topics in the order of their share.  If a name of the paper is taken, the leading ports are
 * appended to it; if that is taken too, the number of the topic.
 */
void classify_name_topics(struct tact_classifier *c)
{
	for (unsigned k = 0; k < c->prior.n_topics; k++) {
		char ports[TACT_CLASSIFY_PORTS_SIZE] = "";
		struct tact_topic topic = TACT_TOPIC_INIT;
		const char *name;
		double p;

		tact_classifier_get_topic(c, k, &topic);
		tact_classifier_leading(c, k, 0, ports, &p);
		name = paper_name(&topic);
		snprintf(c->names[k], sizeof(c->names[k]), "%s", name);
		for (unsigned i = 0, tries = 0; i < k; i++) {
			if (strcmp(c->names[i], c->names[k]))
				continue;
			if (tries++)
				snprintf(c->names[k], sizeof(c->names[k]), "%s:%u", name, k + 1);
			else
				snprintf(c->names[k], sizeof(c->names[k]), "%s:%s", name, ports);
			i = UINT32_MAX; /* start over */
		}
	}
}

/* ---- labels ---- */

/* Returns the classifier's number of a word of the bags; -1 if it does not have the word. */
static int word_of(const struct tact_classifier *c, const struct tact_bags *bags, uint32_t word)
{
	return classify_word(c->words, c->prior.n_words, bags->words[word]);
}

/* Translates the terms of a bag to words of the classifier.  Returns their number; the label counts
 * uops with and without a word.
 */
static size_t translate(const struct tact_classifier *c, const struct tact_bags *bags, uint32_t bag,
			struct lda_term *terms, struct tact_label *label)
{
	size_t n = 0;

	for (size_t i = bags->first[bag]; i < bags->first[bag + 1]; i++) {
		const struct lda_term *term = &bags->terms[i];
		int word = word_of(c, bags, term->word);

		if (word < 0) {
			label->unknown += term->count;
			continue;
		}
		label->uops += term->count;
		terms[n++] = (struct lda_term){.word = (uint32_t)word, .count = term->count};
	}
	return n;
}

static unsigned topic_of_word(const struct tact_classifier *c, const double *gamma, uint32_t word)
{
	const double *beta = c->expected + (size_t)word * c->prior.n_topics;
	double most = -1;
	unsigned best = 0;

	for (unsigned k = 0; k < c->prior.n_topics; k++) {
		double phi = lda_exp_digamma(gamma[k]) * beta[k];

		if (phi > most) {
			most = phi;
			best = k;
		}
	}
	return best;
}

static int vote(const struct tact_classifier *c, const struct lda_term *terms, size_t n,
		const double *gamma)
{
	uint64_t votes[LDA_MAX_TOPICS] = {0};
	unsigned best = 0;

	for (size_t i = 0; i < n; i++)
		votes[topic_of_word(c, gamma, terms[i].word)] += terms[i].count;
	for (unsigned k = 1; k < c->prior.n_topics; k++)
		if (votes[k] > votes[best] || (votes[k] == votes[best] && gamma[k] > gamma[best]))
			best = k;
	return (int)best;
}

static void infer(const struct tact_classifier *c, const struct lda_term *terms, size_t n,
		  double *gamma)
{
	lda_mixture_init(&c->prior, terms, n, gamma);
	lda_infer(&c->prior, c->expected, terms, n, gamma, LABEL_ROUNDS, LABEL_TOLERANCE);
}

static bool is_valid(const struct tact_classifier *c, const struct tact_bags *bags, uint32_t bag,
		     struct tact_diag *diag)
{
	if (!c || !bags || bag >= bags->n_bags) {
		tact_fail(diag, TACT_E_INVAL, "an argument is missing, or there is no such bag");
		return false;
	}
	if (bags->arch != c->arch) {
		tact_fail(diag, TACT_E_INVAL, "the block is one of %s, the model one of %s",
			  tact_arch_name(bags->arch), tact_arch_name(c->arch));
		return false;
	}
	return true;
}

int tact_classifier_label(const struct tact_classifier *c, const struct tact_bags *bags,
			  uint32_t bag, struct tact_label *out, struct tact_diag *diag)
{
	struct tact_label label = {.size = sizeof(label), .topic = -1};
	struct lda_term terms[TACT_CLASSIFY_MAX_WORDS];
	double gamma[LDA_MAX_TOPICS], sum = 0;
	size_t n;

	if (!tact_can_fill(out))
		return tact_fail(diag, TACT_E_INVAL, "no place for the label");
	if (!is_valid(c, bags, bag, diag))
		return -TACT_E_INVAL;
	n = translate(c, bags, bag, terms, &label);
	if (n) {
		infer(c, terms, n, gamma);
		label.topic = vote(c, terms, n, gamma);
		label.log_likelihood = lda_bound(&c->prior, c->expected, terms, n, gamma);
		for (unsigned k = 0; k < c->prior.n_topics; k++)
			sum += gamma[k];
		for (unsigned k = 0; k < c->prior.n_topics; k++)
			label.weight[k] = gamma[k] / sum;
	}
	return tact_fill(out, &label, sizeof(label));
}

int tact_classifier_term(const struct tact_classifier *c, const struct tact_bags *bags,
			 uint32_t bag, unsigned i, char ports[TACT_CLASSIFY_PORTS_SIZE],
			 uint64_t *count, int *topic)
{
	struct lda_term terms[TACT_CLASSIFY_MAX_WORDS];
	struct tact_label label = {.size = sizeof(label)};
	double gamma[LDA_MAX_TOPICS];
	const struct lda_term *term;
	int word;
	size_t n;

	if (!ports || !count || !topic || !is_valid(c, bags, bag, NULL))
		return -TACT_E_INVAL;
	if (i >= bags->first[bag + 1] - bags->first[bag])
		return 0;
	term = &bags->terms[bags->first[bag] + i];
	word = word_of(c, bags, term->word);
	classify_ports(bags->words[term->word], ports);
	*count = term->count;
	*topic = -1;
	if (word >= 0) {
		n = translate(c, bags, bag, terms, &label);
		infer(c, terms, n, gamma);
		*topic = (int)topic_of_word(c, gamma, (uint32_t)word);
	}
	return 1;
}

static int remember(struct tact_classifier *c, struct tact_diag *diag)
{
	if (c->bags && c->bags->n_bags < MAX_REMEMBERED)
		return 0;
	tact_bags_destroy(c->bags);
	c->bags = NULL;
	c->n_labels = 0;
	return tact_bags_create(&c->bags, c->arch, diag);
}

int tact_classifier_apply(struct tact_classifier *c, const struct tact_block *block,
			  struct tact_label *out, struct tact_diag *diag)
{
	static const struct tact_label none = {.size = sizeof(none), .topic = -1};
	uint32_t bag;
	int status;

	if (!c || !block || !tact_can_fill(out))
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	status = remember(c, diag);
	if (status >= 0)
		status = tact_bags_add(c->bags, block, &bag, diag);
	if (status < 0)
		return status;
	if (!status)
		return tact_fill(out, &none, sizeof(none));
	/* Bags are numbered in the order of their arrival; this also labels those that failed
	 * before. */
	while (c->n_labels <= bag) {
		if (tact_grow(&c->labels, &c->labels_capacity, c->n_labels + 1, sizeof(*c->labels)))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		c->labels[c->n_labels].size = sizeof(c->labels[0]);
		status = tact_classifier_label(c, c->bags, (uint32_t)c->n_labels,
					       &c->labels[c->n_labels], diag);
		if (status < 0)
			return status;
		c->n_labels++;
	}
	return tact_fill(out, &c->labels[bag], sizeof(c->labels[bag]));
}

/* ---- training ---- */

static int by_mask(const void *a, const void *b)
{
	const params_ports *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

/* The words of the classifier are sorted, so that it does not depend on which block came first. */
static int run(struct tact_classifier *c, const struct tact_bags *bags,
	       const struct tact_classify_options *o)
{
	const struct lda_training how = {.seed = c->seed,
					 .starts = c->starts,
					 .jobs = o->jobs ? o->jobs : 1,
					 .report = o->report,
					 .context = o->context};
	struct lda_corpus corpus = {
		.n_docs = bags->n_bags, .first = bags->first, .weight = bags->blocks};
	struct lda_term *terms = calloc(bags->n_terms, sizeof(*terms));
	unsigned passes;
	double bound;
	int status;

	if (!terms)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < bags->n_terms; i++) {
		terms[i].word = (uint32_t)word_of(c, bags, bags->terms[i].word);
		terms[i].count = bags->terms[i].count;
	}
	corpus.terms = terms;
	status = lda_train(&corpus, &c->prior, &how, c->lambda, &bound, &passes);
	free(terms);
	return status;
}

/* Counts what the uops of each topic do: the uops of a bag count with phi. */
static void count_kinds(struct tact_classifier *c, const struct tact_bags *bags, uint32_t bag,
			const double *gamma)
{
	const unsigned n_topics = c->prior.n_topics;

	for (size_t i = bags->first[bag]; i < bags->first[bag + 1]; i++) {
		int word = word_of(c, bags, bags->terms[i].word);
		const double *beta = c->expected + (size_t)word * n_topics;
		double phi[LDA_MAX_TOPICS], sum = 0;

		for (unsigned k = 0; k < n_topics; k++)
			sum += phi[k] = lda_exp_digamma(gamma[k]) * beta[k];
		for (unsigned k = 0; k < n_topics && sum > 0; k++)
			for (unsigned kind = 0; kind < UOP_N_KINDS; kind++)
				c->kinds[k][kind] += phi[k] / sum * (double)bags->kinds[i][kind];
	}
}

/* Uses the inference of labels, so that the figures can be compared with those of other blocks. */
static void summarize(struct tact_classifier *c, const struct tact_bags *bags)
{
	double bound = 0, uops = 0;

	/* A topic without uops has equal shares of everything. */
	for (unsigned k = 0; k < c->prior.n_topics; k++)
		for (unsigned kind = 0; kind < UOP_N_KINDS; kind++)
			c->kinds[k][kind] = 1e-3;
	for (uint32_t b = 0; b < bags->n_bags; b++) {
		struct lda_term terms[TACT_CLASSIFY_MAX_WORDS];
		struct tact_label label = {0};
		double gamma[LDA_MAX_TOPICS];
		size_t n = translate(c, bags, b, terms, &label);

		infer(c, terms, n, gamma);
		count_kinds(c, bags, b, gamma);
		bound += bags->blocks[b] * lda_bound(&c->prior, c->expected, terms, n, gamma);
		uops += bags->blocks[b] * (double)label.uops;
		c->blocks += (uint64_t)bags->blocks[b];
	}
	c->n_bags = bags->n_bags;
	c->uops = (uint64_t)uops;
	c->perplexity = exp(-bound / uops);
}

static int check_options(const struct tact_classify_options *o, struct tact_diag *diag)
{
	if (o->topics < 2 || o->topics > TACT_CLASSIFY_MAX_TOPICS)
		return tact_fail(diag, TACT_E_INVAL, "2 to %d topics, not %u",
				 TACT_CLASSIFY_MAX_TOPICS, o->topics);
	if (!(o->alpha >= 1e-3 && o->alpha <= 1e3) || !(o->beta >= 1e-3 && o->beta <= 1e3))
		return tact_fail(diag, TACT_E_INVAL, "alpha and beta are in 0.001..1000");
	if (o->starts > MAX_STARTS || o->jobs > MAX_JOBS)
		return tact_fail(diag, TACT_E_INVAL, "at most %d starts and %d threads", MAX_STARTS,
				 MAX_JOBS);
	return 0;
}

int tact_classifier_train(struct tact_classifier **out, const struct tact_bags *bags,
			  const struct tact_classify_options *opt, struct tact_diag *diag)
{
	struct tact_classify_options o;
	struct tact_classifier *c;
	struct lda_prior prior;
	int status;

	if (out)
		*out = NULL;
	if (!out || !bags || tact_read_options(&o, sizeof(o), opt))
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing or of the wrong size");
	o.topics = o.topics ? o.topics : DEFAULT_TOPICS;
	o.alpha = o.alpha != 0 ? o.alpha : DEFAULT_ALPHA;
	o.beta = o.beta != 0 ? o.beta : DEFAULT_BETA;
	o.starts = o.starts ? o.starts : DEFAULT_STARTS;
	status = check_options(&o, diag);
	if (status < 0)
		return status;
	if (!bags->n_bags)
		return tact_fail(diag, TACT_E_INVAL, "there is nothing to learn from");
	prior = (struct lda_prior){
		.n_topics = o.topics, .n_words = bags->n_words, .alpha = o.alpha, .eta = o.beta};
	status = classify_create(&c, &prior);
	if (status < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	c->arch = bags->arch;
	c->seed = o.seed;
	c->starts = o.starts;
	memcpy(c->words, bags->words, bags->n_words * sizeof(*c->words));
	qsort(c->words, bags->n_words, sizeof(*c->words), by_mask);
	status = run(c, bags, &o);
	if (status < 0) {
		tact_classifier_destroy(c);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	classify_prepare(c);
	summarize(c, bags);
	classify_name_topics(c);
	*out = c;
	return 0;
}

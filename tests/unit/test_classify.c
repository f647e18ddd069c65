/* SPDX-License-Identifier: MIT
 *
 * Bags of port combinations, categories of blocks, models as files.
 */
#include <unistd.h>

#include "testing.h"

#include <math.h>

#include "support.h"

#include "classify/classify.h"

static const char load_hex[] = "488b07488b4f08488b5710488b7718";     /* four loads */
static const char store_hex[] = "48890748894f0848895710";	     /* three stores */
static const char scalar_hex[] = "4801d84829c84821d14809d1";	     /* add, sub, and, or */
static const char vector_hex[] = "c5fc58c1c5f459c2c5f414c1c5ec58d1"; /* vaddps, vmulps, vunpcklps */
static const char nop_hex[] = "9090";

struct fixture {
	const struct tact_arch *arch;
	struct tact_block *block;
	struct tact_bags *bags;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->arch = tact_arch_find("HSW");
	*state = f;
	if (tact_block_create(&f->block, f->arch, NULL, NULL) < 0)
		return -1;
	return tact_bags_create(&f->bags, f->arch, NULL);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	tact_block_destroy(f->block);
	tact_bags_destroy(f->bags);
	free(f);
	return 0;
}

static void load(struct fixture *f, const char *hex)
{
	uint8_t code[512];
	size_t size = bytes_of(code, sizeof(code), hex);

	assert_int_equal(tact_block_load(f->block, code, size, NULL), 0);
}

static uint32_t add(struct fixture *f, const char *hex)
{
	uint32_t bag = UINT32_MAX;

	load(f, hex);
	assert_int_equal(tact_bags_add(f->bags, f->block, &bag, NULL), 1);
	return bag;
}

/* Many blocks of four kinds, and mixtures of two. */
static void fill(struct fixture *f)
{
	static const char *const kinds[] = {load_hex, store_hex, scalar_hex, vector_hex};
	struct rng rng = {.state = 7};

	for (unsigned i = 0; i < 800; i++) {
		char hex[512] = "";
		unsigned a = rng_below(&rng, 4), b = rng_below(&rng, 4);

		for (unsigned k = 0; k < 1 + rng_below(&rng, 3); k++)
			strcat(hex, kinds[i % 4 ? a : b]);
		if (i % 8 == 0)
			strcat(hex, kinds[b]);
		add(f, hex);
	}
}

static struct tact_classifier *train(struct fixture *f, uint64_t seed, unsigned jobs)
{
	const struct tact_classify_options opt = {
		.size = sizeof(opt), .topics = 4, .seed = seed, .jobs = jobs, .starts = 6};
	struct tact_classifier *c;

	fill(f);
	assert_int_equal(tact_classifier_train(&c, f->bags, &opt, NULL), 0);
	return c;
}

/* ---- bags ---- */

TEST_WITH(equal_blocks_share_a_bag, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t first = add(f, "4801d8"), bag = 99;

	assert_int_equal(add(f, "4829c1"), first); /* 1*p0156, too */
	assert_int_equal(add(f, "4889c1"), first); /* a move counts, if eliminated or not */
	assert_int_not_equal(add(f, "488b07"), first);
	assert_int_not_equal(add(f, "4801d84801d8"), first);
	assert_int_equal(add(f, "4801d8488b07"), add(f, "488b074801d8")); /* order does not count */
	assert_int_equal(tact_bags_count(f->bags), 4);
	assert_true(f->bags->blocks[first] == 3);
	load(f, nop_hex);
	assert_int_equal(tact_bags_add(f->bags, f->block, &bag, NULL), 0);
	assert_int_equal(bag, 99);
	load(f, "4831c0"); /* an idiom needs no port */
	assert_int_equal(tact_bags_add(f->bags, f->block, &bag, NULL), 0);
}

TEST_WITH(uops_have_kinds, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t kinds[UOP_N_KINDS] = {0};

	add(f, "480307");   /* add rax, [rdi]: a load and an addition */
	add(f, "48890407"); /* mov [rdi + rax], rax: data, and an address on the ports of loads */
	add(f, "c5fc5807"); /* vaddps ymm0, ymm0, [rdi] */
	for (size_t i = 0; i < f->bags->n_terms; i++)
		for (unsigned k = 0; k < UOP_N_KINDS; k++)
			kinds[k] += f->bags->kinds[i][k];
	assert_int_equal(kinds[UOP_LOAD], 2);
	assert_int_equal(kinds[UOP_STORE], 2);
	assert_int_equal(kinds[UOP_SCALAR], 1);
	assert_int_equal(kinds[UOP_VECTOR], 1);
}

/* More bags than the hash table begins with. */
TEST_WITH(many_bags, set_up, tear_down)
{
	struct fixture *f = *state;
	uint32_t bags[1500];

	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < 1500; i++) {
			uint8_t code[300];
			size_t n = 0;
			uint32_t bag;

			for (unsigned k = 0; k < i % 40 + 1; k++, n += 3)
				memcpy(code + n, "\x48\x01\xd8", 3);
			for (unsigned k = 0; k < i / 40; k++, n += 3)
				memcpy(code + n, "\x48\x8b\x07", 3);
			assert_int_equal(tact_block_load(f->block, code, n, NULL), 0);
			assert_int_equal(tact_bags_add(f->bags, f->block, &bag, NULL), 1);
			assert_true(!pass || bag == bags[i]);
			bags[i] = bag;
		}
		assert_int_equal(tact_bags_count(f->bags), 1500);
	}
}

TEST_WITH(misuse_of_bags, set_up, tear_down)
{
	struct fixture *f = *state;
	struct tact_bags *other;
	struct tact_diag diag;
	uint32_t bag;

	assert_int_equal(tact_bags_create(NULL, f->arch, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_bags_create(&other, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_bags_create(&other, tact_arch_find("SKL"), NULL), 0);
	load(f, scalar_hex);
	assert_int_equal(tact_bags_add(other, f->block, &bag, &diag), -TACT_E_INVAL);
	assert_non_null(strstr(diag.text, "HSW"));
	assert_int_equal(tact_bags_add(NULL, f->block, &bag, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_bags_add(f->bags, NULL, &bag, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_bags_add(f->bags, f->block, NULL, NULL), -TACT_E_INVAL);
	tact_bags_destroy(other);
	tact_bags_destroy(NULL);
	assert_int_equal(tact_bags_count(NULL), 0);
}

/* ---- categories ---- */

static const char *category(struct fixture *f, struct tact_classifier *c, const char *hex)
{
	static struct tact_topic topic = TACT_TOPIC_INIT;
	struct tact_label label = TACT_LABEL_INIT;
	double sum = 0;

	load(f, hex);
	assert_int_equal(tact_classifier_apply(c, f->block, &label, NULL), 0);
	assert_true(label.topic >= 0 && label.uops > 0 && label.log_likelihood < 0);
	for (unsigned k = 0; k < 4; k++)
		sum += label.weight[k];
	assert_true(fabs(sum - 1) < 1e-9);
	assert_int_equal(tact_classifier_get_topic(c, (unsigned)label.topic, &topic), 0);
	return topic.name;
}

TEST_WITH(categories_have_the_papers_names, set_up, tear_down)
{
	struct fixture *f = *state;
	struct tact_classifier *c = train(f, 1, 1);
	struct tact_classifier_info info = TACT_CLASSIFIER_INFO_INIT;
	struct tact_label label = TACT_LABEL_INIT;
	double share = 0;

	assert_string_equal(category(f, c, load_hex), "Ld");
	assert_string_equal(category(f, c, store_hex), "St");
	assert_string_equal(category(f, c, scalar_hex), "Scalar");
	assert_string_equal(category(f, c, vector_hex), "Vec");
	assert_string_equal(category(f, c, "488b07488b4f08488b57104801d8"), "Ld");
	load(f, nop_hex);
	assert_int_equal(tact_classifier_apply(c, f->block, &label, NULL), 0);
	assert_int_equal(label.topic, -1);
	/* imul on p1, which the model has, and bswap on p15, which it does not have */
	load(f, "480fafc30fc8");
	assert_int_equal(tact_classifier_apply(c, f->block, &label, NULL), 0);
	assert_true(label.unknown > 0);
	assert_int_equal(tact_classifier_get_info(c, &info), 0);
	assert_ptr_equal(info.arch, f->arch);
	assert_int_equal(info.blocks, 800);
	assert_int_equal(info.topics, 4);
	assert_true(info.perplexity > 1 && info.perplexity < info.words);
	assert_true(fabs(info.alpha - 1.0 / 6) < 1e-15 && fabs(info.beta - 1.0 / 13) < 1e-15);
	for (unsigned k = 0; k < 4; k++) {
		struct tact_topic topic = TACT_TOPIC_INIT;

		assert_int_equal(tact_classifier_get_topic(c, k, &topic), 0);
		share += topic.share;
		assert_true(fabs(topic.load + topic.store + topic.scalar + topic.vector - 1) <
			    1e-9);
	}
	assert_true(fabs(share - 1) < 1e-9);
	tact_classifier_destroy(c);
}

TEST_WITH(leading_combinations_come_in_order, set_up, tear_down)
{
	struct fixture *f = *state;
	struct tact_classifier *c = train(f, 1, 1);
	char ports[TACT_CLASSIFY_PORTS_SIZE];
	struct tact_classifier_info info = TACT_CLASSIFIER_INFO_INIT;

	tact_classifier_get_info(c, &info);
	for (unsigned k = 0; k < info.topics; k++) {
		double before = 1, p, sum = 0;
		unsigned n = 0;

		for (; tact_classifier_leading(c, k, n, ports, &p) > 0; n++) {
			assert_true(p <= before && p > 0 && ports[0] == 'p');
			before = p;
			sum += p;
		}
		assert_int_equal(n, info.words);
		assert_true(fabs(sum - 1) < 1e-9);
	}
	assert_int_equal(tact_classifier_leading(c, 4, 0, ports, NULL), -TACT_E_INVAL);
	tact_classifier_destroy(c);
}

/* Half of the uops in each of two topics: the topic with more weight, whatever its number. */
TEST_WITH(ties_do_not_depend_on_numbers, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct lda_prior prior = {.n_topics = 2, .n_words = 2, .alpha = 0.1, .eta = 0.1};
	uint32_t bag = add(f, "4801d8488b07");

	for (unsigned swap = 0; swap < 2; swap++) {
		struct tact_classifier *c;
		struct tact_label label = TACT_LABEL_INIT;

		assert_int_equal(classify_create(&c, &prior), 0);
		c->arch = f->arch;
		c->words[0] = 0xc;
		c->words[1] = 0x63;
		/* one topic has the load alone, the other one both */
		memcpy(c->lambda + 2 * swap, (double[]){1000, 0.1}, 2 * sizeof(double));
		memcpy(c->lambda + 2 * !swap, (double[]){100, 900}, 2 * sizeof(double));
		classify_prepare(c);
		assert_int_equal(tact_classifier_label(c, f->bags, bag, &label, NULL), 0);
		assert_int_equal(label.topic, !swap);
		tact_classifier_destroy(c);
	}
}

TEST_WITH(threads_change_nothing, set_up, tear_down)
{
	struct fixture *f = *state;
	struct tact_classifier *a = train(f, 3, 1), *b;
	const struct tact_classify_options opt = {
		.size = sizeof(opt), .topics = 4, .seed = 3, .jobs = 4, .starts = 6};

	assert_int_equal(tact_classifier_train(&b, f->bags, &opt, NULL), 0);
	assert_memory_equal(a->lambda, b->lambda, 4 * a->prior.n_words * sizeof(double));
	assert_true(a->perplexity == b->perplexity);
	tact_classifier_destroy(a);
	tact_classifier_destroy(b);
}

TEST_WITH(names_are_different, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct tact_classify_options opt = {.size = sizeof(opt), .topics = 8, .starts = 2};
	struct tact_classifier *c;

	fill(f);
	assert_int_equal(tact_classifier_train(&c, f->bags, &opt, NULL), 0);
	for (unsigned i = 0; i < 8; i++)
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(c->names[i], c->names[k]);
	tact_classifier_destroy(c);
}

TEST_WITH(misuse_of_classifiers, set_up, tear_down)
{
	struct fixture *f = *state;
	struct tact_classify_options opt = {.size = sizeof(opt)};
	struct tact_classifier *c = NULL;
	struct tact_label label = TACT_LABEL_INIT;
	struct tact_block *other;

	assert_int_equal(tact_classifier_train(&c, f->bags, NULL, NULL), -TACT_E_INVAL);
	fill(f);
	opt.topics = 1;
	assert_int_equal(tact_classifier_train(&c, f->bags, &opt, NULL), -TACT_E_INVAL);
	opt.topics = TACT_CLASSIFY_MAX_TOPICS + 1;
	assert_int_equal(tact_classifier_train(&c, f->bags, &opt, NULL), -TACT_E_INVAL);
	opt.topics = 2;
	opt.alpha = -1;
	assert_int_equal(tact_classifier_train(&c, f->bags, &opt, NULL), -TACT_E_INVAL);
	opt.alpha = NAN;
	assert_int_equal(tact_classifier_train(&c, f->bags, &opt, NULL), -TACT_E_INVAL);
	opt.alpha = 0;
	opt.size = 1;
	assert_int_equal(tact_classifier_train(&c, f->bags, &opt, NULL), -TACT_E_INVAL);
	assert_null(c);
	opt = (struct tact_classify_options){.size = sizeof(opt), .topics = 2, .starts = 1};
	assert_int_equal(tact_classifier_train(&c, f->bags, &opt, NULL), 0);
	assert_int_equal(tact_classifier_label(c, f->bags, UINT32_MAX, &label, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_classifier_apply(NULL, f->block, &label, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_block_create(&other, tact_arch_find("ICL"), NULL, NULL), 0);
	assert_int_equal(tact_block_load(other, (const uint8_t *)"\x48\x01\xd8", 3, NULL), 0);
	assert_int_equal(tact_classifier_apply(c, other, &label, NULL), -TACT_E_INVAL);
	tact_block_destroy(other);
	tact_classifier_destroy(c);
	tact_classifier_destroy(NULL);
}

/* ---- files ---- */

TEST_WITH(a_model_reads_as_it_was_written, set_up, tear_down)
{
	struct fixture *f = *state;
	struct tact_classifier *a = train(f, 1, 1), *b = NULL;
	char path[] = "/tmp/tact-classify-XXXXXX";
	struct tact_diag diag;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_false(tact_classifier_is_model(path));
	assert_int_equal(tact_classifier_save(a, path, "two\nlines", &diag), 0);
	assert_true(tact_classifier_is_model(path));
	assert_int_equal(tact_classifier_load(&b, path, &diag), 0);
	assert_memory_equal(a->lambda, b->lambda, 4 * a->prior.n_words * sizeof(*a->lambda));
	assert_memory_equal(a->expected, b->expected, 4 * a->prior.n_words * sizeof(*a->expected));
	assert_memory_equal(a->words, b->words, sizeof(a->words));
	assert_memory_equal(a->names, b->names, sizeof(a->names));
	assert_true(a->perplexity == b->perplexity && a->uops == b->uops &&
		    a->blocks == b->blocks && a->prior.alpha == b->prior.alpha);
	assert_string_equal(category(f, b, vector_hex), "Vec");
	tact_classifier_destroy(a);
	tact_classifier_destroy(b);
	assert_int_equal(tact_classifier_save(NULL, path, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_classifier_load(&b, "/nonexistent/x", &diag), -TACT_E_IO);
	assert_false(tact_classifier_is_model("/nonexistent/x"));
	unlink(path);
}

TEST_WITH(a_full_disk_is_said, set_up, tear_down)
{
	struct fixture *f = *state;
	struct tact_classifier *c = train(f, 1, 1);
	struct tact_diag diag = {0};

	assert_int_equal(tact_classifier_save(c, "/dev/full", NULL, &diag), -TACT_E_IO);
	assert_true(diag.text[0]);
	assert_int_equal(tact_classifier_save(c, "/nonexistent/x", NULL, &diag), -TACT_E_IO);
	tact_classifier_destroy(c);
}

#define KEYS                                                                                       \
	"arch = HSW\ntopics = 2\nwords = 2\nalpha = 0.5\nbeta = 0.1\nseed = 1\nstarts = 1\n"       \
	"blocks = 2\nbags = 2\nuops = 4\nperplexity = 2\n"
#define WORDS  "word\tp23\nword\tp0156\n"
#define TOPICS "topic\tLd\t1\t0\t0\t2.5\t3.5\t0.1\ntopic\tScalar\t1\t0\t0\t2.5\t0.1\t2\nend\n"
#define HEAD   "#tact-classify 1\n"

static int read_text(const char *text, struct tact_diag *diag)
{
	char path[] = "/tmp/tact-classify-XXXXXX";
	struct tact_classifier *c = NULL;
	int fd = mkstemp(path), status;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	*diag = (struct tact_diag){0};
	status = tact_classifier_load(&c, path, diag);
	tact_classifier_destroy(c);
	unlink(path);
	return status;
}

TEST(bad_models_are_refused)
{
	static const struct {
		const char *text;
		int status;
		unsigned line;
		const char *why;
	} cases[] = {
		{"", -TACT_E_FORMAT, 1, "empty"},
		{"hex\n4801d8\n", -TACT_E_FORMAT, 1, "not a model"},
		{"#tact-classify 2\n" KEYS, -TACT_E_VERSION, 1, "version 2"},
		{HEAD, -TACT_E_FORMAT, 2, "cut short"},
		{HEAD KEYS WORDS, -TACT_E_FORMAT, 15, "cut short"},
		{HEAD KEYS WORDS "topic\tLd\t1\t0\t0\t2.5\t3.5\t0.1\n", -TACT_E_FORMAT, 16,
		 "cut short"},
		{HEAD KEYS WORDS
		 "topic\tLd\t1\t0\t0\t2.5\t3.5\t0.1\ntopic\tScalar\t1\t0\t0\t2.5\t0.1\t2\n"
		 "topic\tX\t1\t0\t0\t2.5\t1\t1\n",
		 -TACT_E_FORMAT, 17, "more than the 2"},
		{HEAD "arch = XYZ\n", -TACT_E_NO_ARCH, 2, "XYZ"},
		{HEAD "topics = 33\n", -TACT_E_FORMAT, 2, "33"},
		{HEAD "topics = -1\n", -TACT_E_FORMAT, 2, "whole"},
		{HEAD "uops = 99999999999999999999999\n", -TACT_E_FORMAT, 2, "large"},
		{HEAD "alpha = nan\n", -TACT_E_FORMAT, 2, "alpha"},
		{HEAD "alpha = 1e999\n", -TACT_E_FORMAT, 2, "alpha"},
		{HEAD "alpha = 0\n", -TACT_E_FORMAT, 2, "alpha"},
		{HEAD "alpha = 1\nalpha = 1\n", -TACT_E_FORMAT, 3, "twice"},
		{HEAD "gamma = 1\n", -TACT_E_FORMAT, 2, "unknown name"},
		{HEAD "nothing\n", -TACT_E_FORMAT, 2, "expected"},
		{HEAD WORDS, -TACT_E_FORMAT, 2, "missing"},
		{HEAD KEYS TOPICS, -TACT_E_FORMAT, 13, "2 words announced, 0"},
		{HEAD KEYS WORDS "word\tp4\n", -TACT_E_FORMAT, 15, "more than the 2"},
		{HEAD KEYS "word\tp23\t1\n", -TACT_E_FORMAT, 13, "2 columns"},
		{HEAD KEYS "word\tp32\n", -TACT_E_FORMAT, 13, "p32"},
		{HEAD KEYS "word\tp9\n", -TACT_E_FORMAT, 13, "does not have"},
		{HEAD KEYS "word\tx\n", -TACT_E_FORMAT, 13, "combination"},
		{HEAD KEYS WORDS "topic\tLd\t0\t0\t0\t0\t1\t1\n", -TACT_E_FORMAT, 15,
		 "without uops"},
		{HEAD KEYS WORDS "topic\tLd\t1\t-1\t0\t0\t1\t1\n", -TACT_E_FORMAT, 15, "uops"},
		{HEAD KEYS "word\tp23\nword\tp23\n", -TACT_E_FORMAT, 14, "twice"},
		{HEAD KEYS WORDS "topic\tLd\t1\n", -TACT_E_FORMAT, 15, "columns"},
		{HEAD KEYS WORDS "topic\t\t1\t0\t0\t2.5\t1\t1\n", -TACT_E_FORMAT, 15, "name"},
		{HEAD KEYS WORDS "topic\ta,b\t1\t0\t0\t2.5\t1\t1\n", -TACT_E_FORMAT, 15, "name"},
		{HEAD KEYS WORDS "topic\tLd\t1\t0\t0\t2.5\t0\t1\n", -TACT_E_FORMAT, 15, "0"},
		{HEAD KEYS WORDS "topic\tLd\t1\t0\t0\t2.5\t-1\t1\n", -TACT_E_FORMAT, 15, "-1"},
		{HEAD KEYS WORDS "topic\tLd\t1\t0\t0\t2.5\t1\t1\ntopic\tLd\t1\t0\t0\t2.5\t1\t1\n",
		 -TACT_E_FORMAT, 16, "two topics"},
		{HEAD KEYS WORDS "topic\tLd\t1\t0\t0\t2.5\t1\t1\ntopic\tX\t1\t0\t0\t2.5\t1\t1\n",
		 -TACT_E_FORMAT, 17, "cut short"},
		{HEAD KEYS WORDS "topic\tLd\t1\t0\t0\t2.5\t1\t1\nend\n", -TACT_E_FORMAT, 16,
		 "before the last"},
		{HEAD KEYS WORDS TOPICS "seed = 2\n", -TACT_E_FORMAT, 18, "after 'end'"},
		{HEAD KEYS WORDS "seed = 2\n", -TACT_E_FORMAT, 15, "after"},
	};
	struct tact_diag diag;

	assert_int_equal(read_text(HEAD "# comment\n\n" KEYS WORDS TOPICS, &diag), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int status = read_text(cases[i].text, &diag);

		if (status != cases[i].status || diag.line != cases[i].line ||
		    !strstr(diag.text, cases[i].why))
			fail_msg("case %zu: %d, line %llu, '%s'", i, status,
				 (unsigned long long)diag.line, diag.text);
	}
}

RUN_TESTS(NULL, NULL)

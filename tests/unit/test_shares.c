/* SPDX-License-Identifier: MIT
 *
 * Shares of categories by application, and where their blocks come from.
 */
#include <math.h>
#include <unistd.h>

#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "support.h"

#include <tact-program/shares.h>

/* ---- shares ---- */

static struct tact_label label_of(int topic)
{
	return (struct tact_label){
		.size = sizeof(struct tact_label), .topic = topic, .uops = 2, .log_likelihood = -2};
}

static void add(struct tact_shares *s, const char *app, double weight, int topic)
{
	const struct tact_label label = label_of(topic);

	assert_int_equal(tact_shares_add(s, app, weight, &label), 0);
}

TEST(test_shares)
{
	struct tact_shares_totals t;
	struct tact_share x;
	struct tact_shares *s;

	assert_int_equal(tact_shares_create(&s), 0);
	tact_shares_get_totals(s, &t);
	assert_int_equal(t.blocks, 0);
	assert_true(isnan(t.perplexity));
	add(s, "zlib", 3, 1);
	add(s, "gzip", NAN, 0);
	add(s, "zlib", 4, 1);
	add(s, "zlib", NAN, 0);
	add(s, "gzip", 1, -1);
	tact_shares_finish(s);
	tact_shares_get_totals(s, &t);
	assert_int_equal(t.blocks, 5);
	assert_int_equal(t.unlabelled, 1);
	assert_int_equal(t.uops, 8);
	assert_true(t.has_weights);
	assert_true(fabs(t.perplexity - exp(1)) < 1e-12);

	assert_int_equal(tact_shares_count(s), 2);
	assert_int_equal(tact_shares_get(s, 0, &x), 0);
	assert_string_equal(x.app, "gzip");
	assert_int_equal(x.blocks, 2);
	assert_int_equal(x.count[0], 1);
	assert_true(fabs(x.weight - 1) < 1e-12);
	assert_int_equal(tact_shares_get(s, 1, &x), 0);
	assert_string_equal(x.app, "zlib");
	assert_int_equal(x.count[1], 2);
	assert_true(fabs(x.by_weight[1] - 7) < 1e-12);
	assert_true(fabs(x.by_weight[0]) < 1e-12);
	assert_int_equal(tact_shares_get(s, 2, &x), -TACT_E_INVAL);
	tact_shares_destroy(s);
	tact_shares_destroy(NULL);
}

TEST(test_bad_shares)
{
	struct tact_label label = label_of(TACT_CLASSIFY_MAX_TOPICS);
	struct tact_shares *s;

	assert_int_equal(tact_shares_create(&s), 0);
	assert_int_equal(tact_shares_add(s, "a", 1, &label), -TACT_E_INVAL);
	assert_int_equal(tact_shares_add(s, "a", 1, NULL), -TACT_E_INVAL);
	label.topic = 0;
	assert_int_equal(tact_shares_add(s, NULL, 1, &label), -TACT_E_INVAL);
	tact_shares_finish(s);
	assert_int_equal(tact_shares_add(s, "a", 1, &label), -TACT_E_INVAL);
	assert_int_equal(tact_shares_add_bag(s, "a", 1, 0), -TACT_E_INVAL);
	assert_int_equal(tact_shares_count(s), 0);
	tact_shares_destroy(s);
}

/* Names that are not names, as from a column of numbers: memory is bounded. */
TEST(test_many_apps)
{
	struct tact_share x;
	struct tact_shares *s;
	char name[16];
	uint64_t sum = 0;

	assert_int_equal(tact_shares_create(&s), 0);
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		add(s, name, 1, i % 3);
	}
	tact_shares_finish(s);
	assert_int_equal(tact_shares_count(s), 4097);
	assert_int_equal(tact_shares_get(s, 0, &x), 0);
	assert_string_equal(x.app, "(others)");
	assert_int_equal(x.blocks, 5000 - 4096);
	for (size_t i = 0; i < tact_shares_count(s); i++) {
		tact_shares_get(s, i, &x);
		sum += x.blocks;
	}
	assert_int_equal(sum, 5000);
	tact_shares_destroy(s);
}

/* Bags that are labelled at the end give what labels would have given at once. */
TEST(test_bags)
{
	static const char *const code[] = {"4801d8", "0f58c1", "488b03", "48890b"};
	const struct tact_arch *arch = tact_arch_find("HSW");
	const struct tact_block_options how = {.size = sizeof(how), .mode = TACT_MODE_UNROLL};
	const struct tact_classify_options opt = {.size = sizeof(opt), .topics = 2, .starts = 1};
	struct tact_shares *late, *now;
	struct tact_shares_totals a, b;
	struct tact_classifier *classifier;
	struct tact_block *block;
	struct tact_bags *bags;
	uint32_t bag[ARRAY_SIZE(code)];

	assert_int_equal(tact_block_create(&block, arch, &how, NULL), 0);
	assert_int_equal(tact_bags_create(&bags, arch, NULL), 0);
	assert_int_equal(tact_shares_create(&late), 0);
	assert_int_equal(tact_shares_create(&now), 0);
	for (size_t i = 0; i < ARRAY_SIZE(code); i++) {
		uint8_t bytes[16];
		size_t n = bytes_of(bytes, sizeof(bytes), code[i]);

		assert_true(tact_block_load(block, bytes, n, NULL) >= 0);
		assert_int_equal(tact_bags_add(bags, block, &bag[i], NULL), 1);
		for (size_t k = 0; k <= i; k++)
			assert_int_equal(tact_shares_add_bag(late, "x", 1, bag[i]), 0);
	}
	assert_int_equal(tact_classifier_train(&classifier, bags, &opt, NULL), 0);
	assert_int_equal(tact_shares_label(late, classifier, bags), 0);
	for (size_t i = 0; i < ARRAY_SIZE(code); i++) {
		struct tact_label label = TACT_LABEL_INIT;

		assert_int_equal(tact_classifier_label(classifier, bags, bag[i], &label, NULL), 0);
		for (size_t k = 0; k <= i; k++)
			assert_int_equal(tact_shares_add(now, "x", 1, &label), 0);
	}
	tact_shares_get_totals(late, &a);
	tact_shares_get_totals(now, &b);
	assert_int_equal(a.blocks, 10);
	assert_int_equal(a.blocks, b.blocks);
	assert_int_equal(a.uops, b.uops);
	assert_true(fabs(a.perplexity - b.perplexity) < 1e-9);
	tact_classifier_destroy(classifier);
	tact_shares_destroy(late);
	tact_shares_destroy(now);
	tact_bags_destroy(bags);
	tact_block_destroy(block);
}

/* ---- as text ---- */

/* A classifier of four blocks, and the bags that it was trained on. */
static struct tact_classifier *train(struct tact_bags **bags, struct tact_block **block)
{
	static const char *const code[] = {"4801d8", "0f58c1", "488b03", "48890b"};
	const struct tact_arch *arch = tact_arch_find("HSW");
	const struct tact_block_options how = {.size = sizeof(how), .mode = TACT_MODE_UNROLL};
	const struct tact_classify_options opt = {.size = sizeof(opt), .topics = 2, .starts = 1};
	struct tact_classifier *classifier;
	uint32_t bag;

	assert_int_equal(tact_block_create(block, arch, &how, NULL), 0);
	assert_int_equal(tact_bags_create(bags, arch, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(code); i++) {
		uint8_t bytes[16];
		size_t n = bytes_of(bytes, sizeof(bytes), code[i]);

		assert_true(tact_block_load(*block, bytes, n, NULL) >= 0);
		assert_int_equal(tact_bags_add(*bags, *block, &bag, NULL), 1);
	}
	assert_int_equal(tact_classifier_train(&classifier, *bags, &opt, NULL), 0);
	return classifier;
}

static void check_report(const struct tact_classifier *classifier, const struct tact_bags *bags,
			 const struct tact_shares *shares, const struct tact_class_row *row,
			 enum tact_format format, const char *wanted)
{
	struct tact_class_report *report;
	struct text text = {0};

	assert_int_equal(tact_class_report_create(&report, classifier, format, collect_text, &text),
			 0);
	tact_class_report_header(report);
	tact_class_report_row(report, row);
	if (format == TACT_FORMAT_TEXT)
		tact_class_report_explain(report, row, bags, 0);
	tact_class_report_summary(report, shares, true);
	assert_int_equal(tact_class_report_finish(report), 0);
	if (!strstr(text_string(&text), wanted))
		fail_msg("'%s' is not in: %s", wanted, text.data);
	text_free(&text);
}

TEST(test_report)
{
	static const uint8_t code[] = {0x48, 0x01, 0xd8};
	struct tact_class_row row = {.size = sizeof(row),
				     .file = "f.csv",
				     .line = 7,
				     .name = "",
				     .code = code,
				     .code_size = sizeof(code),
				     .app = "a,b",
				     .weight = 2.5,
				     .status = "ok",
				     .coverage = 1,
				     .label = TACT_LABEL_INIT};
	struct tact_class_report *report;
	struct tact_classifier *classifier;
	struct tact_shares *shares;
	struct tact_block *block;
	struct tact_bags *bags;

	classifier = train(&bags, &block);
	assert_int_equal(tact_classifier_label(classifier, bags, 0, &row.label, NULL), 0);
	assert_int_equal(tact_shares_create(&shares), 0);
	assert_int_equal(tact_shares_add(shares, row.app, row.weight, &row.label), 0);
	tact_shares_finish(shares);
	check_report(classifier, bags, shares, &row, TACT_FORMAT_CSV, "4801d8,\"a,b\",2.5,ok,");
	check_report(classifier, bags, shares, &row, TACT_FORMAT_JSON,
		     "\"file\":\"f.csv\",\"line\":7,\"hex\":\"4801d8\",\"app\":\"a,b\"");
	check_report(classifier, bags, shares, &row, TACT_FORMAT_JSON,
		     "\"schema\":\"tact.classify.summary/1\",\"arch\":\"HSW\"");
	check_report(classifier, bags, shares, &row, TACT_FORMAT_TEXT, "4801d8\nCategory: ");
	check_report(classifier, bags, shares, &row, TACT_FORMAT_TEXT,
		     "\na,b                          2.5");
	row.status = "decode_error";
	check_report(classifier, bags, shares, &row, TACT_FORMAT_CSV,
		     "4801d8,\"a,b\",2.5,decode_error,,,,,\n");
	assert_int_equal(
		tact_class_report_create(&report, NULL, TACT_FORMAT_CSV, collect_text, NULL),
		-TACT_E_INVAL);
	assert_null(report);
	assert_int_equal(tact_class_report_finish(NULL), 0);
	tact_shares_destroy(shares);
	tact_classifier_destroy(classifier);
	tact_bags_destroy(bags);
	tact_block_destroy(block);
}

/* ---- corpora ---- */

static void make_file(char path[60], const char *suffix, const char *content)
{
	FILE *file;

	snprintf(path, 60, "/tmp/tact-corpus-%d%s", (int)getpid(), suffix);
	file = fopen(path, "w");
	fputs(content, file);
	fclose(file);
}

TEST(test_list)
{
	struct tact_corpus_block b;
	struct tact_diag diag = {0};
	struct tact_corpus *c;
	char path[60], stem[TACT_STORE_NAME_MAX + 1];

	make_file(path, ".csv", "app,hex,weight\nzlib,4801d8,2.5\nx,zz,1\n,4829d8,\n");
	tact_corpus_app(path, stem);
	assert_true(tact_corpus_is_one(path));
	assert_int_equal(tact_corpus_open(&c, path, NULL, NULL, NULL), 0);
	assert_non_null(tact_corpus_description(c));
	assert_int_equal(tact_corpus_next(c, &b, &diag), 1);
	assert_string_equal(b.app, "zlib");
	assert_true(fabs(b.weight - 2.5) < 1e-12);
	assert_int_equal(b.line, 2);
	assert_int_equal(b.code_size, 3);
	assert_int_equal(tact_corpus_next(c, &b, &diag), -TACT_E_FORMAT);
	assert_int_equal(diag.line, 3);
	assert_int_equal(tact_corpus_next(c, &b, &diag), 1);
	assert_string_equal(b.app, stem);
	assert_true(isnan(b.weight));
	assert_int_equal(tact_corpus_next(c, &b, &diag), 0);
	tact_corpus_close(c);
	unlink(path);
}

/* A block of two applications comes twice. */
TEST(test_store)
{
	static const uint8_t code[] = {0x48, 0x01, 0xd8};
	struct tact_corpus_block b;
	struct tact_store *store;
	struct tact_corpus *c;
	char path[60];
	int64_t id;

	snprintf(path, sizeof(path), "/tmp/tact-corpus-%d.db", (int)getpid());
	unlink(path);
	assert_int_equal(tact_store_open(&store, path, TACT_STORE_CREATE, NULL), 0);
	assert_true(tact_store_put_block(store, code, sizeof(code), &id, NULL) >= 0);
	assert_true(tact_store_put_source(store, id, "a", 1, NULL) >= 0);
	assert_true(tact_store_put_source(store, id, "b", 2, NULL) >= 0);
	assert_true(tact_corpus_is_one(path));
	assert_int_equal(tact_corpus_open(&c, path, store, path, NULL), 0);
	assert_null(tact_corpus_description(c));
	assert_int_equal(tact_corpus_next(c, &b, NULL), 1);
	assert_string_equal(b.app, "a");
	assert_false(b.is_again);
	assert_int_equal(tact_corpus_next(c, &b, NULL), 1);
	assert_string_equal(b.app, "b");
	assert_true(b.is_again);
	assert_int_equal(b.code_size, sizeof(code));
	assert_int_equal(tact_corpus_next(c, &b, NULL), 0);
	tact_corpus_close(c);
	tact_store_close(store);
	unlink(path);
}

TEST(test_no_corpus)
{
	struct tact_diag diag = {0};
	struct tact_corpus *c;
	char path[60], name[TACT_STORE_NAME_MAX + 1], longer[200];

	make_file(path, ".s", "add %rax, %rbx\n");
	assert_false(tact_corpus_is_one(path));
	unlink(path);
	assert_false(tact_corpus_is_one(path));
	assert_int_equal(tact_corpus_open(&c, path, NULL, NULL, &diag), -TACT_E_IO);
	assert_null(c);
	assert_true(diag.text[0] != '\0');
	assert_int_equal(tact_corpus_open(&c, NULL, NULL, NULL, &diag), -TACT_E_INVAL);
	assert_true(tact_corpus_is_one("-"));
	tact_corpus_close(NULL);

	tact_corpus_app("/a.b/.hidden", name);
	assert_string_equal(name, ".hidden");
	tact_corpus_app("x\ty.tar.gz", name);
	assert_string_equal(name, "x_y.tar");
	memset(longer, 'n', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	tact_corpus_app(longer, name);
	assert_int_equal(strlen(name), TACT_STORE_NAME_MAX);
}

RUN_TESTS(NULL, NULL)

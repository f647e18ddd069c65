/* SPDX-License-Identifier: MIT
 *
 * Intervals of predictions: classes, the line that counts, what is said, and what there is none for.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include "confidence/confidence.h"
#include "support.h"

static struct tact_block *load(const char *arch, enum tact_mode mode, const char *hex)
{
	struct tact_block_options options = TACT_BLOCK_OPTIONS_INIT;
	struct tact_block *block;
	uint8_t code[256];
	size_t n = bytes_of(code, sizeof(code), hex);

	options.mode = mode;
	assert_int_equal(tact_block_create(&block, tact_arch_find(arch), &options, NULL), 0);
	assert_int_equal(tact_block_load(block, code, n, NULL), 0);
	return block;
}

static struct tact_prediction predict(struct tact_block *block)
{
	struct tact_prediction x = TACT_PREDICTION_INIT;

	assert_int_equal(tact_predict(block, NULL, &x), 0);
	return x;
}

static struct tact_confidence ask(const char *arch, enum tact_mode mode, const char *hex,
				  const char *model)
{
	struct tact_block *block = load(arch, mode, hex);
	struct tact_prediction x = predict(block);
	struct tact_confidence c = TACT_CONFIDENCE_INIT;

	assert_int_equal(tact_confidence_find(block, model, &x, &c), 0);
	if (c.has_interval) {
		assert_true(c.low > 0 && c.low <= x.cycles_per_iteration + 1e-9);
		assert_true(c.high >= x.cycles_per_iteration - 1e-9 && isfinite(c.high));
		assert_true(c.rows >= 50);
	}
	assert_true(c.reason[0]);
	tact_block_destroy(block);
	return c;
}

/* ---- classes ---- */

static void has_class(const char *hex, const char *kind)
{
	struct tact_confidence c = ask("SKL", TACT_MODE_UNROLL, hex, "facile");

	assert_true(c.has_interval);
	assert_string_equal(c.kind, kind);
}

TEST(classes_by_what_limits)
{
	has_class("480fafc3", "dependencies");		       /* imul rax, rbx */
	has_class("48f7f1", "division");		       /* div rcx */
	has_class("0fa2", "microcode");			       /* cpuid */
	has_class("4801442408", "forwarding");		       /* add [rsp+8], rax */
	has_class("488904244c8b4424014d89c1", "blocked-load"); /* the load straddles the store */
	has_class("486bc305486bcb05", "ports"); /* imul rax, rbx, 5; imul rcx, rbx, 5 */
	has_class("0f1f8400000000000f1f840000000000", "front-end");
}

TEST(lengths)
{
	static const unsigned expected[] = {
		[1] = CONFIDENCE_SHORT,	    [4] = CONFIDENCE_SHORT, [5] = CONFIDENCE_MEDIUM,
		[8] = CONFIDENCE_MEDIUM,    [9] = CONFIDENCE_LONG,  [16] = CONFIDENCE_LONG,
		[17] = CONFIDENCE_VERY_LONG};

	for (unsigned n = 1; n < ARRAY_SIZE(expected); n++) {
		char hex[64] = "";
		struct tact_block *block;
		struct tact_prediction x;

		for (unsigned i = 0; i < n; i++)
			strcat(hex, "90");
		block = load("SKL", TACT_MODE_UNROLL, hex);
		x = predict(block);
		if (expected[n])
			assert_int_equal(
				confidence_classify(block, CONFIDENCE_FACILE, &x, 1).length,
				expected[n]);
		tact_block_destroy(block);
	}
}

/* What the pipeline loses beyond the bounds makes a class of its own, for its model only. */
TEST(losses_of_the_pipeline)
{
	struct tact_block *block = load("SKL", TACT_MODE_UNROLL, "480fafc3");
	struct tact_prediction x = predict(block);
	double at = x.cycles_per_iteration;

	assert_int_equal(confidence_classify(block, CONFIDENCE_SIM, &x, at).kind, CONFIDENCE_CHAIN);
	assert_int_equal(confidence_classify(block, CONFIDENCE_SIM, &x, 1.05 * at).kind,
			 CONFIDENCE_SMALL_LOSSES);
	assert_int_equal(confidence_classify(block, CONFIDENCE_SIM, &x, 0.95 * at).kind,
			 CONFIDENCE_SMALL_LOSSES);
	assert_int_equal(confidence_classify(block, CONFIDENCE_SIM, &x, 1.2 * at).kind,
			 CONFIDENCE_LOSSES);
	assert_int_equal(confidence_classify(block, CONFIDENCE_FACILE, &x, 1.2 * at).kind,
			 CONFIDENCE_CHAIN);
	tact_block_destroy(block);
}

/* The line of the class, of its kind, of all others; of the same mode and model. */
TEST(which_line)
{
	static const struct confidence_line lines[] = {
		{TACT_MODE_LOOP, CONFIDENCE_SIM, {CONFIDENCE_PORTS, CONFIDENCE_SHORT}, 1, 1, 1},
		{TACT_MODE_LOOP, CONFIDENCE_SIM, {CONFIDENCE_PORTS, 0}, 2, 1, 1},
		{TACT_MODE_LOOP, CONFIDENCE_SIM, {CONFIDENCE_ANY_KIND, 0}, 3, 1, 1},
		{TACT_MODE_UNROLL, CONFIDENCE_SIM, {CONFIDENCE_CHAIN, CONFIDENCE_SHORT}, 4, 1, 1},
	};
	const struct confidence_class shorter = {CONFIDENCE_PORTS, CONFIDENCE_SHORT},
				      longer = {CONFIDENCE_PORTS, CONFIDENCE_LONG},
				      other = {CONFIDENCE_CHAIN, CONFIDENCE_SHORT};

#define FIND(mode, model, of) confidence_find(lines, ARRAY_SIZE(lines), mode, model, of)
	assert_int_equal(FIND(TACT_MODE_LOOP, CONFIDENCE_SIM, shorter)->rows, 1);
	assert_int_equal(FIND(TACT_MODE_LOOP, CONFIDENCE_SIM, longer)->rows, 2);
	assert_int_equal(FIND(TACT_MODE_LOOP, CONFIDENCE_SIM, other)->rows, 3);
	assert_int_equal(FIND(TACT_MODE_UNROLL, CONFIDENCE_SIM, other)->rows, 4);
	assert_null(FIND(TACT_MODE_UNROLL, CONFIDENCE_SIM, longer));
	assert_null(FIND(TACT_MODE_LOOP, CONFIDENCE_FACILE, shorter));
#undef FIND
}

/* ---- what is said ---- */

TEST(borrowed)
{
	struct tact_confidence own = ask("ICX", TACT_MODE_UNROLL, "480fafc3", "sim"),
			       other = ask("TGL", TACT_MODE_UNROLL, "480fafc3", "sim");

	assert_false(own.is_borrowed);
	assert_true(other.is_borrowed);
	assert_string_equal(other.learned_on, "ICX");
	assert_non_null(strstr(other.reason, "as measured on ICX"));
	assert_null(strstr(own.reason, "as measured on"));
	assert_true(own.level == 0.9 && own.n_known == 1 && own.n_insns == 1);
	assert_non_null(strstr(own.reason, "1 of 1 instruction measured"));
}

static void has_none(const char *arch, enum tact_mode mode, const char *hex, const char *model,
		     const char *why)
{
	struct tact_confidence c = ask(arch, mode, hex, model);

	assert_false(c.has_interval);
	assert_true(c.low == 0 && c.high == 0 && c.rows == 0);
	assert_non_null(strstr(c.reason, why));
}

TEST(none)
{
	has_none("SKL", TACT_MODE_LOOP, "480fafc375fa", "facile", "loops were never measured");
	has_none("SKL", TACT_MODE_UNROLL, "480fafc3", "mca", "never calibrated");
	has_none("SKL", TACT_MODE_UNROLL, "480fafc3", NULL, "options");
	has_none("SKL", TACT_MODE_UNROLL, "62f17c4858c1", "facile", "lower bound"); /* AVX-512 */
}

/* Rows were measured with all data in the first-level cache. */
TEST(none_for_misses)
{
	struct tact_block *block = load("SKL", TACT_MODE_UNROLL, "488b00"); /* mov rax, [rax] */
	struct tact_prediction x = predict(block);
	struct tact_confidence c = TACT_CONFIDENCE_INIT;

	assert_int_equal(tact_confidence_find(block, "facile", &x, &c), 0);
	assert_true(c.has_interval);
	assert_int_equal(tact_block_set_memory(block, 0, TACT_MEMORY_L2), 0);
	x = predict(block);
	assert_int_equal(tact_confidence_find(block, "facile", &x, &c), 0);
	assert_false(c.has_interval);
	tact_block_destroy(block);
}

TEST(misuse)
{
	struct tact_block *block = load("SKL", TACT_MODE_UNROLL, "90");
	struct tact_prediction x = predict(block);
	struct tact_confidence c = TACT_CONFIDENCE_INIT, unset = {0};

	assert_int_equal(tact_confidence_find(NULL, "sim", &x, &c), -TACT_E_INVAL);
	assert_int_equal(tact_confidence_find(block, "sim", NULL, &c), -TACT_E_INVAL);
	assert_int_equal(tact_confidence_find(block, "sim", &x, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_confidence_find(block, "sim", &x, &unset), -TACT_E_INVAL);
	x.size = 0;
	assert_int_equal(tact_confidence_find(block, "sim", &x, &c), -TACT_E_INVAL);
	tact_block_destroy(block);
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), NULL, NULL), 0);
	x.size = sizeof(x);
	assert_int_equal(tact_confidence_find(block, "sim", &x, &c), -TACT_E_INVAL);
	tact_block_destroy(block);
}

RUN_TESTS(NULL, NULL)

/* SPDX-License-Identifier: MIT
 *
 * The interface of the tuner as careless callers and those of other versions use it.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "sizes.h"
#include "support.h"

enum { ROWS = 40 };

static struct tact_tuner *tuner; /* that has run */

static void add_rows(struct tact_tuner *t)
{
	/* imul rax, rax as often as the row number; one is measured slower than in the tables */
	uint8_t code[4 * ROWS];

	for (unsigned i = 0; i < ROWS; i++) {
		memcpy(code + (size_t)4 * i, "\x48\x0f\xaf\xc0", 4);
		assert_int_equal(tact_tuner_add(t, code, 4 * (i + 1), 4 * (i + 1), "app", NULL), 1);
	}
}

static int set_up(void **state)
{
	const struct tact_tune_options opt = {.size = sizeof(opt),
					      .arch = tact_arch_find("SKL"),
					      .model = "facile",
					      .mode = TACT_MODE_UNROLL,
					      .threads = 1};

	(void)state;
	assert_int_equal(tact_tuner_create(&tuner, &opt, NULL), 0);
	add_rows(tuner);
	assert_int_equal(tact_tuner_run(tuner, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tact_tuner_destroy(tuner);
	return 0;
}

/* ---- sizes ---- */

static int get_summary(void *out, const void *of)
{
	return tact_tuner_get_summary(of, out);
}

static int get_row(void *out, const void *of)
{
	return tact_tuner_get_row(of, 0, out);
}

static int get_change(void *out, const void *of)
{
	return tact_tuner_get_change(of, 0, out);
}

static int get_histogram(void *out, const void *of)
{
	return tact_tuner_get_histogram(of, 0, out);
}

TEST(older_and_newer_callers_get_results)
{
	check_sizes(get_summary, tuner, sizeof(struct tact_tune_summary));
	check_sizes(get_row, tuner, sizeof(struct tact_tune_row));
	check_sizes(get_change, tuner, sizeof(struct tact_tune_change));
	check_sizes(get_histogram, tuner, sizeof(struct tact_tune_histogram));
}

static int use_tuner(const void *options)
{
	struct tact_tuner *t;
	const int status = tact_tuner_create(&t, options, NULL);

	assert_true(status == 0 || !t);
	tact_tuner_destroy(t);
	return status;
}

static int use_network(const void *network)
{
	const struct tact_tune_options opt = {
		.size = sizeof(opt), .arch = tact_arch_find("SKL"), .network = network};

	return use_tuner(&opt);
}

TEST(older_and_newer_callers_give_options)
{
	const struct tact_tune_options opt = {.size = sizeof(opt), .arch = tact_arch_find("SKL")};
	const struct tact_tune_network network = TACT_TUNE_NETWORK_INIT;

	check_options(use_tuner, &opt, sizeof(opt));
	check_options(use_network, &network, sizeof(network));
}

/* ---- pointers that are missing, values out of range ---- */

TEST(values_out_of_range)
{
	const struct tact_tune_options good = {.size = sizeof(good), .arch = tact_arch_find("SKL")};
	struct tact_tune_network network = TACT_TUNE_NETWORK_INIT;
	struct tact_tune_options opt = good;

	assert_int_equal(use_tuner(&opt), 0);
	opt.what = 1 << 5;
	assert_int_equal(use_tuner(&opt), -TACT_E_INVAL);
	opt = good;
	opt.method = (enum tact_tune_method)9;
	assert_int_equal(use_tuner(&opt), -TACT_E_INVAL);
	opt = good;
	opt.memory = (enum tact_mca_memory)9;
	assert_int_equal(use_tuner(&opt), -TACT_E_INVAL);
	opt = good;
	opt.mode = (enum tact_mode)9;
	assert_int_equal(use_tuner(&opt), -TACT_E_INVAL);
	opt = good;
	opt.init = (enum tact_init)9;
	assert_int_equal(use_tuner(&opt), -TACT_E_INVAL);
	opt = good;
	opt.min_gain = NAN;
	assert_int_equal(use_tuner(&opt), -TACT_E_INVAL);
	network.rate = -1;
	assert_int_equal(use_network(&network), -TACT_E_INVAL);
	network.rate = INFINITY;
	assert_int_equal(use_network(&network), -TACT_E_INVAL);
	network.rate = 0;
	network.table_rate = INFINITY;
	assert_int_equal(use_network(&network), -TACT_E_INVAL);
}

TEST(tuners_without_arguments)
{
	struct tact_tune_options opt = {.size = sizeof(opt), .arch = tact_arch_find("SKL")};
	struct tact_tune_summary summary = TACT_TUNE_SUMMARY_INIT;
	struct tact_tune_histogram histogram = TACT_TUNE_HISTOGRAM_INIT;
	struct tact_tune_row row = TACT_TUNE_ROW_INIT;
	struct tact_tune_point point;
	struct tact_tuner *t = tuner;

	assert_int_equal(tact_tuner_create(NULL, &opt, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_create(&t, NULL, NULL), -TACT_E_INVAL);
	assert_null(t);
	tact_tuner_destroy(NULL);
	assert_int_equal(tact_tuner_add(NULL, (const uint8_t *)"\x90", 1, 1, NULL, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_tuner_run(NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_save(NULL, "/dev/null", NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_save(tuner, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_export_llvm(NULL, "/dev/null", NULL, NULL, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_tuner_export_llvm(tuner, NULL, NULL, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_default_sensitivity(NULL, &point, 1), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_default_sensitivity(tuner, NULL, 1), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_get_summary(NULL, &summary), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_get_row(NULL, 0, &row), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_get_row(tuner, ROWS, &row), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_get_change(NULL, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_get_histogram(NULL, 0, &histogram), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_get_histogram(tuner, 99, &histogram), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_sensitivity(NULL, &point, 1), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_sensitivity(tuner, NULL, 1), -TACT_E_INVAL);
	/* before a run */
	assert_int_equal(tact_tuner_create(&t, &opt, NULL), 0);
	assert_int_equal(tact_tuner_add(t, NULL, 1, 1, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_add(t, (const uint8_t *)"\x90", 1, -1, NULL, NULL),
			 -TACT_E_INVAL);
	assert_int_equal(tact_tuner_get_summary(t, &summary), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_get_histogram(t, 0, &histogram), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_sensitivity(t, &point, 1), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_save(t, "/dev/null", NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_tuner_export_llvm(t, "/dev/null", NULL, NULL, NULL), -TACT_E_INVAL);
	tact_tuner_destroy(t);
	/* forms share values in mca, and not where a network has one set of them for each */
	opt.by_opcode = true;
	opt.method = TACT_TUNE_SURROGATE;
	assert_int_equal(tact_tuner_create(&t, &opt, NULL), -TACT_E_INVAL);
	opt.method = TACT_TUNE_DIRECT;
	opt.model = "facile";
	assert_int_equal(tact_tuner_create(&t, &opt, NULL), -TACT_E_INVAL);
}

RUN_TESTS(set_up, tear_down)

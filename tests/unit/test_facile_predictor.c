/* SPDX-License-Identifier: MIT
 *
 * A predictor says for every job what single calls say, from run to run and with any number of
 * threads.
 */
#include "testing.h"

#include <time.h>

#include "support.h"

enum { N = 1500, BYTES = 10 * TACT_MAX_INSN_BYTES };

static uint8_t code[N][BYTES];
static size_t size[N];
static struct tact_prediction expected[N];
static struct tact_job jobs[N];

static int set_up(void **state)
{
	struct tact_block *block;
	struct rng rng = {77};

	(void)state;
	if (tact_block_create(&block, tact_arch_find("HSW"), NULL, NULL) < 0)
		return -1;
	for (size_t i = 0; i < N; i++) {
		size[i] = random_block(&rng, code[i], 10);
		expected[i].size = sizeof(expected[i]);
		if (tact_block_load(block, code[i], size[i], NULL) < 0 ||
		    tact_predict(block, NULL, &expected[i]) < 0)
			return -1;
	}
	tact_block_destroy(block);
	return 0;
}

/* Jobs first to first + n; every 50th fails.  Returns how many do. */
static long fill(size_t first, size_t n)
{
	static const uint8_t bad[] = {0x06};
	long failures = 0;

	for (size_t i = first; i < first + n; i++) {
		bool fails = i % 50 == 49;

		jobs[i] = (struct tact_job){.size = sizeof(jobs[i]),
					    .code = fails ? bad : code[i],
					    .code_size = fails ? 1 : size[i]};
		failures += fails;
	}
	return failures;
}

static void check(size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++) {
		if (i % 50 == 49) {
			assert_int_equal(jobs[i].status, -TACT_E_DECODE);
			continue;
		}
		assert_int_equal(jobs[i].status, 0);
		assert_memory_equal(&jobs[i].prediction, &expected[i], sizeof(expected[i]));
	}
}

TEST(runs_of_any_length_on_any_number_of_threads)
{
	static const size_t lengths[] = {1, 10, 127, 128, 129, 500, N, 3, N};

	for (unsigned threads = 0; threads < 6; threads++) {
		struct tact_predictor *p;

		assert_int_equal(
			tact_predictor_create(&p, tact_arch_find("HSW"), NULL, NULL, threads, NULL),
			0);
		for (size_t k = 0; k < ARRAY_SIZE(lengths); k++) {
			size_t first = k * 37 % (N - lengths[k] + 1);
			long failures = fill(first, lengths[k]);

			assert_int_equal(tact_predictor_run(p, jobs + first, lengths[k]), failures);
			check(first, lengths[k]);
		}
		assert_int_equal(tact_predictor_run(p, NULL, 0), 0);
		tact_predictor_destroy(p);
	}
}

TEST(one_that_never_runs)
{
	struct tact_predictor *p;

	assert_int_equal(tact_predictor_create(&p, tact_arch_find("SKL"), NULL, NULL, 8, NULL), 0);
	tact_predictor_destroy(p);
	tact_predictor_destroy(NULL);
}

TEST(options_are_kept)
{
	struct tact_block_options block_opt = TACT_BLOCK_OPTIONS_INIT;
	struct tact_predict_options opt = TACT_PREDICT_OPTIONS_INIT;
	struct tact_predictor *p;

	block_opt.mode = TACT_MODE_LOOP;
	opt.bounds = 1u << TACT_BOUND_ISSUE;
	assert_int_equal(
		tact_predictor_create(&p, tact_arch_find("SKL"), &block_opt, &opt, 3, NULL), 0);
	block_opt.mode = TACT_MODE_UNROLL;
	opt.bounds = 0;
	fill(0, N);
	assert_int_equal(tact_predictor_run(p, jobs, N), N / 50);
	for (size_t i = 0; i < N; i++)
		assert_true(jobs[i].status < 0 ||
			    (jobs[i].prediction.mode == TACT_MODE_LOOP &&
			     jobs[i].prediction.applies == 1u << TACT_BOUND_ISSUE));
	tact_predictor_destroy(p);
}

TEST(misuse)
{
	const struct tact_predict_options unknown = {.size = sizeof(unknown), .bounds = 1u << 30};
	const struct tact_block_options no_mode = {.size = sizeof(no_mode),
						   .mode = (enum tact_mode)7};
	const struct tact_arch *skl = tact_arch_find("SKL");
	struct tact_predictor *p = (struct tact_predictor *)1;
	struct tact_diag diag = {0};

	assert_int_equal(tact_predictor_create(NULL, skl, NULL, NULL, 1, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_predictor_create(&p, NULL, NULL, NULL, 1, NULL), -TACT_E_INVAL);
	assert_null(p);
	assert_int_equal(tact_predictor_create(&p, skl, NULL, &unknown, 1, &diag), -TACT_E_INVAL);
	assert_true(diag.text[0]);
	assert_int_equal(tact_predictor_create(&p, skl, &no_mode, NULL, 1, &diag), -TACT_E_INVAL);
	assert_null(p);
	assert_int_equal(tact_predictor_run(NULL, jobs, 1), -TACT_E_INVAL);
	assert_int_equal(tact_predictor_create(&p, skl, NULL, NULL, 2, NULL), 0);
	assert_int_equal(tact_predictor_run(p, NULL, 1), -TACT_E_INVAL);
	fill(0, 2);
	jobs[0].size = 8;
	assert_int_equal(tact_predictor_run(p, jobs, 2), -TACT_E_INVAL);
	tact_predictor_destroy(p);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Ten jobs take as long as ten predictions, and not as long as starting threads: the best of many
 * runs next to the best of many single rounds.
 */
TEST(small_runs_are_cheap)
{
	double run = 1e9, single = 1e9;
	struct tact_predictor *p;
	struct tact_block *block;

	assert_int_equal(tact_block_create(&block, tact_arch_find("HSW"), NULL, NULL), 0);
	assert_int_equal(tact_predictor_create(&p, tact_arch_find("HSW"), NULL, NULL, 0, NULL), 0);
	fill(0, 10);
	for (unsigned k = 0; k < 2000; k++) {
		struct tact_prediction x = TACT_PREDICTION_INIT;
		double begin = now(), middle;

		assert_int_equal(tact_predictor_run(p, jobs, 10), 0);
		middle = now();
		for (size_t i = 0; i < 10; i++)
			if (tact_block_load(block, code[i], size[i], NULL) < 0 ||
			    tact_predict(block, NULL, &x) < 0)
				fail();
		if (now() - middle < single)
			single = now() - middle;
		if (middle - begin < run)
			run = middle - begin;
	}
	print_message("ten jobs: %.2f us; ten calls: %.2f us\n", run * 1e6, single * 1e6);
	assert_true(run < 2 * single + 10e-6);
	tact_predictor_destroy(p);
	tact_block_destroy(block);
}

RUN_TESTS(set_up, NULL)

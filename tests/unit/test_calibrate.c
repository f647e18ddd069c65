/* SPDX-License-Identifier: MIT
 *
 * Learning intervals from measured rows: they hold what they promise, classes with few rows are
 * merged, and there is a table for the generator.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact-program/evaluate.h>

#include "support.h"

static const struct tact_evaluation_input input = {NULL, "SKL", TACT_MODE_UNROLL, -1};
static const struct tact_row_source programs[] = {{"a", 1}, {"b", 1}, {"c", 1}};

static struct tact_evaluation *create(const char *model)
{
	struct tact_evaluation_options options = {.size = sizeof(options),
						  .inputs = &input,
						  .n_inputs = 1,
						  .threads = 1,
						  .is_for_calibration = true};
	struct tact_evaluation *e;

	assert_int_equal(tact_evaluation_create(&e, &options), 0);
	assert_int_equal(tact_evaluation_add_model(e, model), 1);
	return e;
}

/* A different block for each number: mov eax, imm32 and, for others, a division.  `ratio` is what it
 * takes, compared with FACILE's prediction.
 */
static void add(struct tact_evaluation *e, uint32_t number, bool divides, double ratio)
{
	uint8_t code[8] = {0xb8, (uint8_t)number, (uint8_t)(number >> 8), 1, 0, 0x48, 0xf7, 0xf1};
	struct tact_row row = {.size = sizeof(row), .code = code, .code_size = divides ? 8 : 5};
	struct tact_block *block;
	struct tact_prediction x = TACT_PREDICTION_INIT;
	struct tact_block_options options = TACT_BLOCK_OPTIONS_INIT;

	options.mode = TACT_MODE_UNROLL;
	assert_int_equal(tact_block_create(&block, tact_arch_find("SKL"), &options, NULL), 0);
	assert_int_equal(tact_block_load(block, code, row.code_size, NULL), 0);
	assert_int_equal(tact_predict(block, NULL, &x), 0);
	tact_block_destroy(block);
	row.has_cycles = true;
	row.cycles = ratio * x.cycles_per_iteration;
	row.weight = 1;
	row.clean = row.init = -1;
	row.status = "ok";
	row.letters = row.arch = row.machine = row.category = row.origin = "";
	row.sources = &programs[number % 3];
	row.n_sources = 1;
	assert_int_equal(tact_evaluation_add_row(e, 0, &row, NULL), 1);
}

/* n blocks that take 0.9 to 1.1 times the prediction, and some divisions that take twice that. */
static struct tact_calibration *calibrate(struct tact_evaluation *e, unsigned n,
					  unsigned n_divisions)
{
	struct rng rng = {42};
	struct tact_calibration *c;

	for (unsigned i = 0; i < n; i++)
		add(e, i, false, 0.9 + 0.2 * rng_below(&rng, 100001) / 100000);
	for (unsigned i = 0; i < n_divisions; i++)
		add(e, i, true, 2 + 0.001 * (i % 10));
	assert_int_equal(tact_evaluation_run(e, NULL), 0);
	assert_int_equal(tact_calibration_create(&c, e, NULL), 0);
	return c;
}

/* Finds the line of a class in a table. */
static bool find(const char *table, const char *line, unsigned *rows, double *low, double *high)
{
	const char *at = strstr(table, line);

	return at && sscanf(at + strlen(line), "%u %lf %lf", rows, low, high) == 3;
}

TEST(intervals_hold)
{
	struct tact_evaluation *e = create("facile");
	struct tact_calibration *c = calibrate(e, 2000, 0);
	const struct tact_calibrated *s = c->set;
	unsigned rows;
	double low, high;
	char *table;

	assert_int_equal(c->n, 1);
	assert_string_equal(s->model, "facile");
	assert_int_equal(s->rows, 2000);
	/* Four standard deviations of 2,000 rows, and as much for what was learned from half. */
	assert_true(fabs(s->held - 0.9) < 0.04);
	assert_true(fabs(s->program_held - 0.9) < 0.04);
	assert_int_equal(s->program_rows, 2000);
	assert_true(fabs(s->width - 0.18) < 0.01);
	assert_int_equal(tact_calibration_table(c, s->arch, "a test", &table), 0);
	assert_non_null(strstr(table, "from rows of a test.\n"));
	assert_true(find(table, "unroll\tfacile\tnear-limits\t1-4\t", &rows, &low, &high));
	assert_int_equal(rows, 2000);
	assert_true(low > 0.9 && low < 1 && high > 1 && high < 1.1);
	assert_true(fabs(high - low - 0.18) < 0.01);
	free(table);
	tact_calibration_destroy(c);
	tact_evaluation_destroy(e);
}

/* 200 rows make a line; 100 one for all lengths of a kind; fewer belong to the others. */
static void has_line(unsigned n_divisions, const char *line)
{
	static const char *const lines[] = {"unroll\tfacile\tdivision\t1-4\t",
					    "unroll\tfacile\tdivision\tany\t",
					    "unroll\tfacile\tany\tany\t"};
	struct tact_evaluation *e = create("facile");
	struct tact_calibration *c = calibrate(e, 600, n_divisions);
	char *table;
	unsigned rows;
	double low, high;

	assert_int_equal(tact_calibration_table(c, c->set->arch, "", &table), 0);
	assert_true(find(table, line, &rows, &low, &high));
	assert_int_equal(rows, n_divisions);
	/* They take twice the prediction, which belongs to the interval nevertheless. */
	assert_true(low <= 1 && high >= 2 && high < 2.02);
	for (size_t i = 0; i < 2; i++)
		if (strcmp(lines[i], line) != 0)
			assert_false(find(table, lines[i], &rows, &low, &high));
	assert_true(find(table, lines[2], &rows, &low, &high));
	free(table);
	tact_calibration_destroy(c);
	tact_evaluation_destroy(e);
}

TEST(small_classes_are_merged)
{
	has_line(200, "unroll\tfacile\tdivision\t1-4\t");
	has_line(199, "unroll\tfacile\tdivision\tany\t");
	has_line(99, "unroll\tfacile\tany\tany\t");
}

/* Scores say how many measurements the built-in intervals hold. */
TEST(held_by_built_in_intervals)
{
	struct tact_evaluation *e = create("facile");

	add(e, 1, false, 1);
	add(e, 2, false, 1);
	add(e, 3, false, 1);
	add(e, 4, false, 50);
	assert_int_equal(tact_evaluation_add_model(e, "mca"), 1);
	assert_int_equal(tact_evaluation_run(e, NULL), 0);
	assert_int_equal(e->model[0].scores[TACT_BY_NOTHING][0].n_intervals, 4);
	assert_true(fabs(e->model[0].scores[TACT_BY_NOTHING][0].held - 0.75) < 1e-9);
	assert_int_equal(e->model[1].scores[TACT_BY_NOTHING][0].n_intervals, 0);
	tact_evaluation_destroy(e);
}

TEST(too_little)
{
	struct tact_evaluation *e = create("facile");
	struct tact_calibration *c;
	struct tact_diag diag = {0};
	char *table;

	for (unsigned i = 0; i < 299; i++)
		add(e, i, false, 1);
	assert_int_equal(tact_evaluation_run(e, NULL), 0);
	assert_int_equal(tact_calibration_create(&c, e, &diag), -TACT_E_NO_DATA);
	assert_null(c);
	assert_non_null(strstr(diag.text, "300 rows"));
	assert_int_equal(tact_calibration_create(NULL, e, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_calibration_create(&c, NULL, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_calibration_table(NULL, NULL, NULL, &table), -TACT_E_INVAL);
	tact_calibration_destroy(NULL);
	tact_evaluation_destroy(e);
}

RUN_TESTS(NULL, NULL)

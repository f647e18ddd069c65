/* SPDX-License-Identifier: MIT
 *
 * Scores of any number of rows: they are those of the rows in memory, sorted on disk or not, and do
 * not depend on the order of the rows or on how they are divided.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include <tact-program/evaluate.h>

#include "evaluate/exact.h"
#include "evaluate/tallies.h"
#include "support.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * (1 + fabs(b));
}

/* ---- exact sums ---- */

TEST(sums_without_rounding)
{
	const double values[] = {1e300, 1, -1e300, 0x1p-1074, 3.5, -0x1p-1074, 1e-300, -1e-300};
	struct exact sum = {{0}, 0}, read, parts[2] = {{{0}, 0}, {{0}, 0}};
	struct text a = {0}, b = {0};

	for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
		exact_add(&sum, values[i]);
		exact_add(&parts[i % 2], values[ARRAY_SIZE(values) - 1 - i]);
	}
	assert_true(near(exact_value(&sum), 4.5));
	exact_add_exact(&parts[1], &parts[0]);
	exact_write(&sum, &a);
	exact_write(&parts[1], &b);
	assert_string_equal(text_string(&a), text_string(&b));
	assert_true(exact_read(&read, a.data));
	assert_true(near(exact_value(&read), 4.5));
	exact_add(&sum, -10);
	a.size = 0;
	exact_write(&sum, &a);
	assert_true(exact_read(&read, text_string(&a)));
	assert_true(near(exact_value(&read), -5.5));
	assert_false(exact_read(&read, "33:12"));
	assert_false(exact_read(&read, "70:00000001"));
	assert_false(exact_read(&read, "69:0000000100000002"));
	assert_false(exact_read(&read, "x"));
	assert_false(exact_read(&read, ""));
	text_free(&a);
	text_free(&b);
}

/* ---- tallies ---- */

enum { N = 6000, CELLS = 5 };

struct rows {
	double x[N], y[N], w[N];
	uint32_t cell[N];
	uint8_t held[N];
};

/* Groups of the cells: all, and two that overlap. */
static const uint32_t group_of[CELLS][3] = {{0, 1, 3}, {0, 1, 3}, {0, 2, 3}, {0, 2, 3}, {0, 1, 2}};

static void make_cells(struct cells *cells)
{
	*cells = (struct cells){.n_models = 1};
	for (size_t i = 0; i < CELLS; i++) {
		char category[2] = {(char)('a' + (int)i), '\0'};
		const struct cell_key key = {.arch = "SKL",
					     .mode = TACT_MODE_LOOP,
					     .is_whole = true,
					     .category = category};
		bool is_new;

		assert_int_equal(cells_find(cells, &key, &is_new), i);
		assert_true(is_new);
		cells->cell[i].group = (uint32_t *)group_of[i];
		cells->cell[i].n_groups = 3;
		assert_int_equal(cells_find(cells, &key, &is_new), i);
		assert_false(is_new);
	}
}

static void make_rows(struct rows *r, uint64_t seed, unsigned values, bool has_weights)
{
	struct rng rng = {seed};

	for (size_t i = 0; i < N; i++) {
		r->y[i] = (1 + rng_below(&rng, values)) / (values > 1000 ? 7.0 : 4.0);
		r->x[i] = r->y[i] * (0.5 + rng_below(&rng, values) / (double)values);
		r->w[i] = has_weights ? 0.1 * (1 + rng_below(&rng, 50)) : 1;
		r->cell[i] = rng_below(&rng, CELLS);
		r->held[i] = (uint8_t)rng_below(&rng, 3);
	}
}

/* Scores the rows in an order. */
static void score(const struct rows *r, const uint32_t *order, size_t most,
		  struct tact_scores scores[4])
{
	static const size_t first[TACT_N_GROUPINGS + 1] = {0, 1, 3, 4, 4};
	struct cells cells;
	struct sort_order by;
	struct sorter tally;
	struct tally_scoring t = {.tally = &tally,
				  .cells = &cells,
				  .scores = scores,
				  .n_groups = 4,
				  .first = first,
				  .most = most,
				  .folder = "/tmp"};

	make_cells(&cells);
	tally_order(&by, &cells);
	sorter_init(&tally, &by, most, "/tmp");
	memset(scores, 0, 4 * sizeof(*scores));
	for (size_t i = 0; i < N; i++) {
		const size_t k = order[i];
		const struct run_record record = {.x = r->x[k],
						  .y = r->y[k],
						  .w = r->w[k],
						  .v = 1,
						  .tag = tally_tag(r->cell[k], r->held[k])};

		assert_int_equal(sorter_add(&tally, &record, NULL), 0);
	}
	assert_int_equal(sorter_finish(&tally, NULL), 0);
	assert_int_equal(tally.n_runs, most < N / 2 ? 1 : 0);
	assert_int_equal(tally_score_errors(&t, NULL), 0);
	for (int kind = 0; kind < TACT_N_GROUPINGS; kind++)
		assert_int_equal(tally_score_order(&t, (enum tact_grouping)kind, NULL), 0);
	sorter_fini(&tally);
	cells_fini(&cells);
}

/* The same by definition, with all rows in memory. */
static void compare(const struct rows *r, bool has_weights, const struct tact_scores scores[4])
{
	static struct rows of;
	struct tact_scores expected;

	for (uint32_t g = 0; g < 4; g++) {
		struct tact_pairs pairs = {.predicted = of.x,
					   .measured = of.y,
					   .weights = has_weights ? of.w : NULL,
					   .held = of.held};

		for (size_t i = 0; i < N; i++) {
			const uint32_t *groups = group_of[r->cell[i]];

			if (groups[0] != g && groups[1] != g && groups[2] != g)
				continue;
			of.x[pairs.n] = r->x[i];
			of.y[pairs.n] = r->y[i];
			of.w[pairs.n] = r->w[i];
			of.held[pairs.n++] = r->held[i];
		}
		assert_int_equal(tact_scores_compute(&pairs, &expected), 0);
		assert_int_equal(scores[g].n, expected.n);
		assert_int_equal(scores[g].n_intervals, expected.n_intervals);
		assert_true(near(scores[g].weight, expected.weight));
		assert_true(near(scores[g].mape, expected.mape));
		assert_true(near(scores[g].median, expected.median));
		assert_true(near(scores[g].bias, expected.bias));
		assert_true(near(scores[g].within_5, expected.within_5));
		assert_true(near(scores[g].within_10, expected.within_10));
		assert_true(near(scores[g].held, expected.held));
		assert_true(scores[g].has_tau && near(scores[g].tau, expected.tau));
	}
}

TEST(scores_on_disk_are_those_in_memory)
{
	static struct rows rows;
	static uint32_t order[N];
	struct tact_scores scores[4], others[4];
	struct rng rng = {5};

	for (unsigned round = 0; round < 6; round++) {
		const unsigned values = (unsigned[]){3, 40, 1000000}[round % 3];
		const bool has_weights = round >= 3;

		make_rows(&rows, round + 1, values, has_weights);
		for (size_t i = 0; i < N; i++)
			order[i] = (uint32_t)i;
		score(&rows, order, 1 << 20, scores);
		compare(&rows, has_weights, scores);
		if (values < 1000000)
			continue; /* all are joined: nothing goes to the disk */
		/* Little memory and another order: the same bits, in hundreds of runs. */
		for (size_t most = 24; most < N / 2; most *= 9) {
			for (size_t i = N - 1; i > 0; i--) {
				size_t k = rng_below(&rng, (unsigned)i + 1);
				uint32_t swap = order[i];

				order[i] = order[k];
				order[k] = swap;
			}
			score(&rows, order, most, others);
			assert_true(near(others[0].tau, scores[0].tau));
			compare(&rows, has_weights, others);
			for (unsigned g = 0; g < 4; g++) {
				assert_memory_equal(&others[g].mape, &scores[g].mape,
						    sizeof(double));
				assert_memory_equal(&others[g].bias, &scores[g].bias,
						    sizeof(double));
				assert_memory_equal(&others[g].median, &scores[g].median,
						    sizeof(double));
			}
		}
	}
}

TEST(no_place_for_runs)
{
	struct cells cells;
	struct sort_order by;
	struct sorter tally;
	struct tact_diag diag = {0};
	int status = 0;

	make_cells(&cells);
	tally_order(&by, &cells);
	sorter_init(&tally, &by, 16, "/nowhere/at/all");
	for (unsigned i = 0; i < 2000 && status >= 0; i++)
		status = sorter_add(&tally, &(struct run_record){.x = i, .y = 1, .w = 1, .v = 1},
				    &diag);
	assert_int_equal(status, -TACT_E_IO);
	assert_string_equal(diag.text,
			    "temporary file in /nowhere/at/all: No such file or directory");
	sorter_fini(&tally);
	cells_fini(&cells);
}

/* ---- partial scores ---- */

static const struct tact_evaluation_input input = {NULL, "SKL", TACT_MODE_UNROLL, -1};

static struct tact_evaluation *create(void)
{
	struct tact_evaluation_options options = {.size = sizeof(options),
						  .inputs = &input,
						  .n_inputs = 1,
						  .threads = 2,
						  .is_weighted = true};
	struct tact_evaluation *e;

	assert_int_equal(tact_evaluation_create(&e, &options), 0);
	assert_int_equal(tact_evaluation_add_model(e, "facile"), 1);
	assert_int_equal(tact_evaluation_add_bottlenecks(e, "HSW", NULL), 0);
	assert_int_equal(tact_evaluation_add_bottlenecks(e, "ICL", NULL), 0);
	return e;
}

/* A row of nops: its number says what it is. */
static void add(struct tact_evaluation *e, uint32_t number)
{
	static const char *const labels[] = {"a", "b\tc", "d\\e\nf", ""};
	uint8_t code[40];
	struct tact_row_source sources[2] = {{labels[number % 3], 1.5},
					     {"z", 0.1 * (number % 7 + 1)}};
	struct tact_row row = {
		.size = sizeof(row), .code = code, .code_size = number % 3 ? 1 + number % 40 : 1};

	memset(code, number % 50 ? 0x90 : 0x06, sizeof(code)); /* 06: no code */
	row.has_cycles = true;
	row.cycles = 0.25 * (1 + number % 40) + 0.001 * (number % 13);
	row.weight = sources[0].weight + sources[1].weight;
	row.clean = row.init = -1;
	row.status = "ok";
	row.letters = row.arch = row.machine = row.origin = "";
	row.category = labels[number % 4];
	row.sources = sources;
	row.n_sources = number % 5 ? 2 : 0;
	row.weight = row.n_sources ? row.weight : 1;
	assert_int_equal(tact_evaluation_add_row(e, 0, &row, NULL), 1);
}

static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *data = malloc(1 << 22);

	assert_non_null(file);
	*size = fread(data, 1, 1 << 22, file);
	fclose(file);
	return data;
}

static void write_file(const char *path, const char *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	fclose(file);
}

static void finish(struct tact_evaluation *e, const char *path)
{
	assert_int_equal(tact_evaluation_run(e, NULL), 0);
	assert_int_equal(tact_evaluation_write_partial(e, path, NULL), 0);
	tact_evaluation_destroy(e);
}

static void assert_same_files(const char *a, const char *b)
{
	size_t n, m;
	char *x = read_file(a, &n), *y = read_file(b, &m);

	assert_int_equal(n, m);
	assert_memory_equal(x, y, n);
	free(x);
	free(y);
}

enum { ROWS = 3000, PARTS = 6 };

TEST(parts_add_up)
{
	char folder[] = "/tmp/tact-partial-XXXXXX", whole[64], part[PARTS][64], sum[64];
	struct tact_evaluation *e;
	struct rng rng = {9};
	uint8_t of[ROWS];

	assert_non_null(mkdtemp(folder));
	snprintf(whole, sizeof(whole), "%s/whole", folder);
	snprintf(sum, sizeof(sum), "%s/sum", folder);
	e = create();
	for (uint32_t i = 0; i < ROWS; i++) {
		add(e, i);
		of[i] = (uint8_t)rng_below(&rng, PARTS);
	}
	finish(e, whole);
	for (unsigned p = 0; p < PARTS; p++) {
		snprintf(part[p], sizeof(part[p]), "%s/%u", folder, p);
		e = create();
		for (uint32_t i = ROWS; i-- > 0;)
			if (of[i] == p)
				add(e, i);
		finish(e, part[p]);
	}
	for (unsigned round = 0; round < PARTS; round++) {
		struct tact_evaluation_options none = {.size = sizeof(none), .threads = 1};

		assert_int_equal(tact_evaluation_create(&e, &none), 0);
		for (unsigned p = 0; p < PARTS; p++)
			assert_int_equal(
				tact_evaluation_add_partial(e, part[(round + 5 * p) % PARTS], NULL),
				0);
		assert_int_equal(e->n, ROWS);
		assert_true(e->options->is_weighted);
		finish(e, sum);
		assert_same_files(whole, sum);
	}
	for (unsigned p = 0; p < PARTS; p++)
		unlink(part[p]);
	unlink(whole);
	unlink(sum);
	rmdir(folder);
}

static int add_file(const char *path, struct tact_diag *diag)
{
	struct tact_evaluation_options none = {.size = sizeof(none)};
	struct tact_evaluation *e;
	int status;

	assert_int_equal(tact_evaluation_create(&e, &none), 0);
	status = tact_evaluation_add_partial(e, path, diag);
	tact_evaluation_destroy(e);
	return status;
}

/* Every byte counts: a file that was cut or changed is not taken for another one. */
TEST(damaged_parts)
{
	char folder[] = "/tmp/tact-partial-XXXXXX", path[64], other[64];
	struct tact_evaluation *e = create();
	struct tact_diag diag = {0};
	size_t size, taken = 0;
	char *data;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a", folder);
	snprintf(other, sizeof(other), "%s/b", folder);
	for (uint32_t i = 0; i < 60; i++)
		add(e, i);
	finish(e, path);
	data = read_file(path, &size);
	for (size_t i = 0; i < size; i += 1 + size / 300) {
		const char before = data[i];

		write_file(other, data, i);
		assert_true(add_file(other, &diag) < 0 && diag.text[0]);
		data[i] = (char)(before ^ 0x15);
		write_file(other, data, size);
		taken += add_file(other, &diag) >= 0;
		data[i] = before;
	}
	assert_int_equal(taken, 0);
	memcpy(data, "tact-scores 2", 13);
	write_file(other, data, size);
	assert_int_equal(add_file(other, &diag), -TACT_E_VERSION);
	assert_int_equal(add_file("/nowhere/at/all", &diag), -TACT_E_IO);
	assert_int_equal(tact_evaluation_add_partial(NULL, path, NULL), -TACT_E_INVAL);
	e = create();
	assert_int_equal(tact_evaluation_add_partial(e, path, NULL), -TACT_E_INVAL);
	add(e, 1);
	assert_int_equal(tact_evaluation_write_partial(e, path, NULL), -TACT_E_INVAL); /* no run */
	tact_evaluation_destroy(e);
	free(data);
	unlink(path);
	unlink(other);
	rmdir(folder);
}

RUN_TESTS(NULL, NULL)

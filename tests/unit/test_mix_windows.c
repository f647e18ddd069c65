/* SPDX-License-Identifier: MIT
 *
 * Counts from windows of a program that runs natively: files of them, and the error that windows
 * show.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include "support.h"

#include "mix/mix.h"

#define HEAD "#tact.mix.counts/1\ncommand a program\n"

static int open_text(struct tact_mix **mix, const char *text, struct tact_diag *diag)
{
	char path[] = "/tmp/tact-windows-XXXXXX";
	int status;

	write_text(path, text);
	status = tact_mix_open(mix, path, NULL, diag);
	unlink(path);
	return status;
}

static struct tact_mix_row row_of(const struct tact_mix_pivot *pivot, const char *key)
{
	struct tact_mix_row row = TACT_MIX_ROW_INIT;

	for (size_t i = 0; !tact_mix_pivot_get_row(pivot, i, &row); i++)
		if (!strcmp(row.key[0], key))
			return row;
	fail_msg("no row %s", key);
	return row;
}

/* imul eax, edi; ret in the first two groups; add, ret in the other two, twice as often: each is in half
 * of the groups, but ret is everywhere, as often as the instructions of the group say.
 */
static const char counts[] = HEAD "windows 40\n"
				  "generated 1000 200 0fafc7c3 f\n"
				  "spread 0:100 1:100\n"
				  "generated 2000 400 01f8c3 g\n"
				  "spread 2:200 3:200\n"
				  "outside 0\n";

TEST(test_summary)
{
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;
	struct tact_mix_block b = TACT_MIX_BLOCK_INIT;
	struct tact_mix *mix;

	assert_int_equal(open_text(&mix, counts, NULL), 0);
	tact_mix_get_summary(mix, &s);
	assert_int_equal(s.rung, TACT_MIX_RUNG_WINDOWS);
	assert_int_equal(s.method, TACT_MIX_WINDOWS);
	assert_int_equal(s.windows, 40);
	assert_false(s.is_relative);
	assert_true(s.instructions == 1200);
	assert_string_equal(s.command, "a program");
	assert_string_equal(tact_mix_rung_name(s.rung), "windows");
	assert_string_equal(tact_mix_method_name(s.method), "windows");
	assert_int_equal(tact_mix_get_block(mix, 0, &b), 0);
	assert_true(b.executions == 200 && b.method == TACT_MIX_WINDOWS);
	/* Expected: 33.3, 33.3, 66.7, 66.7; found: 100, 100, 0, 0. */
	assert_true(fabs(b.error -
			 sqrt((2 * 66.667 * 66.667 + 2 * 66.667 * 66.667) * 4 / 3) / 200) < 1e-3);
	tact_mix_close(mix);
}

TEST(test_errors_of_rows)
{
	struct tact_mix_pivot *pivot;
	struct tact_mix *mix, *both[2];

	assert_int_equal(open_text(&mix, counts, NULL), 0);
	assert_int_equal(tact_mix_pivot_create(&pivot, mix, NULL, NULL), 0);
	assert_true(row_of(pivot, "imul").error > 0.5);
	/* Blocks that make up for each other: the sum is what counts. */
	assert_true(row_of(pivot, "ret").executions == 600);
	assert_true(fabs(row_of(pivot, "ret").error - 1.0 / 41) < 1e-9);
	tact_mix_pivot_destroy(pivot);
	/* Variances of two runs add up. */
	both[0] = both[1] = mix;
	assert_int_equal(tact_mix_pivot_create_all(&pivot, both, 2, NULL, NULL), 0);
	assert_true(row_of(pivot, "imul").executions == 400);
	assert_true(fabs(row_of(pivot, "imul").error - 0.7698 / sqrt(2)) < 1e-3);
	tact_mix_pivot_destroy(pivot);
	tact_mix_close(mix);
}

TEST(test_one_group)
{
	struct tact_mix_pivot *pivot;
	struct tact_mix *mix;

	assert_int_equal(open_text(&mix,
				   HEAD "windows 1\n"
					"generated 1000 200 0fafc7c3 f\nspread 0:200\n",
				   NULL),
			 0);
	assert_int_equal(tact_mix_pivot_create(&pivot, mix, NULL, NULL), 0);
	assert_true(row_of(pivot, "ret").error < 0); /* unknown, not zero */
	tact_mix_pivot_destroy(pivot);
	tact_mix_close(mix);
}

/* Entries that overlap are added up group by group. */
TEST(test_overlap)
{
	struct tact_mix_pivot *pivot;
	struct tact_mix *mix;

	assert_int_equal(open_text(&mix,
				   HEAD "windows 2\n"
					"generated 1000 100 0fafc701f8c3 f\nspread 0:100\n"
					"generated 1003 100 01f8c3 f\nspread 1:100\n",
				   NULL),
			 0);
	assert_int_equal(tact_mix_pivot_create(&pivot, mix, NULL, NULL), 0);
	/* Of 300 and 200 instructions. */
	assert_true(fabs(row_of(pivot, "imul").error - sqrt(0.64 + 1 / 9.)) < 1e-9);
	assert_true(row_of(pivot, "add").executions == 200);
	assert_true(fabs(row_of(pivot, "add").error - sqrt(0.04 + 1 / 9.)) < 1e-9);
	tact_mix_pivot_destroy(pivot);
	tact_mix_close(mix);
}

/* Windows rank between branch stacks and samples that skid; exact counts are better. */
TEST(test_worst_rung)
{
	struct tact_mix_summary s = TACT_MIX_SUMMARY_INIT;
	struct tact_mix *mixes[2];

	assert_int_equal(open_text(&mixes[0], counts, NULL), 0);
	assert_int_equal(open_text(&mixes[1], HEAD "generated 1000 200 0fafc7c3 f\n", NULL), 0);
	assert_int_equal(
		tact_mix_get_summary_all((const struct tact_mix *const *)mixes, 2, &s, NULL), 0);
	assert_int_equal(s.rung, TACT_MIX_RUNG_WINDOWS);
	assert_int_equal(s.windows, 40);
	tact_mix_close(mixes[0]);
	tact_mix_close(mixes[1]);
}

/* Estimates cannot teach a rule. */
TEST(test_not_exact)
{
	struct tact_mix_trainer *trainer;
	struct tact_mix *mix;

	assert_int_equal(open_text(&mix, counts, NULL), 0);
	assert_int_equal(tact_mix_trainer_create(&trainer, NULL), 0);
	mix->has_ebs = mix->has_lbr = true; /* as if it were a recording as well */
	assert_int_equal(tact_mix_trainer_add(trainer, mix, mix, NULL), -TACT_E_INVAL);
	tact_mix_trainer_destroy(trainer);
	tact_mix_close(mix);
}

TEST(test_bad_files)
{
	static const char *const bad[] = {
		"windows\n",
		"windows 0\n",
		"windows x\n",
		"windows 3\nspread 0:5\n",
		"windows 3\ngenerated 10 5 c3 f\nspread 16:5\n",
		"windows 3\ngenerated 10 5 c3 f\nspread 0:-1\n",
		"windows 3\ngenerated 10 5 c3 f\nspread 0:5\nspread 0:5\n",
	};
	struct tact_mix *mix;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct tact_diag diag = {0};
		char text[200];

		snprintf(text, sizeof(text), "#tact.mix.counts/1\n%s", bad[i]);
		assert_int_equal(open_text(&mix, text, &diag), -TACT_E_FORMAT);
		assert_null(mix);
		assert_true(diag.line > 0);
	}
}

TEST(test_without_arguments)
{
	const struct tact_mix_windows_options opt = {.size = sizeof(opt), .output = "/dev/null"};
	struct tact_mix_windowed out = TACT_MIX_WINDOWED_INIT;

	assert_int_equal(tact_mix_count_windows(NULL, &opt, &out, NULL), -TACT_E_INVAL);
}

RUN_TESTS(NULL, NULL)

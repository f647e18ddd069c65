/* SPDX-License-Identifier: MIT
 *
 * Which parts of a program are skimmed, and what these are said to cost.
 */
#include "testing.h"

#include <math.h>
#include <string.h>

#include "support.h"

#include "trace/skim.h"
#include "trace/strata.h"

enum { BLOCK = 5 /* instructions */ };

struct course {
	uint64_t parts[3]; /* instructions of each */
	uint64_t longest_pass;
	unsigned passes;
};

/* Runs so many instructions; one block in `new_each` is new, one in `missed_each` is decoded; 0: none. */
static void run(struct skim *s, uint64_t instructions, unsigned new_each, unsigned missed_each,
		struct course *c)
{
	enum skim_part before = s->part;
	uint64_t pass = 0;

	for (uint64_t i = 0; i * BLOCK < instructions; i++) {
		const enum skim_part part = skim_execute(s, BLOCK, new_each && i % new_each == 0);

		c->parts[part] += BLOCK;
		if (missed_each && i % missed_each == 0 && part != SKIM_PASS)
			skim_miss(s);
		pass = part == SKIM_PASS ? pass + BLOCK : 0;
		c->longest_pass = pass > c->longest_pass ? pass : c->longest_pass;
		c->passes += part == SKIM_PASS && before != SKIM_PASS;
		before = part;
	}
}

TEST(settled_code_is_passed)
{
	struct course c = {{0}, 0, 0};
	struct skim s;

	skim_init(&s, true);
	run(&s, 20000000, 0, 0, &c);
	assert_int_equal(c.parts[SKIM_PASS] + c.parts[SKIM_WARM], 0); /* the beginning */
	run(&s, 180000000, 0, 0, &c);
	assert_true(c.parts[SKIM_PASS] > 100000000);
	assert_true(c.parts[SKIM_LOOK] > 25000000);
	assert_true(c.parts[SKIM_WARM] > c.passes * 70000u); /* each pass is followed by it */
	assert_true(c.longest_pass < 5100000 && c.passes > 40);
}

TEST(other_code_is_looked_at)
{
	struct course c = {{0}, 0, 0};
	struct skim s;

	skim_init(&s, true);
	run(&s, 60000000, 20, 0, &c); /* one block in 20 is new */
	assert_int_equal(c.parts[SKIM_PASS], 0);
	skim_init(&s, true);
	run(&s, 60000000, 0, 8, &c); /* one in 8 does not come from the DSB */
	assert_int_equal(c.parts[SKIM_PASS], 0);
	skim_init(&s, false);
	run(&s, 60000000, 0, 0, &c);
	assert_int_equal(c.parts[SKIM_PASS] + c.parts[SKIM_WARM], 0);
}

/* Looks that do not cost what is usual for their blocks say little about what is between them. */
TEST(looks_that_differ_stand_for_nothing)
{
	uint64_t passed = 0;
	struct skim s;

	skim_init(&s, true);
	for (uint64_t i = 0; i < 60000000 / BLOCK; i++) {
		passed += skim_execute(&s, BLOCK, false) == SKIM_PASS;
		skim_cost(&s, i / 100000 % 2 ? 1.1 : 0.9, 1);
	}
	assert_int_equal(passed, 0);
	skim_init(&s, true);
	for (uint64_t i = 0; i < 60000000 / BLOCK; i++) {
		passed += skim_execute(&s, BLOCK, false) == SKIM_PASS;
		skim_cost(&s, i % 2 ? 1.1 : 0.9, 1); /* the same in each look */
	}
	assert_true(passed > 1000000);
}

/* New code ends a pass at once, and a look begins. */
TEST(new_code_ends_a_pass)
{
	struct course c = {{0}, 0, 0};
	struct skim s;

	skim_init(&s, true);
	while (!skim_passes(&s))
		skim_execute(&s, BLOCK, false);
	run(&s, 5000, 1, 0, &c);
	assert_int_equal(s.part, SKIM_LOOK);
	assert_true(c.parts[SKIM_PASS] < 5000);
}

TEST(looks_end_soon)
{
	struct skim s;

	skim_init(&s, true);
	assert_false(skim_is_ending(&s));
	s.now = s.until - 1000;
	assert_true(skim_is_ending(&s));
	s.now = s.until + 3;
	assert_true(skim_is_ending(&s));
}

/* ---- costs ---- */

TEST(strata_are_means)
{
	struct strata_judge j = {0};
	struct strata s = {{{0, 0}}};

	assert_true(fabs(strata_cost(&s, &j, 0, 0, 2.5) - 2.5) < 1e-6); /* never looked at */
	for (unsigned i = 0; i < 100; i++)
		strata_add(&s, &j, true, 0, 0, i % 2 ? 4 : 2);
	assert_true(fabs(strata_cost(&s, &j, 0, 0, 9) - 3) < 0.05);
	/* A level that it has not had: nothing is known, so the load is waited for. */
	assert_true(fabs(strata_cost(&s, &j, 3, 100, 9) - 103) < 0.1);
	/* Elsewhere half of the latency was hidden. */
	strata_add(&(struct strata){{{1, 1}}}, &j, true, 3, 200, 101);
	assert_true(fabs(strata_cost(&s, &j, 3, 100, 9) - 53) < 0.1);
	strata_add(&s, &j, true, 3, 100, 80);
	assert_true(fabs(strata_cost(&s, &j, 3, 100, 9) - 80) < 0.1);
}

/* Means follow the program. */
TEST(old_ones_fade)
{
	struct strata_judge j = {0};
	struct strata s = {{{0, 0}}};

	for (unsigned i = 0; i < 10000; i++)
		strata_add(&s, &j, true, 0, 0, 1);
	for (unsigned i = 0; i < 10000; i++)
		strata_add(&s, &j, true, 0, 0, 5);
	assert_true(strata_cost(&s, &j, 0, 0, 0) > 4.9);
}

/* What a program takes that comes to new code is not what it takes where it is skimmed. */
TEST(samples_count)
{
	struct strata_judge j = {0};
	struct strata s = {{{0, 0}}};

	for (unsigned i = 0; i < 1000; i++)
		strata_add(&s, &j, false, 0, 0, 50);
	assert_true(fabs(strata_cost(&s, &j, 0, 0, 0) - 50) < 0.1);
	for (unsigned i = 0; i < 200; i++)
		strata_add(&s, &j, true, 0, 0, 2);
	assert_true(strata_cost(&s, &j, 0, 0, 0) < 4);
	for (unsigned i = 0; i < 1000; i++)
		strata_add(&s, &j, false, 0, 0, 50);
	assert_true(strata_cost(&s, &j, 0, 0, 0) < 4);
}

TEST(windows_correct)
{
	struct strata_judge j = {0};

	assert_true(strata_factor(&j) == 1 && strata_error(&j, 1e6) == 0); /* nothing is known */
	strata_judge_window(&j, 120, 100);
	assert_true(fabs(strata_factor(&j) - 1.2) < 1e-9);
	assert_true(strata_error(&j, 1e6) == 0); /* of one window */
	for (unsigned i = 0; i < 100; i++)
		strata_judge_window(&j, i % 2 ? 110 : 90, 100);
	assert_true(fabs(strata_factor(&j) - 1) < 0.02);
	/* 100 windows, each off by 10%. */
	assert_true(strata_error(&j, 1e6) > 0.9e4 && strata_error(&j, 1e6) < 1.2e4);
}

RUN_TESTS(NULL, NULL)

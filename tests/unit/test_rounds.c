/* SPDX-License-Identifier: MIT
 *
 * Several measurements of one block into one: which number is confirmed, and by what.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact/measure.h>

#include "base/random.h"
#include "support.h"

enum { MAX_ROUNDS = 16 };

static struct tact_measurement number(double cycles)
{
	return (struct tact_measurement){
		.size = sizeof(struct tact_measurement),
		.cycles_per_iteration = cycles,
		.spread = 0.001,
		.kept = 30,
		.dropped = 2,
		.rung = TACT_RUNG_TSC,
		.mode = TACT_MODE_UNROLL,
		.low = 100,
		.high = 1100,
		.rounds = 1,
		.agree = 1,
	};
}

static struct tact_measurement failure(enum tact_measure_status status)
{
	struct tact_measurement m = number(0);

	m.status = status;
	m.agree = 0;
	m.disturbed = status == TACT_MEASURE_DISTURBED;
	snprintf(m.reason, sizeof(m.reason), "%s", tact_measure_status_name(status));
	return m;
}

static struct tact_measurement conclude(const struct tact_measurement *m, size_t n,
					bool *is_confirmed)
{
	struct tact_measurement out = TACT_MEASUREMENT_INIT;
	struct tact_rounds *rounds;

	assert_int_equal(tact_rounds_create(&rounds), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(tact_rounds_add(rounds, &m[i]), 0);
	assert_int_equal(tact_rounds_result(rounds, &out), 0);
	*is_confirmed = tact_rounds_is_confirmed(rounds);
	tact_rounds_destroy(rounds);
	return out;
}

/* Numbers up to the first 0. */
static struct tact_measurement conclude_numbers(const double *cycles, bool *is_confirmed)
{
	struct tact_measurement m[MAX_ROUNDS];
	size_t n = 0;

	for (; cycles[n] > 0; n++)
		m[n] = number(cycles[n]);
	return conclude(m, n, is_confirmed);
}

#define NUMBERS(...) ((const double[]){__VA_ARGS__, 0})

/* ---- numbers ---- */

TEST(one_round_is_reported_as_it_is)
{
	bool is_confirmed;
	struct tact_measurement m = conclude_numbers(NUMBERS(1.5), &is_confirmed);

	assert_false(is_confirmed);
	assert_int_equal(m.status, TACT_MEASURE_OK);
	assert_float_equal(m.cycles_per_iteration, 1.5, 1e-12);
	assert_float_equal(m.spread, 0.001, 1e-12);
	assert_int_equal(m.rounds, 1);
	assert_int_equal(m.agree, 1);
	assert_int_equal(m.kept, 30);
	assert_int_equal(m.cpu, 0);
}

TEST(two_that_agree_confirm)
{
	bool is_confirmed;
	struct tact_measurement m = conclude_numbers(NUMBERS(2.01, 2.00), &is_confirmed);

	assert_true(is_confirmed);
	assert_int_equal(m.status, TACT_MEASURE_OK);
	assert_float_equal(m.cycles_per_iteration, 2.005, 1e-9);
	assert_int_equal(m.rounds, 2);
	assert_int_equal(m.agree, 2);
	assert_int_equal(m.kept, 60);
	assert_int_equal(m.dropped, 4);
	/* within 0.1%, and 0.25% between them */
	assert_float_equal(m.spread, sqrt(0.001 * 0.001 + 0.005 * 0.005 / 2.005 / 2.005), 1e-6);
}

TEST(the_lowest_wins)
{
	bool is_confirmed;
	struct tact_measurement m =
		conclude_numbers(NUMBERS(3.0, 3.0, 3.01, 2.0, 2.001, 2.6), &is_confirmed);

	assert_true(is_confirmed);
	assert_float_equal(m.cycles_per_iteration, 2.0005, 1e-9);
	assert_int_equal(m.agree, 2);
	assert_int_equal(m.rounds, 6);
}

TEST(the_median_counts)
{
	bool is_confirmed;
	struct tact_measurement m =
		conclude_numbers(NUMBERS(1.000, 1.001, 1.009, 1.3), &is_confirmed);

	assert_true(is_confirmed);
	assert_float_equal(m.cycles_per_iteration, 1.001, 1e-9);
	assert_int_equal(m.agree, 3);
}

/* A lower round is evidence that the others had a neighbour; many that agree outvote it. */
TEST(a_lone_lower_round_is_a_doubt)
{
	bool is_confirmed;
	struct tact_measurement m = conclude_numbers(NUMBERS(1.5, 1.5, 1.0), &is_confirmed);

	assert_false(is_confirmed);
	assert_int_equal(m.status, TACT_MEASURE_UNCONFIRMED);
	assert_int_equal(m.agree, 0);
	assert_true(m.cycles_per_iteration <= 0);
	assert_string_equal(m.reason, "one of 3 rounds saw 1.00 cycles, the next lowest 1.50");
	m = conclude_numbers(NUMBERS(1.5, 1.5, 1.5, 1.5, 1.0), &is_confirmed);
	assert_false(is_confirmed);
	m = conclude_numbers(NUMBERS(1.5, 1.5, 1.5, 1.5, 1.5, 1.0), &is_confirmed);
	assert_true(is_confirmed);
	assert_float_equal(m.cycles_per_iteration, 1.5, 1e-9);
	assert_int_equal(m.agree, 5);
	assert_int_equal(m.rounds, 6);
	m = conclude_numbers(NUMBERS(1.5, 1.5, 1.5, 1.5, 1.5, 1.0, 1.2), &is_confirmed);
	assert_false(is_confirmed);
}

/* 1% of 0.25 cycles is less than what 16 iterations of a counter with steps can tell. */
TEST(steps_of_the_counter)
{
	struct tact_measurement m[2] = {number(0.2500), number(0.2529)};
	bool is_confirmed;

	m[0].high = m[1].high = 23000;
	conclude(m, 2, &is_confirmed);
	assert_false(is_confirmed);
	for (size_t i = 0; i < 2; i++) {
		m[i].low = 4;
		m[i].high = 20;
	}
	conclude(m, 2, &is_confirmed);
	assert_true(is_confirmed);
	m[1].cycles_per_iteration = 0.2551; /* never more than 2% */
	conclude(m, 2, &is_confirmed);
	assert_false(is_confirmed);
}

TEST(busy_cores_need_a_third)
{
	struct tact_measurement m[3] = {number(1.5), number(1.5), number(1.5)}, out;
	bool is_confirmed;

	for (size_t i = 0; i < 3; i++)
		m[i].disturbance = 0.3;
	out = conclude(m, 2, &is_confirmed);
	assert_false(is_confirmed);
	assert_int_equal(out.status, TACT_MEASURE_UNCONFIRMED);
	assert_string_equal(out.reason, "2 of 2 rounds saw 1.50 cycles, but never on a quiet core");
	conclude(m, 3, &is_confirmed);
	assert_true(is_confirmed);
	m[1].disturbance = 0;
	out = conclude(m, 2, &is_confirmed);
	assert_true(is_confirmed);
	assert_float_equal(out.disturbance, 0, 1e-12);
}

TEST(more_may_be_asked_for)
{
	struct tact_measurement m = number(1), out = TACT_MEASUREMENT_INIT;
	struct tact_rounds *rounds;

	assert_int_equal(tact_rounds_set_least(NULL, 3), -TACT_E_INVAL);
	assert_int_equal(tact_rounds_create(&rounds), 0);
	assert_int_equal(tact_rounds_set_least(rounds, 3), 0);
	assert_int_equal(tact_rounds_add(rounds, &m), 0);
	assert_int_equal(tact_rounds_add(rounds, &m), 0);
	assert_false(tact_rounds_is_confirmed(rounds));
	assert_int_equal(tact_rounds_result(rounds, &out), 0);
	assert_int_equal(out.status, TACT_MEASURE_UNCONFIRMED);
	assert_string_equal(out.reason, "2 of 2 rounds saw 1.00 cycles, too few while neighbours "
					"come this often");
	assert_int_equal(tact_rounds_add(rounds, &m), 0);
	assert_true(tact_rounds_is_confirmed(rounds));
	assert_int_equal(tact_rounds_set_least(rounds, 1), 0); /* never less than two */
	assert_true(tact_rounds_is_confirmed(rounds));
	tact_rounds_destroy(rounds);
}

TEST(flags_are_united)
{
	struct tact_measurement m[3] = {number(1.0), number(1.0), number(1.5)}, out;
	bool is_confirmed;

	m[0].flags = TACT_MFLAG_CROSSES_LINE;
	m[1].flags = TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_FORWARDS;
	m[2].flags = TACT_MFLAG_MODES | TACT_MFLAG_SHORT;
	out = conclude(m, 3, &is_confirmed);
	assert_true(is_confirmed);
	assert_int_equal(out.flags,
			 TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_FORWARDS | TACT_MFLAG_MODES);
}

/* ---- failures ---- */

TEST(what_the_block_does_is_final)
{
	static const enum tact_measure_status final[] = {
		TACT_MEASURE_DECODE,	 TACT_MEASURE_TOO_LONG,	  TACT_MEASURE_REFUSED,
		TACT_MEASURE_UNMAPPABLE, TACT_MEASURE_PAGES,	  TACT_MEASURE_PROTECTION,
		TACT_MEASURE_ILLEGAL,	 TACT_MEASURE_ARITHMETIC, TACT_MEASURE_TRAP,
		TACT_MEASURE_OWN_CODE,	 TACT_MEASURE_NO_COUNTER};
	bool is_confirmed;

	for (size_t i = 0; i < ARRAY_SIZE(final); i++) {
		const struct tact_measurement m[] = {number(1), number(1), failure(final[i])};
		struct tact_measurement out = conclude(m + 2, 1, &is_confirmed);

		assert_true(is_confirmed);
		assert_int_equal(out.status, final[i]);
		assert_string_equal(out.reason, tact_measure_status_name(final[i]));
		/* A block that sometimes faults has no number that can be trusted. */
		out = conclude(m, 3, &is_confirmed);
		assert_true(is_confirmed);
		assert_int_equal(out.status, final[i]);
		assert_int_equal(out.agree, 0);
	}
}

TEST(other_failures_may_pass)
{
	static const struct {
		enum tact_measure_status status;
		size_t enough; /* 0: never */
	} passing[] = {{TACT_MEASURE_TIMEOUT, 2},
		       {TACT_MEASURE_CRASHED, 2},
		       {TACT_MEASURE_UNSTABLE, 4},
		       {TACT_MEASURE_DISTURBED, 0}};
	struct tact_measurement m[9], out;
	bool is_confirmed;

	for (size_t i = 0; i < ARRAY_SIZE(passing); i++) {
		for (size_t n = 1; n <= 6; n++) {
			m[n - 1] = failure(passing[i].status);
			out = conclude(m, n, &is_confirmed);
			assert_int_equal(is_confirmed, passing[i].enough && n >= passing[i].enough);
			assert_int_equal(out.status, passing[i].status);
			assert_int_equal(out.rounds, n);
		}
		m[6] = number(2);
		out = conclude(m, 7, &is_confirmed);
		assert_false(is_confirmed);
		assert_int_equal(out.status, TACT_MEASURE_UNCONFIRMED);
		m[7] = number(2);
		out = conclude(m, 8, &is_confirmed);
		assert_true(is_confirmed);
		assert_int_equal(out.status, TACT_MEASURE_OK);
		assert_string_equal(out.reason, "");
		assert_int_equal(out.rounds, 8);
		assert_int_equal(out.agree, 2);
		assert_int_equal(out.disturbed,
				 passing[i].status == TACT_MEASURE_DISTURBED ? 6 : 0);
	}
}

/* ---- what a store has ---- */

TEST(goes_on_from_earlier_rounds)
{
	struct tact_measurement m[3] = {number(1.5), number(1.0), number(1.0)}, out;
	bool is_confirmed;

	m[0].rounds = 6;
	m[0].agree = 5;
	m[0].disturbed = 1;
	out = conclude(m, 1, &is_confirmed);
	assert_true(is_confirmed);
	assert_int_equal(out.rounds, 6);
	assert_int_equal(out.agree, 5);
	assert_int_equal(out.disturbed, 1);
	out = conclude(m, 3, &is_confirmed);
	assert_float_equal(out.cycles_per_iteration, 1.0, 1e-9);
	assert_int_equal(out.rounds, 8);
	assert_int_equal(out.agree, 2);
	m[0] = failure(TACT_MEASURE_UNCONFIRMED);
	m[0].rounds = 4;
	out = conclude(m, 2, &is_confirmed);
	assert_false(is_confirmed);
	out = conclude(m, 3, &is_confirmed);
	assert_true(is_confirmed);
	assert_int_equal(out.rounds, 6);
	assert_int_equal(out.agree, 2);
}

TEST(misuse)
{
	struct tact_measurement m = number(1), other = number(1), small = {.size = 0};
	struct tact_rounds *rounds;

	assert_int_equal(tact_rounds_create(NULL), -TACT_E_INVAL);
	assert_int_equal(tact_rounds_create(&rounds), 0);
	assert_false(tact_rounds_is_confirmed(NULL));
	assert_false(tact_rounds_is_confirmed(rounds));
	assert_int_equal(tact_rounds_result(rounds, &other), -TACT_E_INVAL);
	assert_int_equal(tact_rounds_add(rounds, &small), -TACT_E_INVAL);
	assert_int_equal(tact_rounds_add(rounds, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_rounds_add(NULL, &m), -TACT_E_INVAL);
	assert_int_equal(tact_rounds_add(rounds, &m), 0);
	assert_int_equal(tact_rounds_result(rounds, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_rounds_result(rounds, &small), -TACT_E_INVAL);
	other = number(1);
	other.mode = TACT_MODE_LOOP;
	assert_int_equal(tact_rounds_add(rounds, &other), -TACT_E_INVAL);
	other = number(1);
	other.alignment = 16;
	assert_int_equal(tact_rounds_add(rounds, &other), -TACT_E_INVAL);
	other = number(1);
	other.vectors = TACT_VECTORS_ZERO;
	assert_int_equal(tact_rounds_add(rounds, &other), -TACT_E_INVAL);
	other = number((double)NAN);
	assert_int_equal(tact_rounds_add(rounds, &other), -TACT_E_INVAL);
	other = number(-1);
	assert_int_equal(tact_rounds_add(rounds, &other), -TACT_E_INVAL);
	other.status = TACT_N_MEASURE_STATUS;
	assert_int_equal(tact_rounds_add(rounds, &other), -TACT_E_INVAL);
	tact_rounds_destroy(rounds);
	tact_rounds_destroy(NULL);
}

/* ---- properties ---- */

static struct tact_measurement random_round(uint64_t *state)
{
	static const enum tact_measure_status failures[] = {
		TACT_MEASURE_DISTURBED, TACT_MEASURE_UNSTABLE, TACT_MEASURE_TIMEOUT,
		TACT_MEASURE_CRASHED};
	struct tact_measurement m;

	if (!random_below(state, 5)) {
		m = failure(failures[random_below(state, ARRAY_SIZE(failures))]);
		snprintf(m.reason, sizeof(m.reason), "%u", (unsigned)random_below(state, 3));
	} else {
		m = number(1 + 0.004 * (double)random_below(state, 12));
		m.disturbance = 0.04 * (double)random_below(state, 3);
	}
	m.cpu = (int)random_below(state, 4);
	m.flags = (uint32_t)random_below(state, 1 << 10);
	m.n_pages = (unsigned)random_below(state, 3);
	return m;
}

static unsigned near(const struct tact_measurement *m, size_t n, double cycles)
{
	unsigned count = 0;

	for (size_t i = 0; i < n; i++)
		count += m[i].status == TACT_MEASURE_OK &&
			 fabs(m[i].cycles_per_iteration / cycles - 1) < 0.015;
	return count;
}

static void shuffle(struct tact_measurement *m, size_t n, uint64_t *state)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = random_below(state, i);
		struct tact_measurement swap = m[k];

		m[k] = m[i - 1];
		m[i - 1] = swap;
	}
}

TEST(the_order_does_not_matter)
{
	uint64_t random = 1;

	for (int i = 0; i < 3000; i++) {
		struct tact_measurement m[MAX_ROUNDS], a, b;
		size_t n = 1 + random_below(&random, MAX_ROUNDS);
		bool is_confirmed, is_again;

		for (size_t k = 0; k < n; k++)
			m[k] = random_round(&random);
		a = conclude(m, n, &is_confirmed);
		shuffle(m, n, &random);
		b = conclude(m, n, &is_again);
		assert_int_equal(is_confirmed, is_again);
		assert_memory_equal(&a, &b, offsetof(struct tact_measurement, reason));
		assert_string_equal(a.reason, b.reason);
		assert_int_equal(a.cpu, b.cpu);
		assert_int_equal(a.agree, b.agree);
		assert_int_equal(a.rounds, n);
		assert_int_equal(a.disturbed, b.disturbed);
	}
}

TEST(what_is_confirmed_was_seen_twice)
{
	uint64_t random = 2;

	for (int i = 0; i < 3000; i++) {
		struct tact_measurement m[MAX_ROUNDS], out;
		size_t n = 2 + random_below(&random, MAX_ROUNDS - 2);
		bool is_confirmed;

		for (size_t k = 0; k < n; k++)
			m[k] = random_round(&random);
		out = conclude(m, n, &is_confirmed);
		if (out.status == TACT_MEASURE_OK) {
			assert_true(is_confirmed);
			assert_true(out.agree >= 2);
			assert_true(near(m, n, out.cycles_per_iteration) >= 2);
			/* a round that agrees, or one that is slower, changes nothing of that */
			m[n] = number(out.cycles_per_iteration * (i % 2 ? 1 : 2));
			conclude(m, n + 1, &is_confirmed);
			assert_true(is_confirmed);
		} else {
			assert_int_equal(out.agree, 0);
			assert_true(strlen(out.reason) > 0);
		}
	}
}

/* A neighbour on the sibling thread for a share of the time.  What it does to a block is now any
 * slowdown, now the same one every time.  Blocks are visited until they are confirmed, eight times
 * at most; a result is wrong if it is off by more than 2%.
 */
static double share_of_wrong(double busy, double same, uint64_t seed, double *confirmed)
{
	enum { BLOCKS = 100000 };
	uint64_t state = seed;
	size_t wrong = 0, sure = 0;

	for (int i = 0; i < BLOCKS; i++) {
		const double level = 1.02 + random_unit(&state);
		struct tact_measurement out = TACT_MEASUREMENT_INIT;
		struct tact_rounds *rounds;

		assert_int_equal(tact_rounds_create(&rounds), 0);
		for (int r = 0; r < 8 && !tact_rounds_is_confirmed(rounds); r++) {
			double slow = 1 + 0.003 * (random_unit(&state) - 0.5);
			struct tact_measurement m;

			if (random_unit(&state) < busy)
				slow *= random_unit(&state) < same ? level
								   : 1.02 + random_unit(&state);
			m = number(3 * slow);
			assert_int_equal(tact_rounds_add(rounds, &m), 0);
		}
		sure += tact_rounds_is_confirmed(rounds);
		assert_int_equal(tact_rounds_result(rounds, &out), 0);
		wrong += out.status == TACT_MEASURE_OK && out.cycles_per_iteration > 3 * 1.02;
		tact_rounds_destroy(rounds);
	}
	*confirmed = (double)sure / BLOCKS;
	return (double)wrong / BLOCKS;
}

TEST(neighbours_confirm_next_to_nothing_that_is_wrong)
{
	/* busy: the share of rounds that a neighbour slows down although their canaries are clean */
	static const struct {
		double busy, same;
	} neighbours[] = {{0.05, 0}, {0.15, 0}, {0.05, 0.3}, {0.02, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(neighbours); i++) {
		double confirmed, wrong = share_of_wrong(neighbours[i].busy, neighbours[i].same,
							 i + 1, &confirmed);

		if (getenv("TACT_TEST_VERBOSE"))
			fprintf(stderr, "busy %.2f same %.2f: wrong %.5f confirmed %.5f\n",
				neighbours[i].busy, neighbours[i].same, wrong, confirmed);
		assert_true(wrong < 0.001);
		assert_true(confirmed > 0.999);
	}
}

RUN_TESTS(NULL, NULL)

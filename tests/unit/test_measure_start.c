/* SPDX-License-Identifier: MIT
 *
 * Numbers that do not explain what the runs took.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/measure_job.h"
#include "support.h"

enum { N = 16, LOW = 100, HIGH = 500, ENTRY = 150, QUANTUM = 2 };

/* Runs whose iterations take `iteration` ticks, and whose starts take these. */
static bool is_plausible(double iteration, double low_start, double high_start)
{
	struct measure_sample samples[N];
	double slope, start;

	for (unsigned i = 0; i < N; i++)
		samples[i] = (struct measure_sample){
			.low = (uint64_t)(low_start + iteration * LOW) + i % 3,
			.high = (uint64_t)(high_start + iteration * HIGH) + i % 2,
			.disturbed = i % 5 == 4};
	samples[4].low = samples[9].high = 1; /* disturbed: does not count */
	start = measure_start_ticks(samples, N, LOW, HIGH, &slope);
	return measure_is_start_plausible(start, slope, HIGH, ENTRY, QUANTUM);
}

static void honest_runs(void **state)
{
	(void)state;
	for (double iteration = 1; iteration < 300; iteration *= 1.7) {
		assert_true(is_plausible(iteration, ENTRY, ENTRY));
		assert_true(is_plausible(iteration, ENTRY + 40, ENTRY + 40));
		assert_true(is_plausible(iteration, ENTRY - 60, ENTRY - 60));
	}
}

/* 24 ticks an iteration; time is wasted in one of the runs. */
static void wasted_time(void **state)
{
	(void)state;
	assert_false(is_plausible(24, ENTRY + 8000, ENTRY));
	assert_false(is_plausible(24, ENTRY + 2000, ENTRY));
	assert_false(is_plausible(24, ENTRY, ENTRY + 8000));
	assert_false(is_plausible(24, ENTRY + 5000, ENTRY + 5000));
}

static void no_samples(void **state)
{
	struct measure_sample none = {.disturbed = 1};
	double slope;

	(void)state;
	assert_true(measure_start_ticks(&none, 1, LOW, HIGH, &slope) == 0 && slope == 0);
	assert_true(measure_start_ticks(&none, 0, LOW, HIGH, &slope) == 0 && slope == 0);
	assert_true(measure_start_ticks(&none, 1, HIGH, HIGH, &slope) == 0 && slope == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_runs),
		cmocka_unit_test(wasted_time),
		cmocka_unit_test(no_samples),
	};

	return cmocka_run_group_tests_name("measure_start", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * Random numbers that are the same everywhere.
 */
#include <stddef.h>
#include <stdint.h>

#include "testing.h"

#include "base/random.h"

/* The first numbers of the authors' own program for seed 0. */
TEST(the_sequence_is_splitmix64)
{
	uint64_t rng = 0;

	assert_true(random_next(&rng) == 0xe220a8397b1dcdafu);
	assert_true(random_next(&rng) == 0x6e789e6aa1b965f4u);
	assert_true(random_next(&rng) == 0x06c45d188009454fu);
}

TEST(numbers_stay_in_their_range)
{
	unsigned seen[5] = {0};
	uint64_t rng = 1;

	for (unsigned i = 0; i < 1000; i++) {
		int value = random_in(&rng, -2, 2);
		double unit = random_unit(&rng);

		assert_in_range(value + 2, 0, 4);
		seen[value + 2]++;
		assert_true(unit >= 0 && unit < 1);
		assert_int_equal(random_below(&rng, 1), 0);
		assert_true(random_below(&rng, UINT32_MAX) < UINT32_MAX);
	}
	for (unsigned i = 0; i < 5; i++)
		assert_in_range(seen[i], 100, 300);
}

RUN_TESTS(NULL, NULL)

/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/similar.h"
#include "testing.h"

TEST(test_distance)
{
	assert_int_equal(similar_distance("", "", 3), 0);
	assert_int_equal(similar_distance("predict", "predict", 3), 0);
	assert_int_equal(similar_distance("PREDICT", "predict", 3), 0);
	assert_int_equal(similar_distance("predct", "predict", 3), 1);
	assert_int_equal(similar_distance("pedrict", "predict", 3), 2);
	assert_int_equal(similar_distance("prdeict", "predict", 3), 1);
	assert_int_equal(similar_distance("kitten", "sitting", 3), 3);
	assert_int_equal(similar_distance("kitten", "sitting", 2), 3);
	assert_int_equal(similar_distance("a", "abcdef", 2), 3);
	assert_int_equal(similar_distance("ab", "", 2), 2);
}

TEST(test_long_names_are_not_compared)
{
	char name[SIMILAR_LONGEST + 2];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(similar_distance(name, name, 3), 4);
	assert_int_equal(similar_distance(name + 1, name + 1, 3), 0);
}

TEST(test_offers)
{
	struct similar s = similar_to("saxyp");

	similar_offer(&s, "main");
	assert_null(s.closest);
	similar_offer(&s, "daxpy");
	assert_null(s.closest); /* two are wrong, of five */
	similar_offer(&s, "saxpy");
	assert_string_equal(s.closest, "saxpy");
	s = similar_to("x");
	similar_offer(&s, "long");
	assert_null(s.closest);
}

RUN_TESTS(NULL, NULL)

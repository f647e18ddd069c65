/* SPDX-License-Identifier: MIT
 *
 * The name of a unit test states what holds, and a file runs all its tests:
 *
 *	TEST(nothing_gives_the_empty_string)
 *	{
 *		...
 *	}
 *
 *	RUN_TESTS(NULL, NULL)
 *
 * The two arguments are set-up and tear-down of the whole file.  Includes what cmocka.h needs.
 */
#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after those above */
#include <cmocka.h>

static struct CMUnitTest all_tests[200];
static size_t n_all_tests;

/* Tests come in the order of the file.  TEST_WITH: with a set-up and a tear-down of its own. */
#define TEST(name) TEST_WITH(name, NULL, NULL)

#define TEST_WITH(name, set_up, tear_down)                                                         \
	static void name(void **state);                                                            \
	__attribute__((constructor)) static void add_##name(void)                                  \
	{                                                                                          \
		if (n_all_tests < sizeof(all_tests) / sizeof(all_tests[0]))                        \
			all_tests[n_all_tests++] =                                                 \
				(struct CMUnitTest)cmocka_unit_test_setup_teardown(name, set_up,   \
										   tear_down);     \
	}                                                                                          \
	static void name(void **state __attribute__((unused)))

#define RUN_TESTS(set_up, tear_down)                                                               \
	int main(void)                                                                             \
	{                                                                                          \
		return _cmocka_run_group_tests(__FILE__, all_tests, n_all_tests, set_up,           \
					       tear_down);                                         \
	}

#endif /* TESTS_TESTING_H */

/* SPDX-License-Identifier: MIT
 *
 * Where the plugin is looked for.  tests/embed has the places of an installed library.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tact/trace.h>

#include "testing.h"

/* The plugin as a link next to this program. */
static void place_beside(char *link, size_t size)
{
	const char *build = getenv("TACT_BUILD");
	char target[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", link, size - 32);

	assert_true(n > 0);
	link[n] = '\0';
	slash = strrchr(link, '/');
	snprintf(slash, 32, "/tact_trace.so");
	snprintf(target, sizeof(target), "%s/tact_trace.so", build ? build : "build");
	unlink(link);
	assert_int_equal(symlink(target, link), 0);
}

TEST(is_found_beside_the_program)
{
	char link[PATH_MAX], path[PATH_MAX] = "?";

	place_beside(link, sizeof(link));
	assert_int_equal(tact_trace_plugin(path, sizeof(path)), 0);
	assert_string_equal(path, link);
	assert_int_equal(tact_trace_plugin(path, strlen(link) + 1), 0);
	assert_string_equal(path, link);
	assert_int_equal(tact_trace_plugin(path, strlen(link)), -TACT_E_LIMIT);
	assert_string_equal(path, "");
	unlink(link);
}

TEST(arguments_are_checked)
{
	char path[8] = "?";

	assert_int_equal(tact_trace_plugin(NULL, 8), -TACT_E_INVAL);
	assert_int_equal(tact_trace_plugin(path, 0), -TACT_E_INVAL);
	assert_string_equal(path, "?");
	assert_true(tact_trace_plugin(path, 1) < 0); /* no such file, or no room */
	assert_string_equal(path, "");
}

RUN_TESTS(NULL, NULL)

/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "input/archive.h"

/* A member: its header and its bytes. */
static size_t put(char *to, const char *name, const char *size, const char *bytes)
{
	return (size_t)sprintf(to, "%-16s%-12s%-6s%-6s%-8s%-10s`\n%s", name, "0", "0", "0", "644",
			       size, bytes);
}

static void expect(struct archive *archive, const char *name, const char *bytes)
{
	struct archive_member member;

	assert_int_equal(archive_next(archive, &member, NULL), 1);
	assert_int_equal(member.name_size, strlen(name));
	assert_memory_equal(member.name, name, strlen(name));
	assert_int_equal(member.size, strlen(bytes));
	assert_memory_equal(member.data, bytes, strlen(bytes));
}

TEST(names_of_all_kinds_are_read)
{
	struct archive_member member;
	char text[1000] = "!<arch>\n";
	struct archive archive;
	size_t n = 8;

	n += put(text + n, "/", "2", "xx");
	n += put(text + n, "//", "20", "a_name_long_enough/\n");
	n += put(text + n, "b.o/", "3", "abc\n");
	n += put(text + n, "/0", "2", "de");
	n += put(text + n, "plain", "2", "fg");
	n += put(text + n, "#1/4", "6", "bsd\0hi");
	memcpy(text + n - 3, "bsd", 3); /* sprintf stopped at the NUL */
	memcpy(text + n, "\0hi", 3);
	n += 3;
	assert_true(archive_is_one(text, n));
	archive_open(&archive, text, n);
	expect(&archive, "b.o", "abc");
	expect(&archive, "a_name_long_enough", "de");
	expect(&archive, "plain", "fg");
	expect(&archive, "bsd", "hi");
	assert_int_equal(archive_next(&archive, &member, NULL), 0);
}

TEST(damage_is_an_error)
{
	static const char *const sizes[] = {"9999999999", "-1", "", "1x", "3"};
	struct archive_member member;
	struct archive archive;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char text[200] = "!<arch>\n";
		const size_t n = 8 + put(text + 8, "a/", sizes[i], "xx");

		archive_open(&archive, text, n);
		assert_int_equal(archive_next(&archive, &member, NULL), -TACT_E_FORMAT);
	}
	archive_open(&archive, "!<arch>\nabc", 11);
	assert_int_equal(archive_next(&archive, &member, NULL), 0);
}

RUN_TESTS(NULL, NULL)

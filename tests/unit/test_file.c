/* SPDX-License-Identifier: MIT
 *
 * Files as a whole.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

#include "support.h"

#include "base/file.h"

static char folder[64];
static char path[128];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/tact-file-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder); /* fails if anything else was left there */
}

static void expect(const char *content, size_t size)
{
	struct text text = {0};

	assert_int_equal(file_read(path, size, &text, NULL), 0);
	assert_int_equal(text.size, size);
	if (size)
		assert_memory_equal(text.data, content, size);
	text_free(&text);
}

TEST(names_have_no_folder)
{
	assert_string_equal(file_base_name("/a/b.c"), "b.c");
	assert_string_equal(file_base_name("b.c"), "b.c");
	assert_string_equal(file_base_name(""), "");
	assert_string_equal(file_base_name("a/"), "a/");
	assert_string_equal(file_base_name("/"), "/");
}

TEST(what_was_written_is_read)
{
	enum { LARGE = 300000 };
	char *large = malloc(LARGE);
	struct tact_diag diag = {0};
	struct text text = {0};

	for (size_t i = 0; i < LARGE; i++)
		large[i] = (char)(i * 7 >> 3);
	assert_int_equal(file_write(path, large, LARGE, NULL), 0);
	expect(large, LARGE);
	assert_int_equal(file_read(path, LARGE - 1, &text, &diag), -TACT_E_FORMAT);
	assert_string_equal(diag.text, "larger than 299999 bytes");
	text_reset(&text);
	text_add(&text, "new"); /* shorter: nothing of the old one stays */
	assert_int_equal(file_write_text(path, &text, NULL), 0);
	assert_null(text.data);
	expect("new", 3);
	assert_int_equal(file_write(path, NULL, 0, NULL), 0);
	expect("", 0);
	free(large);
}

TEST(replacing_leaves_one_file)
{
	struct text text = {0};

	assert_int_equal(file_replace(path, "first", 5, NULL), 0);
	expect("first", 5);
	text_add(&text, "2nd");
	assert_int_equal(file_replace_text(path, &text, NULL), 0);
	expect("2nd", 3);
	assert_int_equal(file_replace("/dev/null", "x", 1, NULL), 0);
}

/* Somebody put links under the names that a file had while it was written, as if all of them were
 * known: nothing goes through them, and they are in nobody's way.
 */
TEST(replacing_follows_no_link)
{
	char victim[160], link[160];
	struct stat info;

	snprintf(victim, sizeof(victim), "%s/victim", folder);
	snprintf(link, sizeof(link), "%s.%ld.tmp", path, (long)getpid());
	assert_int_equal(file_write(victim, "mine", 4, NULL), 0);
	assert_int_equal(symlink(victim, link), 0);
	assert_int_equal(file_replace(path, "first", 5, NULL), 0);
	expect("first", 5);
	unlink(link);
	/* The name itself is replaced, not what it leads to. */
	unlink(path);
	assert_int_equal(symlink(victim, path), 0);
	assert_int_equal(file_replace(path, "second", 6, NULL), 0);
	expect("second", 6);
	assert_int_equal(lstat(path, &info), 0);
	assert_true(S_ISREG(info.st_mode));
	assert_int_equal(stat(victim, &info), 0);
	assert_int_equal(info.st_size, 4);
	unlink(victim);
}

TEST(texts_that_are_not_whole_are_refused)
{
	struct text text = {0};

	assert_int_equal(file_write(path, "old", 3, NULL), 0);
	text_add(&text, "half");
	assert_null(text_reserve(&text, SIZE_MAX));
	assert_int_equal(file_write_text(path, &text, NULL), -TACT_E_NOMEM);
	expect("old", 3);
}

TEST(failures_have_a_reason)
{
	struct tact_diag diag = {0};
	struct text text = {0};
	char missing[160];

	snprintf(missing, sizeof(missing), "%s/none/file", folder);
	assert_int_equal(file_read(missing, 10, &text, &diag), -TACT_E_IO);
	assert_string_equal(diag.text, "No such file or directory");
	assert_int_equal(file_write(missing, "", 0, &diag), -TACT_E_IO);
	assert_int_equal(file_replace(missing, "", 0, &diag), -TACT_E_IO);
	assert_int_equal(file_read(folder, 10, &text, &diag), -TACT_E_IO);
	assert_string_equal(diag.text, "Is a directory");
	assert_int_equal(file_write_all(-1, "x", 1), -1);
	text_free(&text);
}

TEST(the_first_line_says_what_it_is)
{
	struct tact_diag diag = {0};

	assert_int_equal(file_check_magic("#tact-x 2", "#tact-x", 2, "an x", &diag), 0);
	assert_int_equal(file_check_magic("#tact-x 3", "#tact-x", 2, "an x", &diag),
			 -TACT_E_VERSION);
	assert_string_equal(diag.text, "version 3; this library reads version 2");
	assert_int_equal(file_check_magic("#tact-xy 2", "#tact-x", 2, "an x", &diag),
			 -TACT_E_FORMAT);
	assert_string_equal(diag.text, "'#tact-x 2' expected: this is not an x");
	assert_int_equal(diag.line, 1);
	assert_int_equal(file_check_magic("", "#tact-x", 2, NULL, &diag), -TACT_E_FORMAT);
	assert_string_equal(diag.text, "'#tact-x 2' expected");
}

TEST(places_are_read_exactly)
{
	FILE *file;
	char part[4];

	assert_int_equal(file_write(path, "0123456789", 10, NULL), 0);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(file_read_at(fileno(file), part, 4, 6));
	assert_memory_equal(part, "6789", 4);
	assert_false(file_read_at(fileno(file), part, 4, 7));
	assert_true(file_read_at(fileno(file), part, 0, 100));
	assert_false(file_read_at(-1, part, 1, 0));
	assert_false(file_read_at(fileno(file), part, 1, UINT64_MAX));
	assert_true(file_read_exactly(fileno(file), part, 4));
	assert_memory_equal(part, "0123", 4);
	assert_true(file_read_exactly(fileno(file), part, 4));
	assert_false(file_read_exactly(fileno(file), part, 4));
	fclose(file);
}

TEST(a_file_begins_with_its_magic)
{
	char name[] = "/tmp/tact-begins-XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	assert_false(file_begins_with(name, "#tact"));
	assert_int_equal(write(fd, "#tact", 5), 5);
	close(fd);
	assert_true(file_begins_with(name, ""));
	assert_true(file_begins_with(name, "#tact"));
	assert_false(file_begins_with(name, "#tax"));
	assert_false(file_begins_with(name, "#tact "));
	unlink(name);
	assert_false(file_begins_with(name, "#tact"));
	assert_false(file_begins_with("-", "#tact"));
	assert_false(file_begins_with(NULL, "#tact"));
}

RUN_TESTS(make_folder, remove_folder)

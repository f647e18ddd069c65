/* SPDX-License-Identifier: MIT
 *
 * Files of lines, added up by key.  tests/cli/mix_merge.case has the formats and their errors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

#include <tact-program/mixfile.h>

#include "base/text.h"
#include "mix/sums.h"

static int add(struct tact_mixfile *f, const char *content, struct tact_diag *diag)
{
	char path[] = "/tmp/tact-mixfile-XXXXXX";
	const int fd = mkstemp(path);
	int status;

	assert_true(fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content));
	close(fd);
	status = tact_mixfile_add(f, path, diag);
	unlink(path);
	return status;
}

static int write_to(void *text, const char *data, size_t size)
{
	text_add_bytes(text, data, size);
	return 0;
}

TEST(sums_stay_at_the_largest_number)
{
	uint64_t sum = UINT64_MAX - 2;

	sums_add(&sum, 2);
	assert_true(sum == UINT64_MAX);
	sums_add(&sum, 1);
	assert_true(sum == UINT64_MAX);
}

TEST(keys_of_other_modules_are_other_keys)
{
	struct tact_mixfile *f;
	struct text out = {0};

	assert_int_equal(tact_mixfile_create(&f), 0);
	assert_int_equal(add(f,
			     "#tact.mix.counts/1\nmodule - /a\ncode 10 4 1\nmodule - /b\n"
			     "code 10 4 2\nmodule - /a\ncode 10 4 5\n",
			     NULL),
			 0);
	assert_int_equal(tact_mixfile_count(f), 2);
	assert_int_equal(tact_mixfile_write(f, write_to, &out), 0);
	assert_string_equal(text_string(&out), "#tact.mix.counts/1\nmodule - /a\ncode 10 4 6\n"
					       "module - /b\ncode 10 4 2\noutside 0\n");
	text_free(&out);
	tact_mixfile_destroy(f);
}

TEST(memory_grows_with_keys_only)
{
	struct tact_mixfile *f;
	struct text big = {0};

	assert_int_equal(tact_mixfile_create(&f), 0);
	for (unsigned i = 0; i < 50000; i++)
		text_printf(&big, "main;f%u 3\n", i % 100);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(add(f, text_string(&big), NULL), 0);
	assert_int_equal(tact_mixfile_count(f), 100);
	assert_true(f->capacity <= 256 && f->keys[0].value[0] == 4 * 500 * 3);
	text_free(&big);
	tact_mixfile_destroy(f);
}

TEST(what_is_missing_or_wrong)
{
	struct tact_mixfile *f;
	struct tact_diag diag = {0};
	struct text out = {0};

	assert_int_equal(tact_mixfile_create(NULL), -TACT_E_INVAL);
	assert_int_equal(tact_mixfile_create(&f), 0);
	assert_int_equal(tact_mixfile_add(f, NULL, &diag), -TACT_E_INVAL);
	assert_int_equal(tact_mixfile_add(NULL, "x", &diag), -TACT_E_INVAL);
	assert_int_equal(tact_mixfile_add(f, "/nowhere", &diag), -TACT_E_IO);
	assert_int_equal(tact_mixfile_add_recording(f, "/nowhere", NULL, NULL, &diag), -TACT_E_IO);
	assert_int_equal(tact_mixfile_write(f, NULL, NULL), -TACT_E_INVAL);
	assert_string_equal(tact_mixfile_module(f), "");
	assert_int_equal(add(f, "B 1 2 3 4\nB 1 2\n", &diag), -TACT_E_FORMAT);
	assert_int_equal(diag.line, 2);
	tact_mixfile_destroy(f);
	tact_mixfile_destroy(NULL);
	assert_int_equal(tact_mixfile_create(&f), 0);
	assert_int_equal(tact_mixfile_write(f, write_to, &out), 0);
	assert_int_equal(out.size, 0);
	text_free(&out);
	tact_mixfile_destroy(f);
}

RUN_TESTS(NULL, NULL)

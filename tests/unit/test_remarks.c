/* SPDX-License-Identifier: MIT
 *
 * Lists of remarks.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include <tact/remark.h>

static struct tact_remarks *create(void)
{
	struct tact_remarks *r = NULL;

	assert_int_equal(tact_remarks_create(&r), 0);
	assert_non_null(r);
	assert_int_equal(tact_remarks_count(r), 0);
	return r;
}

TEST(remarks_come_back_in_their_order)
{
	struct tact_remarks *r = create();

	assert_int_equal(tact_remarks_add(r, "one-path", "%d of %d", 1, 3), 0);
	assert_int_equal(tact_remarks_add(r, "calls-excluded", "%s", "two calls"), 0);
	assert_int_equal(tact_remarks_count(r), 2);
	assert_string_equal(tact_remarks_name(r, 0), "one-path");
	assert_string_equal(tact_remarks_text(r, 0), "1 of 3");
	assert_string_equal(tact_remarks_name(r, 1), "calls-excluded");
	assert_string_equal(tact_remarks_text(r, 1), "two calls");
	assert_string_equal(tact_remarks_name(r, 2), "");
	assert_string_equal(tact_remarks_text(r, 2), "");
	tact_remarks_clear(r);
	assert_int_equal(tact_remarks_count(r), 0);
	assert_string_equal(tact_remarks_name(r, 0), "");
	tact_remarks_destroy(r);
}

TEST(the_same_words_are_not_added_twice)
{
	struct tact_remarks *r = create();

	assert_int_equal(tact_remarks_add(r, "a", "x"), 0);
	assert_int_equal(tact_remarks_add(r, "a", "x"), 0);
	assert_int_equal(tact_remarks_count(r), 1);
	assert_int_equal(tact_remarks_add(r, "a", "y"), 0);
	assert_int_equal(tact_remarks_add(r, "b", "x"), 0);
	assert_int_equal(tact_remarks_count(r), 3);
	assert_int_equal(tact_remarks_append(r, r), 0);
	assert_int_equal(tact_remarks_count(r), 3);
	tact_remarks_destroy(r);
}

TEST(a_list_grows_and_can_be_copied)
{
	struct tact_remarks *r = create(), *copy = create();
	char name[16], text[400];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "name-%d", i);
		assert_int_equal(tact_remarks_add(r, name, "%s", text), 0);
	}
	assert_int_equal(tact_remarks_append(copy, r), 0);
	assert_int_equal(tact_remarks_append(copy, NULL), 0);
	tact_remarks_destroy(r);
	assert_int_equal(tact_remarks_count(copy), 100);
	assert_string_equal(tact_remarks_name(copy, 99), "name-99");
	assert_string_equal(tact_remarks_text(copy, 99), text);
	tact_remarks_destroy(copy);
}

TEST(names_are_made_for_programs)
{
	struct tact_remarks *r = create();

	assert_int_equal(tact_remarks_add(r, "", "x"), -TACT_E_INVAL);
	assert_int_equal(tact_remarks_add(r, "Two Words", "x"), -TACT_E_INVAL);
	assert_int_equal(tact_remarks_add(r, "a+b", "x"), -TACT_E_INVAL);
	assert_int_equal(tact_remarks_add(r, "a,b", "x"), -TACT_E_INVAL);
	assert_int_equal(tact_remarks_add(r, NULL, "x"), -TACT_E_INVAL);
	assert_int_equal(tact_remarks_add(NULL, "a", "x"), -TACT_E_INVAL);
	assert_int_equal(tact_remarks_append(NULL, r), -TACT_E_INVAL);
	assert_int_equal(tact_remarks_create(NULL), -TACT_E_INVAL);
	assert_int_equal(tact_remarks_count(r), 0);
	assert_int_equal(tact_remarks_count(NULL), 0);
	assert_string_equal(tact_remarks_text(NULL, 0), "");
	tact_remarks_clear(NULL);
	tact_remarks_destroy(NULL);
	tact_remarks_destroy(r);
}

RUN_TESTS(NULL, NULL)

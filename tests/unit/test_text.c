/* SPDX-License-Identifier: MIT
 *
 * The growing text.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "testing.h"

#include "base/base.h"
#include "base/csv.h"
#include "base/text.h"

/* The text is `expected`; empties it. */
static void expect(struct text *text, const char *expected)
{
	const char *string = text_string(text);

	assert_non_null(string);
	assert_string_equal(string, expected);
	assert_int_equal(text->size, strlen(expected));
	text_reset(text);
}

TEST(nothing_gives_the_empty_string)
{
	struct text text = {0};

	text_add(&text, "");
	text_add_bytes(&text, NULL, 0);
	text_hex(&text, NULL, 0);
	text_pad(&text, 0, 0);
	text_trim(&text, 0);
	text_comment(&text, NULL, 80);
	text_comment(&text, "", 80);
	expect(&text, "");
	text_free(&text);
	assert_null(text.data);
	text_free(&text);
}

TEST(pieces_follow_each_other)
{
	static const uint8_t bytes[] = {0x00, 0x9f, 0xff};
	struct text text = {0};

	text_add(&text, "one ");
	text_add_bytes(&text, "two!", 3);
	text_printf(&text, " %d ", 3);
	text_hex(&text, bytes, sizeof(bytes));
	expect(&text, "one two 3 009fff");
	text_comment(&text, "first\n\nlast", 4);
	expect(&text, "# firs\n# \n# last\n");
	text_free(&text);
}

TEST(long_pieces_are_whole)
{
	char line[5001];
	struct text text = {0};

	memset(line, 'x', sizeof(line) - 1);
	for (size_t n = 120; n < 140; n++) { /* around what is tried first */
		line[n] = '\0';
		text_printf(&text, "%s", line);
		expect(&text, line);
		line[n] = 'x';
	}
	line[sizeof(line) - 1] = '\0';
	for (unsigned i = 0; i < 100; i++)
		text_printf(&text, "%s", line);
	assert_int_equal(text.size, 100 * (sizeof(line) - 1));
	for (size_t i = 0; i < text.size; i++)
		assert_int_equal(text.data[i], 'x');
	text_free(&text);
}

TEST(what_does_not_fit_shows)
{
	struct text text = {0};

	text_add(&text, "kept");
	assert_null(text_reserve(&text, SIZE_MAX));
	assert_null(text_reserve(&text, SIZE_MAX / 4));
	assert_true(text.failed);
	assert_null(text_string(&text));
	assert_memory_equal(text.data, "kept", 4);
	text_reset(&text);
	expect(&text, "");
	text_free(&text);
}

TEST(columns_are_padded_and_trimmed)
{
	struct text text = {0};

	text_add(&text, "line\nab");
	text_pad(&text, 4, 5);
	text_pad(&text, 2, 5);
	text_add(&text, "|");
	expect(&text, "line\nab  |");
	text_add(&text, "  a  ");
	text_trim(&text, 4);
	expect(&text, "  a ");
	text_add(&text, "   ");
	text_trim(&text, 0);
	expect(&text, "");
	text_free(&text);
}

TEST(words_are_wrapped)
{
	struct text text = {0};
	size_t line = 0;

	text_add(&text, "-x");
	text_wrap(&text,
		  "words that are many enough to need a second line because the first is full "
		  "by then",
		  10, 0);
	expect(&text,
	       "-x        words that are many enough to need a second line because the first "
	       "is\n          full by then\n");
	text_wrap(&text, "", 2, 0);
	expect(&text, "  \n");
	for (unsigned i = 0; i < 100; i++)
		text_add(&text, "x");
	text_add(&text, "\n");
	line = text.size;
	text_wrap(&text, "short", 2, line);
	assert_memory_equal(text.data + line, "  short\n", 8);
	text_free(&text);
}

TEST(csv_fields_are_quoted_when_they_must_be)
{
	struct text text = {0};

	text_csv_field(&text, "", 0, false);
	expect(&text, "");
	text_csv_field(&text, "plain Text", 10, false);
	expect(&text, "plain Text");
	text_csv_field(&text, "AbZ[@", 5, true);
	expect(&text, "abz[@");
	text_csv_field(&text, "a,b", 3, false);
	expect(&text, "\"a,b\"");
	text_csv_field(&text, "\"\n", 2, false);
	expect(&text, "\"\"\"\n\"");
	text_free(&text);
}

/* What a spreadsheet would compute has an apostrophe, which csv.h takes away again. */
TEST(no_csv_field_is_a_formula)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"=1+1", "\"'=1+1\""},
		{"@SUM(A1)", "\"'@SUM(A1)\""},
		{"-[NSString length]", "\"'-[NSString length]\""},
		{"+x", "\"'+x\""},
		{"\tx", "\"'\tx\""},
		{"'=x", "\"''=x\""},
		{"-1.5e-3", "-1.5e-3"},
		{"+7", "+7"},
		{"-", "-"},
		{"'x", "'x"},
		{"f=x", "f=x"},
		{"-1+cmd", "\"'-1+cmd\""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct csv_field *fields;
		struct text text = {0};
		struct csv *csv;
		size_t n;

		text_csv_field(&text, cases[i].from, strlen(cases[i].from), false);
		assert_string_equal(text_string(&text), cases[i].to);
		assert_int_equal(csv_open_memory(&csv, text.data, text.size, NULL), 0);
		assert_true(csv_next(csv, &fields, &n, NULL) > 0);
		assert_int_equal(n, 1);
		assert_string_equal(fields[0].text, cases[i].from);
		csv_close(csv);
		text_free(&text);
	}
}

TEST(numbers_have_their_forms)
{
	static const struct {
		double value;
		const char *shown;
	} cycles[] = {
		{0, "0.00"},	     {2, "2.00"},      {1.0625, "1.0625"}, {1 / 3.0, "0.3333"},
		{0.5, "0.50"},	     {0.125, "0.125"}, {9.99999, "10.00"}, {123456.75, "123456.75"},
		{-1.5, "-1.5"},	     {1e14, "1e+14"},  {9.99995, "10.00"}, {0.00004, "0.00"},
		{0.00005, "0.0001"},
	};
	struct text text = {0};

	for (size_t i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++) {
		text_number(&text, cycles[i].value);
		expect(&text, cycles[i].shown);
	}
	text_cycles2(&text, 1 / 3.0 + 1 / 3.0 + 1 / 3.0, 6);
	expect(&text, "  1.00");
	text_exact(&text, 0.1);
	expect(&text, "0.1");
	text_exact(&text, 0.1 + 0.2);
	expect(&text, "0.30000000000000004");
	text_free(&text);
}

TEST(a_piece_that_is_not_whole_spoils_the_text)
{
	struct text text = {0}, piece = {0};

	text_append(&text, &piece);
	assert_int_equal(text.size, 0);
	text_add(&text, "a");
	text_add(&piece, "bc");
	text_append(&text, &piece);
	assert_false(text.failed);
	assert_string_equal(text_string(&text), "abc");
	piece.failed = true;
	text_append(&text, &piece);
	assert_true(text.failed);
	assert_null(text_string(&text));
	text_free(&piece);
	text_free(&text);
}

/* Against the plain way, at every length and for every character. */
TEST(lower_case_agrees_with_the_plain_way)
{
	char from[40], to[48], *end;

	for (size_t n = 0; n <= sizeof(from); n++) {
		for (unsigned c = 0; c < 256; c++) {
			for (size_t i = 0; i < n; i++)
				from[i] = (char)(c + i);
			end = put_lower(to, from, n);
			assert_ptr_equal(end, to + n);
			for (size_t i = 0; i < n; i++)
				assert_int_equal(to[i], from[i] >= 'A' && from[i] <= 'Z'
								? from[i] + 'a' - 'A'
								: from[i]);
		}
	}
}

RUN_TESTS(NULL, NULL)

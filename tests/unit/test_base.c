/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include <tact/version.h>

#include "base/base.h"

/* Every code has its own text, with either sign; anything else has one as well. */
TEST(every_status_has_a_text)
{
	const char *seen[TACT_E_LIMIT + 1];

	for (int e = 0; e <= TACT_E_LIMIT; e++) {
		seen[e] = tact_strerror(-e);
		assert_non_null(seen[e]);
		assert_true(seen[e][0]);
		assert_string_equal(seen[e], tact_strerror(e));
		assert_string_not_equal(seen[e], "unknown error");
		for (int before = 0; before < e; before++)
			assert_string_not_equal(seen[e], seen[before]);
	}
	assert_string_equal(tact_strerror(0), "success");
	assert_string_equal(tact_strerror(TACT_E_LIMIT + 1), "unknown error");
	assert_string_equal(tact_strerror(-1000), "unknown error");
	assert_non_null(tact_strerror(INT32_MIN));
}

/* The values are part of the interface. */
TEST(status_values_are_stable)
{
	assert_int_equal(TACT_E_INTERNAL, 1);
	assert_int_equal(TACT_E_INVAL, 2);
	assert_int_equal(TACT_E_NOMEM, 3);
	assert_int_equal(TACT_E_IO, 4);
	assert_int_equal(TACT_E_FORMAT, 5);
	assert_int_equal(TACT_E_VERSION, 6);
	assert_int_equal(TACT_E_DECODE, 7);
	assert_int_equal(TACT_E_NO_ARCH, 8);
	assert_int_equal(TACT_E_NO_DATA, 9);
	assert_int_equal(TACT_E_NOT_MODELLED, 10);
	assert_int_equal(TACT_E_NO_TOOL, 11);
	assert_int_equal(TACT_E_LIMIT, 12);
}

struct result {
	size_t size;
	uint64_t a, b;
};

/* A caller's struct may be shorter or longer than ours. */
TEST(results_go_to_older_and_newer_callers)
{
	const struct result made = {.size = sizeof(made), .a = 1, .b = 2};
	struct result older = {.size = offsetof(struct result, b), .b = 77};
	struct {
		struct result r;
		uint64_t later, not_mine;
	} newer = {.r = {.size = sizeof(newer.r) + 8}, .later = 77, .not_mine = 77};
	struct result none = {.size = 0, .a = 77}, wild = {.size = SIZE_MAX, .a = 77};
	size_t only_size = sizeof(only_size);

	assert_int_equal(tact_fill(&older, &made, sizeof(made)), 0);
	assert_int_equal(older.size, offsetof(struct result, b));
	assert_int_equal(older.a, 1);
	assert_int_equal(older.b, 77);
	assert_int_equal(tact_fill(&newer, &made, sizeof(made)), 0);
	assert_int_equal(newer.r.size, sizeof(newer.r) + 8);
	assert_int_equal(newer.r.b, 2);
	assert_int_equal(newer.later, 0);
	assert_int_equal(newer.not_mine, 77);
	assert_int_equal(tact_fill(&only_size, &made, sizeof(made)), 0);
	assert_int_equal(only_size, sizeof(only_size));
	assert_int_equal(tact_fill(&none, &made, sizeof(made)), -TACT_E_INVAL);
	assert_int_equal(tact_fill(&wild, &made, sizeof(made)), -TACT_E_INVAL);
	assert_int_equal(tact_fill(NULL, &made, sizeof(made)), -TACT_E_INVAL);
	assert_int_equal(none.a, 77);
	assert_int_equal(wild.a, 77);
	assert_int_equal(tact_read_options(&older, sizeof(older), &wild), -TACT_E_INVAL);
}

TEST(fail_fills_the_diagnostic)
{
	struct tact_diag diag = {.line = 9, .offset = 9};
	char longer[400];

	assert_int_equal(tact_fail(&diag, TACT_E_IO, "file %s", "x"), -TACT_E_IO);
	assert_string_equal(diag.text, "file x");
	assert_int_equal(diag.line, 0);
	assert_int_equal(diag.offset, 0);
	assert_int_equal(tact_fail_at(&diag, TACT_E_FORMAT, 3, 14, "digit"), -TACT_E_FORMAT);
	assert_int_equal(diag.line, 3);
	assert_int_equal(diag.offset, 14);
	/* NULL is allowed; a long text is cut, not overrun. */
	assert_int_equal(tact_fail(NULL, TACT_E_NOMEM, "x"), -TACT_E_NOMEM);
	assert_int_equal(tact_fail_at(NULL, TACT_E_NOMEM, 1, 1, "x"), -TACT_E_NOMEM);
	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	tact_fail(&diag, TACT_E_INVAL, "%s", longer);
	assert_int_equal(strlen(diag.text), sizeof(diag.text) - 1);
}

TEST(hex_is_decoded)
{
	uint8_t out[8];
	size_t bad = 99;

	assert_int_equal(tact_hex_decode(out, "", 0, &bad), 0);
	assert_int_equal(tact_hex_decode(out, "00ff7fA0", 8, &bad), 4);
	assert_memory_equal(out, "\x00\xff\x7f\xa0", 4);
	assert_int_equal(tact_hex_decode(out, "aBcDeF", 6, &bad), 3);
	assert_memory_equal(out, "\xab\xcd\xef", 3);
	assert_int_equal(bad, 99); /* untouched as long as all is well */
	/* Only `size` characters are read. */
	assert_int_equal(tact_hex_decode(out, "12xx", 2, &bad), 1);
}

TEST(bad_hex_is_refused)
{
	static const struct {
		const char *text;
		size_t bad;
	} cases[] = {
		{"0", 1},    {"012", 3},  {"g0", 0},	   {"0g", 1},	{"00 1", 2},
		{"00:0", 2}, {"0x00", 1}, {"00/0", 2},	   {"000@", 3}, {"00`0", 2},
		{"x", 0},    {"00x", 2},  {"\xc3\xa4", 0},
	};
	uint8_t out[8];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t bad = 99;

		assert_int_equal(tact_hex_decode(out, cases[i].text, strlen(cases[i].text), &bad),
				 -1);
		assert_int_equal(bad, cases[i].bad);
	}
}

/* Every pair of characters: right or refused. */
TEST(hex_agrees_with_the_c_library)
{
	for (unsigned a = 1; a < 256; a++) {
		for (unsigned b = 1; b < 256; b++) {
			const char text[3] = {(char)a, (char)b, 0};
			bool good =
				a < 128 && b < 128 && strspn(text, "0123456789abcdefABCDEF") == 2;
			uint8_t out = 0;
			size_t bad;

			assert_int_equal(tact_hex_decode(&out, text, 2, &bad), good ? 1 : -1);
			if (good)
				assert_int_equal(out, strtoul(text, NULL, 16));
		}
	}
}

TEST(grow_keeps_the_content)
{
	uint32_t *array = NULL;
	size_t capacity = 0;

	assert_int_equal(tact_grow(&array, &capacity, 0, sizeof(*array)), 0);
	assert_null(array);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(tact_grow(&array, &capacity, i + 1, sizeof(*array)), 0);
		assert_true(capacity > i);
		array[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	free(array);
}

/* What cannot be had is refused, and array and capacity stay as they were. */
TEST(grow_refuses_overflow)
{
	uint32_t *array = NULL, *before;
	size_t capacity = 0, capacity_before;

	assert_int_equal(tact_grow(&array, &capacity, 4, sizeof(*array)), 0);
	before = array;
	capacity_before = capacity;
	assert_int_equal(tact_grow(&array, &capacity, SIZE_MAX, sizeof(*array)), -TACT_E_NOMEM);
	assert_int_equal(tact_grow(&array, &capacity, SIZE_MAX / 2 + 2, 1), -TACT_E_NOMEM);
	assert_int_equal(tact_grow(&array, &capacity, SIZE_MAX / 4 + 2, 4), -TACT_E_NOMEM);
	assert_ptr_equal(array, before);
	assert_int_equal(capacity, capacity_before);
	free(array);
}

TEST(version_is_that_of_the_header)
{
	assert_int_equal(tact_version(),
			 TACT_VERSION_MAJOR << 16 | TACT_VERSION_MINOR << 8 | TACT_VERSION_PATCH);
}

TEST(what_is_made_is_zero)
{
	struct tact_diag diag = {0};
	unsigned char *made = NULL;

	assert_int_equal(tact_new(&made, 40, false, "a thing is missing", &diag), -TACT_E_INVAL);
	assert_string_equal(diag.text, "a thing is missing");
	assert_null(made);
	assert_int_equal(tact_new(&made, 40, true, "", NULL), 0);
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(made[i], 0);
	free(made);
	made = NULL;
	assert_int_equal(tact_new(&made, PTRDIFF_MAX, true, "", &diag), -TACT_E_NOMEM);
	assert_null(made);
}

TEST(numbers_have_an_order)
{
	assert_int_equal(ORDER(1u, 2u), -1);
	assert_int_equal(ORDER(UINT64_MAX, UINT64_C(1)), 1);
	assert_int_equal(ORDER(-1.5, -1.5), 0);
	assert_true(2 * ORDER(1, 2) + ORDER(4, 3) < 0);
	assert_true(2 * ORDER(2, 2) + ORDER(4, 3) > 0);
}

/* What is new is zero, what was there stays, whether the table is small or mapped. */
TEST(tables_grow)
{
	const size_t large = 1 << 20;
	size_t capacity = 0;
	uint32_t *table = NULL;

	assert_int_equal(tact_table_grow(&table, &capacity, 3, sizeof(*table)), 0);
	assert_true(capacity >= 3);
	assert_int_equal((uintptr_t)table % 64, 0);
	assert_int_equal(table[0] | table[capacity - 1], 0);
	table[2] = 7;
	assert_int_equal(tact_table_grow(&table, &capacity, large, sizeof(*table)), 0);
	assert_true(capacity >= large);
	assert_int_equal((uintptr_t)table % 64, 0);
	assert_int_equal(table[2], 7);
	assert_int_equal(table[3] | table[large / 2] | table[capacity - 1], 0);
	table[capacity - 1] = 9;
	assert_int_equal(tact_table_grow(&table, &capacity, capacity + 1, sizeof(*table)), 0);
	assert_int_equal(table[capacity / 2 - 1], 9);
	assert_int_equal(table[capacity / 2], 0);
	assert_int_equal(tact_table_grow(&table, &capacity, SIZE_MAX / 2, sizeof(*table)),
			 -TACT_E_NOMEM);
	assert_int_equal(table[2], 7);
	tact_table_destroy(table, capacity, sizeof(*table));
	assert_null(tact_table_create(SIZE_MAX / 2, 4));
	tact_table_destroy(NULL, 0, 1);
}

TEST(enumerators_have_names)
{
	static const char *const names[] = {[0] = "zero", [2] = "two"};

	assert_string_equal(NAME_OF(names, 0, "?"), "zero");
	assert_string_equal(NAME_OF(names, 1, "?"), "?");
	assert_string_equal(NAME_OF(names, 2, "?"), "two");
	assert_string_equal(NAME_OF(names, 3, "?"), "?");
	assert_string_equal(NAME_OF(names, -1, "?"), "?");
}

RUN_TESTS(NULL, NULL)

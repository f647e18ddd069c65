/* SPDX-License-Identifier: MIT
 *
 * The JSON writer; jansson reads what it wrote.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "testing.h"

#include <jansson.h>

#include "base/json.h"

static void expect(struct text *text, const char *expected)
{
	json_t *read;

	assert_non_null(text_string(text));
	assert_string_equal(text->data, expected);
	read = json_loadb(text->data, text->size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	assert_non_null(read);
	json_decref(read);
	text_reset(text);
}

TEST(every_kind_of_value_is_written)
{
	static const uint8_t code[] = {0x48, 0x01, 0xc8};
	struct text text = {0};
	struct json json = {.out = &text};

	json_begin_object(&json, NULL);
	json_put_string(&json, "schema", "tact.test/1");
	json_put_string(&json, "none", NULL);
	json_put_bytes(&json, "bytes", "abc", 2);
	json_printf_string(&json, "place", "%s:%d", "a\"b", 7);
	json_put_hex(&json, "hex", code, sizeof(code));
	json_put_number(&json, "cycles", 1.0625);
	json_put_fixed(&json, "share", 0.5, 6);
	json_put_exact(&json, "weight", 0.1);
	json_put_integer(&json, "least", INT64_MIN);
	json_put_count(&json, "most", INT64_MAX);
	json_put_bool(&json, "yes", true);
	json_put_bool(&json, "no", false);
	json_put_null(&json, "null");
	json_printf(&json, "own", "%.9g", 1e-5);
	json_end_line(&json);
	assert_int_equal(json.depth, 0);
	expect(&text, "{\"schema\":\"tact.test/1\",\"none\":null,\"bytes\":\"ab\","
		      "\"place\":\"a\\\"b:7\",\"hex\":\"4801c8\",\"cycles\":1.0625,"
		      "\"share\":0.500000,\"weight\":0.1,\"least\":-9223372036854775808,"
		      "\"most\":9223372036854775807,\"yes\":true,\"no\":false,\"null\":null,"
		      "\"own\":1e-05}\n");
	text_free(&text);
}

TEST(what_is_not_finite_is_null)
{
	struct text text = {0};
	struct json json = {.out = &text};

	json_begin_array(&json, NULL);
	json_put_number(&json, NULL, NAN);
	json_put_fixed(&json, NULL, INFINITY, 2);
	json_put_exact(&json, NULL, -INFINITY);
	json_end(&json);
	expect(&text, "[null,null,null]");
	text_free(&text);
}

TEST(commas_follow_the_nesting)
{
	struct text text = {0};
	struct json json = {.out = &text};

	json_begin_array(&json, NULL);
	json_begin_array(&json, NULL);
	json_end(&json);
	json_begin_object(&json, NULL);
	json_end(&json);
	json_begin_object(&json, NULL);
	json_begin_object(&json, "a");
	json_put_integer(&json, "b", 1);
	json_end(&json);
	json_begin_array(&json, "c");
	json_put_integer(&json, NULL, 2);
	json_put_integer(&json, NULL, 3);
	json_end(&json);
	json_put_key(&json, "d\n", 2);
	json_put_integer(&json, NULL, 4);
	json_put_key(&json, "e", 1);
	json_begin_array(&json, NULL);
	json_end_line(&json);
	expect(&text, "[[],{},{\"a\":{\"b\":1},\"c\":[2,3],\"d\\u000a\":4,\"e\":[]}]\n");
	json_put_integer(&json, NULL, 1); /* a value alone, and without a comma */
	expect(&text, "1");
	text_free(&text);
}

TEST(strings_are_escaped)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"", "\"\""},
		{"plain", "\"plain\""},
		{"\"\\\"", "\"\\\"\\\\\\\"\""},
		{"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\""},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		 "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"a\xff"
		 "b",
		 "\"a\\ufffdb\""},
		{"\xc3", "\"\\ufffd\""},
		{"\xc0\x80", "\"\\ufffd\\ufffd\""},	       /* overlong */
		{"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""}, /* a surrogate */
		{"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
	};
	struct text text = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text_json_string(&text, cases[i].from, strlen(cases[i].from));
		expect(&text, cases[i].to);
	}
	text_json_string(&text, "a\0b", 3);
	expect(&text, "\"a\\u0000b\"");
	text_free(&text);
}

TEST(levels_go_deep)
{
	struct text text = {0};
	struct json json = {.out = &text};

	for (unsigned i = 0; i < 64; i++)
		json_begin_array(&json, NULL);
	json_end_line(&json);
	assert_int_equal(text.size, 129);
	text_free(&text);
}

static void key_in_array(struct json *json)
{
	json_begin_array(json, NULL);
	json_put_integer(json, "key", 1);
}

static void no_key_in_object(struct json *json)
{
	json_begin_object(json, NULL);
	json_put_integer(json, NULL, 1);
}

static void end_without_begin(struct json *json)
{
	json_end(json);
}

static void key_without_value(struct json *json)
{
	json_begin_object(json, NULL);
	json_put_key(json, "a", 1);
	json_end(json);
}

static void too_deep(struct json *json)
{
	for (int i = 0; i < 65; i++)
		json_begin_array(json, NULL);
}

static void key_in_array_by_put(struct json *json)
{
	json_begin_array(json, NULL);
	json_put_key(json, "a", 1);
	json_put_bool(json, NULL, true);
}

/* Nobody is handed a text that is not JSON. */
TEST(misuse_makes_the_text_fail)
{
	void (*const misuses[])(struct json * json) = {key_in_array,	  no_key_in_object,
						       end_without_begin, key_without_value,
						       too_deep,	  key_in_array_by_put};

	for (size_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
		struct text text = {0};
		struct json json = {.out = &text};

		misuses[i](&json);
		json_end_line(&json);
		assert_int_equal(json.depth, 0);
		assert_true(text.failed);
		assert_null(text_string(&text));
		text_free(&text);
	}
}

RUN_TESTS(NULL, NULL)

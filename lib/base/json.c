/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

size_t text_utf8_length(const unsigned char *p, size_t size)
{
	size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;

	if (p[0] < 0xc2 || p[0] > 0xf4 || n > size)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, beyond U+10FFFF */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

/* Whether a character stands for itself in a string: all but quotes, backslashes and control
 * characters.
 */
static size_t plain_length(const char *string, size_t size)
{
	size_t n = 0;

	while (n < size) {
		unsigned char c = (unsigned char)string[n];
		size_t step =
			c < 0x80 ? c >= 0x20 && c != 0x7f && c != '"' && c != '\\'
				 : text_utf8_length((const unsigned char *)string + n, size - n);

		if (!step)
			break;
		n += step;
	}
	return n;
}

static void add_escaped(struct text *text, const char *string, size_t size)
{
	for (;;) {
		size_t n = plain_length(string, size);
		unsigned char c;

		text_add_bytes(text, string, n);
		if (n == size)
			return;
		c = (unsigned char)string[n];
		if (c == '"' || c == '\\')
			text_printf(text, "\\%c", c);
		else
			text_printf(text, "\\u%04x", c < 0x80 ? c : 0xfffd);
		string += n + 1;
		size -= n + 1;
	}
}

void text_json_string(struct text *text, const char *string, size_t size)
{
	text_add_bytes(text, "\"", 1);
	add_escaped(text, string, size);
	text_add_bytes(text, "\"", 1);
}

static void add_comma(struct json *json)
{
	const uint64_t bit = json->depth ? UINT64_C(1) << (json->depth - 1) : 0;

	if (json->commas & bit)
		text_add_bytes(json->out, ",", 1);
	json->commas |= bit;
}

/* Writes what precedes a value. */
void json_begin_value(struct json *json, const char *key)
{
	const bool in_object = json->depth && json->objects >> (json->depth - 1) & 1;
	size_t n;
	char *p;

	if (in_object != (key || json->has_key) || (key && json->has_key))
		json->out->failed = true;
	if (json->has_key) { /* the comma is already there */
		json->has_key = false;
		return;
	}
	add_comma(json);
	if (!key)
		return;
	n = strlen(key);
	p = text_reserve(json->out, n + 3);
	if (!p)
		return;
	*p++ = '"';
	memcpy(p, key, n);
	memcpy(p + n, "\":", 2);
	json->out->size += n + 3;
}

static void begin(struct json *json, const char *key, bool is_object)
{
	uint64_t bit;

	json_begin_value(json, key);
	if (json->depth == MAX_DEPTH) {
		json->out->failed = true;
		return;
	}
	bit = UINT64_C(1) << json->depth++;
	json->commas &= ~bit;
	json->objects = is_object ? json->objects | bit : json->objects & ~bit;
	text_add_bytes(json->out, is_object ? "{" : "[", 1);
}

void json_begin_object(struct json *json, const char *key)
{
	begin(json, key, true);
}

void json_begin_array(struct json *json, const char *key)
{
	begin(json, key, false);
}

void json_end(struct json *json)
{
	if (!json->depth || json->has_key)
		json->out->failed = true;
	if (!json->depth)
		return;
	json->depth--;
	text_add_bytes(json->out, json->objects >> json->depth & 1 ? "}" : "]", 1);
}

void json_end_line(struct json *json)
{
	while (json->depth)
		json_end(json);
	text_add_bytes(json->out, "\n", 1);
}

void json_put_key(struct json *json, const char *key, size_t size)
{
	if (!json->depth || !(json->objects >> (json->depth - 1) & 1) || json->has_key)
		json->out->failed = true;
	add_comma(json);
	text_json_string(json->out, key, size);
	text_add_bytes(json->out, ":", 1);
	json->has_key = true;
}

void json_put_bytes(struct json *json, const char *key, const char *string, size_t size)
{
	json_begin_value(json, key);
	text_json_string(json->out, string, size);
}

void json_put_string(struct json *json, const char *key, const char *string)
{
	if (string)
		json_put_bytes(json, key, string, strlen(string));
	else
		json_put_null(json, key);
}

void json_printf_string(struct json *json, const char *key, const char *format, ...)
{
	struct text value = {0};
	va_list args;

	va_start(args, format);
	text_vprintf(&value, format, args);
	va_end(args);
	json_put_bytes(json, key, value.data, value.size);
	json->out->failed |= value.failed;
	text_free(&value);
}

void json_put_hex(struct json *json, const char *key, const uint8_t *bytes, size_t size)
{
	json_begin_value(json, key);
	text_add_bytes(json->out, "\"", 1);
	text_hex(json->out, bytes, size);
	text_add_bytes(json->out, "\"", 1);
}

void json_put_number(struct json *json, const char *key, double value)
{
	json_begin_value(json, key);
	if (isfinite(value))
		text_number(json->out, value);
	else
		text_add(json->out, "null");
}

void json_put_fixed(struct json *json, const char *key, double value, int decimals)
{
	if (isfinite(value))
		json_printf(json, key, "%.*f", decimals, value);
	else
		json_put_null(json, key);
}

void json_put_exact(struct json *json, const char *key, double value)
{
	if (isfinite(value)) {
		json_begin_value(json, key);
		text_exact(json->out, value);
	} else {
		json_put_null(json, key);
	}
}

void json_put_integer(struct json *json, const char *key, int64_t value)
{
	json_printf(json, key, "%lld", (long long)value);
}

void json_put_count(struct json *json, const char *key, uint64_t value)
{
	json_printf(json, key, "%llu", (unsigned long long)value);
}

void json_put_bool(struct json *json, const char *key, bool value)
{
	json_begin_value(json, key);
	text_add(json->out, value ? "true" : "false");
}

void json_put_null(struct json *json, const char *key)
{
	json_begin_value(json, key);
	text_add_bytes(json->out, "null", 4);
}

void json_printf(struct json *json, const char *key, const char *format, ...)
{
	va_list args;

	json_begin_value(json, key);
	va_start(args, format);
	text_vprintf(json->out, format, args);
	va_end(args);
}

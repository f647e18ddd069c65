/* SPDX-License-Identifier: MIT
 *
 * A JSON writer that never holds a tree: values go to a text at once, without blanks.  It takes
 * care of commas, nesting and escaping.
 *
 *	struct json json = {.out = &text};
 *
 *	json_begin_object(&json, NULL);
 *	json_put_string(&json, "schema", "tact.predict/1");
 *	json_begin_array(&json, "bounds");
 *	json_put_number(&json, NULL, 1.5);
 *	json_end(&json);
 *	json_end_line(&json);
 *
 * gives {"schema":"tact.predict/1","bounds":[1.50]} and a newline.  A value needs a key in an
 * object, and must have none anywhere else: the wrong one, an end without a begin and more than 64
 * levels are mistakes of the caller.  Then the text counts as failed, as if memory had run out, so
 * that nobody gets what is not JSON.  Keys are the program's own words: they are not
 * escaped.  For keys from outside there is json_put_key.
 */
#ifndef TACT_BASE_JSON_H
#define TACT_BASE_JSON_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct json {
	struct text *out; /* not owned; says whether it is whole */
	/* Bit n describes level n: whether it is an object, and whether it needs a comma. */
	uint64_t objects, commas;
	unsigned depth;
	bool has_key; /* json_put_key gave the key of the next value */
};

void json_begin_object(struct json *json, const char *key);
void json_begin_array(struct json *json, const char *key);
void json_end(struct json *json);      /* the innermost one */
void json_end_line(struct json *json); /* all levels, and a newline */

/* Sets the key of the next value, which is then put with NULL.  The key is escaped. */
void json_put_key(struct json *json, const char *key, size_t size);

/* Put strings.  Bytes that are not UTF-8 become U+FFFD.  A string that is NULL gives null. */
void json_put_string(struct json *json, const char *key, const char *string);
void json_put_bytes(struct json *json, const char *key, const char *string, size_t size);
void json_printf_string(struct json *json, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void json_put_hex(struct json *json, const char *key, const uint8_t *bytes, size_t size);

/* Put numbers: as put_cycles writes them, with a given number of decimals, or so that they read
 * back the same.  JSON has no infinities: what is not finite gives null.
 */
void json_put_number(struct json *json, const char *key, double value);
void json_put_fixed(struct json *json, const char *key, double value, int decimals);
void json_put_exact(struct json *json, const char *key, double value);
void json_put_integer(struct json *json, const char *key, int64_t value);
void json_put_count(struct json *json, const char *key, uint64_t value);
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_null(struct json *json, const char *key);

/* Begins a value whose text the caller adds. */
void json_begin_value(struct json *json, const char *key);

/* Puts a value that printf makes and that is valid JSON: a number with a format of its own. */
void json_printf(struct json *json, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds only the string, with its quotes, to text that is assembled by hand. */
void text_json_string(struct text *text, const char *string, size_t size);

#endif /* TACT_BASE_JSON_H */

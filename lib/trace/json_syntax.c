/* SPDX-License-Identifier: MIT
 *
 * Whether text is JSON (RFC 8259), without a byte of memory.  jansson calls a line malformed also
 * when memory runs out in the middle of it; this tells the two apart.
 */
#include <string.h>

#include "trace/result.h"

enum { MAX_DEPTH = 64 }; /* stored results have 3 */

struct scan {
	const char *p, *end;
};

static bool take(struct scan *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static void skip_blanks(struct scan *s)
{
	while (s->p < s->end && memchr(" \t\r\n", *s->p, 4))
		s->p++;
}

static bool take_word(struct scan *s, const char *word)
{
	const size_t n = strlen(word);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
		return false;
	s->p += n;
	return true;
}

static bool take_digits(struct scan *s)
{
	const char *first = s->p;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
		s->p++;
	return s->p > first;
}

static bool take_number(struct scan *s)
{
	take(s, '-');
	if (!take(s, '0') && !take_digits(s))
		return false;
	if (take(s, '.') && !take_digits(s))
		return false;
	if (!take(s, 'e') && !take(s, 'E'))
		return true;
	if (!take(s, '+'))
		take(s, '-');
	return take_digits(s);
}

static bool take_string(struct scan *s)
{
	if (!take(s, '"'))
		return false;
	while (s->p < s->end && *s->p != '"') {
		if ((unsigned char)*s->p < 0x20)
			return false;
		if (*s->p++ != '\\')
			continue;
		if (take(s, 'u')) {
			for (unsigned i = 0; i < 4; i++, s->p++)
				if (s->p == s->end || !memchr("0123456789abcdefABCDEF", *s->p, 22))
					return false;
		} else if (s->p == s->end || !memchr("\"\\/bfnrt", *s->p++, 8)) {
			return false;
		}
	}
	return take(s, '"');
}

static bool take_value(struct scan *s, unsigned depth);

/* Members of an object or elements of an array, after the opening bracket. */
static bool take_members(struct scan *s, bool is_object, unsigned depth)
{
	const char close = is_object ? '}' : ']';

	skip_blanks(s);
	if (take(s, close))
		return true;
	do {
		skip_blanks(s);
		if (is_object) {
			if (!take_string(s))
				return false;
			skip_blanks(s);
			if (!take(s, ':'))
				return false;
		}
		if (!take_value(s, depth + 1))
			return false;
		skip_blanks(s);
	} while (take(s, ','));
	return take(s, close);
}

static bool take_value(struct scan *s, unsigned depth)
{
	skip_blanks(s);
	if (s->p == s->end || depth > MAX_DEPTH)
		return false;
	switch (*s->p) {
	case '{':
	case '[':
		s->p++;
		return take_members(s, s->p[-1] == '{', depth);
	case '"':
		return take_string(s);
	case 't':
		return take_word(s, "true");
	case 'f':
		return take_word(s, "false");
	case 'n':
		return take_word(s, "null");
	default:
		return take_number(s);
	}
}

bool result_is_json(const char *text, size_t size)
{
	struct scan s = {text, text + size};

	if (!take_value(&s, 0))
		return false;
	skip_blanks(&s);
	return s.p == s.end;
}

/* SPDX-License-Identifier: MIT */
#include "plain.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the length of a sequence that chooses a color, 0 if this is none. */
static size_t color(const unsigned char *p, size_t size)
{
	size_t n = 2;

	if (size < 3 || p[0] != 0x1b || p[1] != '[')
		return 0;
	while (n < size && ((p[n] >= '0' && p[n] <= '9') || p[n] == ';'))
		n++;
	return n < size && p[n] == 'm' ? n + 1 : 0;
}

/* Returns the length of a character of several bytes, by its first one; 0: it begins none. */
static size_t length_of(unsigned char first)
{
	return first >= 0xf0 && first < 0xf5   ? 4
	       : first >= 0xe0 && first < 0xf0 ? 3
	       : first >= 0xc2 && first < 0xe0 ? 2
					       : 0;
}

/* Decodes one, of which all bytes are there; false if it is malformed. */
static bool decode(const unsigned char *p, size_t n, uint32_t *out)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t value = p[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return false;
		value = value << 6 | (p[i] & 0x3f);
	}
	*out = value;
	return value >= least[n] && value < 0x110000 && (value < 0xd800 || value >= 0xe000);
}

/* C1 controls, and the marks, embeddings, overrides and isolates of Unicode's bidirectional algorithm
 * (UAX #9), which make a line look as what it is not.
 */
static bool is_obeyed(uint32_t c)
{
	return c < 0xa0 || c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void add_escaped(struct text *out, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text_printf(out, "\\x%02x", p[i]);
}

size_t plain_add(struct text *out, const char *data, size_t size)
{
	const unsigned char *p = (const unsigned char *)data;
	size_t i = 0, plain = 0; /* from `plain` on, nothing has been added yet */

	while (i < size) {
		uint32_t value = 0;
		size_t n = 1;
		bool is_good;

		if (p[i] < 0x80) {
			const size_t chosen = color(p + i, size - i);

			n = chosen ? chosen : 1;
			is_good = chosen || (p[i] >= ' ' && p[i] != 0x7f) || p[i] == '\n' ||
				  p[i] == '\t' ||
				  (p[i] == '\r' && i + 1 < size && p[i + 1] == '\n');
		} else {
			n = length_of(p[i]);
			if (n > size - i)
				break;
			is_good = n && decode(p + i, n, &value) && !is_obeyed(value);
			n = is_good || (n && value) ? n : 1;
		}
		if (!is_good) {
			text_add_bytes(out, data + plain, i - plain);
			add_escaped(out, p + i, n);
			plain = i + n;
		}
		i += n;
	}
	text_add_bytes(out, data + plain, i - plain);
	return size - i;
}

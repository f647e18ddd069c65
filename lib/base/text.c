/* SPDX-License-Identifier: MIT
 *
 * What each row of a large batch needs does without printf.
 */
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){0};
}

void text_reset(struct text *text)
{
	text->size = 0;
	text->failed = false;
}

char *text_grow(struct text *text, size_t room)
{
	size_t capacity = text->capacity ? text->capacity : 256;
	char *data;

	if (room > SIZE_MAX / 4 - text->size) {
		text->failed = true;
		return NULL;
	}
	while (capacity - text->size < room)
		capacity *= 2;
	data = realloc(text->data, capacity);
	if (!data) {
		text->failed = true;
		return NULL;
	}
	text->data = data;
	text->capacity = capacity;
	return data + text->size;
}

char *text_string(struct text *text)
{
	char *end = text_reserve(text, 1);

	if (!end || text->failed)
		return NULL;
	*end = '\0';
	return text->data;
}

void text_add_bytes(struct text *text, const void *data, size_t size)
{
	char *p = size ? text_reserve(text, size) : NULL;

	if (!p)
		return;
	memcpy(p, data, size);
	text->size += size;
}

void text_append(struct text *text, const struct text *piece)
{
	text_add_bytes(text, piece->data, piece->size);
	text->failed |= piece->failed;
}

void text_add(struct text *text, const char *string)
{
	text_add_bytes(text, string, strlen(string));
}

void text_vprintf(struct text *text, const char *format, va_list args)
{
	enum { USUAL = 128 };
	char *p = text_reserve(text, USUAL);
	va_list again;
	int n;

	if (!p)
		return;
	va_copy(again, args);
	n = vsnprintf(p, USUAL, format, args);
	if (n >= USUAL) {
		p = text_reserve(text, (size_t)n + 1);
		n = p ? vsnprintf(p, (size_t)n + 1, format, again) : 0;
	}
	va_end(again);
	if (n > 0)
		text->size += (size_t)n;
}

void text_printf(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vprintf(text, format, args);
	va_end(args);
}

void text_comment(struct text *text, const char *comment, size_t most)
{
	while (comment && *comment) {
		size_t n = strcspn(comment, "\n");

		text_add(text, "# ");
		text_add_bytes(text, comment, n < most ? n : most);
		text_add(text, "\n");
		comment += n + (comment[n] == '\n');
	}
}

void text_pad(struct text *text, size_t column, size_t line_start)
{
	size_t have = text->size - line_start;
	char *p = have < column ? text_reserve(text, column - have) : NULL;

	if (!p)
		return;
	memset(p, ' ', column - have);
	text->size += column - have;
}

static bool is_inside_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

void text_short(struct text *text, const char *name, size_t size, size_t width)
{
	enum { DOTS = 3, LEAST = 8 };
	size_t head, tail;

	if (size <= width || width < LEAST) {
		text_add_bytes(text, name, size);
		return;
	}
	tail = size - (width - DOTS) / 2;
	head = width - DOTS - (size - tail);
	while (head && is_inside_character(name[head]))
		head--;
	while (tail < size && is_inside_character(name[tail]))
		tail++;
	text_add_bytes(text, name, head);
	text_add(text, "...");
	text_add_bytes(text, name + tail, size - tail);
}

void text_trim(struct text *text, size_t start)
{
	while (text->size > start && text->data[text->size - 1] == ' ')
		text->size--;
}

void text_wrap_to(struct text *text, const char *words, size_t column, size_t line_start,
		  size_t width)
{
	text_pad(text, column, line_start);
	while (*words) {
		size_t n = strcspn(words, " ");

		if (width && text->size - line_start + n > width &&
		    text->size - line_start > column) {
			text_trim(text, 0);
			text_add(text, "\n");
			line_start = text->size;
			text_pad(text, column, line_start);
		}
		text_add_bytes(text, words, n);
		words += n;
		if (*words) {
			text_add(text, " ");
			words++;
		}
	}
	text_add(text, "\n");
}

void text_wrap(struct text *text, const char *words, size_t column, size_t line_start)
{
	text_wrap_to(text, words, column, line_start, 79);
}

void text_hex(struct text *text, const uint8_t *bytes, size_t size)
{
	char *p = text_reserve(text, 2 * size);

	if (p && size)
		text->size = (size_t)(put_hex(p, bytes, size) - text->data);
}

/* A sign may begin a number, or be all there is. */
static bool is_number(const char *string, size_t size)
{
	size_t i = 1, digits = 0;

	for (; i < size && (isdigit((unsigned char)string[i]) || string[i] == '.'); i++)
		digits += string[i] != '.';
	if (digits && i < size && (string[i] == 'e' || string[i] == 'E')) {
		i += i + 1 < size && (string[i + 1] == '-' || string[i + 1] == '+') ? 2 : 1;
		while (i < size && isdigit((unsigned char)string[i]))
			i++;
	}
	return size == 1 || (digits && i == size);
}

bool text_is_formula(const char *string, size_t size)
{
	size_t i = 0;

	while (i < size && string[i] == '\'')
		i++;
	if (i == size || !string[i] || !strchr("=+-@\t\r", string[i]))
		return false;
	return i || (string[0] != '+' && string[0] != '-') || !is_number(string, size);
}

void text_csv_field(struct text *text, const char *string, size_t size, bool lower)
{
	const bool is_formula = text_is_formula(string, size);
	bool quote = is_formula;
	char *p;

	for (size_t i = 0; i < size; i++)
		quote |= string[i] == ',' || string[i] == '"' || string[i] == '\r' ||
			 string[i] == '\n';
	p = text_reserve(text, 2 * size + 3);
	if (!p)
		return;
	if (quote)
		*p++ = '"';
	if (is_formula)
		*p++ = '\'';
	for (size_t i = 0; i < size; i++) {
		char c = string[i];

		if (c == '"')
			*p++ = '"';
		*p++ = lower && c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
	}
	if (quote)
		*p++ = '"';
	text->size = (size_t)(p - text->data);
}

void text_cycles2(struct text *text, double value, int width)
{
	/* A sum of thirds is not quite one: the output should not depend on that. */
	text_printf(text, "%*.2f", width, value + 1e-9);
}

void text_number(struct text *text, double value)
{
	char *p = text_reserve(text, PUT_CYCLES_ROOM);

	if (p)
		text->size = (size_t)(put_cycles(p, value) - text->data);
}

void text_exact(struct text *text, double value)
{
	char digits[40];

	snprintf(digits, sizeof(digits), "%.15g", value);
	if (strtod(digits, NULL) != value)
		snprintf(digits, sizeof(digits), "%.17g", value);
	text_add(text, digits);
}

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
				  "25262728293031323334353637383940414243444546474849"
				  "50515253545556575859606162636465666768697071727374"
				  "75767778798081828384858687888990919293949596979899";

static char *put_whole(char *p, uint64_t value)
{
	char reversed[20];
	size_t n = 0;

	do {
		reversed[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n)
		*p++ = reversed[--n];
	return p;
}

char *put_cycles(char *p, double value)
{
	uint64_t scaled;
	unsigned fraction;

	if (!(value >= 0 && value < 1e14)) /* no model gives such a number */
		return p + snprintf(p, PUT_CYCLES_ROOM, "%.4g", value);
	if (value == 0) { /* most bounds of most blocks */
		memcpy(p, "0.00", 4);
		return p + 4;
	}
	scaled = (uint64_t)(value * 10000 + 0.5);
	fraction = (unsigned)(scaled % 10000);
	if (scaled < 100000)
		*p++ = (char)('0' + scaled / 10000);
	else
		p = put_whole(p, scaled / 10000);
	*p++ = '.';
	memcpy(p, &digit_pairs[2 * (fraction / 100)], 2);
	fraction %= 100;
	if (!fraction)
		return p + 2;
	memcpy(p + 2, &digit_pairs[2 * fraction], 2);
	return p + (fraction % 10 ? 4 : 3);
}

char *put_hex(char *p, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size; i++) {
		*p++ = digits[bytes[i] >> 4];
		*p++ = digits[bytes[i] & 15];
	}
	return p;
}

/* Eight characters at a time: bit 7 of the two sums says "at least A" and "above Z"; 0x80 >> 2 is
 * the bit that makes a letter lower case.  Needs 8 bytes of room.
 */
char *put_lower(char *p, const char *string, size_t size)
{
	const uint64_t ones = UINT64_MAX / 255;

	for (; size >= 8; size -= 8, string += 8, p += 8) {
		uint64_t w, low, upper;

		memcpy(&w, string, 8);
		low = w & ones * 0x7f;
		upper = ((low + ones * (0x80 - 'A')) ^ (low + ones * (0x7f - 'Z'))) & ~w &
			ones * 0x80;
		w |= upper >> 2;
		memcpy(p, &w, 8);
	}
	for (; size; size--, string++)
		*p++ = *string >= 'A' && *string <= 'Z' ? (char)(*string + 'a' - 'A') : *string;
	return p;
}

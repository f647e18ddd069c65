/* SPDX-License-Identifier: MIT
 *
 * Text that is being made, and where it goes.  What a row of a large batch needs does without
 * printf.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){0};
}

char *text_reserve(struct text *text, size_t room)
{
	if (text->capacity - text->size < room) {
		size_t capacity = text->capacity ? text->capacity * 2 : 256;

		while (capacity - text->size < room)
			capacity *= 2;
		text->data = cli_realloc(text->data, capacity);
		text->capacity = capacity;
	}
	return text->data + text->size;
}

void text_add_bytes(struct text *text, const void *data, size_t size)
{
	if (!size)
		return;
	memcpy(text_reserve(text, size), data, size);
	text->size += size;
}

void text_add(struct text *text, const char *string)
{
	text_add_bytes(text, string, strlen(string));
}

void text_pad(struct text *text, size_t column, size_t line_start)
{
	size_t have = text->size - line_start;

	if (have < column) {
		memset(text_reserve(text, column - have), ' ', column - have);
		text->size += column - have;
	}
}

void text_wrap(struct text *out, const char *words, size_t column, size_t line_start)
{
	enum { WIDTH = 79 };

	text_pad(out, column, line_start);
	while (*words) {
		size_t n = strcspn(words, " ");

		if (out->size - line_start + n > WIDTH && out->size - line_start > column) {
			while (out->size && out->data[out->size - 1] == ' ')
				out->size--;
			text_add(out, "\n");
			line_start = out->size;
			text_pad(out, column, line_start);
		}
		text_add_bytes(out, words, n);
		words += n;
		if (*words) {
			text_add(out, " ");
			words++;
		}
	}
	text_add(out, "\n");
}

void text_vprintf(struct text *text, const char *format, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(text_reserve(text, 128), 128, format, args);
	if (n >= 128)
		n = vsnprintf(text_reserve(text, (size_t)n + 1), (size_t)n + 1, format, again);
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

void text_cycles2(struct text *text, double value, int width)
{
	/* The sum of thirds is not quite one: what is printed should not depend on that. */
	text_printf(text, "%*.2f", width, value + 1e-9);
}

/* Length of the UTF-8 sequence at p, or 0 if it is none. */
static size_t utf8_length(const unsigned char *p, size_t size)
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

void text_json_string(struct text *text, const char *string, size_t size)
{
	text_add(text, "\"");
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)string[i];
		size_t n = c < 0x80 ? 1 : utf8_length((const unsigned char *)string + i, size - i);

		if (c == '"' || c == '\\') {
			text_printf(text, "\\%c", c);
		} else if (c < 0x20 || c == 0x7f) {
			text_printf(text, "\\u%04x", c);
		} else if (!n) {
			text_add(text, "\\ufffd");
		} else {
			text_add_bytes(text, &string[i], n);
			i += n - 1;
		}
	}
	text_add(text, "\"");
}

void text_csv_field(struct text *text, const char *string, size_t size, bool lower)
{
	bool quote = false;
	char *p;

	for (size_t i = 0; i < size; i++)
		quote |= string[i] == ',' || string[i] == '"' || string[i] == '\r' ||
			 string[i] == '\n';
	p = text_reserve(text, 2 * size + 2);
	if (quote)
		*p++ = '"';
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

void text_number(struct text *text, double value)
{
	text->size = (size_t)(put_cycles(text_reserve(text, PUT_CYCLES_ROOM), value) - text->data);
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

	if (!(value >= 0 && value < 1e14)) /* no model gives that; do not print nonsense */
		return p + snprintf(p, PUT_CYCLES_ROOM, "%.4g", value);
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

/* Eight at a time: bit 7 of the two sums says "at least A" and "above Z"; 0x80 >> 2 is the bit
 * that makes a letter small.  Needs 8 bytes of room.
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

int output_open(struct output *out, const char *path)
{
	*out = (struct output){.fd = STDOUT_FILENO, .name = "standard output"};
	if (!path)
		return 0;
	out->name = path;
	out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out->fd >= 0)
		return 0;
	cli_message("%s: %s", path, strerror(errno));
	out->failed = true;
	return -1;
}

static void fail(struct output *out)
{
	/* A reader that went away (head, less) knows that it did. */
	if (errno != EPIPE)
		cli_message("%s: %s", out->name, strerror(errno));
	out->failed = true;
}

void output_write(struct output *out, struct text *text)
{
	size_t done = 0;

	while (done < text->size && !out->failed) {
		ssize_t n = write(out->fd, text->data + done, text->size - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			fail(out);
	}
	text->size = 0;
}

int output_close(struct output *out)
{
	/* Network file systems say only now that the disk is full. */
	if (out->fd >= 0 && close(out->fd) && !out->failed)
		fail(out);
	out->fd = -1;
	return out->failed ? -1 : 0;
}

void text_to_stderr(struct text *text)
{
	size_t done = 0;

	while (done < text->size) {
		ssize_t n = write(STDERR_FILENO, text->data + done, text->size - done);

		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			done += (size_t)n;
	}
	text->size = 0;
}

/* SPDX-License-Identifier: MIT
 *
 * Text that is made piece by piece: the only growing string of the tree.
 */
#ifndef TACT_BASE_TEXT_H
#define TACT_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Forms of results. */
enum { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_MARKDOWN };

/* All zero is an empty one.  Nothing below reports that memory ran out: pieces that do not fit are
 * left out and `failed` stays set, so that whoever uses the text at the end looks once.
 */
struct text {
	char *data; /* owned; NUL-terminated only by text_string */
	size_t size, capacity;
	bool failed; /* out of memory: the text is not whole */
};

void text_free(struct text *text);
void text_reset(struct text *text); /* empty, whole again, with its memory */

/* Room for at least `room` more bytes: the caller writes there and sets text->size.  NULL, with
 * `failed` set, when there is no memory.
 */
char *text_grow(struct text *text, size_t room);
static inline char *text_reserve(struct text *text, size_t room)
{
	if (text->capacity - text->size >= room)
		return text->data + text->size;
	return text_grow(text, room);
}

/* The text with a NUL behind it, which does not count; NULL if the text is not whole. */
char *text_string(struct text *text);

void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const void *data, size_t size);
/* Another text; where that one is not whole, this one is not either. */
void text_append(struct text *text, const struct text *piece);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* Lines behind "# ", cut where they are longer than `most`; NULL: none. */
void text_comment(struct text *text, const char *comment, size_t most);

void text_pad(struct text *text, size_t column, size_t line_start); /* with blanks up to a column */
void text_trim(struct text *text, size_t start); /* drops the blanks at the end, but none before */

/* Words from `column` on, broken at the width of a terminal, with a newline behind them. */
void text_wrap(struct text *text, const char *words, size_t column, size_t line_start);

void text_hex(struct text *text, const uint8_t *bytes, size_t size);

/* A CSV field, in quotes if it needs them, in lower case if asked for. */
void text_csv_field(struct text *text, const char *string, size_t size, bool lower);

/* "12.34": for columns of people's tables, always two decimals. */
void text_cycles2(struct text *text, double value, int width);
/* As put_cycles makes them. */
void text_number(struct text *text, double value);
/* As many digits as it takes to read the same value back. */
void text_exact(struct text *text, double value);

/* Writers for the hot path: they write at p, which has room, and return the end. */
enum { PUT_CYCLES_ROOM = 32 };
char *put_cycles(char *p, double value); /* 2.00, 1.0625, 0.3333: two to four decimals */
char *put_hex(char *p, const uint8_t *bytes, size_t size);
char *put_lower(char *p, const char *string, size_t size);

#endif /* TACT_BASE_TEXT_H */

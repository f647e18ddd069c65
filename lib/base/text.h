/* SPDX-License-Identifier: MIT
 *
 * Text that is built piece by piece: the only growing string of the tree.
 */
#ifndef TACT_BASE_TEXT_H
#define TACT_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Formats of results. */
enum {
	FORMAT_TEXT,
	FORMAT_CSV,
	FORMAT_JSON,
	FORMAT_MARKDOWN,
	FORMAT_SARIF,
	FORMAT_JUNIT,
	FORMAT_FOLDED,
	FORMAT_FLAME,
	FORMAT_SPEEDSCOPE,
	FORMAT_PPROF
};

/* All zeros is an empty text.  None of these functions reports that memory ran out: pieces that do
 * not fit are left out and `failed` stays set, so that the code which uses the finished text checks
 * once.
 */
struct text {
	char *data; /* owned; NUL-terminated only by text_string */
	size_t size, capacity;
	bool failed; /* out of memory, or a writer was used wrongly: the text is not whole */
};

void text_free(struct text *text);
void text_reset(struct text *text); /* empty and whole again; keeps its memory */

/* Makes room for at least `room` more bytes: the caller writes there and sets text->size.  Returns
 * NULL, with `failed` set, if memory runs out.
 */
char *text_grow(struct text *text, size_t room);
static inline char *text_reserve(struct text *text, size_t room)
{
	if (text->data && text->capacity - text->size >= room)
		return text->data + text->size;
	return text_grow(text, room);
}

/* Returns the text with a NUL after it, which does not count; NULL if the text is not whole. */
char *text_string(struct text *text);

void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const void *data, size_t size);
/* Appends another text.  If that one is not whole, this one is not either. */
void text_append(struct text *text, const struct text *piece);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* Adds lines, each after "# ", cut at `most` characters.  NULL adds nothing. */
void text_comment(struct text *text, const char *comment, size_t most);

void text_pad(struct text *text, size_t column,
	      size_t line_start);		 /* with blanks, up to a column */
void text_trim(struct text *text, size_t start); /* drops blanks at the end, back to `start` */

/* Adds a name, without its middle if it is wider than `width`: "std::vec...resize".  Widths below 8
 * are too little for that and change nothing.  No character of UTF-8 is torn.
 */
void text_short(struct text *text, const char *name, size_t size, size_t width);

/* Adds words from `column` on, broken where a line would be wider than `width` (0: nowhere), and a
 * newline.
 */
void text_wrap_to(struct text *text, const char *words, size_t column, size_t line_start,
		  size_t width);
/* The same for a terminal of 80 columns. */
void text_wrap(struct text *text, const char *words, size_t column, size_t line_start);

void text_hex(struct text *text, const uint8_t *bytes, size_t size);

/* Adds a CSV field, in quotes if it needs them, in lower case if asked.  A spreadsheet computes what
 * begins with = + - @, a tab or CR, and names come from strangers: such a field gets an apostrophe and
 * quotes, unless it is a number.  So does one that has apostrophes before; csv.h takes one away.
 */
bool text_is_formula(const char *string, size_t size);
void text_csv_field(struct text *text, const char *string, size_t size, bool lower);

/* Returns the length of the UTF-8 sequence at p, or 0 if there is none. */
size_t text_utf8_length(const unsigned char *p, size_t size);

/* Adds text for XML, in an element or between quotes.  What XML cannot hold becomes '?'. */
void text_xml(struct text *text, const char *string);

/* Adds "12.34": always two decimals, for columns of tables that people read. */
void text_cycles2(struct text *text, double value, int width);
/* Adds a number as put_cycles writes it. */
void text_number(struct text *text, double value);
/* Adds as many digits as it takes to read the same value back. */
void text_exact(struct text *text, double value);

/* Writers for the hot path: they write at p, where there is room, and return the end. */
enum { PUT_CYCLES_ROOM = 32 };
char *put_cycles(char *p, double value); /* 2.00, 1.0625, 0.3333: two to four decimals */
char *put_hex(char *p, const uint8_t *bytes, size_t size);
char *put_lower(char *p, const char *string, size_t size);

#endif /* TACT_BASE_TEXT_H */

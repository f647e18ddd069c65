/* SPDX-License-Identifier: MIT
 *
 * Text that is being made, and where it goes.
 */
#ifndef TACT_OUTPUT_H
#define TACT_OUTPUT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Forms of results. */
enum { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

/* A buffer that grows.  All zero is an empty one. */
struct text {
	char *data; /* owned; not NUL-terminated */
	size_t size, capacity;
};

void text_free(struct text *text);

/* Room for at least `room` more bytes: the caller writes there and sets text->size. */
char *text_reserve(struct text *text, size_t room);

void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const void *data, size_t size);
void text_pad(struct text *text, size_t column, size_t line_start); /* with blanks up to a column */

/* Words from `column` on, broken at the width of a terminal, with a newline behind them. */
void text_wrap(struct text *out, const char *words, size_t column, size_t line_start);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* "12.34": for columns of people's tables, always two decimals. */
void text_cycles2(struct text *text, double value, int width);

/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void text_json_string(struct text *text, const char *string, size_t size);

/* A CSV field, in quotes if it needs them, in lower case if asked for. */
void text_csv_field(struct text *text, const char *string, size_t size, bool lower);

/* A JSON number of the same form as put_cycles makes. */
void text_number(struct text *text, double value);

/* Writers for the hot path: they write at p, which has room, and return the end. */
enum { PUT_CYCLES_ROOM = 32 };
char *put_cycles(char *p, double value); /* 2.00, 1.0625, 0.3333: two to four decimals */
char *put_hex(char *p, const uint8_t *bytes, size_t size);
char *put_lower(char *p, const char *string, size_t size);

/* Where results go: standard output or a file. */
struct output {
	int fd;
	const char *name; /* for messages */
	bool failed;	  /* the message was given; everything else is dropped */
};

/* path NULL: standard output.  Returns 0, or -1 with the message given. */
int output_open(struct output *out, const char *path);

/* Writes the text and empties it. */
void output_write(struct output *out, struct text *text);

/* Returns 0, or -1 if anything of the output could not be written. */
int output_close(struct output *out);

/* Best effort: there is nowhere to complain. */
void text_to_stderr(struct text *text);

#endif /* TACT_OUTPUT_H */

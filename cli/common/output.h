/* SPDX-License-Identifier: MIT
 *
 * Where commands write their text.
 */
#ifndef TACT_OUTPUT_H
#define TACT_OUTPUT_H

#include <stdbool.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

/* Where results go: standard output or a file. */
struct output {
	int fd;
	const char *name;     /* for messages */
	bool failed;	      /* the message was given; everything else is dropped */
	bool is_made;	      /* file is being made, and fd is its descriptor */
	struct file_new file; /* owned */
	/* What goes to a terminal goes through plain.h. */
	bool is_known, is_terminal;
	char held[4]; /* the beginning of a character, whose end comes with the next piece */
	unsigned n_held;
};

/* path NULL or "-": standard output.  A file has its contents only once output_close has succeeded:
 * until then it is what it was before, see file_new.  Returns 0, or -1 with the message given.
 */
int output_open(struct output *out, const char *path);

/* For commands that run a program, whose standard output stays its own: path NULL is standard
 * error.
 */
int output_open_beside(struct output *out, const char *path);

/* Writes the text and empties it.  Ends the program if memory ran out while it was made. */
void output_write(struct output *out, struct text *text);

/* For functions of the library that write to a sink: out is a struct output.  1 if it failed. */
int output_sink(void *out, const char *data, size_t size);

/* Returns 0, or -1 if anything of the output could not be written. */
int output_close(struct output *out);

/* Closes it when its contents are not whole: a file stays what it was before. */
void output_abandon(struct output *out);

/* Writes a whole text to a file or (path NULL) to standard output, and frees it.  Returns an exit
 * code.
 */
int output_all(const char *path, struct text *text);

/* Best effort: errors cannot be reported anywhere. */
void text_to_stderr(struct text *text);

/* Shows a line of progress on standard error, without an end; progress.h decides when.  The next
 * text that is written, or output_clear_bar, removes it.
 */
void output_bar(struct text *line);
void output_clear_bar(void);

#endif /* TACT_OUTPUT_H */

/* SPDX-License-Identifier: MIT
 *
 * What every command of the program shares.
 */
#ifndef TACT_CLI_H
#define TACT_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* Exit codes; the manual lists them. */
enum {
	CLI_GOOD = 0,
	CLI_FAILED = 1, /* some inputs failed, or the output could not be written */
	CLI_USAGE = 2,
	CLI_UNABLE = 3, /* this machine cannot do it: a program or an ability is missing */
	CLI_OVER = 4	/* tact diff: more cycles than the threshold allows */
};

#define CLI_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* "tact: " and the text and a newline, to standard error. */
void cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "tact: PATH:LINE: text" into a buffer; line 0: without it. */
void cli_place(struct text *out, const char *path, uint64_t line, const char *text);

/* The same to standard error, for what a library function said about a file: its text, or else its
 * status.  Returns `exit_code`.
 */
struct tact_diag;
int cli_complain(const char *path, const struct tact_diag *diag, int status, int exit_code);

/* Says what is wrong with the options.  Returns CLI_USAGE. */
int cli_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether a file's name ends in ".suffix". */
bool cli_has_suffix(const char *name, const char *suffix);

/* There is nothing that a command could do about it. */
_Noreturn void cli_out_of_memory(void);

/* malloc and realloc that do not fail. */
void *cli_alloc(size_t size);
void *cli_realloc(void *old, size_t size);

/* A text as a string, which is there as long as the text is not touched; ends the program if
 * memory ran out while it was made.
 */
char *cli_string(struct text *text);

/* text_reserve that does not fail. */
char *cli_reserve(struct text *text, size_t room);

/* A descriptor of 0, 1 and 2 that is closed would be given to the next file that is opened, and
 * output meant for the user would land in it: fills the gaps with something that refuses.
 */
void cli_fill_descriptors(void);

/* Which of n words looks most like `word`; NULL if none does.  Walks with name(i, context). */
const char *cli_nearest(const char *word, size_t n,
			const char *(*name)(size_t i, const void *context), const void *context);

/* Cores that this process may use. */
unsigned cli_cores(void);

#endif /* TACT_CLI_H */

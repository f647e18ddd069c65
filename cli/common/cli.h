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
	CLI_UNFINISHED =
		75,  /* a signal ended it early, and another run goes on from there: EX_TEMPFAIL
				of sysexits.h, for schedulers */
	CLI_OVER = 4 /* tact diff: more cycles than the threshold allows */
};

#define CLI_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Writes "tact: ", the text and a newline to standard error. */
void cli_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Warns if an emulator executes this program: what it measures means nothing then. */
void cli_warn_of_emulator(void);

/* Appends "tact: PATH:LINE: text" to a buffer, without the line if it is 0, and without both for NULL. */
void cli_place(struct text *out, const char *path, uint64_t line, const char *text);

/* Writes the same to standard error for an error that a library function reported about a file: its
 * text, or else its status.  Returns `exit_code`; ends the program if memory ran out, which is not
 * the file's fault.
 */
struct tact_diag;
int cli_complain(const char *path, const struct tact_diag *diag, int status, int exit_code);

/* Reports what is wrong with the options.  Returns CLI_USAGE. */
int cli_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether a file's name ends in ".suffix". */
bool cli_has_suffix(const char *name, const char *suffix);

/* Ends the program: no command can recover from it. */
_Noreturn void cli_out_of_memory(void);

/* malloc and realloc that do not fail. */
void *cli_alloc(size_t size);
void *cli_realloc(void *old, size_t size);

/* Returns a text as a string, valid until the text changes.  Ends the program if memory ran out
 * while the text was made.
 */
char *cli_string(struct text *text);

/* text_reserve that does not fail. */
char *cli_reserve(struct text *text, size_t room);

/* A descriptor of 0, 1 and 2 that is closed would be given to the next file that is opened, and
 * output meant for the user would land in it: fills the gaps with something that refuses.
 */
void cli_fill_descriptors(void);

/* Returns which of n words, name(i, context), looks most like `word`; NULL if none does. */
const char *cli_nearest(const char *word, size_t n,
			const char *(*name)(size_t i, const void *context), const void *context);

/* Returns the number of edits (insert, delete, replace) that turn a into b, ignoring case; 63 for
 * words that are longer than that.
 */
unsigned cli_distance(const char *a, const char *b);

/* Cores that this process may use. */
unsigned cli_cores(void);

#endif /* TACT_CLI_H */

/* SPDX-License-Identifier: MIT
 *
 * Options of commands as tables.  A group of options fills one struct, so that commands share
 * groups; the help is made from the same tables.  Options that many commands have are rows here.
 */
#ifndef TACT_OPTIONS_H
#define TACT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "commands.h"
#include "output.h"

enum option_type {
	OPTION_IS_FLAG,	  /* bool */
	OPTION_IS_TEXT,	  /* const char *: borrowed from argv */
	OPTION_IS_NUMBER, /* unsigned */
	OPTION_IS_CHOICE, /* int, one of `choices` */
	OPTION_IS_CALL	  /* `call` takes the value */
};

struct option_choice {
	const char *name; /* NULL ends the list */
	int value;
};

struct option_spec {
	char letter;	      /* 0: none */
	const char *name;     /* NULL ends a table */
	const char *argument; /* its name in the help; NULL: the option takes none */
	bool is_optional;     /* the argument follows = or is missing; the value is NULL then */
	const char *help;
	enum option_type type;
	size_t offset; /* of the field in the group's struct: OPTION_FIELD */
	const struct option_choice *choices;
	unsigned allowed;   /* bits of the values of choices that are allowed; 0: all */
	unsigned low, high; /* of a number */

	/* Takes a value for the group's struct.  Returns NULL, or why it does not (static or in a
	 * buffer of the struct).
	 */
	const char *(*call)(void *target, const char *value);
};

/* Offset of a field, which must have this type: anything else does not compile. */
#define OPTION_FIELD(holder, field, type)                                                          \
	_Generic(((struct holder *)0)->field, type : offsetof(struct holder, field))

/* ---- rows of tables ---- */

/* The file of a table defines OPTION_HOLDER, the name of the struct that its rows fill.  A row has
 * its letter (0: none), name, name of the argument, field, what is specific to its type, and help.
 */
/* clang-format off */
#define OPTION_ROW(l, n, a, t, f, of, h)                                                           \
	.letter = l, .name = n, .argument = a, .type = OPTION_IS_##t, .help = h,                   \
	.offset = OPTION_FIELD(OPTION_HOLDER, f, of)
#define OPTION_FLAG(l, n, f, h)    {OPTION_ROW(l, n, NULL, FLAG, f, bool, h)}
#define OPTION_TEXT(l, n, a, f, h) {OPTION_ROW(l, n, a, TEXT, f, const char *, h)}
#define OPTION_NUMBER(l, n, a, f, from, to, h)                                                     \
	{OPTION_ROW(l, n, a, NUMBER, f, unsigned, h), .low = from, .high = to}
#define OPTION_CHOICE(l, n, a, f, list, h) OPTION_SOME_OF(l, n, a, f, list, 0, h)
#define OPTION_SOME_OF(l, n, a, f, list, bits, h)                                                  \
	{OPTION_ROW(l, n, a, CHOICE, f, int, h), .choices = list, .allowed = bits}
#define OPTION_CALL(l, n, a, function, h)                                                          \
	{.letter = l, .name = n, .argument = a, .type = OPTION_IS_CALL, .call = function, .help = h}
#define OPTION_CALL_MAYBE(l, n, a, function, h) /* the argument is optional, after = */            \
	{.letter = l, .name = n, .argument = a, .type = OPTION_IS_CALL, .call = function,          \
	 .is_optional = true, .help = h}
#define OPTION_END {.name = NULL}
/* clang-format on */

/* Rows that many commands have; `bits` are the formats, modes or inits that a command accepts. */
#define OPTION_BIT(value) (1u << (value))
#define OPTION_FORMAT(f, bits, h)                                                                  \
	OPTION_SOME_OF('f', "format", "FORMAT", f, option_formats, bits, h)
#define OPTION_MODE(f, bits, h) OPTION_SOME_OF('m', "mode", "MODE", f, option_modes, bits, h)
#define OPTION_INIT(f, bits, h) OPTION_SOME_OF(0, "init", "HOW", f, option_inits, bits, h)
#define OPTION_ARCH(f, h)	OPTION_TEXT('a', "arch", "NAME", f, h)
#define OPTION_PARAMS(f, h)	OPTION_TEXT(0, "params", "FILE", f, h)
#define OPTION_JOBS(f, to, h)	OPTION_NUMBER('j', "jobs", "N", f, 0, to, h)
#define OPTION_SEED(f, h)	OPTION_NUMBER(0, "seed", "N", f, 0, 4294967295u, h)
#define OPTION_OUTPUT(f, h)	OPTION_TEXT('o', "output", "FILE", f, h)
#define OPTION_QUIET(f, h)	OPTION_FLAG('q', "quiet", f, h)
#define OPTION_MANGLED(f)                                                                          \
	OPTION_FLAG(0, "no-demangle", f,                                                           \
		    "show names of functions as in the symbol table, not as in the source")
#define OPTION_VERBOSE(f, h) OPTION_FLAG('v', "verbose", f, h)

#define OPTION_FORMATS (OPTION_BIT(FORMAT_TEXT) | OPTION_BIT(FORMAT_CSV) | OPTION_BIT(FORMAT_JSON))

/* Stacks: folded, a flame graph, for speedscope and for pprof. */
#define OPTION_STACK_FORMATS                                                                       \
	(OPTION_BIT(FORMAT_FOLDED) | OPTION_BIT(FORMAT_FLAME) | OPTION_BIT(FORMAT_SPEEDSCOPE) |    \
	 OPTION_BIT(FORMAT_PPROF))

/* Help texts that most commands share. */
#define OPTION_FORMAT_HELP   "text (default), csv or json (one object per line)"
#define OPTION_OUTPUT_HELP   "write the results to FILE"
#define OPTION_QUIET_HELP    "print only errors on standard error, no notes"
#define OPTION_PROGRESS_HELP "print only errors on standard error, no notes and no progress"

/* Where results go: fields format, output and is_quiet. */
#define OPTION_RESULTS(format_help)                                                                \
	OPTION_FORMAT(format, OPTION_FORMATS, format_help),                                        \
		OPTION_OUTPUT(output, OPTION_OUTPUT_HELP),                                         \
		OPTION_QUIET(is_quiet, OPTION_QUIET_HELP)

/* All formats; auto, loop, unroll; stack, same, diff.  Each exists once. */
extern const struct option_choice option_formats[], option_modes[], option_inits[];

/* Returns the name of a value; "" if it has none. */
const char *option_choice_name(const struct option_choice *choices, int value);

/* ---- commands ---- */

/* A group of options; the last entry of a list takes the arguments that are not options. */
struct option_group {
	const char *title; /* NULL: the last one; "": more of the group before */
	const struct option_spec *specs;
	size_t offset; /* of the struct that is filled, in that of the command */

	/* Take an argument before and after --, as `call` does; NULL: none is allowed. */
	const char *(*argument)(void *target, const char *value);
	const char *(*after)(void *target, const char *value);

	/* Frees what the options or arguments made, after the command's own fini; may be NULL. */
	void (*fini)(void *target);
};

/* Rows of a list of groups: specs that fill a field of the holder, or the holder itself. */
/* clang-format off */
#define OPTION_GROUP(t, s, f, end)                                                                 \
	{.title = t, .specs = s, .offset = offsetof(struct OPTION_HOLDER, f), .fini = end}
#define OPTION_OWN(t, s)      {.title = t, .specs = s}
#define OPTION_ARGUMENTS(take, f)                                                                  \
	{.argument = take, .after = take, .offset = offsetof(struct OPTION_HOLDER, f)}
#define OPTION_ARGUMENTS_AFTER(take, back, f) /* other ones after -- */                            \
	{.argument = take, .after = back, .offset = offsetof(struct OPTION_HOLDER, f)}
#define OPTION_WORDS(f) /* a struct option_words */                                                \
	{.argument = option_words_add, .after = option_words_add, .fini = option_words_fini,      \
	 .offset = offsetof(struct OPTION_HOLDER, f)}
#define OPTION_OWN_ARGUMENTS(front, back) {.argument = front, .after = back}
#define OPTION_NO_ARGUMENTS   {.argument = NULL}
/* clang-format on */

struct option_command {
	/* Usage, one line per form; an empty line; a paragraph, which is wrapped; an empty line;
	 * "{options}"; and the text after the options, verbatim except that a line "{models}"
	 * becomes the list of models.
	 */
	const char *help;
	const struct option_group *groups;
	int (*run)(void *target);   /* returns an exit code */
	void (*fini)(void *target); /* whether it has run or not; may be NULL; groups have theirs */
};

/* Runs a whole command: fills the struct `target` from argv[1] on (if an option is repeated, the
 * last one counts); runs it, prints the help or reports what is wrong; cleans up.  Returns an exit
 * code.
 */
int option_command_run(const struct option_command *command, void *target, int argc, char **argv);

/* Reads the value of --alignment: a place in a cache line, or all of them.  Returns NULL, or what is
 * wrong, in `why`.
 */
const char *option_alignment(const char *value, unsigned *alignment, bool *is_all, char *why,
			     size_t size);

/* Words of the command line, such as paths or a program and its arguments. */
struct option_words {
	char **list; /* owned, terminated by NULL, or NULL; the strings belong to argv */
	size_t n;
};
const char *option_words_add(void *words, const char *word); /* for `argument` */
void option_words_fini(void *words);

#endif /* TACT_OPTIONS_H */

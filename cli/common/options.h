/* SPDX-License-Identifier: MIT
 *
 * Options of commands as tables.  A group of options fills one struct, so that commands share
 * groups; the help is made from the same tables.
 */
#ifndef TACT_OPTIONS_H
#define TACT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum option_type {
	OPTION_FLAG,   /* bool */
	OPTION_TEXT,   /* const char *: borrowed from argv */
	OPTION_NUMBER, /* unsigned */
	OPTION_CHOICE, /* int, one of `choices` */
	OPTION_CALL    /* `call` takes the value */
};

struct option_choice {
	const char *name; /* NULL ends the list */
	int value;
};

struct option_spec {
	char letter;	      /* 0: none */
	const char *name;     /* NULL ends a table */
	const char *argument; /* its name in the help; NULL: there is none */
	bool is_optional; /* the argument comes behind = or not at all; the value is NULL then */
	const char *help;
	enum option_type type;
	size_t offset; /* of the field in the group's target: OPTION_FIELD */
	const struct option_choice *choices;
	unsigned low, high; /* of a number */

	/* Takes a value for the target.  Returns NULL, or why it does not (static or in a buffer of
	 * the target).
	 */
	const char *(*call)(void *target, const char *value);
};

/* Offset of a field, which has to be of this type: anything else does not compile. */
#define OPTION_FIELD(holder, field, type)                                                          \
	_Generic(((struct holder *)0)->field, type : offsetof(struct holder, field))

struct option_group {
	const char *title; /* NULL ends a list of groups; "": more of the group before */
	const struct option_spec *specs;
	void *target; /* borrowed */
};

struct option_command {
	const char *usage;	 /* one line a form */
	const char *description; /* a paragraph */
	const char *epilogue;	 /* behind the options; may be NULL */
	const struct option_group *groups;

	/* Takes an argument that is not an option, as `call` does. */
	const char *(*argument)(void *target, const char *value);
	void *argument_target;
};

enum { OPTIONS_GOOD = 0, OPTIONS_HELP = 1, OPTIONS_WRONG = 2 };

/* Fills the targets from argv[1] on; of an option that comes twice the last one counts.  A message
 * was given if it returns OPTIONS_WRONG.
 */
int options_parse(const struct option_command *command, int argc, char **argv);

/* To standard output.  Returns an exit code. */
int options_print_help(const struct option_command *command);

/* Both, as most commands want it: true if the command is to run, else *status is its exit code. */
bool options_take(const struct option_command *command, int argc, char **argv, int *status);

#endif /* TACT_OPTIONS_H */

/* SPDX-License-Identifier: MIT
 *
 * Options of commands as tables: parsing and help.
 */
#include "options.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output.h"

static const char help_text[] = "show this help";

/* The arguments that are left, and the command that they are for. */
struct parser {
	const struct option_command *command;
	const char *command_name;
	int argc, next;
	char **argv;
};

static const struct option_spec *find(const struct option_command *command, char letter,
				      const char *name, size_t length, void **target)
{
	for (const struct option_group *g = command->groups; g->title; g++) {
		for (const struct option_spec *s = g->specs; s->name; s++) {
			if (letter ? s->letter != letter
				   : strlen(s->name) != length ||
					     memcmp(s->name, name, length) != 0)
				continue;
			*target = g->target;
			return s;
		}
	}
	return NULL;
}

/* How the option was written, for messages. */
static const char *written(const struct option_spec *spec, char letter, char *buffer, size_t size)
{
	struct text text = {0};

	if (letter)
		text_printf(&text, "-%c", letter);
	else
		text_printf(&text, "--%s", spec->name);
	text_add_bytes(&text, "", 1);
	memcpy(buffer, text.data, text.size < size ? text.size : size);
	buffer[size - 1] = '\0';
	text_free(&text);
	return buffer;
}

static const char *choice_name(size_t i, const void *choices)
{
	return ((const struct option_choice *)choices)[i].name;
}

static int wrong_choice(const struct option_spec *spec, const char *option, const char *value)
{
	struct text list = {0};
	size_t n = 0;
	const char *near;

	for (; spec->choices[n].name; n++)
		text_printf(&list, "%s%s", n ? ", " : "", spec->choices[n].name);
	text_add_bytes(&list, "", 1);
	near = cli_nearest(value, n, choice_name, spec->choices);
	if (near)
		cli_message("%s: '%s' is none of %s; did you mean %s?", option, value, list.data,
			    near);
	else
		cli_message("%s: '%s' is none of %s", option, value, list.data);
	text_free(&list);
	return OPTIONS_WRONG;
}

static int set_number(const struct option_spec *spec, void *field, const char *option,
		      const char *value)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(value, &end, 0);
	if (*value < '0' || *value > '9' || *end || errno || number < spec->low ||
	    number > spec->high) {
		cli_message("%s: '%s' is not a number from %u to %u", option, value, spec->low,
			    spec->high);
		return OPTIONS_WRONG;
	}
	*(unsigned *)field = (unsigned)number;
	return OPTIONS_GOOD;
}

static int set(const struct option_spec *spec, void *target, const char *option, const char *value)
{
	void *field = (char *)target + spec->offset;
	const char *why;

	switch (spec->type) {
	case OPTION_FLAG:
		*(bool *)field = true;
		return OPTIONS_GOOD;
	case OPTION_TEXT:
		*(const char **)field = value;
		return OPTIONS_GOOD;
	case OPTION_NUMBER:
		return set_number(spec, field, option, value);
	case OPTION_CHOICE:
		for (const struct option_choice *c = spec->choices; c->name; c++) {
			if (!strcmp(c->name, value)) {
				*(int *)field = c->value;
				return OPTIONS_GOOD;
			}
		}
		return wrong_choice(spec, option, value);
	case OPTION_CALL:
		why = spec->call(target, value);
		if (!why)
			return OPTIONS_GOOD;
		cli_message("%s: %s", option, why);
		return OPTIONS_WRONG;
	}
	return OPTIONS_WRONG;
}

struct names {
	const struct option_command *command;
};

static const char *long_name(size_t i, const void *context)
{
	const struct names *names = context;

	for (const struct option_group *g = names->command->groups; g->title; g++)
		for (const struct option_spec *s = g->specs; s->name; s++)
			if (!i--)
				return s->name;
	return NULL;
}

static int unknown_option(const struct parser *p, const char *argument, size_t length)
{
	const struct names names = {p->command};
	char *word = strndup(argument + 2, length > 2 ? length - 2 : 0);
	const char *near = NULL;
	size_t n = 0;

	if (!word)
		cli_out_of_memory();
	while (long_name(n, &names))
		n++;
	if (argument[1] == '-')
		near = cli_nearest(word, n, long_name, &names);
	free(word);
	cli_message(near ? "unknown option %.*s; did you mean --%s?"
			 : "unknown option %.*s; 'tact %s --help' lists them all",
		    (int)length, argument, near ? near : p->command_name);
	return OPTIONS_WRONG;
}

static const char *next_value(struct parser *p, const char *option)
{
	if (p->next < p->argc)
		return p->argv[p->next++];
	cli_message("%s needs an argument", option);
	return NULL;
}

static int parse_long(struct parser *p, const char *argument)
{
	const char *equals = strchr(argument, '=');
	size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
	const struct option_spec *spec;
	const char *value = equals ? equals + 1 : NULL;
	char option[64];
	void *target;

	spec = find(p->command, 0, argument + 2, length - 2, &target);
	if (!spec)
		return unknown_option(p, argument, length);
	written(spec, 0, option, sizeof(option));
	if (!spec->argument && value) {
		cli_message("%s takes no argument", option);
		return OPTIONS_WRONG;
	}
	if (spec->argument && !value && !spec->is_optional)
		value = next_value(p, option);
	if (spec->argument && !value && !spec->is_optional)
		return OPTIONS_WRONG;
	return set(spec, target, option, value);
}

/* One or more letters behind one dash; the rest is the value of the first that takes one. */
static int parse_letters(struct parser *p, const char *argument)
{
	for (const char *c = argument + 1; *c; c++) {
		const struct option_spec *spec;
		const char *value = NULL;
		char option[64];
		void *target;
		int status;

		if (*c == 'h')
			return OPTIONS_HELP;
		spec = find(p->command, *c, NULL, 0, &target);
		if (!spec) {
			char shown[3] = {'-', *c, '\0'};

			return unknown_option(p, shown, 2);
		}
		written(spec, *c, option, sizeof(option));
		if (spec->argument) {
			value = c[1] ? c + 1 : next_value(p, option);
			if (!value)
				return OPTIONS_WRONG;
		}
		status = set(spec, target, option, value);
		if (status || spec->argument)
			return status;
	}
	return OPTIONS_GOOD;
}

static int parse_argument(const struct parser *p, const char *argument)
{
	const char *why = p->command->argument(p->command->argument_target, argument);

	if (!why)
		return OPTIONS_GOOD;
	cli_message("%s: %s", argument, why);
	return OPTIONS_WRONG;
}

int options_parse(const struct option_command *command, int argc, char **argv)
{
	struct parser p = {command, argv[0], argc, 1, argv};
	bool options_end = false;
	int status = OPTIONS_GOOD;

	while (p.next < argc && status == OPTIONS_GOOD) {
		const char *argument = argv[p.next++];

		if (options_end || argument[0] != '-' || !argument[1])
			status = parse_argument(&p, argument);
		else if (!strcmp(argument, "--"))
			options_end = true;
		else if (!strcmp(argument, "--help"))
			status = OPTIONS_HELP;
		else if (argument[1] == '-')
			status = parse_long(&p, argument);
		else
			status = parse_letters(&p, argument);
	}
	return status;
}

enum { HELP_COLUMN = 26 };

static void add_option(struct text *out, char letter, const char *name, const char *argument,
		       bool is_optional, const char *help)
{
	size_t start = out->size;

	if (letter)
		text_printf(out, "  -%c, --%s", letter, name);
	else
		text_printf(out, "      --%s", name);
	if (argument)
		text_printf(out, is_optional ? "[=%s]" : " %s", argument);
	if (out->size - start > HELP_COLUMN - 2) {
		text_add(out, "\n");
		start = out->size;
	}
	text_wrap(out, help, HELP_COLUMN, start);
}

static void add_help(struct text *out, const struct option_command *command)
{
	text_printf(out, "%s\n", command->usage);
	text_wrap(out, command->description, 0, out->size);
	for (const struct option_group *g = command->groups; g->title; g++) {
		if (*g->title)
			text_printf(out, "\n%s:\n", g->title);
		for (const struct option_spec *s = g->specs; s->name; s++)
			add_option(out, s->letter, s->name, s->argument, s->is_optional, s->help);
		if (!g[1].title)
			add_option(out, 'h', "help", NULL, false, help_text);
	}
	if (command->epilogue)
		text_printf(out, "\n%s", command->epilogue);
}

int options_print_help(const struct option_command *command)
{
	struct text text = {0};
	struct output out;

	output_open(&out, NULL);
	add_help(&text, command);
	output_write(&out, &text);
	text_free(&text);
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

bool options_take(const struct option_command *command, int argc, char **argv, int *status)
{
	int parsed = options_parse(command, argc, argv);

	*status = parsed == OPTIONS_HELP    ? options_print_help(command)
		  : parsed == OPTIONS_WRONG ? CLI_USAGE
					    : CLI_GOOD;
	return parsed == OPTIONS_GOOD;
}

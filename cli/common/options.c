/* SPDX-License-Identifier: MIT
 *
 * Options of commands as tables: parsing and help.
 */
#include "options.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/block.h>
#include <tact/model.h>

#include "cli.h"
#include "output.h"

static const char help_text[] = "print this help";

enum { OPTIONS_GOOD, OPTIONS_HELP, OPTIONS_WRONG };

const struct option_choice option_formats[] = {
	{"text", FORMAT_TEXT},
	{"csv", FORMAT_CSV},
	{"markdown", FORMAT_MARKDOWN},
	{"json", FORMAT_JSON},
	{"sarif", FORMAT_SARIF},
	{"junit", FORMAT_JUNIT},
	{"folded", FORMAT_FOLDED},
	{"flame", FORMAT_FLAME},
	{"speedscope", FORMAT_SPEEDSCOPE},
	{"pprof", FORMAT_PPROF},
	{NULL, 0},
};

const struct option_choice option_modes[] = {
	{"auto", TACT_MODE_AUTO},
	{"loop", TACT_MODE_LOOP},
	{"unroll", TACT_MODE_UNROLL},
	{NULL, 0},
};

const struct option_choice option_inits[] = {
	{"stack", TACT_INIT_STACK},
	{"same", TACT_INIT_SAME},
	{"diff", TACT_INIT_DIFF},
	{NULL, 0},
};

const char *option_choice_name(const struct option_choice *choices, int value)
{
	for (const struct option_choice *c = choices; c->name; c++)
		if (c->value == value)
			return c->name;
	return "";
}

/* The arguments that are left, the command that they are for, and its struct. */
struct parser {
	const struct option_command *command;
	void *target;
	const char *command_name;
	int argc, next;
	char **argv;
};

static const struct option_spec *find(const struct parser *p, char letter, const char *name,
				      size_t length, void **target)
{
	for (const struct option_group *g = p->command->groups; g->title; g++) {
		for (const struct option_spec *s = g->specs; s->name; s++) {
			if (letter ? s->letter != letter
				   : strlen(s->name) != length ||
					     memcmp(s->name, name, length) != 0)
				continue;
			*target = (char *)p->target + g->offset;
			return s;
		}
	}
	return NULL;
}

/* Options as compilers and llvm-mca spell them, with one dash or two, and what they are here. */
static const struct alias {
	const char *theirs, *ours;
} aliases[] = {
	{"mcpu", "arch"},
	{"march", "arch"},
};

/* Returns our name of an option that the command has under another name; NULL if it has none.
 * *after is what follows the name: "", or '=' and a value.
 */
static const char *alias_of(const struct parser *p, const char *argument, const char **after)
{
	const char *name = argument + (argument[1] == '-' ? 2 : 1);
	const size_t length = strcspn(name, "=");
	void *target;

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strlen(aliases[i].theirs) == length &&
		    !memcmp(aliases[i].theirs, name, length) &&
		    !find(p, 0, name, length, &target) &&
		    find(p, 0, aliases[i].ours, strlen(aliases[i].ours), &target)) {
			*after = name + length;
			return aliases[i].ours;
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
	snprintf(buffer, size, "%s", cli_string(&text));
	text_free(&text);
	return buffer;
}

static bool is_allowed(unsigned allowed, const struct option_choice *choice)
{
	return !allowed || (allowed & OPTION_BIT(choice->value));
}

static const char *choice_name(size_t i, const void *context)
{
	const struct option_spec *spec = context;

	return is_allowed(spec->allowed, &spec->choices[i]) ? spec->choices[i].name : NULL;
}

static int set_choice(const struct option_spec *spec, int *field, const char *option,
		      const char *value)
{
	struct text list = {0};
	size_t n = 0;
	const char *near;

	for (; spec->choices[n].name; n++) {
		const struct option_choice *c = &spec->choices[n];

		if (!is_allowed(spec->allowed, c))
			continue;
		if (!strcmp(c->name, value)) {
			*field = c->value;
			text_free(&list);
			return OPTIONS_GOOD;
		}
		text_printf(&list, "%s%s", list.size ? ", " : "", c->name);
	}
	cli_string(&list);
	near = cli_nearest(value, n, choice_name, spec);
	if (near)
		cli_message("%s: '%s' is not one of %s; did you mean %s?", option, value, list.data,
			    near);
	else
		cli_message("%s: '%s' is not one of %s", option, value, list.data);
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
	case OPTION_IS_FLAG:
		*(bool *)field = true;
		return OPTIONS_GOOD;
	case OPTION_IS_TEXT:
		*(const char **)field = value;
		return OPTIONS_GOOD;
	case OPTION_IS_NUMBER:
		return set_number(spec, field, option, value);
	case OPTION_IS_CHOICE:
		return set_choice(spec, field, option, value);
	case OPTION_IS_CALL:
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

static int parse_long(struct parser *p, const char *argument);

/* Parses an option of another name as if it had ours. */
static int parse_alias(struct parser *p, const char *ours, const char *after)
{
	struct text text = {0};
	int status;

	text_printf(&text, "--%s%s", ours, after);
	/* The value is borrowed from argv: it must not be that of the copy. */
	if (*after) {
		const struct option_spec *spec;
		void *target = NULL;

		spec = find(p, 0, ours, strlen(ours), &target);
		status = set(spec, target, cli_string(&text), after + 1);
	} else {
		status = parse_long(p, cli_string(&text));
	}
	text_free(&text);
	return status;
}

static int parse_long(struct parser *p, const char *argument)
{
	const char *equals = strchr(argument, '=');
	size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
	const struct option_spec *spec;
	const char *value = equals ? equals + 1 : NULL;
	char option[64];
	void *target;

	spec = find(p, 0, argument + 2, length - 2, &target);
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

/* One or more letters after one dash; the rest is the value of the first letter that takes one. */
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
		spec = find(p, *c, NULL, 0, &target);
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

static int parse_argument(const struct parser *p, const char *argument, bool is_after)
{
	const struct option_group *last = p->command->groups;
	const char *why;

	while (last->title)
		last++;
	if (!last->argument) {
		cli_message("%s: %s takes no input", argument, p->command_name);
		return OPTIONS_WRONG;
	}
	why = (is_after ? last->after : last->argument)((char *)p->target + last->offset, argument);
	if (!why)
		return OPTIONS_GOOD;
	cli_message("%s: %s", argument, why);
	return OPTIONS_WRONG;
}

static int parse(struct parser *p)
{
	bool options_end = false;
	int status = OPTIONS_GOOD;

	while (p->next < p->argc && status == OPTIONS_GOOD) {
		const char *argument = p->argv[p->next++], *ours, *after;

		if (options_end || argument[0] != '-' || !argument[1])
			status = parse_argument(p, argument, options_end);
		else if (!strcmp(argument, "--"))
			options_end = true;
		else if (!strcmp(argument, "--help"))
			status = OPTIONS_HELP;
		else if ((ours = alias_of(p, argument, &after)))
			status = parse_alias(p, ours, after);
		else if (argument[1] == '-')
			status = parse_long(p, argument);
		else
			status = parse_letters(p, argument);
	}
	return status;
}

enum { HELP_COLUMN = 26 };

/* Puts the explanation after the option, or below it if the option is long. */
static void add_explanation(struct text *out, size_t start, const char *help)
{
	if (out->size - start > HELP_COLUMN - 2) {
		text_add(out, "\n");
		start = out->size;
	}
	text_wrap(out, help, HELP_COLUMN, start);
}

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
	add_explanation(out, start, help);
}

static void add_options(struct text *out, const struct option_group *groups)
{
	for (const struct option_group *g = groups; g->title; g++) {
		if (*g->title)
			text_printf(out, "%s%s:\n", g == groups ? "" : "\n", g->title);
		for (const struct option_spec *s = g->specs; s->name; s++)
			add_option(out, s->letter, s->name, s->argument, s->is_optional, s->help);
		if (!g[1].title)
			add_option(out, 'h', "help", NULL, false, help_text);
	}
}

/* Adds the rows of the registry. */
static void add_models(struct text *out)
{
	text_add(out, "Names of models:\n");
	for (const struct tact_model *m = NULL; (m = tact_model_next(m));) {
		size_t start = out->size;

		text_printf(out, "  %s", m->form);
		add_explanation(out, start, m->help);
	}
}

/* Adds the text after the options, with the list of models where it asks for one. */
static void add_epilogue(struct text *out, const char *text)
{
	static const char place[] = "{models}\n";
	const char *models = strstr(text, place);

	if (models) {
		text_add_bytes(out, text, (size_t)(models - text));
		add_models(out);
		text = models + sizeof(place) - 1;
	}
	text_add(out, text);
}

static void add_help(struct text *out, const struct option_command *command)
{
	static const char place[] = "{options}\n";
	const char *paragraph = strstr(command->help, "\n\n") + 2;
	const char *options = strstr(paragraph, place);
	char *words = strndup(paragraph, (size_t)(options - paragraph) - 2);

	if (!words)
		cli_out_of_memory();
	text_add_bytes(out, command->help, (size_t)(paragraph - command->help));
	text_wrap(out, words, 0, out->size);
	free(words);
	text_add(out, "\n");
	add_options(out, command->groups);
	add_epilogue(out, options + sizeof(place) - 1);
}

static int print_help(const struct option_command *command)
{
	struct text text = {0};

	add_help(&text, command);
	return output_all(NULL, &text);
}

/* A row of COMMANDS_LIST: "option", letter, name, argument, choices and help, separated by tabs; a '+'
 * before the argument says that it may be missing.
 */
static void list_option(struct text *out, const struct option_spec *s)
{
	const char letter[] = {s->letter ? '-' : '\0', s->letter, '\0'};

	text_printf(out, "option\t%s\t--%s\t%s%s\t", letter, s->name, s->is_optional ? "+" : "",
		    s->argument ? s->argument : "");
	for (const struct option_choice *c = s->choices; c && c->name; c++)
		if (!s->allowed || s->allowed >> c->value & 1)
			text_printf(out, "%s ", c->name);
	text_printf(out, "\t%s\n", s->help);
}

static int list_options(const struct option_command *command)
{
	struct text text = {0};

	for (const struct option_group *g = command->groups; g->title; g++)
		for (const struct option_spec *s = g->specs; s->name; s++)
			list_option(&text, s);
	text_printf(&text, "option\t-h\t--help\t\t\t%s\n", help_text);
	return output_all(NULL, &text);
}

static void clean_up(const struct option_command *command, void *target)
{
	const struct option_group *g = command->groups;

	if (command->fini)
		command->fini(target);
	do {
		if (g->fini)
			g->fini((char *)target + g->offset);
	} while (g++->title);
}

int option_command_run(const struct option_command *command, void *target, int argc, char **argv)
{
	struct parser p = {command, target, argv[0], argc, 1, argv};
	int status;

	if (argc == 2 && !strcmp(argv[1], COMMANDS_LIST))
		return list_options(command);
	switch (parse(&p)) {
	case OPTIONS_HELP:
		status = print_help(command);
		break;
	case OPTIONS_WRONG:
		status = CLI_USAGE;
		break;
	default:
		status = command->run(target);
	}
	clean_up(command, target);
	return status;
}

const char *option_words_add(void *target, const char *word)
{
	struct option_words *words = target;

	words->list = cli_realloc(words->list, (words->n + 2) * sizeof(*words->list));
	words->list[words->n++] = (char *)word;
	words->list[words->n] = NULL;
	return NULL;
}

void option_words_fini(void *target)
{
	struct option_words *words = target;

	free(words->list);
	*words = (struct option_words){NULL, 0};
}

const char *option_alignment(const char *value, unsigned *alignment, bool *is_all, char *why,
			     size_t size)
{
	unsigned long number;
	char *end;

	*is_all = !strcmp(value, "all");
	if (*is_all)
		return NULL;
	number = strtoul(value, &end, 0);
	if (*value < '0' || *value > '9' || *end || number > 63) {
		snprintf(why, size, "'%.40s' is neither a number from 0 to 63 nor 'all'", value);
		return why;
	}
	*alignment = (unsigned)number;
	return NULL;
}

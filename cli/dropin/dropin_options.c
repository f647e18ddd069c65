/* SPDX-License-Identifier: MIT
 *
 * Options of other tools: one dash or two, values after = or in the next word.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <tact/version.h>

#include "common/cli.h"
#include "common/commands.h"
#include "dropin.h"

const char *dropin_command_of(const char *program)
{
	static const struct {
		const char *name, *command;
	} names[] = {{"llvm-mca", "mca"}, {"uica", "uica"}, {"uica.py", "uica"},
		     {"osaca", "osaca"},  {"iaca", "iaca"}, {"iaca.sh", "iaca"}};
	const char *slash = program ? strrchr(program, '/') : NULL;
	const char *name = slash ? slash + 1 : program;
	size_t length;

	if (!name)
		return NULL;
	length = strlen(name);
	/* Debian's names have a version: llvm-mca-19; scripts' names of IACA, too: iaca3.0. */
	if (!strncasecmp(name, "llvm-mca-", 9) && strspn(name + 9, "0123456789.") == length - 9)
		length = 8;
	else if (!strncasecmp(name, "iaca", 4) && strspn(name + 4, "0123456789.") == length - 4)
		length = 4;
	for (size_t i = 0; i < CLI_ARRAY_SIZE(names); i++)
		if (strlen(names[i].name) == length && !strncasecmp(names[i].name, name, length))
			return names[i].command;
	return NULL;
}

/* ---- help ---- */

static void add_option(struct text *out, const struct dropin_option *o)
{
	const size_t start = out->size;
	const char *argument = o->argument ? o->argument : o->kind == DROPIN_NUMBER ? "N" : "VALUE";

	text_printf(out, "  -%s", o->name);
	if (o->kind == DROPIN_MAYBE)
		text_printf(out, o->is_attached ? "[=%s]" : " [%s]", argument);
	else if (o->kind != DROPIN_SWITCH && o->kind != DROPIN_INERT && o->kind != DROPIN_REFUSED)
		text_printf(out, " %s", argument);
	if (out->size - start > 28) {
		text_add(out, "\n");
		text_wrap(out, o->help, 30, out->size);
	} else {
		text_wrap(out, o->help, 30, start);
	}
}

static int print_help(const struct dropin_tool *tool)
{
	struct text out = {0};

	text_add(&out, tool->intro);
	text_add(&out, "\nOptions, with one dash or two:\n");
	for (const struct dropin_option *o = tool->options; o->name; o++)
		if (o->kind != DROPIN_REFUSED)
			add_option(&out, o);
	text_add(&out, "  -help                       print this help\n"
		       "  -version                    print the version\n\nRefused:\n");
	for (const struct dropin_option *o = tool->options; o->name; o++)
		if (o->kind == DROPIN_REFUSED)
			add_option(&out, o);
	text_add(&out, tool->more);
	return output_all(NULL, &out);
}

/* LLVM's tools have several helps. */
static bool is_more_help(const struct dropin_tool *tool, const char *name)
{
	return !strncmp(tool->name, "llvm-", 5) &&
	       (!strcmp(name, "help-hidden") || !strcmp(name, "help-list") ||
		!strcmp(name, "help-list-hidden"));
}

/* As the other commands answer COMMANDS_LIST: for completion. */
static int list_options(const struct dropin_tool *tool)
{
	struct text out = {0};

	for (const struct dropin_option *o = tool->options; o->name; o++) {
		const bool has_value = o->kind != DROPIN_SWITCH && o->kind != DROPIN_INERT;

		if (o->kind != DROPIN_REFUSED)
			text_printf(&out, "option\t\t--%s\t%s%s\t\t%s\n", o->name,
				    o->kind == DROPIN_MAYBE ? "+" : "",
				    !has_value	  ? ""
				    : o->argument ? o->argument
						  : "VALUE",
				    o->help);
	}
	text_add(&out, "option\t-h\t--help\t\t\tprint this help\n");
	return output_all(NULL, &out);
}

static int print_version(const struct dropin_tool *tool)
{
	struct text out = {0};

	text_printf(&out, "tact %d.%d.%d, %s's options and formats\n", TACT_VERSION_MAJOR,
		    TACT_VERSION_MINOR, TACT_VERSION_PATCH, tool->name);
	return output_all(NULL, &out);
}

/* ---- parsing ---- */

struct parsing {
	const struct dropin_tool *tool;
	char *target;
	int argc, next;
	char **argv;
};

static int wrong(const struct parsing *p)
{
	return p->tool->usage_exit;
}

static const char *option_name(size_t i, const void *context)
{
	const struct dropin_tool *tool = context;

	return tool->options[i].name;
}

/* Returns the option of this name, or the only one that begins with it; NULL with the message given.
 */
static const struct dropin_option *find(const struct parsing *p, const char *name, size_t length)
{
	const struct dropin_option *found = NULL, *o;
	const char *near;
	char word[64];

	for (o = p->tool->options; o->name; o++) {
		if (strlen(o->name) == length && !strncmp(o->name, name, length))
			return o;
		if (p->tool->has_abbreviations && !strncmp(o->name, name, length)) {
			if (found) {
				cli_message("%s: -%.*s may be -%s or -%s", p->tool->command,
					    (int)length, name, found->name, o->name);
				return NULL;
			}
			found = o;
		}
	}
	if (found)
		return found;
	snprintf(word, sizeof(word), "%.*s", (int)(length < 60 ? length : 60), name);
	near = cli_nearest(word, (size_t)(o - p->tool->options), option_name, p->tool);
	cli_message(near ? "%s: unknown option -%s; did you mean -%s?"
			 : "%s: unknown option -%s; 'tact %s --help' lists them all",
		    p->tool->command, word, near ? near : p->tool->command);
	return NULL;
}

static int set_switch(const struct parsing *p, const struct dropin_option *o, const char *value)
{
	struct dropin_switch *field = (struct dropin_switch *)(void *)(p->target + o->offset);
	static const char *const yes[] = {"true", "TRUE", "True", "1"};
	static const char *const no[] = {"false", "FALSE", "False", "0"};

	for (size_t i = 0; i < CLI_ARRAY_SIZE(yes); i++) {
		if (value && strcmp(value, yes[i]) && strcmp(value, no[i]))
			continue;
		*field =
			(struct dropin_switch){!value || !strcmp(value, yes[i]), (unsigned)p->next};
		return DROPIN_GO_ON;
	}
	cli_message("%s: -%s: '%s' is neither true nor false", p->tool->command, o->name, value);
	return wrong(p);
}

static int set_number(const struct parsing *p, const struct dropin_option *o, const char *value)
{
	const unsigned high = o->high ? o->high : UINT32_MAX;
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(value, &end, 0);
	if (*value < '0' || *value > '9' || *end || errno || number < o->low || number > high) {
		cli_message("%s: -%s: '%s' is not a number from %u to %u", p->tool->command,
			    o->name, value, o->low, high);
		return wrong(p);
	}
	*(unsigned *)(void *)(p->target + o->offset) = (unsigned)number;
	return DROPIN_GO_ON;
}

/* A word after an option whose value may be missing: argparse takes it unless it is an option. */
static const char *maybe_next(struct parsing *p, const struct dropin_option *o)
{
	if (!o->is_attached && p->next < p->argc && p->argv[p->next][0] != '-')
		return p->argv[p->next++];
	return o->otherwise;
}

static int set(struct parsing *p, const struct dropin_option *o, const char *value)
{
	const char **text = (const char **)(void *)(p->target + o->offset);

	switch (o->kind) {
	case DROPIN_SWITCH:
		return set_switch(p, o, value);
	case DROPIN_INERT:
		return DROPIN_GO_ON;
	case DROPIN_REFUSED:
		cli_message("%s: -%s is not supported: %s", p->tool->command, o->name, o->help);
		return wrong(p);
	case DROPIN_MAYBE:
		*text = value ? value : maybe_next(p, o);
		return DROPIN_GO_ON;
	case DROPIN_TEXT:
	case DROPIN_NUMBER:
	case DROPIN_INERT_VALUE:
		break;
	}
	if (!value && p->next == p->argc) {
		cli_message("%s: -%s needs a value", p->tool->command, o->name);
		return wrong(p);
	}
	if (!value)
		value = p->argv[p->next++];
	if (o->kind == DROPIN_NUMBER)
		return set_number(p, o, value);
	if (o->kind == DROPIN_TEXT)
		*text = value;
	return DROPIN_GO_ON;
}

static int take_input(const struct parsing *p, const char *path, bool *has_input)
{
	if (*has_input) {
		cli_message("%s: %s: there is an input already, %s takes one", p->tool->command,
			    path, p->tool->name);
		return wrong(p);
	}
	*has_input = true;
	*(const char **)(void *)(p->target + p->tool->input) = path;
	return DROPIN_GO_ON;
}

int dropin_parse(const struct dropin_tool *tool, void *target, int argc, char **argv)
{
	struct parsing p = {tool, target, argc, 1, argv};
	bool has_input = false, is_over = false;
	int status = DROPIN_GO_ON;

	if (argc == 2 && !strcmp(argv[1], COMMANDS_LIST))
		return list_options(tool);
	while (p.next < argc && status == DROPIN_GO_ON) {
		const char *word = argv[p.next++], *name = word + (word[0] == '-');
		const struct dropin_option *o;
		size_t length;

		if (is_over || word[0] != '-' || !word[1]) {
			status = take_input(&p, word, &has_input);
			continue;
		}
		if (!strcmp(word, "--")) {
			is_over = true;
			continue;
		}
		name += *name == '-';
		if (!strcmp(name, "help") || !strcmp(word, "-h") || is_more_help(p.tool, name))
			return print_help(tool);
		if (!strcmp(name, "version") || !strcmp(word, "-V"))
			return print_version(tool);
		length = strcspn(name, "=");
		o = find(&p, name, length);
		status = o ? set(&p, o, name[length] ? name + length + 1 : NULL) : wrong(&p);
	}
	return status;
}

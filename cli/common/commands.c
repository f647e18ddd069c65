/* SPDX-License-Identifier: MIT
 *
 * Lists of commands.
 */
#include "commands.h"

#include <string.h>
#include <strings.h>

#include "cli.h"
#include "output.h"

const struct command *commands_find(const struct command_list *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->commands[i].name, name))
			return &list->commands[i];
	return NULL;
}

int commands_list(const struct command_list *list)
{
	struct text text = {0};

	for (size_t i = 0; i < list->n; i++)
		text_printf(&text, "command\t%s\t%s\n", list->commands[i].name,
			    list->commands[i].help);
	return output_all(NULL, &text);
}

int commands_help(const struct command_list *list)
{
	struct text text = {0};

	text_add(&text, list->intro);
	for (size_t i = 0; i < list->n; i++)
		text_printf(&text, "  %-10s%s\n", list->commands[i].name, list->commands[i].help);
	text_add(&text, list->outro);
	return output_all(NULL, &text);
}

static const char *name_of(size_t i, const void *context)
{
	const struct command_list *list = context;

	return list->commands[i].name;
}

/* Whether it is a program that predicts the cycles of a block. */
static bool is_other_tool(const char *name)
{
	return !strcasecmp(name, "facile") || !strcasecmp(name, "facile.py");
}

int commands_unknown(const struct command_list *list, const char *name)
{
	const char *owner = list->owner, *colon = *owner ? ": " : "", *sub = *owner ? "sub" : "";
	const char *space = *owner ? " " : "";
	const char *near = name ? cli_nearest(name, list->n, name_of, list) : NULL;

	if (name && !*owner && is_other_tool(name))
		return cli_wrong("'%s' is not a command; what that program tells, 'tact predict' "
				 "and 'tact simulate' do",
				 name);
	if (near)
		return cli_wrong("%s%s'%s' is not a %scommand; did you mean %s?", owner, colon,
				 name, sub, near);
	if (name)
		return cli_wrong("%s%s'%s' is not a %scommand; 'tact %s%s--help' lists all", owner,
				 colon, name, sub, owner, space);
	return cli_wrong("%s%sa %scommand is missing; 'tact %s%s--help' lists all", owner, colon,
			 sub, owner, space);
}

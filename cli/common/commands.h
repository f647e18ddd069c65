/* SPDX-License-Identifier: MIT
 *
 * A list of commands, or of subcommands of one: finding, and the first screen.
 */
#ifndef TACT_COMMANDS_H
#define TACT_COMMANDS_H

#include <stddef.h>

typedef int command_main(int argc, char **argv); /* argv[0] is the command; returns an exit code */

struct command {
	const char *name, *help;
	command_main *run;
};

struct command_list {
	const char *owner; /* "" or "mix", whose subcommands they are */
	const char *intro; /* before and after the list */
	const char *outro;
	size_t n;
	const struct command *commands;
};

/* Returns NULL if there is no such command. */
const struct command *commands_find(const struct command_list *list, const char *name);

/* Asks a command, or the program, for what it takes, one per line: for completion in shells. */
#define COMMANDS_LIST "--list-options"

/* Prints the commands for COMMANDS_LIST: "command", name and help, separated by tabs. */
int commands_list(const struct command_list *list);

/* Prints the first screen. */
int commands_help(const struct command_list *list);

/* Reports that the name is missing (NULL) or unknown.  Returns CLI_USAGE. */
int commands_unknown(const struct command_list *list, const char *name);

command_main cmd_predict, cmd_simulate, cmd_measure, cmd_calibrate, cmd_classify, cmd_evaluate,
	cmd_dataset, cmd_collect, cmd_trace, cmd_diff, cmd_check, cmd_mix, cmd_tune, cmd_hunt,
	cmd_insn, cmd_archs, cmd_serve, cmd_doctor, cmd_mca, cmd_uica, cmd_osaca, cmd_iaca;

#endif /* TACT_COMMANDS_H */

/* SPDX-License-Identifier: MIT
 *
 * The program: one row a command.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <tact/version.h>

#include "common/cli.h"
#include "common/commands.h"
#include "common/output.h"

static const struct command commands[] = {
	{"predict", "how many cycles a block of code takes, and why", cmd_predict},
	{"simulate", "the same, cycle by cycle: what every uop waits for", cmd_simulate},
	{"measure", "how many cycles it takes on this very machine", cmd_measure},
	{"classify", "categories of blocks by the ports that they use", cmd_classify},
	{"evaluate", "compares models with measured cycles", cmd_evaluate},
	{"dataset", "stores of blocks: import, export, merge, stat, lint", cmd_dataset},
	{"collect", "the basic blocks of a program, and how often each is executed", cmd_collect},
	{"trace", "cycles of a whole program, by function, block and source line", cmd_trace},
	{"diff", "what a change costs: cycles of two runs side by side", cmd_diff},
	{"mix", "what real runs execute: instruction mixes from samples", cmd_mix},
	{"tune", "learns the parameters of a model from measured blocks", cmd_tune},
	{"archs", "the CPUs that tact knows, their parameters, what has no data", cmd_archs},
	{"doctor", "what this machine can do, and how to get more out of it", cmd_doctor},
};

static const struct command_list list = {
	.owner = "",
	.intro = "usage: tact COMMAND [OPTIONS] [INPUT...]\n\n"
		 "tact says how many cycles machine code takes, and why.\n\n"
		 "Commands:\n",
	.outro = "\n"
		 "Examples:\n"
		 "  tact predict -x 480fafc34801d8           hex digits\n"
		 "  tact predict -a all kernel.s             assembly text, every CPU\n"
		 "  tact predict --function main a.out       the loops of a function\n"
		 "  tact predict -f csv -a HSW blocks.csv    many blocks\n"
		 "  tact simulate --timeline kernel.s        what waits for what\n"
		 "  tact measure -x 480fafc34801d8           on this machine\n"
		 "  tact collect -o gzip.csv -- gzip -k x    what a program executes\n"
		 "  tact trace -a SKL -- gzip -k x           cycles of a whole program\n"
		 "  tact diff old.json new.json              what a change costs\n"
		 "\n"
		 "'tact help COMMAND' or 'tact COMMAND --help' says more; tact --version.\n"
		 "Exit status: 0 good, 1 some inputs failed, 2 wrong usage, 3 this machine\n"
		 "cannot do it, 4 'tact diff' is over its threshold.\n",
	.n = CLI_ARRAY_SIZE(commands),
	.commands = commands,
};

static int version(void)
{
	struct text text = {0};

	text_printf(&text, "tact %d.%d.%d\n", TACT_VERSION_MAJOR, TACT_VERSION_MINOR,
		    TACT_VERSION_PATCH);
	return output_all(NULL, &text);
}

static int help(const char *name)
{
	const struct command *command = commands_find(&list, name);
	char help_option[] = "--help", *argv[] = {NULL, help_option, NULL};

	if (!command)
		return !strcmp(name, "help") ? commands_help(&list) : commands_unknown(&list, name);
	argv[0] = (char *)command->name;
	return command->run(2, argv);
}

int main(int argc, char **argv)
{
	const struct command *command;
	const char *name = argc > 1 ? argv[1] : NULL;

	cli_fill_descriptors();
	signal(SIGPIPE, SIG_IGN); /* a reader that went away is an error of write() */
	if (tact_version() >> 16 != TACT_VERSION_MAJOR) {
		cli_message("the library is of version %u, this program needs %d",
			    tact_version() >> 16, TACT_VERSION_MAJOR);
		return CLI_UNABLE;
	}
	if (!name)
		return commands_unknown(&list, NULL);
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		return commands_help(&list);
	if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		return version();
	if (!strcmp(name, "help"))
		return argc > 2 ? help(argv[2]) : commands_help(&list);
	command = commands_find(&list, name);
	if (!command)
		return commands_unknown(&list, name);
	return command->run(argc - 1, argv + 1);
}

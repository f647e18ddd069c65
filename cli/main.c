/* SPDX-License-Identifier: MIT
 *
 * The program: one row per command.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <tact/version.h>

#include "common/cli.h"
#include "common/commands.h"
#include "common/output.h"
#include "dropin/dropin.h"

static const struct command commands[] = {
	{"predict", "predict the cycles of a block, and explain them", cmd_predict},
	{"simulate", "simulate a block cycle by cycle: what each uop waits for", cmd_simulate},
	{"measure", "measure the cycles of a block on this machine", cmd_measure},
	{"calibrate", "measure caches, memory, pages and branches of this machine", cmd_calibrate},
	{"classify", "sort blocks into categories by the ports that they use", cmd_classify},
	{"evaluate", "compare the predictions of models with measurements", cmd_evaluate},
	{"dataset", "keep blocks in a store: import, export, merge, stat, lint", cmd_dataset},
	{"collect", "collect the basic blocks of a program with their executions", cmd_collect},
	{"trace", "predict the cycles of a program by function, block and line", cmd_trace},
	{"diff", "compare the cycles of two runs: what a change costs", cmd_diff},
	{"check", "compare code with a stored baseline, for CI: no run", cmd_check},
	{"mix", "count the instructions of real runs from samples", cmd_mix},
	{"tune", "learn the parameters of a model from measured blocks", cmd_tune},
	{"hunt", "find the classes of blocks that a model predicts wrongly", cmd_hunt},
	{"insn", "look up an instruction: uops, ports, latencies, sources", cmd_insn},
	{"archs", "list microarchitectures, their parameters, what has no data", cmd_archs},
	{"serve", "answer over HTTP, in JSON, what these commands print", cmd_serve},
	{"doctor", "report what this machine can do, and how to improve it", cmd_doctor},
	{"mca", "llvm-mca's options and views, with tact's numbers", cmd_mca},
	{"uica", "uiCA's options and report, with tact's numbers", cmd_uica},
	{"osaca", "OSACA's options and report, with tact's numbers", cmd_osaca},
	{"iaca", "IACA's options and report, with tact's numbers", cmd_iaca},
};

static const struct command_list list = {
	.owner = "",
	.intro = "usage: tact COMMAND [OPTIONS] [INPUT...]\n\n"
		 "tact tells how many cycles machine code takes, and why.\n\n"
		 "Commands:\n",
	.outro = "\n"
		 "Examples:\n"
		 "  tact predict -x 480fafc34801d8           hex digits\n"
		 "  tact predict -a all kernel.s             assembly text, every arch\n"
		 "  tact predict --function main a.out       the loops of a function\n"
		 "  tact predict -f csv -a HSW blocks.csv    many blocks\n"
		 "  tact simulate --timeline kernel.s        what waits for what\n"
		 "  tact measure -x 480fafc34801d8           on this machine\n"
		 "  tact collect -o gzip.csv -- gzip -k x    what a program executes\n"
		 "  tact trace -a SKL -- gzip -k x           cycles of a whole program\n"
		 "  tact diff old.json new.json              what a change costs\n\n"
		 "'tact help COMMAND' or 'tact COMMAND --help' lists the options of a command;\n"
		 "'tact --version' prints the version.\n"
		 "Exit status: 0 success, 1 some inputs failed, 2 wrong usage, 3 this machine\n"
		 "cannot do it, 4 over a threshold ('tact diff', 'tact check').\n",
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
	/* write() reports a reader that went away, and a file that ulimit -f does not allow. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (tact_version() >> 16 != TACT_VERSION_MAJOR) {
		cli_message("libtact has version %u, but this program needs version %d",
			    tact_version() >> 16, TACT_VERSION_MAJOR);
		return CLI_UNABLE;
	}
	if (dropin_command_of(argv[0]))
		return commands_find(&list, dropin_command_of(argv[0]))->run(argc, argv);
	if (!name)
		return commands_unknown(&list, NULL);
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		return commands_help(&list);
	if (!strcmp(name, COMMANDS_LIST))
		return commands_list(&list);
	if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		return version();
	if (!strcmp(name, "help"))
		return argc > 2 ? help(argv[2]) : commands_help(&list);
	command = commands_find(&list, dropin_command_of(name) ? dropin_command_of(name) : name);
	if (!command)
		return commands_unknown(&list, name);
	return command->run(argc - 1, argv + 1);
}

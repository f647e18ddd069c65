/* SPDX-License-Identifier: MIT
 *
 * tact mix: one row per subcommand.
 */
#include <stdio.h>
#include <string.h>

#include "mixer.h"

static const struct command subcommands[] = {
	{"record", "run or watch a program, and sample it", mix_record_main},
	{"report", "print what a recording executed", mix_report_main},
	{"diff", "compare two recordings", mix_diff_main},
	{"exact", "count every execution with QEMU", mix_exact_main},
	{"export", "write branch stacks for BOLT", mix_export_main},
	{"merge", "add up many files of counts or stacks", mix_merge_main},
	{"train", "learn the rule that chooses between two ways of counting", mix_train_main},
};

static const struct command_list list = {
	.owner = "mix",
	.intro = "usage: tact mix SUBCOMMAND [OPTIONS]\n\n"
		 "Counts the instructions of real runs: samples of the PMU tell how often each\n"
		 "basic block ran, and disassembly tells what is in it.\n\n"
		 "Subcommands:\n",
	.outro = "\n"
		 "Examples:\n"
		 "  tact mix record -o gzip.data -- gzip -9k file\n"
		 "  tact mix report -i gzip.data --by extension,packing\n"
		 "  tact mix report -i perf.data --by function,mnemonic --top 20\n"
		 "  tact mix report -i perf.data --cycles -a SKL\n"
		 "  tact mix record --native -o gzip.counts -- gzip -9k file\n"
		 "  tact mix record --virtual -o gzip.data -- gzip -9k file\n\n"
		 "'tact mix SUBCOMMAND --help' lists the options of a subcommand.\n",
	.n = CLI_ARRAY_SIZE(subcommands),
	.commands = subcommands,
};

int cmd_mix(int argc, char **argv)
{
	static char name[32];
	const struct command *command = argc > 1 ? commands_find(&list, argv[1]) : NULL;

	if (command) {
		snprintf(name, sizeof(name), "mix %s", command->name);
		argv[1] = name; /* for messages */
		return command->run(argc - 1, argv + 1);
	}
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return commands_help(&list);
	if (argc > 1 && !strcmp(argv[1], COMMANDS_LIST))
		return commands_list(&list);
	return commands_unknown(&list, argv[1]);
}

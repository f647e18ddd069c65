/* SPDX-License-Identifier: MIT
 *
 * tact mix: one row a subcommand.
 */
#include <string.h>

#include "mixer.h"

static const struct command subcommands[] = {
	{"record", "run a program, or watch one, and sample it", mix_record_main},
	{"report", "what was executed: a table of a recording", mix_report_main},
	{"diff", "two recordings side by side", mix_diff_main},
	{"exact", "count every execution, with QEMU", mix_exact_main},
	{"train", "learn the rule that chooses between two ways of counting", mix_train_main},
};

static const char *name_of(size_t i, const void *context)
{
	(void)context;
	return subcommands[i].name;
}

static int help(void)
{
	struct text text = {0};

	text_add(&text,
		 "usage: tact mix SUBCOMMAND [OPTIONS]\n\n"
		 "Instruction mixes of real runs: samples of the PMU say how often each basic\n"
		 "block ran, disassembly says what is in it.\n\n"
		 "Subcommands:\n");
	for (size_t i = 0; i < CLI_ARRAY_SIZE(subcommands); i++)
		text_printf(&text, "  %-10s%s\n", subcommands[i].name, subcommands[i].help);
	text_add(&text, "\n"
			"Examples:\n"
			"  tact mix record -o gzip.data -- gzip -9k file\n"
			"  tact mix report -i gzip.data --by extension,packing\n"
			"  tact mix report -i perf.data --by function,mnemonic --top 20\n"
			"  tact mix report -i perf.data --cycles -a SKL\n"
			"  tact mix record --virtual -o gzip.data -- gzip -9k file\n"
			"\n"
			"'tact mix SUBCOMMAND --help' says more.\n");
	return output_all(NULL, &text);
}

int cmd_mix(int argc, char **argv)
{
	const char *near;

	if (argc < 2)
		return cli_wrong("mix: a subcommand is missing; 'tact mix --help' lists them");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help();
	for (size_t i = 0; i < CLI_ARRAY_SIZE(subcommands); i++)
		if (!strcmp(subcommands[i].name, argv[1]))
			return subcommands[i].run(argc - 1, argv + 1);
	near = cli_nearest(argv[1], CLI_ARRAY_SIZE(subcommands), name_of, NULL);
	if (near)
		cli_message("mix: '%s' is not a subcommand; did you mean %s?", argv[1], near);
	else
		cli_message("mix: '%s' is not a subcommand; 'tact mix --help' lists them", argv[1]);
	return CLI_USAGE;
}

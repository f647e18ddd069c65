/* SPDX-License-Identifier: MIT
 *
 * tact mix merge: many files become one, added up by key.
 */
#include <tact-program/mixfile.h>

#include "mixer.h"

static const char help[] =
	"usage: tact mix merge [OPTIONS] FILE...\n\n"
	"Adds up any number of files of one kind into one: counts of 'tact mix exact' and 'tact "
	"mix "
	"record --native', profiles for BOLT of 'tact mix export --bolt', or folded stacks. What "
	"several files have is one line with the sum. The result is sorted.\n\n"
	"{options}\n\n"
	"Memory grows with the number of different lines, not with that of files.\n\n"
	"Examples:\n"
	"  tact mix merge -o all.counts day1.counts day2.counts\n"
	"  tact mix merge -o all.folded host*.folded\n";

struct merger {
	struct option_words paths;
	const char *output;
	bool is_quiet;
};

#define OPTION_HOLDER merger

static const struct option_spec merge_output_specs[] = {
	OPTION_OUTPUT(output, OPTION_OUTPUT_HELP),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Output", merge_output_specs),
	OPTION_WORDS(paths),
};

static int run(void *target)
{
	struct merger *m = target;
	struct tact_mixfile *file;
	int code = CLI_GOOD;

	if (!m->paths.n)
		return cli_wrong("mix merge: give files");
	if (tact_mixfile_create(&file))
		cli_out_of_memory();
	for (size_t i = 0; i < m->paths.n && !code; i++) {
		struct tact_diag diag = {0};
		const int status = tact_mixfile_add(file, m->paths.list[i], &diag);

		if (status == -TACT_E_NOMEM)
			cli_out_of_memory();
		if (status < 0)
			code = cli_complain(m->paths.list[i], &diag, status, CLI_FAILED);
	}
	if (!code)
		code = mixer_write_file(file, m->output);
	tact_mixfile_destroy(file);
	return code;
}

static const struct option_command command = {help, groups, run, NULL};

int mix_merge_main(int argc, char **argv)
{
	struct merger m = {0};

	return option_command_run(&command, &m, argc, argv);
}

/* SPDX-License-Identifier: MIT
 *
 * tact mix export: recordings for other tools.
 */
#include <inttypes.h>

#include <tact-program/mixfile.h>

#include "mixer.h"

static const char help[] =
	"usage: tact mix export --bolt [OPTIONS] [FILE...]\n\n"
	"Writes the branch stacks of recordings as a pre-aggregated profile for BOLT: branches "
	"with "
	"how often they were mispredicted, and what ran between them, each once with its count. "
	"Several recordings are added up, one after the other.\n\n"
	"{options}\n\n"
	"A profile is of one program or library. A branch that leaves it, or comes\n"
	"from outside, has X:0 at its other end.\n\n"
	"Examples:\n"
	"  perf record -b -o perf.data -- ./server\n"
	"  tact mix export --bolt -o server.preagg perf.data\n"
	"  perf2bolt -pa -p server.preagg -o server.fdata ./server\n";

struct exporter {
	struct mixer_input input;
	struct option_words paths;
	const char *output, *module;
	bool is_bolt, is_quiet;
};

#define OPTION_HOLDER exporter

static const struct option_spec export_specs[] = {
	OPTION_FLAG(0, "bolt", is_bolt, "write BOLT's pre-aggregated profile"),
	OPTION_TEXT(0, "module", "NAME", module,
		    "of this program or library, by its path or name (default: the one with most "
		    "branches)"),
	OPTION_END,
};

static const struct option_spec export_output_specs[] = {
	OPTION_OUTPUT(output, OPTION_OUTPUT_HELP),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Profile", export_specs),
	OPTION_GROUP("Input", mixer_input_specs, input, mixer_input_fini),
	OPTION_OWN("Output", export_output_specs),
	OPTION_WORDS(paths),
};

int mixer_write_file(const struct tact_mixfile *file, const char *path)
{
	struct output out;

	if (output_open(&out, path))
		return CLI_FAILED;
	if (tact_mixfile_write(file, output_sink, &out) < 0)
		cli_out_of_memory();
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

static int add(struct exporter *e, struct tact_mixfile *file, const char *path)
{
	const struct tact_mix_options opt = {
		.size = sizeof(opt),
		.root = e->input.root,
		.files = e->input.files,
		.n_files = e->input.n_files,
	};
	struct tact_diag diag = {0};
	const int status = tact_mixfile_add_recording(file, path, &opt, e->module, &diag);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	return status < 0 ? cli_complain(path, &diag, status, CLI_FAILED) : CLI_GOOD;
}

static int run(void *target)
{
	struct exporter *e = target;
	struct tact_mixfile *file;
	int code = CLI_GOOD;

	if (!e->is_bolt)
		return cli_wrong("mix export: give the format: --bolt");
	if (tact_mixfile_create(&file))
		cli_out_of_memory();
	for (size_t i = 0; i < e->paths.n && !code; i++)
		code = add(e, file, e->paths.list[i]);
	if (!e->paths.n)
		code = add(e, file, "perf.data");
	if (!code && !e->is_quiet)
		cli_message("%s: %zu lines, %" PRIu64 " branches with one end outside",
			    tact_mixfile_module(file), tact_mixfile_count(file),
			    tact_mixfile_outside(file));
	if (!code)
		code = mixer_write_file(file, e->output);
	tact_mixfile_destroy(file);
	return code;
}

static const struct option_command command = {help, groups, run, NULL};

int mix_export_main(int argc, char **argv)
{
	struct exporter e = {0};

	return option_command_run(&command, &e, argc, argv);
}

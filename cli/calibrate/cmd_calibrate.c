/* SPDX-License-Identifier: MIT
 *
 * tact calibrate: what caches, memory, pages and branches cost on this machine.
 */
#include <limits.h>

#include "calibrate/calibration.h"
#include "common/cli.h"
#include "common/options.h"

static const char help[] =
	"usage: tact calibrate [OPTIONS]\n\n"
	"Measures on this machine, without counters, what the cycles of whole programs depend on: "
	"sizes and latencies of caches, bandwidths, TLBs, store-forwarding, mispredicted branches, "
	"what the predictor remembers, repeated string instructions, and code that no longer fits. "
	"It takes about half a minute on a quiet machine, and wants the core for itself.\n\n"
	"{options}\n\n"
	"Values that are not reliable, because something else used the core, rounds\n"
	"disagree, or a cache is shared, have a remark; in the parameter file they are\n"
	"comments.\n\n"
	"Examples:\n"
	"  tact calibrate -o here.arch\n"
	"  tact trace --params here.arch -- ./program\n"
	"  tact calibrate --save-points points.csv\n"
	"  tact calibrate --points points.csv -a ZEN3\n";

#define OPTION_HOLDER calibration

static const struct option_spec measuring_specs[] = {
	OPTION_FLAG(0, "quick", is_quick, "measure fewer points: about ten seconds"),
	OPTION_NUMBER(0, "memory", "MIB", mib, 1, 4096,
		      "largest working set in MiB (default: 256, or less if memory is short)"),
	OPTION_NUMBER(0, "rounds", "N", rounds, 1, 64,
		      "measure each point N times; the fastest counts (default: 7)"),
	OPTION_NUMBER(0, "cpu", "N", cpu, 0, 65535, "measure on the CPU with this number"),
	OPTION_TEXT(0, "points", "FILE", points,
		    "measure nothing; draw the values from points that --save-points wrote"),
	OPTION_END,
};

static const struct option_spec cpu_specs[] = {
	OPTION_ARCH(archs.names, "microarchitecture whose values stand next to the measured ones, "
				 "and that a parameter file is based on (default: this one)"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_FORMAT(format, OPTION_FORMATS, OPTION_FORMAT_HELP),
	OPTION_OUTPUT(output, "also write a parameter file, for --params of other commands"),
	OPTION_TEXT(0, "save-points", "FILE", save_points,
		    "also write the measured points, as CSV"),
	OPTION_QUIET(is_quiet, OPTION_PROGRESS_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Measuring", measuring_specs),
	OPTION_OWN("CPU", cpu_specs),
	OPTION_OWN("Output", output_specs),
	OPTION_NO_ARGUMENTS,
};

static int show_progress(void *arg, const char *sweep, size_t done, size_t all)
{
	struct calibration *c = arg;

	if (progress_is_due(&c->progress))
		progress_say(&c->progress, "%zu of %zu sweeps: %s", done, all, sweep);
	return 0;
}

static int measure(struct calibration *c)
{
	struct tact_diag diag = {0};
	int status = tact_calibrator_run(c->calibrator, &diag);

	progress_clear(&c->progress);
	if (status == -TACT_E_INVAL)
		return cli_wrong("--cpu: %s", diag.text);
	return status < 0 ? cli_complain(NULL, &diag, status, CLI_UNABLE) : CLI_GOOD;
}

/* This CPU, or the one whose points these are. */
static int find_arch(struct calibration *c)
{
	int status;

	c->arch = tact_arch_host();
	if (!c->archs.names) {
		if (!c->arch && c->output)
			return cli_wrong(
				"there is no model of this CPU to base a parameter file on; "
				"name one with -a");
		return CLI_GOOD;
	}
	status = archlist_resolve(&c->archs, NULL, c->is_quiet);
	if (status)
		return status;
	if (c->archs.n != 1)
		return cli_wrong("-a: name the one CPU that the values are compared with");
	c->arch = c->archs.arch[0];
	if (!c->points && tact_arch_isa(c->arch) != tact_isa_default())
		return cli_wrong(
			"%s executes %s code, and this machine, which would be measured, %s; "
			"points that were saved there can be read with --points",
			tact_arch_name(c->arch), tact_isa_title(tact_arch_isa(c->arch)),
			tact_isa_title(tact_isa_default()));
	return CLI_GOOD;
}

static int write_results(const struct calibration *c)
{
	struct text text = {0};
	int status = CLI_GOOD;

	if (c->save_points)
		status = calibration_save_points(c);
	if (!status && c->output) {
		calibration_write_params(c, &text);
		status = output_all(c->output, &text);
		text = (struct text){0};
	}
	if (status)
		return status;
	calibration_show(c, &text);
	return output_all(NULL, &text);
}

static int run(void *target)
{
	struct calibration *c = target;
	struct tact_calibrator_options options = TACT_CALIBRATOR_OPTIONS_INIT;
	struct tact_diag diag = {0};
	int status = find_arch(c);

	if (status)
		return status;
	if (c->points && c->save_points)
		return cli_wrong("give --points or --save-points, not both");
	options.most_bytes = (uint64_t)c->mib << 20;
	options.rounds = c->rounds;
	options.cpu = c->cpu == UINT_MAX ? -1 : (int)c->cpu;
	options.is_quick = c->is_quick;
	options.progress = show_progress;
	options.arg = c;
	status = tact_calibrator_create(&c->calibrator, &options, &diag);
	if (status < 0)
		return cli_complain(NULL, &diag, status, CLI_FAILED);
	progress_init(&c->progress, "sweeps", 0, c->is_quiet);
	status = c->points ? calibration_read_points(c) : measure(c);
	return status ? status : write_results(c);
}

static void fini(void *target)
{
	struct calibration *c = target;

	tact_calibrator_destroy(c->calibrator);
	archlist_fini(&c->archs);
}

static const struct option_command command = {help, groups, run, fini};

int cmd_calibrate(int argc, char **argv)
{
	struct calibration c = {.format = FORMAT_TEXT, .cpu = UINT_MAX};

	return option_command_run(&command, &c, argc, argv);
}

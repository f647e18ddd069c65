/* SPDX-License-Identifier: MIT
 *
 * tact mix diff: two recordings side by side.
 */
#include "mixer.h"

static const char help[] = "usage: tact mix diff [OPTIONS] FIRST SECOND\n\n"
			   "Compares what two recordings executed; the rows that changed most come "
			   "first. Either may be exact counts.\n\n"
			   "{options}\n";

struct diff {
	struct mixer_input input;
	struct mixer_table table;
	const char *path[2], *output;
	unsigned n_paths;
	int format;
	bool is_quiet, is_absolute;
	unsigned threshold; /* percent; 0: none */
};

static const char *add_path(void *target, const char *value)
{
	struct diff *d = target;

	if (d->n_paths == 2)
		return "there are more than two recordings";
	d->path[d->n_paths++] = value;
	return NULL;
}

#define OPTION_HOLDER diff

static const struct option_spec output_specs[] = {
	OPTION_FLAG(0, "absolute", is_absolute,
		    "compare executions; by default the second run is scaled to the length of the "
		    "first"),
	OPTION_NUMBER(0, "threshold", "PERCENT", threshold, 1, 1000,
		      "exit with status 4 if the mixes differ by more than this"),
	OPTION_RESULTS("text (default), csv or json (one object)"),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_GROUP("Input", mixer_input_specs, input, mixer_input_fini),
	OPTION_GROUP("Table", mixer_table_specs, table, mixer_table_fini),
	OPTION_OWN("Output", output_specs),
	OPTION_OWN_ARGUMENTS(add_path, add_path),
};

static int compare(const struct diff *d, const struct tact_mix_pivot *first,
		   const struct tact_mix_pivot *second)
{
	struct tact_mix_diff_report report = {
		.size = sizeof(report), .format = (enum tact_format)d->format, .top = d->table.top};
	struct tact_mix_diff_totals totals = TACT_MIX_DIFF_TOTALS_INIT;
	struct tact_mix_diff *diff;
	struct tact_diag diag = {0};
	struct output out;
	int status;

	if (tact_mix_diff_create(&diff, first, second, !d->is_absolute, &diag) < 0) {
		cli_message("%s: %s", d->path[0], diag.text);
		return CLI_FAILED;
	}
	tact_mix_diff_get_totals(diff, &totals);
	report.diff = diff;
	status = output_open(&out, d->output);
	if (!status && tact_report_mix_diff(&report, output_sink, &out) < 0)
		cli_out_of_memory();
	tact_mix_diff_destroy(diff);
	if (status || output_close(&out))
		return CLI_FAILED;
	return d->threshold && 100 * totals.error > d->threshold ? CLI_OVER : CLI_GOOD;
}

static int run(void *target)
{
	struct diff *d = target;
	struct tact_mix *mix[2] = {NULL, NULL};
	struct tact_mix_pivot *pivot[2] = {NULL, NULL};
	int status = CLI_GOOD;

	if (d->n_paths != 2)
		return cli_wrong("mix diff: give two recordings");
	for (unsigned i = 0; i < 2 && !status; i++) {
		status = mixer_open(&d->input, d->path[i], &mix[i]);
		if (!status)
			status = mixer_pivot(&d->table, &mix[i], 1, &pivot[i]);
	}
	if (!status)
		status = compare(d, pivot[0], pivot[1]);
	for (unsigned i = 0; i < 2; i++) {
		tact_mix_pivot_destroy(pivot[i]);
		tact_mix_close(mix[i]);
	}
	return status;
}

static const struct option_command command = {help, groups, run, NULL};

int mix_diff_main(int argc, char **argv)
{
	struct diff d = {0};

	return option_command_run(&command, &d, argc, argv);
}

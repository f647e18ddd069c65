/* SPDX-License-Identifier: MIT
 *
 * tact simulate: its options, and the files that it makes.
 */
#include <stdlib.h>

#include "common/cli.h"
#include "common/options.h"
#include "simulator.h"

/* clang-format off: an option stays together */
static const struct option_spec model_specs[] = {
	{.name = "max-cycles",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 1,
	 .high = 1000000000,
	 PREDICT_FIELD(max_cycles, unsigned),
	 .help = "give up if the state of the pipeline has not repeated after so many cycles "
		 "(default: 500 and 16 times what predict says)"},
	{.name = NULL},
};

static const struct option_spec timeline_specs[] = {
	{.name = "timeline",
	 PREDICT_FLAG(is_timeline),
	 .help = "also show what every uop does in each cycle, and why it waits"},
	{.name = "iterations",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 1,
	 .high = 100000,
	 PREDICT_FIELD(iterations, unsigned),
	 .help = "how many iterations of it (default: 3, in files 12)"},
	{.name = "from",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 1,
	 .high = 1000000000,
	 PREDICT_FIELD(from, unsigned),
	 .help = "begin with the N-th iteration, 1 is the first (default: in the steady state)"},
	{.name = "html",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 PREDICT_FIELD(html, const char *),
	 .help = "also write the timeline as a page for a browser, which needs no network"},
	{.name = "perfetto",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 PREDICT_FIELD(perfetto, const char *),
	 .help = "also write it as a trace for Perfetto (Chrome's JSON)"},
	{.name = "konata",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 PREDICT_FIELD(konata, const char *),
	 .help = "also write it as a log for the viewer Konata"},
	{.name = NULL},
};
/* clang-format on */

static const char epilogue[] =
	"An INPUT is a file, or - for standard input: hex strings or a CSV whose first\n"
	"column is hex, assembly text, an object file or an executable; the content\n"
	"tells which. Markers in it (LLVM-MCA, OSACA, IACA) choose the code; without\n"
	"them the innermost loops are listed.\n\n"
	"Examples:\n"
	"  tact simulate -a SKL --timeline -x 480fafc34801d8\n"
	"  tact simulate -a ICL --html loop.html kernel.s\n"
	"  tact simulate --function main --loop 2 --perfetto loop.json a.out\n"
	"  tact simulate -q -a HSW -m unroll -f csv blocks.csv > cycles.csv\n";

static const char *file_option(const struct predictor *p)
{
	return p->html ? "--html" : p->perfetto ? "--perfetto" : p->konata ? "--konata" : NULL;
}

static int check(struct predictor *p)
{
	if (file_option(p) && p->is_all_alignments) {
		cli_message("%s draws for one alignment, not for all", file_option(p));
		return CLI_USAGE;
	}
	return CLI_GOOD;
}

static const struct predict_command simulate_command = {
	.simulates = true,
	.check = check,
	.report = simulate_report,
	.csv_titles = simulate_csv_titles,
	.csv_values = simulate_csv_values,
	.csv_columns = simulate_csv_columns,
	.schema = "tact.simulate/1",
	.json_members = simulate_json_members,
	.file_option = file_option,
	.make_files = simulate_files,
};

/* ---- files ---- */

static int write_file(const char *path, const struct simulate_view *view,
		      void (*make)(const struct simulate_view *view, struct text *out))
{
	struct text text = {0};
	struct output out;

	if (!path)
		return CLI_GOOD;
	if (output_open(&out, path))
		return CLI_FAILED;
	make(view, &text);
	output_write(&out, &text);
	text_free(&text);
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

int simulate_files(struct predict_worker *w, const struct source_block *block)
{
	const struct predictor *p = w->p;
	struct tact_prediction x;
	struct listing listing;
	struct timeline timeline;
	struct simulate_view view = {w, block, &x, &listing, NULL, &timeline};
	struct tact_sim_insn *insns;
	int status;

	if (predict_at(w, 0, predict_alignment(p, block, 0), &x) < 0)
		return CLI_GOOD; /* the message comes with the results */
	view.insns = insns = simulate_insns(w);
	listing_init(&listing, w->block, block->region.address);
	status = timeline_record(w, timeline_iterations(p, TIMELINE_FILE_ITERATIONS), true,
				 &timeline);
	if (status < 0) {
		cli_message("the timeline: %s", predict_failure(status));
		status = CLI_FAILED;
	}
	if (!status)
		status = write_file(p->html, &view, simulate_html);
	if (!status)
		status = write_file(p->perfetto, &view, simulate_perfetto);
	if (!status)
		status = write_file(p->konata, &view, simulate_konata);
	timeline_fini(&timeline);
	listing_fini(&listing);
	free(insns);
	return status;
}

int cmd_simulate(int argc, char **argv)
{
	struct predictor p = {.command = &simulate_command};
	const struct option_group groups[] = {
		{"Input", source_option_specs, &p.source},
		{"CPU", archlist_option_specs, &p.archs},
		{"Model", predict_mode_specs, &p},
		{"", model_specs, &p},
		{"Timeline", timeline_specs, &p},
		{"Output", predict_output_specs, &p},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact simulate [OPTIONS] [INPUT...]\n",
		.description =
			"Simulates the pipeline of a CPU cycle by cycle until its state repeats, "
			"and says how many cycles an iteration of a block of x86-64 code takes, "
			"what its instructions wait for, and, uop by uop, when and why.",
		.epilogue = epilogue,
		.groups = groups,
		.argument = source_add_path,
		.argument_target = &p.source,
	};

	return predict_main(&p, &command, argc, argv);
}

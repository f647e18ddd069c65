/* SPDX-License-Identifier: MIT
 *
 * tact simulate: its options, and the files that it makes.
 */
#include <stdlib.h>

#include "common/cli.h"
#include "common/options.h"
#include "common/page.h"
#include "simulator.h"

static const char help[] =
	"usage: tact simulate [OPTIONS] [INPUT...]\n\n"
	"Simulates the pipeline of a core cycle by cycle until its state "
	"repeats or its pace is steady. Tells how many cycles per iteration a "
	"block of machine code takes, how sure that is, what limits it, and what "
	"each uop waits for.\n\n"
	"{options}\n\n" SOURCE_HELP "Examples:\n"
	"  tact simulate -a SKL --timeline -x 480fafc34801d8\n"
	"  tact simulate -a ICL --html loop.html kernel.s\n"
	"  tact simulate --function main --loop 2 --perfetto loop.json a.out\n"
	"  tact simulate -q -a HSW -m unroll -f csv blocks.csv > cycles.csv\n";

#define OPTION_HOLDER predictor

static const struct option_spec model_specs[] = {
	OPTION_NUMBER(0, "max-cycles", "N", max_cycles, 1, 1000000000,
		      "simulate until the state of the pipeline repeats, up to N cycles (default: "
		      "until it repeats or the pace is steady, up to 500 cycles plus 16 times the "
		      "prediction of predict)"),
	OPTION_END,
};

static const struct option_spec timeline_specs[] = {
	OPTION_FLAG(0, "timeline", is_timeline,
		    "also show what every uop does in each cycle, and why it waits"),
	OPTION_NUMBER(0, "iterations", "N", iterations, 1, 100000,
		      "show N iterations in the timeline (default: 3, in files 12)"),
	OPTION_NUMBER(0, "from", "N", from, 1, 1000000000,
		      "start the timeline at this iteration; the first is 1 (default: in the "
		      "steady state)"),
	OPTION_TEXT(0, "html", "FILE", html,
		    "also write the timeline as a page for a browser that needs no network"),
	OPTION_TEXT(0, "perfetto", "FILE", perfetto,
		    "also write the timeline as a trace for Perfetto (Chrome's JSON)"),
	OPTION_TEXT(0, "konata", "FILE", konata,
		    "also write the timeline as a log for the viewer Konata"),
	OPTION_END,
};

static const struct option_group groups[] = {
	PREDICT_GROUPS,
	OPTION_OWN("", model_specs),
	OPTION_OWN("Timeline", timeline_specs),
	OPTION_OWN("Output", predict_output_specs),
	OPTION_ARGUMENTS_AFTER(source_add_path, source_add_after, source),
};

static const char *file_option(const struct predictor *p)
{
	return p->html ? "--html" : p->perfetto ? "--perfetto" : p->konata ? "--konata" : NULL;
}

static int check(struct predictor *p)
{
	if (file_option(p) && p->is_all_alignments)
		return cli_wrong("%s draws for one alignment, not for all of them", file_option(p));
	if (p->mode == PREDICT_ONCE)
		return cli_wrong("--mode once: the latency of one pass is not simulated; use "
				 "'tact predict'");
	return CLI_GOOD;
}

/* ---- files ---- */

static int write_file(const char *path, const struct tact_view *view, enum tact_view_kind kind)
{
	struct text json = {0}, text = {0};
	int status;

	if (!path)
		return CLI_GOOD;
	status = predict_view_add(view, kind, kind == TACT_VIEW_PAGE ? &json : &text);
	if (status < 0) {
		cli_message("the timeline: %s", predict_failure(status));
		return CLI_FAILED;
	}
	if (kind == TACT_VIEW_PAGE)
		page_write(&page_simulate, &json, &text);
	text_free(&json);
	return output_all(path, &text);
}

/* The page comes first: its data on instructions are lost when the block is simulated again. */
static int make_files(struct predict_worker *w, const struct source_block *block,
		      const struct tact_prediction *x)
{
	const struct predictor *p = w->p;
	const struct tact_view view = predict_view(w, block, x);
	int status = write_file(p->html, &view, TACT_VIEW_PAGE);

	if (!status)
		status = write_file(p->perfetto, &view, TACT_VIEW_PERFETTO);
	return status ? status : write_file(p->konata, &view, TACT_VIEW_KONATA);
}

static const struct predict_command simulate_command = {
	true,	     check,	simulate_report, &simulate_columns, TACT_VIEW_SIMULATION,
	file_option, make_files};

static const struct option_command command = {help, groups, predict_main, predict_fini};

int simulate_within(int argc, char **argv, struct source_limits *limits)
{
	struct predictor p = {.command = &simulate_command};

	p.source.limits = limits;
	return option_command_run(&command, &p, argc, argv);
}

int cmd_simulate(int argc, char **argv)
{
	return simulate_within(argc, argv, NULL);
}

/* SPDX-License-Identifier: MIT
 *
 * tact evaluate: its options.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/model.h>

#include "common/cli.h"
#include "common/measured.h"
#include "common/options.h"
#include "evaluator.h"

static const char help[] =
	"usage: tact evaluate [OPTIONS] INPUT...\n"
	"       tact evaluate -a ARCH INPUT... -a ARCH INPUT...\n"
	"       tact evaluate --combine FILE...\n\n"
	"Compares the predictions of models with measurements: mean and median error and Kendall's "
	"tau, by microarchitecture, application and category. A block without a prediction counts "
	"as failed, never as a number.\n\n"
	"{options}\n\n"
	"An INPUT is a CSV with a header and the columns hex and cycles (per iteration),\n"
	"or a store of 'tact measure'; - is standard input. The columns app, category,\n"
	"weight, clean, hex_loop, arch, mode, init and status are used if they exist.\n\n"
	"{models}\n\n"
	"Examples:\n"
	"  tact evaluate -a SKL --model facile,sim blocks.csv\n"
	"  tact evaluate -a HSW hsw.csv -a SKL skl.csv -f csv\n"
	"  tact evaluate -a ICX --clean --model facile:ablations --round icl_u.csv\n"
	"  tact evaluate -a SKL --common --model facile --model 'other=./other.py' skl.csv\n"
	"  tact evaluate -a ICX --init same --calibrate tables icl_u.csv icl_l.csv\n"
	"  tact evaluate --bottlenecks SNB,HSW,CLX,RKL -a SKL skl.csv\n"
	"  tact evaluate --combine shard-1.scores shard-2.scores\n";

/* ---- options that apply to the inputs after them ---- */

static const char *set_arch(void *target, const char *value)
{
	struct evaluator *p = target;

	if (strchr(value, ',') || !strcmp(value, "all"))
		return "an input was measured on one CPU; for several microarchitectures use "
		       "--bottlenecks";
	p->last.arch = value;
	return NULL;
}

static const char *add_input(void *target, const char *path)
{
	struct evaluator *p = target;

	p->current.arch = p->last.arch ? p->last.arch : p->current.arch;
	p->current.mode = p->last.mode >= 0 ? p->last.mode : p->current.mode;
	p->current.init = p->last.init >= 0 ? p->last.init : p->current.init;
	p->inputs = cli_realloc(p->inputs, (p->n_inputs + 1) * sizeof(*p->inputs));
	p->inputs[p->n_inputs++] = (struct tact_evaluation_input){path, p->current.arch,
								  p->current.mode, p->current.init};
	p->last = (struct evaluate_setting){NULL, -1, -1};
	return NULL;
}

/* Names are checked when they are given, and become models once there are rows. */
static int look_at_name(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return 0;
}

static const char *add_models(void *target, const char *value)
{
	struct evaluator *p = target;
	struct tact_diag diag = {0};

	if (tact_model_expand(value, look_at_name, NULL, &diag) < 0) {
		snprintf(p->why, sizeof(p->why), "%s", diag.text);
		return p->why;
	}
	p->models = cli_realloc(p->models, (p->n_models + 1) * sizeof(*p->models));
	p->models[p->n_models++] = value;
	return NULL;
}

/* ---- tables ---- */

#define OPTION_HOLDER evaluator

static const struct option_spec input_specs[] = {
	OPTION_CALL('a', "arch", "NAME", set_arch,
		    "microarchitecture on which the inputs that follow were measured (default: "
		    "what their rows say)"),
	OPTION_MODE(last.mode, 0,
		    "how they were measured: loop, unroll or auto (default): what their rows say, "
		    "else as a loop if there is a column hex_loop or the block ends in a branch to "
		    "its start"),
	OPTION_INIT(last.init, 0,
		    "register values on entry: all the same except for the stack and frame "
		    "pointers (stack, default); all the same (same); all different (diff)"),
	OPTION_FLAG(0, "force", options.is_forced,
		    "use rows that were measured on another CPU than -a names; a message says so"),
	OPTION_FLAG(0, "clean", options.is_clean, "use only rows whose column clean is 1"),
	OPTION_FLAG(
		0, "confirmed", options.is_confirmed,
		"use only rows that at least two rounds confirm: the column agree is 2 or more"),
	OPTION_END,
};

static const struct option_spec model_specs[] = {
	OPTION_CALL(0, "model", "LIST", add_models,
		    "models to evaluate, as below, separated by commas (default: facile); may be "
		    "repeated"),
	OPTION_PARAMS(options.params, "change parameters of the microarchitecture: lines 'name = "
				      "value', as 'tact archs SKL' prints them"),
	OPTION_NUMBER(
		0, "timeout", "S", options.timeout, 1, 86400,
		"give up on an external program that prints nothing for S seconds (default: 300)"),
	OPTION_JOBS(options.threads, 1024, "use N threads (default: one per core)"),
	OPTION_END,
};

static const struct option_spec score_specs[] = {
	OPTION_FLAG(0, "weighted", options.is_weighted, "count each row with its column weight"),
	OPTION_FLAG(0, "common", options.is_common,
		    "use only rows that every model predicts, so that scores can be compared"),
	OPTION_FLAG(0, "round", options.is_rounded,
		    "round predictions to two decimals, as the papers do; for tau, round "
		    "measurements as well"),
	OPTION_TEXT(
		0, "bottlenecks", "ARCHS", bottleneck_archs,
		"also report what limits the blocks on these microarchitectures (or all), what an "
		"ideal component would gain, and how bottlenecks move from each to the next"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_FORMAT(format, OPTION_FORMATS, OPTION_FORMAT_HELP),
	OPTION_OUTPUT(output, "write the results to FILE"),
	OPTION_TEXT(0, "partial", "FILE", partial,
		    "also write what the scores are made of to FILE, for --combine"),
	OPTION_FLAG(0, "combine", is_combining,
		    "the INPUTs are files of --partial: print the scores of all their rows "
		    "together, the same as if all had been evaluated at once"),
	OPTION_TEXT(0, "calibrate", "DIR", calibrate,
		    "learn the 90% intervals of predictions from these rows, write DIR/CPU.tsv, "
		    "and report how many measurements they hold that they were not learned from "
		    "(models: facile and sim)"),
	OPTION_TEXT(0, "rows", "FILE", rows_path,
		    "also write all rows with all predictions to FILE, as CSV"),
	OPTION_TEXT(0, "report", "DIR", report,
		    "also write DIR/index.html: heat maps, errors, the worst blocks, the flow of "
		    "bottlenecks (without --bottlenecks: on SNB, HSW, CLX and RKL)"),
	OPTION_NUMBER(
		0, "worst", "N", worst, 0, 10000,
		"show N blocks with the largest errors per model in the report (default: 25)"),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_VERBOSE(is_verbose, "say more about rows that were left out"),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Input", input_specs),	    OPTION_OWN("Models", model_specs),
	OPTION_OWN("Scores", score_specs),	    OPTION_OWN("Output", output_specs),
	OPTION_OWN_ARGUMENTS(add_input, add_input),
};

static void fini(void *target)
{
	struct evaluator *p = target;

	if (p->has_rows)
		output_abandon(&p->rows);
	tact_evaluation_destroy(p->e);
	archlist_fini(&p->default_arch);
	free(p->models);
	free(p->inputs);
}

/* ---- work ---- */

/* Options after all inputs apply to the inputs that have none before them. */
static int settle(struct evaluator *p)
{
	for (size_t i = 0; i < p->n_inputs; i++) {
		struct tact_evaluation_input *s = &p->inputs[i];

		s->arch = s->arch ? s->arch : p->last.arch;
		s->mode = s->mode >= 0 ? s->mode : p->last.mode;
		s->init = s->init >= 0 ? s->init : p->last.init;
		if (s->arch && !archlist_find(s->arch))
			return CLI_USAGE;
	}
	if (!p->n_inputs)
		return cli_wrong(
			"no input: give a CSV with the columns hex and cycles, or a store");
	return CLI_GOOD;
}

/* The CPU of this machine; a note says so. */
static const char *default_arch(void *context)
{
	struct evaluator *p = context;

	archlist_resolve(&p->default_arch, NULL, p->is_quiet);
	return tact_arch_name(p->default_arch.arch[0]);
}

static void say(void *context, const char *text)
{
	(void)context;
	cli_message("%s", text);
}

static void show_progress(void *context, size_t done, size_t total)
{
	struct evaluator *p = context;

	p->progress.total = total;
	progress_show(&p->progress, done);
}

static void take_rows(void *context)
{
	struct evaluator *p = context;

	if (p->has_rows)
		evaluate_add_rows(p);
}

static int add_model(void *evaluator, const char *name)
{
	if (tact_evaluation_add_model(((struct evaluator *)evaluator)->e, name) == -TACT_E_NOMEM)
		cli_out_of_memory();
	return 0;
}

static void create(struct evaluator *p)
{
	p->options.size = sizeof(p->options);
	p->options.inputs = p->inputs;
	p->options.n_inputs = p->n_inputs;
	p->options.default_arch = default_arch;
	p->options.say = say;
	p->options.progress = show_progress;
	p->options.context = p;
	p->options.has_pictures = p->report;
	p->options.worst = p->worst;
	p->options.is_for_calibration = p->calibrate;
	p->options.folder = getenv("TMPDIR");
	if (p->options.folder && !*p->options.folder)
		p->options.folder = NULL;
	p->options.take_rows = p->rows_path ? take_rows : NULL;
	if (tact_evaluation_create(&p->e, &p->options) < 0)
		cli_out_of_memory();
	for (size_t i = 0; i < p->n_models; i++)
		if (tact_model_expand(p->models[i], add_model, p, NULL) < 0)
			cli_out_of_memory(); /* the names were checked before */
	if (!p->n_models && !p->is_combining)
		add_model(p, "facile");
	if (!p->n_models && p->calibrate)
		add_model(p, "sim");
}

/* Reports only once what is wrong with the parameters. */
static void add_row(void *context, const struct tact_row *row)
{
	struct evaluator *p = context;
	struct tact_diag diag = {0};
	struct text err = {0};
	int status = tact_evaluation_add_row(p->e, p->input, row, &diag);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status >= 0 || p->is_params_bad)
		return;
	p->is_params_bad = true;
	cli_place(&err, p->options.params, diag.line,
		  diag.text[0] ? diag.text : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
}

static void remark(const struct evaluator *p)
{
	const struct tact_evaluation *e = p->e;

	if (e->n_unknown_arch)
		cli_message("%zu rows of an unknown microarchitecture (%s) were left out; 'tact "
			    "archs' lists the known ones",
			    e->n_unknown_arch, e->unknown_arch);
	if (e->n_other_arch)
		cli_message("%zu rows were measured on %s, not on the CPU of -a%s", e->n_other_arch,
			    e->other_arch,
			    p->options.is_forced ? " [other-cpu]"
						 : ", and were left out; --force uses them");
	if (p->is_quiet)
		return;
	if (e->n_assumed_arch)
		cli_message("rows that do not name their CPU: %zu, compared with predictions for "
			    "%s [cpu-assumed]; -a names another one",
			    e->n_assumed_arch,
			    p->is_combining ? "the CPU of the machine that evaluated them"
					    : tact_arch_full_name(p->default_arch.arch[0]));
	if (e->n_unmeasured)
		cli_message("%zu rows without a measured number were left out", e->n_unmeasured);
	if (e->n_not_positive)
		cli_message("%zu rows whose measured cycles are not above 0 were left out",
			    e->n_not_positive);
	if (e->n_unclean && p->is_verbose)
		cli_message("%zu rows that are not clean were left out", e->n_unclean);
	if (e->n_unconfirmed && p->is_verbose)
		cli_message("%zu rows that no second round confirms were left out",
			    e->n_unconfirmed);
}

static const char COLUMN[] = "column:";

static int read_rows(struct evaluator *p)
{
	const char **columns = cli_alloc((p->e->n_models + 1) * sizeof(*columns));
	int status = CLI_GOOD;
	size_t n_columns = 0;

	for (size_t m = 0; m < p->e->n_models; m++)
		if (!strncmp(p->e->model[m].model, COLUMN, strlen(COLUMN)))
			columns[n_columns++] = p->e->model[m].model + strlen(COLUMN);
	progress_init(&p->progress, "estimates", 0, p->is_quiet);
	for (p->input = 0; p->input < p->n_inputs; p->input++)
		if (measured_read_with(p->inputs[p->input].path, columns, n_columns, add_row, p))
			status = CLI_FAILED;
	free(columns);
	if (p->is_params_bad)
		return CLI_USAGE;
	remark(p);
	if (p->e->n)
		return status;
	cli_message(p->e->n_unconfirmed ? "the inputs have no row that two rounds confirm"
					: "the inputs have no measured row to compare with");
	return CLI_FAILED;
}

static int find_bottleneck_archs(struct evaluator *p)
{
	struct archlist list = {.names = p->bottleneck_archs, .params = p->options.params};
	int status;

	if (!list.names && p->report)
		list.names = "SNB,HSW,CLX,RKL"; /* Figure 6 of the FACILE paper */

	if (!list.names)
		return CLI_GOOD;
	status = archlist_resolve(&list, NULL, p->is_quiet);
	for (size_t i = 0; i < list.n && !status; i++)
		if (tact_evaluation_add_bottlenecks(p->e, tact_arch_name(list.arch[i]), NULL) ==
		    -TACT_E_NOMEM)
			cli_out_of_memory();
	archlist_fini(&list);
	return status;
}

static int evaluate(struct evaluator *p)
{
	struct tact_diag diag = {0};
	int status;

	status = tact_evaluation_run(p->e, &diag);
	progress_clear(&p->progress);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (diag.text[0]) {
		cli_message("%s", diag.text);
		p->is_over = true;
		return p->e->is_model_wrong ? CLI_USAGE : CLI_FAILED;
	}
	return status == -TACT_E_NO_TOOL ? CLI_UNABLE : status < 0 ? CLI_FAILED : CLI_GOOD;
}

static int worse(int a, int b)
{
	return a > b ? a : b;
}

static int print(struct evaluator *p)
{
	struct text text = {0};

	if (p->calibrate) {
		int status = evaluate_calibrate(p, &text);

		return worse(status, output_all(p->output, &text));
	}
	if (p->format == FORMAT_CSV)
		evaluate_scores(p, &text);
	else if (p->format == FORMAT_JSON)
		evaluate_json(p, &text);
	else
		evaluate_text(p, &text);
	return output_all(p->output, &text);
}

static int write_partial(const struct evaluator *p)
{
	struct tact_diag diag = {0};
	int status = tact_evaluation_write_partial(p->e, p->partial, &diag);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0)
		cli_message("%s: %s", p->partial, diag.text);
	return status < 0 ? CLI_FAILED : CLI_GOOD;
}

static int print_all(struct evaluator *p)
{
	int status = print(p);

	return p->partial ? worse(status, write_partial(p)) : status;
}

/* Options that say something about rows: partial scores have none any more. */
static const char *option_of_rows(const struct evaluator *p)
{
	const struct tact_evaluation_options *o = &p->options;

	for (size_t i = 0; i < p->n_inputs; i++)
		if (p->inputs[i].arch || p->inputs[i].mode >= 0 || p->inputs[i].init >= 0)
			return "-a, -m and --init";
	return p->n_models	     ? "--model"
	       : o->is_clean	     ? "--clean"
	       : o->is_confirmed     ? "--confirmed"
	       : o->is_forced	     ? "--force"
	       : o->params	     ? "--params"
	       : o->is_weighted	     ? "--weighted"
	       : o->is_common	     ? "--common"
	       : o->is_rounded	     ? "--round"
	       : p->bottleneck_archs ? "--bottlenecks"
	       : p->calibrate	     ? "--calibrate"
	       : p->rows_path	     ? "--rows"
	       : p->report	     ? "--report"
				     : NULL;
}

static int combine(struct evaluator *p)
{
	const char *option = option_of_rows(p);
	int status = CLI_GOOD;

	if (option)
		return cli_wrong("--combine: the rows were evaluated before; leave out %s", option);
	create(p);
	for (size_t i = 0; i < p->n_inputs && !status; i++) {
		struct tact_diag diag = {0};
		int added = tact_evaluation_add_partial(p->e, p->inputs[i].path, &diag);

		if (added == -TACT_E_NOMEM)
			cli_out_of_memory();
		if (added < 0) {
			cli_message("%s: %s", p->inputs[i].path, diag.text);
			status = added == -TACT_E_INVAL ? CLI_USAGE : CLI_FAILED;
		}
	}
	if (status)
		return status;
	remark(p);
	if (!p->e->n) {
		cli_message("the files have no rows");
		return CLI_FAILED;
	}
	status = evaluate(p);
	return p->is_over ? status : worse(status, print_all(p));
}

static int run(void *target)
{
	struct evaluator *p = target;
	int status = settle(p), read;

	if (status)
		return status;
	if (p->is_combining)
		return combine(p);
	if (p->calibrate && p->partial)
		return cli_wrong("--calibrate prints no scores: leave out --partial");
	create(p);
	status = find_bottleneck_archs(p);
	if (status)
		return status;
	if (p->rows_path && evaluate_begin_rows(p))
		p->options.take_rows = NULL; /* the scores are printed nevertheless */
	read = read_rows(p);
	if (!p->e->n && p->partial && read != CLI_USAGE)
		read = worse(read, write_partial(p)); /* a shard without rows is one of many */
	if (!p->e->n || read == CLI_USAGE)
		return read;
	status = evaluate(p);
	if (p->is_over)
		return status;
	status = worse(read, status);
	status = worse(status, print_all(p));
	if (p->rows_path)
		status = worse(status, p->has_rows ? evaluate_end_rows(p) : CLI_FAILED);
	if (p->report)
		status = worse(status, evaluate_write_report(p));
	return status;
}

static const struct option_command command = {help, groups, run, fini};

int cmd_evaluate(int argc, char **argv)
{
	struct evaluator p = {.current = {NULL, -1, -1},
			      .last = {NULL, -1, -1},
			      .options.timeout = 300,
			      .worst = 25};

	return option_command_run(&command, &p, argc, argv);
}

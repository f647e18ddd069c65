/* SPDX-License-Identifier: MIT
 *
 * tact evaluate: its options.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/options.h"
#include "evaluator.h"

/* ---- options that hold for the inputs behind them ---- */

static const char *set_arch(void *target, const char *value)
{
	struct evaluator *p = target;

	if (strchr(value, ',') || !strcmp(value, "all"))
		return "a file was measured on one CPU; --bottlenecks looks at several";
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
	p->inputs[p->n_inputs++] = (struct evaluate_input){path, p->current};
	p->last = (struct evaluate_setting){NULL, -1, -1};
	return NULL;
}

/* ---- tables ---- */

#define OPTION_HOLDER evaluator

static const struct option_spec input_specs[] = {
	OPTION_CALL('a', "arch", "NAME", set_arch,
		    "the CPU that the inputs behind it were measured on (default: what their rows "
		    "say)"),
	OPTION_MODE(
		last.mode, 0,
		"how: as a loop (loop), unrolled (unroll), or auto (default): what their rows say, "
		"a loop if there is a column hex_loop or the block ends in a branch to its start"),
	OPTION_INIT(last.init, 0,
		    "what registers held at entry: all the same but rsp and rbp (stack, default), "
		    "the same, or different values (diff)"),
	OPTION_FLAG(0, "clean", is_clean, "only rows whose column clean is 1"),
	OPTION_END,
};

static const struct option_spec model_specs[] = {
	OPTION_CALL(0, "model", "LIST", evaluate_add_models,
		    "models, as below, with commas between them (default: facile); repeatable"),
	OPTION_PARAMS(
		params,
		"change the CPUs' parameters: 'name = value' lines ('tact archs SKL' shows them)"),
	OPTION_NUMBER(0, "timeout", "S", timeout, 1, 86400,
		      "seconds that another program may print nothing (default: 300)"),
	OPTION_JOBS(threads, 1024, "threads (default: as many as there are cores)"),
	OPTION_END,
};

static const struct option_spec score_specs[] = {
	OPTION_FLAG(0, "weighted", is_weighted, "rows count with their column weight"),
	OPTION_FLAG(0, "common", is_common,
		    "only rows that every model predicts: figures that can be compared"),
	OPTION_FLAG(0, "round", is_rounded,
		    "round predictions to two digits, as the papers do; for tau measurements, too"),
	OPTION_TEXT(0, "bottlenecks", "ARCHS", bottleneck_archs,
		    "also: what limits the blocks on these CPUs (or all), what an ideal component "
		    "would gain, and how bottlenecks move from each CPU to the next"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_FORMAT(format, OPTION_FORMATS, OPTION_FORMAT_HELP),
	OPTION_OUTPUT(output, "write the tables there"),
	OPTION_TEXT(0, "rows", "FILE", rows_path,
		    "write all rows with all predictions there, as CSV"),
	OPTION_TEXT(0, "report", "DIR", report,
		    "make DIR/index.html: heat maps, errors, the worst blocks, the flow of "
		    "bottlenecks (without --bottlenecks: on SNB, HSW, CLX and RKL)"),
	OPTION_NUMBER(0, "worst", "N", worst, 0, 10000,
		      "blocks with the largest error in the report, for each model (default: 25)"),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_VERBOSE(is_verbose, "say more about rows left out"),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Input", input_specs),	    OPTION_OWN("Models", model_specs),
	OPTION_OWN("Scores", score_specs),	    OPTION_OWN("Output", output_specs),
	OPTION_OWN_ARGUMENTS(add_input, add_input),
};

static const char help[] =
	"usage: tact evaluate [OPTIONS] INPUT...\n"
	"       tact evaluate -a ARCH INPUT... -a ARCH INPUT...\n\n"
	"Compares models with measured cycles: mean and median error, Kendall's tau, by "
	"CPU, application and category. A block that a model fails on is counted as that, "
	"never as a number.\n\n"
	"{options}\n\n"
	"An INPUT is a CSV with a header and the columns hex and cycles (one iteration),\n"
	"or a store of tact measure; - is standard input. Columns app, category, weight,\n"
	"clean, hex_loop, arch, mode, init and status are used when they are there.\n"
	"\n"
	"{models}\n"
	"\n"
	"Examples:\n"
	"  tact evaluate -a SKL --model facile,sim blocks.csv\n"
	"  tact evaluate -a HSW hsw.csv -a SKL skl.csv -f csv\n"
	"  tact evaluate -a ICX --clean --model facile:ablations --round icl_u.csv\n"
	"  tact evaluate -a SKL --common --model facile --model 'other=./other.py' skl.csv\n"
	"  tact evaluate --bottlenecks SNB,HSW,CLX,RKL -a SKL skl.csv\n";

static void fini(void *target)
{
	struct evaluator *p = target;

	evaluate_score_fini(p);
	for (size_t m = 0; m < p->n_models; m++)
		evaluate_model_fini(&p->models[m]);
	for (size_t a = 0; a < p->n_bottlenecks; a++)
		free(p->bottlenecks[a].kind);
	for (unsigned a = 0; a < p->n_archs; a++)
		tact_arch_destroy(p->derived[a]);
	evaluate_rows_fini(&p->rows);
	free(p->bottlenecks);
	free(p->models);
	free(p->inputs);
}

/* ---- work ---- */

/* What stands behind all inputs is for those that have nothing in front of them. */
static int settle(struct evaluator *p)
{
	for (size_t i = 0; i < p->n_inputs; i++) {
		struct evaluate_setting *s = &p->inputs[i].setting;

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

static int find_bottleneck_archs(struct evaluator *p)
{
	struct archlist list = {.names = p->bottleneck_archs, .params = p->params};
	int status;

	if (!list.names && p->report)
		list.names = "SNB,HSW,CLX,RKL"; /* Figure 6 of the FACILE paper */

	if (!list.names)
		return CLI_GOOD;
	status = archlist_resolve(&list, NULL, p->is_quiet);
	p->bottlenecks = cli_alloc(list.n * sizeof(*p->bottlenecks));
	for (size_t i = 0; i < list.n && !status; i++) {
		int arch = evaluate_arch(p, tact_arch_name(list.arch[i]));

		if (arch >= 0)
			p->bottlenecks[p->n_bottlenecks++] =
				(struct evaluate_bottlenecks){.arch = p->arch[arch]};
	}
	archlist_fini(&list);
	return status;
}

static int print(struct evaluator *p)
{
	struct text text = {0};

	if (p->format == FORMAT_CSV)
		evaluate_csv(p, &text);
	else if (p->format == FORMAT_JSON)
		evaluate_json(p, &text);
	else
		evaluate_text(p, &text);
	return output_all(p->output, &text);
}

static int worse(int a, int b)
{
	return a > b ? a : b;
}

static int run(void *target)
{
	struct evaluator *p = target;
	int status = settle(p), read;

	if (!status && !p->n_models)
		evaluate_add_models(p, "facile");
	if (status)
		return status;
	read = evaluate_read(p);
	if (!p->rows.n || read == CLI_USAGE)
		return read;
	status = find_bottleneck_archs(p);
	if (status)
		return status;
	status = worse(read, evaluate_run(p));
	if (status == CLI_USAGE)
		return status;
	if (evaluate_score(p))
		return CLI_FAILED;
	status = worse(status, print(p));
	if (p->rows_path)
		status = worse(status, evaluate_write_rows(p));
	if (p->report)
		status = worse(status, evaluate_write_report(p));
	return status;
}

static const struct option_command command = {help, groups, run, fini};

int cmd_evaluate(int argc, char **argv)
{
	struct evaluator p = {.current = {NULL, -1, -1},
			      .last = {NULL, -1, -1},
			      .timeout = 300,
			      .worst = 25,
			      .default_arch = -1};

	return option_command_run(&command, &p, argc, argv);
}

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

static const struct option_choice modes[] = {
	{"auto", TACT_MODE_AUTO},
	{"loop", TACT_MODE_LOOP},
	{"unroll", TACT_MODE_UNROLL},
	{NULL, 0},
};

static const struct option_choice inits[] = {
	{"stack", TACT_INIT_STACK},
	{"same", TACT_INIT_SAME},
	{"diff", TACT_INIT_DIFF},
	{NULL, 0},
};

static const struct option_choice formats[] = {
	{"text", FORMAT_TEXT},
	{"csv", FORMAT_CSV},
	{"json", FORMAT_JSON},
	{NULL, 0},
};

/* ---- options that hold for the inputs behind them ---- */

static const char *set_arch(void *target, const char *value)
{
	struct evaluator *p = target;

	if (strchr(value, ',') || !strcmp(value, "all"))
		return "a file was measured on one CPU; --bottlenecks looks at several";
	p->current.arch = p->last.arch = value;
	return NULL;
}

static const char *find_choice(struct evaluator *p, const struct option_choice *choices,
			       const char *value, int *to)
{
	size_t n;

	for (const struct option_choice *c = choices; c->name; c++) {
		if (!strcmp(c->name, value)) {
			*to = c->value;
			return NULL;
		}
	}
	n = (size_t)snprintf(p->why, sizeof(p->why), "'%.30s' is none of", value);
	for (const struct option_choice *c = choices; c->name; c++)
		n += (size_t)snprintf(p->why + n, sizeof(p->why) - n, "%s %s",
				      c == choices ? "" : ",", c->name);
	return p->why;
}

static const char *set_mode(void *target, const char *value)
{
	struct evaluator *p = target;
	const char *why = find_choice(p, modes, value, &p->current.mode);

	if (!why)
		p->last.mode = p->current.mode;
	return why;
}

static const char *set_init(void *target, const char *value)
{
	struct evaluator *p = target;
	const char *why = find_choice(p, inits, value, &p->current.init);

	if (!why)
		p->last.init = p->current.init;
	return why;
}

static const char *add_input(void *target, const char *path)
{
	struct evaluator *p = target;

	p->inputs = cli_realloc(p->inputs, (p->n_inputs + 1) * sizeof(*p->inputs));
	p->inputs[p->n_inputs++] = (struct evaluate_input){path, p->current};
	p->last = (struct evaluate_setting){NULL, -1, -1};
	return NULL;
}

/* ---- tables ---- */

#define FIELD(field, type) .offset = OPTION_FIELD(evaluator, field, type)
#define FLAG(field)	   .type = OPTION_FLAG, FIELD(field, bool)
#define TEXT(field)	   .type = OPTION_TEXT, FIELD(field, const char *)
#define NUMBER(field, from, to)                                                                    \
	.type = OPTION_NUMBER, .low = from, .high = to, FIELD(field, unsigned)

/* clang-format off: an option stays together */
static const struct option_spec input_specs[] = {
	{.letter = 'a',
	 .name = "arch",
	 .argument = "NAME",
	 .type = OPTION_CALL,
	 .call = set_arch,
	 .help = "the CPU that the inputs behind it were measured on (default: what their rows "
		 "say)"},
	{.letter = 'm',
	 .name = "mode",
	 .argument = "MODE",
	 .type = OPTION_CALL,
	 .call = set_mode,
	 .help = "how: as a loop (loop), unrolled (unroll), or auto (default): what their rows "
		 "say, a loop if there is a column hex_loop or the block ends in a branch to its "
		 "start"},
	{.name = "init",
	 .argument = "HOW",
	 .type = OPTION_CALL,
	 .call = set_init,
	 .help = "what registers held at entry: all the same but rsp and rbp (stack, default), "
		 "the same, or different values (diff)"},
	{.name = "clean", FLAG(is_clean), .help = "only rows whose column clean is 1"},
	{.name = NULL},
};

static const struct option_spec model_specs[] = {
	{.name = "model",
	 .argument = "LIST",
	 .type = OPTION_CALL,
	 .call = evaluate_add_models,
	 .help = "facile (default), sim, mca, mca:params=FILE, llvm-mca, llvm-mca-19, "
		 "stored:NAME (predictions that a store has), parts of "
		 "FACILE (facile:only=predec+ports, facile:without=dsb, facile:simple-predec, "
		 "facile:simple-dec, facile:paper, facile:ablations: all of these); repeatable"},
	{.name = "params",
	 .argument = "FILE",
	 TEXT(params),
	 .help = "change the CPUs' parameters: 'name = value' lines ('tact archs SKL' shows them)"},
	{.name = "timeout",
	 .argument = "S",
	 NUMBER(timeout, 1, 86400),
	 .help = "seconds that another program may print nothing (default: 300)"},
	{.letter = 'j',
	 .name = "jobs",
	 .argument = "N",
	 NUMBER(threads, 0, 1024),
	 .help = "threads (default: as many as there are cores)"},
	{.name = NULL},
};

static const struct option_spec score_specs[] = {
	{.name = "weighted", FLAG(is_weighted), .help = "rows count with their column weight"},
	{.name = "common",
	 FLAG(is_common),
	 .help = "only rows that every model predicts: figures that can be compared"},
	{.name = "round",
	 FLAG(is_rounded),
	 .help = "round predictions to two digits, as the papers do; for tau measurements, too"},
	{.name = "bottlenecks",
	 .argument = "ARCHS",
	 TEXT(bottleneck_archs),
	 .help = "also: what limits the blocks on these CPUs (or all), what an ideal component "
		 "would gain, and how bottlenecks move from each CPU to the next"},
	{.name = NULL},
};

static const struct option_spec output_specs[] = {
	{.letter = 'f',
	 .name = "format",
	 .argument = "FORMAT",
	 .type = OPTION_CHOICE,
	 .choices = formats,
	 FIELD(format, int),
	 .help = "text (default), csv or json (one object a line)"},
	{.letter = 'o',
	 .name = "output",
	 .argument = "FILE",
	 TEXT(output),
	 .help = "write the tables there"},
	{.name = "rows",
	 .argument = "FILE",
	 TEXT(rows_path),
	 .help = "write all rows with all predictions there, as CSV"},
	{.name = "report",
	 .argument = "DIR",
	 TEXT(report),
	 .help = "make DIR/index.html: heat maps, errors, the worst blocks, the flow of "
		 "bottlenecks (without --bottlenecks: on SNB, HSW, CLX and RKL)"},
	{.name = "worst",
	 .argument = "N",
	 NUMBER(worst, 0, 10000),
	 .help = "blocks with the largest error in the report, for each model (default: 25)"},
	{.letter = 'q',
	 .name = "quiet",
	 FLAG(is_quiet),
	 .help = "no remarks on standard error, only errors"},
	{.letter = 'v',
	 .name = "verbose",
	 FLAG(is_verbose),
	 .help = "say more about rows left out"},
	{.name = NULL},
};
/* clang-format on */

static const char epilogue[] =
	"An INPUT is a CSV with a header and the columns hex and cycles (one iteration),\n"
	"or a store of tact measure; - is standard input. Columns app, category, weight,\n"
	"clean, hex_loop, arch, mode, init and status are used when they are there.\n"
	"--model NAME=COMMAND: a shell's command line that reads hex strings, one a line,\n"
	"and prints a number for each, or anything else for a block that it cannot do;\n"
	"TACT_ARCH and TACT_MODE in its environment say for what.\n\n"
	"Examples:\n"
	"  tact evaluate -a SKL --model facile,sim blocks.csv\n"
	"  tact evaluate -a HSW hsw.csv -a SKL skl.csv -f csv\n"
	"  tact evaluate -a ICX --clean --model facile:ablations --round icl_u.csv\n"
	"  tact evaluate -a SKL --common --model facile --model 'other=./other.py' skl.csv\n"
	"  tact evaluate --bottlenecks SNB,HSW,CLX,RKL -a SKL skl.csv\n";

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
	if (!p->n_inputs) {
		cli_message("no input: give a CSV with the columns hex and cycles, or a store");
		return CLI_USAGE;
	}
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
	struct output out;
	struct text text = {0};

	if (output_open(&out, p->output))
		return CLI_FAILED;
	if (p->format == FORMAT_CSV)
		evaluate_csv(p, &text);
	else if (p->format == FORMAT_JSON)
		evaluate_json(p, &text);
	else
		evaluate_text(p, &text);
	output_write(&out, &text);
	text_free(&text);
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

static int worse(int a, int b)
{
	return a > b ? a : b;
}

static int run(struct evaluator *p)
{
	int status = settle(p), read;

	if (!status && !p->n_models)
		evaluate_add_models(p, "facile");
	if (status)
		return status;
	read = evaluate_read(p);
	if (!p->rows.n || read == CLI_USAGE)
		return read;
	for (size_t m = 0; m < p->n_models && !status; m++)
		status = evaluate_model_prepare(p, &p->models[m]);
	if (!status)
		status = find_bottleneck_archs(p);
	if (status)
		return status;
	status = worse(read, evaluate_run(p));
	if (evaluate_score(p))
		return CLI_FAILED;
	status = worse(status, print(p));
	if (p->rows_path)
		status = worse(status, evaluate_write_rows(p));
	if (p->report)
		status = worse(status, evaluate_write_report(p));
	return status;
}

static void fini(struct evaluator *p)
{
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

int cmd_evaluate(int argc, char **argv)
{
	struct evaluator p = {.current = {NULL, -1, -1},
			      .last = {NULL, -1, -1},
			      .timeout = 300,
			      .worst = 25,
			      .default_arch = -1};
	const struct option_group groups[] = {
		{"Input", input_specs, &p},  {"Models", model_specs, &p},
		{"Scores", score_specs, &p}, {"Output", output_specs, &p},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact evaluate [OPTIONS] INPUT...\n"
			 "       tact evaluate -a ARCH INPUT... -a ARCH INPUT...\n",
		.description = "Compares models with measured cycles: mean and median error, "
			       "Kendall's tau, by CPU, application and category. A block that a "
			       "model fails on is counted as that, never as a number.",
		.epilogue = epilogue,
		.groups = groups,
		.argument = add_input,
		.argument_target = &p,
	};
	int status;

	if (options_take(&command, argc, argv, &status))
		status = run(&p);
	fini(&p);
	return status;
}

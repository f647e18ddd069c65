/* SPDX-License-Identifier: MIT
 *
 * tact predict: its options.
 */
#include <stdio.h>
#include <string.h>

#include "common/cli.h"
#include "common/options.h"
#include "predictor.h"

const struct option_choice predict_models[] = {
	{"facile", MODEL_FACILE},
	{"sim", MODEL_SIM},
	{"mca", MODEL_MCA},
	{NULL, 0},
};

static int find_bound(const char *name, size_t length)
{
	for (int b = 0; b < TACT_N_BOUNDS; b++) {
		const char *column = tact_bound_column((enum tact_bound)b);
		const char *full = tact_bound_name((enum tact_bound)b);

		if ((strlen(column) == length && !strncasecmp(column, name, length)) ||
		    (strlen(full) == length && !strncasecmp(full, name, length)))
			return b;
	}
	return -1;
}

/* A list of bounds, by their columns' or their full names. */
static const char *read_bounds(struct predictor *p, const char *list, uint32_t *bounds)
{
	*bounds = 0;
	for (const char *name = list; *name;) {
		size_t length = strcspn(name, ",");
		int b = find_bound(name, length), n;

		if (b >= 0) {
			*bounds |= 1u << b;
		} else if (length) {
			n = snprintf(p->why, sizeof(p->why), "'%.*s' is none of",
				     length > 30 ? 30 : (int)length, name);
			for (b = 0; b < TACT_N_BOUNDS && n > 0 && (size_t)n < sizeof(p->why); b++)
				n += snprintf(p->why + n, sizeof(p->why) - (size_t)n, "%s %s",
					      b ? "," : "", tact_bound_column((enum tact_bound)b));
			return p->why;
		}
		name += length + (name[length] == ',');
	}
	return *bounds ? NULL : "the list is empty";
}

static const char *set_only(void *target, const char *value)
{
	struct predictor *p = target;

	return read_bounds(p, value, &p->only);
}

static const char *set_without(void *target, const char *value)
{
	struct predictor *p = target;

	return read_bounds(p, value, &p->without);
}

/* clang-format off: an option stays together */
static const struct option_spec model_specs[] = {
	{.name = "model",
	 .argument = "NAME",
	 PREDICT_CHOICE(model, predict_models),
	 .help = "whose cycles: facile (default), sim (the pipeline of tact simulate) or mca (the "
		 "plain machine of llvm-mca); the bounds are always FACILE's"},
	{.name = "mca-params",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 PREDICT_FIELD(mca_params_path, const char *),
	 .help = "parameters of the model mca for one CPU, such as learned ones"},
	{.name = "paper",
	 PREDICT_FLAG(paper),
	 .help = "only what the FACILE paper describes, not what measurements added"},
	{.name = "only",
	 .argument = "LIST",
	 .type = OPTION_CALL,
	 .call = set_only,
	 .help = "only these limits count: predec, dec, dsb, lsd, issue, ports, precedence, ... "
		 "(the "
		 "columns of -f csv)"},
	{.name = "without",
	 .argument = "LIST",
	 .type = OPTION_CALL,
	 .call = set_without,
	 .help = "these limits do not count"},
	{.name = "simple-predec",
	 PREDICT_FLAG(simple_predecoder),
	 .help = "the paper's SimplePredec: 16 bytes a cycle"},
	{.name = "simple-dec",
	 PREDICT_FLAG(simple_decoder),
	 .help = "the paper's SimpleDec: instructions by decoders"},
	{.name = "exact-ports",
	 PREDICT_FLAG(exact_ports),
	 .help = "look at all sets of ports instead of unions of two"},
	{.name = NULL},
};

static const struct option_spec output_specs[] = {
	{.name = "idealize",
	 PREDICT_FLAG(is_idealized),
	 .help = "also: what would be gained if one component were ideal"},
	{.name = "graph",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 PREDICT_FIELD(graph, const char *),
	 .help = "also draw the block's dependence graph: FILE.svg, or FILE.dot for Graphviz"},
	{.name = NULL},
};
/* clang-format on */

static const char epilogue[] =
	"An INPUT is a file, or - for standard input: hex strings or a CSV whose first\n"
	"column is hex, assembly text, an object file or an executable; the content\n"
	"tells which. Markers in it (LLVM-MCA, OSACA, IACA) choose the code; without\n"
	"them the innermost loops are listed.\n\n"
	"Examples:\n"
	"  tact predict -x 480fafc34801d8\n"
	"  tact predict -a SKL,ICL -m loop --idealize kernel.s\n"
	"  tact predict --function main --loop 2 --graph loop.svg a.out\n"
	"  tact predict -q -a HSW -m unroll -f csv blocks.csv > cycles.csv\n";

/* The first option given that has a meaning for FACILE alone. */
static const char *facile_option(const struct predictor *p)
{
	return p->only		      ? "--only"
	       : p->without	      ? "--without"
	       : p->paper	      ? "--paper"
	       : p->simple_predecoder ? "--simple-predec"
	       : p->simple_decoder    ? "--simple-dec"
	       : p->exact_ports	      ? "--exact-ports"
	       : p->is_idealized      ? "--idealize"
				      : NULL;
}

static int check_model(const struct predictor *p)
{
	if (p->model != MODEL_FACILE && facile_option(p)) {
		cli_message("%s is for --model facile", facile_option(p));
		return CLI_USAGE;
	}
	if (p->mca_params_path && p->model != MODEL_MCA) {
		cli_message("--mca-params is for --model mca");
		return CLI_USAGE;
	}
	if (p->mca_params_path && p->archs.n > 1) {
		cli_message("--mca-params is for one CPU; --arch has %zu", p->archs.n);
		return CLI_USAGE;
	}
	return CLI_GOOD;
}

static int load_mca_params(struct predictor *p)
{
	struct tact_diag diag = {0};
	struct text err = {0};
	int status = tact_mca_params_create(&p->mca_params, p->archs.arch[0], &diag);

	if (status >= 0)
		status = tact_mca_params_load(p->mca_params, p->mca_params_path, &diag);
	if (status >= 0)
		return CLI_GOOD;
	cli_place(&err, p->mca_params_path, diag.line,
		  diag.text[0] ? diag.text : tact_strerror(status));
	text_to_stderr(&err);
	text_free(&err);
	return CLI_USAGE;
}

static int check(struct predictor *p)
{
	const char *dot = p->graph ? strrchr(p->graph, '.') : NULL;

	if (check_model(p))
		return CLI_USAGE;
	if (!predict_bounds(p)) {
		cli_message("--only and --without leave no limit at all");
		return CLI_USAGE;
	}
	if (p->graph && (!dot || (strcmp(dot, ".svg") && strcmp(dot, ".dot")))) {
		cli_message("--graph: '%s' ends neither in .svg nor in .dot", p->graph);
		return CLI_USAGE;
	}
	return p->mca_params_path ? load_mca_params(p) : CLI_GOOD;
}

static const char *file_option(const struct predictor *p)
{
	return p->graph ? "--graph" : NULL;
}

static const struct predict_command predict_command = {
	.check = check,
	.report = predict_report,
	.csv_titles = predict_csv_titles,
	.csv_values = predict_csv_values,
	.csv_columns = predict_csv_columns,
	.schema = "tact.predict/1",
	.json_members = predict_json_members,
	.file_option = file_option,
	.make_files = predict_draw,
};

int cmd_predict(int argc, char **argv)
{
	struct predictor p = {.command = &predict_command};
	const struct option_group groups[] = {
		{"Input", source_option_specs, &p.source},
		{"CPU", archlist_option_specs, &p.archs},
		{"Model", predict_mode_specs, &p},
		{"", model_specs, &p},
		{"Output", predict_output_specs, &p},
		{"", output_specs, &p},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact predict [OPTIONS] [INPUT...]\n",
		.description =
			"Predicts how many cycles an iteration of a block of x86-64 code takes "
			"in the steady state, and says what limits it. Without --arch: on this "
			"CPU if it is one that tact knows, else on SKL.",
		.epilogue = epilogue,
		.groups = groups,
		.argument = source_add_path,
		.argument_target = &p.source,
	};

	return predict_main(&p, &command, argc, argv);
}

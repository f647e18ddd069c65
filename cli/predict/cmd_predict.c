/* SPDX-License-Identifier: MIT
 *
 * tact predict: its options.
 */
#include <stdio.h>
#include <string.h>

#include "common/cli.h"
#include "common/options.h"
#include "predictor.h"

static const char help[] = "usage: tact predict [OPTIONS] [INPUT...]\n\n"
			   "Predicts how many cycles per iteration a block of machine code takes "
			   "in the steady state, and tells what limits it. The default "
			   "microarchitecture is that of this CPU if tact knows it, else SKL.\n\n"
			   "{options}\n\n" SOURCE_HELP "Examples:\n"
			   "  tact predict -x 480fafc34801d8\n"
			   "  tact predict -a SKL,ICL -m loop --idealize kernel.s\n"
			   "  tact predict --function main --loop 2 --graph loop.svg a.out\n"
			   "  tact predict -q -a HSW -m unroll -f csv blocks.csv > cycles.csv\n";

static bool is_word(const char *name, size_t length, const char *word)
{
	return strlen(word) == length && !strncasecmp(word, name, length);
}

static int find_bound(const char *name, size_t length)
{
	for (int b = 0; b < TACT_N_BOUNDS; b++) {
		const char *column = tact_bound_column((enum tact_bound)b);
		const char *full = tact_bound_name((enum tact_bound)b);

		if (is_word(name, length, column) || is_word(name, length, full))
			return b;
		for (const struct tact_arch *a = NULL; (a = tact_arch_next(a)) != NULL;)
			if (is_word(name, length, tact_bound_name_on(a, (enum tact_bound)b)))
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
			n = snprintf(p->why, sizeof(p->why), "'%.*s' is not one of",
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

#define OPTION_HOLDER predictor

static const struct option_spec model_specs[] = {
	OPTION_TEXT(
		0, "model", "NAME", model,
		"model whose cycles are printed: facile (default), sim (the pipeline of tact "
		"simulate) or mca (the plain machine of llvm-mca); the bounds are always FACILE's"),
	OPTION_TEXT(0, "mca-params", "FILE", mca_params_path,
		    "parameters of the model mca for one microarchitecture, as 'tact tune' writes "
		    "them"),
	OPTION_FLAG(
		0, "paper", paper,
		"use only what the FACILE paper describes, without what measurements have added"),
	OPTION_CALL(0, "only", "LIST", set_only,
		    "use only these bounds: predec, dec, dsb, lsd, issue, ports, precedence, ... "
		    "(columns of -f csv)"),
	OPTION_CALL(0, "without", "LIST", set_without, "use all bounds except these"),
	OPTION_FLAG(0, "simple-predec", simple_predecoder,
		    "use the SimplePredec of the paper: 16 bytes per cycle"),
	OPTION_FLAG(0, "simple-dec", simple_decoder,
		    "use the SimpleDec of the paper: instructions divided by decoders"),
	OPTION_FLAG(0, "exact-ports", exact_ports,
		    "consider all sets of ports instead of unions of two"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_FLAG(0, "idealize", is_idealized,
		    "also print the gain if one component, or those that tie, were ideal, and each "
		    "one's "
		    "share of the cycles"),
	OPTION_TEXT(
		0, "graph", "FILE", graph,
		"also draw the dependence graph of the block: FILE.svg, or FILE.dot for Graphviz"),
	OPTION_END,
};

static const struct option_group groups[] = {
	PREDICT_GROUPS,
	OPTION_OWN("", model_specs),
	OPTION_OWN("Output", predict_output_specs),
	OPTION_OWN("", output_specs),
	OPTION_ARGUMENTS_AFTER(source_add_path, source_add_after, source),
};

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

static int check_model(struct predictor *p)
{
	struct tact_diag diag = {0};
	const struct tact_model *model = tact_model_find(p->model, &diag);

	if (!model)
		return cli_wrong("--model: %s", diag.text);
	if (model->traits & TACT_MODEL_BATCH)
		return cli_wrong(
			"--model: %s only works on many blocks at once; use 'tact evaluate'",
			model->name);
	p->is_facile = model->traits & TACT_MODEL_BOUNDS;
	p->has_own_bottlenecks = model->traits & TACT_MODEL_TABLES;
	if (!p->is_facile && facile_option(p))
		return cli_wrong("%s requires --model facile", facile_option(p));
	if ((p->memory || p->n_memories || p->is_alias || p->is_noalias) && !p->is_facile &&
	    strcmp(model->name, "sim") != 0)
		return cli_wrong("%s requires --model facile or sim", p->is_alias     ? "--alias"
								      : p->is_noalias ? "--noalias"
										      : "--memory");
	if (p->mca_params_path && !(model->traits & TACT_MODEL_PARAMS))
		return cli_wrong("--mca-params requires --model mca");
	if (p->mca_params_path && p->archs.n > 1)
		return cli_wrong("--mca-params is for one microarchitecture; --arch names %zu",
				 p->archs.n);
	return CLI_GOOD;
}

static int load_mca_params(struct predictor *p)
{
	struct tact_diag diag = {0};
	int status = tact_mca_params_create(&p->mca_params, p->archs.arch[0], &diag);

	if (status >= 0)
		status = tact_mca_params_load(p->mca_params, p->mca_params_path, &diag);
	return status < 0 ? cli_complain(p->mca_params_path, &diag, status, CLI_USAGE) : CLI_GOOD;
}

static int check(struct predictor *p)
{
	const char *dot = p->graph ? strrchr(p->graph, '.') : NULL;

	if (check_model(p))
		return CLI_USAGE;
	if (!predict_bounds(p))
		return cli_wrong("--only and --without leave no bound");
	if (p->graph && (!dot || (strcmp(dot, ".svg") && strcmp(dot, ".dot"))))
		return cli_wrong("--graph: '%s' must end in .svg or .dot", p->graph);
	return p->mca_params_path ? load_mca_params(p) : CLI_GOOD;
}

static const char *file_option(const struct predictor *p)
{
	return p->graph ? "--graph" : NULL;
}

static const struct predict_command predict_command = {
	false,	     check,	  predict_report, &predict_columns, TACT_VIEW_PREDICTION,
	file_option, predict_draw};

static const struct option_command command = {help, groups, predict_main, predict_fini};

int predict_within(int argc, char **argv, struct source_limits *limits, bool has_graph)
{
	struct predictor p = {
		.command = &predict_command, .model = "facile", .has_graph = has_graph};

	p.source.limits = limits;
	return option_command_run(&command, &p, argc, argv);
}

int cmd_predict(int argc, char **argv)
{
	return predict_within(argc, argv, NULL, false);
}

/* SPDX-License-Identifier: MIT
 *
 * tact classify: its options.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classifying.h"
#include "common/archlist.h"
#include "common/cli.h"
#include "common/options.h"

static const char help[] =
	"usage: tact classify --train MODEL [OPTIONS] INPUT...\n"
	"       tact classify --apply MODEL [OPTIONS] INPUT...\n\n"
	"Sorts blocks of machine code into categories by the resources that they use: each "
	"block is a bag of port combinations, and latent Dirichlet allocation finds the "
	"categories in many of them, as BHive's authors did.\n\n"
	"{options}\n\n"
	"An INPUT is a file, or - for standard input: hex strings or a CSV file (columns\n"
	"hex, app and weight, or without a header hex and weight), a store of 'tact\n"
	"dataset', assembly text, an object file or an executable; the content tells\n"
	"which. Standard input is a list or a CSV file. Without a column app, the\n"
	"application is the file's name.\n\n"
	"Examples:\n"
	"  tact classify --train ports.model gzip.csv openblas.csv sqlite.csv\n"
	"  tact classify --apply ports.model -f csv blocks.csv > labels.csv\n"
	"  tact classify --apply ports.model --store blocks.db blocks.db\n"
	"  tact classify --apply ports.model -x c5fc58c1c5fc59c2\n";

/* "0.25" or "1/6": the paper's priors are fractions. */
static const char *read_prior(struct classifying *p, const char *value, double *out)
{
	double x, y = 1;
	char *end;

	x = strtod(value, &end);
	if (end != value && *end == '/')
		y = strtod(end + 1, &end);
	if (end == value || *end || !(x / y >= 1e-3 && x / y <= 1e3)) {
		snprintf(p->why, sizeof(p->why),
			 "'%.40s' is not a number or fraction in 0.001..1000", value);
		return p->why;
	}
	*out = x / y;
	return NULL;
}

static const char *set_alpha(void *target, const char *value)
{
	struct classifying *p = target;

	return read_prior(p, value, &p->training.alpha);
}

static const char *set_beta(void *target, const char *value)
{
	struct classifying *p = target;

	return read_prior(p, value, &p->training.beta);
}

#define OPTION_HOLDER classifying

static const struct option_spec model_specs[] = {
	OPTION_TEXT(0, "train", "MODEL", train,
		    "find categories in the blocks of the inputs and write them to this file"),
	OPTION_TEXT(0, "apply", "MODEL", apply,
		    "label the blocks of the inputs with the categories of this file"),
	OPTION_END,
};

static const struct option_spec training_specs[] = {
	OPTION_ARCH(arch_name,
		    "the CPU whose ports count (default: HSW; with --apply the model's)"),
	OPTION_NUMBER(0, "topics", "N", training.topics, 2, TACT_CLASSIFY_MAX_TOPICS,
		      "number of categories (default: 6)"),
	OPTION_CALL(0, "alpha", "X", set_alpha,
		    "prior of a block's categories: a number or a fraction (default: 1/6)"),
	OPTION_CALL(0, "beta", "X", set_beta,
		    "prior of a category's port combinations (default: 1/13)"),
	OPTION_SEED(seed, "another random start (default: 0; the same seed gives the same model)"),
	OPTION_NUMBER(0, "starts", "N", training.starts, 1, 10000,
		      "independent starts, of which the best is taken (default: 24)"),
	OPTION_JOBS(training.jobs, 256,
		    "threads of the training (default: 0, one for each core); the model does not "
		    "depend on them"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_FORMAT(format, OPTION_FORMATS,
		      "text (default): categories and shares by application; csv or json: with "
		      "--apply a row for each block"),
	OPTION_OUTPUT(output, OPTION_OUTPUT_HELP),
	OPTION_TEXT(0, "store", "FILE", store_path,
		    "with --apply: write the categories into this store, too"),
	OPTION_TEXT(0, "classifier", "NAME", classifier_name,
		    "the classifier's name in the store (default: lda)"),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_OWN("Model", model_specs),
	OPTION_GROUP("Input", source_option_specs, source, source_options_fini),
	OPTION_OWN("Training", training_specs),
	OPTION_OWN("Output", output_specs),
	OPTION_ARGUMENTS(source_add_path, source),
};

static int check(struct classifying *p)
{
	if (!p->train == !p->apply)
		return cli_wrong("give either --train MODEL, which is written, or --apply MODEL");
	if (!p->source.n_items)
		return cli_wrong("no input: give -x HEX, a file, or - for standard input");
	if (p->apply && (p->training.topics || p->training.alpha != 0 || p->training.beta != 0 ||
			 p->training.starts || p->seed))
		return cli_wrong("--topics, --alpha, --beta, --seed and --starts are for --train");
	if (p->store_path && !p->apply)
		return cli_wrong("--store is for --apply: train first, then label");
	if (p->classifier_name && !p->store_path)
		return cli_wrong("--classifier names what goes into --store FILE");
	return CLI_GOOD;
}

static int run(void *target)
{
	struct classifying *p = target;
	struct output out = {.fd = -1};
	int status = check(p);

	if (status)
		return status;
	p->is_hex_only = true;
	for (size_t i = 0; i < p->source.n_items; i++)
		p->is_hex_only &= p->source.items[i].is_hex;
	if (!p->classifier_name)
		p->classifier_name = "lda";
	if (p->arch_name || p->train) {
		p->arch = archlist_find(p->arch_name ? p->arch_name : "HSW");
		if (!p->arch)
			return CLI_USAGE;
	}
	status = p->train ? classify_train(p, &out) : classify_apply(p, &out);
	if (output_close(&out) && !status)
		status = CLI_FAILED;
	return status;
}

static const struct option_command command = {help, groups, run, NULL};

int cmd_classify(int argc, char **argv)
{
	struct classifying p = {.format = FORMAT_TEXT};

	return option_command_run(&command, &p, argc, argv);
}

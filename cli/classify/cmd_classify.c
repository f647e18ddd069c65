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
	"Sorts blocks of machine code into categories by the resources that they use. Each block "
	"is a bag of port combinations; latent Dirichlet allocation finds categories in many of "
	"them, as in BHive.\n\n"
	"{options}\n\n"
	"An INPUT is a file, or - for standard input: hex strings, a CSV file (columns\n"
	"hex, app and weight, or without a header hex and weight), a store of 'tact\n"
	"dataset', assembly text, an object file or an executable. Its contents tell\n"
	"which. Standard input must be a list or a CSV file. Without a column app, the\n"
	"application is the name of the file.\n\n"
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
		    "find categories in the blocks of the inputs and write them to MODEL"),
	OPTION_TEXT(0, "apply", "MODEL", apply,
		    "label the blocks of the inputs with the categories in MODEL"),
	OPTION_END,
};

static const struct option_spec training_specs[] = {
	OPTION_ARCH(arch_name, "microarchitecture whose ports count (default: HSW; with --apply, "
			       "that of the model)"),
	OPTION_NUMBER(0, "topics", "N", training.topics, 2, TACT_CLASSIFY_MAX_TOPICS,
		      "find N categories (default: 6)"),
	OPTION_CALL(0, "alpha", "X", set_alpha,
		    "prior of the categories of a block: a number or a fraction (default: 1/6)"),
	OPTION_CALL(0, "beta", "X", set_beta,
		    "prior of the port combinations of a category (default: 1/13)"),
	OPTION_SEED(seed, "seed of the random number generator (default: 0)"),
	OPTION_NUMBER(0, "starts", "N", training.starts, 1, 10000,
		      "start N times and keep the best result (default: 24)"),
	OPTION_JOBS(training.jobs, 256,
		    "use N threads (default: one per core); the model does not depend on it"),
	OPTION_END,
};

static const struct option_spec output_specs[] = {
	OPTION_FORMAT(format, OPTION_FORMATS,
		      "text (default): categories and shares by application; csv or json: with "
		      "--apply one row per block"),
	OPTION_OUTPUT(output, OPTION_OUTPUT_HELP),
	OPTION_TEXT(0, "store", "FILE", store_path,
		    "with --apply: also write the categories to this store"),
	OPTION_TEXT(0, "classifier", "NAME", classifier_name,
		    "name of the classifier in the store (default: lda)"),
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
		return cli_wrong("give either --train MODEL or --apply MODEL");
	if (!source_has_input(&p->source))
		return cli_wrong("no input: give -x HEX, a file, or - for standard input");
	if (p->apply && (p->training.topics || p->training.alpha != 0 || p->training.beta != 0 ||
			 p->training.starts || p->seed))
		return cli_wrong("--topics, --alpha, --beta, --seed and --starts require --train");
	if (p->store_path && !p->apply)
		return cli_wrong("--store requires --apply: train first, then label");
	if (p->classifier_name && !p->store_path)
		return cli_wrong("--classifier requires --store FILE");
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

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

static const struct option_choice formats[] = {
	{"text", FORMAT_TEXT},
	{"csv", FORMAT_CSV},
	{"json", FORMAT_JSON},
	{NULL, 0},
};

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

	return read_prior(p, value, &p->alpha);
}

static const char *set_beta(void *target, const char *value)
{
	struct classifying *p = target;

	return read_prior(p, value, &p->beta);
}

#define FIELD(field, type) .offset = OPTION_FIELD(classifying, field, type)
#define TEXT(field)	   .type = OPTION_TEXT, FIELD(field, const char *)
#define FLAG(field)	   .type = OPTION_FLAG, FIELD(field, bool)
#define CHOICE(field, of)  .type = OPTION_CHOICE, .choices = of, FIELD(field, int)
#define NUMBER(field, from, to)                                                                    \
	.type = OPTION_NUMBER, .low = from, .high = to, FIELD(field, unsigned)

/* clang-format off: an option stays together */
static const struct option_spec model_specs[] = {
	{.name = "train",
	 .argument = "MODEL",
	 TEXT(train),
	 .help = "find categories in the blocks of the inputs and write them to this file"},
	{.name = "apply",
	 .argument = "MODEL",
	 TEXT(apply),
	 .help = "label the blocks of the inputs with the categories of this file"},
	{.name = NULL},
};

static const struct option_spec training_specs[] = {
	{.letter = 'a',
	 .name = "arch",
	 .argument = "NAME",
	 TEXT(arch_name),
	 .help = "the CPU whose ports count (default: HSW; with --apply the model's)"},
	{.name = "topics",
	 .argument = "N",
	 NUMBER(topics, 2, TACT_CLASSIFY_MAX_TOPICS),
	 .help = "number of categories (default: 6)"},
	{.name = "alpha",
	 .argument = "X",
	 .type = OPTION_CALL,
	 .call = set_alpha,
	 .help = "prior of a block's categories: a number or a fraction (default: 1/6)"},
	{.name = "beta",
	 .argument = "X",
	 .type = OPTION_CALL,
	 .call = set_beta,
	 .help = "prior of a category's port combinations (default: 1/13)"},
	{.name = "seed",
	 .argument = "N",
	 NUMBER(seed, 0, 4294967295u),
	 .help = "another random start (default: 0; the same seed gives the same model)"},
	{.name = "starts",
	 .argument = "N",
	 NUMBER(starts, 1, 10000),
	 .help = "independent starts, of which the best is taken (default: 24)"},
	{.letter = 'j',
	 .name = "jobs",
	 .argument = "N",
	 NUMBER(jobs, 0, 256),
	 .help = "threads of the training (default: 0, one for each core); the model does not "
		 "depend on them"},
	{.name = NULL},
};

static const struct option_spec output_specs[] = {
	{.letter = 'f',
	 .name = "format",
	 .argument = "FORMAT",
	 CHOICE(format, formats),
	 .help = "text (default): categories and shares by application; csv or json: with --apply "
		 "a row for each block"},
	{.letter = 'o',
	 .name = "output",
	 .argument = "FILE",
	 TEXT(output),
	 .help = "write the results there"},
	{.name = "store",
	 .argument = "FILE",
	 TEXT(store_path),
	 .help = "with --apply: write the categories into this store, too"},
	{.name = "classifier",
	 .argument = "NAME",
	 TEXT(classifier_name),
	 .help = "the classifier's name in the store (default: lda)"},
	{.letter = 'q',
	 .name = "quiet",
	 FLAG(is_quiet),
	 .help = "no remarks on standard error, only errors"},
	{.name = NULL},
};
/* clang-format on */

static const char epilogue[] =
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

static int check(struct classifying *p)
{
	if (!p->train == !p->apply) {
		cli_message("give either --train MODEL, which is written, or --apply MODEL");
		return CLI_USAGE;
	}
	if (!p->source.n_items) {
		cli_message("no input: give -x HEX, a file, or - for standard input");
		return CLI_USAGE;
	}
	if (p->apply && (p->topics || p->alpha != 0 || p->beta != 0 || p->starts || p->seed)) {
		cli_message("--topics, --alpha, --beta, --seed and --starts are for --train");
		return CLI_USAGE;
	}
	if (p->store_path && !p->apply) {
		cli_message("--store is for --apply: train first, then label");
		return CLI_USAGE;
	}
	if (p->classifier_name && !p->store_path) {
		cli_message("--classifier names what goes into --store FILE");
		return CLI_USAGE;
	}
	return CLI_GOOD;
}

static int run(struct classifying *p)
{
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

int cmd_classify(int argc, char **argv)
{
	struct classifying p = {.format = FORMAT_TEXT};
	const struct option_group groups[] = {
		{"Model", model_specs, &p},
		{"Input", source_option_specs, &p.source},
		{"Training", training_specs, &p},
		{"Output", output_specs, &p},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact classify --train MODEL [OPTIONS] INPUT...\n"
			 "       tact classify --apply MODEL [OPTIONS] INPUT...\n",
		.description =
			"Sorts blocks of x86-64 code into categories by the resources that they "
			"use: each block is a bag of port combinations, and latent Dirichlet "
			"allocation finds the categories in many of them, as BHive's authors did.",
		.epilogue = epilogue,
		.groups = groups,
		.argument = source_add_path,
		.argument_target = &p.source,
	};
	int status;

	if (options_take(&command, argc, argv, &status))
		status = run(&p);
	source_options_fini(&p.source);
	return status;
}

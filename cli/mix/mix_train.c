/* SPDX-License-Identifier: MIT
 *
 * tact mix train: a rule from samples and exact counts of the same runs.
 */
#include <stdlib.h>
#include <string.h>

#include "mixer.h"

struct train {
	struct mixer_input input;
	const char **paths; /* owned; pairs */
	size_t n_paths;
	const char *output;
	unsigned leaves, percent;
	bool is_quiet;
};

#define TRAIN_FIELD(field, type) .offset = OPTION_FIELD(train, field, type)

/* clang-format off: an option stays together */
static const struct option_spec specs[] = {
	{.name = "leaves",
	 .argument = "N",
	 .type = OPTION_NUMBER,
	 .low = 1,
	 .high = 100,
	 TRAIN_FIELD(leaves, unsigned),
	 .help = "the tree has at most so many leaves (default: 4)"},
	{.name = "min-weight",
	 .argument = "PERCENT",
	 .type = OPTION_NUMBER,
	 .low = 1,
	 .high = 50,
	 TRAIN_FIELD(percent, unsigned),
	 .help = "a leaf has at least so much of the weight (default: 5)"},
	{.letter = 'o',
	 .name = "output",
	 .argument = "FILE",
	 .type = OPTION_TEXT,
	 TRAIN_FIELD(output, const char *),
	 .help = "save the rule, for report --rule"},
	{.letter = 'q',
	 .name = "quiet",
	 .type = OPTION_FLAG,
	 TRAIN_FIELD(is_quiet, bool),
	 .help = "no remarks on standard error, only errors"},
	{.name = NULL},
};
/* clang-format on */

static int add_run(struct train *t, struct tact_mix_trainer *trainer, const char *sampled_path,
		   const char *exact_path)
{
	struct tact_mix *sampled = NULL, *exact = NULL;
	struct tact_diag diag = {0};
	int status = mixer_open(&t->input, sampled_path, &sampled);
	long n = 0;

	if (!status)
		status = mixer_open(&t->input, exact_path, &exact);
	if (!status) {
		n = tact_mix_trainer_add(trainer, sampled, exact, &diag);
		if (n < 0) {
			cli_message("%s: %s", sampled_path, diag.text);
			status = CLI_FAILED;
		} else if (!t->is_quiet) {
			cli_message("%s: %ld blocks", sampled_path, n);
		}
	}
	tact_mix_destroy(sampled);
	tact_mix_destroy(exact);
	return status;
}

static int print(const struct tact_mix_rule *rule)
{
	size_t size = tact_mix_rule_print(rule, NULL, 0) + 1;
	struct text text = {0};
	struct output out;

	tact_mix_rule_print(rule, cli_reserve(&text, size), size);
	text.size = size - 1;
	output_open(&out, NULL);
	output_write(&out, &text);
	text_free(&text);
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

static int run(struct train *t)
{
	struct tact_mix_train_options o = {
		.size = sizeof(o), .max_leaves = t->leaves, .min_weight = t->percent / 100.0};
	struct tact_mix_trainer *trainer = NULL;
	struct tact_mix_rule *rule = NULL;
	struct tact_diag diag = {0};
	int status = CLI_GOOD;

	if (tact_mix_trainer_create(&trainer, &diag) < 0)
		cli_out_of_memory();
	for (size_t i = 0; i + 1 < t->n_paths && !status; i += 2)
		status = add_run(t, trainer, t->paths[i], t->paths[i + 1]);
	if (!status && tact_mix_trainer_fit(trainer, &o, &rule, &diag) < 0) {
		cli_message("%s", diag.text);
		status = CLI_FAILED;
	}
	if (!status && t->output && tact_mix_rule_save(rule, t->output, &diag) < 0) {
		cli_message("%s: %s", t->output, diag.text);
		status = CLI_FAILED;
	}
	if (!status)
		status = print(rule);
	tact_mix_rule_destroy(rule);
	tact_mix_trainer_destroy(trainer);
	return status;
}

static const char *add_path(void *target, const char *value)
{
	struct train *t = target;

	t->paths = cli_realloc(t->paths, (t->n_paths + 1) * sizeof(*t->paths));
	t->paths[t->n_paths++] = value;
	return NULL;
}

int mix_train_main(int argc, char **argv)
{
	struct train t = {0};
	const struct option_group groups[] = {
		{"Input", mixer_input_specs, &t.input},
		{"Training", specs, &t},
		{NULL, NULL, NULL},
	};
	const struct option_command command = {
		.usage = "usage: tact mix train [OPTIONS] RECORDING EXACT [RECORDING EXACT]...\n",
		.description = "Learns when to trust samples and when branch stacks: a "
			       "classification tree over "
			       "properties of blocks, from recordings and exact counts of the same "
			       "runs. Prints "
			       "the tree.",
		.groups = groups,
		.argument = add_path,
		.argument_target = &t,
	};
	int status = options_parse(&command, argc, argv);

	if (status == OPTIONS_HELP)
		return options_print_help(&command);
	if (status == OPTIONS_GOOD && (!t.n_paths || t.n_paths % 2)) {
		cli_message("mix train needs pairs: a recording, and exact counts of the same run");
		status = OPTIONS_WRONG;
	}
	status = status == OPTIONS_WRONG ? CLI_USAGE : run(&t);
	mixer_input_fini(&t.input);
	free(t.paths);
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * tact mix train: a rule from samples and exact counts of the same runs.
 */
#include <stdlib.h>
#include <string.h>

#include "mixer.h"

static const char help[] =
	"usage: tact mix train [OPTIONS] RECORDING EXACT [RECORDING EXACT]...\n\n"
	"Learns when to trust samples and when to trust branch stacks, from recordings and exact "
	"counts of the same runs. The rule is a classification tree over properties of blocks. "
	"Each program is left out in turn: if the learned rule is worse than the default on any "
	"program that it has not seen, the result is the default rule. Prints which it is, and "
	"the tree.\n\n"
	"{options}\n";

struct train {
	struct mixer_input input;
	struct option_words paths; /* pairs */
	const char *output;
	unsigned leaves, percent;
	bool is_quiet;
};

#define OPTION_HOLDER train

static const struct option_spec specs[] = {
	OPTION_NUMBER(0, "leaves", "N", leaves, 1, 100,
		      "build a tree of at most N leaves (default: 4)"),
	OPTION_NUMBER(0, "min-weight", "PERCENT", percent, 1, 50,
		      "give each leaf at least this share of the weight (default: 5)"),
	OPTION_OUTPUT(output, "write the rule to FILE, for 'tact mix report --rule'"),
	OPTION_QUIET(is_quiet, OPTION_QUIET_HELP),
	OPTION_END,
};

static const struct option_group groups[] = {
	OPTION_GROUP("Input", mixer_input_specs, input, mixer_input_fini),
	OPTION_OWN("Training", specs),
	OPTION_WORDS(paths),
};

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
	tact_mix_close(sampled);
	tact_mix_close(exact);
	return status;
}

/* Says which rule it is, and why. */
static void add_verdict(const struct tact_mix_verdict *v, struct text *text)
{
	if (v->programs < TACT_MIX_MIN_PROGRAMS) {
		text_printf(text,
			    "Rule: default; recordings of %d programs or more tell whether a "
			    "learned one is better, these are of %zu\n",
			    TACT_MIX_MIN_PROGRAMS, v->programs);
		return;
	}
	text_printf(text,
		    "Held-out programs: %zu; error of the mix: %.2f%% by the default rule, %.2f%% "
		    "by learned ones of %u leaves\n",
		    v->programs, 100 * v->by_default, 100 * v->by_learned, v->leaves);
	if (v->is_used)
		text_add(text, "Rule: learned; on no held-out program was it worse\n");
	else if (v->worse)
		text_printf(text,
			    "Rule: default; the learned one was worse on %zu held-out program%s\n",
			    v->worse, v->worse == 1 ? "" : "s");
	else
		text_add(text, "Rule: default; the learned one is not better\n");
}

static int print(const struct tact_mix_rule *rule, const struct tact_mix_verdict *verdict)
{
	size_t size = tact_mix_rule_print(rule, NULL, 0) + 1, head;
	struct text text = {0};

	add_verdict(verdict, &text);
	head = text.size;
	tact_mix_rule_print(rule, cli_reserve(&text, size), size);
	text.size = head + size - 1;
	return output_all(NULL, &text);
}

static int run(void *target)
{
	struct train *t = target;
	struct tact_mix_train_options o = {
		.size = sizeof(o), .max_leaves = t->leaves, .min_weight = t->percent / 100.0};
	struct tact_mix_trainer *trainer = NULL;
	struct tact_mix_verdict verdict = TACT_MIX_VERDICT_INIT;
	struct tact_mix_rule *rule = NULL;
	struct tact_diag diag = {0};
	int status = CLI_GOOD;

	if (!t->paths.n || t->paths.n % 2)
		return cli_wrong(
			"mix train: give pairs of a recording and exact counts of the same run");
	if (tact_mix_trainer_create(&trainer, &diag) < 0)
		cli_out_of_memory();
	for (size_t i = 0; i + 1 < t->paths.n && !status; i += 2)
		status = add_run(t, trainer, t->paths.list[i], t->paths.list[i + 1]);
	if (!status && tact_mix_trainer_choose(trainer, &o, &rule, &verdict, &diag) < 0) {
		cli_message("%s", diag.text);
		status = CLI_FAILED;
	}
	if (!status && t->output && tact_mix_rule_save(rule, t->output, &diag) < 0) {
		cli_message("%s: %s", t->output, diag.text);
		status = CLI_FAILED;
	}
	if (!status)
		status = print(rule, &verdict);
	tact_mix_rule_destroy(rule);
	tact_mix_trainer_destroy(trainer);
	return status;
}

static const struct option_command command = {help, groups, run, NULL};

int mix_train_main(int argc, char **argv)
{
	struct train t = {0};

	return option_command_run(&command, &t, argc, argv);
}

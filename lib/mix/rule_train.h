/* SPDX-License-Identifier: MIT
 *
 * Shared by what learns rules and what judges them.
 */
#ifndef MIX_RULE_TRAIN_H
#define MIX_RULE_TRAIN_H

#include "mix/mix.h"

enum { RULE_LEAVES = 4 };
#define RULE_ALL UINT32_MAX

struct example {
	double feature[MIX_N_FEATURES];
	double weight;
	uint32_t run;
	bool is_lbr;
};

/* A block of a run, as both methods count it. */
struct rule_block {
	double feature[MIX_N_FEATURES];
	double ebs, completed; /* executions */
	double samples;	       /* in instructions: samples times period */
	uint32_t length;
	uint32_t first_word, n_words; /* of the run: mnemonics of its instructions */
};

struct rule_run {
	char *name;	  /* owned; of the program */
	uint32_t program; /* runs of one program have the same number */
	struct rule_block *blocks;
	size_t n_blocks, blocks_capacity;
	uint32_t *words;
	size_t n_words, words_capacity;
	double *truth; /* executions of each mnemonic */
	double total;
};

struct tact_mix_trainer {
	struct example *examples;
	size_t n, capacity;
	struct rule_run *runs;
	size_t n_runs, runs_capacity;
	uint32_t n_programs;
};

/* Keeps what a rule is judged by.  Returns 0 or -TACT_E_NOMEM. */
int rule_runs_add(struct tact_mix_trainer *t, const struct tact_mix *sampled,
		  const struct tact_mix *exact);
void rule_runs_fini(struct tact_mix_trainer *t);

/* Learns from all programs but one.  Returns 0 with a rule to destroy, or -TACT_E_NOMEM. */
int rule_fit(const struct tact_mix_trainer *t, const struct tact_mix_train_options *o,
	     uint32_t without, struct tact_mix_rule **out);
int rule_read_options(const struct tact_mix_trainer *t, const struct tact_mix_train_options *opt,
		      struct tact_mix_train_options *o, struct tact_diag *diag);

#endif /* MIX_RULE_TRAIN_H */

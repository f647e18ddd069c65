/* SPDX-License-Identifier: MIT
 *
 * Judges rules by programs that they were not learned from: leaves each program out in turn.
 *
 * A tree learned from a few programs may be worse than the paper's on the next one.  So a learned
 * rule is given only if it was not worse on any program that it had not seen.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "mix/rule_train.h"

enum { N_MNEMONICS = 1 << 16 }; /* isa_properties.mnemonic */

/* Errors closer than this are equal: sums of the same numbers in another order. */
static const double same = 1e-9;

/* ---- runs ---- */

/* Visits the instructions of a block: their mnemonics. */
static int visit(const struct tact_mix *mix, const struct mix_profile *p,
		 int (*f)(void *arg, uint32_t mnemonic), void *arg)
{
	const struct mix_code *code = &mix->modules.items[p->module].codes[p->code];
	const struct code_block *b = mix_block_of(mix, p);
	struct isa_properties q;
	int status = 0;

	for (uint32_t at = b->begin; at < b->end && !status; at += q.length ? q.length : 1) {
		code->isa->describe(&q, code->data + at, b->end - at);
		status = f(arg, q.mnemonic);
	}
	return status;
}

static int add_word(void *arg, uint32_t mnemonic)
{
	struct rule_run *r = arg;

	if (tact_grow(&r->words, &r->words_capacity, r->n_words + 1, sizeof(*r->words)))
		return -TACT_E_NOMEM;
	r->words[r->n_words++] = mnemonic;
	return 0;
}

struct counter {
	double *counts, n;
};

static int add_count(void *arg, uint32_t mnemonic)
{
	struct counter *c = arg;

	c->counts[mnemonic] += c->n;
	return 0;
}

static int add_block(struct rule_run *r, const struct tact_mix *mix, const struct mix_profile *p)
{
	struct rule_block *b;

	if (tact_grow(&r->blocks, &r->blocks_capacity, r->n_blocks + 1, sizeof(*r->blocks)))
		return -TACT_E_NOMEM;
	b = &r->blocks[r->n_blocks++];
	*b = (struct rule_block){.samples = p->ebs,
				 .completed = p->completed,
				 .length = mix_block_of(mix, p)->n_insns,
				 .first_word = (uint32_t)r->n_words};
	b->ebs = p->ebs / b->length;
	mix_features(mix, p, b->feature);
	if (visit(mix, p, add_word, r))
		return -TACT_E_NOMEM;
	b->n_words = (uint32_t)r->n_words - b->first_word;
	return 0;
}

/* The program of a command, without its folder and arguments. */
static char *program_of(const char *command)
{
	char *name = strndup(command, strcspn(command, " "));
	char *base = name ? strdup(file_base_name(name)) : NULL;

	free(name);
	return base;
}

static uint32_t number_of(struct tact_mix_trainer *t, const char *name)
{
	for (size_t i = 0; i + 1 < t->n_runs && *name; i++)
		if (!strcmp(t->runs[i].name, name))
			return t->runs[i].program;
	return t->n_programs++;
}

int rule_runs_add(struct tact_mix_trainer *t, const struct tact_mix *sampled,
		  const struct tact_mix *exact)
{
	struct rule_run *r;
	int status = 0;

	if (tact_grow(&t->runs, &t->runs_capacity, t->n_runs + 1, sizeof(*t->runs)))
		return -TACT_E_NOMEM;
	r = &t->runs[t->n_runs++];
	*r = (struct rule_run){.name = program_of(sampled->command ? sampled->command : ""),
			       .truth = calloc(N_MNEMONICS, sizeof(*r->truth)),
			       .total = exact->summary.instructions};
	if (!r->name || !r->truth)
		return -TACT_E_NOMEM;
	r->program = number_of(t, r->name);
	for (size_t i = 0; i < sampled->n_profiles && !status; i++)
		status = add_block(r, sampled, &sampled->profiles[i]);
	for (size_t i = 0; i < exact->n_profiles && !status; i++) {
		struct counter c = {r->truth, exact->profiles[i].executions};

		status = visit(exact, &exact->profiles[i], add_count, &c);
	}
	return status;
}

void rule_runs_fini(struct tact_mix_trainer *t)
{
	for (size_t i = 0; i < t->n_runs; i++)
		FREE_ALL(t->runs[i].name, t->runs[i].blocks, t->runs[i].words, t->runs[i].truth);
	free(t->runs);
}

/* ---- errors ---- */

static double count_of(const struct tact_mix_rule *rule, const struct rule_block *b, bool *is_lbr)
{
	*is_lbr = mix_rule_choose(rule, b->feature) == TACT_MIX_LBR;
	return *is_lbr ? b->completed : b->ebs;
}

/* Brings what streams count to the known total, as reports do. */
static double factor_of(const struct rule_run *r, const struct tact_mix_rule *rule)
{
	double all = 0, by_ebs = 0, by_lbr = 0;
	bool is_lbr;

	for (size_t i = 0; i < r->n_blocks; i++) {
		const struct rule_block *b = &r->blocks[i];
		const double n = count_of(rule, b, &is_lbr) * b->length;

		all += b->samples;
		*(is_lbr ? &by_lbr : &by_ebs) += n;
	}
	return by_lbr > 0 && all > by_ebs ? (all - by_ebs) / by_lbr : 1;
}

/* Returns the average weighted error of a run's mnemonics (HBBP paper, section VI). */
static double error_of(const struct rule_run *r, const struct tact_mix_rule *rule, double *counts)
{
	const double factor = factor_of(r, rule);
	double sum = 0;
	bool is_lbr;

	memset(counts, 0, N_MNEMONICS * sizeof(*counts));
	for (size_t i = 0; i < r->n_blocks; i++) {
		const struct rule_block *b = &r->blocks[i];
		const double n = count_of(rule, b, &is_lbr) * (is_lbr ? factor : 1);

		for (uint32_t w = 0; w < b->n_words; w++)
			counts[r->words[b->first_word + w]] += n;
	}
	for (size_t i = 0; i < N_MNEMONICS; i++)
		if (r->truth[i] > 0)
			sum += fabs(r->truth[i] - counts[i]);
	return r->total > 0 ? sum / r->total : 0;
}

/* The mean over the runs of a program. */
static double error_of_program(const struct tact_mix_trainer *t, uint32_t program,
			       const struct tact_mix_rule *rule, double *counts)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->n_runs; i++) {
		if (t->runs[i].program != program)
			continue;
		sum += error_of(&t->runs[i], rule, counts);
		n++;
	}
	return n ? sum / (double)n : 0;
}

/* ---- the choice ---- */

/* Leaves each program out in turn; by_default has the errors to compare with. */
static int try_leaves(const struct tact_mix_trainer *t, const struct tact_mix_train_options *o,
		      const double *by_default, double *counts, struct tact_mix_verdict *v)
{
	v->leaves = o->max_leaves;
	v->by_learned = 0;
	v->worse = 0;
	for (uint32_t p = 0; p < t->n_programs; p++) {
		struct tact_mix_rule *rule;
		double error;

		if (rule_fit(t, o, p, &rule))
			return -TACT_E_NOMEM;
		error = error_of_program(t, p, rule, counts);
		tact_mix_rule_destroy(rule);
		v->by_learned += error / t->n_programs;
		v->worse += error > by_default[p] + same;
	}
	v->is_used = !v->worse && v->by_learned < v->by_default - same;
	return 0;
}

/* Rules that may be used come first, then smaller errors. */
static bool is_better(const struct tact_mix_verdict *a, const struct tact_mix_verdict *b)
{
	if (b->by_learned < 0 || a->is_used != b->is_used)
		return b->by_learned < 0 || a->is_used;
	return a->by_learned < b->by_learned;
}

static int judge(const struct tact_mix_trainer *t, struct tact_mix_train_options *o,
		 const struct tact_mix_rule *usual, struct tact_mix_verdict *best)
{
	const unsigned max_leaves = o->max_leaves ? o->max_leaves : RULE_LEAVES;
	double *counts = malloc(N_MNEMONICS * sizeof(*counts));
	double *by_default = calloc(t->n_programs, sizeof(*by_default));
	int status = counts && by_default ? 0 : -TACT_E_NOMEM;

	for (uint32_t p = 0; p < t->n_programs && !status; p++) {
		by_default[p] = error_of_program(t, p, usual, counts);
		best->by_default += by_default[p] / t->n_programs;
	}
	for (o->max_leaves = 2; o->max_leaves <= max_leaves && !status; o->max_leaves++) {
		struct tact_mix_verdict v = *best;

		if (t->n_programs < TACT_MIX_MIN_PROGRAMS)
			break;
		status = try_leaves(t, o, by_default, counts, &v);
		if (!status && is_better(&v, best))
			*best = v;
	}
	free(counts);
	free(by_default);
	return status;
}

int tact_mix_trainer_choose(const struct tact_mix_trainer *t,
			    const struct tact_mix_train_options *opt, struct tact_mix_rule **out,
			    struct tact_mix_verdict *verdict, struct tact_diag *diag)
{
	struct tact_mix_train_options o = {.size = sizeof(o)};
	struct tact_mix_verdict v = {.size = sizeof(v), .by_learned = -1};
	struct tact_mix_rule *usual = NULL;
	int status;

	if (out)
		*out = NULL;
	if (!out)
		return tact_fail(diag, TACT_E_INVAL, "nowhere to put the rule");
	status = rule_read_options(t, opt, &o, diag);
	if (status < 0)
		return status;
	v.programs = t->n_programs;
	status = tact_mix_rule_create(&usual, diag);
	if (status >= 0 && judge(t, &o, usual, &v))
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	o.max_leaves = v.leaves;
	if (status >= 0 && v.is_used) {
		if (rule_fit(t, &o, RULE_ALL, out))
			status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	} else if (status >= 0) {
		*out = usual;
		usual = NULL;
	}
	tact_mix_rule_destroy(usual);
	if (status >= 0 && verdict)
		status = tact_fill(verdict, &v, sizeof(v));
	if (status < 0) {
		tact_mix_rule_destroy(*out);
		*out = NULL;
	}
	return status;
}

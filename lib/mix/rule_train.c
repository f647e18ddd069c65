/* SPDX-License-Identifier: MIT
 *
 * Learns a rule: a classification tree by Gini impurity (Breiman et al., Classification and
 * Regression Trees, 1984; HBBP paper, section IV.B).  The best split is made first, up to a number
 * of leaves.
 *
 * A block is labelled with the method that is closer to its exact count.  Its weight is the value
 * of the choice: the instructions by which the errors of the two methods differ.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mix/rule_train.h"

static const double default_min_weight = 0.05;

int tact_mix_trainer_create(struct tact_mix_trainer **out, struct tact_diag *diag)
{
	if (!out)
		return tact_fail(diag, TACT_E_INVAL, "nowhere to put the trainer");
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

void tact_mix_trainer_destroy(struct tact_mix_trainer *t)
{
	if (!t)
		return;
	rule_runs_fini(t);
	FREE_ALL(t->examples, t);
}

/* All runs have the same weight, however long they were. */
static int add_example(struct tact_mix_trainer *t, const struct tact_mix *mix,
		       const struct mix_profile *p, double exact, double total)
{
	const struct code_block *b = mix_block_of(mix, p);
	double ebs = fabs(p->ebs / b->n_insns - exact), lbr = fabs(p->completed - exact);
	struct example *e;

	if (ebs == lbr || !(total > 0))
		return 0;
	if (tact_grow(&t->examples, &t->capacity, t->n + 1, sizeof(*t->examples)))
		return -TACT_E_NOMEM;
	e = &t->examples[t->n++];
	e->run = (uint32_t)t->n_runs - 1;
	mix_features(mix, p, e->feature);
	e->is_lbr = lbr < ebs;
	e->weight = fabs(ebs - lbr) * b->n_insns / total;
	return 1;
}

long tact_mix_trainer_add(struct tact_mix_trainer *t, const struct tact_mix *sampled,
			  const struct tact_mix *exact, struct tact_diag *diag)
{
	long n = 0;

	if (!t || !sampled || !exact)
		return tact_fail(diag, TACT_E_INVAL, "a sampled run and exact counts are needed");
	if (!sampled->has_ebs || !sampled->has_lbr)
		return tact_fail(
			diag, TACT_E_NO_DATA,
			"the recording has not both instruction pointers and branch stacks");
	if (!exact->has_exact)
		return tact_fail(diag, TACT_E_INVAL, "no exact counts");
	if (rule_runs_add(t, sampled, exact))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < sampled->n_profiles; i++) {
		const struct mix_profile *p = &sampled->profiles[i];
		const struct mix_module *module = &sampled->modules.items[p->module];
		const struct mix_code *code = &module->codes[p->code];
		double count =
			mix_exact_at(exact, module, code, code->blocks.items[p->block].begin);
		int status;

		if (count < 0)
			continue;
		status = add_example(t, sampled, p, count, exact->summary.instructions);
		if (status < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		n += status;
	}
	return n;
}

/* ---- growing ---- */

struct leaf {
	size_t begin, end; /* of the examples */
	uint32_t node;
	double weight, lbr; /* of all, of those labelled LBR */
	/* the best split */
	double gain, limit;
	int feature; /* -1: none */
};

struct grower {
	struct example *examples; /* a copy that is reordered */
	struct example *sorted;
	double total, min_weight;
};

static double impurity(double lbr, double weight)
{
	double p = weight > 0 ? lbr / weight : 0;

	return 2 * p * (1 - p);
}

static int compare_feature(const void *a, const void *b, void *feature)
{
	double x = ((const struct example *)a)->feature[*(const int *)feature];
	double y = ((const struct example *)b)->feature[*(const int *)feature];

	return (x > y) - (x < y);
}

static void try_feature(const struct grower *g, struct leaf *leaf, int feature)
{
	const size_t n = leaf->end - leaf->begin;
	const double before = leaf->weight * impurity(leaf->lbr, leaf->weight);
	double weight = 0, lbr = 0;

	memcpy(g->sorted, g->examples + leaf->begin, n * sizeof(*g->sorted));
	qsort_r(g->sorted, n, sizeof(*g->sorted), compare_feature, &feature);
	for (size_t i = 0; i + 1 < n; i++) {
		const struct example *e = &g->sorted[i];
		double rest, gain;

		weight += e->weight;
		lbr += e->is_lbr ? e->weight : 0;
		rest = leaf->weight - weight;
		if (e->feature[feature] == g->sorted[i + 1].feature[feature] ||
		    weight < g->min_weight * g->total || rest < g->min_weight * g->total)
			continue;
		gain = before - weight * impurity(lbr, weight) -
		       rest * impurity(leaf->lbr - lbr, rest);
		if (gain <= leaf->gain * (1 + 1e-9) + 1e-15)
			continue;
		leaf->gain = gain;
		leaf->feature = feature;
		leaf->limit = (e->feature[feature] + g->sorted[i + 1].feature[feature]) / 2;
	}
}

static void measure_leaf(const struct grower *g, struct leaf *leaf)
{
	leaf->weight = leaf->lbr = leaf->gain = 0;
	leaf->feature = -1;
	for (size_t i = leaf->begin; i < leaf->end; i++) {
		leaf->weight += g->examples[i].weight;
		leaf->lbr += g->examples[i].is_lbr ? g->examples[i].weight : 0;
	}
	for (int f = 0; f < MIX_N_FEATURES; f++)
		try_feature(g, leaf, f);
}

/* Moves the examples that go left to the front. */
static size_t part(const struct grower *g, const struct leaf *leaf)
{
	size_t left = leaf->begin;

	for (size_t i = leaf->begin; i < leaf->end; i++) {
		struct example e = g->examples[i];

		if (e.feature[leaf->feature] > leaf->limit)
			continue;
		g->examples[i] = g->examples[left];
		g->examples[left++] = e;
	}
	return left;
}

static void set_node(struct tact_mix_rule *rule, const struct leaf *leaf)
{
	rule->nodes[leaf->node] = (struct mix_rule_node){
		.is_leaf = true,
		.method = 2 * leaf->lbr >= leaf->weight ? TACT_MIX_LBR : TACT_MIX_EBS,
		.weight = leaf->weight,
		.gini = impurity(leaf->lbr, leaf->weight),
		.samples = leaf->end - leaf->begin,
	};
}

static void grow(const struct grower *g, struct tact_mix_rule *rule, size_t n, unsigned max_leaves)
{
	struct leaf leaves[MIX_RULE_MAX_NODES];
	unsigned n_leaves = 1;

	leaves[0] = (struct leaf){.begin = 0, .end = n};
	measure_leaf(g, &leaves[0]);
	set_node(rule, &leaves[0]);
	rule->n = 1;
	while (n_leaves < max_leaves && rule->n + 2 <= MIX_RULE_MAX_NODES) {
		struct leaf *best = &leaves[0], *right = &leaves[n_leaves];
		uint32_t parent;
		size_t middle;

		for (unsigned i = 1; i < n_leaves; i++)
			if (leaves[i].gain > best->gain)
				best = &leaves[i];
		if (best->feature < 0 || best->gain <= 0)
			break;
		parent = best->node;
		rule->nodes[parent].is_leaf = false;
		rule->nodes[parent].feature = (uint8_t)best->feature;
		rule->nodes[parent].limit = best->limit;
		rule->nodes[parent].left = rule->n;
		rule->nodes[parent].right = rule->n + 1;
		middle = part(g, best);
		*right = (struct leaf){.begin = middle, .end = best->end, .node = rule->n + 1};
		*best = (struct leaf){.begin = best->begin, .end = middle, .node = rule->n};
		rule->n += 2;
		n_leaves++;
		measure_leaf(g, best);
		measure_leaf(g, right);
		set_node(rule, best);
		set_node(rule, right);
	}
}

/* Joins two leaves of the same method. */
static void prune(struct tact_mix_rule *rule)
{
	for (uint32_t i = rule->n; i-- > 0;) {
		struct mix_rule_node *x = &rule->nodes[i];
		const struct mix_rule_node *l, *r;

		if (x->is_leaf)
			continue;
		l = &rule->nodes[x->left];
		r = &rule->nodes[x->right];
		if (!l->is_leaf || !r->is_leaf || l->method != r->method)
			continue;
		*x = (struct mix_rule_node){.is_leaf = true,
					    .method = l->method,
					    .weight = l->weight + r->weight,
					    .gini = l->gini > r->gini ? l->gini : r->gini,
					    .samples = l->samples + r->samples};
	}
}

/* Writes the remaining nodes without gaps, parents first. */
static uint32_t pack(const struct tact_mix_rule *from, uint32_t at, struct tact_mix_rule *to)
{
	uint32_t here = to->n++;

	to->nodes[here] = from->nodes[at];
	if (!from->nodes[at].is_leaf) {
		uint32_t left = pack(from, from->nodes[at].left, to);
		uint32_t right = pack(from, from->nodes[at].right, to);

		to->nodes[here].left = left;
		to->nodes[here].right = right;
	}
	return here;
}

int rule_fit(const struct tact_mix_trainer *t, const struct tact_mix_train_options *o,
	     uint32_t without, struct tact_mix_rule **out)
{
	struct tact_mix_rule *grown = calloc(1, sizeof(*grown)),
			     *packed = calloc(1, sizeof(*packed));
	struct grower g = {.min_weight = o->min_weight > 0 ? o->min_weight : default_min_weight,
			   .examples = malloc((t->n + 1) * sizeof(*g.examples)),
			   .sorted = malloc((t->n + 1) * sizeof(*g.sorted))};
	size_t n = 0;
	int status = -TACT_E_NOMEM;

	if (!g.examples || !g.sorted || !grown || !packed)
		goto out_free;
	for (size_t i = 0; i < t->n; i++) {
		if (t->runs[t->examples[i].run].program == without)
			continue;
		g.examples[n++] = t->examples[i];
		g.total += t->examples[i].weight;
	}
	grow(&g, grown, n, o->max_leaves ? o->max_leaves : RULE_LEAVES);
	prune(grown);
	pack(grown, 0, packed);
	*out = packed;
	packed = NULL;
	status = 0;
out_free:
	FREE_ALL(g.examples, g.sorted, grown, packed);
	return status;
}

int rule_read_options(const struct tact_mix_trainer *t, const struct tact_mix_train_options *opt,
		      struct tact_mix_train_options *o, struct tact_diag *diag)
{
	if (!t || tact_read_options(o, sizeof(*o), opt) ||
	    !(o->min_weight >= 0 && o->min_weight <= 1))
		return tact_fail(diag, TACT_E_INVAL, "no trainer, or options out of range");
	if (!t->n)
		return tact_fail(diag, TACT_E_NO_DATA, "no blocks to learn from");
	return 0;
}

int tact_mix_trainer_fit(const struct tact_mix_trainer *t, const struct tact_mix_train_options *opt,
			 struct tact_mix_rule **out, struct tact_diag *diag)
{
	struct tact_mix_train_options o = {.size = sizeof(o)};
	int status;

	if (out)
		*out = NULL;
	if (!out)
		return tact_fail(diag, TACT_E_INVAL, "nowhere to put the rule");
	status = rule_read_options(t, opt, &o, diag);
	if (status < 0)
		return status;
	return rule_fit(t, &o, RULE_ALL, out) ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : 0;
}

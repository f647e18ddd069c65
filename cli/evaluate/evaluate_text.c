/* SPDX-License-Identifier: MIT
 *
 * Tables of tact evaluate for people.
 */
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "evaluator.h"

/* Why rows of a model have no number. */
static void add_failures(struct text *out, const char *name, const struct tact_scores *s)
{
	const char *between = "";

	if (!tact_scores_failed(s))
		return;
	text_printf(out, "Failed with %s: ", name);
	for (int i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++) {
		const char *word = tact_outcome_name((enum tact_outcome)i);

		if (!s->outcomes[i])
			continue;
		text_printf(out, "%s%zu ", between, s->outcomes[i]);
		for (; *word; word++)
			text_add_bytes(out, *word == '_' ? " " : word, 1);
		between = ", ";
	}
	text_add(out, "\n");
}

static void add_table(const struct evaluator *p, enum tact_grouping kind, uint32_t group,
		      struct text *out)
{
	struct evaluate_table t;

	evaluate_table_init(&t, p, FORMAT_TEXT, out);
	table_header(&t.table);
	evaluate_table_row(&t, kind, group);
	table_fini(&t.table);
	for (size_t m = 0; m < p->e->n_models; m++)
		add_failures(out, p->e->model[m].name, &p->e->model[m].scores[kind][group]);
}

size_t evaluate_order(const struct evaluator *p, enum tact_grouping kind, uint32_t set,
		      uint32_t **order)
{
	long n = tact_evaluation_order(p->e, kind, set, order);

	if (n < 0)
		cli_out_of_memory();
	return (size_t)n;
}

static void add_groups(const struct evaluator *p, enum tact_grouping kind, uint32_t set,
		       const char *title, struct text *out)
{
	struct evaluate_table t;
	uint32_t *order;
	size_t n = evaluate_order(p, kind, set, &order);

	if (n) {
		evaluate_table_init(&t, p, FORMAT_TEXT, out);
		evaluate_table_group(&t, kind, title);
		text_add(out, "\n");
		table_header(&t.table);
		for (size_t i = 0; i < n; i++)
			evaluate_table_row(&t, kind, order[i]);
		table_fini(&t.table);
	}
	free(order);
}

/* ---- bottlenecks ---- */

static void add_arch_titles(const struct evaluator *p, struct text *out)
{
	text_printf(out, "%-14s", "");
	for (size_t a = 0; a < p->e->n_bottlenecks; a++)
		text_printf(out, " %6s", tact_arch_name(p->e->bottlenecks[a].arch));
	text_add(out, "\n");
}

static void add_share_table(const struct evaluator *p, struct text *out)
{
	text_add(out, "\n"
		      "Bottlenecks by FACILE, share of blocks; of several, the one closest to the "
		      "front end\n");
	add_arch_titles(p, out);
	for (unsigned k = 0; k < TACT_N_BOTTLENECKS; k++) {
		double any = 0;

		for (size_t a = 0; a < p->e->n_bottlenecks; a++)
			any += p->e->bottlenecks[a].share[k];
		if (!(any > 0))
			continue;
		text_printf(out, "%-14s", tact_bottleneck_name(k));
		for (size_t a = 0; a < p->e->n_bottlenecks; a++)
			text_printf(out, " %5.1f%%", 100 * p->e->bottlenecks[a].share[k]);
		text_add(out, "\n");
	}
}

static void add_speedup_table(const struct evaluator *p, struct text *out)
{
	text_add(out, "\nSpeedup if one component were ideal, geometric mean over the blocks\n");
	add_arch_titles(p, out);
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		bool any = false;

		for (size_t a = 0; a < p->e->n_bottlenecks; a++)
			any |= p->e->bottlenecks[a].has_gain[b];
		if (!any)
			continue;
		text_printf(out, "%-14s", tact_bottleneck_name(b));
		for (size_t a = 0; a < p->e->n_bottlenecks; a++)
			text_printf(out, " %6.3f", p->e->bottlenecks[a].speedup[b]);
		text_add(out, "\n");
	}
}

/* Moves from one bottleneck to another, largest first, as far as they matter. */
struct move {
	unsigned from, to;
	double share;
};

static int by_share(const void *a, const void *b)
{
	const struct move *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return x->from != y->from ? (x->from < y->from ? -1 : 1)
				  : (x->to > y->to) - (x->to < y->to);
}

static void add_flow(const struct evaluator *p, size_t i, struct text *out)
{
	enum { N = TACT_N_BOTTLENECKS };
	double flow[N * N], sum = 0, stay = 0;
	struct move moves[N * N];
	size_t n = 0;

	tact_evaluation_flow(p->e, i, flow);
	for (unsigned k = 0; k < N * N; k++)
		sum += flow[k];
	for (unsigned from = 0; from < N; from++) {
		stay += flow[from * N + from];
		for (unsigned to = 0; to < N; to++)
			if (from != to && flow[from * N + to] >= 0.001 * sum)
				moves[n++] = (struct move){from, to, flow[from * N + to] / sum};
	}
	qsort(moves, n, sizeof(*moves), by_share);
	text_printf(out,
		    "\n"
		    "From %s to %s, share of blocks (at least 0.1%%)\n",
		    tact_arch_name(p->e->bottlenecks[i].arch),
		    tact_arch_name(p->e->bottlenecks[i + 1].arch));
	text_printf(out, "%6.1f%%  unchanged\n", 100 * stay / sum);
	for (size_t k = 0; k < n; k++)
		text_printf(out, "%6.1f%%  %s to %s\n", 100 * moves[k].share,
			    tact_bottleneck_name(moves[k].from), tact_bottleneck_name(moves[k].to));
}

void evaluate_text(const struct evaluator *p, struct text *out)
{
	const struct tact_evaluation *e = p->e;

	if (e->options->is_common)
		text_printf(out, "Only blocks that every model predicts: %zu of %zu.\n",
			    p->e->model[0].scores[TACT_BY_NOTHING][0].n, e->n);
	if (e->options->is_weighted)
		text_add(out, "Weighted.\n");
	for (uint32_t set = 0; set < e->n_sets; set++) {
		const char *caveat = tact_arch_caveat(e->set[set].arch);

		text_printf(out, "%s%s%s%s%s, %s: %zu measured block%s\n", out->size ? "\n" : "",
			    tact_arch_name(e->set[set].arch), *caveat ? " (" : "", caveat,
			    *caveat ? ")" : "", tact_mode_name(e->set[set].mode), e->set[set].n,
			    e->set[set].n == 1 ? "" : "s");
		add_table(p, TACT_BY_SET, set, out);
		add_groups(p, TACT_BY_APP, set, "Application", out);
		add_groups(p, TACT_BY_CATEGORY, set, "Category", out);
	}
	if (e->n_sets > 1) {
		text_printf(out,
			    "\n"
			    "In total: %zu measured blocks\n",
			    e->n);
		add_table(p, TACT_BY_NOTHING, 0, out);
	}
	if (!p->bottleneck_archs && !p->is_combining)
		return;
	if (!e->n_bottlenecks)
		return;
	add_share_table(p, out);
	add_speedup_table(p, out);
	for (size_t i = 0; i + 1 < p->e->n_bottlenecks; i++)
		add_flow(p, i, out);
}

/* SPDX-License-Identifier: MIT
 *
 * Scores as text, CSV and JSON: one list of columns.
 */
#include <string.h>

#include "common/cli.h"
#include "common/terminal.h"
#include "evaluator.h"

enum {
	LEAST_NAME = 12,
	LABEL = 0,
	MODEL = 1,
	FIRST_SCORE = 6,
	FIRST_OUTCOME = 15,
	HELD = FIRST_OUTCOME + TACT_N_OUTCOMES - 1,
	VERIFIED = HELD + 1
};

/* The name of a group: CPU and mode, or "all" for the total. */
static struct cell get_name(const struct cell_at *at)
{
	const struct evaluate_line *line = at->row;
	const struct tact_evaluated_group *group = line->group;
	const struct tact_evaluated_set *set =
		group->set == TACT_ALL_SETS ? NULL : &line->p->e->set[group->set];

	switch (at->column->name[0]) {
	case 'a':
		return cell_string(set ? tact_arch_name(set->arch) : "all");
	case 'b':
		return cell_string(line->kind == TACT_BY_APP	    ? "app"
				   : line->kind == TACT_BY_CATEGORY ? "category"
								    : "all");
	default:
		return cell_string(set ? tact_mode_name(set->mode) : "all");
	}
}

/* Not of several CPUs together. */
static struct cell get_verified(const struct cell_at *at)
{
	const struct evaluate_line *line = at->row;
	const uint32_t set = line->group->set;

	return set == TACT_ALL_SETS ? cell_none()
				    : cell_bool(tact_arch_is_verified(line->p->e->set[set].arch));
}

static struct cell get_label(const struct cell_at *at)
{
	const struct evaluate_line *line = at->row;

	return cell_string(at->column->name || line->is_first ? line->group->label : "");
}

static struct cell get_model(const struct cell_at *at)
{
	return cell_string(((const struct evaluate_line *)at->row)->model);
}

/* A number that exists only if there are good rows. */
static struct cell get_score(const struct cell_at *at)
{
	const struct tact_scores *s = ((const struct evaluate_line *)at->row)->scores;

	return s->n ? cell_number(*(const double *)((const char *)s + at->column->argument))
		    : cell_none();
}

static struct cell get_tau(const struct cell_at *at)
{
	const struct tact_scores *s = ((const struct evaluate_line *)at->row)->scores;

	return s->n && s->has_tau ? cell_number(s->tau) : cell_none();
}

/* Of the rows whose predictions have an interval. */
static struct cell get_held(const struct cell_at *at)
{
	const struct tact_scores *s = ((const struct evaluate_line *)at->row)->scores;

	return s->n_intervals ? cell_number(s->held) : cell_none();
}

static struct cell get_count(const struct cell_at *at)
{
	const struct tact_scores *s = ((const struct evaluate_line *)at->row)->scores;

	return cell_count(at->column->argument ? tact_scores_failed(s) : s->n);
}

/* JSON leaves out missing values. */
static struct cell get_outcome(const struct cell_at *at)
{
	const struct tact_scores *s = ((const struct evaluate_line *)at->row)->scores;
	size_t n = s->outcomes[at->column->argument];

	return n || at->table->format != FORMAT_JSON ? cell_count(n) : cell_none();
}

#define SCORE(member) .get = get_score, .argument = offsetof(struct tact_scores, member)
#define NUMBER	      .gap = 1, .none = "-", .form = FORM_DECIMALS(6)
#define PERCENT	      COLUMN_RIGHT | COLUMN_PERCENT

static const struct column columns[EVALUATE_N_COLUMNS] = {
	[LABEL] = {"", NULL, .get = get_label, .least = LEAST_NAME, .views = EVALUATE_GROUPS},
	[MODEL] = {"Model", "model", .get = get_model, .least = LEAST_NAME, .gap = 1},
	{NULL, "arch", .get = get_name},
	{NULL, "mode", .get = get_name},
	{NULL, "by", .get = get_name},
	{NULL, "name", .get = get_label},
	[FIRST_SCORE] = {"Blocks", "blocks", .get = get_count, .width = 8, .gap = 1,
			 .flags = COLUMN_RIGHT},
	{NULL, "weight", SCORE(weight), .form = FORM_DIGITS(9)},
	{"MAPE", "mape", SCORE(mape), .width = 8, .decimals = 2, .flags = PERCENT, NUMBER},
	{"Median", "median_error", SCORE(median), .width = 8, .decimals = 2, .flags = PERCENT,
	 .rank = 2, NUMBER},
	{"Bias", "bias", SCORE(bias), .width = 8, .decimals = 2, .flags = PERCENT | COLUMN_SIGNED,
	 .rank = 1, NUMBER},
	{"<= 5%", "within_5_percent", SCORE(within_5), .width = 7, .decimals = 1, .flags = PERCENT,
	 .rank = 4, NUMBER},
	{"<= 10%", "within_10_percent", SCORE(within_10), .width = 7, .decimals = 1,
	 .flags = PERCENT, .rank = 3, NUMBER},
	{"Tau", "kendall_tau", .get = get_tau, .width = 7, .decimals = 4, .flags = COLUMN_RIGHT,
	 NUMBER},
	{"Failed", "failed", .get = get_count, .argument = 1, .width = 7, .gap = 1,
	 .flags = COLUMN_RIGHT},
};

/* How many measurements the 90% intervals hold: the last column of the text. */
static const struct column held = {"In 90%",	  "in_interval",    .get = get_held, .width = 7,
				   .decimals = 1, .flags = PERCENT, NUMBER};

static size_t widen(size_t width, const char *name)
{
	size_t size = strlen(name);

	return size > width ? size : width;
}

void evaluate_table_init(struct evaluate_table *t, const struct evaluator *p, int format,
			 struct text *out)
{
	memcpy(t->columns, columns, sizeof(columns));
	t->p = p;
	t->columns[MODEL].width = strlen(columns[MODEL].title);
	for (size_t m = 0; m < p->e->n_models; m++)
		t->columns[MODEL].width = widen(t->columns[MODEL].width, p->e->model[m].name);
	for (unsigned i = TACT_OUTCOME_GOOD + 1; i < TACT_N_OUTCOMES; i++)
		t->columns[FIRST_OUTCOME + i - 1] =
			(struct column){.name = tact_outcome_name((enum tact_outcome)i),
					.get = get_outcome,
					.argument = i};
	t->columns[HELD] = held;
	t->columns[VERIFIED] = (struct column){.name = "verified", .get = get_verified};
	t->table = (struct table){.columns = t->columns,
				  .n_columns = EVALUATE_N_COLUMNS,
				  .format = format,
				  .view = EVALUATE_MODELS,
				  .out = out,
				  .screen = terminal_width(p->output),
				  .is_cut = terminal_is_output(p->output),
				  .schema = "tact.evaluate/1",
				  .kind = "scores"};
}

void evaluate_table_group(struct evaluate_table *t, enum tact_grouping kind, const char *title)
{
	const struct tact_evaluated_groups *g = &t->p->e->by[kind];

	t->table.view = EVALUATE_GROUPS;
	t->columns[LABEL].title = title;
	t->columns[LABEL].width = strlen(title);
	for (size_t i = 0; i < g->n; i++)
		t->columns[LABEL].width = widen(t->columns[LABEL].width, g->group[i].label);
}

void evaluate_table_row(struct evaluate_table *t, enum tact_grouping kind, uint32_t group)
{
	for (size_t m = 0; m < t->p->e->n_models; m++)
		table_row(&t->table,
			  &(struct evaluate_line){.p = t->p,
						  .kind = kind,
						  .group = &t->p->e->by[kind].group[group],
						  .model = t->p->e->model[m].name,
						  .scores = &t->p->e->model[m].scores[kind][group],
						  .is_first = !m});
}

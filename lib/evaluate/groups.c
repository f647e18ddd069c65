/* SPDX-License-Identifier: MIT
 *
 * Groups of rows: by set, application and category.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/arch.h>

#include "evaluate/evaluation.h"

long evaluation_group(struct evaluation *e, enum tact_grouping kind, uint32_t set,
		      const char *label)
{
	struct tact_evaluated_groups *groups = &e->view.by[kind];
	struct evaluation_index *m = &e->by[kind];
	uint64_t hash = hash_string(label ? label : "") ^ hash_number(set);
	char *copy = NULL;
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&m->index, hash, &at)) != HASH_NONE) {
		const struct tact_evaluated_group *group = &groups->group[i];

		if (group->set == set && (label ? !strcmp(group->label, label) : !group->label))
			return (long)i;
	}
	if (tact_grow(&groups->group, &m->capacity, groups->n + 1, sizeof(*groups->group)) < 0)
		return -TACT_E_NOMEM;
	if (label) {
		copy = tact_arena_take(&e->arena, strlen(label) + 1);
		if (!copy)
			return -TACT_E_NOMEM;
		strcpy(copy, label);
	}
	if (hash_add(&m->index, hash, (uint32_t)groups->n) < 0)
		return -TACT_E_NOMEM;
	groups->group[groups->n] = (struct tact_evaluated_group){.set = set, .label = copy};
	return (long)groups->n++;
}

/* Groups of a cell are kind << 28 | number until all are known: evaluation_score. */
long evaluation_cell(struct evaluation *e, uint32_t set, const struct cell_key *key)
{
	bool is_new;
	long number = cells_find(&e->cells, key, &is_new);
	struct cell *cell;
	uint32_t n = 0;
	long of[3] = {-1, -1, -1};

	if (number < 0 || !is_new)
		return number;
	cell = &e->cells.cell[number];
	cell->set = set;
	cell->group = tact_arena_take(&e->cells.arena,
				      (key->n_sources + ARRAY_SIZE(of)) * sizeof(*cell->group));
	if (!cell->group)
		return -TACT_E_NOMEM;
	if (key->is_whole) {
		of[0] = evaluation_group(e, TACT_BY_NOTHING, TACT_ALL_SETS, NULL);
		of[1] = evaluation_group(e, TACT_BY_SET, set, NULL);
		if (of[0] < 0 || of[1] < 0)
			return -TACT_E_NOMEM;
		cell->group[n++] = (uint32_t)of[0] | TACT_BY_NOTHING << EVALUATION_KIND_SHIFT;
		cell->group[n++] = (uint32_t)of[1] | TACT_BY_SET << EVALUATION_KIND_SHIFT;
	}
	for (size_t i = 0; i < key->n_sources; i++) {
		long app = evaluation_group(e, TACT_BY_APP, set, key->sources[i].app);

		if (app < 0)
			return -TACT_E_NOMEM;
		cell->group[n++] = (uint32_t)app | TACT_BY_APP << EVALUATION_KIND_SHIFT;
	}
	if (*key->category) {
		of[2] = evaluation_group(e, TACT_BY_CATEGORY, set, key->category);
		if (of[2] < 0)
			return -TACT_E_NOMEM;
		cell->group[n++] = (uint32_t)of[2] | TACT_BY_CATEGORY << EVALUATION_KIND_SHIFT;
	}
	cell->n_groups = n;
	return number;
}

/* ---- the order of what is printed ---- */

static unsigned place_of(const struct tact_arch *arch)
{
	const struct tact_arch *known = NULL;
	unsigned i = 0;

	while ((known = tact_arch_next(known)) &&
	       strcmp(tact_arch_name(known), tact_arch_name(arch)))
		i++;
	return i;
}

static int by_place(const void *a, const void *b, void *context)
{
	const struct tact_evaluated_set *sets = context;
	const struct tact_evaluated_set *x = &sets[*(const uint32_t *)a];
	const struct tact_evaluated_set *y = &sets[*(const uint32_t *)b];
	const unsigned p = place_of(x->arch), q = place_of(y->arch);

	return p != q ? ORDER(p, q) : ORDER(y->mode, x->mode);
}

/* Sets were numbered as their first rows came. */
int evaluation_sort_sets(struct evaluation *e, struct tact_diag *diag)
{
	struct tact_evaluation *view = &e->view;
	struct tact_evaluated_set set[EVALUATION_MAX_SETS];
	uint32_t order[EVALUATION_MAX_SETS], place[EVALUATION_MAX_SETS];

	/* Group i of the sets is set i. */
	for (uint32_t i = 0; i < view->n_sets; i++)
		if (evaluation_group(e, TACT_BY_SET, i, NULL) < 0)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	memcpy(set, view->set, view->n_sets * sizeof(*set));
	for (uint32_t i = 0; i < view->n_sets; i++)
		order[i] = i;
	qsort_r(order, view->n_sets, sizeof(*order), by_place, set);
	for (uint32_t i = 0; i < view->n_sets; i++) {
		place[order[i]] = i;
		view->set[i] = set[order[i]];
	}
	for (int kind = TACT_BY_SET; kind < TACT_N_GROUPINGS; kind++)
		for (size_t g = 0; g < view->by[kind].n; g++)
			view->by[kind].group[g].set = place[view->by[kind].group[g].set];
	for (size_t i = 0; i < e->cells.n; i++) {
		struct cell *cell = &e->cells.cell[i];

		cell->set = place[cell->set];
		for (uint32_t k = 0; k < cell->n_groups; k++)
			if (cell->group[k] >> EVALUATION_KIND_SHIFT == TACT_BY_SET)
				cell->group[k] = cell->set | TACT_BY_SET << EVALUATION_KIND_SHIFT;
	}
	for (uint32_t i = 0; i < view->n_sets; i++)
		view->by[TACT_BY_SET].group[i].set = i;
	for (size_t i = 0; i < e->n_samples; i++)
		e->sample[i].set = place[e->sample[i].set];
	for (unsigned b = 0; b < ARRAY_SIZE(e->batch); b++)
		for (size_t i = 0; i < e->batch[b].n; i++)
			e->batch[b].row[i].set = place[e->batch[b].row[i].set];
	for (size_t m = 0; m < view->n_models; m++)
		for (size_t i = 0; i < view->model[m].n_worst; i++)
			view->model[m].worst[i].row.set = place[view->model[m].worst[i].row.set];
	return 0;
}

static int by_label(const void *a, const void *b, void *context)
{
	const struct tact_evaluated_group *groups = context;
	const struct tact_evaluated_group *x = &groups[*(const uint32_t *)a];
	const struct tact_evaluated_group *y = &groups[*(const uint32_t *)b];

	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	return x->label && y->label ? strcmp(x->label, y->label) : 0;
}

long tact_evaluation_order(const struct tact_evaluation *e, enum tact_grouping kind, uint32_t set,
			   uint32_t **order)
{
	const struct tact_evaluated_groups *groups = &e->by[kind];
	long n = 0;

	*order = malloc((groups->n + 1) * sizeof(**order));
	if (!*order)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < groups->n; i++)
		if (set == TACT_ALL_SETS || groups->group[i].set == set)
			(*order)[n++] = (uint32_t)i;
	qsort_r(*order, (size_t)n, sizeof(**order), by_label, groups->group);
	return n;
}

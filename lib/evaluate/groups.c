/* SPDX-License-Identifier: MIT
 *
 * Groups of rows: by set, application and category.
 */
#include <stdlib.h>
#include <string.h>

#include "evaluate/evaluation.h"

/* Returns the group's number, or -TACT_E_NOMEM. */
static long find_group(struct evaluation *e, enum tact_grouping kind, uint32_t set,
		       const char *label)
{
	struct tact_evaluated_groups *groups = &e->view.by[kind];
	struct evaluation_members *m = &e->by[kind];
	uint64_t hash = hash_string(label ? label : "") ^ hash_number(set);
	char *copy = NULL;
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&m->index, hash, &at)) != HASH_NONE) {
		const struct tact_evaluated_group *group = &groups->group[i];

		if (group->set == set && (label ? !strcmp(group->label, label) : !group->label))
			return (long)i;
	}
	if (tact_grow(&groups->group, &m->group_capacity, groups->n + 1, sizeof(*groups->group)) <
	    0)
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

int evaluation_join(struct evaluation *e, enum tact_grouping kind, size_t row, uint32_t set,
		    const char *label, double weight)
{
	struct evaluation_members *m = &e->by[kind];
	size_t capacities[3] = {m->capacity, m->capacity, m->capacity};
	long group = find_group(e, kind, set, label);

	if (group < 0)
		return -TACT_E_NOMEM;
	if (m->n == m->capacity) {
		if (tact_grow(&m->row, &capacities[0], m->n + 1, sizeof(*m->row)) < 0 ||
		    tact_grow(&m->of, &capacities[1], m->n + 1, sizeof(*m->of)) < 0 ||
		    tact_grow(&m->weight, &capacities[2], m->n + 1, sizeof(*m->weight)) < 0)
			return -TACT_E_NOMEM;
		m->capacity = capacities[0];
	}
	m->row[m->n] = (uint32_t)row;
	m->of[m->n] = (uint32_t)group;
	m->weight[m->n++] = weight;
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

/* SPDX-License-Identifier: MIT
 *
 * Categories by application.  Memory grows with applications and different bags, not with blocks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact-program/shares.h>
#include <tact/classify.h>

#include "base/base.h"
#include "base/hash.h"

/* Guards against a column that does not hold names: after the first ones, all others share one
 * name. */
enum { MAX_APPS = 4096 };
static const char others[] = "(others)";

struct app {
	char *name; /* owned */
	uint64_t blocks;
	double weight; /* of the blocks whose weight is known */
	uint64_t count[TACT_CLASSIFY_MAX_TOPICS];
	double by_weight[TACT_CLASSIFY_MAX_TOPICS];
};

/* What a bag adds to an application once its topic is known. */
struct cell {
	uint32_t app, bag;
	uint64_t blocks; /* 0: the slot is free */
	double weight;
};

struct tact_shares {
	struct app *apps; /* owned */
	size_t n_apps, apps_capacity;
	struct hash index; /* of apps */
	/* Owned: a hash table of its own, because sums follow the order of its slots. */
	struct cell *cells;
	size_t n_cells, n_cell_slots;
	double log_likelihood;
	struct tact_shares_totals totals;
	bool is_finished;
};

int tact_shares_create(struct tact_shares **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -TACT_E_NOMEM;
}

void tact_shares_destroy(struct tact_shares *s)
{
	for (size_t i = 0; s && i < s->n_apps; i++)
		free(s->apps[i].name);
	if (s) {
		free(s->apps);
		hash_free(&s->index);
		free(s->cells);
	}
	free(s);
}

/* Returns the number of the application, or -TACT_E_NOMEM. */
static long find_app(struct tact_shares *s, const char *name)
{
	const uint64_t hash = hash_string(name);
	struct app *app;
	size_t at = 0;
	uint32_t i;

	while ((i = hash_next(&s->index, hash, &at)) != HASH_NONE)
		if (!strcmp(s->apps[i].name, name))
			return i;
	if (s->n_apps >= MAX_APPS && strcmp(name, others) != 0)
		return find_app(s, others);
	if (tact_grow(&s->apps, &s->apps_capacity, s->n_apps + 1, sizeof(*s->apps)) ||
	    hash_reserve(&s->index, s->n_apps + 1))
		return -TACT_E_NOMEM;
	app = &s->apps[s->n_apps];
	*app = (struct app){.name = strdup(name)};
	if (!app->name)
		return -TACT_E_NOMEM;
	hash_add(&s->index, hash, (uint32_t)s->n_apps);
	return (long)s->n_apps++;
}

/* Counts a block; returns the number of its application. */
static long count_block(struct tact_shares *s, const char *name, double weight)
{
	long app = find_app(s, name);

	if (app < 0)
		return app;
	s->totals.blocks++;
	s->apps[app].blocks++;
	if (!isnan(weight)) {
		s->apps[app].weight += weight;
		s->totals.has_weights = true;
	}
	return app;
}

int tact_shares_add(struct tact_shares *s, const char *name, double weight,
		    const struct tact_label *label)
{
	long app;

	if (!name || !label || label->topic >= TACT_CLASSIFY_MAX_TOPICS || s->is_finished)
		return -TACT_E_INVAL;
	app = count_block(s, name, weight);
	if (app < 0)
		return (int)app;
	if (label->topic < 0) {
		s->totals.unlabelled++;
		return 0;
	}
	s->apps[app].count[label->topic]++;
	s->apps[app].by_weight[label->topic] += isnan(weight) ? 0 : weight;
	s->totals.uops += label->uops;
	s->totals.unknown += label->unknown;
	s->log_likelihood += label->log_likelihood;
	return 0;
}

/* ---- bags ---- */

static struct cell *find_cell(struct cell *cells, size_t n, uint32_t app, uint32_t bag)
{
	size_t at = ((size_t)bag * 0x9e3779b97f4a7c15u + app * 0x94d049bb133111ebu) >> 20;

	for (at &= n - 1; cells[at].blocks; at = (at + 1) & (n - 1))
		if (cells[at].app == app && cells[at].bag == bag)
			break;
	return &cells[at];
}

static int grow_cells(struct tact_shares *s)
{
	size_t n = s->n_cell_slots ? 2 * s->n_cell_slots : 4096;
	struct cell *cells = calloc(n, sizeof(*cells));

	if (!cells)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < s->n_cell_slots; i++) {
		const struct cell *old = &s->cells[i];

		if (old->blocks)
			*find_cell(cells, n, old->app, old->bag) = *old;
	}
	free(s->cells);
	s->cells = cells;
	s->n_cell_slots = n;
	return 0;
}

int tact_shares_add_bag(struct tact_shares *s, const char *name, double weight, uint32_t bag)
{
	struct cell *cell;
	long app;

	if (!name || s->is_finished)
		return -TACT_E_INVAL;
	if (2 * s->n_cells >= s->n_cell_slots && grow_cells(s))
		return -TACT_E_NOMEM;
	app = count_block(s, name, weight);
	if (app < 0)
		return (int)app;
	cell = find_cell(s->cells, s->n_cell_slots, (uint32_t)app, bag);
	if (!cell->blocks) {
		cell->app = (uint32_t)app;
		cell->bag = bag;
		s->n_cells++;
	}
	cell->blocks++;
	cell->weight += isnan(weight) ? 0 : weight;
	return 0;
}

int tact_shares_label(struct tact_shares *s, const struct tact_classifier *classifier,
		      const struct tact_bags *bags)
{
	const size_t n = tact_bags_count(bags);
	struct tact_label *labels = malloc((n + 1) * sizeof(*labels));
	int status = 0;

	if (!labels)
		return -TACT_E_NOMEM;
	for (uint32_t b = 0; b < n && !status; b++) {
		labels[b].size = sizeof(labels[b]);
		status = tact_classifier_label(classifier, bags, b, &labels[b], NULL);
	}
	for (size_t i = 0; i < s->n_cell_slots && !status; i++) {
		const struct cell *cell = &s->cells[i];
		const struct tact_label *label = &labels[cell->bag < n ? cell->bag : 0];

		if (!cell->blocks)
			continue;
		if (cell->bag >= n || label->topic < 0) {
			s->totals.unlabelled += cell->blocks;
			continue;
		}
		s->apps[cell->app].count[label->topic] += cell->blocks;
		s->apps[cell->app].by_weight[label->topic] += cell->weight;
		s->totals.uops += cell->blocks * label->uops;
		s->log_likelihood += (double)cell->blocks * label->log_likelihood;
	}
	FREE_ALL(labels, s->cells);
	s->cells = NULL;
	s->n_cells = s->n_cell_slots = 0;
	return status;
}

/* ---- results ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct app *)a)->name, ((const struct app *)b)->name);
}

void tact_shares_finish(struct tact_shares *s)
{
	if (s->n_apps)
		qsort(s->apps, s->n_apps, sizeof(*s->apps), by_name);
	s->is_finished = true;
}

size_t tact_shares_count(const struct tact_shares *s)
{
	return s->n_apps;
}

int tact_shares_get(const struct tact_shares *s, size_t i, struct tact_share *out)
{
	const struct app *app;

	if (i >= s->n_apps)
		return -TACT_E_INVAL;
	app = &s->apps[i];
	*out = (struct tact_share){.size = sizeof(*out),
				   .app = app->name,
				   .blocks = app->blocks,
				   .weight = app->weight,
				   .count = app->count,
				   .by_weight = app->by_weight};
	return 0;
}

void tact_shares_get_totals(const struct tact_shares *s, struct tact_shares_totals *out)
{
	*out = s->totals;
	out->size = sizeof(*out);
	out->perplexity = s->totals.uops ? exp(-s->log_likelihood / (double)s->totals.uops) : NAN;
}

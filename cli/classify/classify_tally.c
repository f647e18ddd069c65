/* SPDX-License-Identifier: MIT
 *
 * Categories by application.  Memory grows with applications and different bags, not with blocks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classifying.h"
#include "common/cli.h"

/* A column of names that is none is not kept: what comes later is counted under one name. */
enum { MAX_APPS = 4096 };
static const char others[] = "(others)";

void tally_fini(struct classify_tally *tally)
{
	for (size_t i = 0; i < tally->n_apps; i++)
		free(tally->apps[i].name);
	free(tally->apps);
	free(tally->slots);
	free(tally->cells);
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

static uint32_t add_app(struct classify_tally *tally, const char *name)
{
	struct classify_app *app;

	if (tally->n_apps == tally->apps_capacity) {
		tally->apps_capacity = tally->apps_capacity ? 2 * tally->apps_capacity : 16;
		tally->apps = cli_realloc(tally->apps, tally->apps_capacity * sizeof(*tally->apps));
	}
	app = &tally->apps[tally->n_apps];
	memset(app, 0, sizeof(*app));
	app->name = strdup(name);
	if (!app->name)
		cli_out_of_memory();
	return (uint32_t)tally->n_apps++;
}

static uint32_t find_app(struct classify_tally *tally, const char *name)
{
	size_t at;

	if (!tally->slots) {
		tally->n_slots = 4 * MAX_APPS;
		tally->slots = cli_alloc(tally->n_slots * sizeof(*tally->slots));
		memset(tally->slots, 0, tally->n_slots * sizeof(*tally->slots));
	}
	for (at = hash_text(name) & (tally->n_slots - 1); tally->slots[at];
	     at = (at + 1) & (tally->n_slots - 1))
		if (!strcmp(tally->apps[tally->slots[at] - 1].name, name))
			return tally->slots[at] - 1;
	if (tally->n_apps >= MAX_APPS && strcmp(name, others) != 0)
		return find_app(tally, others);
	tally->slots[at] = add_app(tally, name) + 1;
	return tally->slots[at] - 1;
}

/* Counts a block in; returns its application. */
static struct classify_app *count_block(struct classify_tally *tally,
					const struct classify_block *block, uint32_t *index)
{
	uint32_t app = find_app(tally, block->app);

	tally->blocks++;
	tally->apps[app].blocks++;
	if (!isnan(block->weight)) {
		tally->apps[app].weight += block->weight;
		tally->has_weights = true;
	}
	if (index)
		*index = app;
	return &tally->apps[app];
}

static double known_weight(const struct classify_block *block)
{
	return isnan(block->weight) ? 0 : block->weight;
}

void tally_add(struct classify_tally *tally, const struct classify_block *block,
	       const struct tact_label *label)
{
	struct classify_app *app = count_block(tally, block, NULL);

	if (label->topic < 0) {
		app->unlabelled++;
		tally->unlabelled++;
		return;
	}
	app->count[label->topic]++;
	app->by_weight[label->topic] += known_weight(block);
	tally->uops += label->uops;
	tally->unknown += label->unknown;
	tally->log_likelihood += label->log_likelihood;
}

/* ---- bags ---- */

static struct classify_cell *find_cell(struct classify_cell *cells, size_t n, uint32_t app,
				       uint32_t bag)
{
	size_t at = ((size_t)bag * 0x9e3779b97f4a7c15u + app * 0x94d049bb133111ebu) >> 20;

	for (at &= n - 1; cells[at].blocks; at = (at + 1) & (n - 1))
		if (cells[at].app == app && cells[at].bag == bag)
			break;
	return &cells[at];
}

static void grow_cells(struct classify_tally *tally)
{
	size_t n = tally->n_cell_slots ? 2 * tally->n_cell_slots : 4096;
	struct classify_cell *cells = cli_alloc(n * sizeof(*cells));

	memset(cells, 0, n * sizeof(*cells));
	for (size_t i = 0; i < tally->n_cell_slots; i++) {
		const struct classify_cell *old = &tally->cells[i];

		if (old->blocks)
			*find_cell(cells, n, old->app, old->bag) = *old;
	}
	free(tally->cells);
	tally->cells = cells;
	tally->n_cell_slots = n;
}

void tally_add_bag(struct classify_tally *tally, const struct classify_block *block, uint32_t bag)
{
	struct classify_cell *cell;
	uint32_t app;

	count_block(tally, block, &app);
	if (2 * tally->n_cells >= tally->n_cell_slots)
		grow_cells(tally);
	cell = find_cell(tally->cells, tally->n_cell_slots, app, bag);
	if (!cell->blocks) {
		cell->app = app;
		cell->bag = bag;
		tally->n_cells++;
	}
	cell->blocks++;
	cell->weight += known_weight(block);
}

void tally_label(struct classify_tally *tally, const struct tact_classifier *classifier,
		 const struct tact_bags *bags)
{
	const size_t n = tact_bags_count(bags);
	struct tact_label *labels = cli_alloc(n * sizeof(*labels));

	for (uint32_t b = 0; b < n; b++)
		tact_classifier_label(classifier, bags, b, &labels[b], NULL);
	for (size_t i = 0; i < tally->n_cell_slots; i++) {
		const struct classify_cell *cell = &tally->cells[i];
		const struct tact_label *label = &labels[cell->bag];

		if (!cell->blocks)
			continue;
		tally->apps[cell->app].count[label->topic] += cell->blocks;
		tally->apps[cell->app].by_weight[label->topic] += cell->weight;
		tally->uops += cell->blocks * label->uops;
		tally->log_likelihood += (double)cell->blocks * label->log_likelihood;
	}
	free(labels);
}

/* ---- results ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct classify_app *)a)->name,
		      ((const struct classify_app *)b)->name);
}

void tally_sort(struct classify_tally *tally)
{
	if (tally->n_apps)
		qsort(tally->apps, tally->n_apps, sizeof(*tally->apps), by_name);
}

double tally_perplexity(const struct classify_tally *tally)
{
	return tally->uops ? exp(-tally->log_likelihood / (double)tally->uops) : NAN;
}

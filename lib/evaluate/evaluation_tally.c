/* SPDX-License-Identifier: MIT
 *
 * Puts the rows of a batch into the tallies of the models.
 */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "evaluate/evaluation.h"
#include "evaluate/tallies.h"

static bool is_common(const struct evaluation *e, const struct evaluation_batch *b, size_t row)
{
	for (size_t m = 0; m < e->view.n_models; m++)
		if (b->answers[m].outcomes[row] != TACT_OUTCOME_GOOD)
			return false;
	return true;
}

/* ---- cells ---- */

/* Neighbours are often in the same cell. */
struct last {
	uint32_t set, cell;
	const char *category, *app; /* app NULL: none */
	bool is_valid;
};

static int add_entry(struct evaluation_batch *b, size_t row, long cell, double weight)
{
	if (cell < 0 ||
	    tact_grow(&b->entry, &b->entry_capacity, b->n_entries + 1, sizeof(*b->entry)) < 0)
		return -TACT_E_NOMEM;
	b->entry[b->n_entries++] = (struct evaluation_entry){(uint32_t)row, (uint32_t)cell, weight};
	return 0;
}

static int enter(struct evaluation *e, struct evaluation_batch *b, size_t row, struct last *last)
{
	const struct evaluation_label *label = &b->label[row];
	/* Without sources, there may be no list of them. */
	struct tact_row_source *source = label->n_sources ? &b->source[label->first_source] : NULL;
	const struct tact_evaluated_row *r = &b->row[row];
	const struct tact_evaluated_set *set = &e->view.set[r->set];
	const double weight = e->opt.is_weighted ? b->weight[row] : 1;
	const char *app = source ? source->app : NULL;
	struct cell_key key = {.arch = tact_arch_name(set->arch),
			       .mode = set->mode,
			       .is_whole = true,
			       .category = label->category,
			       .sources = source,
			       .n_sources = label->n_sources};
	bool has_own_weights = false;
	int status;

	for (uint32_t i = 0; i < label->n_sources && e->opt.is_weighted; i++)
		has_own_weights |= source[i].weight < weight || source[i].weight > weight;
	if (last->is_valid && !has_own_weights && label->n_sources < 2 && last->set == r->set &&
	    last->category == label->category && last->app == app)
		return add_entry(b, row, last->cell, weight);
	key.n_sources = has_own_weights ? 0 : label->n_sources;
	status = add_entry(b, row, evaluation_cell(e, r->set, &key), weight);
	if (status < 0)
		return status;
	*last = (struct last){.set = r->set,
			      .cell = b->entry[b->n_entries - 1].cell,
			      .category = label->category,
			      .app = app,
			      .is_valid = !has_own_weights && label->n_sources < 2};
	key = (struct cell_key){.arch = key.arch, .mode = key.mode, .category = "", .n_sources = 1};
	for (uint32_t i = 0; i < label->n_sources && has_own_weights && status >= 0; i++) {
		key.sources = &source[i];
		status = add_entry(b, row, evaluation_cell(e, r->set, &key), source[i].weight);
	}
	return status;
}

/* ---- tallies ---- */

struct tallying {
	struct evaluation *e;
	struct evaluation_batch *b;
	struct tact_diag *diag; /* owned; one per model */
};

static int tally_model(void *context, unsigned thread, size_t m)
{
	const struct tallying *t = context;
	struct evaluation *e = t->e;
	const struct evaluation_answers *a = &t->b->answers[m];
	int status = 0;

	(void)thread;
	for (size_t i = 0; i < t->b->n_entries && status >= 0; i++) {
		const struct evaluation_entry *entry = &t->b->entry[i];
		const size_t row = entry->row;
		const double x = a->predicted[row] + 0.0; /* no negative 0 */
		const struct run_record record = {.x = e->opt.is_rounded ? tally_round(x) : x,
						  .y = t->b->measured[row],
						  .w = entry->weight,
						  .v = 1,
						  .tag = tally_tag(entry->cell, a->held[row])};

		e->cells.cell[entry->cell].outcomes[m * TACT_N_OUTCOMES + a->outcomes[row]]++;
		if (a->outcomes[row] == TACT_OUTCOME_GOOD)
			status = sorter_add(&e->tally[m], &record, &t->diag[m]);
	}
	return status;
}

int evaluation_tally(struct evaluation *e, struct evaluation_batch *b, struct tact_diag *diag)
{
	const size_t n = e->view.n_models;
	struct tallying t = {e, b, calloc(n + 1, sizeof(*t.diag))};
	struct last last = {.is_valid = false};
	int status = t.diag ? 0 : -TACT_E_NOMEM;

	b->n_entries = 0;
	for (size_t row = 0; row < b->n && status >= 0; row++) {
		const size_t n_entries = b->n_entries;

		status = enter(e, b, row, &last);
		if (e->opt.is_common && !is_common(e, b, row))
			b->n_entries = n_entries; /* its groups are there, without it */
	}
	if (status >= 0)
		status = pool_run(pool_threads(e->opt.threads, n), n, tally_model, &t);
	for (size_t m = 0; m < n && t.diag && status < 0; m++)
		if (t.diag[m].text[0])
			*diag = t.diag[m];
	free(t.diag);
	return status == -TACT_E_NOMEM ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : status;
}

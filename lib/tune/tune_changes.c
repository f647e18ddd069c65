/* SPDX-License-Identifier: MIT
 *
 * The results for review: each change with what it saves and the rows that prove it, distributions
 * of values, sensitivity to the parameters of the machine.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tune.h"

enum { MAX_ROWS = 400 }; /* on which a change is undone; if there are more, an even selection */

struct tune_change {
	uint32_t param;
	int from, to;
	double saved;
	size_t n_rows;
	unsigned n_proofs;
	uint32_t proof[TACT_TUNE_PROOFS];
	double weight[TACT_TUNE_PROOFS];
};

static void add_proof(struct tune_change *c, uint32_t row, double weight)
{
	unsigned at = c->n_proofs;

	if (weight <= 0 || (at == TACT_TUNE_PROOFS && weight <= c->weight[at - 1]))
		return;
	if (at < TACT_TUNE_PROOFS)
		c->n_proofs++;
	else
		at--;
	for (; at && c->weight[at - 1] < weight; at--) {
		c->weight[at] = c->weight[at - 1];
		c->proof[at] = c->proof[at - 1];
	}
	c->weight[at] = weight;
	c->proof[at] = row;
}

/* Finds the rows that a parameter has an influence on: those of its site, or the training set. */
static const uint32_t *rows_of(const struct tact_tuner *t, const struct tune_param *p, size_t *n)
{
	const struct tune_site *site =
		p->form == TACT_FORM_NONE
			? NULL
			: tune_site_of(t, p->form, (enum arch_situation)p->situation);

	if (!site) {
		*n = t->rows.n;
		return NULL;
	}
	*n = site->n_rows;
	return t->site_rows + site->first_row;
}

static int undo(struct tune_worker *w, size_t item, void *context)
{
	struct tact_tuner *t = w->t;
	struct tune_change *c = &t->changes[item];
	const struct tune_param *p = &t->params[c->param];
	size_t n, used = 0;
	const uint32_t *rows = rows_of(t, p, &n);
	size_t stride = (n + MAX_ROWS - 1) / MAX_ROWS;
	int status = 0;

	(void)context;
	tune_assign(&w->table, p, c->from);
	for (size_t k = 0; k < n && status >= 0; k += stride) {
		uint32_t row = rows ? rows[k] : (uint32_t)k;
		double cycles, saved;

		if (t->rows.rows[row].part != TACT_TUNE_TRAIN)
			continue;
		status = tune_predict(w, row, &cycles);
		saved = tune_relative(cycles, t->rows.rows[row].cycles) - t->error[row];
		c->saved += saved;
		used++;
		add_proof(c, row, saved);
	}
	tune_assign(&w->table, p, c->to);
	c->n_rows = rows ? n : t->rows.n_part[TACT_TUNE_TRAIN];
	if (used)
		c->saved *= (double)c->n_rows / (double)used;
	return status;
}

static int by_saved(const void *a, const void *b)
{
	const struct tune_change *x = a, *y = b;

	if (x->saved != y->saved)
		return x->saved > y->saved ? -1 : 1;
	return (x->param > y->param) - (x->param < y->param);
}

int tune_changes_find(struct tact_tuner *t)
{
	struct tune_result result = {.item_bytes = sizeof(*t->changes)};
	int status;

	t->changes = calloc(t->n_params, sizeof(*t->changes));
	if (!t->changes)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < t->n_params; i++) {
		int from = tune_value(&t->start, &t->params[i]);
		int to = tune_value(&t->workers[0].table, &t->params[i]);

		if (from != to)
			t->changes[t->n_changes++] =
				(struct tune_change){.param = (uint32_t)i, .from = from, .to = to};
	}
	result.data = t->changes;
	result.bytes = t->n_changes * sizeof(*t->changes);
	status = tune_parallel_shared(t, t->n_changes, undo, NULL, &result, 1);
	qsort(t->changes, t->n_changes, sizeof(*t->changes), by_saved);
	return status;
}

int tact_tuner_get_change(const struct tact_tuner *t, size_t i, struct tact_tune_change *out)
{
	struct tact_tune_change filled = {.size = sizeof(filled)};
	const struct tune_change *c;
	const struct tune_param *p;

	if (!t || i >= t->n_changes)
		return -TACT_E_INVAL;
	c = &t->changes[i];
	p = &t->params[c->param];
	tune_param_name(&t->workers[0].table, p, filled.name, sizeof(filled.name));
	tune_value_text(p, c->from, filled.from, sizeof(filled.from));
	tune_value_text(p, c->to, filled.to, sizeof(filled.to));
	filled.n_rows = c->n_rows;
	filled.saved = c->saved;
	filled.n_proofs = c->n_proofs;
	for (unsigned k = 0; k < c->n_proofs; k++)
		filled.proof[k] = c->proof[k];
	return tact_fill(out, &filled, sizeof(filled));
}

int tact_tuner_get_histogram(const struct tact_tuner *t, size_t i, struct tact_tune_histogram *out)
{
	struct tact_tune_histogram h = {.size = sizeof(h)};
	bool found = false;
	unsigned kind = 0;

	if (!t || !t->workers)
		return -TACT_E_INVAL;
	/* Find the i-th kind for which forms have ordinal parameters. */
	for (size_t left = i + 1; kind < TUNE_N_KINDS; kind++) {
		bool has = false;

		for (size_t k = t->n_globals; k < t->n_params && !has; k++)
			has = t->params[k].kind == kind && kind != TUNE_PORT_SET;
		if (has && !--left) {
			found = true;
			break;
		}
	}
	if (!found)
		return -TACT_E_INVAL;
	h.kind = tune_kind_name(kind);
	for (size_t k = t->n_globals; k < t->n_params; k++) {
		int before, after;

		if (t->params[k].kind != kind)
			continue;
		before = tune_value(&t->defaults, &t->params[k]);
		after = tune_value(&t->workers[0].table, &t->params[k]);
		h.defaults[before < TACT_TUNE_VALUES ? before : TACT_TUNE_VALUES - 1]++;
		h.learned[after < TACT_TUNE_VALUES ? after : TACT_TUNE_VALUES - 1]++;
	}
	return tact_fill(out, &h, sizeof(h));
}

/* Returns values around the learned one: all widths, buffers in steps of a sixth. */
static int point_value(const struct tune_param *p, int learned, unsigned k)
{
	if (p->kind == TACT_MCA_REORDER_BUFFER)
		return k == 3 ? learned : (int)(k + 1) * 64 - 32;
	return learned - 3 + (int)k;
}

struct points {
	struct tact_tune_point *list; /* borrowed */
	size_t n, capacity;
};

static int try_points(struct tact_tuner *t, void *context)
{
	enum { POINTS = 7 };
	struct points *to = context;
	int status = 0;

	for (size_t g = 0; g < t->n_globals && status >= 0; g++) {
		const struct tune_param *p = &t->params[g];
		int present = tune_value(&t->workers[0].table, p);

		for (unsigned k = 0; k < POINTS && status >= 0; k++) {
			struct tact_tune_point *point = &to->list[to->n];
			int value = point_value(p, present, k);

			if (value < p->low || value > p->high || to->n == to->capacity)
				continue;
			tune_set(t, p, value);
			status = tune_evaluate_parts(t, 1u << TACT_TUNE_TEST);
			tune_param_name(&t->workers[0].table, p, point->name, sizeof(point->name));
			point->value = value;
			point->is_learned = value == present;
			point->error = tune_error_of(t, TACT_TUNE_TEST);
			to->n++;
		}
		tune_set(t, p, present);
	}
	return status;
}

int tact_tuner_sensitivity(struct tact_tuner *t, struct tact_tune_point *out, size_t capacity)
{
	struct points points = {.list = out, .capacity = capacity};
	int status;

	if (!t || !t->workers || (!out && capacity))
		return -TACT_E_INVAL;
	status = try_points(t, &points);
	if (status >= 0)
		status = tune_evaluate_parts(t, 1u << TACT_TUNE_TEST);
	return status < 0 ? status : (int)points.n;
}

int tact_tuner_default_sensitivity(struct tact_tuner *t, struct tact_tune_point *out,
				   size_t capacity)
{
	struct points points = {.list = out, .capacity = capacity};
	int status = 0, after = 0;

	if (!t || !t->workers || (!out && capacity))
		return -TACT_E_INVAL;
	/* With the defaults, loads wait for nothing. */
	if (t->codes)
		status = tune_codes_make(t, TACT_MCA_NO_ALIAS);
	if (status >= 0)
		status = tune_with_table(t, &t->defaults, try_points, &points);
	if (t->codes)
		after = tune_codes_make(t, t->opt.memory);
	if (status >= 0)
		status = after;
	if (status >= 0)
		status = tune_evaluate_parts(t, 1u << TACT_TUNE_TEST);
	return status < 0 ? status : (int)points.n;
}

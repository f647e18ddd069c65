/* SPDX-License-Identifier: MIT
 *
 * Whether the intervals of predictions hold the measurements.
 */
#include <stdlib.h>

#include <tact/predict.h>

#include "evaluate/evaluation.h"

int evaluation_classify(const struct evaluation *e, size_t model, uint32_t set,
			evaluation_class_fn *fn, void *arg)
{
	const struct tact_evaluation *view = &e->view;
	const struct tact_evaluated_model *m = &view->model[model];
	const int kind = confidence_model_find(m->model);
	struct tact_block *block = NULL;
	int status = 0;

	for (size_t i = 0; i < view->n && status >= 0 && kind >= 0; i++) {
		struct tact_prediction x = TACT_PREDICTION_INIT;

		if (m->outcomes[i] != TACT_OUTCOME_GOOD || !(m->predicted[i] > 0) ||
		    (set != TACT_ALL_SETS && view->row[i].set != set))
			continue;
		if (!block)
			status = tact_block_create(&block, view->set[view->row[i].set].arch, NULL,
						   NULL);
		if (status >= 0)
			status = tact_evaluation_load(view, i, block);
		if (status >= 0)
			status = tact_predict(block, NULL, &x);
		if (status >= 0)
			fn(arg, i,
			   confidence_classify(block, (enum confidence_model)kind, &x,
					       m->predicted[i]));
	}
	tact_block_destroy(block);
	return status < 0 ? -TACT_E_NOMEM : 0;
}

struct holding {
	const struct evaluation *e;
	struct tact_evaluated_model *model;
	enum confidence_model kind;
};

static void hold(void *arg, size_t row, struct confidence_class of)
{
	struct holding *h = arg;
	const struct tact_evaluation *view = &h->e->view;
	const struct tact_evaluated_set *set = &view->set[view->row[row].set];
	const struct confidence_table *table = confidence_table_of(tact_arch_name(set->arch));
	const struct confidence_line *line =
		table ? confidence_find(table->lines, table->n, set->mode, h->kind, of) : NULL;
	double ratio = view->measured[row] / h->model->predicted[row];

	if (line)
		h->model->held[row] =
			ratio >= line->low && ratio <= line->high ? TACT_HELD : TACT_HELD_NOT;
}

int evaluation_hold(struct evaluation *e, struct tact_diag *diag)
{
	int status = 0;

	for (size_t m = 0; m < e->view.n_models && status >= 0; m++) {
		struct holding h = {
			e, &e->view.model[m],
			(enum confidence_model)confidence_model_find(e->view.model[m].model)};

		if (confidence_model_find(h.model->model) < 0)
			continue;
		h.model->held = calloc(e->view.n, 1); /* TACT_HELD_UNKNOWN */
		status = h.model->held ? evaluation_classify(e, m, TACT_ALL_SETS, hold, &h)
				       : -TACT_E_NOMEM;
	}
	return status < 0 ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : 0;
}

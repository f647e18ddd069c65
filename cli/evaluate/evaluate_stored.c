/* SPDX-License-Identifier: MIT
 *
 * Predictions that a store holds as a model: those of other programs, or of other versions.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tact/store.h>

#include "common/cli.h"
#include "evaluator.h"

/* The rows of one store; their blocks ascend. */
struct stored {
	struct evaluator *p;
	struct evaluate_model *model;
	size_t begin, end;
	size_t n; /* predictions that found a row */
};

static size_t first_of(const struct stored *s, int64_t block)
{
	size_t low = s->begin, high = s->end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->p->rows.row[middle].block < block)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static enum tact_outcome outcome_of(const struct tact_store_prediction *x)
{
	if (!strcmp(x->status, "decode_error"))
		return TACT_OUTCOME_UNDECODABLE;
	if (strcmp(x->status, "ok") || !(x->cycles_per_iteration > 0) ||
	    !isfinite(x->cycles_per_iteration))
		return TACT_OUTCOME_NO_NUMBER;
	return x->coverage < 1 ? TACT_OUTCOME_NO_DATA : TACT_OUTCOME_GOOD;
}

/* One for other values at entry counts where there is none for the same. */
static void take(struct stored *s, int64_t block, const struct tact_store_prediction *x)
{
	const struct evaluate_rows *rows = &s->p->rows;

	for (size_t i = first_of(s, block); i < s->end && rows->row[i].block == block; i++) {
		const struct evaluate_set *set = &rows->set[rows->row[i].set];
		bool is_first = s->model->outcomes[i] == TACT_OUTCOME_NO_NUMBER;

		if (set->mode != x->mode ||
		    strcmp(tact_arch_name(s->p->arch[set->arch]), x->arch) ||
		    (!is_first && rows->row[i].init != x->init))
			continue;
		s->model->outcomes[i] = (uint8_t)outcome_of(x);
		s->model->predicted[i] = x->cycles_per_iteration;
		s->n++;
	}
}

static int walk(struct stored *s, struct tact_store *store, struct tact_diag *diag)
{
	struct tact_store_prediction x = {.size = sizeof(x)};
	struct tact_store_filter filter = {.size = sizeof(filter), .init = -1};
	struct tact_store_predictions *predictions;
	const char *at = strchr(s->model->command, '@');
	char name[TACT_STORE_NAME_MAX + 1];
	const uint8_t *code;
	size_t code_size;
	int64_t block;
	int status;

	snprintf(name, sizeof(name), "%.*s",
		 at ? (int)(at - s->model->command) : TACT_STORE_NAME_MAX, s->model->command);
	filter.model = name;
	filter.version = at ? at + 1 : NULL;
	status = tact_store_predictions_create(&predictions, store, &filter, diag);
	if (status < 0)
		return status;
	while ((status = tact_store_predictions_next(predictions, &block, &code, &code_size, &x,
						     diag)) > 0)
		take(s, block, &x);
	tact_store_predictions_destroy(predictions);
	return status;
}

static int run_input(struct stored *s, const char *path)
{
	struct tact_diag diag = {0};
	struct tact_store *store;
	int status = tact_store_open(&store, path, TACT_STORE_READONLY, &diag);

	if (status >= 0) {
		status = walk(s, store, &diag);
		tact_store_close(store);
	}
	if (status >= 0)
		return CLI_GOOD;
	cli_message("%s: %s", path, diag.text[0] ? diag.text : tact_strerror(status));
	return CLI_FAILED;
}

int evaluate_run_stored(struct evaluator *p, struct evaluate_model *model)
{
	struct stored s = {.p = p, .model = model};
	int status = CLI_GOOD;

	for (size_t i = 0; i < p->n_inputs; i++, s.begin = s.end) {
		while (s.end < p->rows.n && p->rows.row[s.end].input == i)
			s.end++;
		if (tact_store_is_store(p->inputs[i].path) && run_input(&s, p->inputs[i].path))
			status = CLI_FAILED;
	}
	if (!status && !s.n) {
		cli_message("%s: no store has predictions of this model for the measured rows",
			    model->name);
		status = CLI_FAILED;
	}
	return status;
}

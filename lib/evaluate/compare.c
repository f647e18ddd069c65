/* SPDX-License-Identifier: MIT
 *
 * Compares a model with measurements row by row, the largest disagreement first.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tact/model.h>

#include "evaluate/evaluation.h"

struct comparison {
	struct tact_comparison view; /* first: callers see this */
	size_t capacity;
	struct tact_arena arena;	  /* for code and names */
	struct tact_ran *ran;		  /* owned */
	struct tact_estimator *estimator; /* owned */
	struct tact_block *block;	  /* owned; NULL until there is a row */
};

int tact_comparison_create(struct tact_comparison **out, const char *model, struct tact_diag *diag)
{
	struct comparison *c;
	int status;

	status = tact_new(&c, sizeof(*c), out && model, "no model", diag);
	if (status < 0)
		return status;
	status = tact_ran_create(&c->ran);
	if (status >= 0)
		status = tact_model_open(&c->estimator, model, NULL, diag);
	if (status < 0) {
		tact_comparison_destroy(&c->view);
		return status;
	}
	*out = &c->view;
	return 0;
}

void tact_comparison_destroy(struct tact_comparison *view)
{
	struct comparison *c = (struct comparison *)view;

	if (!c)
		return;
	free(view->row);
	tact_arena_reset(&c->arena);
	tact_ran_destroy(c->ran);
	tact_model_close(c->estimator);
	tact_block_destroy(c->block);
	free(c);
}

/* Returns the code as it ran, if the harness has made a loop of the block. */
static int load(struct comparison *c, const struct tact_row *row, const struct tact_compared *x)
{
	const struct tact_block_options options = {.size = sizeof(options),
						   .mode = x->mode,
						   .init = x->init,
						   .alignment = x->alignment};
	struct tact_row plain = *row;
	const uint8_t *code;
	size_t size;
	int status;

	plain.loop_size = 0;
	status = tact_ran_code(c->ran, tact_arch_isa(x->arch), &plain, x->mode, &code, &size);
	if (status >= 0 && c->block)
		status = tact_block_rebind(c->block, x->arch, &options);
	else if (status >= 0)
		status = tact_block_create(&c->block, x->arch, &options, NULL);
	return status < 0 ? status : tact_block_load(c->block, code, size, NULL);
}

static int predict(struct comparison *c, const struct tact_row *row, struct tact_compared *x)
{
	struct tact_estimate e = {.size = sizeof(e)};
	int status = load(c, row, x);

	if (status >= 0)
		status = tact_model_estimate(c->estimator, c->block, &e);
	x->predicted = e.cycles_per_iteration;
	x->coverage = e.coverage;
	x->bottlenecks = e.bottlenecks;
	x->error = (x->predicted - x->measured) / x->measured;
	return status;
}

static int keep(struct comparison *c, const struct tact_row *row, const char *name,
		struct tact_compared *x)
{
	struct tact_comparison *view = &c->view;
	uint8_t *code = tact_arena_take(&c->arena, row->code_size);
	char *copy = tact_arena_take(&c->arena, strlen(name) + 1);
	const char *arch = row->arch ? row->arch : "";
	char *measured_on = tact_arena_take(&c->arena, strlen(arch) + 1);

	if (!code || !copy || !measured_on ||
	    tact_grow(&view->row, &c->capacity, view->n + 1, sizeof(*view->row)) < 0)
		return -TACT_E_NOMEM;
	memcpy(code, row->code, row->code_size);
	strcpy(copy, name);
	strcpy(measured_on, arch);
	x->measured_on = measured_on;
	x->code = code;
	x->code_size = row->code_size;
	x->name = copy;
	view->row[view->n++] = *x;
	return 1;
}

int tact_comparison_add(struct tact_comparison *view, const struct tact_row *row, const char *name,
			const struct tact_arch *arch)
{
	struct comparison *c = (struct comparison *)view;
	struct tact_compared x = {.arch = arch};
	int status;

	if (!view || !row || !name || row->mode == TACT_MODE_AUTO)
		return -TACT_E_INVAL;
	if (!tact_row_has_number(row)) {
		view->n_numberless++;
		return 0;
	}
	if (!arch)
		return -TACT_E_INVAL;
	x.mode = row->mode;
	x.init = row->init < 0 ? TACT_INIT_STACK : (enum tact_init)row->init;
	x.flags = row->flags;
	x.alignment = row->alignment;
	x.measured = row->cycles;
	status = predict(c, row, &x);
	if (status == -TACT_E_NOMEM)
		return status;
	if (status < 0) {
		view->n_unpredicted++;
		return 0;
	}
	return keep(c, row, name, &x);
}

static int by_error(const void *a, const void *b)
{
	const struct tact_compared *r = a, *s = b;
	double x = fabs(r->error), y = fabs(s->error);
	size_t n = r->code_size < s->code_size ? r->code_size : s->code_size;
	int order;

	if (x != y)
		return x < y ? 1 : -1;
	order = memcmp(r->code, s->code, n); /* so that the order is always the same */
	return order ? order : (r->code_size > s->code_size) - (r->code_size < s->code_size);
}

void tact_comparison_sort(struct tact_comparison *view)
{
	if (view && view->n)
		qsort(view->row, view->n, sizeof(*view->row), by_error);
}

int tact_comparison_agreement(const struct tact_comparison *view, const struct tact_arch *arch,
			      uint32_t without, struct tact_agreement *out)
{
	double *pairs;
	size_t n = 0;
	int status;

	if (!view || !out)
		return -TACT_E_INVAL;
	pairs = malloc((2 * view->n + 1) * sizeof(*pairs));
	if (!pairs)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < view->n; i++) {
		if (view->row[i].flags & without || (arch && view->row[i].arch != arch))
			continue;
		pairs[n] = view->row[i].predicted;
		pairs[view->n + n++] = view->row[i].measured;
	}
	status = tact_agreement_compute(pairs, pairs + view->n, n, out);
	free(pairs);
	return status;
}

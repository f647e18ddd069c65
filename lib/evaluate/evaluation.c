/* SPDX-License-Identifier: MIT
 *
 * Evaluations: rows, their CPUs and sets, and the models that are evaluated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/arch.h>
#include <tact/model.h>

#include "evaluate/evaluation.h"

/* ---- creating ---- */

int tact_evaluation_create(struct tact_evaluation **out, const struct tact_evaluation_options *opt)
{
	struct evaluation *e;
	int status;

	if (!out)
		return -TACT_E_INVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -TACT_E_NOMEM;
	status = tact_read_options(&e->opt, sizeof(e->opt), opt);
	if (status >= 0)
		status = tact_ran_create(&e->ran);
	if (status < 0) {
		free(e);
		return status;
	}
	*out = &e->view;
	return 0;
}

void tact_evaluation_destroy(struct tact_evaluation *view)
{
	struct evaluation *e = evaluation_of(view);

	if (!view)
		return;
	for (int kind = 0; kind < TACT_N_GROUPINGS; kind++) {
		for (size_t m = 0; m < view->n_models; m++)
			free(view->model[m].scores[kind]);
		free(view->by[kind].group);
		hash_free(&e->by[kind].index);
		FREE_ALL(e->by[kind].row, e->by[kind].of, e->by[kind].weight);
	}
	for (size_t m = 0; m < view->n_models; m++) {
		FREE_ALL(view->model[m].predicted, view->model[m].outcomes, view->model[m].held);
	}
	for (size_t a = 0; a < view->n_bottlenecks; a++)
		free(view->bottlenecks[a].kind);
	for (unsigned a = 0; a < e->n_archs; a++)
		tact_arch_destroy(e->derived[a]);
	FREE_ALL(view->model, view->bottlenecks, view->row, view->measured, view->weight,
		 view->set);
	tact_arena_reset(&e->arena);
	tact_ran_destroy(e->ran);
	free(e);
}

static const char *keep(struct evaluation *e, const char *text, size_t size)
{
	char *copy = tact_arena_take(&e->arena, size + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

int tact_evaluation_add_model(struct tact_evaluation *view, const char *name)
{
	struct evaluation *e = evaluation_of(view);
	struct tact_evaluated_model model = {0};

	if (!view || !name)
		return -TACT_E_INVAL;
	for (size_t i = 0; i < view->n_models; i++)
		if (!strcmp(name, view->model[i].model))
			return 0;
	model.name = keep(e, name, tact_model_title(name));
	model.model = keep(e, name, strlen(name));
	if (!model.name || !model.model ||
	    tact_grow(&view->model, &e->model_capacity, view->n_models + 1, sizeof(model)) < 0)
		return -TACT_E_NOMEM;
	view->model[view->n_models++] = model;
	return 1;
}

/* ---- CPUs ---- */

int evaluation_arch(struct evaluation *e, const char *name, const struct tact_arch **arch,
		    struct tact_diag *diag)
{
	const struct tact_arch *found = tact_arch_find(name);

	if (!found)
		return 0;
	for (unsigned i = 0; i < e->n_archs; i++) {
		*arch = e->arch[i];
		if (!strcmp(tact_arch_name(*arch), tact_arch_name(found)))
			return 1;
	}
	if (e->n_archs == EVALUATION_MAX_ARCHS)
		return 0;
	if (e->opt.params) {
		int status = tact_arch_derive(&e->derived[e->n_archs], found, e->opt.params, diag);

		if (status < 0)
			return status;
		found = e->derived[e->n_archs];
	}
	e->arch[e->n_archs++] = *arch = found;
	return 1;
}

int tact_evaluation_add_bottlenecks(struct tact_evaluation *view, const char *name,
				    struct tact_diag *diag)
{
	struct evaluation *e = evaluation_of(view);
	const struct tact_arch *arch;
	int status;

	if (!view || !name)
		return tact_fail(diag, TACT_E_INVAL, "no CPU");
	status = evaluation_arch(e, name, &arch, diag);
	if (status <= 0)
		return status ? status : tact_fail(diag, TACT_E_INVAL, "no CPU '%s'", name);
	if (tact_grow(&view->bottlenecks, &e->bottlenecks_capacity, view->n_bottlenecks + 1,
		      sizeof(*view->bottlenecks)) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	view->bottlenecks[view->n_bottlenecks++] =
		(struct tact_evaluated_bottlenecks){.arch = arch};
	return 0;
}

static const char *default_arch(struct evaluation *e)
{
	if (!e->has_default && e->opt.default_arch)
		e->default_arch = e->opt.default_arch(e->opt.context);
	e->has_default = true;
	return e->default_arch ? e->default_arch : "";
}

/* Returns whether a row was measured on another CPU than the one that is asked for. */
static bool is_other_cpu(const char *measured_on, const char *asked)
{
	const struct tact_arch *row = tact_arch_find(measured_on), *wanted = tact_arch_find(asked);

	return row && wanted && row != wanted;
}

/* Finds the CPU of a row as evaluation_arch does, and counts rows whose CPU is unknown. */
static int choose_arch(struct evaluation *e, const struct tact_evaluation_input *input,
		       const struct tact_row *row, const struct tact_arch **arch,
		       struct tact_diag *diag)
{
	const char *said = *row->arch ? row->arch : row->machine;
	const char *name = input->arch ? input->arch : *said ? said : default_arch(e);
	int status;

	if (input->arch && is_other_cpu(row->arch, input->arch)) {
		if (!e->view.n_other_arch++)
			snprintf(e->view.other_arch, sizeof(e->view.other_arch), "%s", row->arch);
		if (!e->opt.is_forced)
			return 0;
	}
	status = evaluation_arch(e, name, arch, diag);
	e->view.n_assumed_arch += status > 0 && !input->arch && !*said;
	if (!status && !e->view.n_unknown_arch++)
		snprintf(e->view.unknown_arch, sizeof(e->view.unknown_arch), "%s", said);
	return status;
}

/* ---- rows ---- */

static enum tact_mode choose_mode(const struct tact_evaluation_input *input,
				  const struct tact_isa *isa, const struct tact_row *row)
{
	if (input->mode == TACT_MODE_LOOP || input->mode == TACT_MODE_UNROLL)
		return (enum tact_mode)input->mode;
	if (row->mode != TACT_MODE_AUTO)
		return row->mode;
	return row->loop_size || tact_ran_is_loop(isa, row->code, row->code_size)
		       ? TACT_MODE_LOOP
		       : TACT_MODE_UNROLL;
}

/* Returns the set's number, or -TACT_E_NOMEM. */
static long find_set(struct evaluation *e, const struct tact_arch *arch, enum tact_mode mode)
{
	struct tact_evaluation *view = &e->view;

	for (size_t i = 0; i < view->n_sets; i++)
		if (view->set[i].arch == arch && view->set[i].mode == mode)
			return (long)i;
	if (tact_grow(&view->set, &e->set_capacity, view->n_sets + 1, sizeof(*view->set)) < 0)
		return -TACT_E_NOMEM;
	view->set[view->n_sets] = (struct tact_evaluated_set){.arch = arch, .mode = mode};
	return (long)view->n_sets++;
}

static int grow_rows(struct evaluation *e)
{
	struct tact_evaluation *view = &e->view;
	size_t capacities[3] = {e->capacity, e->capacity, e->capacity};

	if (view->n < e->capacity)
		return 0;
	if (tact_grow(&view->row, &capacities[0], view->n + 1, sizeof(*view->row)) < 0 ||
	    tact_grow(&view->measured, &capacities[1], view->n + 1, sizeof(double)) < 0 ||
	    tact_grow(&view->weight, &capacities[2], view->n + 1, sizeof(double)) < 0)
		return -TACT_E_NOMEM;
	e->capacity = capacities[0];
	return 0;
}

static int join_groups(struct evaluation *e, size_t n, uint32_t set, const struct tact_row *row)
{
	int status = evaluation_join(e, TACT_BY_NOTHING, n, TACT_ALL_SETS, NULL, row->weight);

	if (status >= 0)
		status = evaluation_join(e, TACT_BY_SET, n, set, NULL, row->weight);
	for (size_t i = 0; i < row->n_sources && status >= 0; i++)
		status = evaluation_join(e, TACT_BY_APP, n, set, row->sources[i].app,
					 row->sources[i].weight);
	if (status >= 0 && *row->category)
		status = evaluation_join(e, TACT_BY_CATEGORY, n, set, row->category, row->weight);
	return status;
}

static int take_row(struct evaluation *e, size_t input, const struct tact_arch *arch,
		    const struct tact_row *row)
{
	const struct tact_evaluation_input *in = &e->opt.inputs[input];
	struct tact_evaluation *view = &e->view;
	enum tact_mode mode = choose_mode(in, tact_arch_isa(arch), row);
	long set = find_set(e, arch, mode);
	struct tact_evaluated_row to = {.block = row->block,
					.input = (uint32_t)input,
					.line = (uint32_t)row->line,
					.set = (uint32_t)set,
					.init = (uint8_t)(in->init >= 0	   ? in->init
							  : row->init >= 0 ? row->init
									   : TACT_INIT_STACK),
					.alignment = (uint8_t)row->alignment};
	const uint8_t *code;
	uint8_t *copy;
	size_t size;

	if (set < 0 || grow_rows(e) < 0 ||
	    tact_ran_code(e->ran, tact_arch_isa(arch), row, mode, &code, &size) < 0)
		return -TACT_E_NOMEM;
	copy = tact_arena_take(&e->arena, size);
	if (!copy || join_groups(e, view->n, to.set, row) < 0)
		return -TACT_E_NOMEM;
	memcpy(copy, code, size);
	to.code = copy;
	to.code_size = (uint32_t)size;
	view->set[set].n++;
	view->measured[view->n] = row->cycles;
	view->weight[view->n] = row->weight;
	view->row[view->n++] = to;
	return 1;
}

int tact_evaluation_add_row(struct tact_evaluation *view, size_t input, const struct tact_row *row,
			    struct tact_diag *diag)
{
	struct evaluation *e = evaluation_of(view);
	const struct tact_arch *arch = NULL;
	int status;

	if (!view || !row || input >= e->opt.n_inputs)
		return tact_fail(diag, TACT_E_INVAL, "no evaluation, row or input");
	if (e->opt.is_clean && row->clean != 1) {
		view->n_unclean++;
		return 0;
	}
	if (!tact_row_has_number(row)) {
		*(row->has_cycles ? &view->n_not_positive : &view->n_unmeasured) += 1;
		return 0;
	}
	if (e->opt.is_confirmed && !tact_row_is_confirmed(row)) {
		view->n_unconfirmed++;
		return 0;
	}
	status = choose_arch(e, &e->opt.inputs[input], row, &arch, diag);
	if (status <= 0)
		return status;
	status = take_row(e, input, arch, row);
	return status < 0 ? tact_fail(diag, TACT_E_NOMEM, "out of memory") : status;
}

int tact_evaluation_load(const struct tact_evaluation *view, size_t i, struct tact_block *block)
{
	const struct tact_evaluated_row *row;
	const struct tact_evaluated_set *set;
	struct tact_block_options options = {.size = sizeof(options)};
	int status;

	if (!view || !block || i >= view->n)
		return -TACT_E_INVAL;
	row = &view->row[i];
	set = &view->set[row->set];
	options.mode = set->mode;
	options.init = (enum tact_init)row->init;
	options.alignment = row->alignment;
	status = tact_block_rebind(block, set->arch, &options);
	return status < 0 ? status : tact_block_load(block, row->code, row->code_size, NULL);
}

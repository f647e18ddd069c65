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
	if (status >= 0) {
		/* Sets never move: a thread reads them while others are added. */
		e->view.set = calloc(EVALUATION_MAX_SETS, sizeof(*e->view.set));
		e->archs_of = calloc(e->opt.n_inputs + 1, sizeof(*e->archs_of));
		status = e->view.set && e->archs_of ? 0 : -TACT_E_NOMEM;
	}
	e->view.options = &e->opt;
	if (!e->opt.folder)
		e->opt.folder = "/tmp";
	if (status < 0) {
		tact_evaluation_destroy(&e->view);
		return status;
	}
	*out = &e->view;
	return 0;
}

static void free_model(struct evaluation *e, size_t m)
{
	struct tact_evaluated_model *model = &e->view.model[m];

	for (int kind = 0; kind < TACT_N_GROUPINGS; kind++)
		free(model->scores[kind]);
	for (size_t i = 0; i < model->n_worst; i++)
		FREE_ALL((void *)model->worst[i].row.code, (void *)model->worst[i].predicted,
			 (void *)model->worst[i].outcomes);
	FREE_ALL(model->map, model->errors, model->worst);
	if (e->tally)
		sorter_fini(&e->tally[m]);
}

void tact_evaluation_destroy(struct tact_evaluation *view)
{
	struct evaluation *e = evaluation_of(view);

	if (!view)
		return;
	if (e->has_thread)
		pthread_join(e->thread, NULL); /* rows were added, but never run */
	for (unsigned i = 0; i < ARRAY_SIZE(e->batch); i++)
		evaluation_batch_fini(e, &e->batch[i]);
	for (size_t m = 0; m < view->n_models; m++)
		free_model(e, m);
	for (int kind = 0; kind < TACT_N_GROUPINGS; kind++) {
		free(view->by[kind].group);
		hash_free(&e->by[kind].index);
	}
	for (unsigned a = 0; a < e->n_archs; a++)
		tact_arch_destroy(e->derived[a]);
	for (size_t i = 0; i < e->n_said; i++)
		free(e->said[i]);
	FREE_ALL(view->model, view->bottlenecks, view->set, e->archs_of, e->said, e->tally,
		 e->limits, e->sample, e->powers_below, e->powers_above, e->has_stored, e->partial);
	cells_fini(&e->cells);
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

	if (!view || !name || e->is_started)
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

/* Finds a CPU by a name.  Neighbours often have the same name, and one that is not known may take a
 * search in another library.
 */
static const struct tact_arch *find_arch(struct evaluation *e, const char *name)
{
	struct evaluation_name *last = &e->name[(unsigned char)*name % ARRAY_SIZE(e->name)];

	if (!*name || strlen(name) >= sizeof(last->name))
		return *name ? tact_arch_find(name) : NULL;
	if (strcmp(name, last->name) != 0) {
		last->arch = tact_arch_find(name);
		strcpy(last->name, name);
	}
	return last->arch;
}

int evaluation_arch(struct evaluation *e, const char *name, const struct tact_arch **arch,
		    struct tact_diag *diag)
{
	const struct tact_arch *found = find_arch(e, name);

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

	if (!view || !name || e->is_started)
		return tact_fail(diag, TACT_E_INVAL, "no CPU, or rows are being evaluated");
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
static bool is_other_cpu(struct evaluation *e, const char *measured_on, const char *asked)
{
	const struct tact_arch *row = find_arch(e, measured_on);
	const struct tact_arch *wanted = row ? find_arch(e, asked) : NULL;

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

	if (input->arch && is_other_cpu(e, row->arch, input->arch)) {
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

long evaluation_set(struct evaluation *e, const struct tact_arch *arch, enum tact_mode mode)
{
	struct tact_evaluation *view = &e->view;

	for (size_t i = 0; i < view->n_sets; i++)
		if (view->set[i].arch == arch && view->set[i].mode == mode)
			return (long)i;
	if (view->n_sets == EVALUATION_MAX_SETS)
		return -TACT_E_NOMEM;
	view->set[view->n_sets] = (struct tact_evaluated_set){.arch = arch, .mode = mode};
	return (long)view->n_sets++;
}

static int grow_batch(struct evaluation_batch *b)
{
	size_t capacities[4] = {b->capacity, b->capacity, b->capacity, b->capacity};

	if (b->n < b->capacity)
		return 0;
	if (tact_grow(&b->row, &capacities[0], b->n + 1, sizeof(*b->row)) < 0 ||
	    tact_grow(&b->measured, &capacities[1], b->n + 1, sizeof(double)) < 0 ||
	    tact_grow(&b->weight, &capacities[2], b->n + 1, sizeof(double)) < 0 ||
	    tact_grow(&b->label, &capacities[3], b->n + 1, sizeof(*b->label)) < 0)
		return -TACT_E_NOMEM;
	b->capacity = capacities[0];
	for (unsigned i = 1; i < ARRAY_SIZE(capacities); i++)
		b->capacity = capacities[i] < b->capacity ? capacities[i] : b->capacity;
	return 0;
}

/* Neighbours often have the same labels: a copy serves them all. */
static const char *keep_label(struct evaluation_batch *b, const char *label, const char *last)
{
	char *copy;

	if (last && !strcmp(label, last))
		return last;
	copy = tact_arena_take(&b->arena, strlen(label) + 1);
	return copy ? strcpy(copy, label) : NULL;
}

static int keep_labels(struct evaluation_batch *b, const struct tact_row *row)
{
	struct evaluation_label *label = &b->label[b->n];
	const struct tact_row_source *last = b->n_sources ? &b->source[b->n_sources - 1] : NULL;

	*label = (struct evaluation_label){.first_source = b->n_sources,
					   .n_sources = (uint32_t)row->n_sources};
	label->category = keep_label(b, row->category, b->n ? label[-1].category : NULL);
	if (!label->category || tact_grow(&b->source, &b->source_capacity,
					  b->n_sources + row->n_sources, sizeof(*b->source)) < 0)
		return -TACT_E_NOMEM;
	last = b->n_sources ? &b->source[b->n_sources - 1] : NULL;
	for (size_t i = 0; i < row->n_sources; i++) {
		struct tact_row_source *to = &b->source[b->n_sources + i];

		to->weight = row->sources[i].weight;
		to->app = keep_label(b, row->sources[i].app, last ? last->app : NULL);
		if (!to->app)
			return -TACT_E_NOMEM;
		last = to;
	}
	b->n_sources += row->n_sources;
	return 0;
}

/* Notes what the row says of a model whose predictions are in a column. */
static int take_asked(struct evaluation *e, struct evaluation_batch *b, const struct tact_row *row)
{
	size_t column = 0;

	for (size_t m = 0; m < e->view.n_models; m++) {
		if (!evaluation_column(e->view.model[m].model))
			continue;
		if (!b->answers) {
			int status = evaluation_start_batch(e, b);

			if (status < 0)
				return status;
		}
		evaluation_read_answer(row->asked ? row->asked[column] : "",
				       &b->answers[m].predicted[b->n],
				       &b->answers[m].outcomes[b->n]);
		column++;
	}
	return 0;
}

static int take_row(struct evaluation *e, size_t input, const struct tact_arch *arch,
		    const struct tact_row *row)
{
	const struct tact_evaluation_input *in = &e->opt.inputs[input];
	struct evaluation_batch *b = &e->batch[e->filling];
	enum tact_mode mode = choose_mode(in, tact_arch_isa(arch), row);
	long set = evaluation_set(e, arch, mode);
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

	if (set < 0 || grow_batch(b) < 0 || take_asked(e, b, row) < 0 ||
	    tact_ran_code(e->ran, tact_arch_isa(arch), row, mode, &code, &size) < 0)
		return -TACT_E_NOMEM;
	copy = tact_arena_take(&b->arena, size);
	if (!copy || keep_labels(b, row) < 0)
		return -TACT_E_NOMEM;
	memcpy(copy, code, size);
	to.code = copy;
	to.code_size = (uint32_t)size;
	e->view.set[set].n++;
	for (unsigned a = 0; a < e->n_archs; a++)
		if (e->arch[a] == arch)
			e->archs_of[input] |= UINT64_C(1) << a;
	b->measured[b->n] = row->cycles;
	b->weight[b->n] = row->weight;
	b->row[b->n++] = to;
	e->view.n++;
	e->view.n_here = b->n;
	e->view.row = b->row;
	e->view.measured = b->measured;
	e->view.weight = b->weight;
	return b->n < EVALUATION_BATCH ? 1 : evaluation_flush(e);
}

int tact_evaluation_add_row(struct tact_evaluation *view, size_t input, const struct tact_row *row,
			    struct tact_diag *diag)
{
	struct evaluation *e = evaluation_of(view);
	const struct tact_arch *arch = NULL;
	int status;

	if (!view || !row || input >= e->opt.n_inputs || e->is_combined)
		return tact_fail(diag, TACT_E_INVAL, "no evaluation, row or input");
	if (e->status < 0)
		return 0; /* tact_evaluation_run says why */
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

bool tact_evaluation_has_rows(const struct tact_evaluation *view, size_t input,
			      const struct tact_arch *arch)
{
	const struct evaluation *e = evaluation_of_const(view);

	for (unsigned a = 0; view && a < e->n_archs; a++)
		if (e->arch[a] == arch && input < e->opt.n_inputs)
			return e->archs_of[input] >> a & 1;
	return false;
}

int tact_evaluation_load_row(const struct tact_evaluation *view,
			     const struct tact_evaluated_row *row, struct tact_block *block)
{
	const struct tact_evaluated_set *set;
	struct tact_block_options options = {.size = sizeof(options)};
	int status;

	if (!view || !block || !row || row->set >= EVALUATION_MAX_SETS)
		return -TACT_E_INVAL;
	set = &view->set[row->set];
	options.mode = set->mode;
	options.init = (enum tact_init)row->init;
	options.alignment = row->alignment;
	status = tact_block_rebind(block, set->arch, &options);
	return status < 0 ? status : tact_block_load(block, row->code, row->code_size, NULL);
}

int tact_evaluation_load(const struct tact_evaluation *view, size_t i, struct tact_block *block)
{
	if (!view || i >= view->n_here)
		return -TACT_E_INVAL;
	return tact_evaluation_load_row(view, &view->row[i], block);
}

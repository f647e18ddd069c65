/* SPDX-License-Identifier: MIT
 *
 * The parameters to learn: those of the forms that occur in the training rows, and those of the
 * machine; and the rows in which each form occurs.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "block/block.h"
#include "mca/mca_export.h"
#include "tune/tune.h"

/* A use of a form in a row, while sites are being made. */
struct use {
	uint32_t site; /* form * ARCH_N_SITUATIONS + situation */
	uint32_t row;
};

struct uses {
	struct use *list; /* owned */
	size_t n, capacity;
};

static int add_use(struct uses *u, unsigned form, unsigned situation, size_t row)
{
	if (tact_grow(&u->list, &u->capacity, u->n + 1, sizeof(*u->list)) < 0)
		return -TACT_E_NOMEM;
	u->list[u->n++] = (struct use){form * ARCH_N_SITUATIONS + situation, (uint32_t)row};
	return 0;
}

enum arch_situation tune_situation(const struct tact_arch *arch, const struct tact_insn *insn)
{
	enum arch_situation s = ARCH_PLAIN;
	struct arch_view view;

	if (insn->attributes & TACT_INSN_SAME_REG &&
	    arch_view_of(arch, insn->form, ARCH_SAME, &view))
		s = ARCH_SAME;
	if (insn->attributes & TACT_INSN_INDEXED &&
	    arch_view_of(arch, insn->form, ARCH_INDEXED, &view))
		s = ARCH_INDEXED;
	return s;
}

static unsigned n_forms(const struct tact_tuner *t)
{
	return tact_isa_form_count(t->decoder->arch->isa);
}

const struct tune_site *tune_site_of(const struct tact_tuner *t, unsigned form,
				     enum arch_situation situation)
{
	uint32_t number;

	if (t->canon && form < n_forms(t))
		form = t->canon[form];
	number = form < n_forms(t) ? t->site_of[form * ARCH_N_SITUATIONS + situation] : 0;

	return number ? &t->sites[number - 1] : NULL;
}

static int add_table_uses(struct uses *u, const struct tact_arch *arch,
			  const struct tact_insn *insn, size_t row)
{
	enum arch_situation s = tune_situation(arch, insn);
	struct arch_view view;
	int status;

	if (!arch_view_of(arch, insn->form, s, &view))
		return 0;
	status = add_use(u, insn->form, s, row);
	/* What a move costs where it is not eliminated. */
	if (!status && !view.variant->uops && s != ARCH_SAME &&
	    arch_view_of(arch, insn->form, ARCH_SAME, &view))
		status = add_use(u, insn->form, ARCH_SAME, row);
	return status;
}

static int find_uses(struct tact_tuner *t, struct uses *u)
{
	for (size_t r = 0; r < t->rows.n; r++) {
		const struct tune_row *row = &t->rows.rows[r];
		const struct tact_block *b = t->decoder;
		int status = tact_block_load(t->decoder, t->rows.code + row->code, row->size, NULL);

		if (status < 0)
			return status;
		if (row->part != TACT_TUNE_TRAIN)
			continue;
		for (size_t i = 0; i < b->n_insns && !status; i++) {
			const struct tact_insn *insn = b->insns[i].insn;

			if (insn->form >= n_forms(t))
				continue;
			status = t->codes ? add_use(u, t->canon ? t->canon[insn->form] : insn->form,
						    ARCH_PLAIN, r)
					  : add_table_uses(u, t->opt.arch, insn, r);
		}
		if (status < 0)
			return status;
	}
	return 0;
}

/* Prepares the rows as the plain machine sees them. */
int tune_codes_make(struct tact_tuner *t, enum tact_mca_memory memory)
{
	for (size_t r = 0; r < t->rows.n; r++) {
		const struct tune_row *row = &t->rows.rows[r];
		int status = tact_block_load(t->decoder, t->rows.code + row->code, row->size, NULL);

		tact_mca_code_destroy(t->codes[r]);
		t->codes[r] = NULL;
		if (status >= 0)
			status = tact_mca_code_create(&t->codes[r], t->decoder, memory, NULL);
		if (status < 0)
			return status;
	}
	return 0;
}

static int by_site(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return 2 * ORDER(x->site, y->site) + ORDER(x->row, y->row);
}

static int by_rows(const void *a, const void *b)
{
	const struct tune_site *x = a, *y = b;

	if (x->n_rows != y->n_rows)
		return x->n_rows > y->n_rows ? -1 : 1;
	if (x->form != y->form)
		return x->form < y->form ? -1 : 1;
	return (x->situation > y->situation) - (x->situation < y->situation);
}

static int make_sites(struct tact_tuner *t, struct uses *u)
{
	qsort(u->list, u->n, sizeof(*u->list), by_site);
	for (size_t i = 0; i < u->n; i++) {
		struct tune_site *site;

		if (tact_grow(&t->sites, &t->site_capacity, t->n_sites + 1, sizeof(*t->sites)) <
			    0 ||
		    tact_grow(&t->site_rows, &t->site_row_capacity, t->n_site_rows + 1,
			      sizeof(*t->site_rows)) < 0)
			return -TACT_E_NOMEM;
		if (!i || u->list[i].site != u->list[i - 1].site)
			t->sites[t->n_sites++] = (struct tune_site){
				.form = (uint16_t)(u->list[i].site / ARCH_N_SITUATIONS),
				.situation = u->list[i].site % ARCH_N_SITUATIONS,
				.first_row = (uint32_t)t->n_site_rows};
		else if (u->list[i].row == u->list[i - 1].row)
			continue; /* the same form again */
		site = &t->sites[t->n_sites - 1];
		t->site_rows[t->n_site_rows++] = u->list[i].row;
		site->n_rows++;
	}
	qsort(t->sites, t->n_sites, sizeof(*t->sites), by_rows);
	t->site_of = calloc((size_t)n_forms(t) * ARCH_N_SITUATIONS, sizeof(*t->site_of));
	if (!t->site_of)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < t->n_sites; i++)
		t->site_of[t->sites[i].form * ARCH_N_SITUATIONS + t->sites[i].situation] =
			(uint32_t)i + 1;
	return 0;
}

static int add_param(struct tact_tuner *t, struct tune_param param)
{
	if (!(tune_kind_what(param.kind) & t->opt.what))
		return 0;
	if (tact_grow(&t->params, &t->param_capacity, t->n_params + 1, sizeof(*t->params)) < 0)
		return -TACT_E_NOMEM;
	t->params[t->n_params++] = param;
	return 0;
}

/* Bounds of what is learned: the machine accepts more, but no real core has it. */
enum { MAX_LATENCY = 200, MAX_UOPS = 100, MAX_PORT_CYCLES = 100, MAX_ADVANCE = 20 };

static int add_mca_params(struct tact_tuner *t, bool is_global, unsigned form)
{
	static const int high[TACT_MCA_N_KINDS] = {MAX_UOPS,	    MAX_LATENCY, MAX_ADVANCE,
						   MAX_PORT_CYCLES, 64,		 4096};
	int status = 0;

	for (unsigned kind = 0; kind < TACT_MCA_N_KINDS; kind++) {
		const struct tact_mca_info *info = tact_mca_get_info(kind);

		if (info->global != is_global)
			continue;
		for (unsigned i = 0; i < info->count && !status; i++)
			status = add_param(t, (struct tune_param){.form = (uint16_t)form,
								  .kind = (uint8_t)kind,
								  .index = (uint16_t)i,
								  .low = info->low,
								  .high = high[kind]});
	}
	return status;
}

static int add_table_params(struct tact_tuner *t, const struct tune_site *site)
{
	struct tune_param p = {.form = site->form, .situation = site->situation};
	struct arch_view view;
	int status = 0;

	if (!arch_view_of(t->opt.arch, p.form, (enum arch_situation)p.situation, &view))
		return 0;
	for (unsigned i = 0; view.latency[i].from != ARCH_OP_END && !status; i++) {
		p.kind = TUNE_LATENCY;
		p.index = (uint16_t)i;
		p.low = 0;
		p.high = MAX_LATENCY;
		status = add_param(t, p);
	}
	for (unsigned i = 0; view.ports[i].count && !status; i++) {
		p.index = (uint16_t)i;
		p.kind = TUNE_PORT_SET;
		p.low = 1;
		p.high = UINT16_MAX;
		status = add_param(t, p);
		p.kind = TUNE_PORT_COUNT;
		p.high = MAX_UOPS;
		if (!status)
			status = add_param(t, p);
	}
	p.index = 0;
	p.kind = TUNE_FUSED;
	p.low = 1;
	p.high = MAX_UOPS;
	if (!status)
		status = add_param(t, p);
	p.kind = TUNE_HOLD;
	p.high = 1000;
	if (!status && (view.variant->divider || view.variant->cycles))
		status = add_param(t, p);
	return status;
}

static int make_params(struct tact_tuner *t)
{
	struct tune_param core;
	int status = 0;

	if (t->is_mca)
		status = add_mca_params(t, true, TACT_FORM_NONE);
	else
		for (unsigned i = 0; tune_core(i, &core) && !status; i++)
			status = add_param(t, core);
	t->n_globals = t->n_params;
	for (size_t s = 0; s < t->n_sites && !status; s++) {
		struct tune_site *site = &t->sites[s];

		site->first_param = (uint32_t)t->n_params;
		status = t->is_mca ? add_mca_params(t, false, site->form)
				   : add_table_params(t, site);
		site->n_params = (uint32_t)t->n_params - site->first_param;
	}
	return status;
}

/* Collects the port sets of all forms of the architecture: what a wrong one may become. */
static void find_port_sets(struct tact_tuner *t)
{
	struct arch_view view;

	for (unsigned form = 0; form < n_forms(t); form++) {
		if (!arch_view_of(t->opt.arch, form, ARCH_PLAIN, &view))
			continue;
		for (const struct arch_port_use *use = view.ports; use->count; use++) {
			unsigned i = 0;

			while (i < t->n_port_sets && t->port_sets[i] != (int)use->mask)
				i++;
			if (i == t->n_port_sets && i < ARRAY_SIZE(t->port_sets))
				t->port_sets[t->n_port_sets++] = (int)use->mask;
		}
	}
}

/* Finds the forms that LLVM has one opcode for. */
static int make_ties(struct tact_tuner *t, struct tact_diag *diag)
{
	struct mca_export *e = NULL;
	int status = tact_mca_params_create(&t->defaults.mca, t->opt.arch, diag);

	if (status >= 0)
		status = mca_export_create(&e, t->defaults.mca, diag);
	if (status >= 0)
		status = tune_note_opcodes(t, e);
	t->canon = calloc(n_forms(t), sizeof(*t->canon));
	t->tied = calloc(n_forms(t), sizeof(*t->tied));
	if (status >= 0)
		status =
			t->canon && t->tied ? mca_export_ties(e, t->canon, t->tied) : -TACT_E_NOMEM;
	mca_export_destroy(e);
	tact_mca_params_destroy(t->defaults.mca);
	t->defaults.mca = NULL;
	return status;
}

/* What is tied starts with the values of the form that has the site. */
static void spread_start(struct tact_tuner *t)
{
	t->start.tied = t->tied;
	for (size_t i = t->n_globals; t->tied && i < t->n_params; i++)
		tune_assign(&t->start, &t->params[i], tune_value(&t->start, &t->params[i]));
}

/* Makes the start, with separate data for everything that is learned. */
static int make_start(struct tact_tuner *t)
{
	uint64_t rng = t->opt.seed ^ 0x57a47;
	int status;

	if (!t->is_mca) {
		status = tact_arch_copy(&t->defaults.arch,
					tact_arch_find(tact_arch_name(t->opt.arch)));
		if (status >= 0)
			status = tact_arch_copy(&t->start.arch, t->opt.arch);
		for (size_t s = 0; s < t->n_sites && status >= 0; s++)
			if (!arch_own_of(t->start.arch, t->sites[s].form,
					 (enum arch_situation)t->sites[s].situation))
				status = -TACT_E_NOMEM;
		if (status >= 0 && t->opt.corrupt)
			status = tune_corrupt(t, &t->start, t->opt.corrupt);
		return status;
	}
	status = tact_mca_params_create(&t->defaults.mca, t->opt.arch, NULL);
	if (status >= 0)
		status = tact_mca_params_copy(&t->start.mca,
					      t->opt.start ? t->opt.start : t->defaults.mca, NULL);
	if (status >= 0 && t->opt.random_start)
		tune_sample(t->start.mca, t->opt.what, &rng);
	if (status >= 0)
		spread_start(t);
	return status;
}

static int make_worker(struct tact_tuner *t, struct tune_worker *w)
{
	struct tact_mca_options options = {.size = sizeof(options)};
	size_t most = t->n_sites ? t->sites[0].n_rows : 1;
	int status = tune_table_copy(&w->table, &t->start);

	w->t = t;
	if (status < 0)
		return status;
	w->errors = calloc(most, sizeof(*w->errors));
	w->trial = calloc(most, sizeof(*w->trial));
	if (!w->errors || !w->trial)
		return -TACT_E_NOMEM;
	options.params = w->table.mca;
	if (t->is_mca)
		return tact_mca_create(&w->machine, &options, NULL);
	status = tact_model_open(&w->estimator, t->opt.model, NULL, NULL);
	if (status >= 0)
		status = tact_model_open(&w->bound, "facile", NULL, NULL);
	return status < 0 ? status : tact_block_create(&w->block, w->table.arch, &t->block, NULL);
}

int tune_space_create(struct tact_tuner *t, struct tact_diag *diag)
{
	struct uses uses = {0};
	int status = t->opt.by_opcode ? make_ties(t, diag) : 0;

	if (status < 0)
		return status == -TACT_E_NO_TOOL ? status
						 : tact_fail(diag, (enum tact_error) - status, "%s",
							     tact_strerror(status));
	if (t->is_mca) {
		t->codes = calloc(t->rows.n, sizeof(struct tact_mca_code *));
		if (!t->codes)
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	status = find_uses(t, &uses);
	if (status >= 0 && t->codes)
		status = tune_codes_make(t, TACT_MCA_NO_ALIAS);
	if (status >= 0)
		status = make_sites(t, &uses);
	free(uses.list);
	if (status >= 0)
		status = make_params(t);
	find_port_sets(t);
	if (status >= 0)
		status = make_start(t);
	t->workers = calloc(t->n_workers, sizeof(*t->workers));
	if (!t->workers)
		status = -TACT_E_NOMEM;
	for (unsigned i = 0; i < t->n_workers && status >= 0; i++)
		status = make_worker(t, &t->workers[i]);
	return status < 0 ? tact_fail(diag, (enum tact_error) - status, "%s", tact_strerror(status))
			  : 0;
}

/* SPDX-License-Identifier: MIT
 *
 * The tuner: rows in, a method, a table out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mca/mca_export.h"
#include "tune/tune.h"

enum { MIN_ROWS = 20, MAX_THREADS = 256 };

static void set_defaults(struct tact_tune_options *o, struct tact_tune_network *n)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (!o->what)
		o->what = TACT_TUNE_LATENCY | TACT_TUNE_UOPS | TACT_TUNE_PORTS | TACT_TUNE_ADVANCE |
			  TACT_TUNE_GLOBALS;
	if (!(o->min_gain > 0))
		o->min_gain = 0.5; /* between 0.05 and 2, the best on validation rows of Skylake */
	if (!o->threads)
		o->threads = cores > 0 ? (unsigned)cores : 1;
	if (o->threads > MAX_THREADS)
		o->threads = MAX_THREADS;
	n->embedding = n->embedding ? n->embedding : 32;
	n->hidden = n->hidden ? n->hidden : 64;
	n->layers = n->layers ? n->layers : 1;
	n->batch = n->batch ? n->batch : 256;
	n->samples = n->samples ? n->samples : 10;
	n->epochs = n->epochs ? n->epochs : 4;
	n->table_epochs = n->table_epochs ? n->table_epochs : 16;
	n->rounds = n->rounds ? n->rounds : 2;
	n->rate = n->rate > 0 ? n->rate : 0.001;
	n->table_rate = n->table_rate > 0 ? n->table_rate : 0.05;
}

static const char *fault_of_network(const struct tact_tune_network *n)
{
	if (n->layers > 4 || n->hidden > 1024 || n->embedding > 1024 || n->batch > 65536)
		return "the network is larger than this library makes one";
	if (!(n->rate >= 0 && n->rate < HUGE_VAL && n->table_rate >= 0 && n->table_rate < HUGE_VAL))
		return "a rate of learning that is not a number of at least 0";
	return NULL;
}

static const char *fault_of(const struct tact_tune_options *o, const struct tact_model *model)
{
	const unsigned all = TACT_TUNE_LATENCY | TACT_TUNE_UOPS | TACT_TUNE_PORTS |
			     TACT_TUNE_ADVANCE | TACT_TUNE_GLOBALS;
	bool is_mca = model->traits & TACT_MODEL_PARAMS;

	if (!o->arch)
		return "no architecture";
	if (!(model->traits & (TACT_MODEL_PARAMS | TACT_MODEL_TABLES)))
		return "this model has no parameters to learn";
	if (is_mca && strcmp(o->model, model->name) != 0)
		return "a start with parameters of its own is not part of the model's name here";
	if ((unsigned)o->method > TACT_TUNE_BANDIT)
		return "a method that this library does not know";
	if (!is_mca && (o->method == TACT_TUNE_SURROGATE || o->method == TACT_TUNE_SIMPLE))
		return "this method is for the model mca";
	if (!is_mca && (o->random_start || o->start))
		return "random and given starts of this kind are for the model mca";
	if (is_mca && o->corrupt)
		return "corrupted tables are for the models facile and sim";
	if (o->by_opcode && (!is_mca || o->method == TACT_TUNE_SURROGATE))
		return "forms share values by opcode for the model mca only, and not with the "
		       "method surrogate";
	if (o->corrupt > 100)
		return "more than 100 percent cannot be corrupted";
	if (o->what & ~all)
		return "something to learn that this library does not know";
	if ((unsigned)o->memory > TACT_MCA_ADDRESSES)
		return "something for loads to wait for that this library does not know";
	if (!(o->min_gain >= 0))
		return "a gain below 0";
	if (o->n_ranks > 1 && (!o->sum || o->rank >= o->n_ranks))
		return "ranks without a sum, or a rank that is none of them";
	if (o->n_ranks > 1 && o->method == TACT_TUNE_SURROGATE)
		return "the surrogate is trained by one process: matrix products differ between "
		       "them";
	return NULL;
}

int tact_tuner_create(struct tact_tuner **out, const struct tact_tune_options *opt,
		      struct tact_diag *diag)
{
	struct tact_tune_options options;
	struct tact_tune_network network;
	const struct tact_model *model;
	struct tact_tuner *t;
	const char *fault;
	int status;

	if (out)
		*out = NULL;
	if (!out || !opt || tact_read_options(&options, sizeof(options), opt) < 0 ||
	    tact_read_options(&network, sizeof(network), options.network) < 0)
		return tact_fail(diag, TACT_E_INVAL, "options that this library does not know");
	if (!options.model)
		options.model = "mca";
	model = tact_model_find(options.model, diag);
	if (!model)
		return -TACT_E_INVAL;
	fault = fault_of(&options, model);
	if (!fault)
		fault = fault_of_network(&network);
	if (fault)
		return tact_fail(diag, TACT_E_INVAL, "%s", fault);
	if (options.method == TACT_TUNE_SIMPLE)
		options.what = TACT_TUNE_LATENCY | TACT_TUNE_UOPS;
	set_defaults(&options, &network);
	t = calloc(1, sizeof(*t));
	if (!t)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	t->opt = options;
	t->opt.network = NULL; /* it belongs to the caller */
	t->network = network;
	t->block = (struct tact_block_options){
		.size = sizeof(t->block), .mode = options.mode, .init = options.init};
	t->is_mca = model->traits & TACT_MODEL_PARAMS;
	t->has_slopes = model->traits & TACT_MODEL_BOUNDS;
	t->n_workers = options.threads;
	t->surrogate_error = NAN;
	status = tact_block_create(&t->decoder, options.arch, &t->block, diag);
	return HAND_OVER(out, t, status, free);
}

static void free_worker(struct tune_worker *w)
{
	tact_mca_destroy(w->machine);
	tact_model_close(w->estimator);
	tact_model_close(w->bound);
	tact_block_destroy(w->block);
	tune_table_fini(&w->table);
	FREE_ALL(w->errors, w->trial);
}

void tact_tuner_destroy(struct tact_tuner *t)
{
	if (!t)
		return;
	for (unsigned i = 0; t->workers && i < t->n_workers; i++)
		free_worker(&t->workers[i]);
	for (size_t i = 0; t->codes && i < t->rows.n; i++)
		tact_mca_code_destroy(t->codes[i]);
	FREE_ALL(t->workers, t->codes);
	tune_rows_fini(&t->rows);
	tact_block_destroy(t->decoder);
	tune_table_fini(&t->defaults);
	tune_table_fini(&t->start);
	FREE_ALL(t->canon, t->tied);
	FREE_ALL(t->params, t->sites, t->site_of, t->site_rows, t->predicted, t->error,
		 t->by_default, t->by_start, t->changes, t);
}

int tact_tuner_add(struct tact_tuner *t, const uint8_t *code, size_t size, double cycles,
		   const char *group, struct tact_diag *diag)
{
	int status;

	if (!t || !code || t->has_run)
		return tact_fail(diag, TACT_E_INVAL, "no code, or the run is over");
	if (!(cycles > 0) || !isfinite(cycles))
		return tact_fail(diag, TACT_E_INVAL, "the measured cycles are not positive");
	status = tact_block_load(t->decoder, code, size, diag);
	if (status < 0)
		return status;
	status = tune_rows_add(&t->rows, code, size, cycles, group);
	return status < 0 ? tact_fail(diag, (enum tact_error) - status, "%s", tact_strerror(status))
			  : status;
}

/* Checks whether there is anything to learn. */
static int check_rows(struct tact_tuner *t, struct tact_diag *diag)
{
	const struct tune_rows *r = &t->rows;
	size_t different = 0;

	if (r->n < MIN_ROWS)
		return tact_fail(diag, TACT_E_INVAL,
				 "%zu measured blocks; at least %d are needed, so that some are "
				 "left for validation and test",
				 r->n, MIN_ROWS);
	for (size_t i = 1; i < r->n; i++)
		different += r->rows[i].cycles != r->rows[0].cycles;
	if (!different)
		return tact_fail(diag, TACT_E_INVAL,
				 "all %zu blocks take %g cycles: nothing can be learned from that",
				 r->n, r->rows[0].cycles);
	return 0;
}

int tune_with_table(struct tact_tuner *t, const struct tune_table *table,
		    int (*fn)(struct tact_tuner *t, void *context), void *context)
{
	struct tune_table present[MAX_THREADS];
	int status = 0;
	unsigned n = 0;

	/* Machines and blocks borrow the table: only learning changes it, value by value, so the
	 * defaults need tables of their own.
	 */
	for (; n < t->n_workers && status >= 0; n++) {
		struct tune_worker *w = &t->workers[n];
		struct tact_mca_options options = {.size = sizeof(options)};

		present[n] = w->table;
		w->table = (struct tune_table){0};
		status = tune_table_copy(&w->table, table);
		if (status >= 0 && w->machine) {
			tact_mca_destroy(w->machine);
			w->machine = NULL;
			options.params = w->table.mca;
			status = tact_mca_create(&w->machine, &options, NULL);
		} else if (status >= 0) {
			status = tact_block_rebind(w->block, w->table.arch, NULL);
		}
	}
	if (status >= 0)
		status = fn(t, context);
	for (unsigned i = 0; i < n; i++) {
		struct tune_worker *w = &t->workers[i];
		struct tact_mca_options options = {.size = sizeof(options)};
		struct tune_table copy = w->table;

		w->table = present[i];
		options.params = w->table.mca;
		if (w->table.mca) {
			tact_mca_destroy(w->machine);
			w->machine = NULL;
			if (tact_mca_create(&w->machine, &options, NULL) < 0)
				status = -TACT_E_NOMEM;
		} else if (tact_block_rebind(w->block, w->table.arch, NULL) < 0) {
			status = -TACT_E_NOMEM;
		}
		tune_table_fini(&copy);
	}
	return status;
}

static int predict_all(struct tact_tuner *t, void *out)
{
	int status = tune_evaluate(t);

	if (status >= 0)
		memcpy(out, t->predicted, t->rows.n * sizeof(*t->predicted));
	return status;
}

/* Chooses what loads wait for: as requested, or what leaves the least error in the training rows.
 */
static int choose_memory(struct tact_tuner *t)
{
	enum tact_mca_memory best = t->opt.memory;
	double least = INFINITY;
	int status = 0;

	for (unsigned m = 0; m <= TACT_MCA_ADDRESSES && t->opt.learn_memory && status >= 0; m++) {
		status = tune_codes_make(t, (enum tact_mca_memory)m);
		if (status >= 0)
			status = tune_evaluate_parts(t, 1u << TACT_TUNE_TRAIN);
		if (status >= 0 && tune_error_of(t, TACT_TUNE_TRAIN) < least) {
			least = tune_error_of(t, TACT_TUNE_TRAIN);
			best = (enum tact_mca_memory)m;
		}
	}
	if (status >= 0)
		status = tune_codes_make(t, best);
	for (unsigned i = 0; i < t->n_workers && best != TACT_MCA_NO_ALIAS; i++)
		tact_mca_params_set_memory(t->workers[i].table.mca, best);
	t->opt.memory = best;
	return status;
}

static int prepare(struct tact_tuner *t, struct tact_diag *diag)
{
	int status = check_rows(t, diag);

	if (status < 0)
		return status;
	t->predicted = calloc(t->rows.n, sizeof(*t->predicted));
	t->error = calloc(t->rows.n, sizeof(*t->error));
	t->by_default = calloc(t->rows.n, sizeof(*t->by_default));
	t->by_start = calloc(t->rows.n, sizeof(*t->by_start));
	if (!t->predicted || !t->error || !t->by_default || !t->by_start ||
	    tune_rows_split(&t->rows, t->opt.seed) < 0)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = tune_space_create(t, diag);
	if (status < 0)
		return status;
	if (!t->n_params)
		return tact_fail(diag, TACT_E_INVAL,
				 "no instruction of the blocks has a parameter to learn");
	status = tune_with_table(t, &t->defaults, predict_all, t->by_default);
	if (status >= 0 && t->codes)
		status = choose_memory(t);
	if (status >= 0)
		status = tune_evaluate(t);
	if (status < 0)
		return tact_fail(diag, (enum tact_error) - status, "%s", tact_strerror(status));
	memcpy(t->by_start, t->predicted, t->rows.n * sizeof(*t->by_start));
	t->evaluations = 0;
	return 0;
}

int tact_tuner_run(struct tact_tuner *t, struct tact_diag *diag)
{
	static int (*const methods[])(struct tact_tuner *, struct tact_diag *) = {
		[TACT_TUNE_DIRECT] = tune_direct, [TACT_TUNE_SURROGATE] = tune_surrogate,
		[TACT_TUNE_SIMPLE] = tune_simple, [TACT_TUNE_RANDOM] = tune_random_search,
		[TACT_TUNE_BANDIT] = tune_bandit,
	};
	int status;

	if (!t || t->has_run)
		return tact_fail(diag, TACT_E_INVAL, "a tuner runs once");
	t->has_run = true;
	t->start_seconds = tune_seconds();
	status = tune_check_ranks(t, diag);
	if (status >= 0)
		status = prepare(t, diag);
	if (status >= 0)
		status = methods[t->opt.method](t, diag);
	if (status < 0)
		return status;
	status = tune_evaluate(t);
	if (status >= 0)
		status = tune_changes_find(t);
	if (status >= 0)
		status = tune_evaluate(t);
	return status < 0 ? tact_fail(diag, (enum tact_error) - status, "%s", tact_strerror(status))
			  : 0;
}

int tact_tuner_save(const struct tact_tuner *t, const char *path, const char *comment,
		    struct tact_diag *diag)
{
	if (!t || !path || !t->workers)
		return tact_fail(diag, TACT_E_INVAL, "nothing was learned");
	if (t->is_mca)
		return tact_mca_params_save(t->workers[0].table.mca, path, comment, diag);
	return tact_arch_save(t->workers[0].table.arch, path, comment, diag);
}

int tune_note_opcodes(const struct tact_tuner *t, struct mca_export *e)
{
	const struct tact_block *b = t->decoder;
	int status = 0;

	for (size_t r = 0; r < t->rows.n && status >= 0; r++) {
		const struct tune_row *row = &t->rows.rows[r];
		const uint8_t *code = t->rows.code + row->code;

		if (row->part != TACT_TUNE_TRAIN)
			continue;
		status = tact_block_load(t->decoder, code, row->size, NULL);
		for (size_t i = 0; i < b->n_insns && status >= 0; i++) {
			const struct tact_insn *insn = b->insns[i].insn;

			status = mca_export_note(e, insn->form, code, insn->length);
			code += insn->length;
		}
	}
	return status;
}

int tact_tuner_export_llvm(const struct tact_tuner *t, const char *path, const char *comment,
			   struct tact_tune_export *out, struct tact_diag *diag)
{
	struct tact_tune_export all = TACT_TUNE_EXPORT_INIT;
	struct mca_export_summary s = {0};
	struct mca_export *e;
	int status;

	if (!t || !path || !t->workers || (out && !tact_can_fill(out)))
		return tact_fail(diag, TACT_E_INVAL, "nothing was learned");
	if (!t->is_mca)
		return tact_fail(diag, TACT_E_INVAL,
				 "only parameters of the model mca are those of LLVM's machine");
	status = mca_export_create(&e, t->workers[0].table.mca, diag);
	if (status < 0)
		return status;
	status = tune_note_opcodes(t, e);
	if (status < 0)
		tact_fail(diag, (enum tact_error) - status, "%s", tact_strerror(status));
	else
		status = mca_export_write(e, path, comment, &s, diag);
	mca_export_destroy(e);
	all.n_opcodes = s.n_opcodes;
	all.n_learned = s.n_noted;
	all.n_shared = s.n_shared;
	return status < 0 || !out ? status : tact_fill(out, &all, sizeof(all));
}

/* ---- what came out ---- */

static double mean_error(const struct tact_tuner *t, const double *predicted, unsigned part)
{
	double sum = 0;

	for (size_t r = 0; r < t->rows.n; r++)
		if (t->rows.rows[r].part == part)
			sum += tune_relative(predicted[r], t->rows.rows[r].cycles);
	return t->rows.n_part[part] ? sum / (double)t->rows.n_part[part] : NAN;
}

int tact_tuner_get_summary(const struct tact_tuner *t, struct tact_tune_summary *out)
{
	struct tact_tune_summary s = {.size = sizeof(s)};

	if (!t || !t->has_run || !t->by_start)
		return -TACT_E_INVAL;
	for (unsigned part = 0; part < TACT_TUNE_N_PARTS; part++) {
		s.n[part] = t->rows.n_part[part];
		s.defaults[part] = mean_error(t, t->by_default, part);
		s.start[part] = mean_error(t, t->by_start, part);
		s.learned[part] = mean_error(t, t->predicted, part);
	}
	s.n_parameters = t->n_params;
	s.n_changed = t->n_changes;
	s.n_forms = t->n_sites;
	s.evaluations = t->evaluations;
	s.surrogate = t->surrogate_error;
	s.unit = t->unit ? t->unit : 1;
	return tact_fill(out, &s, sizeof(s));
}

int tact_tuner_get_row(const struct tact_tuner *t, size_t i, struct tact_tune_row *out)
{
	struct tact_tune_row filled;
	const struct tune_row *row;

	if (!t || i >= t->rows.n)
		return -TACT_E_INVAL;
	row = &t->rows.rows[i];
	filled = (struct tact_tune_row){
		.size = sizeof(filled),
		.code = t->rows.code + row->code,
		.code_size = row->size,
		.group = t->rows.groups[row->group],
		.part = (enum tact_tune_part)row->part,
		.measured = row->cycles,
		.defaults = t->by_default ? t->by_default[i] : NAN,
		.start = t->by_start ? t->by_start[i] : NAN,
		.learned = t->predicted ? t->predicted[i] : NAN,
	};
	return tact_fill(out, &filled, sizeof(filled));
}

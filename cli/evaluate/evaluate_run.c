/* SPDX-License-Identifier: MIT
 *
 * Runs the models of tact evaluate over the rows, chunk by chunk on several threads.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <tact/model.h>
#include <tact/store.h>

#include "common/cli.h"
#include "evaluator.h"

/* Rows in a chunk: enough that changing to another CPU pays. */
enum { CHUNK = 2048 };

/* ---- threads ---- */

struct pool {
	void (*work)(void *context, unsigned thread, size_t chunk);
	void *context;
	size_t n_chunks;
	atomic_size_t next;
};

struct pool_thread {
	struct pool *pool;
	unsigned number;
	pthread_t id;
	bool is_started;
};

static void *pool_run(void *argument)
{
	struct pool_thread *t = argument;
	size_t chunk;

	while ((chunk = atomic_fetch_add(&t->pool->next, 1)) < t->pool->n_chunks)
		t->pool->work(t->pool->context, t->number, chunk);
	return NULL;
}

unsigned evaluate_threads(const struct evaluator *p, size_t n_chunks)
{
	unsigned n = p->threads ? p->threads : cli_cores();

	return n > n_chunks ? n_chunks ? (unsigned)n_chunks : 1 : n;
}

/* This thread is one of them, so that it works even if no other can be made. */
void evaluate_parallel(unsigned threads, size_t n_chunks,
		       void (*work)(void *context, unsigned thread, size_t chunk), void *context)
{
	struct pool pool = {.work = work, .context = context, .n_chunks = n_chunks};
	struct pool_thread *t = cli_alloc(threads * sizeof(*t));

	for (unsigned i = 0; i < threads; i++) {
		t[i] = (struct pool_thread){.pool = &pool, .number = i};
		if (i)
			t[i].is_started = !pthread_create(&t[i].id, NULL, pool_run, &t[i]);
	}
	pool_run(&t[0]);
	for (unsigned i = 1; i < threads; i++)
		if (t[i].is_started)
			pthread_join(t[i].id, NULL);
	free(t);
}

/* ---- a block ---- */

int evaluate_loader_init(struct evaluate_loader *l, const struct evaluator *p)
{
	*l = (struct evaluate_loader){
		.p = p, .arch = p->arch[0], .options = {.size = sizeof(l->options)}};
	return tact_block_create(&l->block, l->arch, &l->options, NULL);
}

void evaluate_loader_fini(struct evaluate_loader *l)
{
	tact_block_destroy(l->block);
}

static int bind(struct evaluate_loader *l, const struct tact_arch *arch,
		const struct tact_block_options *options)
{
	if (arch == l->arch && options->mode == l->options.mode &&
	    options->init == l->options.init && options->paper == l->options.paper)
		return 0;
	l->arch = arch;
	l->options = *options;
	return tact_block_rebind(l->block, arch, options);
}

int evaluate_load(struct evaluate_loader *l, size_t i)
{
	const struct evaluate_rows *rows = &l->p->rows;

	return evaluate_load_for(l, i, l->p->arch[rows->set[rows->row[i].set].arch]);
}

int evaluate_load_for(struct evaluate_loader *l, size_t i, const struct tact_arch *arch)
{
	const struct evaluate_rows *rows = &l->p->rows;
	const struct evaluate_row *row = &rows->row[i];
	const struct evaluate_set *set = &rows->set[row->set];
	const struct tact_block_options options = {
		.size = sizeof(options), .mode = set->mode, .init = (enum tact_init)row->init};
	int status = bind(l, arch, &options);

	return status < 0 ? status
			  : tact_block_load(l->block, evaluate_code(rows, i), row->size, NULL);
}

/* ---- models ---- */

static enum tact_outcome outcome_of(int status, const struct tact_estimate *x)
{
	switch (-status) {
	case 0:
		break;
	case TACT_E_DECODE:
	case TACT_E_INVAL:
		return TACT_OUTCOME_UNDECODABLE;
	case TACT_E_LIMIT:
		return TACT_OUTCOME_TIMEOUT;
	default:
		return TACT_OUTCOME_NO_NUMBER;
	}
	if (x->bounds.size && !x->bounds.applies)
		return TACT_OUTCOME_NOT_APPLICABLE;
	if (x->coverage < 1)
		return TACT_OUTCOME_NO_DATA;
	if (!isfinite(x->cycles_per_iteration) || x->cycles_per_iteration < 0)
		return TACT_OUTCOME_NO_NUMBER;
	return TACT_OUTCOME_GOOD;
}

static void take(void *evaluator, size_t m, size_t row, int status, const struct tact_estimate *x)
{
	struct evaluate_model *model = &((struct evaluator *)evaluator)->models[m];

	model->outcomes[row] = (uint8_t)outcome_of(status, x);
	if (model->outcomes[row] == TACT_OUTCOME_GOOD)
		model->predicted[row] = x->cycles_per_iteration;
}

static void say(void *arg, const char *text)
{
	(void)arg;
	cli_message("%s", text);
}

/* The rows as models want them, and the inputs that are stores.  Owned by the caller. */
static struct tact_model_row *make_rows(const struct evaluator *p, const char **stores,
					size_t *n_stores)
{
	struct tact_model_row *rows = cli_alloc(p->rows.n * sizeof(*rows));
	uint32_t *store_of = cli_alloc((p->n_inputs + 1) * sizeof(*store_of));

	*n_stores = 0;
	for (size_t i = 0; i < p->n_inputs; i++) {
		store_of[i] = 0;
		if (tact_store_is_store(p->inputs[i].path)) {
			stores[(*n_stores)++] = p->inputs[i].path;
			store_of[i] = (uint32_t)*n_stores;
		}
	}
	for (size_t i = 0; i < p->rows.n; i++) {
		const struct evaluate_row *row = &p->rows.row[i];
		const struct evaluate_set *set = &p->rows.set[row->set];

		rows[i] = (struct tact_model_row){.code = evaluate_code(&p->rows, i),
						  .code_size = row->size,
						  .arch = p->arch[set->arch],
						  .mode = set->mode,
						  .init = (enum tact_init)row->init,
						  .store = store_of[row->input],
						  .block = row->block};
	}
	free(store_of);
	return rows;
}

static int run_models(struct evaluator *p)
{
	const char **names = cli_alloc((p->n_models + 1) * sizeof(*names));
	const char **stores = cli_alloc((p->n_inputs + 1) * sizeof(*stores));
	struct tact_model_options options = {.size = sizeof(options),
					     .threads = p->threads,
					     .timeout = p->timeout,
					     .stores = stores,
					     .say = say};
	struct tact_model_row *rows = make_rows(p, stores, &options.n_stores);
	struct tact_diag diag = {0};
	int status;

	for (size_t m = 0; m < p->n_models; m++)
		names[m] = p->models[m].model;
	status = tact_model_run(names, p->n_models, rows, p->rows.n, &options, take, p, &diag);
	free(rows);
	free(stores);
	free(names);
	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (diag.text[0]) {
		cli_message("%s", diag.text);
		return CLI_USAGE;
	}
	return status == -TACT_E_NO_TOOL ? CLI_UNABLE : status < 0 ? CLI_FAILED : CLI_GOOD;
}

/* ---- bottlenecks ---- */

struct job {
	struct evaluator *p;
	struct evaluate_loader *loaders; /* one a thread */
	double *gains; /* [chunk][CPU][bound][2]: sums of logarithms and of weights */
};

/* The largest of the other bounds: what is left if b were no limit. */
static double without(const struct tact_prediction *x, unsigned b)
{
	double most = 0;

	for (unsigned k = 0; k < TACT_N_BOUNDS; k++)
		if (k != b && x->applies >> k & 1 && x->bound[k] > most)
			most = x->bound[k];
	return most;
}

/* What limits the rows from begin to end on one CPU.  gains: sums as in struct job. */
static void look_at_bottlenecks(struct job *job, struct evaluate_loader *l, size_t a, size_t begin,
				size_t end, double *gains)
{
	const struct evaluator *p = job->p;
	struct evaluate_bottlenecks *at = &p->bottlenecks[a];

	for (size_t row = begin; row < end; row++) {
		double weight = p->is_weighted ? p->rows.weight[row] : 1;
		struct tact_prediction x;

		if (evaluate_load_for(l, row, at->arch) < 0 ||
		    tact_predict(l->block, NULL, &x) < 0 || x.coverage < 1 || !x.bottlenecks)
			continue;
		at->kind[row] = (uint8_t)__builtin_ctz(x.bottlenecks);
		for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
			double rest = without(&x, b);

			if (rest > 0) {
				gains[2 * b] += weight * log(x.cycles_per_iteration / rest);
				gains[2 * b + 1] += weight;
			}
		}
	}
}

/* CPU by CPU: a block forgets what it knows of instructions when it changes to another one. */
static void work(void *context, unsigned thread, size_t chunk)
{
	struct job *job = context;
	struct evaluator *p = job->p;
	struct evaluate_loader *l = &job->loaders[thread];
	size_t begin = chunk * CHUNK, end = begin + CHUNK < p->rows.n ? begin + CHUNK : p->rows.n;

	if (!l->block && evaluate_loader_init(l, p) < 0)
		cli_out_of_memory();
	for (size_t a = 0; a < p->n_bottlenecks; a++)
		look_at_bottlenecks(job, l, a, begin, end,
				    job->gains +
					    (chunk * p->n_bottlenecks + a) * TACT_N_BOUNDS * 2);
}

/* In the order of the chunks, so that the sum does not depend on the threads. */
static void sum_gains(struct evaluator *p, const double *gains, size_t n_chunks)
{
	for (size_t c = 0; c < n_chunks; c++) {
		for (size_t a = 0; a < p->n_bottlenecks; a++) {
			for (unsigned b = 0; b < TACT_N_BOUNDS; b++, gains += 2) {
				p->bottlenecks[a].gain[b] += gains[0];
				p->bottlenecks[a].weight[b] += gains[1];
			}
		}
	}
}

static void find_bottlenecks(struct evaluator *p)
{
	size_t n_chunks = (p->rows.n + CHUNK - 1) / CHUNK;
	size_t n_gains = n_chunks * p->n_bottlenecks * TACT_N_BOUNDS * 2;
	unsigned threads = evaluate_threads(p, n_chunks);
	struct job job = {.p = p};

	for (size_t a = 0; a < p->n_bottlenecks; a++) {
		p->bottlenecks[a].kind = cli_alloc(p->rows.n);
		memset(p->bottlenecks[a].kind, TACT_N_BOUNDS, p->rows.n);
	}
	job.loaders = cli_alloc(threads * sizeof(*job.loaders));
	memset(job.loaders, 0, threads * sizeof(*job.loaders));
	job.gains = cli_alloc(n_gains * sizeof(*job.gains));
	memset(job.gains, 0, n_gains * sizeof(*job.gains));
	evaluate_parallel(threads, n_chunks, work, &job);
	sum_gains(p, job.gains, n_chunks);
	for (unsigned i = 0; i < threads; i++)
		evaluate_loader_fini(&job.loaders[i]);
	free(job.loaders);
	free(job.gains);
}

int evaluate_run(struct evaluator *p)
{
	for (size_t m = 0; m < p->n_models; m++) {
		struct evaluate_model *model = &p->models[m];

		model->predicted = cli_alloc(p->rows.n * sizeof(*model->predicted));
		memset(model->predicted, 0, p->rows.n * sizeof(*model->predicted));
		model->outcomes = cli_alloc(p->rows.n);
		memset(model->outcomes, TACT_OUTCOME_NO_NUMBER, p->rows.n);
	}
	if (p->n_bottlenecks)
		find_bottlenecks(p);
	return run_models(p);
}

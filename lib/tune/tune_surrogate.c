/* SPDX-License-Identifier: MIT
 *
 * The method `surrogate` (DiffTune, sections III to V): simulate blocks under random parameters,
 * train a network to imitate the machine, freeze it, train the parameters through it on the
 * measurements, round them, and put them back.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "tune/surrogate.h"

enum {
	SAVE_SECONDS = 20, /* between checkpoints */
	CHECK_SHARE = 50   /* one in this many simulated blocks is not trained on, but checked */
};

/* ---- steps ---- */

static uint64_t epoch_seed(const struct surrogate *s)
{
	return s->t->opt.seed ^ (uint64_t)s->state.phase << 60 ^ (uint64_t)s->state.round << 48 ^
	       (uint64_t)s->state.epoch << 32 ^ 0x5eed;
}

/* Makes the table as the network sees it in a step: whole numbers, as in its training; the gradient
 * passes through.  Rounding is random at first, so that values in between count in proportion, and
 * to the nearest in the end, as in the extraction.
 */
static void round_table(struct surrogate *s, double share)
{
	uint64_t rng = epoch_seed(s) + s->state.batch;

	random_next(&rng);
	for (size_t i = 0; i < s->t->n_params; i++) {
		double noise = (random_unit(&rng) - 0.5) * (1 - share);

		if (s->state.round)
			noise /= 2; /* it is near the answer already */

		s->rounded[i] = floorf(fabsf(s->table[i]) + 0.5f + (float)noise);
	}
}

/* Values that the samples do not have are avoided: the network knows nothing about them. */
static void keep_within(struct surrogate *s)
{
	for (size_t i = 0; i < s->t->n_params; i++) {
		const struct tune_param *p = &s->t->params[i];
		int low, high;

		surrogate_reach(s, i, &low, &high);
		low -= p->low;
		high -= p->low;
		if (fabsf(s->table[i]) > (float)high)
			s->table[i] = (float)(s->table[i] < 0 ? -high : high);
		if (fabsf(s->table[i]) < (float)low)
			s->table[i] = (float)low;
	}
}

static void adam_step(struct adam *a, float *x, const float *g, double rate)
{
	const float b1 = 0.9f, b2 = 0.999f;
	float c1, c2;

	a->steps++;
	c1 = (float)(rate / (1 - pow(0.9, (double)a->steps)));
	c2 = (float)(1 / (1 - pow(0.999, (double)a->steps)));
	for (size_t i = 0; i < a->n; i++) {
		a->m[i] = b1 * a->m[i] + (1 - b1) * g[i];
		a->v[i] = b2 * a->v[i] + (1 - b2) * g[i] * g[i];
		x[i] -= c1 * a->m[i] / (sqrtf(a->v[i] * c2) + 1e-8f);
	}
}

/* Adds up the shards' gradients, in the first one's. */
static double add_shards(struct surrogate *s, bool is_table)
{
	size_t n = is_table ? s->t->n_params : s->net.n_weights;
	double loss = s->shards[0].loss;

	for (size_t k = 1; k < SURROGATE_SHARDS; k++) {
		float *to = is_table ? s->shards[0].table_gradient : s->shards[0].gradient;
		const float *from = is_table ? s->shards[k].table_gradient : s->shards[k].gradient;

		loss += s->shards[k].loss;
		for (size_t i = 0; i < n; i++)
			to[i] += from[i];
	}
	return loss;
}

static void shuffle(uint32_t *list, size_t n, uint64_t seed)
{
	uint64_t rng = seed;

	random_next(&rng);
	for (size_t i = n; i > 1; i--) {
		size_t k = random_next(&rng) % i;
		uint32_t swap = list[i - 1];

		list[i - 1] = list[k];
		list[k] = swap;
	}
}

/* Returns the share of the whole run that is done; a batch of the network costs about three of the
 * table.
 */
static double share_done(const struct surrogate *s, size_t n_batches)
{
	const struct tact_tune_network *n = &s->t->network;
	double network = 3.0 * n->samples * n->epochs, table = n->table_epochs;
	double part = s->state.epoch + (double)s->state.batch / (double)n_batches, done;

	done = s->state.phase == PHASE_NETWORK ? network * part / n->epochs
					       : network + table * part / n->table_epochs;
	return (s->state.round + done / (network + table)) / n->rounds;
}

static int report(struct surrogate *s, size_t n_batches, double loss)
{
	bool is_network = s->state.phase == PHASE_NETWORK;
	double share = share_done(s, n_batches);
	double used = s->seconds_before + tune_seconds() - s->t->start_seconds;

	return tune_report(s->t, is_network ? "surrogate" : "table", s->state.epoch + 1,
			   is_network ? s->t->network.epochs : s->t->network.table_epochs,
			   (double)s->state.batch / (double)n_batches, loss,
			   is_network ? s->state.network_error : s->state.best,
			   share > 0.001 ? used / share - used : NAN);
}

static int save_now_and_then(struct surrogate *s, bool always, struct tact_diag *diag)
{
	double now = tune_seconds();

	if (!s->t->opt.checkpoint || (!always && now - s->last_saved < SAVE_SECONDS))
		return 0;
	s->last_saved = now;
	return surrogate_save(s, s->t->opt.checkpoint, diag);
}

/* Steps shrink towards the end of a phase, to a twentieth. */
static double decayed(double rate, double share)
{
	return rate * (0.05 + 0.95 * 0.5 * (1 + cos(3.14159265358979 * share)));
}

/* Makes one pass over a list in batches, from state.batch on. */
static int run_epoch(struct surrogate *s, uint32_t *list, size_t n, struct tact_diag *diag)
{
	const struct tact_tune_network *o = &s->t->network;
	bool is_network = s->state.phase == PHASE_NETWORK;
	size_t n_batches = (n + o->batch - 1) / o->batch;
	unsigned epochs = is_network ? o->epochs : o->table_epochs;
	int status = 0;

	shuffle(list, n, epoch_seed(s));
	for (; s->state.batch < n_batches && status >= 0; s->state.batch++) {
		size_t first = (size_t)s->state.batch * o->batch;
		struct surrogate_batch b = {s, list + first,
					    n - first < o->batch ? n - first : o->batch, false};
		double share =
			(s->state.epoch + (double)s->state.batch / (double)n_batches) / epochs;

		status = save_now_and_then(s, false, diag);
		if (!is_network)
			round_table(s, share);
		if (status >= 0)
			status = tune_parallel(
				s->t, SURROGATE_SHARDS,
				is_network ? surrogate_network_shard : surrogate_table_shard, &b);
		if (status < 0)
			break;
		s->state.loss += add_shards(s, !is_network);
		if (is_network)
			adam_step(&s->network_adam, s->weights, s->shards[0].gradient,
				  decayed(o->rate, share));
		else
			adam_step(&s->table_adam, s->table, s->shards[0].table_gradient,
				  decayed(o->table_rate, share));
		if (!is_network)
			keep_within(s);
		status = report(s, n_batches, s->state.loss / (double)(first + b.n));
	}
	return status;
}

/* ---- phases ---- */

static int check_network(struct surrogate *s, const uint32_t *list, size_t n)
{
	double sum = 0;

	for (size_t first = 0; first < n; first += s->t->network.batch) {
		size_t left = n - first;
		struct surrogate_batch b = {s, list + first,
					    left < s->t->network.batch ? left : s->t->network.batch,
					    true};
		int status = tune_parallel(s->t, SURROGATE_SHARDS, surrogate_network_shard, &b);

		if (status < 0)
			return status;
		for (size_t k = 0; k < SURROGATE_SHARDS; k++)
			sum += s->shards[k].loss;
	}
	s->state.network_error = n ? sum / (double)n : NAN;
	return 0;
}

static int train_network(struct surrogate *s, struct tact_diag *diag)
{
	size_t n_check = s->n_samples / CHECK_SHARE, n = s->n_samples - n_check;
	uint32_t *list = calloc(s->n_samples, sizeof(*list));
	int status = list ? 0 : -TACT_E_NOMEM;

	for (; s->state.epoch < s->t->network.epochs && status >= 0; s->state.epoch++) {
		for (size_t i = 0; i < s->n_samples; i++)
			list[i] = (uint32_t)i;
		/* The same ones are left out in every epoch. */
		shuffle(list, s->n_samples, s->t->opt.seed ^ s->state.round);
		status = run_epoch(s, list, n, diag);
		if (status >= 0)
			status = check_network(s, list + n, n_check);
		if (status < 0)
			break;
		s->state.batch = 0;
		s->state.loss = 0;
	}
	free(list);
	return status;
}

/* Turns the table into parameters: absolute values, above the lower bound, whole numbers. */
static void extract(struct surrogate *s)
{
	for (size_t i = 0; i < s->t->n_params; i++) {
		const struct tune_param *p = &s->t->params[i];
		const float above = fabsf(s->table[i]);

		/* What is no number at all is not below the bound, either. */
		s->values[i] =
			above < (float)(p->high - p->low) ? p->low + (int)lroundf(above) : p->high;
	}
}

/* Evaluates the table with the machine itself, on the validation rows. */
static int validate(struct surrogate *s)
{
	int status;

	extract(s);
	tune_values_set(s->t, s->values);
	status = tune_evaluate_parts(s->t, 1u << TACT_TUNE_VALIDATION);
	if (status < 0)
		return status;
	if (tune_error_of(s->t, TACT_TUNE_VALIDATION) < s->state.best) {
		s->state.best = tune_error_of(s->t, TACT_TUNE_VALIDATION);
		memcpy(s->best_values, s->values, s->t->n_params * sizeof(*s->values));
	}
	return 0;
}

static int train_table(struct surrogate *s, struct tact_diag *diag)
{
	uint32_t *list = calloc(s->n_train, sizeof(*list));
	int status = -TACT_E_NOMEM;

	free(s->vectors);
	s->vectors = calloc(s->n_types, s->net.shape.hidden * sizeof(*s->vectors));
	matrices_one_thread(&s->net.matrices);
	if (list && s->vectors)
		status = net_vectors(&s->net, s->weights, s->types, s->n_types, s->shards[0].work,
				     s->vectors);
	if (status >= 0 && !s->state.epoch && !s->state.batch)
		status = validate(s); /* the start counts as well */
	for (; s->state.epoch < s->t->network.table_epochs && status >= 0; s->state.epoch++) {
		memcpy(list, s->train, s->n_train * sizeof(*list));
		status = run_epoch(s, list, s->n_train, diag);
		if (status >= 0)
			status = validate(s);
		if (status >= 0)
			status = report(s, s->state.batch ? s->state.batch : 1,
					s->state.loss / (double)s->n_train);
		if (status < 0)
			break;
		s->state.batch = 0;
		s->state.loss = 0;
	}
	free(list);
	return status;
}

static void next_phase(struct surrogate *s)
{
	s->state.epoch = s->state.batch = 0;
	s->state.loss = 0;
	if (s->state.phase == PHASE_NETWORK) {
		s->state.phase = PHASE_TABLE;
		return;
	}
	/* Begins another round: from the best so far, with a fresh memory of slopes. */
	memcpy(s->centre, s->best_values, s->t->n_params * sizeof(*s->centre));
	for (size_t i = 0; i < s->t->n_params; i++)
		s->table[i] = (float)(s->best_values[i] - s->t->params[i].low);
	memset(s->table_adam.m, 0, s->table_adam.n * sizeof(float));
	memset(s->table_adam.v, 0, s->table_adam.n * sizeof(float));
	s->table_adam.steps = 0;
	s->state.phase = ++s->state.round < s->t->network.rounds ? PHASE_NETWORK : PHASE_DONE;
}

static int run(struct surrogate *s, struct tact_diag *diag)
{
	int status = 0;

	while (s->state.phase != PHASE_DONE && status >= 0) {
		if (s->state.phase == PHASE_NETWORK) {
			status = surrogate_simulate(s);
			if (status >= 0)
				status = train_network(s, diag);
		} else {
			status = train_table(s, diag);
		}
		if (status < 0)
			break;
		next_phase(s);
		status = save_now_and_then(s, true, diag);
	}
	return status;
}

/* ---- set up ---- */

/* Finds the learned parameter of an input; -1: there is none. */
static int32_t find_param(const struct tact_tuner *t, size_t first, size_t n, unsigned k)
{
	struct surrogate_input in = surrogate_input(k);

	for (size_t i = first; i < first + n; i++)
		if (t->params[i].kind == in.kind && t->params[i].index == in.index)
			return (int32_t)i;
	return -1;
}

/* By site and input; the machine's follow the last site. */
static int index_params(struct surrogate *s)
{
	const struct tact_tuner *t = s->t;

	s->param_at = calloc((t->n_sites + 1) * SURROGATE_INPUTS, sizeof(*s->param_at));
	if (!s->param_at)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i <= t->n_sites; i++) {
		for (unsigned k = 0; k < SURROGATE_INPUTS; k++) {
			bool is_global = k >= SURROGATE_FORM_INPUTS;
			int32_t *to = &s->param_at[i * SURROGATE_INPUTS + k];

			if (is_global)
				*to = find_param(t, 0, t->n_globals, k);
			else if (i < t->n_sites)
				*to = find_param(t, t->sites[i].first_param, t->sites[i].n_params,
						 k);
			else
				*to = -1;
		}
	}
	return 0;
}

static int make_graphs(struct surrogate *s)
{
	s->graphs = calloc(s->t->rows.n, sizeof(struct bound_graph *));
	if (!s->graphs)
		return -TACT_E_NOMEM;
	for (size_t r = 0; r < s->t->rows.n; r++)
		if (surrogate_graph_create(&s->graphs[r], s->t->codes[r]) < 0)
			return -TACT_E_NOMEM;
	/* Near the bound, instead of near a typical block. */
	s->weights[s->net.out + s->net.shape.hidden] = 0;
	return 0;
}

static uint64_t fingerprint(const struct surrogate *s)
{
	const struct tact_tune_network *w = &s->t->network;
	const struct tact_tune_options *o = &s->t->opt;
	uint64_t parts[] = {hash_bytes(s->t->rows.code, s->t->rows.code_size),
			    hash_bytes(tact_arch_name(o->arch), strlen(tact_arch_name(o->arch))),
			    o->seed,
			    o->what,
			    o->memory,
			    o->random_start,
			    w->embedding,
			    w->hidden,
			    w->layers,
			    w->batch,
			    w->samples,
			    w->epochs,
			    w->table_epochs,
			    w->rounds,
			    w->no_bounds,
			    (uint64_t)(w->rate * 1e9),
			    (uint64_t)(w->table_rate * 1e9),
			    0,
			    0};
	size_t n = ARRAY_SIZE(parts);

	for (size_t i = 0; i < s->t->rows.n; i++)
		parts[n - 2] = parts[n - 2] * 31 + (uint64_t)(s->t->rows.rows[i].cycles * 1e6);
	for (size_t i = 0; i < s->t->n_params; i++)
		parts[n - 1] =
			parts[n - 1] * 31 + (uint64_t)tune_value(&s->t->start, &s->t->params[i]);
	return hash_bytes(parts, sizeof(parts));
}

static int adam_init(struct adam *a, size_t n)
{
	a->n = n;
	a->m = calloc(n, sizeof(*a->m));
	a->v = calloc(n, sizeof(*a->v));
	return a->m && a->v ? 0 : -TACT_E_NOMEM;
}

static int create(struct surrogate *s, struct tact_diag *diag)
{
	const struct tact_tune_network *o = &s->t->network;
	struct matrices matrices;
	size_t n = s->t->n_params;
	int status = matrices_load(&matrices, diag);

	if (status >= 0)
		status = surrogate_tokens(s);
	if (status < 0)
		return status;
	net_init(&s->net,
		 &(struct net_shape){s->vocabulary, o->embedding, o->hidden, o->layers,
				     SURROGATE_INPUTS},
		 &matrices);
	s->weights = calloc(s->net.n_weights, sizeof(*s->weights));
	s->table = calloc(n, sizeof(*s->table));
	s->rounded = calloc(n, sizeof(*s->rounded));
	s->values = calloc(n, sizeof(*s->values));
	s->best_values = calloc(n, sizeof(*s->best_values));
	s->centre = calloc(n, sizeof(*s->centre));
	if (!s->weights || !s->table || !s->rounded || !s->values || !s->best_values ||
	    !s->centre || adam_init(&s->network_adam, s->net.n_weights) < 0 ||
	    adam_init(&s->table_adam, n) < 0 || surrogate_shards_create(s) < 0)
		return -TACT_E_NOMEM;
	net_randomise(&s->net, s->weights, s->t->opt.seed ^ 0x4e7);
	for (size_t i = 0; i < n; i++) {
		s->best_values[i] = tune_value(&s->t->workers[0].table, &s->t->params[i]);
		s->table[i] = (float)(s->best_values[i] - s->t->params[i].low);
	}
	if (index_params(s) < 0 || (!o->no_bounds && make_graphs(s) < 0))
		return -TACT_E_NOMEM;
	s->state = (struct surrogate_state){.best = INFINITY, .network_error = NAN};
	s->fingerprint = fingerprint(s);
	return 0;
}

static void destroy(struct surrogate *s)
{
	for (size_t i = 0; s->row_types && i < s->t->rows.n; i++)
		free(s->row_types[i]);
	for (size_t i = 0; s->graphs && i < s->t->rows.n; i++)
		surrogate_graph_destroy(s->graphs[i]);
	free(s->graphs);
	surrogate_shards_destroy(s);
	FREE_ALL(s->types, s->row_types, s->row_length, s->train, s->sampled, s->sample_at,
		 s->simulated, s->weights, s->network_adam.m, s->network_adam.v, s->table_adam.m,
		 s->table_adam.v, s->table, s->rounded, s->values, s->best_values, s->centre,
		 s->param_at, s->vectors);
}

int tune_surrogate(struct tact_tuner *t, struct tact_diag *diag)
{
	struct surrogate s = {.t = t};
	struct tact_diag why = {0};
	int status = create(&s, &why);

	if (status >= 0 && t->opt.checkpoint)
		status = surrogate_load(&s, t->opt.checkpoint, &why);
	s.last_saved = tune_seconds();
	if (status >= 0)
		status = run(&s, &why);
	if (status == -TACT_E_LIMIT && t->opt.checkpoint)
		surrogate_save(&s, t->opt.checkpoint, &why);
	if (status >= 0) {
		tune_values_set(t, s.best_values);
		t->surrogate_error = s.state.network_error;
	}
	destroy(&s);
	if (status < 0)
		return tact_fail(diag, (enum tact_error) - status, "%s",
				 why.text[0] ? why.text : tact_strerror(status));
	return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * The method `surrogate` (DiffTune, sections III to V): simulate blocks under random parameters,
 * train a network to imitate the machine, freeze it, train the parameters through it on the
 * measurements, round them, and plug them back.
 *
 * A batch is split into a fixed number of shards, whose gradients are added in a fixed order, so
 * that the number of threads does not change the result.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/surrogate.h"

enum {
	N_SHARDS = 8,
	SAVE_SECONDS = 20, /* between checkpoints */
	CHECK_SHARE = 50   /* one of so many simulated blocks is not trained on, but checked */
};

struct shard {
	struct net_work *work; /* owned */
	float *gradient;       /* owned; of the weights */
	float *table_gradient; /* owned; of the parameters */
	size_t n, capacity, room, room_capacity;
	uint32_t *length;			     /* owned; by block, as the pointers */
	const uint32_t **types;			     /* owned */
	const float **inputs;			     /* owned */
	float **slopes;				     /* owned */
	float *input, *slope_of_input, *out, *slope; /* owned */
	size_t input_capacity, slope_capacity;
	uint32_t *item;			  /* owned; row or sample of each block */
	float *raw, *bound_slope, *bound; /* owned; as input, as input, by block */
	size_t raw_capacity, bound_capacity;
	struct bound_memory memory;
	double loss;
};

/* ---- inputs ---- */

struct input_kind {
	uint8_t kind, index;
	float scale; /* of the value above its lower bound */
};

static struct input_kind input_kind(unsigned k)
{
	if (k == 0)
		return (struct input_kind){TACT_MCA_MICRO_OPS, 0, 0.2f};
	if (k == 1)
		return (struct input_kind){TACT_MCA_LATENCY, 0, 0.4f};
	if (k < 2 + TACT_MCA_READS)
		return (struct input_kind){TACT_MCA_READ_ADVANCE, (uint8_t)(k - 2), 0.4f};
	if (k < SURROGATE_FORM_INPUTS)
		return (struct input_kind){TACT_MCA_PORT_CYCLES, (uint8_t)(k - 2 - TACT_MCA_READS),
					   1};
	if (k == SURROGATE_FORM_INPUTS)
		return (struct input_kind){TACT_MCA_DISPATCH_WIDTH, 0, 0.2f};
	return (struct input_kind){TACT_MCA_REORDER_BUFFER, 0, 0.01f};
}

static int above_bound(const struct tact_mca_params *params, unsigned form, unsigned k)
{
	struct input_kind in = input_kind(k);
	int value = tact_mca_info(in.kind)->low;

	tact_mca_get(params, form, in.kind, in.index, &value);
	return value - tact_mca_info(in.kind)->low;
}

/* Looks for the learned parameter behind an input; -1: there is none. */
static int32_t find_param(const struct tact_tuner *t, size_t first, size_t n, unsigned k)
{
	struct input_kind in = input_kind(k);

	for (size_t i = first; i < first + n; i++)
		if (t->params[i].kind == in.kind && t->params[i].index == in.index)
			return (int32_t)i;
	return -1;
}

/* By site and input, the machine's behind the last site. */
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

/* Numbers of the learned parameters behind the inputs of an instruction. */
static const int32_t *params_of(const struct surrogate *s, unsigned form)
{
	const struct tact_tuner *t = s->t;
	const struct tune_site *site =
		form == TACT_FORM_NONE ? NULL : tune_site_of(t, form, ARCH_PLAIN);

	return s->param_at + (site ? (size_t)(site - t->sites) : t->n_sites) * SURROGATE_INPUTS;
}

/* ---- simulated blocks ---- */

/* Values of a parameter that samples of this round have. */
static void reach_of(const struct surrogate *s, size_t i, int *low, int *high)
{
	static const int most[TACT_MCA_N_KINDS] = {10, 5, 5, 2, 10, 250};
	const struct tune_param *p = &s->t->params[i];
	int reach = p->kind == TACT_MCA_REORDER_BUFFER ? 30
		    : p->kind == TACT_MCA_PORT_CYCLES  ? 1
						       : 2;

	*low = p->low;
	*high = most[p->kind];
	if (p->kind == TACT_MCA_LATENCY && s->t->opt.what == TACT_TUNE_LATENCY)
		*high = 10;
	if (p->kind == TACT_MCA_REORDER_BUFFER)
		*low = 50;
	if (!s->state.round)
		return;
	*low = s->centre[i] - reach > p->low ? s->centre[i] - reach : p->low;
	*high = s->centre[i] + reach;
}

/* New values for the learned parameters of a form, or of the machine: from the paper's
 * distribution, or in later rounds near what was learned.
 */
static void sample_around(struct surrogate *s, struct tact_mca_params *params, size_t first,
			  size_t n, double rate, struct tune_rng *rng)
{
	for (size_t i = first; i < first + n; i++) {
		const struct tune_param *p = &s->t->params[i];
		double share = p->kind == TACT_MCA_PORT_CYCLES ? rate / 3 : rate;
		int low, high, value = s->centre[i];

		reach_of(s, i, &low, &high);
		if (tune_random_unit(rng) < share)
			value = tune_random_in(rng, low, high);
		tact_mca_set(params, p->form == TACT_FORM_NONE ? 0 : p->form, p->kind, p->index,
			     value);
	}
}

static void sample_form(struct surrogate *s, struct tact_mca_params *params, unsigned form,
			double rate, struct tune_rng *rng)
{
	const struct tune_site *site = tune_site_of(s->t, form, ARCH_PLAIN);

	if (s->state.round && site)
		sample_around(s, params, site->first_param, site->n_params, rate, rng);
	else
		tune_sample_form(params, form, s->t->opt.what, rng);
}

static void sample_globals(struct surrogate *s, struct tact_mca_params *params, double rate,
			   struct tune_rng *rng)
{
	if (s->state.round) {
		sample_around(s, params, 0, s->t->n_globals, rate, rng);
		return;
	}
	for (size_t i = 0; i < s->t->n_globals; i++)
		tact_mca_set(params, 0, s->t->params[i].kind, 0,
			     tune_sample_value(s->t->params[i].kind, rng));
}

static unsigned form_at(const struct surrogate *s, uint32_t row, size_t i)
{
	return tact_mca_code_form(s->t->codes[row], i);
}

static uint32_t row_of(const struct surrogate *s, size_t sample)
{
	return s->train[sample % s->n_train];
}

/* One block under random parameters of its forms.  Afterwards the table is as it was. */
static int simulate(struct tune_worker *w, size_t sample, void *context)
{
	struct surrogate *s = context;
	struct tact_mca_params *params = w->table.mca;
	uint32_t row = row_of(s, sample), length = s->row_length[row];
	uint8_t *to = s->sampled + s->sample_at[sample];
	struct tune_rng rng = {s->t->opt.seed ^ (sample + 1) * 0x9e3779b97f4a7c15u ^
			       (uint64_t)s->state.round << 56};
	int16_t saved[64][SURROGATE_FORM_INPUTS];
	/* In later rounds a quarter of the blocks has what was learned, the others more and more of
	 * it changed: where the table is, the network must be right.
	 */
	static const double rates[] = {0, 1.0 / 16, 1.0 / 6, 1.0 / 2};
	int width = 0, buffer = 0, status;
	double cycles = 1, rate;

	tune_random(&rng);
	rate = rates[tune_random_below(&rng, ARRAY_SIZE(rates))];
	tact_mca_get(params, 0, TACT_MCA_DISPATCH_WIDTH, 0, &width);
	tact_mca_get(params, 0, TACT_MCA_REORDER_BUFFER, 0, &buffer);
	sample_globals(s, params, rate, &rng);
	for (uint32_t i = 0; i < length; i++) {
		unsigned form = form_at(s, row, i);
		bool again = false;

		for (uint32_t k = 0; k < i && !again; k++)
			again = form_at(s, row, k) == form;
		for (unsigned k = 0; k < SURROGATE_FORM_INPUTS && i < 64; k++)
			saved[i][k] =
				form == TACT_FORM_NONE ? 0 : (int16_t)above_bound(params, form, k);
		/* Of long blocks the first forms; that leaves the others at what they are. */
		if (!again && form != TACT_FORM_NONE && i < 64)
			sample_form(s, params, form, rate, &rng);
	}
	for (uint32_t i = 0; i < length; i++) {
		for (unsigned k = 0; k < SURROGATE_INPUTS; k++) {
			unsigned form = form_at(s, row, i);
			int value = form == TACT_FORM_NONE && k < SURROGATE_FORM_INPUTS
					    ? 0
					    : above_bound(params, form, k);

			*to++ = (uint8_t)(value > 255 ? 255 : value);
		}
	}
	status = tune_predict(w, row, &cycles);
	s->simulated[sample] = (float)log(cycles);
	for (uint32_t i = length < 64 ? length : 64; i-- > 0;) {
		unsigned form = form_at(s, row, i);

		for (unsigned k = 0; k < SURROGATE_FORM_INPUTS && form != TACT_FORM_NONE; k++) {
			struct input_kind in = input_kind(k);

			tact_mca_set(params, form, in.kind, in.index,
				     saved[i][k] + tact_mca_info(in.kind)->low);
		}
	}
	tact_mca_set(params, 0, TACT_MCA_DISPATCH_WIDTH, 0, width);
	tact_mca_set(params, 0, TACT_MCA_REORDER_BUFFER, 0, buffer);
	return status;
}

static int simulate_all(struct surrogate *s)
{
	size_t at = 0;
	int status;

	s->n_samples = s->n_train * s->t->opt.network.samples;
	free(s->sampled);
	free(s->sample_at);
	free(s->simulated);
	s->sample_at = calloc(s->n_samples, sizeof(*s->sample_at));
	s->simulated = calloc(s->n_samples, sizeof(*s->simulated));
	if (!s->sample_at || !s->simulated)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < s->n_samples; i++) {
		s->sample_at[i] = at;
		at += (size_t)s->row_length[row_of(s, i)] * SURROGATE_INPUTS;
	}
	s->sampled = malloc(at ? at : 1);
	if (!s->sampled)
		return -TACT_E_NOMEM;
	if (s->state.round)
		tune_values_set(s->t, s->centre);
	status = tune_parallel(s->t, s->n_samples, simulate, s);
	s->t->evaluations += s->n_samples;
	if (status >= 0)
		status = tune_report(s->t, "simulate", s->state.round + 1, s->t->opt.network.rounds,
				     1, NAN, NAN, NAN);
	return status;
}

/* ---- shards ---- */

/* Room for the blocks of a shard, whose rows are given. */
static int fill_shard(struct surrogate *s, struct shard *h, const uint32_t *items, size_t n,
		      bool is_table)
{
	size_t rows = 0, at = 0;

	if (n > h->capacity) {
		free(h->length);
		free(h->types);
		free(h->inputs);
		free(h->slopes);
		free(h->out);
		free(h->slope);
		free(h->item);
		free(h->bound);
		h->bound = calloc(n, sizeof(*h->bound));
		h->length = calloc(n, sizeof(*h->length));
		h->types = calloc(n, sizeof(*h->types));
		h->inputs = calloc(n, sizeof(*h->inputs));
		h->slopes = calloc(n, sizeof(*h->slopes));
		h->out = calloc(n, sizeof(*h->out));
		h->slope = calloc(n, sizeof(*h->slope));
		h->item = calloc(n, sizeof(*h->item));
		h->capacity = n;
		if (!h->length || !h->types || !h->inputs || !h->slopes || !h->out || !h->slope ||
		    !h->item || !h->bound)
			return -TACT_E_NOMEM;
	}
	h->n = n;
	for (size_t i = 0; i < n; i++) {
		uint32_t row = is_table ? items[i] : row_of(s, items[i]);

		h->item[i] = items[i];
		h->length[i] = s->row_length[row];
		h->types[i] = s->row_types[row];
		rows += h->length[i];
	}
	if (tact_grow(&h->input, &h->input_capacity, rows * SURROGATE_INPUTS, sizeof(float)) < 0 ||
	    tact_grow(&h->raw, &h->raw_capacity, rows * SURROGATE_INPUTS, sizeof(float)) < 0 ||
	    tact_grow(&h->bound_slope, &h->bound_capacity, rows * SURROGATE_INPUTS, sizeof(float)) <
		    0 ||
	    tact_grow(&h->slope_of_input, &h->slope_capacity, rows * SURROGATE_INPUTS,
		      sizeof(float)) < 0)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		h->inputs[i] = h->input + at;
		h->slopes[i] = h->slope_of_input + at;
		at += (size_t)h->length[i] * SURROGATE_INPUTS;
	}
	return 0;
}

static struct net_blocks blocks_of(const struct surrogate *s, const struct shard *h)
{
	return (struct net_blocks){.n = h->n,
				   .length = h->length,
				   .types = h->types,
				   .inputs = h->inputs,
				   .all_types = s->types,
				   .n_types = s->n_types};
}

/* From raw values to what the network sees, and to the bounds. */
static int prepare_inputs(struct surrogate *s, struct shard *h, bool is_table)
{
	size_t n_rows = 0;
	int status = 0;

	for (size_t i = 0; i < h->n; i++)
		n_rows += h->length[i];
	for (size_t r = 0; r < n_rows; r++)
		for (unsigned k = 0; k < SURROGATE_INPUTS; k++)
			h->input[r * SURROGATE_INPUTS + k] =
				h->raw[r * SURROGATE_INPUTS + k] * input_kind(k).scale;
	for (size_t i = 0; i < h->n && status >= 0; i++) {
		size_t at = (size_t)(h->inputs[i] - h->input);
		uint32_t row = is_table ? h->item[i] : row_of(s, h->item[i]);

		h->bound[i] = 0;
		if (s->graphs)
			status = surrogate_bound(s->graphs[row], h->raw + at, &h->memory,
						 &h->bound[i],
						 is_table ? h->bound_slope + at : NULL);
	}
	return status;
}

struct batch {
	struct surrogate *s;
	const uint32_t *items;
	size_t n;
	bool is_checked; /* no gradients, only the error */
};

/* Absolute difference of logarithms, rounded off around 0: close to a relative error, and blocks of
 * a hundred cycles count as those of one.
 */
static double network_loss(float out, float wanted, float *slope)
{
	const float corner = 0.05f;
	float d = out - wanted;

	*slope = d > corner ? 1 : d < -corner ? -1 : d / corner;
	return fabsf(d) > corner ? fabsf(d) - corner / 2 : d * d / (2 * corner);
}

static void slice(const struct batch *b, size_t shard, const uint32_t **first, size_t *n)
{
	size_t from = b->n * shard / N_SHARDS, to = b->n * (shard + 1) / N_SHARDS;

	*first = b->items + from;
	*n = to - from;
}

static int network_shard(struct tune_worker *w, size_t item, void *context)
{
	struct batch *b = context;
	struct surrogate *s = b->s;
	struct shard *h = &s->shards[item];
	const uint32_t *first;
	struct net_blocks blocks;
	size_t n;
	int status;

	(void)w;
	net_one_thread();
	slice(b, item, &first, &n);
	h->loss = 0;
	memset(h->gradient, 0, s->net.n_weights * sizeof(*h->gradient));
	status = n ? fill_shard(s, h, first, n, false) : 0;
	if (status < 0 || !n)
		return status;
	for (size_t i = 0; i < n; i++) {
		const uint8_t *from = s->sampled + s->sample_at[h->item[i]];
		float *to = h->raw + (h->inputs[i] - h->input);

		for (size_t k = 0; k < (size_t)h->length[i] * SURROGATE_INPUTS; k++)
			to[k] = from[k];
	}
	status = prepare_inputs(s, h, false);
	if (status < 0)
		return status;
	blocks = blocks_of(s, h);
	status = net_forward(&s->net, s->weights, &blocks, NULL, h->work, h->out);
	for (size_t i = 0; i < n && !status; i++) {
		float wanted = s->simulated[h->item[i]] - h->bound[i];
		double loss = network_loss(h->out[i], wanted, &h->slope[i]);

		h->loss += b->is_checked ? fabs(expm1(h->out[i] - wanted)) : loss;
		h->slope[i] /= (float)b->n;
	}
	if (!status && !b->is_checked)
		status = net_backward(&s->net, s->weights, &blocks, h->work, h->slope, h->gradient,
				      NULL);
	return status;
}

static uint64_t epoch_seed(const struct surrogate *s)
{
	return s->t->opt.seed ^ (uint64_t)s->state.phase << 60 ^ (uint64_t)s->state.round << 48 ^
	       (uint64_t)s->state.epoch << 32 ^ 0x5eed;
}

/* The table as the network sees it in a step: whole numbers, as those that it was trained on; the
 * gradient passes through.  Rounding is random at first, so that values in between count in
 * proportion, and to the nearest in the end, as the extraction does it.
 */
static void round_table(struct surrogate *s, double share)
{
	struct tune_rng rng = {epoch_seed(s) + s->state.batch};

	tune_random(&rng);
	for (size_t i = 0; i < s->t->n_params; i++) {
		double noise = (tune_random_unit(&rng) - 0.5) * (1 - share);

		if (s->state.round)
			noise /= 2; /* it is near the answer already */

		s->rounded[i] = floorf(fabsf(s->table[i]) + 0.5f + (float)noise);
	}
}

/* What the network knows nothing about is not gone to: values that samples do not have. */
static void keep_within(struct surrogate *s)
{
	for (size_t i = 0; i < s->t->n_params; i++) {
		const struct tune_param *p = &s->t->params[i];
		int low, high;

		reach_of(s, i, &low, &high);
		low -= p->low;
		high -= p->low;
		if (fabsf(s->table[i]) > (float)high)
			s->table[i] = (float)(s->table[i] < 0 ? -high : high);
		if (fabsf(s->table[i]) < (float)low)
			s->table[i] = (float)low;
	}
}

/* A measured block under the table that is being learned. */
static int table_shard(struct tune_worker *w, size_t item, void *context)
{
	struct batch *b = context;
	struct surrogate *s = b->s;
	struct tact_tuner *t = s->t;
	struct shard *h = &s->shards[item];
	const uint32_t *first;
	struct net_blocks blocks;
	size_t n;
	int status;

	net_one_thread();
	slice(b, item, &first, &n);
	h->loss = 0;
	memset(h->table_gradient, 0, t->n_params * sizeof(*h->table_gradient));
	status = n ? fill_shard(s, h, first, n, true) : 0;
	if (status < 0 || !n)
		return status;
	for (size_t i = 0; i < n; i++) {
		float *to = h->raw + (h->inputs[i] - h->input);

		for (size_t k = 0; k < (size_t)h->length[i] * SURROGATE_INPUTS; k++) {
			unsigned form = form_at(s, h->item[i], k / SURROGATE_INPUTS);
			unsigned which = k % SURROGATE_INPUTS;
			int32_t p = params_of(s, form)[which];
			float value = p >= 0 ? s->rounded[p]
				      : form == TACT_FORM_NONE && which < SURROGATE_FORM_INPUTS
					      ? 0
					      : (float)above_bound(w->table.mca, form, which);

			to[k] = value;
		}
	}
	status = prepare_inputs(s, h, true);
	if (status < 0)
		return status;
	blocks = blocks_of(s, h);
	status = net_forward(&s->net, s->weights, &blocks, s->vectors, h->work, h->out);
	for (size_t i = 0; i < n && !status; i++) {
		float ratio =
			expf(h->out[i] + h->bound[i]) / (float)t->rows.rows[h->item[i]].cycles;

		h->loss += fabsf(ratio - 1);
		h->slope[i] = (ratio > 1 ? fminf(ratio, 3) : -ratio) / (float)b->n;
	}
	if (!status)
		status = net_backward(&s->net, s->weights, &blocks, h->work, h->slope, NULL,
				      h->slopes);
	for (size_t i = 0; i < n && !status; i++) {
		for (size_t k = 0; k < (size_t)h->length[i] * SURROGATE_INPUTS; k++) {
			unsigned which = k % SURROGATE_INPUTS;
			unsigned form = form_at(s, h->item[i], k / SURROGATE_INPUTS);
			int32_t p = params_of(s, form)[which];

			float d = h->slopes[i][k] * input_kind(which).scale;

			if (s->graphs)
				d += h->slope[i] *
				     h->bound_slope[(size_t)(h->inputs[i] - h->input) + k];
			if (p >= 0)
				h->table_gradient[p] += s->table[p] < 0 ? -d : d;
		}
	}
	return status;
}

/* ---- steps ---- */

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

/* Sum of the shards' gradients, in the first one's. */
static double add_shards(struct surrogate *s, bool is_table)
{
	size_t n = is_table ? s->t->n_params : s->net.n_weights;
	double loss = s->shards[0].loss;

	for (size_t k = 1; k < N_SHARDS; k++) {
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
	struct tune_rng rng = {seed};

	tune_random(&rng);
	for (size_t i = n; i > 1; i--) {
		size_t k = tune_random(&rng) % i;
		uint32_t swap = list[i - 1];

		list[i - 1] = list[k];
		list[k] = swap;
	}
}

/* Share of the whole run that is done; a batch of the network costs about three of the table. */
static double share_done(const struct surrogate *s, size_t n_batches)
{
	const struct tact_tune_network *n = &s->t->opt.network;
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
			   is_network ? s->t->opt.network.epochs : s->t->opt.network.table_epochs,
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

/* Steps become smaller towards the end of a phase, to a twentieth. */
static double decayed(double rate, double share)
{
	return rate * (0.05 + 0.95 * 0.5 * (1 + cos(3.14159265358979 * share)));
}

/* One pass over a list in batches, from state.batch on. */
static int run_epoch(struct surrogate *s, uint32_t *list, size_t n, struct tact_diag *diag)
{
	const struct tact_tune_network *o = &s->t->opt.network;
	bool is_network = s->state.phase == PHASE_NETWORK;
	size_t n_batches = (n + o->batch - 1) / o->batch;
	unsigned epochs = is_network ? o->epochs : o->table_epochs;
	int status = 0;

	shuffle(list, n, epoch_seed(s));
	for (; s->state.batch < n_batches && status >= 0; s->state.batch++) {
		size_t first = (size_t)s->state.batch * o->batch;
		struct batch b = {s, list + first, n - first < o->batch ? n - first : o->batch,
				  false};
		double share =
			(s->state.epoch + (double)s->state.batch / (double)n_batches) / epochs;

		status = save_now_and_then(s, false, diag);
		if (!is_network)
			round_table(s, share);
		if (status >= 0)
			status = tune_parallel(s->t, N_SHARDS,
					       is_network ? network_shard : table_shard, &b);
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

	for (size_t first = 0; first < n; first += s->t->opt.network.batch) {
		size_t left = n - first;
		struct batch b = {s, list + first,
				  left < s->t->opt.network.batch ? left : s->t->opt.network.batch,
				  true};
		int status = tune_parallel(s->t, N_SHARDS, network_shard, &b);

		if (status < 0)
			return status;
		for (size_t k = 0; k < N_SHARDS; k++)
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

	for (; s->state.epoch < s->t->opt.network.epochs && status >= 0; s->state.epoch++) {
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

/* The table as parameters: absolute values, above the lower bound, whole numbers. */
static void extract(struct surrogate *s)
{
	for (size_t i = 0; i < s->t->n_params; i++) {
		const struct tune_param *p = &s->t->params[i];
		int value = p->low + (int)lroundf(fabsf(s->table[i]));

		s->values[i] = value > p->high ? p->high : value;
	}
}

/* What the machine itself makes of the table, on the validation rows. */
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
	net_one_thread();
	if (list && s->vectors)
		status = net_vectors(&s->net, s->weights, s->types, s->n_types, s->shards[0].work,
				     s->vectors);
	if (status >= 0 && !s->state.epoch && !s->state.batch)
		status = validate(s); /* the start counts as well */
	for (; s->state.epoch < s->t->opt.network.table_epochs && status >= 0; s->state.epoch++) {
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
	/* Another round: from the best so far, with a fresh memory of slopes. */
	memcpy(s->centre, s->best_values, s->t->n_params * sizeof(*s->centre));
	for (size_t i = 0; i < s->t->n_params; i++)
		s->table[i] = (float)(s->best_values[i] - s->t->params[i].low);
	memset(s->table_adam.m, 0, s->table_adam.n * sizeof(float));
	memset(s->table_adam.v, 0, s->table_adam.n * sizeof(float));
	s->table_adam.steps = 0;
	s->state.phase = ++s->state.round < s->t->opt.network.rounds ? PHASE_NETWORK : PHASE_DONE;
}

static int run(struct surrogate *s, struct tact_diag *diag)
{
	int status = 0;

	while (s->state.phase != PHASE_DONE && status >= 0) {
		if (s->state.phase == PHASE_NETWORK) {
			status = simulate_all(s);
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
	const struct tact_tune_options *o = &s->t->opt;
	uint64_t parts[] = {
		tact_hash_bytes(s->t->rows.code, s->t->rows.code_size),
		tact_hash_bytes(tact_arch_name(o->arch), strlen(tact_arch_name(o->arch))),
		o->seed,
		o->what,
		o->memory,
		o->random_start,
		o->network.embedding,
		o->network.hidden,
		o->network.layers,
		o->network.batch,
		o->network.samples,
		o->network.epochs,
		o->network.table_epochs,
		o->network.rounds,
		o->network.no_bounds,
		(uint64_t)(o->network.rate * 1e9),
		(uint64_t)(o->network.table_rate * 1e9),
		0,
		0};
	size_t n = ARRAY_SIZE(parts);

	for (size_t i = 0; i < s->t->rows.n; i++)
		parts[n - 2] = parts[n - 2] * 31 + (uint64_t)(s->t->rows.rows[i].cycles * 1e6);
	for (size_t i = 0; i < s->t->n_params; i++)
		parts[n - 1] =
			parts[n - 1] * 31 + (uint64_t)tune_value(&s->t->start, &s->t->params[i]);
	return tact_hash_bytes(parts, sizeof(parts));
}

static int adam_init(struct adam *a, size_t n)
{
	a->n = n;
	a->m = calloc(n, sizeof(*a->m));
	a->v = calloc(n, sizeof(*a->v));
	return a->m && a->v ? 0 : -TACT_E_NOMEM;
}

static int create(struct surrogate *s)
{
	const struct tact_tune_network *o = &s->t->opt.network;
	size_t n = s->t->n_params;
	int status = surrogate_tokens(s);

	if (status < 0)
		return status;
	net_init(&s->net, &(struct net_shape){s->vocabulary, o->embedding, o->hidden, o->layers,
					      SURROGATE_INPUTS});
	s->weights = calloc(s->net.n_weights, sizeof(*s->weights));
	s->table = calloc(n, sizeof(*s->table));
	s->rounded = calloc(n, sizeof(*s->rounded));
	s->values = calloc(n, sizeof(*s->values));
	s->best_values = calloc(n, sizeof(*s->best_values));
	s->centre = calloc(n, sizeof(*s->centre));
	s->shards = calloc(N_SHARDS, sizeof(*s->shards));
	if (!s->weights || !s->table || !s->rounded || !s->values || !s->best_values ||
	    !s->centre || !s->shards || adam_init(&s->network_adam, s->net.n_weights) < 0 ||
	    adam_init(&s->table_adam, n) < 0)
		return -TACT_E_NOMEM;
	for (size_t k = 0; k < N_SHARDS; k++) {
		s->shards[k].work = net_work_create();
		s->shards[k].gradient = calloc(s->net.n_weights, sizeof(float));
		s->shards[k].table_gradient = calloc(n, sizeof(float));
		if (!s->shards[k].work || !s->shards[k].gradient || !s->shards[k].table_gradient)
			return -TACT_E_NOMEM;
	}
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

static void free_shard(struct shard *h)
{
	net_work_destroy(h->work);
	free(h->gradient);
	free(h->table_gradient);
	free(h->length);
	free(h->types);
	free(h->inputs);
	free(h->slopes);
	free(h->input);
	free(h->slope_of_input);
	free(h->out);
	free(h->slope);
	free(h->item);
	free(h->raw);
	free(h->bound_slope);
	free(h->bound);
	free(h->memory.data);
}

static void destroy(struct surrogate *s)
{
	for (size_t i = 0; s->row_types && i < s->t->rows.n; i++)
		free(s->row_types[i]);
	for (size_t i = 0; s->graphs && i < s->t->rows.n; i++)
		surrogate_graph_destroy(s->graphs[i]);
	free(s->graphs);
	for (size_t k = 0; s->shards && k < N_SHARDS; k++)
		free_shard(&s->shards[k]);
	free(s->types);
	free(s->row_types);
	free(s->row_length);
	free(s->train);
	free(s->sampled);
	free(s->sample_at);
	free(s->simulated);
	free(s->weights);
	free(s->network_adam.m);
	free(s->network_adam.v);
	free(s->table_adam.m);
	free(s->table_adam.v);
	free(s->table);
	free(s->rounded);
	free(s->values);
	free(s->best_values);
	free(s->centre);
	free(s->param_at);
	free(s->vectors);
	free(s->shards);
}

int tune_surrogate(struct tact_tuner *t, struct tact_diag *diag)
{
	struct surrogate s = {.t = t};
	struct tact_diag why = {0};
	int status = create(&s);

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

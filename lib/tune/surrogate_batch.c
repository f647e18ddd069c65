/* SPDX-License-Identifier: MIT
 *
 * A batch, forwards and backwards.  It is split into a fixed number of shards, whose gradients are
 * added in a fixed order, so that the number of threads does not change the result.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/surrogate.h"

/* ---- shards ---- */

/* Finds the learned parameters that the inputs of an instruction come from. */
static const int32_t *params_of(const struct surrogate *s, unsigned form)
{
	const struct tact_tuner *t = s->t;
	const struct tune_site *site =
		form == TACT_FORM_NONE ? NULL : tune_site_of(t, form, ARCH_PLAIN);

	return s->param_at + (site ? (size_t)(site - t->sites) : t->n_sites) * SURROGATE_INPUTS;
}

static void free_blocks(struct shard *h)
{
	FREE_ALL(h->length, h->types, h->inputs, h->slopes, h->out, h->slope, h->item, h->bound);
}

/* Makes room for n blocks; the previous content is lost. */
static int reserve_blocks(struct shard *h, size_t n)
{
	if (n <= h->capacity)
		return 0;
	free_blocks(h);
	h->length = calloc(n, sizeof(*h->length));
	h->types = calloc(n, sizeof(*h->types));
	h->inputs = calloc(n, sizeof(*h->inputs));
	h->slopes = calloc(n, sizeof(*h->slopes));
	h->out = calloc(n, sizeof(*h->out));
	h->slope = calloc(n, sizeof(*h->slope));
	h->item = calloc(n, sizeof(*h->item));
	h->bound = calloc(n, sizeof(*h->bound));
	h->capacity = n;
	return h->length && h->types && h->inputs && h->slopes && h->out && h->slope && h->item &&
			       h->bound
		       ? 0
		       : -TACT_E_NOMEM;
}

static int reserve_inputs(struct shard *h, size_t n)
{
	if (tact_grow(&h->input, &h->input_capacity, n, sizeof(float)) < 0 ||
	    tact_grow(&h->raw, &h->raw_capacity, n, sizeof(float)) < 0 ||
	    tact_grow(&h->bound_slope, &h->bound_capacity, n, sizeof(float)) < 0 ||
	    tact_grow(&h->slope_of_input, &h->slope_capacity, n, sizeof(float)) < 0)
		return -TACT_E_NOMEM;
	return 0;
}

/* Takes the blocks of a shard: samples, or rows. */
static int fill_shard(struct surrogate *s, struct shard *h, const uint32_t *items, size_t n,
		      bool is_table)
{
	size_t rows = 0, at = 0;

	if (reserve_blocks(h, n) < 0)
		return -TACT_E_NOMEM;
	h->n = n;
	for (size_t i = 0; i < n; i++) {
		uint32_t row = is_table ? items[i] : surrogate_row(s, items[i]);

		h->item[i] = items[i];
		h->length[i] = s->row_length[row];
		h->types[i] = s->row_types[row];
		rows += h->length[i];
	}
	if (reserve_inputs(h, rows * SURROGATE_INPUTS) < 0)
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

/* Turns raw values into what the network sees, and into the bounds. */
static int prepare_inputs(struct surrogate *s, struct shard *h, bool is_table)
{
	size_t n_rows = 0;
	int status = 0;

	for (size_t i = 0; i < h->n; i++)
		n_rows += h->length[i];
	for (size_t r = 0; r < n_rows; r++)
		for (unsigned k = 0; k < SURROGATE_INPUTS; k++)
			h->input[r * SURROGATE_INPUTS + k] =
				h->raw[r * SURROGATE_INPUTS + k] * surrogate_input(k).scale;
	for (size_t i = 0; i < h->n && status >= 0; i++) {
		size_t at = (size_t)(h->inputs[i] - h->input);
		uint32_t row = is_table ? h->item[i] : surrogate_row(s, h->item[i]);

		h->bound[i] = 0;
		if (s->graphs)
			status = surrogate_bound(s->graphs[row], h->raw + at, &h->memory,
						 &h->bound[i],
						 is_table ? h->bound_slope + at : NULL);
	}
	return status;
}

/* Absolute difference of logarithms, rounded off around 0: close to a relative error, and blocks of
 * a hundred cycles count as much as those of one.
 */
static double network_loss(float out, float wanted, float *slope)
{
	const float corner = 0.05f;
	float d = out - wanted;

	*slope = d > corner ? 1 : d < -corner ? -1 : d / corner;
	return fabsf(d) > corner ? fabsf(d) - corner / 2 : d * d / (2 * corner);
}

static void slice(const struct surrogate_batch *b, size_t shard, const uint32_t **first, size_t *n)
{
	size_t from = b->n * shard / SURROGATE_SHARDS, to = b->n * (shard + 1) / SURROGATE_SHARDS;

	*first = b->items + from;
	*n = to - from;
}

int surrogate_network_shard(struct tune_worker *w, size_t item, void *context)
{
	struct surrogate_batch *b = context;
	struct surrogate *s = b->s;
	struct shard *h = &s->shards[item];
	const uint32_t *first;
	struct net_blocks blocks;
	size_t n;
	int status;

	(void)w;
	matrices_one_thread(&s->net.matrices);
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

/* Takes the inputs of measured blocks from the table that is being learned. */
static void table_values(const struct surrogate *s, const struct tact_mca_params *params,
			 struct shard *h)
{
	for (size_t i = 0; i < h->n; i++) {
		float *to = h->raw + (h->inputs[i] - h->input);

		for (uint32_t k = 0; k < h->length[i]; k++) {
			unsigned form = surrogate_form(s, h->item[i], k);
			const int32_t *param = params_of(s, form);

			for (unsigned in = 0; in < SURROGATE_INPUTS; in++) {
				bool is_none = form == TACT_FORM_NONE && in < SURROGATE_FORM_INPUTS;

				*to++ = param[in] >= 0 ? s->rounded[param[in]]
					: is_none      ? 0
						       : (float)surrogate_value(params, form, in);
			}
		}
	}
}

/* Turns slopes by inputs, through the network and through the bounds, into slopes by parameters. */
static void table_slopes(const struct surrogate *s, struct shard *h)
{
	for (size_t i = 0; i < h->n; i++) {
		const float *by_input = h->slopes[i];
		const float *by_bound = h->bound_slope + (h->inputs[i] - h->input);

		for (uint32_t k = 0; k < h->length[i]; k++) {
			const int32_t *param = params_of(s, surrogate_form(s, h->item[i], k));

			for (unsigned in = 0; in < SURROGATE_INPUTS; in++, by_input++, by_bound++) {
				int32_t p = param[in];
				float d = *by_input * surrogate_input(in).scale;

				if (s->graphs)
					d += h->slope[i] * *by_bound;
				if (p >= 0)
					h->table_gradient[p] += s->table[p] < 0 ? -d : d;
			}
		}
	}
}

int surrogate_table_shard(struct tune_worker *w, size_t item, void *context)
{
	struct surrogate_batch *b = context;
	struct surrogate *s = b->s;
	struct shard *h = &s->shards[item];
	const uint32_t *first;
	struct net_blocks blocks;
	size_t n;
	int status;

	matrices_one_thread(&s->net.matrices);
	slice(b, item, &first, &n);
	h->loss = 0;
	memset(h->table_gradient, 0, s->t->n_params * sizeof(*h->table_gradient));
	status = n ? fill_shard(s, h, first, n, true) : 0;
	if (status < 0 || !n)
		return status;
	table_values(s, w->table.mca, h);
	status = prepare_inputs(s, h, true);
	if (status < 0)
		return status;
	blocks = blocks_of(s, h);
	status = net_forward(&s->net, s->weights, &blocks, s->vectors, h->work, h->out);
	for (size_t i = 0; i < n && !status; i++) {
		double cycles = s->t->rows.rows[h->item[i]].cycles;
		float ratio = expf(h->out[i] + h->bound[i]) / (float)cycles;

		h->loss += fabsf(ratio - 1);
		/* Blocks that are far too slow must not drown the others. */
		h->slope[i] = (ratio > 1 ? fminf(ratio, 3) : -ratio) / (float)b->n;
	}
	if (!status)
		status = net_backward(&s->net, s->weights, &blocks, h->work, h->slope, NULL,
				      h->slopes);
	if (!status)
		table_slopes(s, h);
	return status;
}

/* ---- their memory ---- */

int surrogate_shards_create(struct surrogate *s)
{
	s->shards = calloc(SURROGATE_SHARDS, sizeof(*s->shards));
	if (!s->shards)
		return -TACT_E_NOMEM;
	for (size_t k = 0; k < SURROGATE_SHARDS; k++) {
		struct shard *h = &s->shards[k];

		h->work = net_work_create();
		h->gradient = calloc(s->net.n_weights, sizeof(*h->gradient));
		h->table_gradient = calloc(s->t->n_params, sizeof(*h->table_gradient));
		if (!h->work || !h->gradient || !h->table_gradient)
			return -TACT_E_NOMEM;
	}
	return 0;
}

void surrogate_shards_destroy(struct surrogate *s)
{
	for (size_t k = 0; s->shards && k < SURROGATE_SHARDS; k++) {
		struct shard *h = &s->shards[k];

		net_work_destroy(h->work);
		free_blocks(h);
		FREE_ALL(h->gradient, h->table_gradient, h->input, h->slope_of_input, h->raw,
			 h->bound_slope, h->memory.data);
	}
	free(s->shards);
}

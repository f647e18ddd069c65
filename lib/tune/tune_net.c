/* SPDX-License-Identifier: MIT
 *
 * Both LSTMs, forwards and backwards.  Sequences of different lengths are packed: sorted by length,
 * longest first, so that the sequences that are still running in a step are the first ones; the
 * rows of a step are contiguous, and so are the steps.  Products of matrices are oneDNN's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tune.h"
#include "tune/tune_net.h"

static size_t take(size_t *next, size_t n)
{
	size_t at = *next;

	*next += n;
	return at;
}

static void place_layer(struct net_layer *l, size_t *next, unsigned inputs, unsigned hidden)
{
	l->inputs = inputs;
	l->input = take(next, (size_t)inputs * 4 * hidden);
	l->hidden = take(next, (size_t)hidden * 4 * hidden);
	l->bias = take(next, 4 * (size_t)hidden);
}

void net_init(struct net *net, const struct net_shape *shape, const struct matrices *matrices)
{
	size_t next = 0;

	*net = (struct net){.shape = *shape, .matrices = *matrices};
	net->embedding = take(&next, (size_t)shape->vocabulary * shape->embedding);
	for (unsigned l = 0; l < shape->layers; l++) {
		place_layer(&net->token[l], &next, l ? shape->hidden : shape->embedding,
			    shape->hidden);
		place_layer(&net->block[l], &next,
			    l ? shape->hidden : shape->hidden + shape->inputs, shape->hidden);
	}
	net->out = take(&next, (size_t)shape->hidden + 1);
	net->n_weights = next;
}

static void fill(float *to, size_t n, double width, uint64_t *rng)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (float)(width * (2 * random_unit(rng) - 1));
}

static void randomise_layer(const struct net *net, const struct net_layer *l, float *w,
			    uint64_t *rng)
{
	unsigned h = net->shape.hidden;

	fill(w + l->input, (size_t)l->inputs * 4 * h, sqrt(3.0 / l->inputs), rng);
	fill(w + l->hidden, (size_t)h * 4 * h, sqrt(3.0 / h) / 2, rng);
	for (unsigned i = 0; i < 4 * h; i++)
		w[l->bias + i] = i / h == 1 ? 1 : 0;
}

void net_randomise(const struct net *net, float *w, uint64_t seed)
{
	const struct net_shape *s = &net->shape;
	uint64_t rng = seed;

	fill(w + net->embedding, (size_t)s->vocabulary * s->embedding, 1, &rng);
	for (unsigned l = 0; l < s->layers; l++) {
		randomise_layer(net, &net->token[l], w, &rng);
		randomise_layer(net, &net->block[l], w, &rng);
	}
	fill(w + net->out, s->hidden, sqrt(1.0 / s->hidden), &rng);
	w[net->out + s->hidden] = 1; /* e cycles: about the median block */
}

/* ---- memory ---- */

struct pack {
	size_t n, steps, rows;
	uint32_t *order;  /* sequences, longest first; owned */
	uint32_t *count;  /* by step: sequences still running; owned */
	uint32_t *offset; /* by step: its first row; owned */
	uint32_t *length; /* by sequence in order; owned */
	size_t order_capacity, count_capacity, offset_capacity, length_capacity;
};

struct layer_memory {
	float *x, *gates, *cell, *h, *before; /* owned; rows x inputs, 4 hidden, hidden, ... */
	size_t x_capacity, gates_capacity, cell_capacity, h_capacity, before_capacity;
};

struct net_work {
	struct pack tokens, blocks;
	struct layer_memory token[NET_MAX_LAYERS], block[NET_MAX_LAYERS];
	uint32_t *local; /* owned; by type: number in this shard + 1 */
	size_t local_capacity;
	uint32_t *used; /* owned; types of this shard */
	size_t n_used, used_capacity;
	float *vectors; /* owned; of the shard's types */
	size_t vector_capacity;
	float *slope, *carry, *below; /* owned */
	size_t slope_capacity, carry_capacity, below_capacity;
	float *vector_slope; /* owned */
	size_t vector_slope_capacity;
	uint32_t *lengths; /* owned */
	size_t lengths_capacity;
	bool has_tokens; /* the token LSTM has run */
};

struct net_work *net_work_create(void)
{
	return calloc(1, sizeof(struct net_work));
}

static void free_pack(struct pack *p)
{
	FREE_ALL(p->order, p->count, p->offset, p->length);
}

static void free_layer(struct layer_memory *m)
{
	FREE_ALL(m->x, m->gates, m->cell, m->h, m->before);
}

void net_work_destroy(struct net_work *w)
{
	if (!w)
		return;
	free_pack(&w->tokens);
	free_pack(&w->blocks);
	for (unsigned l = 0; l < NET_MAX_LAYERS; l++) {
		free_layer(&w->token[l]);
		free_layer(&w->block[l]);
	}
	FREE_ALL(w->local, w->used, w->vectors, w->slope, w->carry, w->below, w->vector_slope,
		 w->lengths, w);
}

#define GROW(array, capacity, n) tact_grow(&(array), &(capacity), (n) + 1, sizeof(*(array)))

/* Packs sequences of these lengths, which are all at least 1: a counting sort. */
static int make_pack(struct pack *p, const uint32_t *length, size_t n)
{
	uint32_t longest = 0, at = 0;

	for (size_t i = 0; i < n; i++)
		longest = length[i] > longest ? length[i] : longest;
	p->n = n;
	p->steps = longest;
	if (GROW(p->order, p->order_capacity, n) < 0 ||
	    GROW(p->length, p->length_capacity, n) < 0 ||
	    GROW(p->count, p->count_capacity, (size_t)longest + 1) < 0 ||
	    GROW(p->offset, p->offset_capacity, (size_t)longest + 2) < 0)
		return -TACT_E_NOMEM;
	/* offset first serves as the counter of lengths. */
	memset(p->offset, 0, ((size_t)longest + 2) * sizeof(*p->offset));
	for (size_t i = 0; i < n; i++)
		p->offset[length[i]]++;
	for (uint32_t k = longest; k > 0; k--) {
		uint32_t here = p->offset[k];

		p->offset[k] = at;
		at += here;
		p->count[k - 1] = at; /* of length k or more: running in step k - 1 */
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t place = p->offset[length[i]]++;

		p->order[place] = (uint32_t)i;
		p->length[place] = length[i];
	}
	p->rows = 0;
	for (size_t t = 0; t < p->steps; t++) {
		p->offset[t] = (uint32_t)p->rows;
		p->rows += p->count[t];
	}
	return 0;
}

/* Returns the row of a sequence's last step. */
static size_t last_row(const struct pack *p, size_t place)
{
	return p->offset[p->length[place] - 1] + place;
}

static int grow_layer(struct layer_memory *m, size_t rows, unsigned inputs, unsigned hidden)
{
	if (GROW(m->x, m->x_capacity, rows * inputs) < 0 ||
	    GROW(m->gates, m->gates_capacity, rows * 4 * hidden) < 0 ||
	    GROW(m->cell, m->cell_capacity, rows * hidden) < 0 ||
	    GROW(m->h, m->h_capacity, rows * hidden) < 0 ||
	    GROW(m->before, m->before_capacity, rows * hidden) < 0)
		return -TACT_E_NOMEM;
	return 0;
}

/* ---- arithmetic ---- */

/* Lambert's continued fraction to the seventh order; off by less than 1e-4. */
static inline float tanh_of(float x)
{
	float x2, p, q;

	x = x > 4.97f ? 4.97f : x < -4.97f ? -4.97f : x;
	x2 = x * x;
	p = x * (135135.0f + x2 * (17325.0f + x2 * (378.0f + x2)));
	q = 135135.0f + x2 * (62370.0f + x2 * (3150.0f + x2 * 28.0f));
	return p / q;
}

static inline float sigmoid_of(float x)
{
	return 0.5f + 0.5f * tanh_of(0.5f * x);
}

/* Processes one sequence in one step: sums become gates; c and h follow. */
static void cell_forward(float *restrict g, const float *restrict before, float *restrict c,
			 float *restrict h, unsigned n)
{
	for (unsigned i = 0; i < 3 * n; i++)
		g[i] = i / n == 2 ? tanh_of(g[i]) : sigmoid_of(g[i]);
	for (unsigned i = 0; i < n; i++)
		g[3 * n + i] = sigmoid_of(g[3 * n + i]);
	for (unsigned i = 0; i < n; i++) {
		c[i] = g[i] * g[2 * n + i] + (before ? g[n + i] * before[i] : 0);
		h[i] = g[3 * n + i] * tanh_of(c[i]);
	}
}

/* Turns gates into slopes of the sums; dc goes on to the previous step. */
static void cell_backward(float *restrict g, const float *restrict c, const float *restrict before,
			  const float *restrict dh, float *restrict dc, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		float i = g[k], f = g[n + k], a = g[2 * n + k], o = g[3 * n + k];
		float t = tanh_of(c[k]), d = dc[k] + dh[k] * o * (1 - t * t);

		g[3 * n + k] = dh[k] * t * o * (1 - o);
		g[k] = d * a * i * (1 - i);
		g[n + k] = before ? d * before[k] * f * (1 - f) : 0;
		g[2 * n + k] = d * i * (1 - a * a);
		dc[k] = d * f;
	}
}

/* ---- a layer ---- */

static int layer_forward(const struct net *net, const struct net_layer *l, const float *w,
			 const struct pack *p, struct layer_memory *m)
{
	unsigned h = net->shape.hidden;
	int status;

	for (size_t r = 0; r < p->rows; r++)
		memcpy(m->gates + r * 4 * h, w + l->bias, 4 * h * sizeof(*w));
	status = matrices_multiply(&net->matrices, 'N', 'N', p->rows, 4 * h, l->inputs, m->x,
				   l->inputs, w + l->input, 4 * h, 1, m->gates, 4 * h);
	for (size_t t = 0; t < p->steps && !status; t++) {
		size_t at = p->offset[t], n = p->count[t], previous = t ? p->offset[t - 1] : 0;

		if (t) {
			memcpy(m->before + at * h, m->h + previous * h, n * h * sizeof(float));
			status = matrices_multiply(&net->matrices, 'N', 'N', n, 4 * h, h,
						   m->before + at * h, h, w + l->hidden, 4 * h, 1,
						   m->gates + at * 4 * h, 4 * h);
		} else {
			memset(m->before, 0, n * h * sizeof(float));
		}
		for (size_t j = 0; j < n; j++)
			cell_forward(m->gates + (at + j) * 4 * h,
				     t ? m->cell + (previous + j) * h : NULL,
				     m->cell + (at + j) * h, m->h + (at + j) * h, h);
	}
	return status;
}

/* dh: rows x hidden, slopes by the output; modified.  Adds to gradient, and sets dx (rows x
 * inputs), where they are not NULL.
 */
static int layer_backward(const struct net *net, const struct net_layer *l, const float *w,
			  const struct pack *p, struct layer_memory *m, float *dh, float *carry,
			  float *gradient, float *dx)
{
	unsigned h = net->shape.hidden;
	int status = 0;

	memset(carry, 0, p->n * h * sizeof(*carry));
	for (size_t t = p->steps; t-- > 0 && !status;) {
		size_t at = p->offset[t], n = p->count[t], previous = t ? p->offset[t - 1] : 0;

		for (size_t j = 0; j < n; j++)
			cell_backward(m->gates + (at + j) * 4 * h, m->cell + (at + j) * h,
				      t ? m->cell + (previous + j) * h : NULL, dh + (at + j) * h,
				      carry + j * h, h);
		if (t)
			status = matrices_multiply(&net->matrices, 'N', 'T', n, h, 4 * h,
						   m->gates + at * 4 * h, 4 * h, w + l->hidden,
						   4 * h, 1, dh + previous * h, h);
	}
	if (gradient && !status)
		status = matrices_multiply(&net->matrices, 'T', 'N', l->inputs, 4 * h, p->rows,
					   m->x, l->inputs, m->gates, 4 * h, 1, gradient + l->input,
					   4 * h);
	if (gradient && !status)
		status = matrices_multiply(&net->matrices, 'T', 'N', h, 4 * h, p->rows, m->before,
					   h, m->gates, 4 * h, 1, gradient + l->hidden, 4 * h);
	for (size_t r = 0; r < p->rows && gradient; r++)
		for (unsigned i = 0; i < 4 * h; i++)
			gradient[l->bias + i] += m->gates[r * 4 * h + i];
	if (dx && !status)
		status = matrices_multiply(&net->matrices, 'N', 'T', p->rows, l->inputs, 4 * h,
					   m->gates, 4 * h, w + l->input, 4 * h, 0, dx, l->inputs);
	return status;
}

/* Layers on top of each other, after the x of the lowest one. */
static int stack_forward(const struct net *net, const struct net_layer *layers, const float *w,
			 const struct pack *p, struct layer_memory *m)
{
	int status = 0;

	for (unsigned l = 0; l < net->shape.layers && !status; l++) {
		if (l && grow_layer(&m[l], p->rows, layers[l].inputs, net->shape.hidden) < 0)
			return -TACT_E_NOMEM;
		if (l)
			memcpy(m[l].x, m[l - 1].h, p->rows * net->shape.hidden * sizeof(float));
		status = layer_forward(net, &layers[l], w, p, &m[l]);
	}
	return status;
}

/* On entry, work->slope holds the slopes by the last layer's output; on return, work->below holds
 * those by the lowest one's x, if wanted.
 */
static int stack_backward(const struct net *net, const struct net_layer *layers, const float *w,
			  const struct pack *p, struct layer_memory *m, struct net_work *work,
			  float *gradient, bool want_below)
{
	int status = 0;

	if (GROW(work->carry, work->carry_capacity, p->n * net->shape.hidden) < 0)
		return -TACT_E_NOMEM;
	for (unsigned l = net->shape.layers; l-- > 0 && !status;) {
		bool want = l || want_below;

		if (want && GROW(work->below, work->below_capacity, p->rows * layers[l].inputs) < 0)
			return -TACT_E_NOMEM;
		status = layer_backward(net, &layers[l], w, p, &m[l], work->slope, work->carry,
					gradient, want ? work->below : NULL);
		if (l)
			memcpy(work->slope, work->below,
			       p->rows * net->shape.hidden * sizeof(float));
	}
	return status;
}

/* ---- tokens ---- */

static int run_tokens(const struct net *net, const float *w, const struct net_type *types,
		      const uint32_t *used, size_t n, struct net_work *work, float *out)
{
	unsigned e = net->shape.embedding, h = net->shape.hidden, last = net->shape.layers - 1;
	struct pack *p = &work->tokens;
	int status;

	if (GROW(work->lengths, work->lengths_capacity, n) < 0)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < n; i++)
		work->lengths[i] = types[used ? used[i] : i].n;
	if (make_pack(p, work->lengths, n) < 0 || grow_layer(&work->token[0], p->rows, e, h) < 0)
		return -TACT_E_NOMEM;
	for (size_t t = 0; t < p->steps; t++) {
		for (size_t j = 0; j < p->count[t]; j++) {
			size_t i = p->order[j];
			unsigned token = types[used ? used[i] : i].token[t];

			memcpy(work->token[0].x + (p->offset[t] + j) * e,
			       w + net->embedding + (size_t)token * e, e * sizeof(*w));
		}
	}
	status = stack_forward(net, net->token, w, p, work->token);
	for (size_t j = 0; j < n && !status; j++)
		memcpy(out + (size_t)p->order[j] * h, work->token[last].h + last_row(p, j) * h,
		       h * sizeof(*out));
	return status;
}

int net_vectors(const struct net *net, const float *w, const struct net_type *types, size_t n,
		struct net_work *work, float *out)
{
	enum { SLICE = 1024 };
	int status = 0;

	for (size_t first = 0; first < n && !status; first += SLICE)
		status = run_tokens(net, w, types + first, NULL,
				    n - first < SLICE ? n - first : SLICE, work,
				    out + first * net->shape.hidden);
	return status;
}

/* Lists the types of the shard, each once. */
static int find_types(const struct net_blocks *b, struct net_work *work)
{
	if (b->n_types > work->local_capacity) {
		size_t old = work->local_capacity;

		if (GROW(work->local, work->local_capacity, b->n_types) < 0)
			return -TACT_E_NOMEM;
		memset(work->local + old, 0, (work->local_capacity - old) * sizeof(*work->local));
	}
	for (size_t i = 0; i < work->n_used; i++)
		work->local[work->used[i]] = 0;
	work->n_used = 0;
	for (size_t i = 0; i < b->n; i++) {
		for (uint32_t k = 0; k < b->length[i]; k++) {
			uint32_t type = b->types[i][k];

			if (work->local[type])
				continue;
			if (GROW(work->used, work->used_capacity, work->n_used + 1) < 0)
				return -TACT_E_NOMEM;
			work->used[work->n_used++] = type;
			work->local[type] = (uint32_t)work->n_used;
		}
	}
	return 0;
}

/* ---- blocks ---- */

int net_forward(const struct net *net, const float *w, const struct net_blocks *b,
		const float *vectors, struct net_work *work, float *out)
{
	unsigned h = net->shape.hidden, n_in = net->shape.inputs, last = net->shape.layers - 1;
	struct pack *p = &work->blocks;
	int status = 0;

	work->has_tokens = !vectors;
	if (!vectors) {
		if (find_types(b, work) < 0 ||
		    GROW(work->vectors, work->vector_capacity, work->n_used * h) < 0)
			return -TACT_E_NOMEM;
		status = run_tokens(net, w, b->all_types, work->used, work->n_used, work,
				    work->vectors);
	}
	if (status < 0 || make_pack(p, b->length, b->n) < 0 ||
	    grow_layer(&work->block[0], p->rows, h + n_in, h) < 0)
		return status < 0 ? status : -TACT_E_NOMEM;
	for (size_t t = 0; t < p->steps; t++) {
		for (size_t j = 0; j < p->count[t]; j++) {
			size_t i = p->order[j];
			uint32_t type = b->types[i][t];
			float *x = work->block[0].x + (p->offset[t] + j) * (h + n_in);

			memcpy(x,
			       vectors ? vectors + (size_t)type * h
				       : work->vectors + (size_t)(work->local[type] - 1) * h,
			       h * sizeof(*x));
			memcpy(x + h, b->inputs[i] + t * n_in, n_in * sizeof(*x));
		}
	}
	status = stack_forward(net, net->block, w, p, work->block);
	for (size_t j = 0; j < p->n && !status; j++) {
		const float *hidden = work->block[last].h + last_row(p, j) * h;
		float sum = w[net->out + h];

		for (unsigned k = 0; k < h; k++)
			sum += hidden[k] * w[net->out + k];
		out[p->order[j]] = sum;
	}
	return status;
}

/* Turns slopes by the numbers of the blocks into slopes by the last layer's output. */
static int start_slopes(const struct net *net, const float *w, struct net_work *work,
			const float *slope, float *gradient)
{
	unsigned h = net->shape.hidden, last = net->shape.layers - 1;
	struct pack *p = &work->blocks;

	if (GROW(work->slope, work->slope_capacity, p->rows * h) < 0)
		return -TACT_E_NOMEM;
	memset(work->slope, 0, p->rows * h * sizeof(float));
	for (size_t j = 0; j < p->n; j++) {
		size_t row = last_row(p, j);
		float d = slope[p->order[j]];

		for (unsigned k = 0; k < h; k++)
			work->slope[row * h + k] = d * w[net->out + k];
		for (unsigned k = 0; k < h && gradient; k++)
			gradient[net->out + k] += d * work->block[last].h[row * h + k];
		if (gradient)
			gradient[net->out + h] += d;
	}
	return 0;
}

/* Computes slopes by the parameters, and by the vectors of the types. */
static int share_slopes(const struct net *net, const struct net_blocks *b, struct net_work *work,
			float *const *input_gradient, bool want_vectors)
{
	unsigned h = net->shape.hidden, n_in = net->shape.inputs;
	const struct pack *p = &work->blocks;

	if (want_vectors) {
		if (GROW(work->vector_slope, work->vector_slope_capacity, work->n_used * h) < 0)
			return -TACT_E_NOMEM;
		memset(work->vector_slope, 0, work->n_used * h * sizeof(float));
	}
	for (size_t t = 0; t < p->steps; t++) {
		for (size_t j = 0; j < p->count[t]; j++) {
			size_t i = p->order[j];
			const float *dx = work->below + (p->offset[t] + j) * (h + n_in);

			if (input_gradient)
				memcpy(input_gradient[i] + t * n_in, dx + h, n_in * sizeof(*dx));
			if (want_vectors) {
				size_t type = work->local[b->types[i][t]] - 1;

				for (unsigned k = 0; k < h; k++)
					work->vector_slope[type * h + k] += dx[k];
			}
		}
	}
	return 0;
}

static int tokens_backward(const struct net *net, const float *w, const struct net_blocks *b,
			   struct net_work *work, float *gradient)
{
	unsigned e = net->shape.embedding, h = net->shape.hidden;
	const struct pack *p = &work->tokens;
	int status;

	if (GROW(work->slope, work->slope_capacity, p->rows * h) < 0)
		return -TACT_E_NOMEM;
	memset(work->slope, 0, p->rows * h * sizeof(float));
	for (size_t j = 0; j < p->n; j++)
		memcpy(work->slope + last_row(p, j) * h,
		       work->vector_slope + (size_t)p->order[j] * h, h * sizeof(float));
	status = stack_backward(net, net->token, w, p, work->token, work, gradient, true);
	for (size_t t = 0; t < p->steps && !status; t++) {
		for (size_t j = 0; j < p->count[t]; j++) {
			unsigned token = b->all_types[work->used[p->order[j]]].token[t];
			float *to = gradient + net->embedding + (size_t)token * e;
			const float *from = work->below + (p->offset[t] + j) * e;

			for (unsigned k = 0; k < e; k++)
				to[k] += from[k];
		}
	}
	return status;
}

int net_backward(const struct net *net, const float *w, const struct net_blocks *b,
		 struct net_work *work, const float *slope, float *gradient,
		 float *const *input_gradient)
{
	bool want_vectors = gradient && work->has_tokens;
	int status = start_slopes(net, w, work, slope, gradient);

	if (!status)
		status = stack_backward(net, net->block, w, &work->blocks, work->block, work,
					gradient, true);
	if (!status)
		status = share_slopes(net, b, work, input_gradient, want_vectors);
	if (!status && want_vectors)
		status = tokens_backward(net, w, b, work, gradient);
	return status;
}

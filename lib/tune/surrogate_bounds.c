/* SPDX-License-Identifier: MIT
 *
 * A lower bound of what the plain machine takes, as a smooth function of its parameters: micro-ops
 * by the dispatch width, cycles of each port, the longest chain.  The network only learns how far
 * the machine is above it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mca/mca.h"
#include "tune/surrogate.h"

enum {
	ROUNDS = 16, /* iterations that a chain is followed; the second half counts */
	POWER = 8    /* of the smooth maximum: two equal bounds become 9% larger */
};
#define NO_READ UINT32_MAX

/* An operand that an instruction waits for. */
struct bound_read {
	uint32_t producer;
	uint8_t before; /* in the previous iteration */
	uint8_t advance;
};

struct bound_graph {
	uint32_t n;
	uint32_t *first; /* n + 1: reads of each instruction */
	struct bound_read reads[];
};

static const uint32_t *last_writers(const struct mca_code *code, uint32_t *writer, size_t n_keys)
{
	memset(writer, 0xff, n_keys * sizeof(*writer));
	for (uint32_t i = 0; i < code->n_insns; i++) {
		const struct mca_operand *o =
			code->operands + code->insns[i].first + code->insns[i].n_reads;

		for (unsigned k = 0; k < code->insns[i].n_writes; k++)
			writer[o[k].key] = i;
	}
	return writer;
}

static void connect(struct bound_graph *g, const struct mca_code *code, const uint32_t *last,
		    uint32_t *writer, size_t n_keys)
{
	uint32_t n = 0;

	memset(writer, 0xff, n_keys * sizeof(*writer));
	for (uint32_t i = 0; i < code->n_insns; i++) {
		const struct mca_insn *insn = &code->insns[i];
		const struct mca_operand *o = code->operands + insn->first;

		g->first[i] = n;
		for (unsigned k = 0; k < insn->n_reads; k++, o++) {
			bool here = writer[o->key] != NO_READ;
			uint32_t producer = here ? writer[o->key] : last[o->key];

			if (producer != NO_READ)
				g->reads[n++] =
					(struct bound_read){producer, !here, (uint8_t)o->advance};
		}
		for (unsigned k = 0; k < insn->n_writes; k++, o++)
			writer[o->key] = i;
	}
	g->first[code->n_insns] = n;
}

int surrogate_graph_create(struct bound_graph **out, const struct tact_mca_code *of)
{
	const struct mca_code *code = &of->code;
	uint32_t *writer = malloc(2 * of->n_keys * sizeof(*writer));
	struct bound_graph *g;
	size_t n_reads = 0;

	for (uint32_t i = 0; i < code->n_insns; i++)
		n_reads += code->insns[i].n_reads;
	g = malloc(sizeof(*g) + n_reads * sizeof(g->reads[0]));
	if (g)
		g->first = malloc((code->n_insns + 1) * sizeof(*g->first));
	if (!writer || !g || !g->first) {
		free(writer);
		if (g)
			free(g->first);
		free(g);
		return -TACT_E_NOMEM;
	}
	g->n = code->n_insns;
	connect(g, code, last_writers(code, writer + of->n_keys, of->n_keys), writer, of->n_keys);
	free(writer);
	*out = g;
	return 0;
}

void surrogate_graph_destroy(struct bound_graph *g)
{
	if (!g)
		return;
	FREE_ALL(g->first, g);
}

/* ---- chains ---- */

/* How an instruction's time came about, for the way back. */
struct step {
	float time;
	uint32_t from; /* read, or NO_READ */
};

static float delay(const float *inputs, const struct bound_graph *g, uint32_t consumer,
		   const struct bound_read *r)
{
	float latency = inputs[r->producer * SURROGATE_INPUTS + 1], advance = 0;

	(void)g;
	if (r->advance < TACT_MCA_READS)
		advance = inputs[consumer * SURROGATE_INPUTS + 2 + r->advance];
	return advance < latency ? latency - advance : 0;
}

/* Returns the cycles per iteration of the longest chain; slopes, by input, get `factor` for each of
 * its cycles.  steps: room for ROUNDS * n.
 */
static float chain(const struct bound_graph *g, const float *inputs, struct step *steps,
		   uint32_t *end)
{
	float half = 0, last = 0;

	*end = NO_READ;
	for (uint32_t k = 0; k < ROUNDS; k++) {
		for (uint32_t i = 0; i < g->n; i++) {
			struct step *s = &steps[k * g->n + i];

			*s = (struct step){0, NO_READ};
			for (uint32_t r = g->first[i]; r < g->first[i + 1]; r++) {
				const struct bound_read *read = &g->reads[r];
				float t;

				if (read->before && !k)
					continue;
				t = steps[(k - read->before) * g->n + read->producer].time +
				    delay(inputs, g, i, read);
				if (t > s->time || s->from == NO_READ)
					*s = (struct step){t, r};
			}
			if (k == ROUNDS / 2 - 1 && s->time > half)
				half = s->time;
			if (k == ROUNDS - 1 && (s->time > last || *end == NO_READ)) {
				last = s->time;
				*end = i;
			}
		}
	}
	return (last - half) / (ROUNDS / 2);
}

/* Walks back along the last half of the longest chain and adds to the slopes of its latencies. */
static void chain_slopes(const struct bound_graph *g, const float *inputs, const struct step *steps,
			 uint32_t end, float factor, float *slopes)
{
	uint32_t k = ROUNDS - 1, i = end;

	while (k >= ROUNDS / 2) {
		uint32_t r = steps[k * g->n + i].from;
		const struct bound_read *read;

		if (r == NO_READ)
			return;
		read = &g->reads[r];
		if (delay(inputs, g, i, read) > 0) {
			slopes[read->producer * SURROGATE_INPUTS + 1] += factor;
			if (read->advance < TACT_MCA_READS)
				slopes[i * SURROGATE_INPUTS + 2 + read->advance] -= factor;
		}
		k -= read->before;
		i = read->producer;
	}
}

/* ---- all of them ---- */

int surrogate_bound(const struct bound_graph *g, const float *inputs, struct bound_memory *memory,
		    float *out, float *slopes)
{
	float port[TACT_MCA_PORTS] = {0}, uops = 0, dispatch, cycles, sum = 0, scale = 0;
	float width = inputs[SURROGATE_FORM_INPUTS] + 1;
	uint32_t end;

	if (tact_grow(&memory->data, &memory->capacity, (size_t)ROUNDS * g->n,
		      sizeof(struct step)) < 0)
		return -TACT_E_NOMEM;
	for (uint32_t i = 0; i < g->n; i++) {
		const float *in = inputs + (size_t)i * SURROGATE_INPUTS;

		uops += in[0] + 1;
		for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
			port[p] += in[2 + TACT_MCA_READS + p];
	}
	dispatch = uops / width;
	cycles = chain(g, inputs, memory->data, &end);
	/* Powers of shares of the largest bound: they neither overflow nor vanish. */
	scale = dispatch > cycles ? dispatch : cycles;
	for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
		scale = port[p] > scale ? port[p] : scale;
	sum = powf(dispatch / scale, POWER) + powf(cycles / scale, POWER);
	for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
		sum += powf(port[p] / scale, POWER);
	*out = logf(scale) + logf(sum) / POWER;
	if (!slopes)
		return 0;
	/* d log B / dx = (x / scale)^(POWER - 1) / (scale sum) */
	memset(slopes, 0, (size_t)g->n * SURROGATE_INPUTS * sizeof(*slopes));
	for (uint32_t i = 0; i < g->n; i++) {
		float *to = slopes + (size_t)i * SURROGATE_INPUTS;
		float d = powf(dispatch / scale, POWER - 1) / (scale * sum);

		to[0] = d / width;
		if (!i)
			to[SURROGATE_FORM_INPUTS] = -d * dispatch / width;
		for (unsigned p = 0; p < TACT_MCA_PORTS; p++)
			to[2 + TACT_MCA_READS + p] =
				powf(port[p] / scale, POWER - 1) / (scale * sum);
	}
	if (end != NO_READ)
		chain_slopes(g, inputs, memory->data, end,
			     powf(cycles / scale, POWER - 1) / (scale * sum) / (ROUNDS / 2),
			     slopes);
	return 0;
}

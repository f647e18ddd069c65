/* SPDX-License-Identifier: MIT
 *
 * Instructions are given to the decoders one after the other until the first one of the block comes
 * to a decoder for the second time: that is the steady state (FACILE, algorithm 1).
 */
#include "facile/facile.h"

/* One complex decoder and up to MAX_DECODERS - 1 simple ones.  A form may claim as many beside it
 * as there are decoders, which counts as one more place.
 */
enum { MAX_DECODERS = 16 };

struct decoders {
	unsigned n;
	unsigned current;   /* the decoder that took the last instruction */
	unsigned available; /* simple ones that are free in this cycle */
	bool fusible_on_last;
};

/* Gives an instruction to a decoder; true if a new cycle begins with it. */
static bool assign(struct decoders *d, const struct block_insn *bi)
{
	const struct block_lowered *l = bi->lowered;

	if (l->complex_decoder) {
		d->current = 0;
		d->available = l->simple_beside;
	} else if (!d->available ||
		   (d->current + 1 == d->n - 1 && l->fuse && !d->fusible_on_last)) {
		d->current = 0;
		d->available = d->n - 1;
	} else {
		d->current++;
		d->available--;
	}
	if (bi->lowered->attributes & TACT_INSN_BRANCH || bi->fused_next)
		d->available = 0;
	return d->current == 0;
}

/* Runs to the steady state. */
static double run(const struct tact_block *block, unsigned *first_round, unsigned *last_round)
{
	const struct arch_params *p = &block->arch->params;
	struct decoders d = {.n = (unsigned)p->decoders,
			     .current = (unsigned)p->decoders - 1,
			     .fusible_on_last = p->fusible_on_last_decoder != 0};
	int round_on_decoder[MAX_DECODERS];
	unsigned cycles_before[MAX_DECODERS + 2], cycles = 0;

	for (unsigned i = 0; i < MAX_DECODERS; i++)
		round_on_decoder[i] = -1;
	for (unsigned round = 0;; round++) {
		cycles_before[round] = cycles;
		for (size_t i = 0; i < block->n_insns; i++) {
			const struct block_insn *bi = &block->insns[i];

			if (bi->fused_prev && !bi->lowered->is_nop)
				continue;
			cycles += assign(&d, bi);
			if (i)
				continue;
			/* Cycles that begin with the first instruction belong to its round. */
			if (round_on_decoder[d.current] >= 0) {
				*first_round = (unsigned)round_on_decoder[d.current];
				*last_round = round;
				return (double)(cycles_before[round] -
						cycles_before[*first_round]) /
				       (round - *first_round);
			}
			round_on_decoder[d.current] = (int)round;
		}
	}
}

static void derive_simple(const struct tact_block *block, struct tact_derivation *out)
{
	unsigned n = 0, complex_ones = 0, decoders = (unsigned)block->arch->params.decoders;

	for (size_t i = 0; i < block->n_insns; i++) {
		if (block->insns[i].fused_prev && !block->insns[i].lowered->is_nop)
			continue;
		n++;
		complex_ones += block->insns[i].lowered->complex_decoder;
	}
	out->counted =
		n > complex_ones * decoders ? TACT_COUNTED_INSNS : TACT_COUNTED_COMPLEX_INSNS;
	out->amount = n > complex_ones * decoders ? n : complex_ones;
	out->per = n > complex_ones * decoders ? decoders : 1;
}

/* Whether the queue before the decoders is so small that it limits them. */
static bool has_small_queue(const struct tact_block *block)
{
	return block->arch->params.iq_leave_delay && block->mode == TACT_MODE_UNROLL &&
	       !block->opt.paper;
}

double facile_decode(struct tact_block *block, const struct tact_predict_options *opt)
{
	const struct block_counts *c = &block->counts;
	struct tact_derivation d;
	struct facile_queue queue;
	unsigned first, last;

	if (opt->simple_decoder) {
		derive_simple(block, &d);
		return (double)d.amount / d.per;
	}
	if (has_small_queue(block))
		return facile_queue_run(block, &queue) < 0
			       ? -1
			       : (double)queue.cycles / queue.iterations;
	/* Nothing begins a cycle early: decoders are filled in turn. */
	if (!c->complex_ones && !c->branches &&
	    (!c->fusible || block->arch->params.fusible_on_last_decoder))
		return (double)block->n_insns / block->arch->params.decoders;
	return run(block, &first, &last);
}

int facile_derive_decode(struct tact_block *block, const struct tact_predict_options *opt,
			 struct tact_derivation *out)
{
	int n;

	if (opt->simple_decoder) {
		derive_simple(block, out);
		return 0;
	}
	if (has_small_queue(block)) {
		struct facile_queue queue;

		if (facile_queue_run(block, &queue) < 0)
			return -TACT_E_NOMEM;
		out->amount = queue.cycles;
		out->per = queue.iterations;
		return 0;
	}
	n = tact_explain_decoder(block, NULL, 0, &out->per);
	out->amount = n > 0 ? (unsigned)n : 0;
	return n < 0 ? n : 0;
}

/* Counts what the last group takes of the next iterations, up to where the first one begins. */
static uint32_t count_rest(const struct tact_block *block, struct decoders *d)
{
	uint32_t n = 0;

	for (size_t i = 0;; i = i + 1 < block->n_insns ? i + 1 : 0, n++)
		if ((!block->insns[i].fused_prev || block->insns[i].lowered->is_nop) &&
		    assign(d, &block->insns[i]))
			return n;
}

int tact_explain_decoder(struct tact_block *block, struct tact_front_end_group *groups,
			 size_t capacity, unsigned *iterations)
{
	const struct arch_params *p;
	struct decoders d;
	unsigned first, last;
	size_t n = 0;

	if (!block || !block->n_insns || !iterations || (!groups && capacity))
		return -TACT_E_INVAL;
	p = &block->arch->params;
	run(block, &first, &last);
	*iterations = last - first;
	d = (struct decoders){.n = (unsigned)p->decoders,
			      .current = (unsigned)p->decoders - 1,
			      .fusible_on_last = p->fusible_on_last_decoder != 0};
	for (unsigned round = 0; round < last; round++) {
		for (size_t i = 0; i < block->n_insns; i++) {
			if (block->insns[i].fused_prev && !block->insns[i].lowered->is_nop) {
				if (round >= first && n && n <= capacity)
					groups[n - 1].n_insns++;
				continue;
			}
			if (assign(&d, &block->insns[i]) && round >= first) {
				if (n < capacity)
					groups[n] = (struct tact_front_end_group){
						.first_insn = (uint32_t)i, .cycles = 1};
				n++;
			}
			if (round >= first && n && n <= capacity)
				groups[n - 1].n_insns++;
		}
	}
	if (n && n <= capacity)
		groups[n - 1].n_insns += count_rest(block, &d);
	return (int)n;
}

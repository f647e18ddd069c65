/* SPDX-License-Identifier: MIT
 *
 * Cycles of whole programs: results.
 */
#include <math.h>
#include <string.h>

#include <tact/model.h>

#include "base/base.h"
#include "trace/engine.h"

/* How close to a bound a block must run to be limited by it, and the share of stalled cycles below
 * which it hardly stalls.
 */
static const double ABOUT = 0.05, HARDLY = 0.1;

/* Scales stalls to the cycles of all executions, not to their number: those that the pipelines saw
 * may have been slower or faster than the others.
 */
static void scale_stalls(struct tact_cycles_block *out, const struct engine_past *past,
			 const struct tact_stream_block *now)
{
	double spent = (double)past->cycles + (double)now->cycles, sum = 0, scale;

	for (unsigned s = 0; s < TACT_N_STALLS; s++) {
		out->stalls[s] = (double)past->stalls[s] + (double)now->stalls[s];
		sum += out->stalls[s];
	}
	/* Some stalls may be of executions that have not retired. */
	spent = spent > sum ? spent : sum;
	scale = spent > 0 ? out->cycles / spent : 0;
	for (unsigned s = 0; s < TACT_N_STALLS; s++)
		out->stalls[s] *= scale;
}

/* Scales what the pipelines saw of a block to all its executions. */
bool engine_fill_block(const struct tact_cycles *c, const struct engine_code *code,
		       struct tact_cycles_block *out)
{
	static const struct engine_past none;
	const struct engine_past *past = code->past ? code->past : &none;
	struct tact_stream_block now = TACT_STREAM_BLOCK_INIT;
	uint64_t seen = past->seen;
	double share;

	*out = (struct tact_cycles_block){.size = sizeof(*out),
					  .block = code->block,
					  .executions = code->executions,
					  .cycles = code->cycles,
					  .unknown = code->unknown};
	if (code->is_added)
		tact_stream_get_block(c->stream, code->number, &now);
	seen += now.executions;
	if (!seen)
		return false;
	share = (double)code->executions / (double)seen;
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		out->uops[p] = share * ((double)past->uops[p] + (double)now.uops[p]);
	scale_stalls(out, past, &now);
	return true;
}

/* Adds up uops and stalls of all blocks.  Blocks that the pipelines never saw are assumed to be
 * like the others: they get the same number of each per cycle.
 */
static void add_blocks(const struct tact_cycles *c, struct tact_cycles_totals *out)
{
	double all = 0, seen = 0, scale;

	for (size_t i = 0; i < c->n_codes; i++) {
		struct tact_cycles_block b;

		if (!c->codes[i].executions)
			continue;
		all += c->codes[i].cycles;
		if (engine_fill_block(c, &c->codes[i], &b))
			seen += c->codes[i].cycles;
		out->executions += b.executions;
		out->unknown += b.executions * b.unknown;
		if (c->codes[i].calls_kernel)
			out->system_calls += b.executions;
		for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
			out->uops[p] += b.uops[p];
		for (unsigned s = 0; s < TACT_N_STALLS; s++)
			out->stalls[s] += b.stalls[s];
	}
	scale = seen > 0 ? all / seen : 1;
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		out->uops[p] *= scale;
	for (unsigned s = 0; s < TACT_N_STALLS; s++)
		out->stalls[s] *= scale;
}

static uint64_t scaled(uint64_t n, double scale)
{
	return (uint64_t)((double)n * scale);
}

/* Scales what was counted in the windows of a program that runs natively. */
static void scale_windows(const struct tact_cycles *c, struct tact_cycles_totals *out)
{
	const double scale = c->windowed.scale;

	out->error = c->windowed.error;
	out->accesses = scaled(out->accesses, scale);
	out->branches = scaled(out->branches, scale);
	out->mispredicted = scaled(out->mispredicted, scale);
	out->followed = out->branches;
	for (unsigned i = 0; i < CACHE_LEVELS; i++)
		out->misses[i] = scaled(out->misses[i], scale);
	out->tlb_misses = scaled(out->tlb_misses, scale);
	out->prefetches = scaled(out->prefetches, scale);
	out->unknown_prefetches = scaled(out->unknown_prefetches, scale);
	out->page_walks = scaled(out->page_walks, scale);
	out->windows = (uint32_t)c->windowed.n;
	out->is_measured = c->windowed.is_measured;
	out->user_seconds = c->windowed.user_ns / 1e9;
	out->hertz = c->windowed.hertz;
}

static void add_up(const struct tact_cycles *c, struct tact_cycles_totals *out)
{
	*out = (struct tact_cycles_totals){.size = sizeof(*out),
					   .n_threads = (uint32_t)c->n_threads,
					   .simulated = c->simulated,
					   .accesses = c->accesses_seen,
					   .page_faults = c->page_faults,
					   .prefetches = c->prefetches,
					   .unknown_prefetches = c->unknown_prefetches,
					   .followed = c->followed};
	double mistakes = 0;

	for (size_t i = 0; i < c->n_threads; i++) {
		const struct engine_thread *t = c->threads[i];

		out->cycles += t->cycles;
		out->instructions += t->instructions;
		out->branches += t->branches;
		mistakes += t->mistakes;
		for (unsigned k = 0; k < CACHE_LEVELS; k++)
			out->misses[k] += t->misses[k];
		out->tlb_misses += t->page_misses[0];
		out->page_walks += t->page_misses[1];
	}
	out->mispredicted = (uint64_t)(mistakes + 0.5);
	/* Windows are samples: the errors of the memo in them add up to zero except for chance.  So
	 * are looks; what was skimmed follows from them, and through them from the windows.
	 */
	if (c->windows > 0)
		out->error = hypot(sqrt(c->squares_off) / c->windows * (c->recalled + c->skimmed),
				   strata_error(&c->judge, c->skimmed));
	if (c->windowed.is_on)
		scale_windows(c, out);
	add_blocks(c, out);
}

int tact_cycles_get_totals(const struct tact_cycles *c, struct tact_cycles_totals *out)
{
	struct tact_cycles_totals totals;

	if (!c || !tact_can_fill(out))
		return -TACT_E_INVAL;
	add_up(c, &totals);
	return tact_fill(out, &totals, sizeof(totals));
}

bool engine_count_thread(const struct tact_cycles *c, uint32_t id, struct engine_counts *out)
{
	const struct engine_thread *t = c->last;

	if (!t || t->id != id || t->is_over)
		return false; /* only asked for the thread of the last event */
	*out = (struct engine_counts){.cycles = t->cycles,
				      .instructions = t->instructions,
				      .mispredicted = (uint64_t)t->mistakes};
	memcpy(out->misses, t->misses, sizeof(out->misses));
	return true;
}

int tact_cycles_get_thread(const struct tact_cycles *c, uint32_t thread, double *cycles,
			   uint64_t *instructions)
{
	bool found = false;
	double sum = 0;
	uint64_t n = 0;

	for (size_t i = 0; c && i < c->n_threads; i++)
		if (c->threads[i]->id == thread) {
			sum += c->threads[i]->cycles;
			n += c->threads[i]->instructions;
			found = true;
		}
	if (!found)
		return -TACT_E_INVAL;
	if (cycles)
		*cycles = sum;
	if (instructions)
		*instructions = n;
	return 0;
}

/* Spreads the uops of a block that the pipelines never saw evenly over their ports. */
static void spread_uops(const struct tact_block *block, double executions, double *uops)
{
	for (size_t i = 0; i < block->n_insns; i++)
		for (const struct arch_port_use *u = block->insns[i].lowered->ports; u->count; u++)
			for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
				if (u->mask >> p & 1)
					uops[p] +=
						executions * u->count / __builtin_popcount(u->mask);
}

/* Finds the bounds of FACILE that the executions kept to.  A bound that they beat does not apply to
 * this run: a chain from one iteration to the next does not limit a block that is not a loop.
 * Among the others, the largest one limits if it is close to the cycles of an execution, or if the
 * pipeline hardly stalled, so that nothing else held it up.
 */
uint32_t engine_limits(const struct tact_prediction *p, double each, double stalled)
{
	double largest = 0;
	uint32_t bits = 0;

	for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
		if (p->applies >> i & 1 && p->bound[i] <= (1 + ABOUT) * each &&
		    p->bound[i] > largest)
			largest = p->bound[i];
	if (!(largest > 0))
		return 0;
	if (largest < (1 - ABOUT) * each && (stalled < 0 || stalled >= HARDLY * each))
		return 0;
	for (unsigned i = 0; i < TACT_N_BOUNDS; i++)
		if (p->applies >> i & 1 && p->bound[i] == largest)
			bits |= 1u << i;
	return bits;
}

static uint32_t limits_of(const struct tact_prediction *p, const struct tact_cycles_block *b,
			  bool was_seen)
{
	double stalled = 0;

	for (unsigned i = 0; i < TACT_N_STALLS; i++)
		stalled += b->stalls[i];
	return engine_limits(p, b->cycles / (double)b->executions,
			     was_seen ? stalled / (double)b->executions : -1);
}

int tact_cycles_get_insns(const struct tact_cycles *c, uint32_t number, double *out)
{
	const struct engine_code *code;
	double sum = 0;
	uint32_t n;

	if (!c || !out || number >= c->n_codes || !c->codes[number].executions)
		return -TACT_E_INVAL;
	code = &c->codes[number];
	n = code->block->n_insns;
	for (uint32_t i = 0; i < n; i++) {
		out[i] = c->opt.insns && code->is_added ? engine_spent(c, code, i) : 0;
		if (c->opt.insns && code->past)
			out[i] += (double)code->past->spent[i];
		sum += out[i];
	}
	for (uint32_t i = 0; i < n; i++)
		out[i] = sum > 0 ? out[i] * code->cycles / sum : code->cycles / n;
	return 0;
}

int tact_cycles_get_block(const struct tact_cycles *c, uint32_t number,
			  struct tact_cycles_block *out)
{
	struct tact_estimate x = {.size = sizeof(x)};
	struct tact_cycles_block b;
	bool was_seen;
	int status;

	if (!c || !tact_can_fill(out) || number >= c->n_codes || !c->codes[number].executions)
		return -TACT_E_INVAL;
	was_seen = engine_fill_block(c, &c->codes[number], &b);
	if (!c->codes[number].is_known)
		return tact_fill(out, &b, sizeof(b));
	/* As a loop: code that runs often comes from the DSB, not from the decoders. */
	status = engine_load((struct tact_cycles *)c, c->codes[number].block, TACT_MODE_LOOP);
	if (status >= 0)
		status = tact_model_estimate(c->bounds, c->block, &x);
	if (status == -TACT_E_NOMEM)
		return status;
	if (status >= 0) {
		b.bound = x.cycles_per_iteration;
		b.bottlenecks = x.bottlenecks;
		if (!was_seen)
			spread_uops(c->block, (double)b.executions, b.uops);
		b.limits = limits_of(x.bounds, &b, was_seen);
	}
	return tact_fill(out, &b, sizeof(b));
}

/* SPDX-License-Identifier: MIT
 *
 * A thread of a program on a pipeline, most of the time without one.
 *
 * An execution costs the cycles between the retirement of the one before it and its own.  These are
 * remembered by context: the block and the sixteen before it, with what caches, branch predictor
 * and stores made of them.  All limits below were found by trying (doc/models/trace.md).  When the
 * contexts of all that is in flight, and more, are known, the pipeline is left, and means stand for
 * it.  It is entered again, with the last blocks to fill it, when too many contexts are new, or
 * from time to time, so that means follow what the program does.
 */
#include "trace/engine.h"

#include <string.h>

enum {
	CALM_BEFORE = 1024, /* executions with known contexts before the pipeline is left */
	REFILL = 96,	    /* executions that fill it again: more than it holds */
	SKIP_FIRST =
		1 << 10, /* executions before the pipeline is entered again in any case, at first */
	SKIP_MOST = 1 << 15, /* and later: it doubles */
	REP_BYTES = 32 /* that a repeated string instruction moves a cycle: a round figure, the
			  width of a path to the cache; not measured */
};

/* New contexts that are borne: 32 at once, or one in 32. */
static const double MOST_DEBT = 32, DEBT_PAID = 1.0 / 32;

/* Programs with more contexts than can be learned are sampled: beyond the first instructions only
 * this share goes through the pipeline, in pieces of so many executions at least.
 */
enum { ALWAYS_SIMULATED = 4000000, SAMPLE = 1024 };
static const double SAMPLED_SHARE = 0.1, NEW_SHARE = 0.25; /* the latter for blocks that are new */

static bool is_over_budget(const struct engine_thread *t, double share)
{
	return (double)t->simulated > ALWAYS_SIMULATED + share * (double)t->instructions;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdu;
	return h ^ h >> 29;
}

static void count(struct engine_thread *t, uint32_t code, double cycles)
{
	t->cycles += cycles;
	t->owner->codes[code].cycles += cycles;
}

/* ---- the pipeline ---- */

/* The pipeline's word that the oldest execution has retired. */
void engine_retired(void *arg, uint64_t cycle)
{
	struct engine_thread *t = arg;
	struct engine_pending *p = &t->pending[t->n_retired++ & (ENGINE_PENDING - 1)];
	double cycles = (double)(cycle - t->last_cycle);

	t->last_cycle = cycle;
	if (!p->is_counted)
		return;
	count(t, p->code, cycles);
	if (t->owner->opt.exact)
		return;
	if (p->is_new) {
		t->new_cycles += cycles;
		t->new_insns += t->owner->codes[p->code].block->n_insns;
	}
	for (unsigned i = 0; i < ENGINE_SIZES; i++)
		memo_add(memo_find(&t->owner->memo[i], p->key[i]), cycles);
}

static int feed(struct engine_thread *t, const struct engine_pending *pending,
		struct tact_stream_execution *x)
{
	struct engine_code *code = &t->owner->codes[pending->code];
	int status = code->is_added ? 0 : engine_add_code(t->owner, code);

	if (status < 0)
		return status;
	x->number = code->number;
	t->pending[t->n_fed++ & (ENGINE_PENDING - 1)] = *pending;
	t->pending[(t->n_fed - 1) & (ENGINE_PENDING - 1)].is_new = !code->simulated++;
	t->simulated += code->block->n_insns;
	return tact_stream_execute(t->stream, x);
}

/* What the largest context that was seen before took on average. */
static double guess(struct engine_thread *t, const struct engine_pending *p)
{
	struct tact_cycles *c = t->owner;

	for (unsigned i = 0; i < ENGINE_SIZES; i++) {
		const struct memo_entry *e = memo_find(&c->memo[i], p->key[i]);

		if (e->n)
			return (double)e->mean;
	}
	/* As other blocks that were new. */
	return (double)c->codes[p->code].block->n_insns *
	       (t->new_insns > 0 ? t->new_cycles / t->new_insns
				 : 1.0 / c->arch->params.issue_width);
}

/* Leaves the pipeline: what is in flight is counted by its context. */
static void leave(struct engine_thread *t)
{
	for (uint64_t i = t->n_retired; i < t->n_fed; i++) {
		struct engine_pending *p = &t->pending[i & (ENGINE_PENDING - 1)];

		if (p->is_counted)
			count(t, p->code, guess(t, p));
		p->is_counted = false;
	}
	t->is_skipping = true;
	t->skip_limit = t->skip_limit ? 2 * t->skip_limit : SKIP_FIRST;
	if (t->skip_limit > SKIP_MOST)
		t->skip_limit = SKIP_MOST;
	t->skipped = 0;
	t->debt = 0;
}

/* Enters it again, filled with what was executed last; that is not counted twice. */
static int enter(struct engine_thread *t)
{
	uint64_t n = t->n_executed < REFILL ? t->n_executed : REFILL;

	t->is_skipping = false;
	t->calm = t->sampled = 0;
	for (uint64_t i = t->n_executed - n; i < t->n_executed; i++) {
		struct engine_pending pending = {.code = t->recent[i % ENGINE_RECENT].code};
		struct tact_stream_execution x = {.address = t->recent[i % ENGINE_RECENT].address,
						  .was_executed = true};
		int status = 0;

		if (t->owner->codes[pending.code].is_known)
			status = feed(t, &pending, &x);
		if (status < 0)
			return status;
	}
	return 0;
}

/* ---- contexts ---- */

static const uint64_t BASE = 0x9e3779b97f4a7c15u;
static const unsigned SIZES[ENGINE_SIZES] = {ENGINE_CONTEXT, ENGINE_MEDIUM, ENGINE_SHORT};

void engine_init_powers(uint64_t *powers)
{
	for (unsigned i = 0; i < ENGINE_SIZES; i++) {
		powers[i] = 1;
		for (unsigned k = 0; k < SIZES[i]; k++)
			powers[i] *= BASE;
	}
}

/* Keys of an execution: the last blocks, and what is special about this one.  Polynomials in an odd
 * number, modulo 2^64: the new block enters, the oldest one leaves.
 */
static void make_keys(struct engine_thread *t, uint32_t code, uint64_t special,
		      struct engine_pending *out)
{
	uint64_t self = mix(BASE, (uint64_t)code << 32 ^ special);

	for (unsigned i = 0; i < ENGINE_SIZES; i++) {
		uint64_t h = t->rolling[i] * BASE + self;

		out->key[i] = h ^ h >> 29;
		t->rolling[i] = h - t->context[(t->n_executed - SIZES[i]) % ENGINE_CONTEXT] *
					    t->owner->powers[i];
	}
	t->context[t->n_executed % ENGINE_CONTEXT] = self;
	out->code = code;
	out->is_counted = true;
}

/* The predictor's opinion on the branch that led here. */
static bool is_mispredicted(struct engine_thread *t, uint64_t address)
{
	const struct engine_code *before;

	if (!t->predictor || !t->n_executed)
		return false;
	before = &t->owner->codes[t->recent[(t->n_executed - 1) % ENGINE_RECENT].code];
	return !predictor_branch(t->predictor, before->branch, before->branch_address, before->end,
				 address);
}

/* Takes the accesses through the caches: cycles that each load takes longer are left in
 * owner->accesses.  Returns what is special about them.
 */
static uint64_t pass_caches(struct engine_thread *t, const struct tact_trace_event *event)
{
	struct tact_cycles *c = t->owner;
	uint64_t special = 0;

	for (size_t i = 0; i < event->n_accesses; i++) {
		const struct tact_trace_access *a = &event->accesses[i];
		unsigned extra = caches_access(t->caches, a->address, a->size);

		c->accesses[i].extra = (uint16_t)extra;
		if (extra && !a->is_store)
			special = mix(special, (uint64_t)a->insn << 16 | extra);
	}
	return special;
}

/* What loads meet: stores of the last executions, as far as the pipeline may still hold them.
 * Returns what is special about that: which store, how long ago, and how the two lie to each other.
 */
static uint64_t meet_stores(struct engine_thread *t, const struct tact_trace_event *event)
{
	uint64_t special = 0;

	for (size_t i = 0; i < event->n_accesses; i++) {
		const struct tact_trace_access *a = &event->accesses[i];
		unsigned at =
			(unsigned)(a->address / 8 ^ a->address / 8 >> 12) & (ENGINE_STORES - 1);
		uint64_t ago = t->n_executed + 1 - t->stores[at].execution;

		if (a->is_store) {
			t->stores[at].address = a->address;
			t->stores[at].execution = t->n_executed + 1;
			t->stores[at].insn = a->insn;
			t->stores[at].size = a->size < 255 ? (uint8_t)a->size : 255;
		} else if (ago <= ENGINE_MEETING && t->stores[at].execution &&
			   t->stores[at].address / 8 == a->address / 8) {
			special =
				mix(special, ago << 40 | (uint64_t)a->insn << 24 |
						     (uint64_t)t->stores[at].insn << 8 |
						     (a->address - t->stores[at].address + 8) * 2 |
						     (t->stores[at].size < a->size));
		}
	}
	return special;
}

/* For the pipeline, which wants them in order. */
static size_t copy_accesses(struct engine_thread *t, const struct tact_trace_event *event)
{
	struct tact_stream_access *to = t->owner->accesses;
	uint16_t last = 0;

	for (size_t i = 0; i < event->n_accesses; i++) {
		const struct tact_trace_access *a = &event->accesses[i];

		if (a->insn < last || a->insn >= event->block->n_insns)
			continue;
		last = a->insn;
		*to++ = (struct tact_stream_access){.address = a->address,
						    .insn = a->insn,
						    .size = a->size < 64 ? (uint16_t)a->size : 64,
						    .extra = t->caches ? t->owner->accesses[i].extra
								       : 0,
						    .is_store = a->is_store};
	}
	return (size_t)(to - t->owner->accesses);
}

static double repeated(const struct tact_trace_event *event)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < event->n_accesses && event->block->is_rep; i++)
		if (event->accesses[i].size > bytes)
			bytes = event->accesses[i].size;
	return (double)bytes / REP_BYTES;
}

static void remember(struct engine_thread *t, uint32_t code, uint64_t address)
{
	t->recent[t->n_executed % ENGINE_RECENT].code = code;
	t->recent[t->n_executed % ENGINE_RECENT].address = address;
	t->n_executed++;
}

/* Counts an execution without the pipeline; false: it is time to enter it. */
static bool skip(struct engine_thread *t, const struct engine_pending *p)
{
	const struct memo_entry *e = memo_find(&t->owner->memo[0], p->key[0]);

	/* What is new comes from the decoders, and nothing is known of it. */
	if (++t->skipped > t->skip_limit ||
	    (!t->owner->codes[p->code].simulated && !is_over_budget(t, NEW_SHARE)))
		return false;
	if (memo_is_known(e)) {
		t->debt -= t->debt > 0 ? DEBT_PAID : 0;
		count(t, p->code, (double)e->mean);
		return true;
	}
	if (t->debt < MOST_DEBT)
		t->debt++;
	else if (!is_over_budget(t, SAMPLED_SHARE))
		return false;
	count(t, p->code, guess(t, p));
	return true;
}

static int simulate(struct engine_thread *t, const struct engine_pending *pending,
		    struct tact_stream_execution *x)
{
	int status = feed(t, pending, x);

	if (status < 0 || t->owner->opt.exact)
		return status;
	t->calm = memo_is_known(memo_find(&t->owner->memo[0], pending->key[0])) ? t->calm + 1 : 0;
	t->sampled++;
	if (t->calm > CALM_BEFORE || (t->sampled > SAMPLE && is_over_budget(t, SAMPLED_SHARE)))
		leave(t);
	return 0;
}

int engine_execute(struct engine_thread *t, uint32_t number, const struct tact_trace_event *event)
{
	struct engine_code *code = &t->owner->codes[number];
	struct engine_pending pending;
	struct tact_stream_execution x = {.address = event->block->address,
					  .accesses = t->owner->accesses,
					  .was_executed = code->executions > 0};
	uint64_t special = mix(t->caches ? pass_caches(t, event) : 0, meet_stores(t, event));
	int status = 0;

	code->executions++;
	t->instructions += event->block->n_insns;
	t->owner->accesses_seen += event->n_accesses;
	x.is_mispredicted = is_mispredicted(t, event->block->address);
	make_keys(t, number, special << 1 | x.is_mispredicted, &pending);
	if (event->block->is_rep)
		count(t, number, repeated(event));
	if (!code->is_known) {
		count(t, number,
		      (double)event->block->n_insns / t->owner->arch->params.issue_width);
	} else if (!t->is_skipping || !skip(t, &pending)) {
		if (t->is_skipping)
			status = enter(t);
		x.n_accesses = copy_accesses(t, event);
		if (status >= 0)
			status = simulate(t, &pending, &x);
	}
	remember(t, number, event->block->address);
	return status;
}

int engine_drain(struct engine_thread *t)
{
	return tact_stream_drain(t->stream);
}

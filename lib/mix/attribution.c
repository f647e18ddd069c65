/* SPDX-License-Identifier: MIT
 *
 * Counters by address -> counters by block.
 *
 * A stream runs from the target of a branch to the source of the next taken branch: every block on
 * the way ran once.  A stream that the code on the way does not allow (an unconditional jump in the
 * middle, a source before the target) is impossible.  In real recordings, nearly all impossible
 * streams are in the newest pair of a stack; where that shows, the newest pairs are left out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mix/balance.h"

enum {
	MAX_STREAM = 1 << 16, /* bytes; longer streams are taken for damage */
	MIN_NEWEST = 50 /* pairs needed before their share of impossible ones means something */
};

/* Newest pairs are left out if they are impossible this much more often than the others. */
static const double newest_ratio = 4, newest_share = 0.005;

/* A stream in a file. */
struct place {
	struct mix_module *module;
	struct mix_code *code;
	uint32_t begin, end;  /* offsets of the first and of the last instruction */
	uint32_t first, last; /* blocks */
};

enum verdict { STREAM_GOOD, STREAM_OUTSIDE, STREAM_IMPOSSIBLE };

/* ---- profiles ---- */

long mix_profile_at(struct tact_mix *mix, uint32_t module, uint32_t code, uint32_t block)
{
	uint32_t *number = &mix->modules.items[module].codes[code].profiles[block];

	if (*number)
		return *number - 1;
	if (mix->n_profiles >= MIX_NONE || tact_grow(&mix->profiles, &mix->profiles_capacity,
						     mix->n_profiles + 1, sizeof(*mix->profiles)))
		return -TACT_E_NOMEM;
	mix->profiles[mix->n_profiles++] =
		(struct mix_profile){.module = module, .code = code, .block = block};
	*number = (uint32_t)mix->n_profiles;
	return (long)mix->n_profiles - 1;
}

static void add_share(struct mix_share *to, const struct mix_share *more)
{
	to->ebs += more->ebs;
	to->lbr += more->lbr;
	to->completed += more->completed;
	to->exact += more->exact;
}

int mix_share_add(struct tact_mix *mix, uint32_t profile, uint32_t thread,
		  const struct mix_share *more)
{
	struct mix_share *last = mix->n_shares ? &mix->shares[mix->n_shares - 1] : NULL;

	if (!last || last->profile != profile || last->thread != thread) {
		if (tact_grow(&mix->shares, &mix->shares_capacity, mix->n_shares + 1,
			      sizeof(*mix->shares)))
			return -TACT_E_NOMEM;
		last = &mix->shares[mix->n_shares++];
		*last = (struct mix_share){.profile = profile, .thread = thread};
	}
	add_share(last, more);
	return 0;
}

static int compare_shares(const void *a, const void *b)
{
	const struct mix_share *x = a, *y = b;

	return 2 * ORDER(x->profile, y->profile) + ORDER(x->thread, y->thread);
}

int mix_shares_sort(struct tact_mix *mix)
{
	size_t n = 0;

	if (mix->n_shares)
		qsort(mix->shares, mix->n_shares, sizeof(*mix->shares), compare_shares);
	for (size_t i = 0; i < mix->n_shares; i++) {
		if (n && !compare_shares(&mix->shares[n - 1], &mix->shares[i])) {
			add_share(&mix->shares[n - 1], &mix->shares[i]);
		} else {
			mix->shares[n++] = mix->shares[i];
		}
	}
	mix->n_shares = n;
	for (size_t i = 0; i < n; i++) {
		struct mix_profile *p = &mix->profiles[mix->shares[i].profile];

		if (!p->n_shares++)
			p->first_share = (uint32_t)i;
	}
	return 0;
}

static long profile_of(struct tact_mix *mix, const struct place *at, uint32_t block)
{
	return mix_profile_at(mix, (uint32_t)(at->module - mix->modules.items),
			      (uint32_t)(at->code - at->module->codes), block);
}

/* ---- addresses ---- */

static struct mix_module *module_at(struct tact_mix *mix, uint32_t epoch, uint64_t address,
				    uint64_t *offset)
{
	const struct mix_map *map = mix_spaces_find(&mix->spaces, epoch, address);

	if (!map)
		return NULL;
	*offset = address - map->begin + map->offset;
	return &mix->modules.items[map->module];
}

static bool is_resumed(const struct mix_tally_entry *e)
{
	return !mix_is_kernel(e->key.a) && e->key.a & MIX_RESUMED;
}

static uint64_t begin_of(const struct mix_tally_entry *e)
{
	return is_resumed(e) ? e->key.a & ~MIX_RESUMED : e->key.a;
}

/* Visits all addresses first: the modules that are needed, and the branch targets in them. */
static int load_modules(struct tact_mix *mix)
{
	const struct mix_tally *tallies[] = {&mix->ebs, &mix->lbr};
	int status = 0;

	for (unsigned t = 0; t < ARRAY_SIZE(tallies); t++) {
		for (size_t i = 0; i < tallies[t]->capacity && !status; i++) {
			const struct mix_tally_entry *e = &tallies[t]->slots[i];
			struct mix_module *module;
			uint64_t offset, end;

			if (!e->hits)
				continue;
			module = module_at(mix, e->key.epoch, begin_of(e), &offset);
			if (!module)
				continue;
			status = mix_module_load(&mix->modules, module);
			if (t && !status && !is_resumed(e))
				status = mix_module_add_leader(module, offset);
			end = offset;
			if (t && e->key.b - begin_of(e) <= MAX_STREAM)
				end += e->key.b - begin_of(e);
			if (!status)
				status = mix_module_touch(module, offset, end);
		}
	}
	for (size_t i = 0; i < mix->modules.n && !status; i++)
		status = mix_blockmap_build(&mix->modules.items[i]);
	return status;
}

/* ---- streams ---- */

static bool in_order(const struct mix_code *code, uint32_t first, uint32_t last)
{
	for (uint32_t b = first; b < last; b++) {
		const struct code_block *x = &code->blocks.items[b];

		if (x->flow != TACT_FLOW_NEXT && x->flow != TACT_FLOW_BRANCH)
			return false;
		if (x->end != code->blocks.items[b + 1].begin)
			return false;
	}
	return true;
}

static enum verdict locate(struct tact_mix *mix, const struct mix_tally_entry *e, struct place *at)
{
	const uint64_t from = begin_of(e);
	uint64_t begin = 0, end = 0;
	struct mix_module *other;

	at->module = module_at(mix, e->key.epoch, from, &begin);
	if (!at->module || !at->module->n_codes)
		return STREAM_OUTSIDE;
	at->code = mix_module_code(at->module, begin);
	if (!at->code)
		return STREAM_OUTSIDE;
	if (e->key.b < from || e->key.b - from > MAX_STREAM)
		return STREAM_IMPOSSIBLE;
	other = module_at(mix, e->key.epoch, e->key.b, &end);
	if (other != at->module || mix_module_code(other, end) != at->code)
		return STREAM_IMPOSSIBLE;
	at->begin = (uint32_t)(begin - at->code->file_offset);
	at->end = (uint32_t)(end - at->code->file_offset);
	at->first = code_blocks_find(&at->code->blocks, at->begin);
	at->last = code_blocks_find(&at->code->blocks, at->end);
	if (at->first == CODE_NONE || at->last == CODE_NONE ||
	    !in_order(at->code, at->first, at->last))
		return STREAM_IMPOSSIBLE;
	return STREAM_GOOD;
}

/* Impossible streams are marked by a weight below zero. */
static void judge_streams(struct tact_mix *mix)
{
	struct tact_mix_summary *s = &mix->summary;
	uint64_t newest = 0, bad_newest = 0, others = 0, bad_others = 0;

	for (size_t i = 0; i < mix->lbr.capacity; i++) {
		struct mix_tally_entry *e = &mix->lbr.slots[i];
		struct place at;
		enum verdict v;

		if (!e->hits)
			continue;
		v = locate(mix, e, &at);
		s->streams += e->hits;
		if (v == STREAM_OUTSIDE) {
			s->outside_streams += e->hits;
			if (at.module)
				at.module->outside += e->hits;
		} else {
			newest += e->newest_hits;
			others += e->hits - e->newest_hits;
		}
		if (v == STREAM_IMPOSSIBLE) {
			bad_newest += e->newest_hits;
			bad_others += e->hits - e->newest_hits;
		}
		if (v != STREAM_GOOD)
			e->weight = -1;
	}
	s->impossible_streams = bad_newest + bad_others;
	s->newest_impossible = newest ? (double)bad_newest / (double)newest : 0;
	s->other_impossible = others ? (double)bad_others / (double)others : 0;
	s->newest_dropped = newest >= MIN_NEWEST && s->newest_impossible > newest_share &&
			    s->newest_impossible > newest_ratio * s->other_impossible &&
			    mix->stack_depth > 3;
}

static int add_block(struct tact_mix *mix, const struct place *at, uint32_t block, uint32_t thread,
		     const struct mix_share *weights, const struct mix_tally_entry *e,
		     uint32_t hits)
{
	const bool drops = mix->summary.newest_dropped;
	long number = profile_of(mix, at, block);
	struct mix_profile *p;

	if (number < 0)
		return (int)number;
	p = &mix->profiles[number];
	p->lbr += weights->lbr;
	p->completed += weights->completed;
	p->lbr_hits += hits;
	for (unsigned i = 0; i < MIX_PLACES; i++)
		p->places[i] += e->places[i] - (drops && !i ? e->newest : 0);
	if (block != at->first)
		p->fall_in += weights->lbr;
	if (block != at->last)
		p->fall_out += weights->lbr;
	return mix_share_add(mix, (uint32_t)number, thread, weights);
}

static int add_stream(struct tact_mix *mix, struct mix_balance *flow,
		      const struct mix_tally_entry *e)
{
	const double depth = mix->stack_depth - 1;
	const bool drops = mix->summary.newest_dropped;
	const uint32_t hits = e->hits - (drops ? e->newest_hits : 0);
	struct mix_share weights = {.lbr = e->weight - (drops ? e->newest : 0)};
	struct place at;
	uint32_t first;

	if (!hits || locate(mix, e, &at) != STREAM_GOOD)
		return 0;
	if (drops)
		weights.lbr *= depth / (depth - 1);
	weights.completed = weights.lbr * mix_balance_factor(flow, e->key.epoch, begin_of(e));
	first = at.first;
	/* Code that continues after an interrupt was counted when it began. */
	if (is_resumed(e) && at.code->blocks.items[first].begin != at.begin)
		first++;
	for (uint32_t b = first; b <= at.last; b++)
		if (add_block(mix, &at, b, e->key.thread, &weights, e, hits))
			return -TACT_E_NOMEM;
	return 0;
}

static int add_streams(struct tact_mix *mix)
{
	struct mix_balance *flow = NULL;
	int status = mix_balance_create(&flow, mix);

	for (size_t i = 0; i < mix->lbr.capacity && !status; i++)
		if (mix->lbr.slots[i].hits && mix->lbr.slots[i].weight >= 0)
			status = add_stream(mix, flow, &mix->lbr.slots[i]);
	mix_balance_destroy(flow);
	return status;
}

/* ---- instruction pointers ---- */

static int add_samples(struct tact_mix *mix)
{
	for (size_t i = 0; i < mix->ebs.capacity; i++) {
		const struct mix_tally_entry *e = &mix->ebs.slots[i];
		struct mix_share share = {0};
		struct place at = {0};
		uint64_t offset;
		uint32_t block = CODE_NONE;
		long number;

		if (!e->hits)
			continue;
		at.module = module_at(mix, e->key.epoch, e->key.a, &offset);
		at.code = at.module ? mix_module_code(at.module, offset) : NULL;
		if (at.code)
			block = code_blocks_find(&at.code->blocks,
						 (uint32_t)(offset - at.code->file_offset));
		if (block == CODE_NONE) {
			mix->summary.outside_samples += e->hits;
			if (at.module)
				at.module->outside += e->hits;
			continue;
		}
		number = profile_of(mix, &at, block);
		if (number < 0)
			return (int)number;
		mix->profiles[number].ebs += e->weight;
		mix->profiles[number].ebs_hits += e->hits;
		share.ebs = e->weight;
		if (mix_share_add(mix, (uint32_t)number, e->key.thread, &share))
			return -TACT_E_NOMEM;
	}
	return 0;
}

/* ---- branches: bias and flow ---- */

static struct mix_profile *find_profile(struct tact_mix *mix, uint32_t epoch, uint64_t address,
					bool is_target)
{
	uint64_t offset;
	struct mix_module *module = module_at(mix, epoch, address, &offset);
	struct mix_code *code = module ? mix_module_code(module, offset) : NULL;
	uint32_t block, in_code;

	if (!code || !code->profiles)
		return NULL;
	in_code = (uint32_t)(offset - code->file_offset);
	block = code_blocks_find(&code->blocks, in_code);
	if (block == CODE_NONE || !code->profiles[block])
		return NULL;
	if (in_code !=
	    (is_target ? code->blocks.items[block].begin : code->blocks.items[block].last))
		return NULL;
	return &mix->profiles[code->profiles[block] - 1];
}

/* A stack has N records and N - 1 streams: a record weighs (N - 1) / N of a stream. */
static double weight_of_record(const struct tact_mix *mix)
{
	return mix->stack_depth > 1 ? (mix->stack_depth - 1) / mix->stack_depth : 1;
}

static int add_arc(struct tact_mix *mix, const struct mix_profile *from,
		   const struct mix_profile *to, double weight)
{
	if (tact_grow(&mix->arcs, &mix->arcs_capacity, mix->n_arcs + 1, sizeof(*mix->arcs)))
		return -TACT_E_NOMEM;
	mix->arcs[mix->n_arcs++] =
		(struct mix_arc){(uint32_t)(from - mix->profiles), (uint32_t)(to - mix->profiles),
				 weight * weight_of_record(mix)};
	return 0;
}

static int add_branches(struct tact_mix *mix)
{
	for (size_t i = 0; i < mix->edges.capacity; i++) {
		const struct mix_tally_entry *e = &mix->edges.slots[i];
		struct mix_profile *from, *to;

		if (!e->hits)
			continue;
		from = find_profile(mix, e->key.epoch, e->key.a, false);
		to = find_profile(mix, e->key.epoch, e->key.b, true);
		if (from) {
			from->branches += e->hits;
			from->oldest += e->newest_hits;
			from->out += e->weight;
		}
		if (to)
			to->in += e->weight;
		if (from && to && add_arc(mix, from, to, e->weight))
			return -TACT_E_NOMEM;
	}
	return 0;
}

/* In a stack of N records, a branch is in the oldest entry one time in N; paper, section III.C:
 * much more often, up to half of the time, makes the blocks before it suspect.  Here: twice as
 * often, and more than four standard errors.
 */
static void find_bias(struct tact_mix *mix)
{
	const double n = mix->stack_depth;

	for (size_t i = 0; i < mix->n_profiles; i++) {
		struct mix_profile *p = &mix->profiles[i];
		double expected = n > 0 ? (double)p->branches / n : 0;

		p->is_biased = p->branches && (double)p->oldest > 2 * expected &&
			       (double)p->oldest - expected > 4 * sqrt(expected + 1);
		mix->summary.biased_blocks += p->is_biased;
	}
}

/* What enters a block leaves it.  A block is entered by branches, all records of which are counted,
 * and from the block before it; it is left the same ways; its count comes from streams.
 */
static void check_flow(struct tact_mix *mix)
{
	struct tact_mix_summary *s = &mix->summary;
	const double n = mix->stack_depth;
	double sum = 0, wrong = 0, unit;

	s->flow_error = -1;
	if (!mix->has_lbr || n < 3)
		return;
	for (size_t i = 0; i < mix->n_profiles; i++) {
		const struct mix_profile *p = &mix->profiles[i];
		double in, out, error;

		if (p->lbr_hits < 2 * n)
			continue;
		in = p->fall_in + p->in * weight_of_record(mix);
		out = p->fall_out + p->out * weight_of_record(mix);
		unit = p->lbr / (double)p->lbr_hits;
		/* Stacks are samples; records in one of them are not independent of each other. */
		error = 4 * unit * sqrt(n * (double)p->lbr_hits);
		s->flow_blocks++;
		s->flow_outliers += fabs(in - out) > error;
		sum += p->lbr;
		wrong += fabs(in - out);
	}
	s->flow_error = sum > 0 ? wrong / sum : -1;
}

/* Streams taken by an event of another kind have shares but no scale, unless instructions were
 * sampled as well.
 */
static void scale(struct tact_mix *mix)
{
	double instructions = 0, factor;

	if (!mix->has_lbr || mix->lbr_is_absolute)
		return;
	if (!mix->has_ebs || !mix->ebs_is_absolute)
		return;
	for (size_t i = 0; i < mix->n_profiles; i++)
		instructions +=
			mix->profiles[i].lbr * mix_block_of(mix, &mix->profiles[i])->n_insns;
	if (!(instructions > 0))
		return;
	factor = mix->ebs_total / instructions;
	for (size_t i = 0; i < mix->n_profiles; i++) {
		mix->profiles[i].lbr *= factor;
		mix->profiles[i].completed *= factor;
		mix->profiles[i].in *= factor;
		mix->profiles[i].out *= factor;
		mix->profiles[i].fall_in *= factor;
		mix->profiles[i].fall_out *= factor;
	}
	for (size_t i = 0; i < mix->n_arcs; i++)
		mix->arcs[i].weight *= factor;
	for (size_t i = 0; i < mix->n_shares; i++) {
		mix->shares[i].lbr *= factor;
		mix->shares[i].completed *= factor;
	}
}

int mix_resolve(struct tact_mix *mix, struct tact_diag *diag)
{
	int status = load_modules(mix);

	if (!status) {
		judge_streams(mix);
		status = add_streams(mix);
	}
	if (!status)
		status = add_samples(mix);
	if (!status)
		status = mix_shares_sort(mix);
	if (!status)
		status = add_branches(mix);
	if (status)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	find_bias(mix);
	check_flow(mix);
	scale(mix);
	mix_tally_fini(&mix->ebs);
	mix_tally_fini(&mix->lbr);
	mix_tally_fini(&mix->edges);
	return 0;
}

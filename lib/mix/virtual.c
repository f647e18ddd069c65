/* SPDX-License-Identifier: MIT
 *
 * A virtual PMU.  Two counters run down; where one ends, an instruction is sampled as hardware does
 * it, which is not the one that was meant:
 *
 * - skid: some samples of the precise event, and all branch stacks, are taken some cycles after the
 *   overflow;
 * - shadowing: the sample is then of the first instruction that retires.  Instructions that retire
 *   together with the one before them are never sampled; an instruction after a long wait is
 *   sampled for everything that was counted during the last cycles before it;
 * - the branch stack is finite, and includes what happens until the sample;
 * - in 15% and 26% of the stacks of two real recordings, the newest pair is impossible: a record
 *   in between is missing;
 * - the paper saw branches in the oldest entry up to half of the time (section III.C).
 */
#include "mix/virtual.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum {
	RING = 256, /* branches that are remembered: more than a stack and a window */
	MAX_DEPTH = 64,
	ENOUGH = 400,	    /* instructions after an overflow: more than retire during its skid */
	DEFAULT_DEPTH = 16, /* HBBP paper, section III.B */
	/* doc/models/mix.md: with these, EBS and LBR alone are about as wrong as in the paper. */
	DEFAULT_SKID = 4,    /* cycles */
	DEFAULT_SHADOW = 25, /* percent of the samples */
	DEFAULT_BIASED = 10, /* per mille of the branches */
	DEFAULT_LOST = 20    /* percent of the stacks: between the two recordings */
};

/* An overflow whose sample has not been taken yet: that takes some more blocks. */
struct pending {
	bool is_open;
	uint64_t block; /* of the thread, counted from 0 */
	uint32_t insn;
	uint64_t until; /* instructions of the thread: by then, enough is known as well */
};

enum { HISTORY = 128 }; /* blocks that are remembered: a power of two, more than a window */

struct vthread {
	uint32_t pid;
	uint64_t ebs_left, lbr_left; /* until the overflow */
	uint64_t n_blocks, n_insns;
	struct mix_vblock *history[HISTORY];
	uint32_t branches_before[HISTORY]; /* that had been taken when the block began */
	struct pending ebs, lbr;
	struct pmu_branch ring[RING];
	uint32_t n_branches; /* ever */
};

struct mix_vpmu {
	struct tact_mix_emulated *totals;
	struct pmu_writer *writer;
	struct mix_retirement *retirement;
	struct vthread **threads;
	size_t n_threads, threads_capacity;
	uint64_t random, seed, time;
	uint64_t ebs_period, lbr_period;
	uint32_t depth, skid, shadow, lost, biased;
};

void mix_vpmu_attrs(const struct tact_mix_emulate_options *opt, struct pmu_attr attrs[2])
{
	const uint64_t type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			      PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;

	attrs[MIX_VPMU_EBS] = (struct pmu_attr){
		.type = PERF_TYPE_RAW,
		.config = 0x1c0,
		.period = opt->ebs_period,
		.sample_type = type,
		.sample_id_all = true,
		.exclude_kernel = true,
		.precise = 3,
		.name = "inst_retired.prec_dist",
	};
	attrs[MIX_VPMU_LBR] = (struct pmu_attr){
		.type = PERF_TYPE_RAW,
		.config = 0x20c4,
		.period = opt->lbr_period,
		.sample_type = type | PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
		.sample_id_all = true,
		.exclude_kernel = true,
		.name = "br_inst_retired.near_taken",
	};
}

/* xorshift64* (Vigna, 2016). */
static uint64_t next_random(struct mix_vpmu *v)
{
	v->random ^= v->random >> 12;
	v->random ^= v->random << 25;
	v->random ^= v->random >> 27;
	return v->random * 0x2545f4914f6cdd1du;
}

static uint64_t below(struct mix_vpmu *v, uint64_t limit)
{
	return (next_random(v) >> 11) % limit;
}

/* 0 asks for the default, -1 for none. */
static uint32_t or_default(int asked, uint32_t usual)
{
	return asked < 0 ? 0 : asked ? (uint32_t)asked : usual;
}

int mix_vpmu_create(struct mix_vpmu **out, const struct tact_mix_emulate_options *o,
		    struct tact_mix_emulated *totals, struct pmu_writer *writer,
		    struct tact_diag *diag)
{
	struct mix_vpmu *v = calloc(1, sizeof(*v));
	int status;

	if (!v)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = mix_retirement_create(&v->retirement, o->arch, diag);
	if (status < 0) {
		free(v);
		return status;
	}
	v->totals = totals;
	v->writer = writer;
	v->time = 1; /* 0 would mean unknown */
	v->seed = o->seed;
	v->random = (o->seed + 1) * 0x9e3779b97f4a7c15u;
	v->ebs_period = o->ebs_period;
	v->lbr_period = o->lbr_period;
	v->depth = o->depth ? o->depth : DEFAULT_DEPTH;
	v->skid = or_default(o->skid, DEFAULT_SKID);
	v->shadow = or_default(o->shadow, DEFAULT_SHADOW);
	v->lost = or_default(o->lost_newest, DEFAULT_LOST);
	v->biased = or_default(o->biased, DEFAULT_BIASED);
	*out = v;
	return 0;
}

void mix_vpmu_destroy(struct mix_vpmu *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n_threads; i++)
		free(v->threads[i]);
	free(v->threads);
	mix_retirement_destroy(v->retirement);
	free(v);
}

/* Which branches are biased depends on the address of the code and on the seed. */
bool mix_vpmu_is_sticky(const struct mix_vpmu *v, uint64_t branch)
{
	uint64_t h = (branch ^ v->seed) * 0x9e3779b97f4a7c15u;

	h ^= h >> 32;
	h *= 0xbf58476d1ce4e5b9u;
	return (h >> 32) % 1000 < v->biased;
}

/* ---- samples ---- */

static struct vthread *thread_at(struct mix_vpmu *v, uint32_t number, uint32_t pid)
{
	struct vthread *t;

	if (number >= v->n_threads) {
		size_t n = v->n_threads;

		if (tact_grow(&v->threads, &v->threads_capacity, (size_t)number + 1,
			      sizeof(struct vthread *)))
			return NULL;
		memset(v->threads + n, 0, (v->threads_capacity - n) * sizeof(struct vthread *));
		v->n_threads = (size_t)number + 1;
	}
	t = v->threads[number];
	if (t)
		return t;
	t = v->threads[number] = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->pid = pid;
	t->ebs_left = 1 + below(v, v->ebs_period);
	t->lbr_left = 1 + below(v, v->lbr_period);
	v->totals->threads++;
	return t;
}

static void write_sample(struct mix_vpmu *v, const struct vthread *t, uint32_t thread,
			 unsigned event, uint64_t ip, const struct pmu_branch *stack, uint32_t n)
{
	struct pmu_sample s = {
		.ip = ip,
		.time = v->time,
		.period = event == MIX_VPMU_EBS ? v->ebs_period : v->lbr_period,
		.pid = t->pid,
		.tid = t->pid + thread,
		.n_branches = n,
		.branches = (const uint8_t *)stack,
	};

	pmu_writer_sample(v->writer, event, &s, PMU_MODE_USER);
}

/* Returns the record of a branch, given how many had been taken with it. */
static const struct pmu_branch *branch_at(const struct vthread *t, uint32_t n)
{
	return &t->ring[(n - 1) % RING];
}

/* Returns how many more branches it takes until a biased one of the older half is the oldest; 0:
 * there is none.  So it is there in half of the stacks that it is in.
 */
static uint32_t bias_delay(const struct mix_vpmu *v, const struct vthread *t, uint32_t n)
{
	for (uint32_t age = v->depth - 1; age >= v->depth / 2; age--)
		if (age < n && mix_vpmu_is_sticky(v, branch_at(t, n - age)->from))
			return v->depth - 1 - age;
	return 0;
}

static void take_stack(struct mix_vpmu *v, struct vthread *t, uint32_t thread, uint64_t ip,
		       uint32_t n)
{
	struct pmu_branch stack[MAX_DEPTH];
	bool is_lost = below(v, 100) < v->lost;
	uint32_t filled = 0;

	n += bias_delay(v, t, n);
	if (n > t->n_branches)
		n = t->n_branches;
	for (uint32_t age = 0; filled < v->depth && age < n; age++)
		if (age != 1 || !is_lost)
			stack[filled++] = *branch_at(t, n - age);
	write_sample(v, t, thread, MIX_VPMU_LBR, ip, stack, filled);
	v->totals->lbr_samples++;
}

/* ---- detail: only where a sample is due ---- */

static int find_offsets(struct mix_vblock *b)
{
	const struct tact_trace_block *x = b->block;
	size_t at = 0;

	if (b->offsets)
		return 0;
	b->offsets = calloc(x->n_insns + 1, sizeof(*b->offsets));
	if (!b->offsets)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < x->n_insns; i++) {
		struct isa_properties q;

		b->offsets[i] = (uint16_t)at;
		x->isa->describe(&q, x->code + at, x->code_size - at);
		at += q.length ? q.length : 1;
		if (at >= x->code_size)
			at = x->last_offset;
	}
	return 0;
}

/* Finds where the sample lands, once all blocks around the overflow are known. */
static int take(struct mix_vpmu *v, struct vthread *t, uint32_t thread, struct pending *p)
{
	uint64_t first = p->block > MIX_PAST ? p->block - MIX_PAST : 0, at;
	struct mix_window w = {.block = (uint32_t)(p->block - first), .insn = p->insn};
	struct mix_vblock *b;
	int status;

	p->is_open = false;
	for (at = first; at < t->n_blocks && at <= p->block + MIX_FUTURE; at++)
		w.blocks[w.n++] = t->history[at % HISTORY];
	if (p == &t->lbr || below(v, 100) < v->shadow) {
		status = mix_retirement_after(v->retirement, &w, v->skid);
		if (status < 0)
			return status;
		v->totals->simulated += (uint32_t)status;
	}
	b = w.blocks[w.block];
	if (find_offsets(b))
		return -TACT_E_NOMEM;
	at = b->block->address + b->offsets[w.insn];
	if (p == &t->ebs) {
		write_sample(v, t, thread, MIX_VPMU_EBS, at, NULL, 0);
		v->totals->ebs_samples++;
	} else {
		take_stack(v, t, thread, at, t->branches_before[(first + w.block) % HISTORY]);
	}
	return 0;
}

/* Records that a branch was taken, from the last block to this one. */
static void branch(struct mix_vpmu *v, struct vthread *t, const struct mix_vblock *last,
		   const struct mix_vblock *b)
{
	const struct tact_trace_block *from = last->block;

	t->ring[t->n_branches++ % RING] =
		(struct pmu_branch){from->address + from->last_offset, b->block->address, 2};
	v->totals->branches++;
	if (--t->lbr_left)
		return;
	t->lbr_left = v->lbr_period;
	/* One that is still open when the next is due is lost, as on hardware. */
	if (!t->lbr.is_open)
		t->lbr = (struct pending){true, t->n_blocks - 1, from->n_insns - 1,
					  t->n_insns + ENOUGH};
}

/* Returns whether enough after the overflow is known: blocks, or instructions where blocks are
 * long.
 */
static bool is_due(const struct vthread *t, const struct pending *p)
{
	return p->is_open && (t->n_blocks > p->block + MIX_FUTURE || t->n_insns >= p->until);
}

int mix_vpmu_exec(struct mix_vpmu *v, uint32_t thread, uint32_t pid, struct mix_vblock *b)
{
	struct vthread *t = thread < v->n_threads ? v->threads[thread] : NULL;
	const uint32_t n = b->block->n_insns;
	const struct mix_vblock *last;

	if (!t) {
		t = thread_at(v, thread, pid);
		if (!t)
			return -TACT_E_NOMEM;
	}
	last = t->n_blocks ? t->history[(t->n_blocks - 1) % HISTORY] : NULL;
	/* Code that continues after its end took no branch; code that was cut without one was
	 * interrupted.
	 */
	if (last && last->block->address + last->block->code_size != b->block->address &&
	    !last->block->is_open)
		branch(v, t, last, b);
	t->history[t->n_blocks % HISTORY] = b;
	t->branches_before[t->n_blocks % HISTORY] = t->n_branches;
	if (t->ebs_left <= n) {
		if (!t->ebs.is_open)
			t->ebs = (struct pending){true, t->n_blocks, (uint32_t)t->ebs_left - 1,
						  t->n_insns + n + ENOUGH};
		t->ebs_left += v->ebs_period;
	}
	t->ebs_left -= n;
	t->n_blocks++;
	t->n_insns += n;
	v->time += n;
	if (is_due(t, &t->ebs) && take(v, t, thread, &t->ebs))
		return -TACT_E_NOMEM;
	if (is_due(t, &t->lbr) && take(v, t, thread, &t->lbr))
		return -TACT_E_NOMEM;
	return 0;
}

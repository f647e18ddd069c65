/* SPDX-License-Identifier: MIT
 *
 * A virtual PMU.  Two counters run down; where one ends, an instruction is sampled as hardware does
 * it, not the one that was meant:
 *
 * - skid: the sample is taken some cycles after the overflow;
 * - shadowing: it is then the first instruction that retires.  Those that retire together with
 *   the one in front of them are never sampled; one behind a long wait is sampled for all that
 *   were counted during the last cycles before it;
 * - the branch stack has some entries, and what happens until the sample is in it;
 * - in 15% and 26% of the stacks of two real recordings the newest pair is impossible: a record
 * between is missing;
 * - the paper saw branches in the oldest entry up to half of the time (section III.C).
 */
#include "mix/virtual.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

enum {
	RING = 128, /* branches that are remembered: more than a stack and what is lost of it */
	MAX_DEPTH = 64,
	DEFAULT_DEPTH = 16, /* HBBP paper, section III.B */
	DEFAULT_SKID =
		4, /* cycles; doc/models/mix.md: the value at which EBS errs as in the paper */
	DEFAULT_LOST = 20,  /* percent: between the two recordings */
	DEFAULT_BIASED = 10 /* per mille of the branches; doc/models/mix.md */
};

struct pending {
	bool is_open;
	uint32_t left;	/* cycles until a sample can be taken */
	uint32_t delay; /* branches more until the stack is taken */
};

struct vthread {
	struct mix_vblock *last;
	uint32_t pid;
	uint64_t ebs_left, lbr_left; /* until the overflow */
	uint64_t retired;	     /* instructions */
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
	uint32_t depth, skid, lost, biased;
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

int mix_vpmu_create(struct mix_vpmu **out, const struct tact_mix_emulate_options *o,
		    struct tact_mix_emulated *totals, struct pmu_writer *writer,
		    struct tact_diag *diag)
{
	struct mix_vpmu *v = calloc(1, sizeof(*v));
	int status;

	if (!v)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = mix_retirement_create(&v->retirement, o->arch ? o->arch : tact_arch_find("SKL"),
				       diag);
	if (status < 0) {
		free(v);
		return status;
	}
	v->totals = totals;
	v->writer = writer;
	v->time = 1; /* 0 would mean that it is not known */
	v->seed = o->seed;
	v->random = (o->seed + 1) * 0x9e3779b97f4a7c15u;
	v->ebs_period = o->ebs_period;
	v->lbr_period = o->lbr_period;
	v->depth = o->depth ? o->depth : DEFAULT_DEPTH;
	v->skid = (uint32_t)(o->skid < 0 ? DEFAULT_SKID : o->skid);
	v->lost = (uint32_t)(o->lost_newest < 0 ? DEFAULT_LOST : o->lost_newest);
	v->biased = (uint32_t)(o->biased < 0 ? DEFAULT_BIASED : o->biased);
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

/* Which branches are biased depends on the place of the code and the seed. */
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

static const struct pmu_branch *branch_at(const struct vthread *t, uint32_t age)
{
	return &t->ring[(t->n_branches - 1 - age) % RING];
}

/* How many branches more until a biased one of the older half is the oldest; 0: none is there.  So
 * it stands there in half of the stacks that it is in.
 */
static uint32_t bias_delay(const struct mix_vpmu *v, const struct vthread *t)
{
	for (uint32_t age = v->depth - 1; age >= v->depth / 2 && age < t->n_branches; age--)
		if (mix_vpmu_is_sticky(v, branch_at(t, age)->from))
			return v->depth - 1 - age;
	return 0;
}

static void take_stack(struct mix_vpmu *v, struct vthread *t, uint32_t thread, uint64_t ip)
{
	struct pmu_branch stack[MAX_DEPTH];
	bool is_lost = below(v, 100) < v->lost;
	uint32_t n = 0;

	for (uint32_t age = 0; n < v->depth && age < t->n_branches && age < RING; age++) {
		if (age == 1 && is_lost)
			continue;
		stack[n++] = *branch_at(t, age);
	}
	write_sample(v, t, thread, MIX_VPMU_LBR, ip, stack, n);
	t->lbr.is_open = false;
	v->totals->lbr_samples++;
}

/* ---- detail: only where a sample is due ---- */

static int look_at(struct mix_vpmu *v, struct mix_vblock *b)
{
	const struct tact_trace_block *x = b->block;
	size_t n = x->n_insns, at = 0;

	if (b->at)
		return 0;
	b->at = calloc(2 * n + 2, sizeof(*b->at));
	if (!b->at)
		return -TACT_E_NOMEM;
	b->offsets = b->at + n + 1;
	for (size_t i = 0; i < n; i++) {
		struct mix_properties q;

		b->offsets[i] = (uint16_t)at;
		mix_properties_of(x->code + at, x->code_size - at, &q);
		at += q.length ? q.length : 1;
		if (at >= x->code_size)
			at = x->last_offset;
	}
	v->totals->simulated++;
	return mix_retirement_of(v->retirement, x->code, x->code_size, b->at, n);
}

/* The first instruction from `first` on that retires more than `left` cycles behind the beginning;
 * n: none. */
static uint32_t first_after(const struct mix_vblock *b, uint32_t first, uint32_t left)
{
	uint32_t i = first;

	while (i < b->block->n_insns && b->at[i] <= left)
		i++;
	return i;
}

static uint32_t cycles_of(const struct mix_vblock *b)
{
	return b->block->n_insns ? b->at[b->block->n_insns - 1] : 0;
}

/* Goes on with a sample that is due, from an instruction of the block on. */
static void go_on(struct mix_vpmu *v, struct vthread *t, uint32_t thread, struct mix_vblock *b,
		  struct pending *p, uint32_t first)
{
	uint32_t i = first_after(b, first, p->left);

	if (i == b->block->n_insns) {
		p->left -= cycles_of(b) < p->left ? cycles_of(b) : p->left;
		return;
	}
	if (p == &t->ebs) {
		write_sample(v, t, thread, MIX_VPMU_EBS, b->block->address + b->offsets[i], NULL,
			     0);
		v->totals->ebs_samples++;
		p->is_open = false;
		return;
	}
	p->delay = bias_delay(v, t);
	if (!p->delay)
		take_stack(v, t, thread, b->block->address + b->offsets[i]);
}

static int in_detail(struct mix_vpmu *v, struct vthread *t, uint32_t thread, struct mix_vblock *b)
{
	uint32_t n = b->block->n_insns;

	if (look_at(v, b))
		return -TACT_E_NOMEM;
	if (t->ebs.is_open)
		go_on(v, t, thread, b, &t->ebs, 0);
	if (t->lbr.is_open && !t->lbr.delay)
		go_on(v, t, thread, b, &t->lbr, 0);
	while (t->ebs_left <= n) {
		uint32_t k = (uint32_t)t->ebs_left - 1;

		/* One that is still open when the next is due is lost, as on hardware. */
		t->ebs = (struct pending){.is_open = true, .left = b->at[k] + v->skid};
		go_on(v, t, thread, b, &t->ebs, k + 1);
		t->ebs_left += v->ebs_period;
	}
	return 0;
}

/* A branch was taken, from the last block to this one. */
static void branch(struct mix_vpmu *v, struct vthread *t, uint32_t thread,
		   const struct mix_vblock *b)
{
	const struct tact_trace_block *from = t->last->block;

	t->ring[t->n_branches++ % RING] =
		(struct pmu_branch){from->address + from->last_offset, b->block->address, 2};
	v->totals->branches++;
	if (t->lbr.is_open && t->lbr.delay && !--t->lbr.delay)
		take_stack(v, t, thread, b->block->address);
	if (--t->lbr_left)
		return;
	t->lbr_left = v->lbr_period;
	t->lbr = (struct pending){.is_open = true, .left = v->skid};
}

int mix_vpmu_exec(struct mix_vpmu *v, uint32_t thread, uint32_t pid, struct mix_vblock *b)
{
	struct vthread *t = thread < v->n_threads ? v->threads[thread] : NULL;
	const uint32_t n = b->block->n_insns;
	const struct tact_trace_block *last;

	if (!t) {
		t = thread_at(v, thread, pid);
		if (!t)
			return -TACT_E_NOMEM;
	}
	last = t->last ? t->last->block : NULL;
	/* Code that goes on behind its end took no branch; what is cut without one was interrupted.
	 */
	if (last && last->address + last->code_size != b->block->address && !last->is_open)
		branch(v, t, thread, b);
	if (t->ebs_left <= n || t->ebs.is_open || (t->lbr.is_open && !t->lbr.delay))
		if (in_detail(v, t, thread, b))
			return -TACT_E_NOMEM;
	t->ebs_left -= n;
	v->time += n;
	t->last = b;
	return 0;
}

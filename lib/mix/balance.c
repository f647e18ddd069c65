/* SPDX-License-Identifier: MIT
 *
 * Streams, balanced: what a stack would show if it were longer.
 *
 * The place where a stack ends is not random.  It is taken where the machine allows it: after
 * instructions that retire late, too often right after the same ones.  Code before such a place is
 * in too many stacks, code far from it in too few; and a branch that is too often the oldest record
 * hides the stream before it (HBBP paper, section III.C).
 *
 * This does not affect how often a stream that begins here ends there, and where a branch leads:
 * those are shares among the records of one place.  With them, each stack is continued, on average,
 * by many more records than hardware has.  That would not change the true numbers of executions:
 * what enters a block leaves it.  So it dilutes the errors that the end of the stacks causes, and
 * only those.  It remains a local correction: how much each phase of a program counts comes from
 * where samples were taken.
 */
#include "mix/balance.h"

#include <stdlib.h>
#include <string.h>

enum {
	STEPS = 16 /* records that continue a stack: as many again as hardware has */
};

/* From one place to another, with a share. */
struct arc {
	uint32_t from, to;
	double share;
};

struct arcs {
	struct arc *items;
	size_t n, capacity;
};

struct mix_balance {
	struct mix_tally nodes; /* (epoch, address, kind): number plus one in newest_hits */
	uint32_t n;
	struct arcs streams, edges;
	double *start, *now, *next, *sum; /* by node */
};

enum kind { TARGET, SOURCE };

static long node_at(struct mix_balance *f, uint32_t epoch, uint64_t address, enum kind kind)
{
	struct mix_tally_key key = {.epoch = epoch, .a = address, .b = kind};
	struct mix_tally_entry *e = mix_tally_at(&f->nodes, &key);

	if (!e)
		return -TACT_E_NOMEM;
	if (!e->newest_hits)
		e->newest_hits = ++f->n;
	return e->newest_hits - 1;
}

static int add_arc(struct arcs *arcs, long from, long to, double share)
{
	if (from < 0 || to < 0 ||
	    tact_grow(&arcs->items, &arcs->capacity, arcs->n + 1, sizeof(*arcs->items)))
		return -TACT_E_NOMEM;
	arcs->items[arcs->n++] = (struct arc){(uint32_t)from, (uint32_t)to, share};
	return 0;
}

/* Records near the newest end are there because the stack ended soon after them: they say nothing
 * about shares if there are others.
 */
static double settled(const struct mix_tally_entry *e)
{
	return e->settled ? e->settled : 0.01 * e->hits;
}

static int collect(struct mix_balance *f, const struct tact_mix *mix)
{
	int status = 0;

	for (size_t i = 0; i < mix->lbr.capacity && !status; i++) {
		const struct mix_tally_entry *e = &mix->lbr.slots[i];

		if (e->hits && e->weight >= 0)
			status = add_arc(&f->streams,
					 node_at(f, e->key.epoch, e->key.a & ~MIX_RESUMED, TARGET),
					 node_at(f, e->key.epoch, e->key.b, SOURCE), settled(e));
	}
	for (size_t i = 0; i < mix->edges.capacity && !status; i++) {
		const struct mix_tally_entry *e = &mix->edges.slots[i];

		if (e->hits)
			status = add_arc(&f->edges, node_at(f, e->key.epoch, e->key.a, SOURCE),
					 node_at(f, e->key.epoch, e->key.b & ~MIX_RESUMED, TARGET),
					 settled(e));
	}
	return status;
}

/* Turns counts into shares of what leaves a place. */
static void normalise(const struct mix_balance *f, struct arcs *arcs)
{
	memset(f->sum, 0, f->n * sizeof(*f->sum));
	for (size_t i = 0; i < arcs->n; i++)
		f->sum[arcs->items[i].from] += arcs->items[i].share;
	for (size_t i = 0; i < arcs->n; i++)
		arcs->items[i].share /= f->sum[arcs->items[i].from];
}

static void move(const struct arcs *arcs, const double *from, double *to)
{
	for (size_t i = 0; i < arcs->n; i++)
		to[arcs->items[i].to] += from[arcs->items[i].from] * arcs->items[i].share;
}

static double total(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum;
}

/* Adds one more record: along streams to sources, along branches to targets.  What ends (a program
 * does, and places that were seen once) begins anew where stacks begin.
 */
static void step(struct mix_balance *f, double all)
{
	double lost;

	memset(f->next, 0, f->n * sizeof(*f->next));
	move(&f->streams, f->now, f->next);
	memset(f->now, 0, f->n * sizeof(*f->now));
	move(&f->edges, f->next, f->now);
	lost = (all - total(f->now, f->n)) / all;
	for (uint32_t i = 0; i < f->n; i++)
		f->now[i] += lost * f->start[i];
}

static void balance(struct mix_balance *f, const struct tact_mix *mix)
{
	const bool drops = mix->summary.newest_dropped;
	double all;

	for (size_t i = 0; i < mix->lbr.capacity; i++) {
		const struct mix_tally_entry *e = &mix->lbr.slots[i];

		if (e->hits && e->weight >= 0)
			f->start[node_at(f, e->key.epoch, e->key.a & ~MIX_RESUMED, TARGET)] +=
				e->weight - (drops ? e->newest : 0);
	}
	memset(f->sum, 0, f->n * sizeof(*f->sum));
	memcpy(f->now, f->start, f->n * sizeof(*f->now));
	all = total(f->start, f->n);
	for (unsigned k = 0; k < STEPS && all > 0; k++) {
		step(f, all);
		for (uint32_t i = 0; i < f->n; i++)
			f->sum[i] += f->now[i] / STEPS;
	}
}

int mix_balance_create(struct mix_balance **out, const struct tact_mix *mix)
{
	struct mix_balance *f = calloc(1, sizeof(*f));
	int status = f ? collect(f, mix) : -TACT_E_NOMEM;
	double *memory;

	if (!status) {
		memory = calloc(4 * ((size_t)f->n + 1), sizeof(*memory));
		f->start = memory;
		if (!memory)
			status = -TACT_E_NOMEM;
	}
	if (status) {
		mix_balance_destroy(f);
		return status;
	}
	f->now = f->start + f->n + 1;
	f->next = f->now + f->n + 1;
	f->sum = f->next + f->n + 1;
	normalise(f, &f->streams);
	normalise(f, &f->edges);
	balance(f, mix);
	*out = f;
	return 0;
}

void mix_balance_destroy(struct mix_balance *f)
{
	if (!f)
		return;
	mix_tally_fini(&f->nodes);
	FREE_ALL(f->streams.items, f->edges.items, f->start, f);
}

double mix_balance_factor(struct mix_balance *f, uint32_t epoch, uint64_t target)
{
	long node = node_at(f, epoch, target & ~MIX_RESUMED, TARGET);

	if (node < 0 || (uint32_t)node >= f->n || !(f->start[node] > 0))
		return 1;
	return f->sum[node] / f->start[node];
}

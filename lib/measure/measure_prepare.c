/* SPDX-License-Identifier: MIT
 *
 * From a block to code that can be timed: how it runs, the pages that it needs, and how often.
 */
#include "measure/measure_job.h"
#include "measure/native.h"
#include "measure/pointer_walk.h"

#include <stdlib.h>
#include <string.h>

enum {
	WANTED_CYCLES =
		8000,	/* by which the two runs differ: about 100 steps of the coarsest clock */
	MIN_LOOP = 512, /* iterations until a loop is in its steady state */
	MAX_LOOPS = 64, /* one after the other */
	MAX_LOOP = 1 << 16
};

/* Copies or iterations of the two runs. */
struct sizes {
	unsigned low, high;
};

uint64_t job_contents(enum tact_contents contents)
{
	static const uint64_t values[] = {
		[TACT_CONTENTS_POINTER] = MEASURE_INIT_VALUE,
		[TACT_CONTENTS_ZERO] = 0,
		[TACT_CONTENTS_INT] = 7,
		/* a double of 1.015; singles of 1.877 and 1.002 */
		[TACT_CONTENTS_FLOAT] = 0x3ff03c5a3f803c3dull,
	};

	return values[contents];
}

/* Emits the code of the plan and tells the child its entries. */
static int emit(struct job *job, unsigned low, unsigned high)
{
	struct measure_host *host = job->h->host;
	unsigned loops = job->plan.loop && job->plan.copies ? job->plan.copies : 1;

	if (!job->plan.loop)
		job->plan.copies = high;
	else
		job->plan.copies = loops;
	job->plan.low = low;
	job->plan.high = high;
	if (measure_native->emit(job->h->code, &job->plan, &job->layout) < 0)
		return job_fail(job, TACT_MEASURE_TOO_LONG, "%zu bytes do not fit", job->plan.size);
	harness_publish_code(job->h);
	host->entry = MEASURE_CODE_BASE + job->layout.entry;
	host->body_high = MEASURE_CODE_BASE + job->layout.enter_high;
	host->body_low = MEASURE_CODE_BASE + job->layout.enter_low;
	host->body_step = MEASURE_CODE_BASE + job->layout.enter_step;
	host->counter_low = low;
	host->counter_high = high;
	harness_use_clocks(job->h, &job->layout);
	job->out->low = low * loops;
	job->out->high = high * loops;
	return 0;
}

/* Puts the instructions between two iterations after the block. */
static void add_fixup(struct job *job)
{
	const struct measure_screen *s = &job->screen;

	if (!s->fixup_size)
		return;
	memcpy(job->code, job->plan.code, job->plan.size);
	memcpy(job->code + job->plan.size, s->fixup, s->fixup_size);
	job->plan.code = job->code;
	job->plan.size += s->fixup_size;
}

int job_plan(struct job *job, const uint8_t *code, size_t size)
{
	struct tact_harness *h = job->h;
	bool loop = h->opt.mode == TACT_MODE_LOOP ||
		    (h->opt.mode == TACT_MODE_AUTO && job->screen.is_loop);
	int counter;

	job->plan = (struct measure_plan){.code = code,
					  .size = size,
					  .loop = loop,
					  .reads_counter = h->rung == TACT_RUNG_RDPMC,
					  .asks_kernel = job->screen.uses_kept ||
							 !(h->features & measure_native->keeps_way),
					  .init = h->opt.init,
					  .memory = h->opt.memory,
					  .vectors = h->opt.vectors,
					  .alignment = job->out->alignment,
					  .features = h->features,
					  .needs = job->screen.needs,
					  .core = h->core};
	job->out->mode = loop ? TACT_MODE_LOOP : TACT_MODE_UNROLL;
	if (!loop) {
		add_fixup(job);
		return 0;
	}
	counter = job->screen.fixup_size ? -1 : job->screen.own_counter;
	job->plan.own_branch = counter >= 0;
	if (counter < 0) {
		if (job->screen.is_loop)
			job->plan.size -= job->screen.branch_size; /* our counter takes its place */
		counter = measure_free_register(measure_native->isa, job->screen.used);
	}
	if (counter < 0)
		return job_fail(job, TACT_MEASURE_NO_COUNTER,
				"no register is free to count iterations");
	job->plan.counter = (uint8_t)counter;
	add_fixup(job);
	return 0;
}

/* The sizes of BHive's section III-B, for the first run. */
static void paper_sizes(size_t size, unsigned *low, unsigned *high)
{
	if (size < 100) {
		*low = 100;
		*high = 200;
	} else if (size < 200) {
		*low = 50;
		*high = 100;
	} else {
		*low = 16;
		*high = 32;
	}
	while ((size_t)*high * size > MEASURE_MAX_BODY && *high > 4) {
		*low /= 2;
		*high /= 2;
	}
}

/* Short runs drown in the steps of time stamps, and in what reading any counter takes, which varies
 * by some cycles.  So there are more copies, as many as fit the instruction cache.  The two numbers
 * differ by a multiple of 16 (64 where it fits), so that every alignment of the block occurs
 * equally often.
 */
static void choose_copies(struct job *job, double cycles, unsigned *low, unsigned *high)
{
	unsigned fit = (unsigned)(MEASURE_MAX_BODY / job->plan.size);
	double wanted = WANTED_CYCLES / (cycles > 0.05 ? cycles : 0.05);
	unsigned difference = wanted > fit ? fit : (unsigned)wanted;

	/* The low run must reach the steady state too: it gets a quarter of what fits. */
	if (difference > fit - fit / 4)
		difference = fit - fit / 4;
	if (difference < 16)
		return;
	difference -= difference % (difference >= 128 ? 64 : 16);
	*low = difference / 4 < 16 ? 16 : difference / 4;
	if (*low + difference > fit)
		*low = fit - difference;
	*high = *low + difference;
}

static void choose_iterations(double cycles, unsigned *low, unsigned *high)
{
	double wanted = 2 * WANTED_CYCLES / (cycles > 0.2 ? cycles : 0.2);
	unsigned difference = wanted < 64 ? 64 : wanted > MAX_LOOP ? MAX_LOOP : (unsigned)wanted;

	difference = (difference + 63) / 64 * 64;
	*low = cycles * MIN_LOOP > 1e6 ? 16 : MIN_LOOP;
	*high = *low + difference;
}

static double cycles_per_tick(const struct job *job)
{
	if (job->h->rung != TACT_RUNG_TSC || !job->h->host->pilot_chain)
		return 1;
	return job->h->floor.chain / (double)job->h->host->pilot_chain;
}

/* Emits code for two sizes and runs it until all pages are mapped. */
static int prepare_sizes(struct job *job, unsigned low, unsigned high)
{
	if (emit(job, low, high) < 0 || job_order(job, ORDER_PREPARE) < 0)
		return -1;
	return job_fail_outcome(job);
}

static void forget_failure(struct job *job)
{
	job->out->status = TACT_MEASURE_OK;
	job->out->reason[0] = 0;
}

/* Runs a few iterations step by step and finds how pointers move in them. */
static bool find_walk(struct job *job, struct measure_walk *walk)
{
	struct measure_host *host = job->h->host;
	/* three iterations, with what was added to the block, and the start of a fourth */
	size_t steps = 3 * (job->screen.n_insns + job->screen.fixup_size / 2 + 2) + 1;

	host->max_steps = (uint32_t)(steps < MEASURE_MAX_STEPS ? steps : MEASURE_MAX_STEPS);
	if (job_order(job, ORDER_STEP) < 0)
		return false;
	job_place_steps(job);
	return measure_find_walk(walk, measure_native, host, job->plan.code, job->plan.size,
				 MEASURE_CODE_BASE + job->layout.body, job->plan.loop);
}

/* Keeps the walk of an unrolled block in a few pages: after some copies, pointers go back. */
static bool walk_back(struct job *job, const struct measure_walk *walk, unsigned *low,
		      unsigned *high)
{
	unsigned group = measure_walk_group(walk), difference = *high - *low;

	if (group > difference)
		group = difference - difference % MEASURE_WALK_UNIT;
	if (!group)
		return false;
	job->plan.group = group;
	job->plan.back_size = measure_walk_back(walk, measure_native, group, job->plan.back);
	difference -= difference % group;
	*high = *low + difference;
	return job->plan.back_size > 0;
}

/* Makes several loops of one, with fewer iterations, and sets pointers back between them.  The exit
 * of each is mispredicted in both runs, so the difference is free of that.
 */
static bool walk_in_loops(struct job *job, const struct measure_walk *walk, unsigned *low,
			  unsigned *high)
{
	struct measure_plan *plan = &job->plan;
	unsigned wanted = *high - *low, count = measure_walk_iterations(walk);
	size_t room = plan->size + TACT_MEASURE_LOOP_BYTES + 2 * MEASURE_LINE;

	if (!count)
		return false;
	*high = count;
	*low = MEASURE_WALK_EXIT;
	plan->back_size = measure_walk_back(walk, measure_native, *high, plan->back);
	measure_walk_back(walk, measure_native, *low, plan->back_low);
	plan->copies = wanted / (*high - *low) + 1;
	if (plan->copies > MAX_LOOPS)
		plan->copies = MAX_LOOPS;
	room += plan->back_size;
	if (plan->copies > MEASURE_MAX_BODY / 2 / room)
		plan->copies = (unsigned)(MEASURE_MAX_BODY / 2 / room);
	return plan->back_size > 0 && plan->copies > 0;
}

/* Prepares a block that walks through more pages than the first-level cache has room for, so that it
 * does not.  With several pointers, the first try may still be too long.  Returns 0; or -1, and the
 * plan is as it was.
 */
static int tame_walk(struct job *job, const struct sizes *wanted)
{
	const struct measure_plan plan = job->plan;
	struct measure_walk walk;

	if (!find_walk(job, &walk))
		return -1;
	for (int i = 0; i < 2; i++, walk.stride *= 2) {
		struct sizes sizes = *wanted;
		unsigned most = plan.loop || !i ? MEASURE_CACHE_PAGES : MEASURE_MAX_PHYSICAL;

		if ((plan.loop ? walk_in_loops : walk_back)(job, &walk, &sizes.low, &sizes.high) &&
		    prepare_sizes(job, sizes.low, sizes.high) == 0 &&
		    job->h->host->n_pages <= most) {
			job->out->flags |= TACT_MFLAG_WALKS;
			return 0;
		}
		job->plan = plan;
		if (!job->h->runner)
			break; /* and the reason stays */
		forget_failure(job);
	}
	return -1;
}

/* Gives each virtual page its own physical one, and brings all of them into the first-level cache
 * before each run, as far as they fit.
 */
static int settle_pages(struct job *job)
{
	struct measure_host *host = job->h->host;

	host->n_physical = host->n_pages ? host->n_pages : 1;
	if (host->n_pages <= MEASURE_CACHE_PAGES) {
		job->plan.n_pages = host->n_pages;
		memcpy(job->plan.page, host->page, host->n_pages * sizeof(host->page[0]));
	}
	return emit(job, job->plan.low, job->plan.high);
}

/* Prepares the wanted sizes.  A block whose pointers leave mappable memory in that many iterations
 * gets the first ones.
 */
static int prepare_wanted(struct job *job, const struct sizes *first, const struct sizes *wanted)
{
	if (prepare_sizes(job, wanted->low, wanted->high) == 0)
		return 0;
	if (!job->h->runner)
		return -1;
	forget_failure(job);
	job->out->flags |= TACT_MFLAG_SHORT;
	return prepare_sizes(job, first->low, first->high);
}

/* Chooses the physical pages of a block that is prepared, after its first sizes had `first_pages`
 * virtual pages.  All share one if they are too many for the first-level cache.
 */
static int choose_pages(struct job *job, unsigned first_pages, const struct sizes *first,
			const struct sizes *wanted)
{
	struct measure_host *host = job->h->host;
	bool is_walk = job->out->flags & TACT_MFLAG_SHORT ||
		       (host->n_pages > first_pages && host->n_pages > MEASURE_WALK_PAGES);

	if (is_walk) {
		uint32_t flags = job->out->flags;

		job->out->flags &= ~(uint32_t)TACT_MFLAG_SHORT;
		if (tame_walk(job, wanted) == 0)
			return settle_pages(job);
		if (!job->h->runner)
			return -1;
		forget_failure(job);
		job->out->flags = flags;
	}
	if (!is_walk && host->n_pages <= MEASURE_MAX_PHYSICAL)
		return settle_pages(job);
	host->n_physical = 1;
	return prepare_wanted(job, first, wanted);
}

/* The first run maps the pages and shows how long an iteration takes; this gives the final sizes. */
int job_prepare(struct job *job)
{
	struct measure_host *host = job->h->host;
	struct sizes first, wanted;
	unsigned first_pages;
	double cycles;

	host->n_physical = job->h->opt.pages ? job->h->opt.pages : MEASURE_MAX_PHYSICAL;
	if (job->plan.loop)
		first = (struct sizes){64, 256};
	else
		paper_sizes(job->plan.size, &first.low, &first.high);
	if (prepare_sizes(job, first.low, first.high) < 0)
		return -1;
	first_pages = host->n_pages;
	wanted = first;
	cycles = ((double)host->pilot_high - (double)host->pilot_low) / (first.high - first.low) *
		 cycles_per_tick(job);
	if (job->h->floor.is_emulated) /* the first runs were translated */
		cycles = (double)job->screen.n_insns;
	if (job->plan.loop)
		choose_iterations(cycles, &wanted.low, &wanted.high);
	else
		choose_copies(job, cycles, &wanted.low, &wanted.high);
	if ((wanted.low != first.low || wanted.high != first.high) &&
	    prepare_wanted(job, &first, &wanted) < 0)
		return -1;
	return job->h->opt.pages ? 0 : choose_pages(job, first_pages, &first, &wanted);
}

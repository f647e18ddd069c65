/* SPDX-License-Identifier: MIT
 *
 * From a block to code that can be timed: how it runs, the pages that it needs, and how often.
 */
#include "measure/measure_job.h"
#include "measure/native.h"

#include <string.h>

enum {
	WANTED_CYCLES =
		8000,	/* by which the two runs differ: about 100 steps of the coarsest clock */
	MIN_LOOP = 512, /* iterations until a loop is in its steady state */
	MAX_LOOP = 1 << 16
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

	job->plan.copies = job->plan.loop ? 1 : high;
	if (measure_native->emit(job->h->code, &job->plan, &job->layout) < 0)
		return job_fail(job, TACT_MEASURE_TOO_LONG, "%zu bytes do not fit", job->plan.size);
	host->entry = MEASURE_CODE_BASE + job->layout.entry;
	host->body_high = MEASURE_CODE_BASE + job->layout.body;
	host->body_low = host->body_high;
	if (!job->plan.loop)
		host->body_low += (uint64_t)(high - low) * job->plan.size;
	host->counter_low = low;
	host->counter_high = high;
	host->chain_short = MEASURE_CODE_BASE + job->layout.chain_short;
	host->chain_long = MEASURE_CODE_BASE + job->layout.chain_long;
	host->canary = MEASURE_CODE_BASE + job->layout.canary;
	job->out->low = low;
	job->out->high = high;
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
					  .init = h->opt.init,
					  .memory = h->opt.memory,
					  .vectors = h->opt.vectors,
					  .alignment = job->out->alignment,
					  .features = h->features,
					  .needs = job->screen.needs};
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
	return measure_native->chain_cycles * (double)(MEASURE_CHAIN_LONG - MEASURE_CHAIN_SHORT) /
	       (double)job->h->host->pilot_chain;
}

/* Emits code for two sizes and runs it until all pages are mapped. */
static int prepare_sizes(struct job *job, unsigned low, unsigned high)
{
	if (emit(job, low, high) < 0 || job_order(job, ORDER_PREPARE) < 0)
		return -1;
	return job_fail_outcome(job);
}

/* The first run maps the pages and shows how long an iteration takes; this gives the final sizes. A
 * block whose pointers leave mappable memory in that many iterations keeps the first sizes.
 */
int job_prepare(struct job *job)
{
	struct measure_host *host = job->h->host;
	unsigned first_low, first_high, low, high;
	double cycles;

	if (job->plan.loop) {
		first_low = 64;
		first_high = 256;
	} else {
		paper_sizes(job->plan.size, &first_low, &first_high);
	}
	if (prepare_sizes(job, first_low, first_high) < 0)
		return -1;
	low = first_low;
	high = first_high;
	cycles = ((double)host->pilot_high - (double)host->pilot_low) / (high - low) *
		 cycles_per_tick(job);
	if (job->plan.loop)
		choose_iterations(cycles, &low, &high);
	else
		choose_copies(job, cycles, &low, &high);
	if (high == first_high && low == first_low)
		return 0;
	if (prepare_sizes(job, low, high) == 0)
		return 0;
	if (!job->h->runner)
		return -1;
	job->out->flags |= TACT_MFLAG_SHORT;
	job->out->reason[0] = 0;
	return prepare_sizes(job, first_low, first_high);
}

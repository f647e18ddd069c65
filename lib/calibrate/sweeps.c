/* SPDX-License-Identifier: MIT
 *
 * The sweeps: one row each, and how their points are timed.
 *
 * A point is timed several times, a millisecond or so each.  Before and after, a chain of
 * multiplications shows how fast the core runs, and a canary whether it is the kernel's own: nops
 * that are issued at less than the usual rate have a neighbour.  A time in which something else ran on
 * the CPU, or whose two clocks differ, does not count.  Of the others, the fewest cycles count, because
 * everything else on the machine only adds to them; those of a core of its own come first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "calibrate/calibrate_priv.h"
#include "measure/native.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

enum { LINE = 64, PAGE = 4096, CLOCK_SHORT = 20, CLOCK_LONG = 120, CANARIES = 12 };

/* Clocks before and after a round differ by less. */
static const double SAME_CLOCK = 0.04;
/* The canary takes less than this times what it takes on a core of its own. */
static const double OWN_CORE = 1.25;

const struct sweep sweeps[] = {
	{"host", "property", "value", SWEEP_NONE, SWEEP_NO_MEMORY, 0, 0, 0, 0},
	{"latency", "bytes", "load", SWEEP_CHASE, SWEEP_LARGE_PAGES, LINE, 4 * KIB, 0, 4},
	{"latency-4k", "bytes", "load", SWEEP_CHASE, SWEEP_SMALL_PAGES, LINE, 4 * KIB, 0, 1},
	/* A line of each page, each in another set of the caches. */
	{"pages", "pages", "load", SWEEP_CHASE, SWEEP_SMALL_PAGES, PAGE + LINE, 8, 16384, 4},
	{"random", "bytes", "load", SWEEP_RANDOM, SWEEP_LARGE_PAGES, LINE, 4 * KIB, 0, 1},
	{"read", "bytes", "line of 64 bytes", SWEEP_READ, SWEEP_LARGE_PAGES, LINE, 4 * KIB, 0, 1},
	{"write", "bytes", "line of 64 bytes", SWEEP_WRITE, SWEEP_LARGE_PAGES, LINE, 4 * KIB, 0, 1},
	{"copy", "bytes", "line of 64 bytes", SWEEP_COPY, SWEEP_LARGE_PAGES, LINE, 4 * KIB, 0, 1},
	{"stream", "bytes", "line of 64 bytes", SWEEP_STREAM, SWEEP_LARGE_PAGES, LINE, 64 * KIB, 0,
	 1},
	{"forward", "bytes", "store and load", SWEEP_FORWARD, SWEEP_SMALL_PAGES, 8, 8, 8, 1},
	{"rep-copy", "bytes", "instruction", SWEEP_REPEATED_COPY, SWEEP_LARGE_PAGES, 1, 1, 0, 1},
	{"rep-fill", "bytes", "instruction", SWEEP_REPEATED_FILL, SWEEP_LARGE_PAGES, 1, 1, 0, 1},
	{"pattern", "branches", "branch", SWEEP_BRANCH, SWEEP_NO_MEMORY, 1, 16, 512 * KIB, 1},
	{"code", "bytes", "instruction", SWEEP_CODE, SWEEP_NO_MEMORY, 4, KIB, 16 * MIB, 2},
	{"jumps", "jumps", "jump", SWEEP_JUMPS, SWEEP_NO_MEMORY, 16, 16, 65536, 2},
	{"jumps-64", "jumps", "jump", SWEEP_JUMPS, SWEEP_NO_MEMORY, 64, 16, 65536, 2},
	{"calls", "calls", "call", SWEEP_CALLS, SWEEP_NO_MEMORY, 16, 4, 64, 4},
};
const size_t n_sweeps = ARRAY_SIZE(sweeps);

const struct sweep *sweep_find(const char *name)
{
	for (size_t i = 0; name && i < n_sweeps; i++)
		if (!strcmp(sweeps[i].name, name))
			return &sweeps[i];
	return NULL;
}

/* ---- a point ---- */

static double time_function(kernel_function *f, uint64_t n)
{
	const uint64_t begin = native_clock();

	f(NULL, NULL, n);
	return (double)(native_clock() - begin);
}

static double fewer(double a, double b)
{
	return a && a < b ? a : b;
}

/* Returns the ticks of a cycle: two chains, whose beginnings and ends cancel out, each at its
 * fastest.
 */
static double tick_rate(const struct sweep_point *p)
{
	const double cycles =
		(double)((CLOCK_LONG - CLOCK_SHORT) * SWEEP_CHAIN) * measure_native->chain_cycles;
	double least_long = 0, least_short = 0;

	for (unsigned i = 0; i < 5; i++) {
		least_short = fewer(least_short, time_function(p->clock, CLOCK_SHORT));
		least_long = fewer(least_long, time_function(p->clock, CLOCK_LONG));
	}
	return (least_long - least_short) / cycles;
}

/* Returns the ticks of the canary for an instruction. */
static double time_canary(const struct sweep_point *p)
{
	double least = 0;

	for (unsigned i = 0; i < 3; i++)
		least = fewer(least, time_function(p->canary, CANARIES));
	return least / (CANARIES * SWEEP_NOPS);
}

/* Returns how often something else took the CPU. */
static long interruptions(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw + usage.ru_nvcsw;
}

static double time_kernel(struct sweep_point *p)
{
	const uint64_t from = p->places ? p->place++ % p->places * p->step : 0;
	char *a = p->next ? p->next
		  : from  ? p->a.p + from
			  : p->a.p,
	     *b = p->moves_b && from ? p->b.p + from : p->b.p, *end = a;
	const uint64_t begin = native_clock();
	double ticks;

	for (uint64_t i = 0; i < p->times; i++)
		end = p->kernel(a, b, p->n);
	ticks = (double)(native_clock() - begin);
	if (p->next)
		p->next = end;
	return ticks;
}

enum { MOST_ROUNDS = 64, TRIES = 6 };

/* Rounds that counted: those of a core of its own, and the others. */
struct rounds {
	double own[MOST_ROUNDS], shared[MOST_ROUNDS];
	unsigned n_own, n_shared;
};

static void do_round(struct sweep_run *run, struct sweep_point *p, struct rounds *r)
{
	const long was = interruptions();
	const double before = tick_rate(p), canary = time_canary(p), ticks = time_kernel(p),
		     again = time_canary(p), after = tick_rate(p);
	const double slower = before > after ? before : after,
		     faster = before > after ? after : before;
	double cycles, nops;

	if (faster <= 0 || slower > (1 + SAME_CLOCK) * faster || interruptions() != was)
		return;
	/* The faster of the two: a disturbed clock would make the kernel look fast. */
	cycles = ticks / faster / p->operations;
	nops = (canary > again ? canary : again) / faster;
	run->least_canary = fewer(run->least_canary, nops);
	if (nops < OWN_CORE * run->least_canary)
		r->own[r->n_own++] = cycles;
	else
		r->shared[r->n_shared++] = cycles;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns whether there is a result. */
static bool measure_point(struct sweep_run *run, struct sweep_point *p,
			  struct tact_sweep_point *out)
{
	const unsigned wanted = run->rounds < MOST_ROUNDS ? run->rounds : MOST_ROUNDS;
	struct rounds r = {.n_own = 0};
	double *list;
	unsigned n;

	p->kernel(p->a.p, p->b.p, p->warming);
	for (unsigned i = 0; i < TRIES * wanted && r.n_own < wanted && r.n_shared < MOST_ROUNDS;
	     i++) {
		do_round(run, p, &r);
		/* Who has not been alone for long will not be soon. */
		if (!r.n_own && r.n_shared >= 2 * wanted)
			break;
	}
	out->is_shared = !r.n_own;
	list = r.n_own ? r.own : r.shared;
	n = r.n_own ? r.n_own : r.n_shared;
	if (!n)
		return false;
	qsort(list, n, sizeof(*list), compare);
	out->cycles = list[0];
	/* One round confirms nothing. */
	out->spread = n > 1 ? list[n / 4 ? n / 4 : 1] / list[0] - 1 : 1;
	return list[0] > 0;
}

/* ---- a sweep ---- */

/* The next place: `per_octave` equal steps from one power of two to the next.  Loads leave a 32nd of
 * it to everything else that is in a cache or TLB of that size.
 */
static uint64_t place(const struct sweep *s, unsigned per_octave, unsigned i)
{
	const double nominal =
		(double)(s->first << i / per_octave) * (1 + (double)(i % per_octave) / per_octave);
	const uint64_t at = (uint64_t)nominal, left = s->kernel == SWEEP_CHASE ? at / 32 : 0;
	const bool is_bytes = s->pages != SWEEP_NO_MEMORY && s->step >= LINE && s->step < PAGE;

	return is_bytes ? (at - left) / LINE * LINE : at - left;
}

static int do_point(struct sweep_run *run, const struct sweep *s, uint64_t at)
{
	struct sweep_point p = {.random = 0x7ac7 + at};
	struct tact_sweep_point point = {.size = sizeof(point), .sweep = s->name, .at = at};
	int status = sweep_point_open(&p, s, at);

	if (!status && measure_point(run, &p, &point))
		status = run->add(run->arg, s, &point);
	else if (!status)
		run->refused++;
	sweep_point_close(&p);
	return status;
}

static bool gives_large_pages(void)
{
	static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	char text[64] = "";
	FILE *f = fopen(path, "r");
	bool is_given;

	if (!f)
		return false;
	is_given = fgets(text, sizeof(text), f) && !strstr(text, "[never]");
	fclose(f);
	return is_given;
}

/* The size of a cache as the kernel knows it (index 0: first level, data; 2 and 3: the others), or as
 * the C library does, which on AMD adds up the last-level caches of the whole processor.
 */
static double cache_kib(unsigned index, int name)
{
	char path[80];
	long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%u/size", index);
	f = fopen(path, "r");
	if (f && fscanf(f, "%ldK", &kib) != 1)
		kib = 0;
	if (f)
		fclose(f);
	return kib > 0 ? (double)kib : (double)sysconf(name) / KIB;
}

/* What the host says about itself. */
static int tell_host(struct sweep_run *run, const struct sweep *s)
{
	const double values[] = {
		[HOST_L1_KIB] = cache_kib(0, _SC_LEVEL1_DCACHE_SIZE),
		[HOST_L2_KIB] = cache_kib(2, _SC_LEVEL2_CACHE_SIZE),
		[HOST_L3_KIB] = cache_kib(3, _SC_LEVEL3_CACHE_SIZE),
		[HOST_LARGE_PAGES] = gives_large_pages() ? 2 : 1,
	};
	int status = 0;

	for (uint64_t i = HOST_L1_KIB; i <= HOST_LARGE_PAGES && !status; i++) {
		const struct tact_sweep_point point = {
			.size = sizeof(point), .sweep = s->name, .at = i, .cycles = values[i]};

		if (values[i] > 0)
			status = run->add(run->arg, s, &point);
	}
	return status;
}

int sweep_do(struct sweep_run *run, const struct sweep *s)
{
	/* Large areas are the slow ones. */
	const unsigned per_octave = run->is_quick ? 1 + (s->per_octave > 2) : s->per_octave;
	uint64_t last = s->last ? s->last : run->most_bytes, at;
	int status = 0;

	if (!s->per_octave)
		return tell_host(run, s);
	if (s->kernel == SWEEP_CHASE && s->step > PAGE && last * s->step > run->most_bytes)
		last = run->most_bytes / s->step;
	for (unsigned i = 0; (at = place(s, per_octave, i)) <= last && !status; i++)
		status = do_point(run, s, at);
	return status;
}

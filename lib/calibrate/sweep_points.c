/* SPDX-License-Identifier: MIT
 *
 * What a point of a sweep needs before it can be timed: memory, and a kernel.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "calibrate/calibrate_priv.h"
#include "measure/native.h"

enum { LINE = 64, PAGE = 4096, HALF = PAGE / 2, LARGE_PAGE = 2 << 20 };

/* ---- memory ---- */

static int map_area(struct area *a, size_t bytes, enum sweep_pages pages)
{
	char *p;

	a->size = (bytes + 2 * LARGE_PAGE) / LARGE_PAGE * LARGE_PAGE;
	p = mmap(NULL, a->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	a->mapped = p == MAP_FAILED ? NULL : p;
	if (!a->mapped)
		return -TACT_E_NOMEM;
	a->p = p + (LARGE_PAGE - (uintptr_t)p % LARGE_PAGE) % LARGE_PAGE;
	madvise(a->mapped, a->size, pages == SWEEP_LARGE_PAGES ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(a->p, 1, bytes); /* pages are there before anything is timed */
	return 0;
}

static void unmap_area(struct area *a)
{
	if (a->mapped)
		munmap(a->mapped, a->size);
	a->mapped = NULL;
}

uint64_t sweep_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
	return *state >> 24;
}

/* One way through all places, in random order (Sattolo 1986). */
static int link_places(char *p, uint64_t n, uint64_t step, uint64_t *random)
{
	uint32_t *order = malloc(n * sizeof(*order));

	if (!order)
		return -TACT_E_NOMEM;
	for (uint64_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (uint64_t i = n - 1; i > 0; i--) {
		uint64_t j = sweep_random(random) % i;
		uint32_t kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
	for (uint64_t i = 0; i < n; i++)
		*(char **)(void *)(p + i * step) = p + order[i] * step;
	free(order);
	return 0;
}

/* ---- a point ---- */

void sweep_point_close(struct sweep_point *p)
{
	unmap_area(&p->a);
	unmap_area(&p->b);
	unmap_area(&p->code);
}

/* Functions and pointers to data have the same size here, and POSIX converts them. */
static kernel_function *function_at(uint8_t *code)
{
	kernel_function *f;

	memcpy(&f, &code, sizeof(f));
	return f;
}

/* Enough to see, and not so much that it is disturbed. */
enum {
	FAR_LINES = 1 << 16,  /* from here on, loads are slow, and fewer of them suffice */
	WARM_LINES = 1 << 20, /* above that, no cache has them all */
};
enum { BYTES = 4 << 20, LOADS = 1 << 14, BRANCHES = 1 << 17, MOST_CALLS = 1 << 12 };

/* Large areas are passed through in parts, at another place each time. */
static uint64_t part_of(uint64_t at)
{
	return at < 2 * BYTES ? at : BYTES;
}

static int emit_code(struct sweep_point *p, const struct sweep *s, uint64_t at)
{
	const uint32_t features = native_features();
	const bool has_parts = s->kernel == SWEEP_JUMPS || s->kernel == SWEEP_CALLS;
	const size_t needed =
		2 * PAGE + (s->kernel == SWEEP_CODE ? at : 0) + (has_parts ? at * s->step : 0);
	uint8_t *code;

	if (map_area(&p->code, needed, SWEEP_SMALL_PAGES) < 0)
		return -TACT_E_NOMEM;
	code = (uint8_t *)p->code.p;
	if (!sweep_emit(SWEEP_CLOCK, 0, 0, features, code, HALF) ||
	    !sweep_emit(SWEEP_CANARY, 0, 0, features, code + HALF, HALF) ||
	    !sweep_emit(s->kernel, s->step == 1 && s->pages ? part_of(at) : at, s->step, features,
			code + PAGE, needed - PAGE))
		return -TACT_E_INTERNAL;
	if (mprotect(p->code.mapped, p->code.size, PROT_READ | PROT_EXEC))
		return -TACT_E_NOMEM;
	p->clock = function_at(code);
	p->canary = function_at(code + HALF);
	p->kernel = function_at(code + PAGE);
	return 0;
}

static uint64_t at_least_one(uint64_t n)
{
	return n ? n : 1;
}

static int prepare_chase(struct sweep_point *p, const struct sweep *s, uint64_t at)
{
	const uint64_t bytes = s->pages == SWEEP_SMALL_PAGES && s->step > PAGE ? at * s->step : at;
	const uint64_t places = bytes / s->step, loads = places < FAR_LINES ? LOADS : LOADS / 4;

	if (map_area(&p->a, bytes, s->pages) < 0)
		return -TACT_E_NOMEM;
	p->next = p->a.p;
	p->n = loads / SWEEP_CHASES;
	p->warming = at_least_one((places < WARM_LINES ? places : 0) / SWEEP_CHASES);
	p->times = 1;
	p->operations = (double)loads;
	return link_places(p->a.p, places, s->step, &p->random);
}

static int prepare_random(struct sweep_point *p, const struct sweep *s, uint64_t at)
{
	const uint64_t loads = 4 * LOADS;
	uint32_t *offsets;

	if (map_area(&p->a, at, s->pages) < 0 ||
	    map_area(&p->b, loads * sizeof(*offsets), SWEEP_LARGE_PAGES) < 0)
		return -TACT_E_NOMEM;
	offsets = (uint32_t *)(void *)p->b.p;
	/* Offsets are from a place that differs from round to round, by more than neighbours. */
	p->step = 37 * LINE;
	p->places = at / 2 / p->step;
	for (uint64_t i = 0; i < loads; i++)
		offsets[i] = (uint32_t)(sweep_random(&p->random) % (at / 2 / LINE) * LINE);
	p->n = p->warming = loads;
	p->times = 1;
	p->operations = (double)loads;
	return 0;
}

static int prepare_bytes(struct sweep_point *p, const struct sweep *s, uint64_t at)
{
	if (map_area(&p->a, at + LINE, s->pages) < 0 || map_area(&p->b, at + LINE, s->pages) < 0)
		return -TACT_E_NOMEM;
	p->n = part_of(at);
	p->step = BYTES;
	p->moves_b = true;
	p->places = at / p->n > 1 ? at / p->n : 0;
	p->times = at_least_one(BYTES / at);
	if (s->step == 1) { /* whole instructions, of which the kernel repeats some */
		p->n = p->warming = p->times < MOST_CALLS ? p->times : MOST_CALLS;
		p->times = 1;
		p->operations = (double)p->n * (double)part_of(at) / (double)at;
	} else {
		p->warming = at;
		p->operations = (double)p->times * (double)(p->n / LINE);
	}
	return 0;
}

static int prepare_branches(struct sweep_point *p, uint64_t at)
{
	if (map_area(&p->b, BRANCHES + at, SWEEP_LARGE_PAGES) < 0)
		return -TACT_E_NOMEM;
	for (uint64_t i = 0; i < BRANCHES + at; i++)
		p->b.p[i] = i < at ? (char)(sweep_random(&p->random) & 1) : p->b.p[i - at];
	p->n = p->warming = at > BRANCHES ? at : BRANCHES;
	p->times = 1;
	p->operations = (double)p->n;
	return 0;
}

static int prepare(struct sweep_point *p, const struct sweep *s, uint64_t at)
{
	const uint64_t per_pass = s->kernel == SWEEP_CODE ? at / 4 : at;

	switch (s->kernel) {
	case SWEEP_CHASE:
		return prepare_chase(p, s, at);
	case SWEEP_RANDOM:
		return prepare_random(p, s, at);
	case SWEEP_READ:
	case SWEEP_WRITE:
	case SWEEP_COPY:
	case SWEEP_STREAM:
	case SWEEP_REPEATED_COPY:
	case SWEEP_REPEATED_FILL:
		return prepare_bytes(p, s, at);
	case SWEEP_BRANCH:
		return prepare_branches(p, at);
	case SWEEP_FORWARD:
		p->n = p->warming = LOADS / SWEEP_CHASES;
		p->times = 1;
		p->operations = LOADS;
		return map_area(&p->a, PAGE, s->pages);
	default:
		p->n = p->warming = 2 + BRANCHES / per_pass;
		p->times = 1;
		p->operations = (double)(p->n * per_pass);
		return 0;
	}
}

int sweep_point_open(struct sweep_point *p, const struct sweep *s, uint64_t at)
{
	const int status = emit_code(p, s, at);

	return status ? status : prepare(p, s, at);
}

/* SPDX-License-Identifier: MIT
 *
 * Finds out how a block walks through memory: by how much its registers and its addresses change
 * from one iteration to the next.
 */
#include "measure/pointer_walk.h"

enum { STARTS = 3 /* show two changes */ };

/* The steps at which iterations begin; the first one, which may differ from the others, does not
 * count.  Returns how many there are, STARTS at most.
 */
static unsigned find_starts(uint32_t *start, const struct measure_host *host, uint64_t body,
			    size_t size, bool loop)
{
	uint64_t next = loop ? body : body + size;
	unsigned n = 0;

	for (uint32_t i = 0; i < host->n_steps && i < MEASURE_MAX_STEPS && n < STARTS; i++) {
		if (host->step[i].pc != next)
			continue;
		start[n++] = i;
		next += loop ? 0 : size;
	}
	return n;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Notes the changes of the addresses of one instruction. */
static void note_addresses(struct measure_walk *w, const struct measure_set *set,
			   const struct measure_step *before, const struct measure_step *after,
			   const uint8_t *code, size_t size)
{
	struct measure_access a[MEASURE_MAX_ACCESSES], b[MEASURE_MAX_ACCESSES];
	unsigned n = set->accesses(a, code, size, before);

	if (set->accesses(b, code, size, after) != n)
		return;
	for (unsigned i = 0; i < n; i++) {
		uint64_t change = distance(a[i].address, b[i].address);

		if (change > w->stride)
			w->stride = change;
	}
}

bool measure_find_walk(struct measure_walk *w, const struct measure_set *set,
		       const struct measure_host *host, const uint8_t *code, size_t size,
		       uint64_t body, bool loop)
{
	uint32_t start[STARTS];

	*w = (struct measure_walk){.stride = 0};
	if (find_starts(start, host, body, size, loop) < STARTS)
		return false;
	for (unsigned r = 0; r < ISA_MAX_GENERAL; r++) {
		uint64_t first = host->step[start[0]].reg[r], second = host->step[start[1]].reg[r];

		if (host->step[start[2]].reg[r] - second == second - first)
			w->change[r] = (int64_t)(second - first);
	}
	for (uint32_t i = start[0]; i < start[1]; i++) {
		const struct measure_step *before = &host->step[i];
		const struct measure_step *after = &host->step[i + start[1] - start[0]];
		uint64_t offset = before->pc - host->step[start[0]].pc;

		if (offset < size)
			note_addresses(w, set, before, after, code + offset, size - offset);
	}
	return true;
}

unsigned measure_walk_group(const struct measure_walk *w)
{
	uint64_t group;

	if (!w->stride || w->stride > MEASURE_WALK_LIMIT)
		return 0;
	group = MEASURE_WALK_BYTES / w->stride;
	if (group < MEASURE_WALK_UNIT)
		group = MEASURE_WALK_LIMIT / w->stride;
	return (unsigned)(group - group % MEASURE_WALK_UNIT);
}

unsigned measure_walk_iterations(const struct measure_walk *w)
{
	uint64_t n = w->stride ? MEASURE_WALK_LIMIT / w->stride : 0;

	if (n > MEASURE_WALK_MOST)
		n = MEASURE_WALK_MOST;
	return n < MEASURE_WALK_LEAST ? 0 : (unsigned)(n - n % MEASURE_WALK_UNIT);
}

size_t measure_walk_back(const struct measure_walk *w, const struct measure_set *set,
			 unsigned copies, uint8_t to[MEASURE_MAX_BACK])
{
	size_t n = 0;

	for (unsigned r = 0; r < set->isa->registers.n_general; r++) {
		int64_t by;

		if (!w->change[r] || w->change[r] > INT32_MAX || w->change[r] < INT32_MIN)
			continue;
		by = -w->change[r] * (int64_t)copies;
		if (by >= INT32_MIN && by <= INT32_MAX)
			n += set->put_move(to + n, r, (int32_t)by);
	}
	return n;
}

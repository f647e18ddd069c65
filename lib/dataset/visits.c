/* SPDX-License-Identifier: MIT
 *
 * The order of the visits of a campaign.
 */
#include "dataset/visits.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/random.h"

/* How far to look for a block that was on another CPU the last time. */
enum { LOOKAHEAD = 64 };
/* Seconds until another worker may have taken the blocks of this CPU. */
#define PATIENCE 0.1

int visits_init(struct visits *v, size_t n, uint64_t seed, double interval)
{
	*v = (struct visits){.n = n, .end = n, .random = seed, .interval = interval};
	v->order = malloc(n * sizeof(*v->order));
	v->last = calloc(n, sizeof(*v->last));
	if (!v->order || !v->last) {
		visits_fini(v);
		return -TACT_E_NOMEM;
	}
	for (size_t i = 0; i < n; i++)
		v->order[i] = i;
	return 0;
}

void visits_fini(struct visits *v)
{
	FREE_ALL(v->order, v->last);
	*v = (struct visits){.n = 0};
}

static void swap(struct visits *v, size_t a, size_t b)
{
	size_t block = v->order[a];

	v->order[a] = v->order[b];
	v->order[b] = block;
}

size_t visits_begin(struct visits *v, bool (*wants)(const void *context, size_t block),
		    const void *context)
{
	v->next = v->end = 0;
	v->round++;
	for (size_t i = 0; i < v->n; i++)
		if (wants(context, i))
			v->order[v->end++] = i;
	for (size_t i = v->end; i > 1; i--)
		swap(v, i - 1, random_below(&v->random, i));
	return v->end;
}

/* Seconds until a block may be visited again. */
static double time_left(const struct visits *v, size_t block, double now)
{
	const struct visit *last = &v->last[block];
	const double left = last->time > 0 ? last->time + v->interval - now : 0;

	return left > 0 ? left : 0;
}

bool visits_take(struct visits *v, int cpu, bool may_repeat, double now, size_t *block,
		 double *wait)
{
	const size_t end = v->end - v->next < LOOKAHEAD ? v->end : v->next + LOOKAHEAD;
	size_t found = end;

	*wait = 0;
	for (size_t i = v->next; i < end; i++) {
		const struct visit *last = &v->last[v->order[i]];
		const bool is_elsewhere = cpu < 0 || !(last->time > 0) || last->cpu != cpu;
		double left = time_left(v, v->order[i], now);

		if (!(left > 0) && is_elsewhere) {
			found = i;
			break;
		}
		if (!(left > 0) && may_repeat && found == end)
			found = i;
		left = left > 0 ? left : PATIENCE;
		*wait = *wait > 0 && *wait < left ? *wait : left;
	}
	if (found == end)
		return false;
	/* Those that were passed over keep their order. */
	*block = v->order[found];
	for (; found > v->next; found--)
		v->order[found] = v->order[found - 1];
	v->order[v->next++] = *block;
	return true;
}

void visits_drop_rest(struct visits *v)
{
	v->end = v->next;
}

void visits_note(struct visits *v, size_t block, int cpu, double now)
{
	v->last[block] = (struct visit){now, cpu};
}

/* SPDX-License-Identifier: MIT
 *
 * Which block of a campaign is measured next, by which worker, in which round.
 *
 * What disturbs a measurement lasts for a while, on one core.  So a block is visited again in
 * another round, which has another order, on another CPU where there are several, and not at once.
 */
#ifndef DATASET_VISITS_H
#define DATASET_VISITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct visit {
	double time; /* of its end; 0: there was none */
	int cpu;     /* -1: not known */
};

struct visits {
	size_t *order;	    /* owned: the blocks of this round */
	struct visit *last; /* owned: of each block */
	size_t n;	    /* blocks */
	size_t next, end;   /* in order: the blocks before `next` were taken */
	unsigned round;	    /* from 0 */
	uint64_t random;
	double interval; /* seconds between two visits of a block */
};

/* Prepares the first round: all blocks, in their order.  Returns 0 or -TACT_E_NOMEM. */
int visits_init(struct visits *v, size_t n, uint64_t seed, double interval);
void visits_fini(struct visits *v);

/* Begins another round, in random order, with the blocks that `wants` names.  Returns how many. */
size_t visits_begin(struct visits *v, bool (*wants)(const void *context, size_t block),
		    const void *context);

/* Takes a block for a CPU (-1: any).  Returns whether there was one.  If not, *wait is 0 if all
 * blocks of the round were taken, else the seconds until it is worth to ask again.  Blocks whose
 * last visit was on this CPU come after the others, and only if may_repeat.
 */
bool visits_take(struct visits *v, int cpu, bool may_repeat, double now, size_t *block,
		 double *wait);

/* Ends a round early: takes the rest away. */
void visits_drop_rest(struct visits *v);

void visits_note(struct visits *v, size_t block, int cpu, double now);

#endif /* DATASET_VISITS_H */

/* SPDX-License-Identifier: MIT
 *
 * Blocks that walk through memory: pointers that move on in every iteration.
 *
 * A walk is kept within a few pages.  Each has a physical page of its own, and all are in the
 * first-level cache, as they would be for a program that works on little data.  With one physical
 * page for all virtual ones, Zen reads 4.3 cycles for six pops instead of 2.2: its cache predicts
 * ways by virtual address, and each line misses when it comes under a new one.
 */
#ifndef TACT_MEASURE_WALK_H
#define TACT_MEASURE_WALK_H

#include "measure/measure_priv.h"

enum {
	MEASURE_CACHE_PAGES = 8,		      /* that a first-level cache of 32 KB holds */
	MEASURE_WALK_PAGES = MEASURE_CACHE_PAGES - 2, /* the harness needs some of it */
	MEASURE_WALK_LIMIT = MEASURE_WALK_PAGES * MEASURE_PAGE,
	MEASURE_WALK_BYTES = 3 * MEASURE_PAGE, /* how far unrolled code walks before it goes back */
	/* Iterations of a loop before it goes back.  With fewer, some cores predict its exit. */
	MEASURE_WALK_EXIT = 208,
	MEASURE_WALK_LEAST = MEASURE_WALK_EXIT + 32,
	MEASURE_WALK_MOST = 1536,
	MEASURE_WALK_UNIT = 16 /* copies between two ways back are a multiple of this */
};

struct measure_walk {
	int64_t change[ISA_MAX_GENERAL]; /* of each register in an iteration, if it is constant */
	uint64_t stride;		 /* largest change of an address in an iteration */
};

/* Finds the walk in the steps of a traced run, whose body is at `body`, in copies of `size` bytes.
 * Returns false if the steps are too few.
 */
bool measure_find_walk(struct measure_walk *w, const struct measure_set *set,
		       const struct measure_host *host, const uint8_t *code, size_t size,
		       uint64_t body, bool loop);

/* Returns after how many copies to go back; 0 if the steps of the walk are too large. */
unsigned measure_walk_group(const struct measure_walk *w);

/* Returns how many iterations of a loop to make before going back; 0 if too few are possible. */
unsigned measure_walk_iterations(const struct measure_walk *w);

/* Writes the instructions that go back by so many copies.  They change no flags, and every register
 * still depends on its old value.  Returns their size.
 */
size_t measure_walk_back(const struct measure_walk *w, const struct measure_set *set,
			 unsigned copies, uint8_t to[MEASURE_MAX_BACK]);

#endif /* TACT_MEASURE_WALK_H */

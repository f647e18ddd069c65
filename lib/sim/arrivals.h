/* SPDX-License-Identifier: MIT
 *
 * When data arrive: lines on their way, what they pass through, and what limits that.
 *
 * Where a line is found is decided elsewhere, in the order of the program; here, in the order of
 * execution, a miss takes a fill buffer and its turn on the way from its level, and a line that is
 * already on its way is waited for.
 */
#ifndef TACT_SIM_ARRIVALS_H
#define TACT_SIM_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

struct arch_params;

/* Where a line is found; or a store goes where none of the caches keeps it. */
enum sim_level {
	SIM_IN_L1,
	SIM_IN_L2,
	SIM_IN_L3,
	SIM_IN_MEMORY,
	SIM_LEVELS,
	SIM_PAST_CACHES = SIM_LEVELS
};

/* Where a page's address is found: in a TLB, or in a page table, whose line is in one of the caches or
 * in memory.
 */
enum sim_page {
	SIM_PAGE_KNOWN,
	SIM_PAGE_SECOND,
	SIM_PAGE_WALKED, /* and its entry is in the second level */
	SIM_PAGE_IN_L3,
	SIM_PAGE_IN_MEMORY
};

/* Where an access finds its data, and which lines are fetched because of it. */
enum { SIM_FETCHES = 4 };
struct sim_trip {
	uint64_t line;
	uint8_t level, page, n_fetched; /* enum sim_level, enum sim_page */
	uint8_t written;		/* enum sim_level: to which it has to go back */
	struct {
		uint64_t line;
		uint8_t from, to; /* enum sim_level */
	} fetched[SIM_FETCHES];
};

enum {
	SIM_MAX_FILLS = 64,
	SIM_MAX_QUEUE = 128,
	SIM_WALKERS = 8,
	SIM_SETS = 256,	 /* of the first level */
	SIM_LINES = 1024 /* on their way, or just arrived; a power of two */
};

struct sim_memory {
	int32_t extra[SIM_LEVELS]; /* cycles that a load takes longer than from the first level */
	int32_t second_page, walk; /* cycles for a page's address */
	/* Hundredths of a cycle from one page that the first TLB does not have to the next. */
	int32_t page_cost;
	int64_t page_free;
	int32_t fill_hold; /* that a fill buffer is held after its line is there */
	/* Hundredths of a cycle that a line from each level, and one back to it, take.  In the first
	 * place of those that write: stores past the caches.
	 */
	int32_t read_cost[SIM_LEVELS], write_cost[SIM_LEVELS];
	int64_t read_free[SIM_LEVELS][2], write_free[SIM_LEVELS]; /* when the next one can pass */
	/* Bit of a line's number that says which of two ways it takes from each level, if there are
	 * two; each passes half as many lines.
	 */
	uint8_t half[SIM_LEVELS];
	bool has_halves[SIM_LEVELS];
	/* Lines of the second level with the same bit 6 of their address, and with the same bits 6
	 * and 7, pass more slowly; and each load whose line is not there is executed twice.
	 */
	int32_t half_cost, quarter_cost, wait_cost;
	int64_t half_free[2], quarter_free[4], wait_free;
	uint64_t passed; /* line of the last store past the caches */
	unsigned n_fills, n_queue, n_walkers;
	/* Cycles from one line to the next of a set of the first level: from the second one, from
	 * farther away, and those that come on top if it is written.  When each set is free.
	 */
	int32_t set_fill, far_set_fill, set_write, set_free[SIM_SETS];
	unsigned n_sets;
	/* When each of them is free again: buffers of the first level, places in the queue of the
	 * second, page walkers.
	 */
	int32_t fill[SIM_MAX_FILLS], queue[SIM_MAX_QUEUE], walker[SIM_WALKERS];
	struct {
		uint64_t line;
		int32_t ready;
		uint8_t to; /* enum sim_level: where it arrives */
	} lines[SIM_LINES];
};

void sim_memory_init(struct sim_memory *m, const struct arch_params *params);

/* A load of a line that was found in `level` is executed.  Returns the cycle in which a load from the
 * first level would have to be executed to have its data at the same time.
 */
int32_t sim_memory_load(struct sim_memory *m, int32_t now, uint64_t line, enum sim_level level,
			enum sim_page page);

/* A prefetch instruction is executed, for a line that was found in `level`.  Nobody waits for the line,
 * nor for its page (experiment on Zen 4: 600 nops and a prefetch from 64 MiB take 54 cycles, without it
 * 51, with a load instead 226), but nothing is dropped: returns the cycle in which a place of the first
 * level is free to wait for it.
 */
int32_t sim_memory_prefetch(struct sim_memory *m, int32_t now, uint64_t line, enum sim_level level,
			    enum sim_page page);

/* Returns when a load from a level can get its places. */
int32_t sim_memory_free(const struct sim_memory *m, int32_t now, enum sim_level level);

/* A store leaves the store buffer, in order.  Returns the cycle in which its line is there. */
int32_t sim_memory_store(struct sim_memory *m, int32_t now, const struct sim_trip *trip);

/* The prefetcher fetches a line from one level to another. */
void sim_memory_fetch(struct sim_memory *m, int32_t now, uint64_t line, enum sim_level from,
		      enum sim_level to);

/* Moves the clock back. */
void sim_memory_rebase(struct sim_memory *m, int32_t by);

#endif /* TACT_SIM_ARRIVALS_H */

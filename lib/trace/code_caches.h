/* SPDX-License-Identifier: MIT
 *
 * Where code comes from: the DSB, the first-level instruction cache, the levels behind it, and the
 * TLBs, followed in the order of the program.  How long the pipeline waits for what is missing is
 * up to the pipeline (sim/ahead.c).
 */
#ifndef TRACE_CODE_CACHES_H
#define TRACE_CODE_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch_params;
struct caches;

enum { CODE_LINE = 64, CODE_PAGE = 4096 };

/* Numbers + 1 of lines or pages by set, the most recently used first; 0: none. */
struct code_table {
	uint64_t *held; /* owned */
	uint64_t last;	/* that was looked up, + 1 */
	size_t sets, ways;
};

/* A window of code in the DSB, with several lines. */
struct code_window {
	uint64_t window; /* address / width + 1; 0: none */
	uint64_t starts; /* bit k: instructions from its byte k on, up to a branch, are there */
	uint32_t used;	 /* when */
	uint8_t uops, lines;
};

struct code_caches {
	const struct arch_params *params; /* borrowed */
	struct caches *shared;		  /* second level and beyond; borrowed, NULL: none */
	struct code_window *windows; /* owned; `ways` for each set; NULL: the DSB has no limit */
	uint16_t *held;		     /* owned: lines of all windows, by set */
	size_t sets, ways;
	unsigned window_shift;
	uint32_t clock;
	struct code_table lines, pages, pages_2;
	uint64_t decoded, misses[3], walks; /* executions that were decoded; lines by level */
};

/* What an execution of a block has to wait for. */
struct code_fetch {
	bool is_decoded; /* not all of it was in the DSB */
	/* Where its lines of code come from, two bits each from the lowest on: 0 is the first-level
	 * cache, 1 the second level, 2 the third, 3 memory.
	 */
	uint64_t lines;
	unsigned delay; /* cycles until the address of the first line is translated */
	bool is_walked; /* because no TLB had its page */
};

/* shared: the caches of data, whose second level and those beyond it hold code as well; NULL: code
 * never leaves the first level.  Returns 0 or -TACT_E_NOMEM.
 */
int code_caches_init(struct code_caches *c, const struct arch_params *params,
		     struct caches *shared);
void code_caches_fini(struct code_caches *c);

struct code_piece {
	uint64_t address;
	uint32_t size, n_insns;
};

/* Where the DSB had a block last time: the caller keeps it for the block, all zeros at first. */
struct code_place {
	uint64_t window; /* its first one, as in struct code_window */
	uint32_t at;	 /* where that is */
	uint8_t start;	 /* the bit of its starts */
	bool is_whole;	 /* that is its only one */
};

/* Executes a block; is_new: for the first time. */
void code_caches_execute(struct code_caches *c, const struct code_piece *block, bool is_new,
			 struct code_place *place, struct code_fetch *out);

/* Executes a block if it is where it was: then it waits for nothing.  Most are.  Otherwise returns
 * false, and code_caches_execute is to be called.
 */
static inline bool code_caches_hold(struct code_caches *c, const struct code_place *place)
{
	struct code_window *w;

	if (!place->is_whole)
		return false;
	w = c->windows + place->at;
	if (w->window != place->window || !(w->starts >> place->start & 1))
		return false;
	w->used = ++c->clock;
	return true;
}

/* What the kernel touches when it runs. */
struct kernel_trail {
	bool is_fault; /* it was called by a page fault, not by a system call */
	int data;      /* lines */
	int code;
	int dsb;	  /* lines of the DSB */
	bool loses_pages; /* TLBs are empty afterwards */
};

/* The kernel ran: its code takes places, or leaves an empty DSB. */
void code_caches_enter_kernel(struct code_caches *c, const struct kernel_trail *trail);

#endif /* TRACE_CODE_CACHES_H */

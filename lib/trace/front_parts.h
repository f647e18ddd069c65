/* SPDX-License-Identifier: MIT
 *
 * Shared by front.c, which looks at executions, and front_pass.c, which passes them by.
 */
#ifndef TRACE_FRONT_PARTS_H
#define TRACE_FRONT_PARTS_H

#include "trace/front.h"

enum { FRONT_CHUNK = 1 << 14 }; /* blocks that are allocated at a time: they never move */

/* What was counted so far. */
struct counts {
	uint64_t misses[CACHE_LEVELS], page_misses[2];
};

/* Why the kernel is entered. */
enum front_entry { FRONT_LIGHT, FRONT_USUAL, FRONT_HEAVY, FRONT_WAIT, FRONT_FAULT };

/* A thread of the program. */
struct front_thread {
	uint32_t id;
	struct caches *caches;		 /* owned; NULL: not asked for */
	struct code_caches *code_caches; /* owned */
	struct predictor *predictor;	 /* owned; NULL: not asked for */
	const struct front_code *last;	 /* executed; NULL: none, or unknown */
	struct counts counted;		 /* after the last execution */
	unsigned depth;			 /* of calls in a window of a program that runs natively */
	uint32_t
		outside_cycles; /* that the next execution adds: see front_enter_kernel(), and callees */
	uint64_t context;	/* hash of the last execution that was looked at */
	uint64_t special;	/* of this one: hash of all that is not as usual; 0: nothing is */
	bool is_lost;		/* the last block returned to a caller that is not in the window */
};

struct front {
	const struct tact_arch *arch;
	struct tact_cycles_options opt;
	struct tact_block *block;   /* owned; for decoding */
	struct front_code **chunks; /* owned, as are its members; NULL: none executed yet */
	size_t n_chunks, chunk_capacity;
	struct front_thread **threads; /* owned: those that run */
	size_t n_threads, thread_capacity;
	struct front_thread *last; /* of the last event */
	struct faults faults;	   /* of all threads */
	uint64_t n_faults;	   /* after the last execution */
	bool is_windowed;	   /* the program ran natively, and the trace has windows */
	bool has_calls;		   /* the trace names system calls */
	struct reuse reuse;	   /* of data, in windows */
	struct skim skim;
	struct front_pace pace; /* of batches a while ago; old ones fade */
};

/* Adds a block, or finds it.  NULL: out of memory. */
struct front_code *front_add_code(struct front *f, const struct tact_trace_block *b);

/* Returns a block; NULL: out of memory. */
static inline struct front_code *front_find_code(struct front *f, const struct tact_trace_block *b)
{
	const size_t chunk = b->number / FRONT_CHUNK;

	if (chunk < f->n_chunks && f->chunks[chunk]) {
		struct front_code *code = &f->chunks[chunk][b->number % FRONT_CHUNK];

		if (code->is_seen)
			return code;
	}
	return front_add_code(f, b);
}

/* An access for which no TLB has the page: the program may not have the page yet. */
void front_fault(struct front *f, struct front_thread *t, uint32_t process,
		 const struct tact_trace_access *a, struct tact_stream_trip *trip);

/* A prefetch instruction: an access without a size. */
void front_prefetch(const struct front *f, struct front_thread *t, const struct front_code *code,
		    uint32_t process, const struct tact_trace_access *a,
		    struct tact_stream_trip *trip);

/* Counts prefetches whose addresses are known, and those whose are not. */
void front_count_prefetches(const struct front_code *code, const struct tact_trace_event *event,
			    struct front_outcome *out);

/* Notes how long a load takes, if it is the longest one of the execution so far. */
void front_note_longest(const struct front *f, const struct tact_stream_trip *trip,
			struct front_outcome *out);

/* Fills in what was counted since the last execution. */
void front_count_misses(struct front *f, struct front_thread *t, struct front_outcome *out);

/* Most executions miss nothing.  What misses a level misses the first one, too; and in windows, what
 * the caches count is corrected: see pass_window() in front.c.
 */
static inline void front_count(struct front *f, struct front_thread *t, struct front_outcome *out)
{
	if (t->caches && !f->is_windowed &&
	    ((t->caches->misses[0] != t->counted.misses[0]) |
	     (t->caches->page_misses[0] != t->counted.page_misses[0]) |
	     (f->faults.count != f->n_faults)))
		front_count_misses(f, t, out);
}

/* The kernel runs in this thread, for a reason or for a system call of this number. */
void front_enter_kernel(const struct front *f, struct front_thread *t, enum front_entry entry);
void front_call_kernel(struct front *f, struct front_thread *t, uint64_t number);

/* Returns the cycles of the kernel that count as the program's since the last call. */
static inline uint32_t front_take_outside_cycles(struct front_thread *t)
{
	const uint32_t cycles = t->outside_cycles;

	t->outside_cycles = 0;
	return cycles;
}

/* Passes an execution by.  Returns 0 or -TACT_E_NOMEM. */
int front_pass_event(struct front *f, struct front_thread *t, struct front_code *code,
		     const struct tact_trace_event *event, struct front_outcome *out);

#endif /* TRACE_FRONT_PARTS_H */

/* SPDX-License-Identifier: MIT
 *
 * What happens in an execution of a block, whatever it costs: where its data and its code are found,
 * and what the branch predictor made of the branch before it.  None of this depends on cycles, so it
 * may run ahead of what counts them (front_run.h), with one exception: what others displace in the
 * last level depends on how much time has passed.  It is known for what was taken FRONT_BATCHES
 * batches before, always, so that the result does not depend on how far ahead it runs.
 */
#ifndef TRACE_FRONT_H
#define TRACE_FRONT_H

#include <tact/cycles.h>

#include "trace/branch_predictor.h"
#include "trace/caches.h"
#include "trace/code_caches.h"
#include "trace/page_faults.h"
#include "trace/repeats.h"
#include "trace/reuse.h"
#include "trace/skim.h"

/* A block of the trace.  It fits one cache line. */
struct front_code {
	/* These never change after its first execution: others may read them from then on. */
	struct predictor_branch branch; /* its last instruction */
	/* bit i: instruction i stores past the caches, or prefetches into the second level only */
	uint64_t passing;
	uint16_t unknown;     /* instructions without data */
	uint16_t prefetches;  /* instructions that prefetch */
	struct repeat repeat; /* its last instruction */
	bool is_known;	      /* its instructions could be decoded */
	bool is_usual;	      /* nothing repeats, nothing goes past the caches */
	bool is_plain;	      /* its last instruction is neither a call nor a return */
	bool is_branch;	      /* it may go elsewhere */
	bool is_seen;	      /* the above is valid */

	uint8_t looked;	     /* executions that were not skimmed; up to SKIM_KNOWN */
	uint32_t executions; /* up to a limit */
	float usual;	     /* about what an execution costs: see note_cost() */
	struct code_place place;
};

_Static_assert(sizeof(struct front_code) <= 64, "it fits one cache line");

/* What an execution adds to the counts of its thread. */
struct front_counts {
	uint32_t misses[CACHE_LEVELS], page_misses[2], page_faults;
};

/* What happened in an execution.  It fits one cache line: another core reads it. */
struct front_outcome {
	const struct front_code *code;
	uint64_t key; /* hash of this and the execution before it: block, and what is special */
	uint64_t code_lines;
	struct front_counts *counts; /* borrowed from who asks; written if has_counts is set */
	uint32_t repeat_cycles;	     /* of its last instruction, if that repeats itself */
	uint32_t
		outside_cycles; /* beside the rest: around the kernel, and of code not in the trace */
	uint32_t longest;	/* cycles that a load takes longer than from the first level */
	uint32_t n_trips;	/* that are not as simple as the first level and the first TLB */
	uint32_t first_trip;	/* of these */
	uint16_t fetch_delay;
	uint16_t prefetches, unknown_prefetches; /* whose addresses are known, and are not */
	uint8_t level;	     /* the farthest one that a load had to go to: 0 to 3 */
	bool is_skimmed : 1; /* only its data were followed: nothing else here is known */
	bool is_mispredicted : 1, is_redirected : 1, is_decoded : 1;
	bool is_branch : 1, is_mistake : 1; /* the branch before it, for the counts */
	bool has_counts : 1;		    /* mostly it has none */
	bool is_sample : 1;		    /* it stands for what is skimmed: see skim.h */
	bool is_ending : 1;		    /* soon what follows will be skimmed */
};

_Static_assert(sizeof(struct front_outcome) <= 64, "it fits one cache line");

/* Where an access finds its data. */
struct front_trip {
	uint32_t access; /* number in its execution */
	struct tact_stream_trip trip;
};

/* Trips of executions, one after the other. */
struct front_trips {
	struct front_trip *list; /* owned */
	size_t n, capacity;
};

enum {
	FRONT_EVENTS = 256, /* of a batch */
	FRONT_BATCHES = 16  /* until what one of them took is known */
};

/* How long a batch took: about, in half cycles, and in cycles; 0: that is not known. */
struct front_pace {
	double guessed, cycles;
};

struct front;

/* Options as for tact_cycles_create; arch is borrowed.  Returns 0 or < 0. */
int front_create(struct front **out, const struct tact_arch *arch,
		 const struct tact_cycles_options *opt, struct tact_diag *diag);
void front_destroy(struct front *front); /* NULL is allowed */

/* Takes an event.  For executions, *out says what happened, and the trips are appended.  out->counts
 * is set by the caller.  Returns 0 or -TACT_E_NOMEM.
 */
int front_take(struct front *front, const struct tact_trace_event *event, struct front_outcome *out,
	       struct front_trips *trips);

/* A batch begins; `past` is the one FRONT_BATCHES before it.  At its end, front_guess() says what is to
 * be kept of it, beside its cycles.
 */
void front_begin_batch(struct front *front, const struct front_pace *past);
double front_guess(const struct front *front);

/* An execution of the block with this number comes soon: what is known about it is fetched.  Any number
 * is allowed.
 */
void front_expect(const struct front *front, uint32_t number);

/* Whether the next execution is passed by, if it is as usual. */
bool front_passes(const struct front *front);

/* Passes an execution by.  words: its accesses (wire.h).  Returns 1, 0 if that is not possible, so that
 * front_take is to be called, or -TACT_E_NOMEM.
 */
int front_pass(struct front *front, uint32_t thread, uint32_t process,
	       const struct tact_trace_block *block, const uint64_t *words, size_t n,
	       struct front_outcome *out);

/* A hash that goes on from another one. */
static inline uint64_t front_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdu;
	return h ^ h >> 29;
}

#endif /* TRACE_FRONT_H */

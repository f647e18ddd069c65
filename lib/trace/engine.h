/* SPDX-License-Identifier: MIT
 *
 * Cycles of a program: shared by the files of the engine.
 */
#ifndef TRACE_ENGINE_H
#define TRACE_ENGINE_H

#include <tact/cycles.h>

#include "block/block.h"
#include "trace/calls.h"
#include "trace/front.h"
#include "trace/memo.h"
#include "trace/strata.h"

/* What the pipelines saw of a block before they forgot it. */
struct engine_past {
	uint64_t seen; /* executions */
	float uops[TACT_MAX_PORTS], stalls[TACT_N_STALLS], cycles;
	float spent[]; /* cycles by instruction, if they are asked for */
};

/* A block of the trace.  It fits one cache line. */
struct engine_code {
	const struct tact_trace_block *block; /* NULL: not executed yet */
	uint64_t executions;
	double cycles;
	struct {
		uint64_t key;
		float mean;
		uint32_t version;  /* of the memo */
	} known;		   /* what the memo said last */
	struct engine_past *past;  /* owned; NULL: the pipelines have forgotten nothing */
	uint32_t number;	   /* in the pipelines */
	uint32_t unknown;	   /* instructions without data */
	float new_cycles;	   /* about so many that the memo did not know */
	unsigned is_known : 1;	   /* its instructions could be decoded */
	unsigned is_added : 1;	   /* the pipelines hold it */
	unsigned calls_kernel : 1; /* its last instruction does */
	unsigned setting : 16;	   /* that it began with when it was first executed (isa.h) */
};

enum {
	ENGINE_LESSONS = 1024, /* executions of a window; longer ones are learned in parts */
	ENGINE_PENDING = 4096  /* executions in flight: as many as a stream accepts */
};

/* What an answer of the memo is based on: earlier executions, or only the number of instructions.
 * Mispredicted branches and loads that miss a cache are corrected separately.
 */
enum engine_source {
	ENGINE_KNOWN,
	ENGINE_NEW,
	ENGINE_NEW_BRANCH,
	ENGINE_NEW_L2,
	ENGINE_NEW_L3,
	ENGINE_NEW_MEMORY,
	ENGINE_NEW_DECODED,
	ENGINE_NEW_CODE, /* that was not in the first-level cache */
	ENGINE_SOURCES
};

/* An execution that is in the pipeline. */
struct engine_pending {
	uint64_t key;
	uint32_t code;
	uint32_t node;	/* of the tree of calls */
	float recalled; /* cycles according to the memo, without those below */
	float skimmed; /* cycles according to the strata, if it stands for what is skimmed; else < 0 */
	float repeated;	  /* cycles of its last instruction, if that repeats itself */
	uint32_t longest; /* see struct front_outcome, as the next one */
	uint8_t level;
	enum engine_source source;
	bool is_counted;
};

/* Cycles of the pipeline, and of the memo, for the same executions. */
struct engine_correction {
	double simulated, recalled;
	double factor; /* of both; 0: the memo said nothing so far, which stands for 1 */
	uint64_t n;
};

/* How an execution is treated: the pipeline counts it; or it only fills the pipeline, before the
 * first one that counts and until the last one has retired; or the pipeline does not see it.
 */
enum engine_state { ENGINE_COUNTING, ENGINE_COOLING, ENGINE_SKIPPING, ENGINE_WARMING };

/* A thread of the program. */
struct engine_thread {
	uint32_t id;
	bool is_over;
	struct tact_cycles *owner;  /* borrowed */
	struct tact_stream *stream; /* owned */
	double cycles;
	uint64_t instructions, branches, misses[CACHE_LEVELS], page_misses[2];
	double mistakes; /* of branches; partly from those that were looked at */

	/* The pipeline. */
	struct engine_pending pending[ENGINE_PENDING];
	uint64_t n_fed, n_retired;
	uint64_t last_cycle; /* of the last retirement */

	/* The window. */
	enum engine_state state;
	unsigned left; /* instructions left in this state */
	unsigned warmed,
		ahead;	       /* instructions since the warm-up began; lines fetched ahead in it */
	uint64_t last_counted; /* executions fed up to its end */
	uint64_t random;
	struct {
		uint64_t key;
		float cycles;
	} lessons[ENGINE_LESSONS];
	unsigned n_lessons;
	double stands_for;		 /* instructions for each one that it has */
	bool is_sample;			 /* chosen at random */
	bool is_extra;			 /* no: code that the memo does not know asked for it */
	bool wants_window;		 /* such code has come */
	struct engine_correction window; /* its cycles, and those of the corrected memo */
	double sampled, said; /* cycles of it that stand for what is skimmed, and of the strata */
	double factors[ENGINE_SOURCES]; /* corrections before the window */
};

/* Part of a window that a block has. */
struct engine_share {
	uint32_t code, executions;
	double cycles;
};

/* A window of a program that runs natively. */
struct engine_window {
	uint32_t thread; /* index */
	double span;	 /* CPU time that it stands for */
	double cycles;
	double host;   /* cycles on the CPU that it ran on */
	double weight; /* executions that one of its executions stands for */
	uint64_t instructions;
	size_t first, n; /* of the shares */
};

/* Windows of a program that runs natively: see windows.c. */
struct engine_windows {
	bool is_on; /* the trace has windows */
	bool is_open;
	bool has_failed;	    /* memory ran out */
	bool is_measured;	    /* the CPU is the one that the program runs on */
	struct engine_window *list; /* owned */
	size_t n, capacity;
	struct engine_share *shares; /* owned */
	size_t n_shares, shares_capacity;
	uint32_t *slots; /* owned: by code, its share of this window plus one; 0: none */
	size_t n_slots, slots_capacity;
	double user_ns, hertz;
	uint64_t instructions; /* of all windows, with those that do not count */
	double error;	       /* standard error of the cycles */
	double scale;	       /* of what was seen in windows, to the whole run */
};

/* A request to see uops of a thread. */
struct engine_watch {
	struct engine_thread *thread; /* borrowed; NULL: there is none yet */
	uint32_t id;		      /* TACT_TRACE_FIRST_THREAD: the first one */
	uint64_t first, last;
	void (*on_uop)(void *arg, const struct tact_trace_block *block,
		       const struct tact_sim_uop *uop);
	/* Instead, for all threads: */
	void (*on_any)(void *arg, const struct engine_thread *thread,
		       const struct tact_trace_block *block, const struct tact_sim_uop *uop);
	void *arg;
};

struct tact_cycles {
	const struct tact_arch *arch;
	struct tact_cycles_options opt;
	struct front *front; /* owned */
	struct front_trips
		moved; /* owned list: where accesses of the last event found their data */
	struct tact_block *block; /* owned; for decoding */
	const struct tact_trace_block
		*loaded; /* the block that it holds, lowered for the pipelines; NULL: none */
	struct tact_stream *stream;    /* owned; it holds the blocks, and executes nothing */
	struct tact_estimator *bounds; /* owned */
	struct engine_code *codes;     /* owned; by number in the trace */
	struct strata *strata;	       /* owned; likewise */
	size_t n_codes, code_capacity, strata_capacity;
	const struct tact_trace_block *previous; /* that was executed last; NULL: none */
	size_t n_added;				 /* that the pipelines hold */
	struct engine_thread **threads;		 /* owned */
	size_t n_threads, thread_capacity;
	struct engine_thread *last; /* of the last event */
	struct memo memo;
	struct engine_correction corrections[ENGINE_SOURCES];
	uint64_t instructions, simulated; /* of all threads */
	double spent;			  /* likewise: cycles */
	/* Batches of events that come one by one: as those of front_run.h. */
	struct front_pace paces[FRONT_BATCHES];
	uint64_t n_events;
	double spent_before;	     /* the batch */
	double squares_off, windows; /* of windows: squared errors of the memo, and its sum */
	double recalled;	     /* cycles that come from the memo */
	/* What was skimmed. */
	struct strata_judge judge;
	double skimmed;			/* cycles */
	uint64_t followed;		/* branches that were looked at */
	double looked, looked_mistakes; /* the same, and mispredicted ones; old ones fade */
	double mistake_rate;		/* their ratio */
	double skim_factor;		/* that corrects what the strata say */
	bool is_skimming;
	double resume_at;		     /* instructions before the next window */
	struct tact_stream_access *accesses; /* owned; of the current execution */
	struct tact_stream_trip *trips;	     /* owned; where they find their data */
	size_t access_capacity, trip_capacity;
	struct engine_watch *watch; /* owned; NULL: nobody watches */
	struct calls *calls;	    /* borrowed; NULL: calls are not followed */
	uint32_t node;		    /* there, of the current execution */
	struct engine_windows windowed;
	uint64_t accesses_seen, page_faults, prefetches, unknown_prefetches;
};

/* The two halves of tact_cycles_event: what happened, and what it cost.  The first one depends only
 * on events, and may run in another thread, ahead of the second one.  Both return 0 or < 0.
 */
int engine_take(struct tact_cycles *c, const struct tact_trace_event *event,
		const struct front_outcome *outcome, const struct front_trip *trips,
		struct tact_diag *diag);

/* An execution of a block comes soon: its data are fetched.  Any number is allowed. */
static inline void engine_expect(const struct tact_cycles *c, uint32_t number, uint64_t key)
{
	if (number < c->n_codes) {
		tact_fetch(&c->codes[number]);
		tact_fetch(&c->strata[number]);
	}
	if (c->calls && number < c->calls->n_codes)
		tact_fetch(&c->calls->codes[number]);
	memo_expect(&c->memo, key);
}

/* Executes a block.  trips: those of the outcome.  Returns 0 or -TACT_E_NOMEM. */
int engine_execute(struct engine_thread *t, const struct tact_trace_event *event,
		   const struct front_outcome *outcome, const struct front_trip *trips);

/* The same for an execution of which only the data were followed.  Returns 0 or < 0. */
int engine_skim(struct engine_thread *t, const struct tact_trace_event *event,
		const struct front_outcome *outcome);

/* Loads a block into c->block.  Returns 0 or < 0. */
int engine_load(struct tact_cycles *c, const struct tact_trace_block *b, enum tact_mode mode);

/* Returns the cycles of an instruction of a block that the pipelines hold. */
double engine_spent(const struct tact_cycles *c, const struct engine_code *code, uint32_t i);

/* Adds a block that the pipelines have forgotten, or never had.  Returns 0 or -TACT_E_NOMEM. */
int engine_add_code(struct tact_cycles *c, struct engine_code *code);

/* For tact_stream_on_retire, with the thread. */
void engine_retired(void *thread, uint64_t cycle);

/* Fills in what a block took, without FACILE's bound.  False: the pipelines never saw it, so that
 * its uops and stalls are unknown.
 */
bool engine_fill_block(const struct tact_cycles *c, const struct engine_code *code,
		       struct tact_cycles_block *out);

/* Finds the bounds of FACILE that executions of a block kept to: `each` cycles on average, `stalled`
 * of them with a stall, < 0 if the stalls are unknown.  0: the stalls are the reason.
 */
uint32_t engine_limits(const struct tact_prediction *bounds, double each, double stalled);

/* Shows uops of a thread that are in its pipeline from its cycle `first` to its cycle `last`, in
 * order of retirement; their iteration counts executions.  thread: as in the events, or
 * TACT_TRACE_FIRST_THREAD.  Before the first event.  Returns 0, -TACT_E_INVAL if the run is not
 * exact, the window is empty, or there is one already; -TACT_E_NOMEM.
 */
int engine_watch_uops(struct tact_cycles *c, uint32_t thread, uint64_t first, uint64_t last,
		      void (*on_uop)(void *arg, const struct tact_trace_block *block,
				     const struct tact_sim_uop *uop),
		      void *arg);

/* Watches the thread if it is the requested one. */
void engine_watch(struct engine_thread *t);

/* What a thread did so far. */
struct engine_counts {
	double cycles;
	uint64_t instructions, misses[CACHE_LEVELS], mispredicted;
};

/* For the thread of the last event.  Returns false if it is another one, or has ended. */
bool engine_count_thread(const struct tact_cycles *c, uint32_t thread, struct engine_counts *out);

/* Shows the uops of all threads that count, in order of retirement of each thread, with the cycles
 * of its pipeline.  Before the first event.  Returns 0, -TACT_E_INVAL if somebody watches already;
 * -TACT_E_NOMEM.
 */
int engine_watch_all(struct tact_cycles *c,
		     void (*on_any)(void *arg, const struct engine_thread *thread,
				    const struct tact_trace_block *block,
				    const struct tact_sim_uop *uop),
		     void *arg);

/* The tree of calls has other numbers: by old number. */
void engine_renumber(struct tact_cycles *c, const uint32_t *map);

/* Lets everything that is in flight retire. */
int engine_drain(struct engine_thread *t);

/* ---- windows.c: programs that run natively ---- */

/* Takes an event of the kinds TACT_TRACE_WINDOW and TACT_TRACE_TIME.  Returns 0, -TACT_E_NOMEM or
 * -TACT_E_LIMIT.
 */
int engine_window_event(struct engine_thread *t, const struct tact_trace_event *event);
void engine_window_time(struct tact_cycles *c, const struct tact_trace_event *event);

/* Counts an execution in a window, and cycles of one that retires.  If memory runs out, the end of
 * the window says so.
 */
void engine_window_execute(struct engine_thread *t, uint32_t code, unsigned n_insns, bool is_seen);
void engine_window_count(struct engine_thread *t, uint32_t code, unsigned executions,
			 double cycles);

/* Weighs the windows: fills in the cycles and executions of blocks and threads.  `host` has the same
 * windows for the CPU that the program ran on; NULL: it is this one.
 */
void engine_windows_weigh(struct tact_cycles *c, const struct tact_cycles *host);
void engine_windows_fini(struct engine_windows *w);

#endif /* TRACE_ENGINE_H */

/* SPDX-License-Identifier: MIT
 *
 * A traced run from its first event to its result; and what can be kept of it besides: which
 * function ran when, and all uops of a window of cycles.
 */
#ifndef TACT_ANALYSIS_H
#define TACT_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/cycles.h>
#include <tact/pipeline.h>
#include <tact/result.h>
#include <tact/status.h>
#include <tact/symbols.h>
#include <tact/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_analysis_options {
	size_t size;
	const struct tact_arch *arch;
	bool exact, caches, branches; /* see struct tact_cycles_options */
	uint64_t cache_bytes[3];
	unsigned parts;		/* of the result: bits of enum tact_result_part */
	const char *command;	/* borrowed; what was run, for the result; NULL: not known */
	bool samples;		/* which function runs when is sampled */
	bool has_window;	/* uops of a window are kept; means exact */
	uint32_t window_thread; /* as in the events, or TACT_CYCLES_FIRST */
	uint64_t window_first, window_last; /* cycles of that thread */

	/* Called now and then; may be NULL. */
	void (*on_progress)(void *arg, const struct tact_cycles *cycles);
	void *arg;
};

/* Refers to the trace and the symbols, which have to stay. */
struct tact_analysis;

/* The trace is of TACT_TRACE_FULL.  Returns -TACT_E_INVAL, -TACT_E_NOMEM. */
int tact_analysis_create(struct tact_analysis **out, struct tact_trace *trace,
			 struct tact_symbols *symbols, const struct tact_analysis_options *opt,
			 struct tact_diag *diag);
void tact_analysis_destroy(struct tact_analysis *analysis); /* NULL is allowed */

/* All events.  Returns 0, or errors of tact_trace_next and tact_cycles_event: what came before one
 * counts.
 */
int tact_analysis_run(struct tact_analysis *analysis, struct tact_diag *diag);

/* Everything that is in flight retires.  Returns as tact_cycles_finish; *totals is filled in any
 * case.
 */
int tact_analysis_finish(struct tact_analysis *analysis, struct tact_cycles_totals *totals,
			 struct tact_diag *diag);

/* The result, of a run that was finished.  Returns -TACT_E_NOMEM. */
int tact_analysis_result(struct tact_analysis *analysis, bool is_partial, struct tact_result **out,
			 struct tact_diag *diag);

/* Samples as a trace for Perfetto (Chrome's JSON), in which a microsecond is a cycle: which
 * function ran when, and the instructions a cycle.  Memory is bounded: of a long run samples are
 * further apart.  `write` gets pieces of text; if it returns anything but 0, that is the end.
 * Returns 0, -TACT_E_NOMEM, -TACT_E_INVAL if there are no samples.
 */
int tact_analysis_perfetto(struct tact_analysis *analysis,
			   int (*write)(void *arg, const char *data, size_t size), void *arg);

/* A uop to which something happens in the window. */
struct tact_window_uop {
	struct tact_sim_uop uop; /* cycles are those of the thread */
	bool begins;		 /* it is the first one of an execution of a block, */
	const char *function;	 /* which is in this function; owned by the symbols */
	uint64_t address;	 /* and has this address in its file */
	const char *text; /* of its instruction, if it is its first uop; else ""; owned by the
			     analysis */
};

/* The window, in order of retirement: fills *uops and returns how many there are, or -TACT_E_NOMEM.
 * *is_cut: there were too many.
 */
long tact_analysis_window(struct tact_analysis *analysis, const struct tact_window_uop **uops,
			  bool *is_cut);

#ifdef __cplusplus
}
#endif

#endif /* TACT_ANALYSIS_H */

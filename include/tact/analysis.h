/* SPDX-License-Identifier: MIT
 *
 * Analyses a traced run, from its first event to its result:
 *
 *	tact_trace_launch(&trace, ...);  tact_symbols_create(&symbols);
 *	tact_analysis_create(&analysis, trace, symbols, &options, &diag);
 *	tact_analysis_run(analysis, &diag);
 *	tact_analysis_finish(analysis, NULL, &diag);
 *	tact_analysis_result(analysis, false, &result, &diag);
 *
 * A handle, its trace and its symbols belong to one thread at a time; different handles with
 * different traces and symbols may be used by different threads at once.
 */
#ifndef TACT_ANALYSIS_H
#define TACT_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/cycles.h>
#include <tact/result.h>
#include <tact/status.h>
#include <tact/symbols.h>
#include <tact/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_analysis_options {
	size_t size;
	const struct tact_arch *arch; /* required; borrowed, must outlive the analysis */
	bool exact, caches, branches; /* see struct tact_cycles_options */
	uint64_t cache_bytes[3];      /* see struct tact_cycles_options */
	unsigned parts;		      /* of the result: bits of enum tact_result_part */
	const char *command;	      /* what is run, for the result; borrowed, must outlive the
					 analysis; NULL: unknown */
	void (*on_progress)(void *arg, const struct tact_cycles *cycles); /* called now and then
									     during the run; NULL */
	void *arg;							  /* for on_progress */
	bool partial, thorough; /* see struct tact_cycles_options */
};
#define TACT_ANALYSIS_OPTIONS_INIT TACT_SIZED(struct tact_analysis_options)

struct tact_analysis;

/* Creates the analysis of a trace of mode TACT_TRACE_FULL.  The trace and the symbols must outlive
 * it.  Returns 0 with a handle for tact_analysis_destroy, -TACT_E_INVAL without a trace, symbols or
 * an architecture, for another mode and for unknown parts, -TACT_E_NOMEM.
 */
int tact_analysis_create(struct tact_analysis **out, struct tact_trace *trace,
			 struct tact_symbols *symbols, const struct tact_analysis_options *opt,
			 struct tact_diag *diag);

/* Destroys an analysis; its trace and symbols stay.  NULL is allowed. */
void tact_analysis_destroy(struct tact_analysis *analysis);

/* Reads all events of the trace.  Returns 0, -TACT_E_INVAL without an analysis, or errors of
 * tact_trace_next and tact_cycles_event; everything before an error counts.
 */
int tact_analysis_run(struct tact_analysis *analysis, struct tact_diag *diag);

/* Lets everything that is still in flight retire.  Fills *totals, which may be NULL, even if that
 * fails.  Returns as tact_cycles_finish does, -TACT_E_INVAL without an analysis or totals->size.
 */
int tact_analysis_finish(struct tact_analysis *analysis, struct tact_cycles_totals *totals,
			 struct tact_diag *diag);

/* Makes the result of a run that was finished; is_partial says that the run was not complete.  The
 * result needs neither the analysis nor the trace nor the symbols.  Cycles of lines, and of
 * functions that share a block, are those of their instructions: see tact_cycles_get_insns.
 * Returns 0 with a result for tact_result_destroy, -TACT_E_INVAL without an analysis or `out`,
 * -TACT_E_NOMEM.
 */
int tact_analysis_result(struct tact_analysis *analysis, bool is_partial, struct tact_result **out,
			 struct tact_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* TACT_ANALYSIS_H */

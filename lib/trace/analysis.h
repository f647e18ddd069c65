/* SPDX-License-Identifier: MIT
 *
 * Shared by the files that analyse a run.
 */
#ifndef TRACE_ANALYSIS_H
#define TRACE_ANALYSIS_H

#include <tact-program/tracing.h>
#include <tact/analysis.h>

#include "base/base.h"

/* ---- samples.c: which function ran when ---- */

struct samples;

int samples_create(struct samples **out);
void samples_destroy(struct samples *samples); /* NULL is allowed */
/* Counts an execution of a block, and reads its thread's cycles now and then.  Returns 0 or
 * -TACT_E_NOMEM.
 */
int samples_add(struct samples *samples, const struct tact_cycles *cycles,
		const struct tact_trace_event *event);
/* As tact_analysis_perfetto. */
int samples_write(const struct samples *samples, struct tact_symbols *symbols,
		  const struct tact_trace *trace,
		  int (*write)(void *arg, const char *data, size_t size), void *arg);

/* ---- window.c: uops of a window ---- */

struct window;

/* Takes what the cycles show of the window.  Returns 0, -TACT_E_INVAL, -TACT_E_NOMEM. */
int window_create(struct window **out, struct tact_cycles *cycles, uint32_t thread, uint64_t first,
		  uint64_t last);
void window_destroy(struct window *window); /* NULL is allowed */
/* As tact_analysis_window. */
long window_uops(struct window *window, struct tact_symbols *symbols,
		 const struct tact_trace *trace, const struct tact_window_uop **uops, bool *is_cut);

#endif /* TRACE_ANALYSIS_H */

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

struct sample;
struct views;

struct sampled_thread {
	uint32_t thread, pid, process; /* number, counted from 1 */
	unsigned left;		       /* executions up to the next sample */
	unsigned step;
	struct sample *samples; /* owned */
	size_t n, capacity;
};

struct samples {
	struct sampled_thread *threads; /* owned */
	size_t n, capacity, last;
};

int samples_create(struct samples **out);
void samples_destroy(struct samples *samples); /* NULL is allowed */
/* Counts an execution of a block, and reads its thread's cycles now and then.  Returns 0 or
 * -TACT_E_NOMEM.
 */
int samples_add(struct samples *samples, const struct tact_cycles *cycles,
		const struct tact_trace_event *event);
/* Counts an execution of a block, if no sample is due.  Returns whether it did: mostly. */
static inline bool samples_pass(struct samples *s, uint32_t thread)
{
	struct sampled_thread *t;

	if (s->last >= s->n)
		return false;
	t = &s->threads[s->last];
	if (t->thread != thread || !t->left)
		return false;
	t->left--;
	return true;
}
/* The tree of calls has other numbers: by old number. */
void samples_renumber(struct samples *samples, const uint32_t *map);
/* Adds slices to a result; row_of: rows of its calls, by node, NULL: it has none.  Returns 0 or
 * -TACT_E_NOMEM.
 */
int samples_slice(const struct samples *samples, struct tact_result *r, const uint32_t *row_of);
/* As tact_analysis_perfetto. */
int samples_write(const struct samples *samples, struct views *views, struct tact_symbols *symbols,
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

/* Names a uop of a window; before: the one before it, NULL: none; is_same: of the same block. */
int window_name(struct tact_window_uop *uop, const struct tact_window_uop *before,
		const struct tact_trace_block *block, bool is_same, struct tact_symbols *symbols,
		const struct tact_trace *trace, struct tact_arena *texts);

/* ---- views.c: uops of some moments ---- */

enum { VIEWS = 24, VIEW_UOPS = 160 };

struct view {
	uint32_t thread;
	double at; /* cycle of the thread */
	size_t n;
	struct tact_window_uop uops[VIEW_UOPS]; /* cycles are those of the pipeline */
};

struct views;

/* Takes views of all threads.  Returns 0, -TACT_E_INVAL if somebody watches, -TACT_E_NOMEM. */
int views_create(struct views **out, struct tact_cycles *cycles);
void views_destroy(struct views *views); /* NULL is allowed */
/* Gets view i with its names.  Returns 1, 0 if there is none, -TACT_E_NOMEM. */
int views_get(struct views *views, size_t i, struct tact_symbols *symbols,
	      const struct tact_trace *trace, struct view **out);

/* Gets view i of an analysis, NULL if there is none.  Returns as views_get. */
int analysis_view(struct tact_analysis *a, size_t i, struct view **out);

/* Finds the source line of an address, as a row of a result has it. */
bool analysis_line(struct tact_analysis *a, const char *module, uint64_t address, const char **file,
		   int *line);

#endif /* TRACE_ANALYSIS_H */

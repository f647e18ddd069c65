/* SPDX-License-Identifier: MIT
 *
 * A run from its first event to its result.
 */
#include "trace/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "trace/calls.h"
#include "trace/engine.h"
#include "trace/front_run.h"
#include "trace/result.h"
#include "trace/symbols.h"

enum { LOOK_INSNS = 1 << 17 }; /* instructions between two calls of on_progress */

struct thread {
	uint32_t thread, pid;
	uint32_t process; /* counted from 1: the kernel's numbers differ from run to run */
};

struct tact_analysis {
	struct tact_analysis_options opt;
	struct tact_trace *trace;
	struct tact_symbols *symbols;
	struct tact_cycles *cycles; /* owned, as is everything below */
	struct tact_cycles *host;   /* windows of a program that runs natively, on this CPU; NULL:
				       not needed */
	bool is_windowed;	    /* the program runs natively */
	struct thread *threads;
	size_t n_threads, threads_capacity;
	struct samples *samples; /* NULL: no samples are taken */
	struct window *window;	 /* NULL: no window is kept */
	struct calls *calls;	 /* NULL: calls are not followed */
	struct views *views;	 /* NULL: none are kept */
};

/* For calls_create. */
static int place_of(void *arg, const struct tact_trace_block *block, struct tact_place *out)
{
	struct tact_analysis *a = arg;

	return tact_symbols_find(a->symbols, a->trace, block, 0, out) ? -TACT_E_NOMEM : 0;
}

static int create_calls(struct tact_analysis *a, struct tact_diag *diag)
{
	if (!(a->opt.parts & TACT_RESULT_WITH_CALLS))
		return 0;
	if (calls_create(&a->calls, place_of, a, 0))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	a->cycles->calls = a->calls;
	return 0;
}

static int create_cycles(struct tact_analysis *a, const struct tact_arch *arch,
			 struct tact_cycles **out, struct tact_diag *diag)
{
	const struct tact_analysis_options *o = &a->opt;
	struct tact_cycles_options opt = {
		.size = sizeof(opt),
		.exact = o->exact,
		.caches = o->caches,
		.branches = o->branches,
		.partial = o->partial,
		.thorough = o->thorough,
		.insns = (o->parts & (TACT_RESULT_WITH_LINES | TACT_RESULT_WITH_INSNS)) != 0,
	};

	memcpy(opt.cache_bytes, o->cache_bytes, sizeof(opt.cache_bytes));
	return tact_cycles_create(out, arch, &opt, diag);
}

int tact_analysis_create(struct tact_analysis **out, struct tact_trace *trace,
			 struct tact_symbols *symbols, const struct tact_analysis_options *opt,
			 struct tact_diag *diag)
{
	const unsigned all =
		TACT_RESULT_WITH_LINES | TACT_RESULT_WITH_INSNS | TACT_RESULT_WITH_CALLS;
	struct tact_analysis_options o;
	struct tact_analysis *a;
	int status;

	if (out)
		*out = NULL;
	if (!out || !trace || !symbols || tact_read_options(&o, sizeof(o), opt) || !o.arch)
		return tact_fail(diag, TACT_E_INVAL, "a trace, symbols and a CPU are needed");
	if (o.parts & ~all)
		return tact_fail(diag, TACT_E_INVAL, "unknown parts of a result");
	if (tact_trace_get_mode(trace) != TACT_TRACE_FULL)
		return tact_fail(diag, TACT_E_INVAL,
				 "a trace that only counts blocks says nothing about cycles");
	status = tact_new(&a, sizeof(*a), true, "", diag);
	if (status < 0)
		return status;
	a->opt = o;
	a->trace = trace;
	a->symbols = symbols;
	status = create_cycles(a, o.arch, &a->cycles, diag);
	if (status >= 0)
		status = create_calls(a, diag);
	return HAND_OVER(out, a, status, tact_analysis_destroy);
}

void tact_analysis_destroy(struct tact_analysis *a)
{
	if (!a)
		return;
	tact_cycles_destroy(a->cycles);
	tact_cycles_destroy(a->host);
	samples_destroy(a->samples);
	window_destroy(a->window);
	calls_destroy(a->calls);
	views_destroy(a->views);
	FREE_ALL(a->threads, a);
}

/* ---- events ---- */

static int add_thread(struct tact_analysis *a, const struct tact_trace_event *event)
{
	uint32_t last = 0, process = 0;

	if (tact_grow(&a->threads, &a->threads_capacity, a->n_threads + 1, sizeof(*a->threads)))
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < a->n_threads; i++) {
		if (a->threads[i].process > last)
			last = a->threads[i].process;
		if (a->threads[i].pid == event->pid)
			process = a->threads[i].process;
	}
	a->threads[a->n_threads++] =
		(struct thread){event->thread, event->pid, process ? process : last + 1};
	return 0;
}

/* Makes room in a tree of calls that is full. */
static int prune_calls(struct tact_analysis *a)
{
	uint32_t *map;

	if (calls_prune(a->calls, &map))
		return -TACT_E_NOMEM;
	engine_renumber(a->cycles, map);
	if (a->samples)
		samples_renumber(a->samples, map);
	free(map);
	return 0;
}

/* Follows calls, before the cycles of the event are counted. */
static inline int follow_calls(struct tact_analysis *a, const struct tact_trace_event *event)
{
	if (event->kind == TACT_TRACE_END)
		calls_end(a->calls, event->thread);
	if (event->kind != TACT_TRACE_EXEC)
		return 0;
	if (calls_stay(a->calls, event, &a->cycles->node))
		return 0;
	if (calls_are_full(a->calls) && prune_calls(a))
		return -TACT_E_NOMEM;
	return calls_enter(a->calls, event, &a->cycles->node);
}

/* A program that runs natively is timed on this CPU: its windows go through the pipeline of this
 * CPU as well, if it is known and another one is asked about.
 */
static int take_host(struct tact_analysis *a, const struct tact_trace_event *event,
		     struct tact_diag *diag)
{
	int status = 0;

	if (!a->is_windowed) {
		struct tact_cpu cpu = TACT_CPU_INIT;
		const struct tact_arch *host;

		tact_cpu_find("native", &cpu);
		host = cpu.nearest;
		a->is_windowed = true;
		a->cycles->windowed.is_measured = host == a->opt.arch;
		if (host && host != a->opt.arch)
			status = create_cycles(a, host, &a->host, diag);
	}
	return status < 0 || !a->host ? status : tact_cycles_event(a->host, event, diag);
}

/* An execution has been counted. */
static inline int take_sample(struct tact_analysis *a, const struct tact_trace_event *event,
			      struct tact_diag *diag)
{
	if (a->samples && !samples_pass(a->samples, event->thread) &&
	    samples_add(a->samples, a->cycles, event))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return 0;
}

/* Takes an execution of which only the data were followed. */
static inline int take_skimmed(struct tact_analysis *a, const struct tact_trace_event *event,
			       const struct front_outcome *outcome, struct tact_diag *diag)
{
	int status;

	if (a->calls && follow_calls(a, event))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	status = engine_take(a->cycles, event, outcome, NULL, diag);
	return status < 0 ? status : take_sample(a, event, diag);
}

static int refuse_set(const struct tact_analysis *a, const struct tact_trace_block *b,
		      struct tact_diag *diag)
{
	return tact_fail(
		diag, TACT_E_FORMAT,
		"the program has %s code, and the CPU executes %s; 'tact archs' lists others",
		b->isa->title, a->cycles->arch->isa->title);
}

/* outcome: what happened in an execution; NULL: that is found here. */
static int take_event(struct tact_analysis *a, const struct tact_trace_event *event,
		      const struct front_outcome *outcome, const struct front_trip *trips,
		      struct tact_diag *diag)
{
	int status = 0;

	if (event->kind == TACT_TRACE_EXEC && event->block->isa != a->cycles->arch->isa)
		return refuse_set(a, event->block, diag);
	if ((event->kind == TACT_TRACE_BEGIN && add_thread(a, event)) ||
	    (a->calls && follow_calls(a, event)))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (a->host || event->kind == TACT_TRACE_WINDOW)
		status = take_host(a, event, diag);
	if (status >= 0)
		status = outcome ? engine_take(a->cycles, event, outcome, trips, diag)
				 : tact_cycles_event(a->cycles, event, diag);
	if (status < 0)
		return status;
	return event->kind == TACT_TRACE_EXEC ? take_sample(a, event, diag) : 0;
}

/* Takes the next event of a trace that no other thread reads.  Returns 1, 0 or < 0. */
static int take_next(struct tact_analysis *const *all, size_t n_all, struct tact_diag *diag)
{
	struct tact_trace_event event = TACT_TRACE_EVENT_INIT;
	int status = tact_trace_next(all[0]->trace, &event, diag);

	for (size_t i = 0; i < n_all && status > 0; i++) {
		const int taken = take_event(all[i], &event, NULL, NULL, diag);

		status = taken < 0 ? taken : status;
	}
	return status;
}

/* Takes a batch of events that another thread has read.  Returns 1 or < 0. */
static int take_batch(struct tact_analysis *const *all, size_t n_all, struct front_cursor *at,
		      struct tact_diag *diag)
{
	while (front_cursor_step(at))
		for (size_t i = 0; i < n_all; i++) {
			const struct front_trip *trips;
			const struct front_outcome *outcome = front_cursor_outcome(at, i, &trips);
			int status;

			front_cursor_expect(at, i);
			engine_expect(all[i]->cycles, front_cursor_later(at),
				      front_cursor_later_key(at, i));
			status = outcome->is_skimmed
					 ? take_skimmed(all[i], &at->event, outcome, diag)
					 : take_event(all[i], &at->event, outcome, trips, diag);
			if (status < 0)
				return status;
		}
	for (size_t i = 0; i < n_all; i++) {
		struct tact_cycles *c = all[i]->cycles;

		at->batch->answers[i].pace.cycles = c->spent - c->spent_before;
		c->spent_before = c->spent;
	}
	return 1;
}

static int take_some(struct tact_analysis *const *all, size_t n_all, struct front_run *run,
		     struct front_cursor *at, struct tact_diag *diag)
{
	int status;

	if (!run)
		return take_next(all, n_all, diag);
	status = front_run_turn(run, at, diag);
	return status > 0 ? take_batch(all, n_all, at, diag) : status;
}

/* Starts to read the trace in another thread, if that is possible. */
static int read_ahead(struct tact_analysis *const *all, size_t n_all, struct front **fronts,
		      struct front_run **out)
{
	int status;

	for (size_t i = 0; i < n_all; i++)
		fronts[i] = all[i]->cycles->front;
	status = front_run_start(out, all[0]->trace, fronts, n_all);
	return status == -TACT_E_NOT_MODELLED ? 0 : status;
}

int tact_analysis_run_all(struct tact_analysis *const *all, size_t n_all, struct tact_diag *diag)
{
	struct front_cursor at = {.event = TACT_TRACE_EVENT_INIT};
	struct front_run *run = NULL;
	struct front **fronts;
	uint64_t looked_at = 0;
	int status;

	for (size_t i = 0; i < n_all || !i; i++)
		if (!all || !n_all || !all[i] || all[i]->trace != all[0]->trace)
			return tact_fail(diag, TACT_E_INVAL, "no analysis, or of several traces");
	fronts = calloc(n_all, sizeof(*fronts));
	if (!fronts || read_ahead(all, n_all, fronts, &run) < 0) {
		free(fronts);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	while ((status = take_some(all, n_all, run, &at, diag)) > 0)
		if (all[0]->opt.on_progress &&
		    all[0]->cycles->instructions - looked_at >= LOOK_INSNS) {
			looked_at = all[0]->cycles->instructions;
			all[0]->opt.on_progress(all[0]->opt.arg, all[0]->cycles);
		}
	front_run_end(run);
	free(fronts);
	return status;
}

int tact_analysis_run(struct tact_analysis *a, struct tact_diag *diag)
{
	return tact_analysis_run_all(&a, 1, diag);
}

int tact_analysis_finish(struct tact_analysis *a, struct tact_cycles_totals *totals,
			 struct tact_diag *diag)
{
	int status;

	if (!a || (totals && !tact_can_fill(totals)))
		return tact_fail(diag, TACT_E_INVAL, "no analysis, or totals of no size");
	status = tact_cycles_finish(a->cycles, diag);
	if (a->calls)
		calls_finish(a->calls);
	if (a->host && status >= 0)
		status = tact_cycles_finish(a->host, diag);
	if (a->host && status >= 0)
		engine_windows_weigh(a->cycles, a->host);
	if (totals)
		tact_cycles_get_totals(a->cycles, totals);
	return status;
}

/* ---- results ---- */

static int add_threads(const struct tact_analysis *a, struct tact_result *result)
{
	for (size_t i = 0; i < a->n_threads; i++) {
		const struct thread *t = &a->threads[i];
		uint64_t instructions;
		double cycles;

		if (!tact_cycles_get_thread(a->cycles, t->thread, &cycles, &instructions) &&
		    instructions &&
		    result_add_thread(result, t->process, t->thread, cycles, instructions))
			return -TACT_E_NOMEM;
	}
	return 0;
}

int tact_analysis_result(struct tact_analysis *a, bool is_partial, struct tact_result **out,
			 struct tact_diag *diag)
{
	struct tact_result_info info = {.size = sizeof(info), .is_partial = is_partial};
	uint32_t *row_of = NULL;
	struct tact_result *made;
	int status;

	if (out)
		*out = NULL;
	if (!out || !a)
		return tact_fail(diag, TACT_E_INVAL, "no analysis");
	info.arch = tact_arch_name(a->opt.arch);
	info.command = a->opt.command;
	info.is_exact = a->opt.exact;
	info.has_caches = a->opt.caches;
	info.has_branches = a->opt.branches;
	status = result_make(&made, &info, a->cycles, a->trace, a->symbols, a->opt.parts, diag);
	if (status < 0)
		return status;
	if (add_threads(a, made) ||
	    (a->calls && result_add_calls(made, a->calls, place_of, a, &row_of)) ||
	    (a->samples && samples_slice(a->samples, made, row_of)))
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	free(row_of);
	return HAND_OVER(out, made, status, tact_result_destroy);
}

/* ---- samples and windows ---- */

int tact_analysis_keep_samples(struct tact_analysis *a)
{
	if (!a)
		return -TACT_E_INVAL;
	return a->samples ? 0 : samples_create(&a->samples);
}

int tact_analysis_keep_window(struct tact_analysis *a, uint32_t thread, uint64_t first,
			      uint64_t last)
{
	return a ? window_create(&a->window, a->cycles, thread, first, last) : -TACT_E_INVAL;
}

int tact_analysis_perfetto(struct tact_analysis *a,
			   int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	if (!a || !a->samples || !write)
		return -TACT_E_INVAL;
	return samples_write(a->samples, a->views, a->symbols, a->trace, write, arg);
}

long tact_analysis_window(struct tact_analysis *a, const struct tact_window_uop **uops,
			  bool *is_cut)
{
	if (!a || !uops || !is_cut)
		return -TACT_E_INVAL;
	*uops = NULL;
	*is_cut = false;
	return a->window ? window_uops(a->window, a->symbols, a->trace, uops, is_cut) : 0;
}

int tact_analysis_keep_views(struct tact_analysis *a)
{
	if (!a)
		return -TACT_E_INVAL;
	return a->views ? 0 : views_create(&a->views, a->cycles);
}

int analysis_view(struct tact_analysis *a, size_t i, struct view **out)
{
	*out = NULL;
	return a->views ? views_get(a->views, i, a->symbols, a->trace, out) : 0;
}

bool analysis_line(struct tact_analysis *a, const char *module, uint64_t address, const char **file,
		   int *line)
{
	return symbols_line_at(a->symbols, module, address, file, line);
}

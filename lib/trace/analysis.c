/* SPDX-License-Identifier: MIT
 *
 * A run from its first event to its result.
 */
#include "trace/analysis.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_EVENTS = 1 << 16 }; /* how often there may be progress */

struct thread {
	uint32_t thread, pid, process; /* number, from 1: the kernel's are others every time */
};

struct tact_analysis {
	struct tact_analysis_options opt;
	struct tact_trace *trace;
	struct tact_symbols *symbols;
	struct tact_cycles *cycles; /* owned, as all that follows */
	struct thread *threads;
	size_t n_threads, threads_capacity;
	struct samples *samples; /* NULL: none are taken */
	struct window *window;	 /* NULL: there is none */
};

static int make_parts(struct tact_analysis *a, struct tact_diag *diag)
{
	const struct tact_analysis_options *o = &a->opt;
	struct tact_cycles_options opt = {
		.size = sizeof(opt),
		.exact = o->exact || o->has_window,
		.caches = o->caches,
		.branches = o->branches,
		.insns = o->parts != 0,
	};
	int status;

	memcpy(opt.cache_bytes, o->cache_bytes, sizeof(opt.cache_bytes));
	status = tact_cycles_create(&a->cycles, o->arch, &opt, diag);
	if (status < 0)
		return status;
	if (o->has_window)
		status = window_create(&a->window, o, a->cycles);
	if (!status && o->samples)
		status = samples_create(&a->samples);
	if (status == -TACT_E_NOMEM)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return status ? tact_fail(diag, TACT_E_INVAL, "not a window") : 0;
}

int tact_analysis_create(struct tact_analysis **out, struct tact_trace *trace,
			 struct tact_symbols *symbols, const struct tact_analysis_options *opt,
			 struct tact_diag *diag)
{
	struct tact_analysis *a = calloc(1, sizeof(*a));
	int status;

	*out = NULL;
	if (!a)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (!trace || !symbols || tact_read_options(&a->opt, sizeof(a->opt), opt) || !a->opt.arch) {
		free(a);
		return tact_fail(diag, TACT_E_INVAL, "a trace, symbols and a CPU are needed");
	}
	a->trace = trace;
	a->symbols = symbols;
	status = make_parts(a, diag);
	if (status < 0)
		tact_analysis_destroy(a);
	else
		*out = a;
	return status;
}

void tact_analysis_destroy(struct tact_analysis *a)
{
	if (!a)
		return;
	tact_cycles_destroy(a->cycles);
	samples_destroy(a->samples);
	window_destroy(a->window);
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

int tact_analysis_run(struct tact_analysis *a, struct tact_diag *diag)
{
	struct tact_trace_event event;
	unsigned n = 0;
	int status;

	while ((status = tact_trace_next(a->trace, &event, diag)) > 0) {
		if (event.kind == TACT_TRACE_BEGIN && add_thread(a, &event))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		status = tact_cycles_event(a->cycles, &event, diag);
		if (status < 0)
			break;
		if (a->samples && event.kind == TACT_TRACE_EXEC &&
		    samples_add(a->samples, a->cycles, &event))
			return tact_fail(diag, TACT_E_NOMEM, "out of memory");
		if (++n % LOOK_EVENTS == 0 && a->opt.on_progress)
			a->opt.on_progress(a->opt.arg, a->cycles);
	}
	return status;
}

int tact_analysis_finish(struct tact_analysis *a, struct tact_cycles_totals *totals,
			 struct tact_diag *diag)
{
	const int status = tact_cycles_finish(a->cycles, diag);

	totals->size = sizeof(*totals);
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
		    tact_result_add_thread(result, t->process, t->thread, cycles, instructions))
			return -TACT_E_NOMEM;
	}
	return 0;
}

int tact_analysis_result(struct tact_analysis *a, bool is_partial, struct tact_result **out,
			 struct tact_diag *diag)
{
	const struct tact_result_info info = {
		.size = sizeof(info),
		.arch = tact_arch_name(a->opt.arch),
		.command = a->opt.command ? a->opt.command : "",
		.is_exact = a->opt.exact || a->opt.has_window,
		.has_caches = a->opt.caches,
		.has_branches = a->opt.branches,
		.is_partial = is_partial,
	};
	int status =
		tact_result_create(out, &info, a->cycles, a->trace, a->symbols, a->opt.parts, diag);

	if (status < 0)
		return status;
	if (!add_threads(a, *out))
		return 0;
	tact_result_destroy(*out);
	*out = NULL;
	return tact_fail(diag, TACT_E_NOMEM, "out of memory");
}

int tact_analysis_perfetto(struct tact_analysis *a,
			   int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	if (!a->samples || !write)
		return -TACT_E_INVAL;
	return samples_write(a->samples, a->symbols, a->trace, write, arg);
}

long tact_analysis_window(struct tact_analysis *a, const struct tact_window_uop **uops,
			  bool *is_cut)
{
	*uops = NULL;
	*is_cut = false;
	return a->window ? window_uops(a->window, a->symbols, a->trace, uops, is_cut) : 0;
}

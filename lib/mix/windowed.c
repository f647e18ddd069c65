/* SPDX-License-Identifier: MIT
 *
 * Counts from windows of a program that runs natively.
 *
 * Windows are spread over CPU time, so a count of what is in them would be one of time: slow code
 * would count too much.  The pipeline of the CPU that the program runs on gives each window its
 * cycles, and so the executions that one of its executions stands for (trace/windows.c).
 */
#include <stdlib.h>

#include <tact/cycles.h>

#include "mix/counts_file.h"
#include "trace/engine.h"

struct windowed {
	struct tact_mix_windows_options o;
	struct tact_trace *trace;
	struct tact_cycles *cycles;  /* owned, like all below */
	double (*found)[MIX_GROUPS]; /* by code: executions in each group of windows */
	struct mix_counted *items;
	size_t n;
};

static int create_cycles(struct windowed *w, struct tact_diag *diag)
{
	const struct tact_cycles_options opt = {
		.size = sizeof(opt), .caches = true, .branches = true};
	struct tact_cpu cpu = TACT_CPU_INIT;

	if (!w->o.arch) {
		tact_cpu_find("native", &cpu);
		w->o.arch = cpu.nearest;
	}
	if (!w->o.arch)
		return tact_fail(diag, TACT_E_NO_ARCH,
				 "there is no model of this CPU (%.40s, family %u model %u), which "
				 "must tell how long windows take: name one that is like it",
				 cpu.brand, cpu.family, cpu.model);
	return tact_cycles_create(&w->cycles, w->o.arch, &opt, diag);
}

static int follow(struct windowed *w, struct tact_diag *diag)
{
	struct tact_trace_event event = TACT_TRACE_EVENT_INIT;
	int status;

	while ((status = tact_trace_next(w->trace, &event, diag)) > 0) {
		status = tact_cycles_event(w->cycles, &event, diag);
		if (status < 0)
			return status;
	}
	return status < 0 ? status : tact_cycles_finish(w->cycles, diag);
}

/* Windows are dealt out in turn, so that each group has some of every phase of the run, as the
 * windows together do.
 */
static int add_up(struct windowed *w)
{
	const struct engine_windows *windows = &w->cycles->windowed;
	const size_t n_codes = w->cycles->n_codes;

	w->found = calloc(n_codes + 1, sizeof(*w->found));
	w->items = calloc(n_codes + 1, sizeof(*w->items));
	if (!w->found || !w->items)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < windows->n; i++) {
		const struct engine_window *x = &windows->list[i];
		const size_t group = i % MIX_GROUPS;

		for (size_t k = x->first; k < x->first + x->n; k++)
			w->found[windows->shares[k].code][group] +=
				x->weight * (double)windows->shares[k].executions;
	}
	for (size_t i = 0; i < n_codes; i++) {
		double sum = 0;

		for (unsigned g = 0; g < MIX_GROUPS; g++)
			sum += w->found[i][g];
		if (sum >= 0.5)
			w->items[w->n++] = (struct mix_counted){.block = w->cycles->codes[i].block,
								.count = (uint64_t)(sum + 0.5),
								.spread = w->found[i]};
	}
	return 0;
}

static int write_counts(struct windowed *w, struct tact_mix_windowed *out, struct tact_diag *diag)
{
	const struct engine_windows *windows = &w->cycles->windowed;
	const struct mix_counts_file file = {.path = w->o.output,
					     .trace = w->trace,
					     .command = w->o.command,
					     .items = w->items,
					     .n = w->n,
					     .windows = windows->n};

	out->windows = windows->n;
	out->seconds = windows->user_ns * 1e-9;
	out->blocks = w->n;
	for (size_t i = 0; i < windows->n; i++) {
		out->stepped += windows->list[i].instructions;
		out->instructions +=
			windows->list[i].weight * (double)windows->list[i].instructions;
	}
	if (!w->n)
		return tact_fail(diag, TACT_E_NO_DATA, "there are no windows");
	return mix_write_counts(&file, diag);
}

int tact_mix_count_windows(struct tact_trace *trace, const struct tact_mix_windows_options *opt,
			   struct tact_mix_windowed *out, struct tact_diag *diag)
{
	struct tact_mix_windowed windowed = TACT_MIX_WINDOWED_INIT;
	struct windowed w = {.trace = trace};
	int status;

	if (!trace || !opt || !tact_can_fill(out) || tact_read_options(&w.o, sizeof(w.o), opt) ||
	    !w.o.output || tact_trace_get_mode(trace) != TACT_TRACE_FULL)
		return tact_fail(diag, TACT_E_INVAL, "a trace with all executions and a file");
	status = create_cycles(&w, diag);
	if (status >= 0)
		status = follow(&w, diag);
	if (status >= 0 && add_up(&w))
		status = tact_fail(diag, TACT_E_NOMEM, "out of memory");
	if (status >= 0)
		status = write_counts(&w, &windowed, diag);
	tact_cycles_destroy(w.cycles);
	FREE_ALL(w.found, w.items);
	tact_fill(out, &windowed, sizeof(windowed));
	return status;
}

/* SPDX-License-Identifier: MIT
 *
 * Programs that run natively: windows at random moments, and what they say about the whole run.
 *
 * A window is found with the chance that the CPU time around it gives it, so it stands for time:
 * `span` ns, of which the program's user time T is the sum.  It has N instructions, which take H
 * cycles on the CPU that the program runs on and C on the CPU that is asked about; so one of its
 * instructions stands for span * f / H executions, f being the clock of the CPU.  All windows
 * together give
 *
 *	instructions = f T mean(N / H)     cycles = f T mean(C / H)
 *
 * with means weighted by span.  For the CPU that the program runs on, C = H, and the cycles are f T:
 * measured, not predicted.  doc/models/trace.md has more on this.
 */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "trace/engine.h"

enum { FEWEST = 50 }; /* instructions of a window that counts */

void engine_windows_fini(struct engine_windows *w)
{
	FREE_ALL(w->list, w->shares, w->slots);
}

static size_t index_of(const struct engine_thread *t)
{
	size_t i = 0;

	while (t->owner->threads[i] != t)
		i++;
	return i;
}

static int begin(struct engine_thread *t, const struct tact_trace_event *event)
{
	struct engine_windows *w = &t->owner->windowed;

	if (tact_grow(&w->list, &w->capacity, w->n + 1, sizeof(*w->list)))
		return -TACT_E_NOMEM;
	w->list[w->n++] = (struct engine_window){.thread = (uint32_t)index_of(t),
						 .span = (double)event->span_ns,
						 .first = w->n_shares};
	w->is_on = w->is_open = true;
	t->state = ENGINE_WARMING;
	return 0;
}

/* Ends a window; one that hardly has instructions is left out. */
static int end(struct engine_thread *t)
{
	struct engine_windows *w = &t->owner->windowed;
	struct engine_window *x;
	int status;

	if (!w->is_open)
		return 0;
	x = &w->list[w->n - 1];
	status = engine_drain(t);
	t->state = ENGINE_SKIPPING;
	w->is_open = false;
	for (size_t i = x->first; i < w->n_shares; i++) {
		x->cycles += w->shares[i].cycles;
		x->instructions += (uint64_t)w->shares[i].executions *
				   t->owner->codes[w->shares[i].code].block->n_insns;
		w->slots[w->shares[i].code] = 0;
	}
	x->n = w->n_shares - x->first;
	x->host = x->cycles;
	if (x->instructions < FEWEST || x->cycles <= 0) {
		w->n_shares = x->first;
		w->n--;
	}
	if (w->has_failed)
		return -TACT_E_NOMEM;
	return status;
}

int engine_window_event(struct engine_thread *t, const struct tact_trace_event *event)
{
	int status = 0;

	switch (event->window) {
	case TACT_TRACE_WARMING:
		status = end(t);
		return status < 0 ? status : begin(t, event);
	case TACT_TRACE_WINDOWED:
		t->state = ENGINE_COUNTING;
		return 0;
	case TACT_TRACE_COOLING:
		t->state = ENGINE_COOLING;
		return 0;
	case TACT_TRACE_NO_WINDOW:
		return end(t);
	}
	return status;
}

void engine_window_time(struct tact_cycles *c, const struct tact_trace_event *event)
{
	c->windowed.user_ns = (double)event->user_ns;
	if (event->hertz)
		c->windowed.hertz = (double)event->hertz;
}

void engine_window_execute(struct engine_thread *t, uint32_t code, unsigned n_insns, bool is_seen)
{
	t->owner->windowed.instructions += n_insns;
	if (is_seen)
		engine_window_count(t, code, 1, 0);
}

void engine_window_count(struct engine_thread *t, uint32_t code, unsigned executions, double cycles)
{
	struct engine_windows *w = &t->owner->windowed;
	struct engine_share *share;

	while (w->n_slots <= code) {
		if (tact_grow(&w->slots, &w->slots_capacity, w->n_slots + 1, sizeof(*w->slots))) {
			w->has_failed = true;
			return;
		}
		w->slots[w->n_slots++] = 0;
	}
	if (!w->slots[code]) {
		if (tact_grow(&w->shares, &w->shares_capacity, w->n_shares + 1,
			      sizeof(*w->shares))) {
			w->has_failed = true;
			return;
		}
		w->shares[w->n_shares++] = (struct engine_share){.code = code};
		w->slots[code] = (uint32_t)w->n_shares;
	}
	share = &w->shares[w->slots[code] - 1];
	share->executions += executions;
	share->cycles += cycles;
}

/* ---- the whole run ---- */

/* Returns the standard error of sum(C / H) / sum(N / H), weighted by span, relative to it: that of a
 * ratio, from the residuals of the windows (Cochran, Sampling Techniques, chapter 6).
 */
static double ratio_error(const struct engine_windows *w)
{
	double c = 0, n = 0, squares = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct engine_window *x = &w->list[i];

		c += x->span * x->cycles / x->host;
		n += x->span * (double)x->instructions / x->host;
	}
	for (size_t i = 0; i < w->n; i++) {
		const struct engine_window *x = &w->list[i];
		const double off =
			x->span / x->host * (x->cycles / c - (double)x->instructions / n);

		squares += off * off;
	}
	return w->n > 1 ? sqrt(squares * (double)w->n / (double)(w->n - 1)) : 1;
}

static void clear(struct tact_cycles *c)
{
	for (size_t i = 0; i < c->n_codes; i++) {
		c->codes[i].executions = 0;
		c->codes[i].cycles = 0;
	}
	for (size_t i = 0; i < c->n_threads; i++) {
		c->threads[i]->cycles = 0;
		c->threads[i]->instructions = 0;
	}
}

void engine_windows_weigh(struct tact_cycles *c, const struct tact_cycles *host)
{
	struct engine_windows *w = &c->windowed;
	double spans = 0, cycles = 0, instructions = 0;

	if (!w->is_on || w->is_open)
		return;
	if (host && host->windowed.n == w->n)
		for (size_t i = 0; i < w->n; i++)
			w->list[i].host = host->windowed.list[i].cycles;
	clear(c);
	for (size_t i = 0; i < w->n; i++)
		spans += w->list[i].span;
	for (size_t i = 0; i < w->n; i++) {
		struct engine_window *x = &w->list[i];
		const double weight = x->span / spans * w->user_ns * 1e-9 * w->hertz / x->host;

		x->weight = weight;
		for (size_t k = x->first; k < x->first + x->n; k++) {
			struct engine_code *code = &c->codes[w->shares[k].code];
			const double n = weight * (double)w->shares[k].executions;

			code->executions += (uint64_t)(n + 0.5);
			code->cycles += weight * w->shares[k].cycles;
		}
		c->threads[x->thread]->cycles += weight * x->cycles;
		c->threads[x->thread]->instructions +=
			(uint64_t)(weight * (double)x->instructions + 0.5);
		cycles += weight * x->cycles;
		instructions += weight * (double)x->instructions;
	}
	w->error = w->n ? ratio_error(w) * cycles : 0;
	w->scale = w->instructions ? instructions / (double)w->instructions : 0;
}

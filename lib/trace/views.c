/* SPDX-License-Identifier: MIT
 *
 * Keeps what the pipeline did at some moments of a run: short stretches of uops, evenly spread over
 * what was executed.  Memory is bounded: when there are too many, every second one is dropped, and
 * the next ones come half as often.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "trace/analysis.h"
#include "trace/engine.h"

enum { FIRST_STEP = 100000 /* instructions between two views */ };

struct taken {
	struct view view;
	const struct tact_trace_block *blocks[VIEW_UOPS]; /* owned by the trace */
};

struct views {
	const struct tact_cycles *cycles; /* borrowed */
	struct taken *taken[VIEWS];	  /* owned */
	size_t n;
	struct taken *current; /* being filled; NULL: none */
	const struct engine_thread *thread;
	uint64_t next, step; /* instructions */
	bool is_failed;
	struct tact_arena texts;
};

/* Makes room for another view. */
static void thin(struct views *v)
{
	for (size_t i = 0; i < VIEWS; i++) {
		if (i % 2)
			free(v->taken[i]);
		else
			v->taken[i / 2] = v->taken[i];
	}
	v->n = VIEWS / 2;
	v->step *= 2;
}

static bool begin(struct views *v, const struct engine_thread *t)
{
	struct taken *x;

	if (v->n == VIEWS)
		thin(v);
	x = calloc(1, sizeof(*x));
	if (!x) {
		v->is_failed = true;
		return false;
	}
	x->view.thread = t->id;
	x->view.at = t->cycles;
	v->current = v->taken[v->n++] = x;
	v->thread = t;
	v->next = v->cycles->instructions + v->step;
	return true;
}

/* A view begins with the first uop of a block. */
static void on_any(void *arg, const struct engine_thread *t, const struct tact_trace_block *block,
		   const struct tact_sim_uop *uop)
{
	struct views *v = arg;
	struct view *view;

	if (!v->current && (v->cycles->instructions < v->next || uop->insn || uop->uop ||
			    v->is_failed || !begin(v, t)))
		return;
	if (t != v->thread)
		return;
	view = &v->current->view;
	/* The pipeline began anew, or its clock was set back. */
	if (view->n && uop->retired < view->uops[view->n - 1].uop.retired) {
		v->current = NULL;
		return;
	}
	v->current->blocks[view->n] = block;
	view->uops[view->n++] = (struct tact_window_uop){.uop = *uop, .function = "", .text = ""};
	if (view->n == VIEW_UOPS)
		v->current = NULL;
}

int views_create(struct views **out, struct tact_cycles *cycles)
{
	struct views *v = calloc(1, sizeof(*v));
	int status;

	*out = NULL;
	if (!v)
		return -TACT_E_NOMEM;
	v->cycles = cycles;
	v->step = FIRST_STEP;
	status = engine_watch_all(cycles, on_any, v);
	if (status < 0)
		free(v);
	else
		*out = v;
	return status;
}

void views_destroy(struct views *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n; i++)
		free(v->taken[i]);
	tact_arena_reset(&v->texts);
	free(v);
}

int views_get(struct views *v, size_t i, struct tact_symbols *symbols,
	      const struct tact_trace *trace, struct view **out)
{
	struct taken *x = i < v->n ? v->taken[i] : NULL;

	*out = NULL;
	if (v->is_failed)
		return -TACT_E_NOMEM;
	if (!x)
		return 0;
	for (size_t k = 0; k < x->view.n; k++)
		if (window_name(&x->view.uops[k], k ? &x->view.uops[k - 1] : NULL, x->blocks[k],
				k && x->blocks[k] == x->blocks[k - 1], symbols, trace, &v->texts))
			return -TACT_E_NOMEM;
	*out = &x->view;
	return 1;
}

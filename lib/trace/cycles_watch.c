/* SPDX-License-Identifier: MIT
 *
 * Shows the uops of a window of a run.
 */
#include <stdlib.h>

#include "base/base.h"
#include "trace/engine.h"

#include <tact-program/tracing.h>

int engine_watch_uops(struct tact_cycles *c, uint32_t thread, uint64_t first, uint64_t last,
		      void (*on_uop)(void *arg, const struct tact_trace_block *block,
				     const struct tact_sim_uop *uop),
		      void *arg)
{
	if (last < first || !c->opt.exact || c->n_threads || c->watch)
		return -TACT_E_INVAL;
	c->watch = calloc(1, sizeof(*c->watch));
	if (!c->watch)
		return -TACT_E_NOMEM;
	*c->watch = (struct engine_watch){
		.id = thread, .first = first, .last = last, .on_uop = on_uop, .arg = arg};
	return 0;
}

int engine_watch_all(struct tact_cycles *c,
		     void (*on_any)(void *arg, const struct engine_thread *thread,
				    const struct tact_trace_block *block,
				    const struct tact_sim_uop *uop),
		     void *arg)
{
	if (c->n_threads || c->watch)
		return -TACT_E_INVAL;
	c->watch = calloc(1, sizeof(*c->watch));
	if (!c->watch)
		return -TACT_E_NOMEM;
	*c->watch = (struct engine_watch){.on_any = on_any, .arg = arg};
	return 0;
}

static void shift(int64_t *cycle, int64_t by)
{
	if (*cycle >= 0)
		*cycle += by;
}

/* Called when a uop retires.  The pipeline's clock is set back from time to time; the stream's is
 * not.
 */
static int on_retired(void *arg, const struct tact_sim_uop *uop)
{
	const struct engine_watch *w = arg;
	struct engine_thread *t = w->thread;
	struct tact_stream_totals totals = {.size = sizeof(totals)};
	const struct tact_trace_block *block;
	struct tact_sim_uop u = *uop;
	int64_t by, begin;

	if (tact_stream_get_totals(t->stream, &totals))
		return 0;
	by = (int64_t)totals.cycles - uop->retired;
	begin = (uop->delivered >= 0 ? uop->delivered : uop->issued) + by;
	if (totals.cycles < w->first || begin > (int64_t)w->last)
		return 0;
	block = t->owner->codes[t->pending[uop->iteration & (ENGINE_PENDING - 1)].code].block;
	if (uop->insn >= block->n_insns)
		return 0; /* from a pipeline that has started anew */
	shift(&u.delivered, by);
	shift(&u.issued, by);
	shift(&u.ready, by);
	shift(&u.dispatched, by);
	shift(&u.executed, by);
	shift(&u.retired, by);
	w->on_uop(w->arg, block, &u);
	return 0;
}

/* For all threads. */
static int on_any_retired(void *arg, const struct tact_sim_uop *uop)
{
	struct engine_thread *t = arg;
	const struct engine_watch *w = t->owner->watch;
	const struct engine_pending *p = &t->pending[uop->iteration & (ENGINE_PENDING - 1)];
	const struct tact_trace_block *block = t->owner->codes[p->code].block;

	if (p->is_counted && uop->insn < block->n_insns)
		w->on_any(w->arg, t, block, uop);
	return 0;
}

void engine_watch(struct engine_thread *t)
{
	struct engine_watch *w = t->owner->watch;

	if (w && w->on_any) {
		tact_stream_watch(t->stream, on_any_retired, t);
		return;
	}
	if (!w || w->thread || (w->id != TACT_TRACE_FIRST_THREAD && w->id != t->id))
		return;
	w->thread = t;
	tact_stream_watch(t->stream, on_retired, w);
}

/* SPDX-License-Identifier: MIT
 *
 * Keeps the uops of a window of a run.
 */
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>

#include "trace/analysis.h"
#include "trace/engine.h"

enum { MAX_UOPS = 20000 };

struct window {
	uint64_t first, last;
	struct tact_window_uop *uops; /* owned */
	const struct tact_trace_block *
		*blocks; /* owned: the array, by uop; the blocks are the trace's */
	size_t n, uops_capacity, blocks_capacity;
	bool is_cut, is_failed, is_named;
	struct tact_arena texts;
};

/* Uops to which nothing happens in the window are not worth a row. */
static bool is_busy(const struct window *w, const struct tact_sim_uop *u)
{
	const int64_t of[] = {u->delivered, u->dispatched, u->executed, u->retired};

	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		if (of[i] >= (int64_t)w->first && of[i] <= (int64_t)w->last)
			return true;
	return false;
}

static void on_uop(void *arg, const struct tact_trace_block *block, const struct tact_sim_uop *uop)
{
	struct window *w = arg;

	if (!is_busy(w, uop))
		return;
	if (w->n == MAX_UOPS) {
		w->is_cut = true;
		return;
	}
	if (tact_grow(&w->uops, &w->uops_capacity, w->n + 1, sizeof(*w->uops)) ||
	    tact_grow(&w->blocks, &w->blocks_capacity, w->n + 1, sizeof(*w->blocks))) {
		w->is_failed = true;
		return;
	}
	w->uops[w->n] = (struct tact_window_uop){.uop = *uop, .function = "", .text = ""};
	w->blocks[w->n++] = block;
}

int window_create(struct window **out, struct tact_cycles *cycles, uint32_t thread, uint64_t first,
		  uint64_t last)
{
	struct window *w = calloc(1, sizeof(*w));
	int status;

	if (!w)
		return -TACT_E_NOMEM;
	w->first = first;
	w->last = last;
	status = engine_watch_uops(cycles, thread, first, last, on_uop, w);
	if (status < 0)
		free(w);
	else
		*out = w;
	return status;
}

void window_destroy(struct window *w)
{
	if (!w)
		return;
	free(w->uops);
	free(w->blocks);
	tact_arena_reset(&w->texts);
	free(w);
}

/* Returns the text of an instruction of a block; NULL: out of memory. */
static const char *text_of(struct tact_arena *texts, const struct tact_trace_block *b,
			   uint32_t number)
{
	char text[160] = "?", *copy;
	struct tact_insn insn;
	size_t at = 0;

	for (uint32_t i = 0; i < number && at < b->code_size; i++) {
		int n = tact_isa_decode(b->isa, &insn, b->code + at, b->code_size - at);

		at += n > 0 ? (size_t)n : 1;
	}
	if (at < b->code_size)
		tact_isa_format(b->isa, b->code + at, b->code_size - at, b->address + at, text,
				sizeof(text));
	copy = tact_arena_take(texts, strlen(text) + 1);
	return copy ? strcpy(copy, text) : NULL;
}

int window_name(struct tact_window_uop *x, const struct tact_window_uop *before,
		const struct tact_trace_block *block, bool is_same, struct tact_symbols *symbols,
		const struct tact_trace *trace, struct tact_arena *texts)
{
	struct tact_place place = TACT_PLACE_INIT;

	x->begins = !before || !is_same || x->uop.iteration != before->uop.iteration;
	if (x->begins) {
		if (tact_symbols_find(symbols, trace, block, 0, &place))
			return -TACT_E_NOMEM;
		x->function = place.function;
		x->address = place.address;
	}
	if (!x->uop.uop)
		x->text = text_of(texts, block, x->uop.insn);
	return x->text ? 0 : -TACT_E_NOMEM;
}

static int name_all(struct window *w, struct tact_symbols *symbols, const struct tact_trace *trace)
{
	for (size_t i = 0; i < w->n; i++)
		if (window_name(&w->uops[i], i ? &w->uops[i - 1] : NULL, w->blocks[i],
				i && w->blocks[i] == w->blocks[i - 1], symbols, trace, &w->texts))
			return -TACT_E_NOMEM;
	return 0;
}

long window_uops(struct window *w, struct tact_symbols *symbols, const struct tact_trace *trace,
		 const struct tact_window_uop **uops, bool *is_cut)
{
	if (w->is_failed || (!w->is_named && name_all(w, symbols, trace)))
		return -TACT_E_NOMEM;
	w->is_named = true;
	*uops = w->uops;
	*is_cut = w->is_cut;
	return (long)w->n;
}

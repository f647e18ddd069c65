/* SPDX-License-Identifier: MIT
 *
 * The uops of a window of a run, as a chart: a row a uop, a column a cycle.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tact/insn.h>
#include <tact/pipeline.h>

#include <tact/view.h>

#include "common/cli.h"
#include "tracer.h"

enum { MAX_UOPS = 20000, TEXT_WIDTH = 34 };

struct watched {
	struct tact_sim_uop uop;
	const struct tact_trace_block *block; /* the trace's */
};

struct trace_watch {
	uint32_t thread;
	uint64_t first, last;
	struct watched *uops; /* owned */
	size_t n, capacity;
	bool is_full; /* there were more */
	struct text chart;
};

struct trace_watch *trace_watch_create(uint32_t thread, uint64_t first, uint64_t last)
{
	struct trace_watch *w = cli_alloc(sizeof(*w));

	*w = (struct trace_watch){.thread = thread, .first = first, .last = last};
	return w;
}

void trace_watch_destroy(struct trace_watch *w)
{
	if (!w)
		return;
	free(w->uops);
	text_free(&w->chart);
	free(w);
}

/* Uops to which nothing happens in the window are not worth a row. */
static bool is_busy(const struct trace_watch *w, const struct tact_sim_uop *u)
{
	const int64_t of[] = {u->delivered, u->dispatched, u->executed, u->retired};

	for (size_t i = 0; i < CLI_ARRAY_SIZE(of); i++)
		if (of[i] >= (int64_t)w->first && of[i] <= (int64_t)w->last)
			return true;
	return false;
}

static void on_uop(void *arg, const struct tact_trace_block *block, const struct tact_sim_uop *uop)
{
	struct trace_watch *w = arg;

	if (!is_busy(w, uop))
		return;
	if (w->n == MAX_UOPS) {
		w->is_full = true;
		return;
	}
	if (w->n == w->capacity) {
		w->capacity = w->capacity ? 2 * w->capacity : 256;
		w->uops = cli_realloc(w->uops, w->capacity * sizeof(*w->uops));
	}
	w->uops[w->n++] = (struct watched){*uop, block};
}

void trace_watch_start(struct trace_watch *w, struct tact_cycles *cycles)
{
	if (tact_cycles_watch(cycles, w->thread, w->first, w->last, on_uop, w))
		cli_out_of_memory();
}

/* Text of an instruction of a block. */
static void add_insn(const struct tact_trace_block *b, uint32_t number, struct text *out)
{
	char text[160] = "?";
	struct tact_insn insn;
	size_t at = 0;
	int n;

	for (uint32_t i = 0; i < number && at < b->code_size; i++) {
		n = tact_decode(&insn, b->code + at, b->code_size - at);
		at += n > 0 ? (size_t)n : 1;
	}
	if (at < b->code_size)
		tact_format(b->code + at, b->code_size - at, b->address + at, text, sizeof(text));
	if (strlen(text) > TEXT_WIDTH)
		memcpy(text + TEXT_WIDTH - 3, "...", 4);
	text_printf(out, "  %-*s", TEXT_WIDTH, text);
}

static void add_row(struct trace_watch *w, const struct watched *x, bool occurs[256],
		    struct text *out)
{
	if (x->uop.uop)
		text_printf(out, "  %-*s", TEXT_WIDTH, "");
	else
		add_insn(x->block, x->uop.insn, out);
	if (x->uop.port >= 0)
		text_printf(out, " p%-3d ", x->uop.port);
	else
		text_printf(out, " %-4s ", x->uop.eliminated ? "elim" : "-");
	for (uint64_t c = w->first; c <= w->last; c++) {
		const char letter = tact_view_letter(&x->uop, (int64_t)c);

		occurs[(unsigned char)letter] = true;
		text_add_bytes(out, &letter, 1);
	}
	while (out->data[out->size - 1] == ' ')
		out->size--;
	text_add(out, "\n");
}

static void add_scale(const struct trace_watch *w, struct text *out)
{
	text_printf(out, "  %-*s Port ", TEXT_WIDTH, "");
	for (uint64_t c = w->first; c <= w->last; c++)
		text_printf(out, "%c", c % 10 ? '.' : (char)('0' + c / 10 % 10));
	text_add(out, "\n");
}

void trace_watch_draw(struct trace_watch *w, struct tact_symbols *symbols,
		      const struct tact_trace *trace)
{
	const struct tact_trace_block *block = NULL;
	bool occurs[256] = {false};
	uint64_t iteration = 0;
	struct tact_place place;

	if (w->n)
		add_scale(w, &w->chart);
	for (size_t i = 0; i < w->n; i++) {
		const struct watched *x = &w->uops[i];

		if (x->block != block || x->uop.iteration != iteration) {
			block = x->block;
			iteration = x->uop.iteration;
			if (tact_symbols_find(symbols, trace, block, 0, &place))
				cli_out_of_memory();
			text_printf(&w->chart, "%s 0x%" PRIx64 "\n", place.function, place.address);
		}
		add_row(w, x, occurs, &w->chart);
	}
	if (w->is_full)
		text_printf(&w->chart, "  ... and more uops: a shorter window shows all\n");
	if (w->n) {
		char *legend = tact_view_legend(occurs);

		if (!legend)
			cli_out_of_memory();
		text_add(&w->chart, legend);
		free(legend);
	}
	free(w->uops);
	w->uops = NULL;
}

void trace_watch_print(const struct trace_watch *w, struct text *out)
{
	const bool is_first = w->thread == TACT_CYCLES_FIRST;

	text_printf(out, "\nTimeline of cycles %" PRIu64 " to %" PRIu64, w->first, w->last);
	if (!is_first)
		text_printf(out, " of thread %" PRIu32, w->thread);
	text_add(out, "\n\n");
	if (w->n)
		text_add_bytes(out, w->chart.data, w->chart.size);
	else
		text_printf(out, "  there is none: the %s has no such cycles\n",
			    is_first ? "run" : "thread, if it ran,");
}

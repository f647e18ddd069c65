/* SPDX-License-Identifier: MIT
 *
 * llvm-mca's timeline: D dispatched, = waits, e executes, E executed, - waits for retirement, R
 * retired; and the average times that instructions wait.
 */
#include <stdio.h>

#include "common/cli.h"
#include "mca_front.h"

struct chart {
	const struct mca_view *v;
	int64_t last;  /* cycle that is shown */
	int64_t limit; /* cycles from here on are not */
};

static void look_at(struct chart *c, int64_t cycle)
{
	if (cycle < c->limit && cycle > c->last)
		c->last = cycle;
}

static void find_last(struct chart *c)
{
	const struct dropin_run *run = c->v->run;

	for (size_t i = 0; i < run->kept * run->n; i++) {
		const struct dropin_event *e = &run->events[i];

		look_at(c, e->dispatched);
		look_at(c, e->ready);
		look_at(c, e->issued);
		look_at(c, e->executed);
		look_at(c, e->retired);
	}
}

static void add_rulers(const struct chart *c, struct text *out)
{
	enum { COLUMN = 10 };
	size_t start = out->size;

	if (c->last >= 10) { /* the second ten, the fourth ten, ... */
		mca_pad(out, COLUMN, start);
		for (int64_t i = 0; i <= c->last; i++)
			text_printf(out, "%c", i / 10 % 2 ? (char)('0' + i % 10) : ' ');
		text_add(out, "\n");
	}
	start = out->size;
	text_add(out, "Index");
	mca_pad(out, COLUMN, start);
	for (int64_t i = 0; i <= c->last; i++)
		text_printf(out, "%c", i / 10 % 2 ? ' ' : (char)('0' + i % 10));
	text_add(out, "\n\n");
}

static void repeat(struct text *out, char letter, int64_t from, int64_t to)
{
	for (; from < to; from++)
		text_add_bytes(out, &letter, 1);
}

static void add_row(const struct chart *c, unsigned iteration, size_t i, struct text *out)
{
	const struct dropin_event *e = &c->v->run->events[iteration * c->v->run->n + i];
	const size_t start = out->size;

	text_printf(out, "[%u,%zu]", iteration, i);
	mca_pad(out, 10, start);
	for (int64_t k = 0; k < e->dispatched; k++)
		text_add(out, k % 5 ? " " : ".");
	text_add(out, "D");
	if (e->executed != e->dispatched) {
		repeat(out, '=', e->dispatched + 1, e->issued);
		if (e->issued != e->dispatched && e->issued < e->executed)
			text_add(out, "e");
		repeat(out, 'e', e->issued + 1, e->executed);
		text_add(out, "E");
	}
	repeat(out, '-', e->executed + 1, e->retired);
	if (e->executed < e->retired)
		text_add(out, "R");
	for (int64_t k = e->retired + 1; k <= c->last; k++)
		text_add(out, k % 5 && k != c->last ? " " : ".");
	text_add(out, "   ");
	mca_insn_text(out, c->v, i);
}

static void add_rows(const struct chart *c, struct text *out)
{
	for (unsigned k = 0; k < c->v->run->kept; k++)
		for (size_t i = 0; i < c->v->run->n; i++) {
			if (c->v->run->events[k * c->v->run->n + i].retired >= c->limit) {
				text_add(out, "Truncated display due to cycle limit\n");
				return;
			}
			add_row(c, k, i, out);
		}
}

/* ---- average times ---- */

struct waits {
	double queue, ready, after;
};

static void add_waits(const struct waits *w, unsigned times, size_t start, struct text *out)
{
	mca_pad(out, 7, start);
	text_printf(out, "%u", times);
	mca_pad(out, 13, start);
	text_printf(out, "%.1f", w->queue);
	mca_pad(out, 20, start);
	text_printf(out, "%.1f", w->ready);
	mca_pad(out, 27, start);
	text_printf(out, "%.1f", w->after);
	mca_pad(out, 37, start);
}

static void add_average_waits(const struct mca_view *v, struct text *out)
{
	const struct dropin_run *run = v->run;
	struct waits all = {0};

	text_add(out, "\n\nAverage Wait times (based on the timeline view):\n[0]: Executions\n"
		      "[1]: Average time spent waiting in a scheduler's queue\n"
		      "[2]: Average time spent waiting in a scheduler's queue while ready\n"
		      "[3]: Average time elapsed from WB until retire stage\n\n"
		      "      [0]    [1]    [2]    [3]\n");
	for (size_t i = 0; i < run->n; i++) {
		const size_t start = out->size;
		struct waits w = {0};

		for (unsigned k = 0; k < run->kept; k++) {
			const struct dropin_event *e = &run->events[k * run->n + i];

			w.queue += (double)(e->issued - e->dispatched);
			w.ready += (double)(e->issued - e->ready);
			if (e->retired > e->executed)
				w.after += (double)(e->retired - 1 - e->executed);
		}
		all.queue += w.queue;
		all.ready += w.ready;
		all.after += w.after;
		w.queue /= run->kept;
		w.ready /= run->kept;
		w.after /= run->kept;
		text_printf(out, "%zu.", i);
		add_waits(&w, run->kept, start, out);
		mca_insn_text(out, v, i);
	}
	if (run->n > 1) {
		const double n = (double)run->kept * (double)run->n;

		all.queue /= n;
		all.ready /= n;
		all.after /= n;
		add_waits(&all, run->kept, out->size, out);
		text_add(out, "<total>\n");
	}
}

void mca_timeline(const struct mca_view *v, struct text *out)
{
	struct chart c = {.v = v,
			  .limit = v->f->timeline_cycles ? v->f->timeline_cycles : INT64_MAX};

	find_last(&c);
	text_add(out, "\n\nTimeline view:\n");
	add_rulers(&c, out);
	add_rows(&c, out);
	add_average_waits(v, out);
}

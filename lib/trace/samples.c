/* SPDX-License-Identifier: MIT
 *
 * Which function ran when: now and then a sample of each thread.  Memory is bounded: when there are
 * too many samples, every second one is dropped and the next ones come half as often.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "trace/analysis.h"
#include "trace/engine.h"
#include "trace/result.h"

enum {
	MAX_SAMPLES = 4096,
	FIRST_STEP = 64,
	MAX_THREADS = 1024,
	MAX_SLICED = 32,
	MAX_SLICES = 1000
};

struct sample {
	struct engine_counts counts;
	uint32_t node;			      /* of the tree of calls */
	const struct tact_trace_block *block; /* owned by the trace */
};

int samples_create(struct samples **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -TACT_E_NOMEM;
}

void samples_destroy(struct samples *s)
{
	for (size_t i = 0; s && i < s->n; i++)
		free(s->threads[i].samples);
	if (s)
		free(s->threads);
	free(s);
}

/* NULL: there are too many threads, or, if *status says so, no memory. */
static struct sampled_thread *add_thread(struct samples *s, const struct tact_trace_event *event,
					 int *status)
{
	uint32_t last = 0, known = 0;

	if (s->n >= MAX_THREADS)
		return NULL;
	if (tact_grow(&s->threads, &s->capacity, s->n + 1, sizeof(*s->threads))) {
		*status = -TACT_E_NOMEM;
		return NULL;
	}
	for (size_t i = 0; i < s->n; i++) {
		last = s->threads[i].process > last ? s->threads[i].process : last;
		known = s->threads[i].pid == event->pid ? s->threads[i].process : known;
	}
	s->threads[s->n] = (struct sampled_thread){
		.thread = event->thread,
		.pid = event->pid,
		.process = known ? known : last + 1,
		.step = FIRST_STEP,
	};
	return &s->threads[s->n++];
}

static struct sampled_thread *find(struct samples *s, const struct tact_trace_event *event,
				   int *status)
{
	if (s->last < s->n && s->threads[s->last].thread == event->thread)
		return &s->threads[s->last];
	for (s->last = 0; s->last < s->n; s->last++)
		if (s->threads[s->last].thread == event->thread)
			return &s->threads[s->last];
	return add_thread(s, event, status);
}

int samples_add(struct samples *s, const struct tact_cycles *cycles,
		const struct tact_trace_event *event)
{
	int status = 0;
	struct sampled_thread *t = find(s, event, &status);
	struct sample *x;

	if (!t || t->left--)
		return status;
	if (t->n == MAX_SAMPLES) {
		for (size_t i = 0; i < MAX_SAMPLES / 2; i++)
			t->samples[i] = t->samples[2 * i];
		t->n = MAX_SAMPLES / 2;
		t->step *= 2;
	}
	t->left = t->step - 1;
	if (tact_grow(&t->samples, &t->capacity, t->n + 1, sizeof(*t->samples)))
		return -TACT_E_NOMEM;
	x = &t->samples[t->n];
	*x = (struct sample){.block = event->block, .node = cycles->node};
	if (engine_count_thread(cycles, t->thread, &x->counts))
		t->n++;
	return 0;
}

void samples_renumber(struct samples *s, const uint32_t *map)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->threads[i].n; k++)
			s->threads[i].samples[k].node = map[s->threads[i].samples[k].node];
}

/* ---- slices of a result ---- */

/* Returns the samples that `most` slices are apart. */
static size_t step_for(size_t n, size_t most)
{
	return n > most ? (n + most - 1) / most : 1;
}

int samples_slice(const struct samples *s, struct tact_result *r, const uint32_t *row_of)
{
	for (size_t i = 0; i < s->n && i < MAX_SLICED; i++) {
		const struct sampled_thread *t = &s->threads[i];
		const size_t step = step_for(t->n, MAX_SLICES);

		for (size_t k = 0; k < t->n; k += step) {
			const struct engine_counts *c = &t->samples[k].counts;
			struct result_slice *x = result_add_slice(r);

			if (!x)
				return -TACT_E_NOMEM;
			*x = (struct result_slice){.thread = t->thread,
						   .cycles = c->cycles,
						   .instructions = c->instructions,
						   .mispredicted = c->mispredicted,
						   .call = row_of ? row_of[t->samples[k].node]
								  : RESULT_NO_CALL};
			memcpy(x->misses, c->misses, sizeof(x->misses));
		}
	}
	return 0;
}

/* ---- Chrome's trace format ---- */

struct writer {
	struct text text;
	struct json json; /* of an event */
	struct tact_symbols *symbols;
	const struct tact_trace *trace;
	bool has_event, is_nameless; /* out of memory */
};

/* Begins an event: events are elements of an array, one per line. */
static void begin(struct writer *w, const char *phase)
{
	text_add(&w->text, w->has_event ? ",\n" : "\n");
	w->has_event = true;
	w->json = (struct json){.out = &w->text};
	json_begin_object(&w->json, NULL);
	json_put_string(&w->json, "ph", phase);
}

static const char *name_of(struct writer *w, const struct sample *x)
{
	struct tact_place place = TACT_PLACE_INIT;

	if (!tact_symbols_find(w->symbols, w->trace, x->block, 0, &place))
		return place.function;
	w->is_nameless = true;
	return "";
}

static void put_thread(struct writer *w, const struct sampled_thread *t)
{
	begin(w, "M");
	json_put_string(&w->json, "name", "thread_name");
	json_put_count(&w->json, "pid", t->process);
	json_put_count(&w->json, "tid", t->thread);
	json_begin_object(&w->json, "args");
	json_printf_string(&w->json, "name", "thread %u", t->thread);
	json_end(&w->json);
	json_end(&w->json);
}

static void put_slice(struct writer *w, const struct sampled_thread *t, const char *name,
		      double begins, double ends)
{
	begin(w, "X");
	json_put_string(&w->json, "name", name);
	json_put_count(&w->json, "pid", t->process);
	json_put_count(&w->json, "tid", t->thread);
	/* Whole cycles, so that slices that follow each other do not overlap. */
	json_put_fixed(&w->json, "ts", floor(begins), 0);
	json_put_fixed(&w->json, "dur", floor(ends) - floor(begins), 0);
	json_end(&w->json);
}

static void put_ipc(struct writer *w, const struct sampled_thread *t, const struct sample *x)
{
	const double cycles = x[1].counts.cycles - x->counts.cycles;

	begin(w, "C");
	json_printf_string(&w->json, "name", "IPC of thread %u", t->thread);
	json_put_count(&w->json, "pid", t->process);
	json_put_fixed(&w->json, "ts", x->counts.cycles, 0);
	json_begin_object(&w->json, "args");
	json_put_fixed(&w->json, "IPC",
		       cycles > 0 ? (double)(x[1].counts.instructions - x->counts.instructions) /
					    cycles
				  : 0,
		       3);
	json_end(&w->json);
	json_end(&w->json);
}

/* Consecutive samples of the same function are one slice. */
static void put_samples(struct writer *w, const struct sampled_thread *t)
{
	const char *name = t->n ? name_of(w, &t->samples[0]) : "";
	size_t first = 0;

	for (size_t i = 1; i < t->n; i++) {
		const char *next = name_of(w, &t->samples[i]);

		put_ipc(w, t, &t->samples[i - 1]);
		if (i + 1 < t->n && !strcmp(next, name))
			continue;
		put_slice(w, t, name, t->samples[first].counts.cycles, t->samples[i].counts.cycles);
		first = i;
		name = next;
	}
}

/* ---- instructions of some moments ---- */

enum { FIRST_PIPELINE = 1000000 }; /* number of the process that stands for a pipeline */

static void put_name(struct writer *w, const char *what, uint64_t pid, uint64_t tid,
		     const char *text, uint32_t number)
{
	begin(w, "M");
	json_put_string(&w->json, "name", what);
	json_put_count(&w->json, "pid", pid);
	json_put_count(&w->json, "tid", tid);
	json_begin_object(&w->json, "args");
	json_printf_string(&w->json, "name", "%s %u", text, number);
	json_end(&w->json);
	json_end(&w->json);
}

static void put_phase(struct writer *w, const char *name, uint64_t pid, uint64_t tid, double begins,
		      double ends, int port)
{
	begin(w, "X");
	json_put_string(&w->json, "name", name);
	json_put_count(&w->json, "pid", pid);
	json_put_count(&w->json, "tid", tid);
	json_put_fixed(&w->json, "ts", begins, 0);
	json_put_fixed(&w->json, "dur", ends - begins, 0);
	if (port >= 0) {
		json_begin_object(&w->json, "args");
		json_put_integer(&w->json, "port", port);
		json_end(&w->json);
	}
	json_end(&w->json);
}

/* Writes a uop and its phases; `by`: from the cycles of the pipeline to those of the thread. */
static void put_uop(struct writer *w, const struct tact_sim_uop *u, const char *text, uint64_t pid,
		    uint64_t tid, double by)
{
	static const char *const names[] = {"waits to be issued", "waits for operands",
					    "waits for a port", "executes", "waits to retire"};
	const int64_t at[] = {u->delivered,  u->issued,	  u->ready,
			      u->dispatched, u->executed, u->retired};
	int64_t last = at[0] >= 0 ? at[0] : at[1];

	put_phase(w, text, pid, tid, by + (double)last, by + (double)u->retired + 1, u->port);
	for (size_t i = 1; i < ARRAY_SIZE(at); i++) {
		if (at[i] <= last)
			continue;
		put_phase(w, names[i - 1], pid, tid, by + (double)last, by + (double)at[i], -1);
		last = at[i];
	}
}

/* Slices of a track must not overlap: each uop gets the first track that is free. */
static void put_view(struct writer *w, const struct view *v)
{
	const uint64_t pid = FIRST_PIPELINE + v->thread;
	int64_t ends[VIEW_UOPS] = {0}, base = INT64_MAX;
	const char *text = "";

	put_name(w, "process_name", pid, 0, "pipeline of thread", v->thread);
	for (size_t i = 0; i < v->n; i++) {
		const struct tact_sim_uop *u = &v->uops[i].uop;
		const int64_t begins = u->delivered >= 0 ? u->delivered : u->issued;

		base = begins < base ? begins : base;
	}
	for (size_t i = 0; i < v->n; i++) {
		const struct tact_sim_uop *u = &v->uops[i].uop;
		const int64_t begins = u->delivered >= 0 ? u->delivered : u->issued;
		size_t track = 0;

		while (track + 1 < VIEW_UOPS && ends[track] > begins)
			track++;
		ends[track] = u->retired + 1;
		text = *v->uops[i].text ? v->uops[i].text : text;
		put_uop(w, u, text, pid, track + 1, floor(v->at) - (double)base);
	}
}

static int put_views(struct writer *w, struct views *views)
{
	struct view *v;
	int status = 0;

	for (size_t i = 0; views && (status = views_get(views, i, w->symbols, w->trace, &v)) > 0;
	     i++)
		put_view(w, v);
	return status;
}

int samples_write(const struct samples *s, struct views *views, struct tact_symbols *symbols,
		  const struct tact_trace *trace,
		  int (*write)(void *arg, const char *data, size_t size), void *arg)
{
	struct writer w = {.symbols = symbols, .trace = trace};
	bool is_over = false;
	int status = 0;

	text_add(&w.text, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"unit\":\"1 us is one "
			  "cycle\"},\"traceEvents\":[");
	for (size_t i = 0; i <= s->n && !status && !is_over; i++) {
		if (i < s->n) {
			put_thread(&w, &s->threads[i]);
			put_samples(&w, &s->threads[i]);
		} else {
			w.is_nameless = put_views(&w, views) < 0 || w.is_nameless;
			text_add(&w.text, "\n]}\n");
		}
		status = w.text.failed || w.is_nameless ? -TACT_E_NOMEM : 0;
		is_over = !status && write(arg, w.text.data, w.text.size);
		text_reset(&w.text);
	}
	text_free(&w.text);
	return status;
}

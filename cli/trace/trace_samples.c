/* SPDX-License-Identifier: MIT
 *
 * Which function ran when: a sample of each thread now and then, for Perfetto.  Memory is bounded:
 * when there are too many samples every second one goes, and the next come half as often.
 */
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "tracer.h"

enum { MAX_SAMPLES = 4096, FIRST_STEP = 64, MAX_THREADS = 1024 };

struct sample {
	double cycles;
	uint64_t instructions;
	struct tact_trace_block *block; /* the trace's */
	char *name;			/* owned: of its function */
};

struct sampled_thread {
	uint32_t thread, pid, process; /* number, from 1 */
	unsigned left;		       /* executions up to the next sample */
	unsigned step;
	struct sample *samples; /* owned */
	size_t n;
};

struct trace_samples {
	struct sampled_thread *threads; /* owned */
	size_t n, capacity, last;
};

struct trace_samples *trace_samples_create(void)
{
	struct trace_samples *s = cli_alloc(sizeof(*s));

	*s = (struct trace_samples){0};
	return s;
}

void trace_samples_destroy(struct trace_samples *s)
{
	for (size_t i = 0; s && i < s->n; i++) {
		for (size_t k = 0; k < s->threads[i].n; k++)
			free(s->threads[i].samples[k].name);
		free(s->threads[i].samples);
	}
	if (s)
		free(s->threads);
	free(s);
}

static struct sampled_thread *find(struct trace_samples *s, const struct tact_trace_event *event)
{
	uint32_t process = 0, known = 0;

	if (s->last < s->n && s->threads[s->last].thread == event->thread)
		return &s->threads[s->last];
	for (s->last = 0; s->last < s->n; s->last++)
		if (s->threads[s->last].thread == event->thread)
			return &s->threads[s->last];
	if (s->n >= MAX_THREADS)
		return NULL;
	if (s->n == s->capacity) {
		s->capacity = s->capacity ? 2 * s->capacity : 8;
		s->threads = cli_realloc(s->threads, s->capacity * sizeof(*s->threads));
	}
	for (size_t i = 0; i < s->n; i++)
		process = s->threads[i].process > process ? s->threads[i].process : process;
	for (size_t i = 0; i < s->n; i++)
		known = s->threads[i].pid == event->pid ? s->threads[i].process : known;
	s->threads[s->n] = (struct sampled_thread){
		.thread = event->thread,
		.pid = event->pid,
		.process = known ? known : process + 1,
		.step = FIRST_STEP,
		.samples = cli_alloc(MAX_SAMPLES * sizeof(struct sample)),
	};
	return &s->threads[s->n++];
}

void trace_samples_add(struct trace_samples *s, const struct tact_cycles *cycles,
		       const struct tact_trace_event *event)
{
	struct sampled_thread *t = find(s, event);
	struct sample *x;

	if (!t || t->left--)
		return;
	if (t->n == MAX_SAMPLES) {
		for (size_t i = 0; i < MAX_SAMPLES / 2; i++)
			t->samples[i] = t->samples[2 * i];
		t->n = MAX_SAMPLES / 2;
		t->step *= 2;
	}
	t->left = t->step - 1;
	x = &t->samples[t->n];
	*x = (struct sample){.block = event->block};
	if (!tact_cycles_get_thread(cycles, t->thread, &x->cycles, &x->instructions))
		t->n++;
}

void trace_samples_name(struct trace_samples *s, struct tact_symbols *symbols,
			const struct tact_trace *trace)
{
	for (size_t i = 0; i < s->n; i++) {
		for (size_t k = 0; k < s->threads[i].n; k++) {
			struct sample *x = &s->threads[i].samples[k];
			struct tact_place place;

			if (tact_symbols_find(symbols, trace, x->block, 0, &place))
				cli_out_of_memory();
			x->name = strdup(place.function);
			if (!x->name)
				cli_out_of_memory();
			x->block = NULL;
		}
	}
}

/* ---- Chrome's trace format ---- */

static void add_slice(const struct sampled_thread *t, const char *name, double begin, double end,
		      struct text *out)
{
	text_add(out, ",\n{\"ph\":\"X\",\"name\":");
	text_json_string(out, name, strlen(name));
	text_printf(out, ",\"pid\":%u,\"tid\":%u,\"ts\":%.0f,\"dur\":%.0f}", t->process, t->thread,
		    begin, end - begin);
}

static void add_ipc(const struct sampled_thread *t, const struct sample *x,
		    const struct sample *next, struct text *out)
{
	text_printf(out,
		    ",\n{\"ph\":\"C\",\"name\":\"IPC of thread %u\",\"pid\":%u,\"ts\":%.0f,"
		    "\"args\":{\"IPC\":%.3f}}",
		    t->thread, t->process, x->cycles,
		    trace_ratio((double)(next->instructions - x->instructions),
				next->cycles - x->cycles));
}

/* Samples of the same function that follow each other are one slice. */
static void add_thread(const struct sampled_thread *t, struct text *out)
{
	size_t begin = 0;

	for (size_t i = 1; i < t->n; i++) {
		const struct sample *x = &t->samples[i];

		add_ipc(t, x - 1, x, out);
		if (i + 1 < t->n && !strcmp(x->name, t->samples[begin].name))
			continue;
		add_slice(t, t->samples[begin].name, t->samples[begin].cycles, x->cycles, out);
		begin = i;
	}
}

void trace_samples_perfetto(const struct trace_samples *s, struct text *out)
{
	text_add(out, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"unit\":\"1 us is one cycle\"},"
		      "\"traceEvents\":[");
	for (size_t i = 0; i < s->n; i++) {
		const struct sampled_thread *t = &s->threads[i];

		text_printf(out,
			    "%s\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%u,"
			    "\"args\":{\"name\":\"thread %u\"}}",
			    i ? "," : "", t->process, t->thread, t->thread);
		add_thread(t, out);
	}
	text_add(out, "\n]}\n");
}

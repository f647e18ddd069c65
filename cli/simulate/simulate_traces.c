/* SPDX-License-Identifier: MIT
 *
 * Timelines for other viewers: Chrome's trace format, which Perfetto opens, and the log of Konata.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "simulator.h"

/* ---- Perfetto ---- */

/* One cycle is one microsecond.  Process 1 is the ports, a thread each; every iteration is a
 * process, every uop of it a thread, because slices of a thread must not overlap.
 */
enum { PORTS_PROCESS = 1, FIRST_PROCESS = 2 };

struct perfetto {
	const struct simulate_view *v;
	struct text *out;
	struct text scratch; /* owned */
	bool has_event;
};

static void begin_event(struct perfetto *p)
{
	text_add(p->out, p->has_event ? ",\n" : "\n");
	p->has_event = true;
}

static void add_scratch(struct perfetto *p)
{
	text_json_string(p->out, p->scratch.data, p->scratch.size);
	p->scratch.size = 0;
}

/* A name from p->scratch for a process, or for a thread of it. */
static void add_name(struct perfetto *p, const char *what, uint64_t pid, uint64_t tid,
		     uint64_t order)
{
	begin_event(p);
	text_printf(p->out,
		    "{\"ph\":\"M\",\"name\":\"%s_name\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
		    ",\"args\":{\"name\":",
		    what, pid, tid);
	add_scratch(p);
	text_add(p->out, "}}");
	begin_event(p);
	text_printf(p->out,
		    "{\"ph\":\"M\",\"name\":\"%s_sort_index\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
		    ",\"args\":{\"sort_index\":%" PRIu64 "}}",
		    what, pid, tid, order);
}

/* A slice with its name from p->scratch; the caller adds its arguments and closes it. */
static void begin_slice(struct perfetto *p, const char *category, uint64_t pid, uint64_t tid,
			int64_t begin, int64_t end)
{
	begin_event(p);
	text_printf(p->out, "{\"ph\":\"X\",\"name\":");
	add_scratch(p);
	text_printf(p->out,
		    ",\"cat\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",\"ts\":%" PRId64
		    ",\"dur\":%" PRId64 ",\"args\":{",
		    category, pid, tid, begin, end - begin);
}

static void add_ports(struct perfetto *p)
{
	unsigned ports = tact_arch_ports(p->v->w->arch);
	const struct timeline *t = p->v->timeline;

	text_add(&p->scratch, "ports");
	add_name(p, "process", PORTS_PROCESS, 0, 0);
	for (unsigned k = 0; k < 16; k++) {
		if (!(ports >> k & 1))
			continue;
		text_printf(&p->scratch, "port %u", k);
		add_name(p, "thread", PORTS_PROCESS, k + 1, k);
	}
	for (size_t i = 0; i < t->n_busy; i++) {
		const struct timeline_busy *b = &t->busy[i];

		text_printf(&p->scratch, "#%" PRIu32 " ", b->insn + 1);
		timeline_mnemonic(p->v->listing, b->insn, &p->scratch);
		begin_slice(p, "port", PORTS_PROCESS, b->port + 1u, b->cycle, b->cycle + 1);
		text_printf(p->out, "\"iteration\":%" PRIu64 "}}", b->iteration + 1);
	}
}

static void add_args(struct perfetto *p, const struct tact_sim_uop *u)
{
	text_add(p->out, "\"instruction\":");
	text_json_string(p->out, p->v->listing->line[u->insn],
			 strlen(p->v->listing->line[u->insn]));
	text_printf(p->out, ",\"source\":\"%s\",\"port\":%d",
		    tact_uop_source_name((enum tact_uop_source)u->source), u->port);
	timeline_all_reasons(u, p->v->listing, &p->scratch);
	text_add(p->out, ",\"reason\":");
	add_scratch(p);
	text_add(p->out, "}}");
}

/* Arrows go from the end of what makes a value to the beginning of what needs it. */
static void add_flow(struct perfetto *p, const struct tact_sim_uop *u, size_t id)
{
	const struct timeline *t = p->v->timeline;
	const struct tact_sim_uop *from = timeline_producer(t, u);

	if (!from || from->dispatched < 0 || from->executed <= from->dispatched)
		return;
	begin_event(p);
	text_printf(p->out,
		    "{\"ph\":\"s\",\"name\":\"value\",\"cat\":\"value\",\"id\":%zu,\"pid\":%" PRIu64
		    ",\"tid\":%zu,\"ts\":%" PRId64 "}",
		    id + 1, FIRST_PROCESS + from->iteration - t->first,
		    (size_t)(from - t->uops) + 1, from->executed - 1);
	begin_event(p);
	text_printf(p->out,
		    "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"value\",\"cat\":\"value\",\"id\":%zu,"
		    "\"pid\":%" PRIu64 ",\"tid\":%zu,\"ts\":%" PRId64 "}",
		    id + 1, FIRST_PROCESS + u->iteration - t->first, id + 1, u->dispatched);
}

static void add_uop(struct perfetto *p, size_t i)
{
	const struct timeline *t = p->v->timeline;
	const struct tact_sim_uop *u = &t->uops[i];
	uint64_t pid = FIRST_PROCESS + u->iteration - t->first;

	if (!i || u->iteration != u[-1].iteration) {
		text_printf(&p->scratch, "iteration %" PRIu64, u->iteration + 1);
		add_name(p, "process", pid, 0, pid);
	}
	text_printf(&p->scratch, "#%" PRIu32 " %s", u->insn + 1, p->v->listing->line[u->insn]);
	add_name(p, "thread", pid, i + 1, i);
	for (unsigned phase = 0; phase < N_PHASES; phase++) {
		int64_t begin, end;

		if (!timeline_phase(u, (enum phase)phase, &begin, &end))
			continue;
		text_add(&p->scratch, phase_names[phase]);
		begin_slice(p, "uop", pid, i + 1, begin, end);
		add_args(p, u);
	}
	if (u->dispatched >= 0)
		add_flow(p, u, i);
}

void simulate_perfetto(const struct simulate_view *view, struct text *out)
{
	struct perfetto p = {.v = view, .out = out};

	text_add(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"generator\":\"tact simulate\"");
	predict_json_string(out, "arch", tact_arch_name(view->w->arch));
	predict_json_string(out, "unit", "1 us is 1 cycle");
	predict_json_number(out, "cycles_per_iteration", view->x->cycles_per_iteration);
	text_add(out, "},\"traceEvents\":[");
	add_ports(&p);
	for (size_t i = 0; i < view->timeline->n; i++)
		add_uop(&p, i);
	text_add(out, "\n]}\n");
	text_free(&p.scratch);
}

/* ---- Konata ---- */

/* What the log says in a cycle; of one cycle in the order of kinds. */
enum konata_kind { KONATA_END, KONATA_RETIRE, KONATA_NEW, KONATA_START, KONATA_WAKE };

struct konata_event {
	int64_t cycle;
	size_t uop;
	enum konata_kind kind;
	enum phase phase;
};

static const char *const stages[N_PHASES] = {"Dq", "Sc", "Ex", "Cm"};

static int compare(const void *a, const void *b)
{
	const struct konata_event *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->uop > y->uop) - (x->uop < y->uop);
}

static size_t collect(const struct timeline *t, size_t i, struct konata_event *events)
{
	const struct tact_sim_uop *u = &t->uops[i];
	size_t n = 0;

	events[n++] = (struct konata_event){timeline_start(u), i, KONATA_NEW, PHASE_IDQ};
	for (unsigned phase = 0; phase < N_PHASES; phase++) {
		int64_t begin, end;

		if (!timeline_phase(u, (enum phase)phase, &begin, &end))
			continue;
		events[n++] = (struct konata_event){begin, i, KONATA_START, (enum phase)phase};
		events[n++] = (struct konata_event){end, i, KONATA_END, (enum phase)phase};
	}
	if (u->dispatched >= 0 && timeline_producer(t, u))
		events[n++] = (struct konata_event){u->dispatched, i, KONATA_WAKE, PHASE_EXECUTE};
	events[n++] = (struct konata_event){u->retired, i, KONATA_RETIRE, PHASE_RETIRE};
	return n;
}

static void add_label(const struct simulate_view *v, size_t i, struct text *out)
{
	const struct tact_sim_uop *u = &v->timeline->uops[i];

	text_printf(out, "L\t%zu\t0\t%" PRIu64 ".%" PRIu32 ": %s\n", i, u->iteration + 1,
		    u->insn + 1, v->listing->line[u->insn]);
	text_printf(out, "L\t%zu\t1\t%s", i, tact_uop_source_name((enum tact_uop_source)u->source));
	if (u->port >= 0)
		text_printf(out, ", port %d", u->port);
	text_add(out, "; ");
	timeline_all_reasons(u, v->listing, out);
	text_add(out, "\n");
}

static void add_konata(const struct simulate_view *v, const struct konata_event *e,
		       struct text *out)
{
	const struct timeline *t = v->timeline;

	switch (e->kind) {
	case KONATA_NEW:
		text_printf(out, "I\t%zu\t%zu\t0\n", e->uop, e->uop);
		add_label(v, e->uop, out);
		break;
	case KONATA_START:
		text_printf(out, "S\t%zu\t0\t%s\n", e->uop, stages[e->phase]);
		break;
	case KONATA_END:
		text_printf(out, "E\t%zu\t0\t%s\n", e->uop, stages[e->phase]);
		break;
	case KONATA_WAKE:
		text_printf(out, "W\t%zu\t%zu\t0\n", e->uop,
			    (size_t)(timeline_producer(t, &t->uops[e->uop]) - t->uops));
		break;
	case KONATA_RETIRE:
		text_printf(out, "R\t%zu\t%zu\t0\n", e->uop, e->uop);
		break;
	}
}

void simulate_konata(const struct simulate_view *view, struct text *out)
{
	const struct timeline *t = view->timeline;
	struct konata_event *events = cli_alloc(t->n * (3 + 2 * N_PHASES) * sizeof(*events));
	int64_t cycle = t->begin;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += collect(t, i, events + n);
	qsort(events, n, sizeof(*events), compare);
	text_printf(out, "Kanata\t0004\nC=\t%" PRId64 "\n", cycle);
	for (size_t i = 0; i < n; i++) {
		if (events[i].cycle > cycle)
			text_printf(out, "C\t%" PRId64 "\n", events[i].cycle - cycle);
		if (events[i].cycle > cycle)
			cycle = events[i].cycle;
		add_konata(view, &events[i], out);
	}
	free(events);
}

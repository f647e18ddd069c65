/* SPDX-License-Identifier: MIT
 *
 * Timelines for other viewers: Chrome's trace format, which Perfetto opens, and the log of Konata.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/view.h"

/* ---- Perfetto ---- */

/* One cycle is one microsecond.  Process 1 is the ports, one thread each; every iteration is a
 * process and every uop of it a thread, because slices of a thread must not overlap.
 */
enum { PORTS_PROCESS = 1, FIRST_PROCESS = 2 };

struct perfetto {
	const struct maker *m;
	const struct timeline *t;
	struct json list, event;
	struct text name; /* owned: that of the next event */
};

/* Each event is one line. */
static struct json *begin_event(struct perfetto *p, const char *phase)
{
	json_begin_value(&p->list, NULL);
	text_add(p->m->out, "\n");
	json_begin_object(&p->event, NULL);
	json_put_string(&p->event, "ph", phase);
	return &p->event;
}

static void put_place(struct json *e, uint64_t pid, uint64_t tid)
{
	json_put_count(e, "pid", pid);
	json_put_count(e, "tid", tid);
}

static void put_name(struct perfetto *p, struct json *e, const char *key)
{
	json_put_bytes(e, key, p->name.data, p->name.size);
	p->m->out->failed |= p->name.failed;
	text_reset(&p->name);
}

static void end_event(struct json *e)
{
	while (e->depth)
		json_end(e);
}

/* p->name is the name of a process, or of one of its threads. */
static void add_name(struct perfetto *p, const char *what, uint64_t pid, uint64_t tid,
		     uint64_t order)
{
	struct json *e = begin_event(p, "M");

	json_printf_string(e, "name", "%s_name", what);
	put_place(e, pid, tid);
	json_begin_object(e, "args");
	put_name(p, e, "name");
	end_event(e);
	begin_event(p, "M");
	json_printf_string(e, "name", "%s_sort_index", what);
	put_place(e, pid, tid);
	json_begin_object(e, "args");
	json_put_count(e, "sort_index", order);
	end_event(e);
}

/* Begins a slice, named by p->name; the caller adds its arguments and ends it. */
static struct json *begin_slice(struct perfetto *p, const char *category, uint64_t pid,
				uint64_t tid, int64_t begin, int64_t end)
{
	struct json *e = begin_event(p, "X");

	put_name(p, e, "name");
	json_put_string(e, "cat", category);
	put_place(e, pid, tid);
	json_put_integer(e, "ts", begin);
	json_put_integer(e, "dur", end - begin);
	json_begin_object(e, "args");
	return e;
}

static void add_ports(struct perfetto *p)
{
	text_add(&p->name, "ports");
	add_name(p, "process", PORTS_PROCESS, 0, 0);
	for (unsigned bits = tact_arch_ports(p->m->view->arch); bits; bits &= bits - 1) {
		const unsigned port = (unsigned)__builtin_ctz(bits);

		text_printf(&p->name, "port %u", port);
		add_name(p, "thread", PORTS_PROCESS, port + 1, port);
	}
	for (size_t i = 0; i < p->t->n_busy; i++) {
		const struct timeline_busy *b = &p->t->busy[i];
		struct json *e;

		text_printf(&p->name, "#%" PRIu32 " ", b->insn + 1);
		timeline_mnemonic(p->m->listing, b->insn, &p->name);
		e = begin_slice(p, "port", PORTS_PROCESS, b->port + 1u, b->cycle, b->cycle + 1);
		json_put_count(e, "iteration", b->iteration + 1);
		end_event(e);
	}
}

static uint64_t process_of(const struct perfetto *p, const struct tact_sim_uop *u)
{
	return FIRST_PROCESS + u->iteration - p->t->first;
}

/* Arrows lead from the end of what makes a value to the beginning of what needs it. */
static void add_arrow(struct perfetto *p, const char *phase, size_t id,
		      const struct tact_sim_uop *u, int64_t cycle)
{
	struct json *e = begin_event(p, phase);

	if (!strcmp(phase, "f"))
		json_put_string(e, "bp", "e");
	json_put_string(e, "name", "value");
	json_put_string(e, "cat", "value");
	json_put_count(e, "id", id);
	put_place(e, process_of(p, u), (size_t)(u - p->t->uops) + 1);
	json_put_integer(e, "ts", cycle);
	end_event(e);
}

static void add_flow(struct perfetto *p, const struct tact_sim_uop *u, size_t id)
{
	const struct tact_sim_uop *from = timeline_producer(p->t, u);

	if (!from || from->dispatched < 0 || from->executed <= from->dispatched)
		return;
	add_arrow(p, "s", id, from, from->executed - 1);
	add_arrow(p, "f", id, u, u->dispatched);
}

static void add_phase(struct perfetto *p, size_t i, enum phase phase)
{
	const struct tact_sim_uop *u = &p->t->uops[i];
	int64_t begin, end;
	struct json *e;

	if (!timeline_phase(u, phase, &begin, &end))
		return;
	text_add(&p->name, timeline_phase_names[phase]);
	e = begin_slice(p, "uop", process_of(p, u), i + 1, begin, end);
	json_put_string(e, "instruction", p->m->listing->line[u->insn]);
	json_put_string(e, "source", tact_uop_source_name((enum tact_uop_source)u->source));
	json_put_integer(e, "port", u->port);
	timeline_all_reasons(u, p->m->view->arch, p->m->listing, &p->name);
	put_name(p, e, "reason");
	end_event(e);
}

static void add_uop(struct perfetto *p, size_t i)
{
	const struct tact_sim_uop *u = &p->t->uops[i];
	const uint64_t pid = process_of(p, u);

	if (!i || u->iteration != u[-1].iteration) {
		text_printf(&p->name, "iteration %" PRIu64, u->iteration + 1);
		add_name(p, "process", pid, 0, pid);
	}
	text_printf(&p->name, "#%" PRIu32 " %s", u->insn + 1, p->m->listing->line[u->insn]);
	add_name(p, "thread", pid, i + 1, i);
	for (unsigned phase = 0; phase < N_PHASES; phase++)
		add_phase(p, i, (enum phase)phase);
	if (u->dispatched >= 0)
		add_flow(p, u, i + 1);
}

int view_perfetto(const struct maker *m)
{
	struct timeline t;
	struct perfetto p = {.m = m, .t = &t, .list = {.out = m->out}, .event = {.out = m->out}};
	int status = timeline_record(m->view, TIMELINE_FILE_ITERATIONS, true, &t);

	if (status >= 0) {
		json_begin_object(&p.list, NULL);
		json_put_string(&p.list, "displayTimeUnit", "ns");
		json_begin_object(&p.list, "otherData");
		json_put_string(&p.list, "generator", "tact simulate");
		json_put_string(&p.list, "arch", tact_arch_name(m->view->arch));
		json_put_string(&p.list, "unit", "1 us is 1 cycle");
		json_put_number(&p.list, "cycles_per_iteration",
				m->view->prediction->cycles_per_iteration);
		json_end(&p.list);
		json_begin_array(&p.list, "traceEvents");
		add_ports(&p);
		for (size_t i = 0; i < t.n; i++)
			add_uop(&p, i);
		text_add(m->out, "\n");
		json_end_line(&p.list);
	}
	text_free(&p.name);
	timeline_fini(&t);
	return status;
}

/* ---- Konata ---- */

/* What the log says in a cycle; within a cycle, in the order of kinds. */
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

	return 4 * ORDER(x->cycle, y->cycle) + 2 * ORDER(x->kind, y->kind) + ORDER(x->uop, y->uop);
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

static void add_label(const struct maker *m, const struct tact_sim_uop *u, size_t i)
{
	const struct tact_listing *listing = m->listing;
	struct text *out = m->out;

	text_printf(out, "L\t%zu\t0\t%" PRIu64 ".%" PRIu32 ": %s\n", i, u->iteration + 1,
		    u->insn + 1, listing->line[u->insn]);
	text_printf(out, "L\t%zu\t1\t%s", i, tact_uop_source_name((enum tact_uop_source)u->source));
	if (u->port >= 0)
		text_printf(out, ", port %d", u->port);
	text_add(out, "; ");
	timeline_all_reasons(u, m->view->arch, listing, out);
	text_add(out, "\n");
}

static void add_konata(const struct maker *m, const struct timeline *t,
		       const struct konata_event *e)
{
	const struct tact_sim_uop *u = &t->uops[e->uop];

	switch (e->kind) {
	case KONATA_NEW:
		text_printf(m->out, "I\t%zu\t%zu\t0\n", e->uop, e->uop);
		add_label(m, u, e->uop);
		break;
	case KONATA_START:
		text_printf(m->out, "S\t%zu\t0\t%s\n", e->uop, stages[e->phase]);
		break;
	case KONATA_END:
		text_printf(m->out, "E\t%zu\t0\t%s\n", e->uop, stages[e->phase]);
		break;
	case KONATA_WAKE:
		text_printf(m->out, "W\t%zu\t%zu\t0\n", e->uop,
			    (size_t)(timeline_producer(t, u) - t->uops));
		break;
	case KONATA_RETIRE:
		text_printf(m->out, "R\t%zu\t%zu\t0\n", e->uop, e->uop);
		break;
	}
}

static int write_konata(const struct maker *m, const struct timeline *t)
{
	struct konata_event *events = calloc(t->n * (3 + 2 * N_PHASES) + 1, sizeof(*events));
	int64_t cycle = t->begin;
	size_t n = 0;

	if (!events)
		return -TACT_E_NOMEM;
	for (size_t i = 0; i < t->n; i++)
		n += collect(t, i, events + n);
	qsort(events, n, sizeof(*events), compare);
	text_printf(m->out, "Kanata\t0004\nC=\t%" PRId64 "\n", cycle);
	for (size_t i = 0; i < n; i++) {
		if (events[i].cycle > cycle) {
			text_printf(m->out, "C\t%" PRId64 "\n", events[i].cycle - cycle);
			cycle = events[i].cycle;
		}
		add_konata(m, t, &events[i]);
	}
	free(events);
	return 0;
}

int view_konata(const struct maker *m)
{
	struct timeline t;
	int status = timeline_record(m->view, TIMELINE_FILE_ITERATIONS, true, &t);

	if (status >= 0)
		status = write_konata(m, &t);
	timeline_fini(&t);
	return status;
}

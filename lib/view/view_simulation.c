/* SPDX-License-Identifier: MIT
 *
 * Simulations as JSON: one object per line, schema tact.simulate/1, and the data of the web page
 * about one, schema tact.simulate.page/1.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "view/view.h"

/* ---- instructions ---- */

static void put_sources(const struct tact_sim_insn *insn, struct json *json)
{
	json_begin_object(json, "sources");
	for (unsigned s = 0; s < TACT_N_SOURCES; s++)
		if (insn->by_source[s] > 0)
			json_put_number(json, tact_uop_source_name((enum tact_uop_source)s),
					insn->by_source[s]);
	json_end(json);
}

static void put_waits(const struct tact_sim_insn *insn, struct json *json)
{
	json_put_number(json, "divider", insn->divider);
	json_put_number(json, "wait_operand", insn->wait_operand);
	json_put_number(json, "wait_port", insn->wait_port);
}

static int put_instructions(const struct maker *m, struct json *json)
{
	struct tact_sim_insn *insns = timeline_insns(m->view);
	struct tact_insn_cost cost = TACT_INSN_COST_INIT;

	if (!insns)
		return -TACT_E_NOMEM;
	json_begin_array(json, "instructions");
	for (size_t i = 0; i < m->listing->n; i++) {
		if (view_json_instruction(m, i, &cost, json) < 0)
			continue;
		put_sources(&insns[i], json);
		json_put_number(json, "issued", insns[i].issued);
		view_json_shares(json, "ports", insns[i].port, ARRAY_SIZE(insns[i].port));
		put_waits(&insns[i], json);
		view_json_notes(json, cost.notes);
		json_end(json);
	}
	json_end(json);
	free(insns);
	return 0;
}

/* ---- uops ---- */

/* A cycle that a uop did not pass, or a wait that did not occur, is left out. */
static void put_cycle(struct json *json, const char *key, int64_t cycle)
{
	if (cycle >= 0)
		json_put_integer(json, key, cycle);
}

static void put_wait(struct json *json, const char *key, unsigned wait)
{
	if (wait != TACT_WAIT_NONE)
		json_put_string(json, key, tact_wait_name((enum tact_wait)wait));
}

static void put_uop(const struct tact_sim_uop *u, struct json *json)
{
	json_begin_object(json, NULL);
	json_put_count(json, "iteration", u->iteration);
	json_put_count(json, "instruction", u->insn);
	json_put_count(json, "uop", u->uop);
	json_put_string(json, "source", tact_uop_source_name((enum tact_uop_source)u->source));
	if (u->port >= 0)
		json_put_integer(json, "port", u->port);
	if (u->eliminated)
		json_put_bool(json, "eliminated", true);
	put_cycle(json, "delivered", u->delivered);
	put_cycle(json, "issued", u->issued);
	put_cycle(json, "ready", u->ready);
	put_cycle(json, "dispatched", u->dispatched);
	put_cycle(json, "executed", u->executed);
	put_cycle(json, "retired", u->retired);
	put_wait(json, "front_wait", u->front_wait);
	put_wait(json, "issue_wait", u->issue_wait);
	put_wait(json, "operand_wait", u->operand_wait);
	put_wait(json, "port_wait", u->port_wait);
	if (timeline_waits_for_insn(u))
		json_put_count(json, "waits_for", u->wait_insn);
	json_end(json);
}

static int put_timeline(const struct maker *m, struct json *json)
{
	struct timeline t;
	int status = timeline_record(m->view, TIMELINE_ITERATIONS, false, &t);

	if (status >= 0) {
		json_begin_array(json, "timeline");
		for (size_t i = 0; i < t.n; i++)
			put_uop(&t.uops[i], json);
		json_end(json);
	}
	timeline_fini(&t);
	return status == -TACT_E_NOMEM ? status
				       : 0; /* otherwise there is none, as if not asked for */
}

static void put_steady_state(const struct tact_simulation *s, struct json *json)
{
	json_put_string(json, "method", tact_sim_method_name(s->method));
	json_put_number(json, "uncertainty", s->uncertainty);
	json_put_bool(json, "repeats", s->repeats);
	json_put_count(json, "period", s->period);
	json_put_count(json, "cycles", s->cycles);
	json_put_count(json, "iterations", s->iterations);
}

int view_simulation(const struct maker *m)
{
	const struct tact_simulation *s = m->view->simulation;
	struct json json = {.out = m->out};
	int status = 0;

	view_json_input(m, "tact.simulate/1", &json);
	view_json_result(m, &json);
	if (!m->view->status) {
		view_json_names(&json, NULL, m->view->prediction->bottlenecks);
		put_steady_state(s, &json);
		json_put_string(&json, "uop_source", tact_uop_source_name(s->source));
		json_put_number(&json, "facile_cycles_per_iteration",
				s->bounds->cycles_per_iteration);
		view_json_bounds(&json, s->bounds);
		status = put_instructions(m, &json);
		if (status >= 0 && m->view->with_timeline)
			status = put_timeline(m, &json);
		if (status >= 0)
			view_json_advice(m, &json);
	}
	json_end_line(&json);
	return status;
}

/* ---- the page ---- */

static void put_values(struct json *json, const char *key, const double *values, size_t n)
{
	json_begin_array(json, key);
	for (size_t i = 0; i < n; i++)
		json_put_number(json, NULL, values[i]);
	json_end(json);
}

static void put_page_insns(const struct maker *m, const struct tact_sim_insn *insns,
			   struct json *json)
{
	json_begin_array(json, "insns");
	for (size_t i = 0; i < m->listing->n; i++) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;

		cost.size = sizeof(cost);
		if (tact_block_cost(m->view->block, i, &cost) < 0)
			cost.notes = 0;
		json_begin_object(json, NULL);
		json_put_count(json, "n", i + 1);
		json_put_string(json, "text", m->listing->line[i]);
		json_put_number(json, "issued", insns[i].issued);
		put_values(json, "sources", insns[i].by_source, TACT_N_SOURCES);
		put_values(json, "ports", insns[i].port, ARRAY_SIZE(insns[i].port));
		put_waits(&insns[i], json);
		view_json_notes(json, cost.notes);
		json_end(json);
	}
	json_end(json);
}

/* Bits that decide on colours. */
static unsigned flags_of(const struct tact_sim_uop *u)
{
	enum { OPERAND = 1, BUSY = 2, FULL = 4, STORE = 8 };

	return (u->operand_wait == TACT_WAIT_OPERAND ? OPERAND : 0) |
	       (u->operand_wait == TACT_WAIT_STORE ? STORE : 0) |
	       (u->port_wait != TACT_WAIT_NONE ? BUSY : 0) |
	       (u->issue_wait == TACT_WAIT_ROB || u->issue_wait == TACT_WAIT_RS ? FULL : 0);
}

/* Numbers in an order that the script knows; the producer is a uop's number or -1. */
static void put_page_uops(const struct maker *m, const struct timeline *t, struct json *json)
{
	struct text reasons = {0};

	json_begin_array(json, "uops");
	for (size_t i = 0; i < t->n; i++) {
		const struct tact_sim_uop *u = &t->uops[i];
		const struct tact_sim_uop *from =
			u->dispatched >= 0 ? timeline_producer(t, u) : NULL;

		json_begin_value(json, NULL); /* one line each */
		text_printf(m->out,
			    "\n[%" PRIu64 ",%" PRIu32 ",%u,%u,%d,%d,%" PRId64 ",%" PRId64
			    ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%td,%u,",
			    u->iteration, u->insn, u->uop, u->source, u->port, u->eliminated,
			    timeline_start(u), u->issued, u->ready, u->dispatched, u->executed,
			    u->retired, from ? from - t->uops : (ptrdiff_t)-1, flags_of(u));
		timeline_all_reasons(u, m->view->arch, m->listing, &reasons);
		text_json_string(m->out, reasons.data, reasons.size);
		text_add(m->out, "]");
		reasons.size = 0;
	}
	json_end(json);
	m->out->failed |= reasons.failed;
	text_free(&reasons);
}

static void put_busy(const struct timeline *t, struct json *json)
{
	json_begin_array(json, "busy");
	for (size_t i = 0; i < t->n_busy; i++) {
		json_begin_array(json, NULL);
		json_put_integer(json, NULL, t->busy[i].cycle);
		json_put_count(json, NULL, t->busy[i].port);
		json_put_count(json, NULL, t->busy[i].insn);
		json_put_count(json, NULL, t->busy[i].iteration);
		json_end(json);
	}
	json_end(json);
}

static void put_legends(const struct tact_arch *arch, const struct tact_prediction *bounds,
			struct json *json)
{
	json_begin_array(json, "bounds");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		if (!(bounds->applies >> b & 1) || bounds->bound[b] <= 0)
			continue;
		json_begin_array(json, NULL);
		json_put_string(json, NULL, tact_bound_name_on(arch, (enum tact_bound)b));
		json_put_number(json, NULL, bounds->bound[b]);
		json_end(json);
	}
	json_end(json);
	json_begin_object(json, "notes");
	for (const struct tact_view_note *note = tact_view_notes; note->bit; note++)
		json_put_string(json, note->name, note->help);
	json_end(json);
}

static void put_head(const struct maker *m, const struct timeline *t, struct json *json)
{
	const struct tact_view *v = m->view;
	const char *name = v->region ? v->region->name : "";

	if (v->region && !name[0])
		name = v->region->function;
	json_put_string(json, "schema", "tact.simulate.page/1");
	json_put_string(json, "file", v->file ? v->file : "");
	json_put_string(json, "name", name);
	json_put_string(json, "arch", tact_arch_name(v->arch));
	json_put_string(json, "cpu", tact_arch_full_name(v->arch));
	json_put_bool(json, "verified", tact_arch_is_verified(v->arch));
	json_put_string(json, "caveat", tact_arch_caveat(v->arch));
	json_put_string(json, "mode", view_mode_name(v->prediction->mode));
	json_put_number(json, "cycles_per_iteration", v->prediction->cycles_per_iteration);
	json_put_number(json, "coverage", v->prediction->coverage);
	view_json_remarks(v->remarks, json);
	view_json_names(json, v->arch, v->prediction->bottlenecks);
	put_steady_state(v->simulation, json);
	json_put_bool(json, "steady", !v->from);
	json_put_integer(json, "begin", t->begin);
	json_put_integer(json, "end", t->end);
	view_json_set(json, "ports", tact_arch_ports(v->arch));
	json_begin_array(json, "sources");
	for (unsigned k = 0; k < TACT_N_SOURCES; k++)
		json_put_string(json, NULL,
				tact_uop_source_name_on(v->arch, (enum tact_uop_source)k));
	json_end(json);
}

int view_page(const struct maker *m)
{
	struct tact_sim_insn *insns = timeline_insns(m->view);
	struct json json = {.out = m->out};
	struct timeline t = {0};
	int status = -TACT_E_NOMEM;

	if (insns)
		status = timeline_record(m->view, TIMELINE_FILE_ITERATIONS, true, &t);
	if (status >= 0) {
		json_begin_object(&json, NULL);
		put_head(m, &t, &json);
		put_legends(m->view->arch, m->view->simulation->bounds, &json);
		put_page_insns(m, insns, &json);
		put_page_uops(m, &t, &json);
		put_busy(&t, &json);
		json_end(&json);
	}
	timeline_fini(&t);
	free(insns);
	return status;
}

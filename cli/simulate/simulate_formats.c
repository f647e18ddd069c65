/* SPDX-License-Identifier: MIT
 *
 * Simulations as CSV, and as JSON: one object a line, schema tact.simulate/1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "simulator.h"

/* ---- CSV ---- */

void simulate_csv_titles(const struct predictor *p, struct text *out)
{
	(void)p;
	text_add(out, ",repeats,period,cycles,bottlenecks,facile_cycles_per_iteration");
}

unsigned simulate_csv_columns(const struct predictor *p)
{
	(void)p;
	return 5;
}

char *simulate_csv_values(struct predict_worker *w, const struct tact_prediction *x, char *p)
{
	const struct tact_simulation *s = &w->simulation;

	p += snprintf(p, 64, ",%s,%" PRIu64 ",%" PRIu64 ",", s->repeats ? "yes" : "no", s->period,
		      s->cycles);
	p = predict_csv_names(p, x->bottlenecks);
	*p++ = ',';
	return put_cycles(p, s->bounds.cycles_per_iteration);
}

/* ---- JSON ---- */

static void add_ports(const struct tact_sim_insn *insn, struct text *out)
{
	const char *comma = "";

	text_add(out, ",\"ports\":{");
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++) {
		if (insn->port[p] <= 0)
			continue;
		text_printf(out, "%s\"%u\":", comma, p);
		text_number(out, insn->port[p]);
		comma = ",";
	}
	text_add(out, "}");
}

static void add_insn(const struct tact_sim_insn *insn, struct text *out)
{
	const char *comma = "";

	text_add(out, ",\"sources\":{");
	for (unsigned s = 0; s < TACT_N_SOURCES; s++) {
		if (insn->by_source[s] <= 0)
			continue;
		text_printf(out, "%s\"%s\":", comma, tact_uop_source_name((enum tact_uop_source)s));
		text_number(out, insn->by_source[s]);
		comma = ",";
	}
	text_add(out, "}");
	predict_json_number(out, "issued", insn->issued);
	add_ports(insn, out);
	predict_json_number(out, "divider", insn->divider);
	predict_json_number(out, "wait_operand", insn->wait_operand);
	predict_json_number(out, "wait_port", insn->wait_port);
}

static void add_instructions(struct predict_worker *w, const struct listing *listing,
			     struct text *out)
{
	struct tact_sim_insn *insns = simulate_insns(w);

	text_add(out, ",\"instructions\":[");
	for (size_t i = 0; i < listing->n; i++) {
		struct tact_insn insn;
		struct tact_insn_cost cost;

		cost.size = sizeof(cost);
		if (tact_block_insn(w->block, i, &insn) < 0 ||
		    tact_block_cost(w->block, i, &cost) < 0)
			continue;
		predict_json_instruction(w, listing, i, &insn, out);
		add_insn(&insns[i], out);
		predict_json_notes(out, cost.notes);
		text_add(out, "}");
	}
	text_add(out, "]");
	free(insns);
}

/* A cycle that a uop did not pass, or a wait that there was none of, is left out. */
static void add_cycle(struct text *out, const char *key, int64_t cycle)
{
	if (cycle >= 0)
		text_printf(out, ",\"%s\":%" PRId64, key, cycle);
}

static void add_wait(struct text *out, const char *key, unsigned wait)
{
	if (wait != TACT_WAIT_NONE)
		predict_json_string(out, key, tact_wait_name((enum tact_wait)wait));
}

static void add_uop(const struct tact_sim_uop *u, struct text *out)
{
	text_printf(out, "{\"iteration\":%" PRIu64 ",\"instruction\":%" PRIu32 ",\"uop\":%u",
		    u->iteration, u->insn, u->uop);
	predict_json_string(out, "source", tact_uop_source_name((enum tact_uop_source)u->source));
	if (u->port >= 0)
		text_printf(out, ",\"port\":%d", u->port);
	if (u->eliminated)
		text_add(out, ",\"eliminated\":true");
	add_cycle(out, "delivered", u->delivered);
	add_cycle(out, "issued", u->issued);
	add_cycle(out, "ready", u->ready);
	add_cycle(out, "dispatched", u->dispatched);
	add_cycle(out, "executed", u->executed);
	add_cycle(out, "retired", u->retired);
	add_wait(out, "front_wait", u->front_wait);
	add_wait(out, "issue_wait", u->issue_wait);
	add_wait(out, "operand_wait", u->operand_wait);
	add_wait(out, "port_wait", u->port_wait);
	if (timeline_waits_for_insn(u))
		text_printf(out, ",\"waits_for\":%" PRIu32, u->wait_insn);
	text_add(out, "}");
}

static void add_timeline(struct predict_worker *w, struct text *out)
{
	struct timeline t;

	if (timeline_record(w, timeline_iterations(w->p, TIMELINE_ITERATIONS), false, &t) >= 0) {
		text_add(out, ",\"timeline\":[");
		for (size_t i = 0; i < t.n; i++) {
			if (i)
				text_add(out, ",");
			add_uop(&t.uops[i], out);
		}
		text_add(out, "]");
	}
	timeline_fini(&t);
}

void simulate_json_members(struct predict_worker *w, const struct tact_prediction *x,
			   const struct listing *listing, struct text *out)
{
	const struct tact_simulation *s = &w->simulation;

	predict_json_names(out, x->bottlenecks);
	text_printf(out,
		    ",\"repeats\":%s,\"period\":%" PRIu64 ",\"cycles\":%" PRIu64
		    ",\"iterations\":%" PRIu64,
		    s->repeats ? "true" : "false", s->period, s->cycles, s->iterations);
	predict_json_string(out, "uop_source", tact_uop_source_name(s->source));
	predict_json_number(out, "facile_cycles_per_iteration", s->bounds.cycles_per_iteration);
	predict_json_bounds(out, &s->bounds);
	add_instructions(w, listing, out);
	if (w->p->is_timeline)
		add_timeline(w, out);
}

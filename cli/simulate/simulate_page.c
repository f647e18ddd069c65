/* SPDX-License-Identifier: MIT
 *
 * The page of --html: its data.
 */
#include <inttypes.h>

#include "common/page.h"
#include "simulator.h"

static void add_shares(struct text *out, const char *key, const double *values, unsigned n)
{
	text_printf(out, ",\"%s\":[", key);
	for (unsigned i = 0; i < n; i++) {
		if (i)
			text_add(out, ",");
		text_number(out, values[i]);
	}
	text_add(out, "]");
}

static void add_insns(const struct simulate_view *v, struct text *out)
{
	text_add(out, ",\"insns\":[");
	for (size_t i = 0; i < v->listing->n; i++) {
		const struct tact_sim_insn *insn = &v->insns[i];
		struct tact_insn_cost cost;

		cost.size = sizeof(cost);
		if (tact_block_cost(v->w->block, i, &cost) < 0)
			cost.notes = 0;
		text_printf(out, "%s{\"n\":%zu", i ? "," : "", i + 1);
		predict_json_string(out, "text", v->listing->line[i]);
		predict_json_number(out, "issued", insn->issued);
		add_shares(out, "sources", insn->by_source, TACT_N_SOURCES);
		add_shares(out, "ports", insn->port, TACT_MAX_PORTS);
		predict_json_number(out, "divider", insn->divider);
		predict_json_number(out, "wait_operand", insn->wait_operand);
		predict_json_number(out, "wait_port", insn->wait_port);
		predict_json_notes(out, cost.notes);
		text_add(out, "}");
	}
	text_add(out, "]");
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
static void add_uops(const struct simulate_view *v, struct text *out)
{
	const struct timeline *t = v->timeline;
	struct text reasons = {0};

	text_add(out, ",\"uops\":[");
	for (size_t i = 0; i < t->n; i++) {
		const struct tact_sim_uop *u = &t->uops[i];
		const struct tact_sim_uop *from =
			u->dispatched >= 0 ? timeline_producer(t, u) : NULL;

		text_printf(out,
			    "%s[%" PRIu64 ",%" PRIu32 ",%u,%u,%d,%d,%" PRId64 ",%" PRId64
			    ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%td,%u,",
			    i ? ",\n" : "\n", u->iteration, u->insn, u->uop, u->source, u->port,
			    u->eliminated, timeline_start(u), u->issued, u->ready, u->dispatched,
			    u->executed, u->retired, from ? from - t->uops : (ptrdiff_t)-1,
			    flags_of(u));
		timeline_all_reasons(u, v->listing, &reasons);
		text_json_string(out, reasons.data, reasons.size);
		text_add(out, "]");
		reasons.size = 0;
	}
	text_add(out, "]");
	text_free(&reasons);
}

static void add_busy(const struct simulate_view *v, struct text *out)
{
	const struct timeline *t = v->timeline;

	text_add(out, ",\"busy\":[");
	for (size_t i = 0; i < t->n_busy; i++)
		text_printf(out, "%s[%" PRId64 ",%u,%" PRIu32 ",%" PRIu64 "]", i ? "," : "",
			    t->busy[i].cycle, t->busy[i].port, t->busy[i].insn,
			    t->busy[i].iteration);
	text_add(out, "]");
}

static void add_bounds(const struct tact_prediction *bounds, struct text *out)
{
	const char *comma = "";

	text_add(out, ",\"bounds\":[");
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		if (!(bounds->applies >> b & 1) || bounds->bound[b] <= 0)
			continue;
		text_printf(out, "%s[\"%s\",", comma, tact_bound_name((enum tact_bound)b));
		text_number(out, bounds->bound[b]);
		text_add(out, "]");
		comma = ",";
	}
	text_add(out, "]");
}

static void add_notes(struct text *out)
{
	const char *comma = "";

	text_add(out, ",\"notes\":{");
	for (const struct predict_note *note = predict_notes; note->bit; note++) {
		text_printf(out, "%s\"%s\":\"%s\"", comma, note->name, note->help);
		comma = ",";
	}
	text_add(out, "}");
}

static void add_head(const struct simulate_view *v, struct text *out)
{
	const struct tact_simulation *s = &v->w->simulation;
	const struct tact_region *r = &v->block->region;
	const char *comma = "";
	unsigned ports = tact_arch_ports(v->w->arch);

	text_add(out, "{\"schema\":\"tact.simulate.page/1\"");
	predict_json_string(out, "file", v->block->path);
	predict_json_string(out, "name", r->name[0] ? r->name : r->function);
	predict_json_string(out, "arch", tact_arch_name(v->w->arch));
	predict_json_string(out, "cpu", tact_arch_full_name(v->w->arch));
	predict_json_string(out, "mode", predict_mode_name(v->x->mode));
	predict_json_number(out, "cycles_per_iteration", v->x->cycles_per_iteration);
	predict_json_number(out, "coverage", v->x->coverage);
	predict_json_names(out, v->x->bottlenecks);
	text_printf(out,
		    ",\"repeats\":%s,\"period\":%" PRIu64 ",\"cycles\":%" PRIu64
		    ",\"iterations\":%" PRIu64 ",\"steady\":%s",
		    s->repeats ? "true" : "false", s->period, s->cycles, s->iterations,
		    v->w->p->from ? "false" : "true");
	text_printf(out, ",\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"ports\":[",
		    v->timeline->begin, v->timeline->end);
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++) {
		if (!(ports >> p & 1))
			continue;
		text_printf(out, "%s%u", comma, p);
		comma = ",";
	}
	text_add(out, "],\"sources\":[");
	for (unsigned k = 0; k < TACT_N_SOURCES; k++)
		text_printf(out, "%s\"%s\"", k ? "," : "",
			    tact_uop_source_name((enum tact_uop_source)k));
	text_add(out, "]");
}

void simulate_html(const struct simulate_view *view, struct text *out)
{
	struct text json = {0};

	add_head(view, &json);
	add_bounds(&view->w->simulation.bounds, &json);
	add_notes(&json);
	add_insns(view, &json);
	add_uops(view, &json);
	add_busy(view, &json);
	text_add(&json, "}");
	page_write(&page_simulate, &json, out);
	text_free(&json);
}

/* SPDX-License-Identifier: MIT
 *
 * Simulations for people: the report on one block, with a table of what its instructions did; and
 * as CSV.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "simulator.h"

/* ---- the table ---- */

struct insn_table {
	struct predict_worker *w;
	const struct tact_listing *listing;
	struct tact_sim_insn *insns; /* owned */
	struct tact_sim_insn total;
	unsigned sources; /* bits of the sources that deliver something */
	unsigned ports;	  /* bits of the ports that are shown */
	unsigned notes;
	size_t notes_width;
	bool has_counts; /* of uops issued and executed */
};

static unsigned notes_of(const struct insn_table *t, size_t i)
{
	struct tact_insn_cost cost = TACT_INSN_COST_INIT;

	cost.size = sizeof(cost);
	return tact_block_cost(t->w->block, i, &cost) < 0 ? 0 : cost.notes;
}

static struct tact_sim_insn *get_insns(const struct predict_worker *w)
{
	size_t n = tact_block_length(w->block);
	struct tact_sim_insn *insns = cli_alloc(n * sizeof(*insns));

	for (size_t i = 0; i < n; i++) {
		insns[i] = (struct tact_sim_insn)TACT_SIM_INSN_INIT;
		tact_simulated_insn(w->simulator, i, &insns[i]);
	}
	return insns;
}

static void add_to_total(struct tact_sim_insn *total, const struct tact_sim_insn *insn)
{
	for (unsigned s = 0; s < TACT_N_SOURCES; s++)
		total->by_source[s] += insn->by_source[s];
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		total->port[p] += insn->port[p];
	total->issued += insn->issued;
	total->divider += insn->divider;
	total->wait_operand += insn->wait_operand;
	total->wait_port += insn->wait_port;
}

static void survey(struct insn_table *t)
{
	for (size_t i = 0; i < t->listing->n; i++) {
		unsigned notes = notes_of(t, i);

		add_to_total(&t->total, &t->insns[i]);
		t->notes |= notes;
		if (predict_count_letters(notes) > t->notes_width)
			t->notes_width = predict_count_letters(notes);
	}
	for (unsigned s = 0; s < TACT_N_SOURCES; s++)
		t->sources |= (unsigned)(t->total.by_source[s] >= 0.005) << s;
	if (t->notes_width && t->notes_width < strlen("Notes"))
		t->notes_width = strlen("Notes");
}

/* If the table would not fit, ports that nothing uses are left out; if that is not enough, where
 * uops came from, and how many there are.
 */
static void leave_out_columns(struct insn_table *t)
{
	const size_t most = t->w->p->width;
	size_t width = 5 + 7 + 6 + 14 + 2 + t->listing->widest;

	width += 5 * (size_t)__builtin_popcount(t->sources) +
		 5 * (size_t)__builtin_popcount(t->ports) + (t->total.divider > 0 ? 6 : 0) +
		 (t->notes_width ? t->notes_width + 2 : 0) + (t->w->p->is_verbose ? 18 : 0);
	t->has_counts = true;
	if (width <= most)
		return;
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		if (t->ports >> p & 1 && t->total.port[p] < 0.005) {
			t->ports &= ~(1u << p);
			width -= 5;
		}
	if (width > most && most < PREDICT_PAGE_WIDTH) {
		width -= 5 * (size_t)__builtin_popcount(t->sources);
		t->sources = 0;
	}
	t->has_counts = width <= most || most >= PREDICT_PAGE_WIDTH;
}

static void add_header(const struct insn_table *t, struct text *out)
{
	text_printf(out,
		    "\nUops per iteration, and the cycles that they wait for operands and ports:\n"
		    "%s    #",
		    t->w->p->bold);
	for (unsigned s = 0; s < TACT_N_SOURCES; s++)
		if (t->sources >> s & 1)
			text_printf(out, "%5s",
				    tact_uop_source_name_on(t->w->arch, (enum tact_uop_source)s));
	if (t->has_counts)
		text_add(out, " Issued  Exec");
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		if (t->ports >> p & 1)
			text_printf(out, "%*sp%u", p < 10 ? 3 : 2, "", p);
	text_printf(out, "%s  Operand  Port  ", t->total.divider > 0 ? "   Div" : "");
	if (t->notes_width)
		text_printf(out, "%-*s  ", (int)t->notes_width, "Notes");
	text_printf(out, "Instruction%s\n", t->w->p->plain);
}

static void add_values(const struct insn_table *t, const struct tact_sim_insn *x, struct text *out)
{
	double executed = 0;

	for (unsigned s = 0; s < TACT_N_SOURCES; s++)
		if (t->sources >> s & 1)
			predict_share(out, x->by_source[s]);
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		executed += x->port[p];
	if (t->has_counts) {
		text_add(out, "  ");
		predict_share(out, x->issued);
		text_add(out, " ");
		predict_share(out, executed);
	}
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		if (t->ports >> p & 1)
			predict_share(out, x->port[p]);
	if (t->total.divider > 0) {
		text_add(out, " ");
		predict_share(out, x->divider);
	}
}

static void add_wait(double cycles, int width, struct text *out)
{
	if (cycles < 0.05)
		text_printf(out, "%*s", width, "");
	else
		text_printf(out, "%*.1f", width, cycles);
}

static void add_row(const struct insn_table *t, size_t i, struct text *out)
{
	const size_t start = out->size;

	text_printf(out, "%5zu", i + 1);
	add_values(t, &t->insns[i], out);
	add_wait(t->insns[i].wait_operand, 9, out);
	add_wait(t->insns[i].wait_port, 6, out);
	text_add(out, "  ");
	predict_letters(notes_of(t, i), t->notes_width, out);
	if (t->w->p->is_verbose)
		predict_bytes(t->w->block, i, out);
	predict_instruction(t->w->p, t->listing->line[i], start, out);
}

static void add_rows(struct insn_table *t, struct text *out)
{
	leave_out_columns(t);
	add_header(t, out);
	for (size_t i = 0; i < t->listing->n; i++)
		add_row(t, i, out);
}

static void add_table(struct predict_worker *w, const struct tact_listing *listing,
		      struct text *out)
{
	struct insn_table t = {.w = w,
			       .listing = listing,
			       .insns = get_insns(w),
			       .ports = tact_arch_ports(w->arch)};

	survey(&t);
	add_rows(&t, out);
	text_printf(out, "%sTotal", w->p->bold);
	add_values(&t, &t.total, out);
	predict_end_table(w->p, t.notes, out);
	free(t.insns);
}

/* ---- the report ---- */

/* How the figure was found, and how sure it is. */
static void add_steady_state(const struct tact_simulation *s, struct text *out)
{
	if (s->repeats) {
		text_printf(out,
			    "Exact for the model: the state of the pipeline repeats after %" PRIu64
			    " iteration%s\n(%" PRIu64 " cycles simulated)\n",
			    s->period, s->period == 1 ? "" : "s", s->cycles);
		return;
	}
	text_printf(out,
		    "A mean over %" PRIu64 " iteration%s, +/- %.*f cycles (95%%): the state of the "
		    "pipeline\ndid not repeat within %" PRIu64 " cycles%s\n",
		    s->period, s->period == 1 ? "" : "s", s->uncertainty < 0.095 ? 3 : 2,
		    s->uncertainty, s->cycles,
		    s->method == TACT_SIM_SETTLED ? ", but its pace is steady"
						  : "; --max-cycles N simulates more");
}

static unsigned largest_bound(const struct tact_prediction *bounds)
{
	unsigned largest = 0;

	for (unsigned b = 1; b < TACT_N_BOUNDS; b++)
		if (bounds->applies >> b & 1 && (!(bounds->applies >> largest & 1) ||
						 bounds->bound[b] > bounds->bound[largest]))
			largest = b;
	return largest;
}

static void explain_scheduling(struct predict_worker *w, struct text *out)
{
	const struct tact_simulation *s = &w->simulation;
	unsigned b = largest_bound(s->bounds);

	text_printf(out,
		    "\n"
		    "%sScheduling%s: no single bound explains it; the largest is %s with ",
		    w->p->bold, w->p->plain, tact_bound_name_on(w->arch, (enum tact_bound)b));
	text_cycles2(out, s->bounds->bound[b], 0);
	text_add(out,
		 " cycles.\n"
		 "The rest is lost where components disturb each other; --timeline shows it.\n");
}

static void add_timeline(const struct tact_view *view, struct text *out)
{
	const int status = predict_view_add(view, TACT_VIEW_CHART, out);

	if (status < 0)
		text_printf(out, "\nThere is no timeline: %s\n",
			    status == -TACT_E_LIMIT ? "no such iteration"
						    : predict_failure(status));
}

void simulate_report(struct predict_worker *w, const struct source_block *block,
		     const struct tact_prediction *x, struct text *out)
{
	struct tact_prediction bounds = *w->simulation.bounds;
	struct tact_listing listing = predict_listing(w->block, block->region.address);
	const struct tact_view view = predict_view(w, block, x);

	predict_headline(w->p, out, x->cycles_per_iteration, x->cycles_per_iteration,
			 x->bottlenecks);
	predict_interval(w, x, out);
	predict_properties(w, block, x->mode, out);
	predict_remark_lines(w->p, w->remarks, out);
	add_steady_state(&w->simulation, out);
	predict_coverage(w, x->coverage, &listing, out);
	bounds.bottlenecks = x->bottlenecks;
	predict_bound_list(w->p, &bounds, "For comparison, the bounds of FACILE:", out);
	add_table(w, &listing, out);
	if (w->p->is_info)
		predict_info_table(w, &listing, out);
	if (w->simulation.scheduling)
		explain_scheduling(w, out);
	predict_explain(&view, w->p, out);
	if (w->p->is_timeline)
		add_timeline(&view, out);
	predict_advice(w, block, out);
	tact_listing_fini(&listing);
}

/* ---- CSV ---- */

static void add_titles(const struct predictor *p, struct text *out)
{
	(void)p;
	text_add(out, ",repeats,period,cycles,bottlenecks,facile_cycles_per_iteration,"
		      "method,uncertainty");
}

static unsigned count_columns(const struct predictor *p)
{
	(void)p;
	return 7;
}

static char *put_values(struct predict_worker *w, const struct tact_prediction *x, char *p)
{
	const struct tact_simulation *s = &w->simulation;

	p += snprintf(p, 64, ",%s,%" PRIu64 ",%" PRIu64 ",", s->repeats ? "yes" : "no", s->period,
		      s->cycles);
	p = predict_csv_names(p, x->bottlenecks);
	*p++ = ',';
	p = put_cycles(p, s->bounds->cycles_per_iteration);
	return p + snprintf(p, 64, ",%s,%.4f", tact_sim_method_name(s->method), s->uncertainty);
}

const struct predict_columns simulate_columns = {add_titles, put_values, count_columns};

/* SPDX-License-Identifier: MIT
 *
 * Tables of the text format: uops by port, architectures, alignments, ideal components.
 */
#include <inttypes.h>
#include <string.h>

#include "common/cli.h"
#include "predictor.h"

/* ---- uops by port ---- */

struct cost_table {
	struct predict_worker *w;
	const struct tact_listing *listing;
	const char *source; /* "MITE", "DSB" or "LSD", or the vendor's word */
	unsigned ports;	    /* bit set of the CPU's */
	bool has_ms;
	size_t notes_width;
	bool has_source, has_issued;
	unsigned notes; /* those that occur */
	struct tact_insn_cost total;
};

/* Where the uops come from; asked without --only, which hides bounds. */
static const char *source_of(struct predict_worker *w)
{
	struct tact_prediction x = TACT_PREDICTION_INIT;

	if (tact_predict(w->block, NULL, &x) < 0)
		return tact_uop_source_name_on(w->arch, TACT_SOURCE_MITE);
	return tact_uop_source_name_on(w->arch, x.applies >> TACT_BOUND_LSD & 1 ? TACT_SOURCE_LSD
						: x.applies >> TACT_BOUND_DSB & 1
							? TACT_SOURCE_DSB
							: TACT_SOURCE_MITE);
}

static void add_to_total(struct tact_insn_cost *total, const struct tact_insn_cost *cost)
{
	total->uops += cost->uops;
	total->issued += cost->issued;
	total->mite += cost->mite;
	total->ms += cost->ms;
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		total->port[p] += cost->port[p];
}

size_t predict_count_letters(unsigned notes)
{
	size_t n = 0;

	for (const struct tact_view_note *note = tact_view_notes; note->bit; note++)
		n += note->letter && notes & note->bit;
	return n;
}

static void survey(struct cost_table *t)
{
	for (size_t i = 0; i < t->listing->n; i++) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;

		cost.size = sizeof(cost);
		if (tact_block_cost(t->w->block, i, &cost) < 0)
			continue;
		add_to_total(&t->total, &cost);
		t->has_ms |= cost.ms > 0;
		t->notes |= cost.notes;
		if (predict_count_letters(cost.notes) > t->notes_width)
			t->notes_width = predict_count_letters(cost.notes);
	}
	if (t->notes_width && t->notes_width < strlen("Notes"))
		t->notes_width = strlen("Notes");
}

static size_t width_of(const struct cost_table *t)
{
	return 5 + (t->has_source ? 5 : 0) + (t->has_ms ? 4 : 0) + (t->has_issued ? 7 : 0) + 2 +
	       t->listing->widest + 5 * (size_t)__builtin_popcount(t->ports) +
	       (t->notes_width ? t->notes_width + 2 : 0) + (t->w->p->is_verbose ? 18 : 0);
}

/* If the table would not fit, ports that nothing uses are left out; if that is not enough, what the
 * front end does.
 */
static void leave_out_columns(struct cost_table *t)
{
	const size_t most = t->w->p->width;

	t->has_source = t->has_issued = true;
	if (width_of(t) <= most)
		return;
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		if (t->total.port[p] < 0.005)
			t->ports &= ~(1u << p);
	if (most >= PREDICT_PAGE_WIDTH)
		return;
	if (width_of(t) > most)
		t->has_source = t->has_ms = false;
	if (width_of(t) > most)
		t->has_issued = false;
}

static void add_header(const struct cost_table *t, struct text *out)
{
	text_printf(out, "\nUops per iteration:\n%s    #", t->w->p->bold);
	if (t->has_source)
		text_printf(out, " %4s", t->source);
	if (t->has_ms)
		text_add(out, "  MS");
	if (t->has_issued)
		text_add(out, " Issued");
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		if (t->ports >> p & 1)
			text_printf(out, "%*sp%u", p < 10 ? 3 : 2, "", p);
	text_add(out, "  ");
	if (t->notes_width)
		text_printf(out, "%-*s  ", (int)t->notes_width, "Notes");
	text_printf(out, "Instruction%s\n", t->w->p->plain);
}

void predict_share(struct text *out, double share)
{
	if (share < 0.005)
		text_add(out, "     ");
	else if (share < 9.995)
		text_printf(out, " %4.2f", share);
	else
		text_printf(out, " %4.*f", share < 99.95 ? 1 : 0, share);
}

static void add_count(struct text *out, unsigned count, int width)
{
	if (count)
		text_printf(out, "%*u", width, count);
	else
		text_printf(out, "%*s", width, "");
}

static void add_cost(const struct cost_table *t, const struct tact_insn_cost *cost,
		     struct text *out)
{
	if (t->has_source)
		add_count(out, cost->mite, 5);
	if (t->has_ms)
		add_count(out, cost->ms, 4);
	if (t->has_issued)
		add_count(out, cost->issued, 7);
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++)
		if (t->ports >> p & 1)
			predict_share(out, cost->port[p]);
	text_add(out, "  ");
}

void predict_letters(unsigned notes, size_t width, struct text *out)
{
	size_t start = out->size;

	if (!width)
		return;
	for (const struct tact_view_note *note = tact_view_notes; note->bit; note++)
		if (note->letter && notes & note->bit)
			text_add_bytes(out, &note->letter, 1);
	text_pad(out, width + 2, start);
}

void predict_bytes(const struct tact_block *block, size_t i, struct text *out)
{
	size_t size, begin = tact_block_offset(block, i), end = tact_block_offset(block, i + 1);
	const uint8_t *code = tact_block_code(block, &size);
	size_t start = out->size;

	text_hex(out, code + begin, end - begin);
	text_pad(out, 16, start);
	text_add(out, "  ");
}

void predict_instruction(const struct predictor *p, const char *line, size_t start,
			 struct text *out)
{
	enum { LEAST = 12 }; /* columns that a name and a register need */
	const size_t used = out->size - start;
	const char *size = strstr(line, " ptr "), *word = size;

	if (!p->is_terminal || used + strlen(line) <= p->width || used + LEAST > p->width) {
		text_printf(out, "%s\n", line);
		return;
	}
	/* The size of an operand is what its reader needs least: "qword ptr [rdi]" as "[rdi]". */
	while (word && word > line && word[-1] != ' ')
		word--;
	text_add_bytes(out, line, size ? (size_t)(word - line) : strlen(line));
	if (size)
		text_add(out, size + strlen(" ptr "));
	if (out->size - start > p->width) {
		out->size = start + p->width - strlen("...");
		text_add(out, "...");
	}
	text_add(out, "\n");
}

static void add_row(const struct cost_table *t, size_t i, struct text *out)
{
	const size_t start = out->size;
	struct tact_insn_cost cost = TACT_INSN_COST_INIT;

	cost.size = sizeof(cost);
	if (tact_block_cost(t->w->block, i, &cost) < 0)
		return;
	text_printf(out, "%5zu", i + 1);
	add_cost(t, &cost, out);
	predict_letters(cost.notes, t->notes_width, out);
	if (t->w->p->is_verbose)
		predict_bytes(t->w->block, i, out);
	predict_instruction(t->w->p, t->listing->line[i], start, out);
}

/* After the totals: the meaning of the letters. */
void predict_end_table(const struct predictor *p, unsigned notes, struct text *out)
{
	text_trim(out, 0);
	text_printf(out, "%s\n", p->plain);
	for (const struct tact_view_note *note = tact_view_notes; note->bit; note++)
		if (note->letter && notes & note->bit)
			text_printf(out, "  %c - %s\n", note->letter, note->help);
}

void predict_cost_table(struct predict_worker *w, const struct tact_listing *listing,
			struct text *out)
{
	struct cost_table t = {.w = w, .listing = listing, .ports = tact_arch_ports(w->arch)};

	t.source = source_of(w);
	survey(&t);
	leave_out_columns(&t);
	add_header(&t, out);
	for (size_t i = 0; i < listing->n; i++)
		add_row(&t, i, out);
	text_printf(out, "%sTotal", w->p->bold);
	add_cost(&t, &t.total, out);
	predict_end_table(w->p, t.notes, out);
}

/* ---- architectures ---- */

struct range {
	double low, high;
	uint32_t bottlenecks;
	size_t n;
};

static void widen(struct range *r, const struct tact_prediction *x)
{
	if (!r->n || x->cycles_per_iteration < r->low)
		r->low = x->cycles_per_iteration;
	if (!r->n || x->cycles_per_iteration > r->high)
		r->high = x->cycles_per_iteration;
	r->bottlenecks |= x->bottlenecks;
	r->n++;
}

/* Returns false if one of them failed. */
static bool widen_all(struct range *range, const struct predict_result *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (r[i].status < 0)
			return false;
		widen(range, &r[i].x);
	}
	return true;
}

void predict_arch_table(struct predict_worker *w, struct text *out)
{
	const struct archlist *archs = &w->p->archs;
	const struct predict_result *r = w->results;
	struct range range = {0};

	if (!widen_all(&range, r, archs->n))
		return;
	predict_headline(w->p, out, range.low, range.high, range.bottlenecks);
	predict_remark_lines(w->p, w->all_remarks, out);
	text_printf(out, "\n%sArch  Cycles  Mode    %-22s  CPU%s\n", w->p->bold, "Bottleneck",
		    w->p->plain);
	for (size_t a = 0; a < archs->n; a++) {
		const struct tact_prediction *x = &r[a].x;
		size_t start = out->size;

		text_printf(out, "%-5s", tact_arch_name(archs->arch[a]));
		text_cycles2(out, x->cycles_per_iteration, 7);
		text_printf(out, "  %-6s  ", option_choice_name(option_modes, (int)x->mode));
		predict_names_within(out, archs->arch[a], x->bottlenecks, 22);
		text_pad(out, 44, start);
		text_printf(out, "  %s%s%s%s%s\n", tact_arch_full_name(archs->arch[a]),
			    *tact_arch_caveat(archs->arch[a]) ? " (" : "",
			    tact_arch_caveat(archs->arch[a]),
			    *tact_arch_caveat(archs->arch[a]) ? ")" : "",
			    x->coverage < 1 ? "  (lower bound: instructions without data)" : "");
	}
	text_append(out, &w->later);
	text_reset(&w->later);
}

/* ---- alignments ---- */

unsigned predict_count_same(const struct predict_result *r, unsigned n)
{
	unsigned k = 1;

	while (k < n && r[k].status == r->status &&
	       (r->status < 0 || (r[k].x.cycles_per_iteration == r->x.cycles_per_iteration &&
				  r[k].x.bottlenecks == r->x.bottlenecks)))
		k++;
	return k;
}

static void add_alignments(const struct predict_worker *w, const struct predict_result *r,
			   struct text *out)
{
	const struct tact_arch *arch = w->p->archs.arch[r->arch];
	const unsigned n = w->p->n_alignments;
	struct range range = {0};

	if (!widen_all(&range, r, n))
		return;
	if (r->arch)
		text_add(out, "\n");
	predict_headline(w->p, out, range.low, range.high, range.bottlenecks);
	predict_add_cpu(arch, out);
	text_printf(out, ", %s, by offset of the first byte in a cache line\n",
		    r->x.mode == TACT_MODE_LOOP ? "as a loop" : "unrolled");
	predict_remark_lines(w->p, w->all_remarks, out);
	text_printf(out, "\n%sOffset   Cycles  Bottleneck%s\n", w->p->bold, w->p->plain);
	for (unsigned k = 0, end; k < n; k = end) {
		end = k + predict_count_same(r + k, n - k);
		if (end == k + 1)
			text_printf(out, "%6u ", k);
		else
			text_printf(out, "%2u - %-2u", k, end - 1);
		text_cycles2(out, r[k].x.cycles_per_iteration, 8);
		text_add(out, "  ");
		predict_names_on(out, arch, r[k].x.bottlenecks, ", ");
		text_add(out, "\n");
	}
}

void predict_alignment_table(struct predict_worker *w, struct text *out)
{
	for (size_t a = 0; a < w->p->archs.n; a++)
		add_alignments(w, &w->results[a * w->p->n_alignments], out);
}

/* ---- ideal components ---- */

static void add_gain(const struct tact_prediction *x, double cycles, struct text *out)
{
	text_cycles2(out, cycles, 8);
	if (cycles > 0)
		text_printf(out, "  %6.2fx", x->cycles_per_iteration / cycles);
	else
		text_add(out, "        -");
}

/* Where bounds tie, no single one of them gains anything. */
static void add_set(const struct predict_worker *w, const struct tact_prediction *x,
		    const struct tact_shares *s, struct text *out)
{
	size_t start = out->size;

	if (!(s->set & (s->set - 1)) || s->without <= 0)
		return;
	text_add(out, "  ");
	predict_names_on(out, w->arch, s->set, " + ");
	if (out->size - start > 28) {
		out->size = start;
		text_printf(out, "  all %d bottlenecks", __builtin_popcount(s->set));
	}
	text_pad(out, 28, start);
	add_gain(x, s->without, out);
	text_add(out, "\n");
}

void predict_idealize_table(struct predict_worker *w, const struct tact_prediction *x,
			    struct text *out)
{
	struct tact_shares s = TACT_SHARES_INIT;

	tact_explain_shares(x, &s);
	text_printf(out, "\n%sIf one component were ideal   Cycles  Speedup   Share%s\n",
		    w->p->bold, w->p->plain);
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		double cycles;

		if (!(x->applies >> b & 1) || x->bound[b] <= 0 ||
		    !tact_view_idealized(w->block, &w->p->predict_options, b, &cycles))
			continue;
		text_printf(out, "  %-26s", tact_bound_name_on(w->arch, (enum tact_bound)b));
		add_gain(x, cycles, out);
		text_printf(out, "  %5.1f%%\n", 100 * s.share[b]);
	}
	add_set(w, x, &s, out);
	text_add(out,
		 "  Share - of the cycles, over all orders of making components ideal (Shapley)\n");
}

/* SPDX-License-Identifier: MIT
 *
 * Predictions for people: the report on one block.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "predictor.h"

void predict_names_on(struct text *out, const struct tact_arch *arch, uint32_t bounds,
		      const char *separator)
{
	for (bool first = true; bounds; bounds &= bounds - 1, first = false)
		text_printf(out, "%s%s", first ? "" : separator,
			    tact_view_bottleneck_name_on(arch, (unsigned)__builtin_ctz(bounds)));
}

void predict_names(struct text *out, uint32_t bounds, const char *separator)
{
	predict_names_on(out, NULL, bounds, separator);
}

void predict_names_within(struct text *out, const struct tact_arch *arch, uint32_t bounds,
			  size_t width)
{
	size_t start = out->size;

	predict_names_on(out, arch, bounds, ", ");
	if (out->size - start <= width || !(bounds & (bounds - 1)))
		return;
	for (uint32_t shown = bounds; shown & (shown - 1);) {
		shown &= ~(1u << (31 - __builtin_clz(shown))); /* the last one is cut */
		out->size = start;
		predict_names_on(out, arch, shown, ", ");
		text_printf(out, " +%d", __builtin_popcount(bounds & ~shown));
		if (out->size - start <= width)
			return;
	}
}

/* The core whose words a text about one core uses; NULL: it is about several. */
static const struct tact_arch *predict_words(const struct predictor *p)
{
	return p->archs.n == 1 ? p->archs.arch[0] : NULL;
}

void predict_headline(const struct predictor *p, struct text *out, double low, double high,
		      uint32_t bottlenecks)
{
	text_printf(out, "Throughput (in cycles per iteration): %s", p->bold);
	text_cycles2(out, low, 0);
	if (high - low > 0.005) {
		text_add(out, " - ");
		text_cycles2(out, high, 0);
	}
	text_printf(out, "%s\nBottleneck%s: %s", p->plain,
		    bottlenecks & (bottlenecks - 1) ? "s" : "", p->bold);
	predict_names_on(out, predict_words(p), bottlenecks, ", ");
	text_printf(out, "%s%s\n", bottlenecks ? "" : "none", p->plain);
}

static void add_heading(const struct predictor *p, const struct source_block *block,
			struct text *out)
{
	const struct tact_region *r = &block->region;

	text_printf(out, "%s== %s", p->bold, block->path);
	if (r->member[0])
		text_printf(out, "(%s)", r->member);
	if (r->line && strcmp(block->path, "-x"))
		text_printf(out, ":%" PRIu64, r->line);
	if (r->name[0])
		text_printf(out, ": %s", r->name);
	if (r->function[0] && strncmp(r->name, r->function, strlen(r->function)))
		text_printf(out, " in %s", r->function);
	if (r->address)
		text_printf(out, " at 0x%" PRIx64, r->address);
	if (r->source[0])
		text_printf(out, " (%s)", r->source);
	if (r->text_size)
		text_printf(out, ": %.*s%s", r->text_size > 48 ? 48 : (int)r->text_size, r->text,
			    r->text_size > 48 ? "..." : "");
	text_printf(out, " ==%s\n", p->plain);
}

/* "Zen 2 (ZEN2, not verified)" */
void predict_add_cpu(const struct tact_arch *arch, struct text *out)
{
	const char *caveat = tact_arch_caveat(arch);

	text_printf(out, "%s (%s%s%s)", tact_arch_full_name(arch), tact_arch_name(arch),
		    *caveat ? ", " : "", caveat);
}

void predict_properties(const struct predict_worker *w, const struct source_block *block,
			enum tact_mode mode, struct text *out)
{
	const struct tact_region *r = &block->region;
	size_t n = tact_block_length(w->block), bytes;

	tact_block_code(w->block, &bytes);
	predict_add_cpu(w->arch, out);
	text_printf(out, ", %s, %zu instruction%s, %zu byte%s",
		    mode == TACT_MODE_LOOP ? "as a loop" : "unrolled", n, n == 1 ? "" : "s", bytes,
		    bytes == 1 ? "" : "s");
	if (w->alignment)
		text_printf(out, " at offset %u of a cache line", w->alignment);
	if (r->name[0] && !w->p->is_many)
		text_printf(out, "\nof %s%s%s%s", r->name, r->source[0] ? " (" : "", r->source,
			    r->source[0] ? ")" : "");
	if (r->inlined[0])
		text_printf(out, "\ninlined there: %s", r->inlined);
	text_add(out, "\n");
}

void predict_remark_lines(const struct predictor *p, const struct tact_remarks *remarks,
			  struct text *out)
{
	const size_t colors = strlen(p->bold) + strlen(p->plain);

	for (size_t i = 0; i < tact_remarks_count(remarks); i++) {
		const size_t start = out->size + colors;
		struct text words = {0};

		text_printf(&words, "%s [%s]", tact_remarks_text(remarks, i),
			    tact_remarks_name(remarks, i));
		text_printf(out, "%sRemark%s:", p->bold, p->plain);
		if (p->is_terminal)
			predict_wrapped(p, cli_string(&words), start, out);
		else
			text_printf(out, " %s", cli_string(&words));
		text_add(out, "\n");
		text_free(&words);
	}
}

/* A name once, even if there are several remarks of that name. */
void predict_remark_names(const struct tact_remarks *remarks, const char *separator,
			  struct text *out)
{
	for (size_t i = 0, n = 0; i < tact_remarks_count(remarks); i++) {
		const char *name = tact_remarks_name(remarks, i);
		size_t k = 0;

		while (k < i && strcmp(tact_remarks_name(remarks, k), name) != 0)
			k++;
		if (k == i)
			text_printf(out, "%s%s", n++ ? separator : "", name);
	}
}

void predict_bound_list(const struct predictor *p, const struct tact_prediction *x,
			const char *title, struct text *out)
{
	text_printf(out, "\n%s\n", title);
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		bool is_worst = x->bottlenecks >> b & 1;
		const char *name = tact_bound_name_on(predict_words(p), (enum tact_bound)b);

		/* A bound of zero (no division, no store) is not worth a line. */
		if (!(x->applies >> b & 1) || x->bound[b] <= 0)
			continue;
		text_printf(out, "  - %s%s:%*s", is_worst ? p->red : "", name,
			    (int)(13 - strlen(name)), "");
		text_cycles2(out, x->bound[b], 7);
		text_printf(out, "%s\n", is_worst ? p->plain : "");
	}
}

/* An instruction without data does not count as free: name it. */
void predict_coverage(struct predict_worker *w, double coverage, const struct tact_listing *listing,
		      struct text *out)
{
	size_t unknown = 0;

	if (coverage >= 1)
		return;
	for (size_t i = 0; i < listing->n; i++) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;

		cost.size = sizeof(cost);
		if (tact_block_cost(w->block, i, &cost) < 0 || !(cost.notes & TACT_NOTE_UNKNOWN))
			continue;
		if (!unknown++)
			text_printf(out,
				    "\n"
				    "%sThis is a lower bound%s: %s has no data for\n",
				    w->p->bold, w->p->plain, tact_arch_name(w->arch));
		text_printf(out, "  %3zu  %s\n", i + 1, listing->line[i]);
	}
}

/* Names the model of the figures if they are not all FACILE's. */
static void add_model(const struct predict_worker *w, struct text *out)
{
	if (w->p->is_facile)
		return;
	text_printf(out, "by the model %s; %s those of FACILE, which predicts ", w->p->model,
		    w->p->has_own_bottlenecks ? "the bounds are" : "bottlenecks and bounds are");
	text_cycles2(out, w->facile_cycles, 0);
	text_add(out, "\n");
}

void predict_report(struct predict_worker *w, const struct source_block *block,
		    const struct tact_prediction *x, struct text *out)
{
	struct tact_listing listing = predict_listing(w->block, block->region.address);
	const struct tact_view view = predict_view(w, block, x);

	predict_pass_headline(w, out);
	predict_headline(w->p, out, x->cycles_per_iteration, x->cycles_per_iteration,
			 x->bottlenecks);
	predict_interval(w, x, out);
	predict_properties(w, block, x->mode, out);
	predict_remark_lines(w->p, w->remarks, out);
	add_model(w, out);
	predict_coverage(w, x->coverage, &listing, out);
	predict_bound_list(w->p, x,
			   "Throughput if the given property were the only bottleneck:", out);
	predict_cost_table(w, &listing, out);
	if (w->p->is_info)
		predict_info_table(w, &listing, out);
	predict_explain(&view, w->p, out);
	predict_pass_chain(w, &listing, out);
	if (w->p->is_idealized)
		predict_idealize_table(w, x, out);
	predict_advice(w, block, out);
	tact_listing_fini(&listing);
}

/* ---- which report ---- */

static void add_number(struct predict_worker *w, const struct source_block *block,
		       const struct predict_result *r, struct text *out)
{
	struct tact_chain chain;

	(void)block;
	if (r->status < 0)
		text_add(out, predict_status_name(r->status));
	else if (w->p->is_once)
		text_cycles2(out, predict_pass(w, &chain), 0);
	else
		text_cycles2(out, r->x.cycles_per_iteration, 0);
	text_add(out, "\n");
}

const struct predict_shape predict_shape_numbers = {NULL, add_number, NULL};

static bool is_table(const struct predictor *p)
{
	return p->archs.n > 1 || p->n_alignments > 1;
}

/* The views of each of several CPUs, to follow the table. */
static void add_views(struct predict_worker *w, const struct source_block *block,
		      const struct predict_result *r)
{
	const struct predictor *p = w->p;
	const struct tact_view view = predict_view(w, block, &r->x);

	if (p->is_idealized) {
		text_printf(&w->later, "\n%s", tact_arch_name(w->arch));
		predict_idealize_table(w, &r->x, &w->later);
	}
	if (p->is_info || p->is_timeline)
		text_printf(&w->later, "\n%s%s (%s)%s\n", p->bold, tact_arch_name(w->arch),
			    tact_arch_full_name(w->arch), p->plain);
	if (p->is_info) {
		struct tact_listing listing = predict_listing(w->block, block->region.address);

		predict_info_table(w, &listing, &w->later);
		tact_listing_fini(&listing);
	}
	if (p->is_timeline && predict_view_add(&view, TACT_VIEW_CHART, &w->later) < 0)
		text_add(&w->later, "\nThere is no timeline: no such iteration\n");
}

/* Loops that were found in a file are rows of a table; everything else is a report, or a table once
 * all results are there.
 */
static void add_result(struct predict_worker *w, const struct source_block *block,
		       const struct predict_result *r, struct text *out)
{
	const struct predictor *p = w->p;

	if (p->is_many && block->candidate) {
		if (p->n_alignments == 1)
			predict_candidate(w, block, r, 1, out);
		return;
	}
	if (!w->is_loaded)
		return;
	if (p->is_many && r == w->results)
		add_heading(p, block, out);
	if (r->status < 0)
		return;
	if (!is_table(p))
		p->command->report(w, block, &r->x, out);
	else if (p->n_alignments == 1)
		add_views(w, block, r);
	if (is_table(p) && p->is_once && r->alignment == w->results[0].alignment) {
		struct tact_chain chain;

		text_printf(&w->later, "%sLatency of one pass on %s (in cycles): %u\n",
			    r == w->results ? "\n" : "", tact_arch_name(w->arch),
			    predict_pass(w, &chain));
	}
}

static void end_block(struct predict_worker *w, const struct source_block *block, struct text *out)
{
	const struct predictor *p = w->p;

	if (p->is_many && block->candidate) {
		if (p->n_alignments > 1)
			predict_candidate_alignments(w, block, out);
		return;
	}
	if (!w->is_loaded)
		return;
	if (p->n_alignments > 1)
		predict_alignment_table(w, out);
	else if (p->archs.n > 1)
		predict_arch_table(w, out);
	if (p->is_many)
		text_add(out, "\n");
}

const struct predict_shape predict_shape_text = {NULL, add_result, end_block};

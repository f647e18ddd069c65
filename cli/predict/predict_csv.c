/* SPDX-License-Identifier: MIT
 *
 * Predictions as CSV: the hot path of large sets of blocks, so no printf and one check for room per
 * row.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "predictor.h"

/* Maximum length of a row before the columns of the command itself, without the hex digits. */
enum { ROW_ROOM = 256 };

static void add_titles(const struct predictor *p, struct text *out)
{
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		text_printf(out, ",%s", tact_bound_column((enum tact_bound)b));
	text_add(out, ",bottlenecks");
	for (unsigned b = 0; b < TACT_N_BOUNDS && p->is_idealized; b++)
		text_printf(out, ",without_%s", tact_bound_column((enum tact_bound)b));
	if (p->is_idealized)
		text_add(out, ",without_bottlenecks");
	for (unsigned b = 0; b < TACT_N_BOUNDS && p->is_idealized; b++)
		text_printf(out, ",share_%s", tact_bound_column((enum tact_bound)b));
	if (!p->is_facile)
		text_add(out, ",facile_cycles_per_iteration");
	if (p->is_once)
		text_add(out, ",latency_cycles");
}

static void add_header(const struct predictor *p, struct text *out)
{
	text_printf(out, "hex,arch,mode,%sstatus,cycles_per_iteration,coverage",
		    p->n_alignments > 1 ? "alignment," : "");
	p->command->csv->titles(p, out);
	if (p->has_intervals)
		text_add(out, predict_interval_titles);
	text_add(out, ",function,address,line,remarks\n");
}

static char *put(char *p, const char *string)
{
	size_t n = strlen(string);

	memcpy(p, string, n);
	return p + n;
}

static char *put_digits(char *p, const struct tact_region *region)
{
	if (region->text_size)
		return put_lower(p, region->text, region->text_size);
	return put_hex(p, region->code, region->code_size);
}

char *predict_csv_names(char *p, uint32_t bounds)
{
	const char *start = p;

	for (; bounds; bounds &= bounds - 1) {
		if (p != start)
			*p++ = '+';
		p = put(p, tact_view_bottleneck_name((unsigned)__builtin_ctz(bounds)));
	}
	return p;
}

/* The cycles without all bottlenecks, and how the cycles divide among bounds. */
static char *put_shares(const struct tact_prediction *x, char *p)
{
	struct tact_shares s = TACT_SHARES_INIT;

	tact_explain_shares(x, &s);
	*p++ = ',';
	if (s.without > 0)
		p = put_cycles(p, s.without);
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		*p++ = ',';
		if (x->applies >> b & 1)
			p += snprintf(p, PUT_CYCLES_ROOM, "%.4f", s.share[b]);
	}
	return p;
}

static char *put_values(struct predict_worker *w, const struct tact_prediction *x, char *p)
{
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		*p++ = ',';
		if (x->applies >> b & 1)
			p = put_cycles(p, x->bound[b]);
	}
	*p++ = ',';
	p = predict_csv_names(p, x->bottlenecks);
	for (unsigned b = 0; b < TACT_N_BOUNDS && w->p->is_idealized; b++) {
		double cycles;

		*p++ = ',';
		if (x->applies >> b & 1 &&
		    tact_view_idealized(w->block, &w->p->predict_options, b, &cycles))
			p = put_cycles(p, cycles);
	}
	if (w->p->is_idealized)
		p = put_shares(x, p);
	if (!w->p->is_facile) {
		*p++ = ',';
		p = put_cycles(p, w->facile_cycles);
	}
	if (w->p->is_once) {
		struct tact_chain chain;

		*p++ = ',';
		p = put_cycles(p, predict_pass(w, &chain));
	}
	return p;
}

static unsigned count_columns(const struct predictor *p)
{
	return TACT_N_BOUNDS * (p->is_idealized ? 3 : 1) + p->is_idealized + 1 + (!p->is_facile) +
	       p->is_once;
}

const struct predict_columns predict_columns = {add_titles, put_values, count_columns};

/* The last columns: function, address, line, remarks.  A list of hex has none of these. */
static void add_place(const struct predict_worker *w, const struct source_block *block,
		      struct text *out)
{
	const struct tact_region *r = &block->region;

	text_add(out, ",");
	text_csv_field(out, r->function, strlen(r->function), false);
	text_add(out, ",");
	if (block->is_elf)
		text_printf(out, "0x%" PRIx64, r->address);
	text_add(out, ",");
	if (r->source[0]) {
		text_csv_field(out, r->source, strlen(r->source), false);
	} else if (r->line && !r->text_size) {
		struct text place = {0};

		text_printf(&place, "%s:%" PRIu64, file_base_name(block->path), r->line);
		text_csv_field(out, place.data, place.size, false);
		text_free(&place);
	}
	text_add(out, ",");
	predict_remark_names(w->remarks, "+", out);
	text_add(out, "\n");
}

static bool has_place(const struct predict_worker *w, const struct source_block *block)
{
	const struct tact_region *r = &block->region;

	return block->is_elf || r->function[0] || (r->line && !r->text_size) ||
	       tact_remarks_count(w->remarks);
}

static void add_row(struct predict_worker *w, const struct source_block *block,
		    const struct predict_result *r, struct text *out)
{
	const struct tact_region *region = &block->region;
	const struct tact_prediction *x = &r->x;
	char *p = text_reserve(out, region->text_size + 2 * region->code_size + ROW_ROOM +
					    PREDICT_CSV_ROOM);

	if (!p)
		return;
	p = put_digits(p, region);
	*p++ = ',';
	p = put(p, tact_arch_name(w->p->archs.arch[r->arch]));
	p = put(p, x->mode == TACT_MODE_LOOP ? ",loop," : ",unroll,");
	if (w->p->n_alignments > 1) {
		if (r->alignment >= 10)
			*p++ = (char)('0' + r->alignment / 10);
		*p++ = (char)('0' + r->alignment % 10);
		*p++ = ',';
	}
	p = put(p, "ok,");
	p = put_cycles(p, x->cycles_per_iteration);
	*p++ = ',';
	p = put_cycles(p, x->coverage);
	p = w->p->command->csv->values(w, x, p);
	if (w->p->has_intervals)
		p = predict_interval_values(w, x, p);
	if (!has_place(w, block))
		p = put(p, ",,,,\n");
	out->size = (size_t)(p - out->data);
	if (has_place(w, block))
		add_place(w, block, out);
}

static void add_failure(const struct predict_worker *w, const struct source_block *block,
			const struct predict_result *r, struct text *out)
{
	const struct predictor *p = w->p;
	const struct tact_region *region = &block->region;
	static const char *const modes[] = {"", "loop", "unroll"};

	if (region->text_size)
		text_csv_field(out, region->text, region->text_size, true);
	else
		text_hex(out, region->code, region->code_size);
	text_printf(out, ",%s,%s,", tact_arch_name(p->archs.arch[r->arch]), modes[p->mode]);
	if (p->n_alignments > 1)
		text_printf(out, "%u,", r->alignment);
	text_printf(out, "%s,,", predict_status_name(r->status));
	for (unsigned n = p->command->csv->count(p) + (p->has_intervals ? 3 : 0); n; n--)
		text_add(out, ",");
	add_place(w, block, out);
}

static void add_result(struct predict_worker *w, const struct source_block *block,
		       const struct predict_result *r, struct text *out)
{
	if (r->status >= 0)
		add_row(w, block, r, out);
	else
		add_failure(w, block, r, out);
}

const struct predict_shape predict_shape_csv = {add_header, add_result, NULL};

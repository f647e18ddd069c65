/* SPDX-License-Identifier: MIT
 *
 * Predictions as CSV: the hot path of large sets of blocks, so no printf and one check for room a
 * row.
 */
#include <string.h>

#include "predictor.h"

/* Longest that a row's part in front of the command's own columns may become, but for the digits.
 */
enum { ROW_ROOM = 256 };

void predict_csv_titles(const struct predictor *p, struct text *out)
{
	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		text_printf(out, ",%s", tact_bound_column((enum tact_bound)b));
	text_add(out, ",bottlenecks");
	for (unsigned b = 0; b < TACT_N_BOUNDS && p->is_idealized; b++)
		text_printf(out, ",without_%s", tact_bound_column((enum tact_bound)b));
	if (p->model != MODEL_FACILE)
		text_add(out, ",facile_cycles_per_iteration");
}

void predict_csv_header(const struct predictor *p, struct text *out)
{
	text_printf(out, "hex,arch,mode,%sstatus,cycles_per_iteration,coverage",
		    p->n_alignments > 1 ? "alignment," : "");
	p->command->csv_titles(p, out);
	text_add(out, "\n");
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
		p = put(p, predict_bottleneck_name((unsigned)__builtin_ctz(bounds)));
	}
	return p;
}

char *predict_csv_values(struct predict_worker *w, const struct tact_prediction *x, char *p)
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
		if (x->applies >> b & 1 && predict_idealized(w, b, &cycles))
			p = put_cycles(p, cycles);
	}
	if (w->p->model != MODEL_FACILE) {
		*p++ = ',';
		p = put_cycles(p, w->facile_cycles);
	}
	return p;
}

unsigned predict_csv_columns(const struct predictor *p)
{
	return TACT_N_BOUNDS * (p->is_idealized ? 2 : 1) + 1 + (p->model != MODEL_FACILE);
}

static void add_row(struct predict_worker *w, const struct source_block *block, const char *arch,
		    unsigned alignment, const struct tact_prediction *x, struct text *out)
{
	const struct tact_region *region = &block->region;
	char *p = text_reserve(out, region->text_size + 2 * region->code_size + ROW_ROOM +
					    PREDICT_CSV_ROOM);

	if (!p)
		return;
	p = put_digits(p, region);
	*p++ = ',';
	p = put(p, arch);
	p = put(p, x->mode == TACT_MODE_LOOP ? ",loop," : ",unroll,");
	if (w->p->n_alignments > 1) {
		if (alignment >= 10)
			*p++ = (char)('0' + alignment / 10);
		*p++ = (char)('0' + alignment % 10);
		*p++ = ',';
	}
	p = put(p, "ok,");
	p = put_cycles(p, x->cycles_per_iteration);
	*p++ = ',';
	p = put_cycles(p, x->coverage);
	p = w->p->command->csv_values(w, x, p);
	*p++ = '\n';
	out->size = (size_t)(p - out->data);
}

static void add_failure(const struct predictor *p, const struct source_block *block, size_t arch,
			unsigned alignment, int status, struct text *out)
{
	const struct tact_region *region = &block->region;
	static const char *const modes[] = {"", "loop", "unroll"};

	if (region->text_size)
		text_csv_field(out, region->text, region->text_size, true);
	else
		text_hex(out, region->code, region->code_size);
	text_printf(out, ",%s,%s,", tact_arch_name(p->archs.arch[arch]), modes[p->mode]);
	if (p->n_alignments > 1)
		text_printf(out, "%u,", alignment);
	text_printf(out, "%s,,", predict_status_name(status));
	for (unsigned n = p->command->csv_columns(p); n; n--)
		text_add(out, ",");
	text_add(out, "\n");
}

void predict_csv(struct predict_worker *w, const struct source_block *block, struct text *out)
{
	const struct predictor *p = w->p;
	int status = predict_load(w, block);

	if (block->is_input)
		return;
	for (size_t a = 0; a < p->archs.n; a++) {
		for (unsigned k = 0; k < p->n_alignments; k++) {
			unsigned alignment = predict_alignment(p, block, k);
			struct tact_prediction x;
			int failed = status;

			if (failed >= 0)
				failed = predict_at(w, a, alignment, &x);
			if (failed >= 0)
				add_row(w, block, tact_arch_name(p->archs.arch[a]), alignment, &x,
					out);
			else
				add_failure(p, block, a, alignment, failed, out);
		}
	}
}

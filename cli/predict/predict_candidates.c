/* SPDX-License-Identifier: MIT
 *
 * Loops that were found in a file, as rows of a table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "common/cli.h"
#include "predictor.h"

static void add_place(const struct source_block *block, struct text *out)
{
	const struct tact_region *r = &block->region;

	if (r->member[0])
		text_printf(out, "%s(%s) ", file_base_name(block->path), r->member);
	text_add(out, r->name[0] ? r->name : "-");
	if (r->function[0] && strncmp(r->name, r->function, strlen(r->function)))
		text_printf(out, " in %s", r->function);
	if (r->source[0])
		text_printf(out, " (%s)", r->source);
}

/* On a terminal, a place that would wrap loses its middle. */
static void add_place_within(const struct predictor *p, const struct source_block *block,
			     size_t line, struct text *out)
{
	const size_t used = out->size - line;
	struct text place = {0};

	add_place(block, &place);
	text_short(out, place.data, place.size,
		   p->is_terminal && p->width > used ? p->width - used : SIZE_MAX);
	out->failed |= place.failed;
	text_free(&place);
}

/* Which columns of the table of candidates there is room for. */
struct candidate_columns {
	bool has_bytes, has_names, has_offsets;
};
enum { CANDIDATE_NAMES = 22 };

static struct candidate_columns candidate_columns(const struct predictor *p)
{
	enum { WITH_BYTES = 80, WITH_NAMES = 70, OFFSETS = 9 };
	const bool has_offsets = p->n_alignments > 1;
	const size_t width = p->width - (has_offsets ? OFFSETS : 0);

	return (struct candidate_columns){width >= WITH_BYTES, width >= WITH_NAMES, has_offsets};
}

static void add_candidate_header(const struct predictor *p, const struct source_block *block,
				 struct text *out)
{
	const struct candidate_columns c = candidate_columns(p);

	text_printf(out, "%s%s:", p->bold, block->path);
	for (size_t i = 0, n = 0; i < p->archs.n; i++)
		if (*tact_arch_caveat(p->archs.arch[i]))
			text_printf(out, "%s %s (%s)", n++ ? "," : "",
				    tact_arch_name(p->archs.arch[i]),
				    tact_arch_caveat(p->archs.arch[i]));
	text_printf(out, "\n   N  %s%s%s%s   Cycles  %s%sPlace%s\n",
		    block->is_elf ? "Address   " : "  Line", c.has_bytes ? "  Bytes" : "",
		    p->archs.n > 1 ? "  Arch" : "", c.has_offsets ? "   Offset" : "",
		    c.has_names ? "Bottleneck" : "", c.has_names ? "              " : "", p->plain);
}

/* What was compiled has no line of its own in the input, but one in its source: "kernel.c:12". */
static unsigned long long line_of(const struct tact_region *r)
{
	const char *colon = strrchr(r->source, ':');

	return r->line || !colon ? r->line : strtoull(colon + 1, NULL, 10);
}

/* What is the same for all results of a candidate. */
static void add_candidate(const struct predictor *p, const struct source_block *block,
			  struct text *out)
{
	text_printf(out, "%4zu  ", block->candidate);
	if (block->is_elf)
		text_printf(out, "0x%-8" PRIx64, block->region.address);
	else
		text_printf(out, "%6llu", line_of(&block->region));
	if (candidate_columns(p).has_bytes)
		text_printf(out, " %6zu", block->region.code_size);
}

static void add_offsets(const struct predict_result *r, unsigned n, struct text *out)
{
	char offsets[32];

	if (n == 1)
		snprintf(offsets, sizeof(offsets), "%u", r->alignment);
	else
		snprintf(offsets, sizeof(offsets), "%u - %u", r->alignment, r[n - 1].alignment);
	text_printf(out, "  %7s", offsets);
}

static void add_outcome(const struct predictor *p, const struct predict_result *r, struct text *out)
{
	const bool is_good = r->status >= 0, has_names = candidate_columns(p).has_names;
	size_t names;

	if (is_good)
		text_cycles2(out, r->x.cycles_per_iteration, 9);
	else
		text_add(out, "        -");
	text_add(out, is_good && r->x.coverage < 1 ? "+ " : "  ");
	names = out->size;
	if (is_good && has_names)
		predict_names_within(out, p->archs.arch[r->arch], r->x.bottlenecks,
				     CANDIDATE_NAMES);
	else if (!is_good)
		text_add(out, predict_status_name(r->status));
	if (has_names || !is_good)
		text_pad(out, CANDIDATE_NAMES + 2, names);
}

void predict_candidate(struct predict_worker *w, const struct source_block *block,
		       const struct predict_result *result, unsigned n, struct text *out)
{
	const struct predictor *p = w->p;
	/* A table over offsets says once what is the same for all of them. */
	const bool is_first = p->n_alignments == 1 || result == w->results;
	size_t start;

	if (block->candidate == 1 && result == w->results)
		add_candidate_header(p, block, out);
	start = out->size;
	add_candidate(p, block, out);
	if (!is_first && !out->failed)
		memset(out->data + start, ' ', out->size - start);
	if (p->archs.n > 1)
		text_printf(out, "  %-4s", tact_arch_name(p->archs.arch[result->arch]));
	if (p->n_alignments > 1)
		add_offsets(result, n, out);
	add_outcome(p, result, out);
	if (!is_first) {
		text_trim(out, start);
		text_add(out, "\n");
		return;
	}
	add_place_within(p, block, start, out);
	if (tact_remarks_count(w->remarks)) {
		text_add(out, " [");
		predict_remark_names(w->remarks, ", ", out);
		text_add(out, "]");
	}
	text_add(out, "\n");
}

void predict_candidate_alignments(struct predict_worker *w, const struct source_block *block,
				  struct text *out)
{
	const unsigned n = w->p->n_alignments;

	for (size_t a = 0; a < w->p->archs.n; a++) {
		const struct predict_result *r = &w->results[a * n];

		for (unsigned k = 0, count; k < n; k += count) {
			count = predict_count_same(r + k, n - k);
			predict_candidate(w, block, r + k, count, out);
		}
	}
}

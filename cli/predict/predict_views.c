/* SPDX-License-Identifier: MIT
 *
 * Results that the library draws: JSON, explanations, graphs.
 */
#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "predictor.h"

struct tact_view predict_view(struct predict_worker *w, const struct source_block *block,
			      const struct tact_prediction *x)
{
	const struct predictor *p = w->p;

	return (struct tact_view){
		.size = sizeof(struct tact_view),
		.block = w->block,
		.arch = w->arch,
		.alignment = w->alignment,
		.prediction = x,
		.region = &block->region,
		.file = block->path,
		.loop = block->candidate,
		.model = p->model,
		.facile_cycles = w->facile_cycles,
		.idealization = p->is_idealized ? &p->predict_options : NULL,
		.simulator = w->simulator,
		.simulation = w->simulator ? &w->simulation : NULL,
		.iterations = p->iterations,
		.from = p->from,
		.with_timeline = p->is_timeline,
		.with_pass = p->is_once,
		.options = &p->predict_options,
		.explains_all = p->explained == EXPLAIN_ALL,
		.is_whole = p->is_verbose,
		.in_color = p->bold[0],
		.width = p->width,
		.bold = p->bold,
		.plain = p->plain,
		.remarks = w->remarks,
	};
}

int predict_view_add(const struct tact_view *view, enum tact_view_kind kind, struct text *out)
{
	char *text;
	size_t size;
	const int status = tact_view_make(view, kind, &text, &size);

	if (status == -TACT_E_NOMEM)
		cli_out_of_memory();
	if (status < 0)
		return status;
	text_add_bytes(out, text, size);
	free(text);
	return 0;
}

void predict_explain(const struct tact_view *view, const struct predictor *p, struct text *out)
{
	if (p->explained != EXPLAIN_NONE)
		predict_view_add(view, TACT_VIEW_EXPLANATION, out);
}

struct tact_listing predict_listing(const struct tact_block *block, uint64_t address)
{
	struct tact_listing listing;

	if (tact_listing_init(&listing, block, address) < 0)
		cli_out_of_memory();
	return listing;
}

/* ---- JSON ---- */

/* One more key at the end of an object, which ends in a brace and a newline. */
static void add_key(const struct tact_view *view, enum tact_view_kind kind, const char *key,
		    struct text *out)
{
	struct text value = {0};

	if (predict_view_add(view, kind, &value) >= 0) {
		const char *text = cli_string(&value);
		const size_t blank = strspn(text, "\n");

		out->size -= 2;
		text_printf(out, ",\"%s\":", key);
		text_json_string(out, text + blank, value.size - blank);
		text_add(out, "}\n");
	}
	text_free(&value);
}

static bool is_explained(const struct predictor *p)
{
	return p->explained == EXPLAIN_BOTTLENECKS || p->explained == EXPLAIN_ALL;
}

static void add_result(struct predict_worker *w, const struct source_block *block,
		       const struct predict_result *r, struct text *out)
{
	struct tact_view view = predict_view(w, block, &r->x);

	view.arch = w->p->archs.arch[r->arch];
	view.alignment = r->alignment;
	if (r->status < 0) {
		view.status = predict_status_name(r->status);
		view.error = r->why;
	} else {
		view.confidence = predict_confidence(w, &r->x);
		view.advisor = predict_advisor(w, block);
	}
	predict_view_add(&view, w->p->command->json, out);
	if (w->p->has_graph && r->status >= 0)
		add_key(&view, TACT_VIEW_GRAPH_SVG, "graph", out);
	if (is_explained(w->p) && r->status >= 0)
		add_key(&view, TACT_VIEW_EXPLANATION, "explanation", out);
}

const struct predict_shape predict_shape_json = {NULL, add_result, NULL};

/* ---- the graph ---- */

int predict_draw(struct predict_worker *w, const struct source_block *block,
		 const struct tact_prediction *x)
{
	const bool is_svg = cli_has_suffix(w->p->graph, ".svg");
	const struct tact_view view = predict_view(w, block, x);
	struct text text = {0};

	predict_view_add(&view, is_svg ? TACT_VIEW_GRAPH_SVG : TACT_VIEW_GRAPH_DOT, &text);
	return output_all(w->p->graph, &text);
}

/* SPDX-License-Identifier: MIT
 *
 * Views of results: one row a view.
 */
#include "view/view.h"

#include <stdlib.h>

/* What a view needs beside a block. */
enum { NEEDS_PREDICTION = 1, NEEDS_SIMULATION = 2 };

static const struct row {
	int (*make)(const struct maker *m);
	unsigned needs;
} rows[TACT_N_VIEWS] = {
	[TACT_VIEW_PREDICTION] = {view_prediction, 0},
	[TACT_VIEW_SIMULATION] = {view_simulation, 0},
	[TACT_VIEW_PAGE] = {view_page, NEEDS_PREDICTION | NEEDS_SIMULATION},
	[TACT_VIEW_EXPLANATION] = {view_explanation, NEEDS_PREDICTION},
	[TACT_VIEW_GRAPH_SVG] = {view_graph_svg, NEEDS_PREDICTION},
	[TACT_VIEW_GRAPH_DOT] = {view_graph_dot, NEEDS_PREDICTION},
	[TACT_VIEW_CHART] = {view_chart, NEEDS_SIMULATION},
	[TACT_VIEW_PERFETTO] = {view_perfetto, NEEDS_PREDICTION | NEEDS_SIMULATION},
	[TACT_VIEW_KONATA] = {view_konata, NEEDS_SIMULATION},
};

static bool has_all(const struct tact_view *v, enum tact_view_kind kind)
{
	unsigned needs = rows[kind].needs;

	if (!v->block || !v->arch)
		return false;
	/* JSON of a failure needs neither. */
	if (!v->status && kind == TACT_VIEW_PREDICTION)
		needs = NEEDS_PREDICTION;
	if (!v->status && kind == TACT_VIEW_SIMULATION)
		needs = NEEDS_PREDICTION | NEEDS_SIMULATION;
	return (!(needs & NEEDS_PREDICTION) || v->prediction) &&
	       (!(needs & NEEDS_SIMULATION) || (v->simulator && v->simulation));
}

int tact_view_make(const struct tact_view *view, enum tact_view_kind kind, char **text,
		   size_t *size)
{
	struct tact_view v;
	struct tact_listing listing;
	struct text out = {0};
	int status;

	if (!text || (unsigned)kind >= TACT_N_VIEWS || tact_read_options(&v, sizeof(v), view) < 0 ||
	    !has_all(&v, kind))
		return -TACT_E_INVAL;
	v.bold = v.bold ? v.bold : "";
	v.plain = v.plain ? v.plain : "";
	v.width = v.width ? v.width : 100;
	status = tact_listing_init(&listing, v.block, v.region ? v.region->address : 0);
	if (status < 0)
		return status;
	status = rows[kind].make(&(struct maker){&v, &listing, &out});
	tact_listing_fini(&listing);
	*text = status < 0 ? NULL : text_string(&out);
	if (status >= 0 && !*text)
		status = -TACT_E_NOMEM;
	if (size)
		*size = out.size;
	if (status < 0)
		text_free(&out);
	return status < 0 ? status : 0;
}

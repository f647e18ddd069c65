/* SPDX-License-Identifier: MIT
 *
 * Views of results, one row per view.
 */
#include "view/view.h"

#include <math.h>
#include <stdlib.h>

/* What a view needs in addition to a block. */
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

	if (!v->block || !v->arch || (!v->status && !tact_block_length(v->block)))
		return false;
	/* JSON of a failure needs neither. */
	if (!v->status && kind == TACT_VIEW_PREDICTION)
		needs = NEEDS_PREDICTION;
	if (!v->status && kind == TACT_VIEW_SIMULATION)
		needs = NEEDS_PREDICTION | NEEDS_SIMULATION;
	if (needs & NEEDS_PREDICTION && !v->prediction)
		return false;
	return !(needs & NEEDS_SIMULATION) ||
	       (v->simulator && v->simulation && v->simulation->bounds &&
		isfinite(v->simulation->cycles_per_iteration));
}

/* A view as this library knows it, with what it points to. */
struct known {
	struct tact_view view;
	struct tact_prediction prediction;
	struct tact_simulation simulation;
	struct tact_region region;
	struct tact_confidence confidence;
};

static void fill_strings(struct tact_region *region)
{
	const char **const strings[] = {&region->name, &region->function, &region->source,
					&region->text};

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
		if (!*strings[i])
			*strings[i] = "";
}

static int read_view(struct known *to, const struct tact_view *from)
{
	struct tact_view *v = &to->view;

	if (!from || tact_read_options(v, sizeof(*v), from) < 0)
		return -TACT_E_INVAL;
	if (v->prediction) {
		if (tact_read_options(&to->prediction, sizeof(to->prediction), v->prediction) < 0)
			return -TACT_E_INVAL;
		v->prediction = &to->prediction;
	}
	if (v->simulation) {
		if (tact_read_options(&to->simulation, sizeof(to->simulation), v->simulation) < 0)
			return -TACT_E_INVAL;
		v->simulation = &to->simulation;
	}
	if (v->region) {
		if (tact_read_options(&to->region, sizeof(to->region), v->region) < 0)
			return -TACT_E_INVAL;
		fill_strings(&to->region);
		v->region = &to->region;
	}
	if (v->confidence) {
		if (tact_read_options(&to->confidence, sizeof(to->confidence), v->confidence) < 0)
			return -TACT_E_INVAL;
		v->confidence = &to->confidence;
	}
	v->bold = v->bold ? v->bold : "";
	v->plain = v->plain ? v->plain : "";
	if (!v->width)
		v->width = 100;
	if (v->width < VIEW_MIN_WIDTH)
		v->width = VIEW_MIN_WIDTH;
	return 0;
}

int tact_view_make(const struct tact_view *view, enum tact_view_kind kind, char **text,
		   size_t *size)
{
	struct known known;
	struct tact_listing listing;
	struct text out = {0};
	int status;

	if (text)
		*text = NULL;
	if (!text || (unsigned)kind >= TACT_N_VIEWS || read_view(&known, view) < 0 ||
	    !has_all(&known.view, kind))
		return -TACT_E_INVAL;
	status = tact_listing_init(&listing, known.view.block,
				   known.view.region ? known.view.region->address : 0);
	if (status < 0)
		return status;
	status = rows[kind].make(&(struct maker){&known.view, &listing, &out});
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

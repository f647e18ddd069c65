/* SPDX-License-Identifier: MIT
 *
 * A dependence graph as SVG, without Graphviz: instructions in one column, edges within an
 * iteration on the right, edges into the next iteration on the left.  Every edge has a height of
 * its own at both ends, and a lane of its own where it would overlap another one.
 */
#include <stdlib.h>
#include <string.h>

#include "view/depgraph.h"

enum {
	PIN = 15,	/* between the ends of two edges */
	BOX_MIN = 30,	/* height of a box */
	GAP = 12,	/* between boxes */
	LANE = 14,	/* between vertical lines */
	CHAR = 8,	/* width of a character of 13 pixels */
	SMALL_CHAR = 7, /* and of 11 pixels */
	TOP = 54,	/* room for the title */
	MARGIN = 16,
	CORNER = 5
};

struct placed {
	const struct depgraph_edge *edge;
	bool is_left;
	int y_from, y_to;
	unsigned lane;
};

struct drawing {
	const struct depgraph *g;
	struct placed *edges;	 /* owned */
	int *box_y, *box_height; /* owned */
	unsigned *pins[2];	 /* owned: ends on the right and on the left of each box */
	unsigned lanes[2];
	int label[2]; /* width of labels */
	int x_left, x_right, width, height;
};

/* Counts ends first, so that boxes are high enough. */
static void place_boxes(struct drawing *d)
{
	const struct depgraph *g = d->g;
	int y = TOP;

	for (size_t i = 0; i < g->n_edges; i++) {
		bool left = g->edges[i].iterations > 0;

		d->edges[i] = (struct placed){.edge = &g->edges[i], .is_left = left};
		d->pins[left][g->edges[i].from]++;
		d->pins[left][g->edges[i].to]++;
	}
	for (size_t i = 0; i < g->listing->n; i++) {
		unsigned pins = d->pins[0][i] > d->pins[1][i] ? d->pins[0][i] : d->pins[1][i];
		int height = (int)(pins + 1) * PIN;

		d->box_y[i] = y;
		d->box_height[i] = height > BOX_MIN ? height : BOX_MIN;
		y += d->box_height[i] + GAP;
	}
	d->height = y + MARGIN;
}

static int pin_y(const struct drawing *d, uint32_t box, unsigned index, bool left)
{
	return d->box_y[box] +
	       d->box_height[box] * (int)(index + 1) / (int)(d->pins[left][box] + 1);
}

/* Ends that come from above are above those that go down, so that fewer lines cross. */
static void place_ends(struct drawing *d)
{
	for (int left = 0; left < 2; left++) {
		for (uint32_t box = 0; box < d->g->listing->n; box++) {
			unsigned index = 0;

			for (size_t i = 0; i < d->g->n_edges; i++)
				if (d->edges[i].is_left == left && d->edges[i].edge->to == box)
					d->edges[i].y_to = pin_y(d, box, index++, left);
			for (size_t i = 0; i < d->g->n_edges; i++)
				if (d->edges[i].is_left == left && d->edges[i].edge->from == box)
					d->edges[i].y_from = pin_y(d, box, index++, left);
		}
	}
}

static int low(const struct placed *p)
{
	return p->y_from < p->y_to ? p->y_from : p->y_to;
}

static int high(const struct placed *p)
{
	return p->y_from < p->y_to ? p->y_to : p->y_from;
}

static int by_length(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int difference = (high(x) - low(x)) - (high(y) - low(y));

	return difference ? difference : low(x) - low(y);
}

/* Short ones first, so that they are inside. */
static void place_lanes(struct drawing *d)
{
	size_t n = d->g->n_edges;

	if (n)
		qsort(d->edges, n, sizeof(*d->edges), by_length);
	for (size_t i = 0; i < n; i++) {
		struct placed *p = &d->edges[i];
		bool is_free;

		do {
			is_free = true;
			for (size_t k = 0; k < i && is_free; k++) {
				const struct placed *q = &d->edges[k];

				is_free = q->is_left != p->is_left || q->lane != p->lane ||
					  high(q) + 2 < low(p) || high(p) + 2 < low(q);
			}
			p->lane += !is_free;
		} while (!is_free);
		if (p->lane >= d->lanes[p->is_left])
			d->lanes[p->is_left] = p->lane + 1;
	}
}

static void place_columns(struct drawing *d)
{
	int title = (int)strlen(d->g->title) * CHAR + 2 * MARGIN;
	size_t widest = 0;

	for (size_t i = 0; i < d->g->listing->n; i++)
		if (strlen(d->g->listing->line[i]) > widest)
			widest = strlen(d->g->listing->line[i]);
	for (size_t i = 0; i < d->g->n_edges; i++) {
		const struct depgraph_edge *e = &d->g->edges[i];
		int width = (int)(strlen(e->label) + 4) * SMALL_CHAR;

		if (width > d->label[e->iterations > 0])
			d->label[e->iterations > 0] = width;
	}
	d->x_left = MARGIN + d->label[1] + (int)d->lanes[1] * LANE + LANE;
	d->x_right = d->x_left + (int)(widest + 6) * CHAR;
	d->width = d->x_right + d->label[0] + (int)d->lanes[0] * LANE + LANE + MARGIN;
	if (d->width < title)
		d->width = title;
}

static void draw_boxes(const struct drawing *d, struct text *out)
{
	for (size_t i = 0; i < d->g->listing->n; i++) {
		text_printf(out,
			    "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
			    "rx=\"4\"/>\n",
			    d->g->is_critical[i] ? "box critical" : "box", d->x_left, d->box_y[i],
			    d->x_right - d->x_left, d->box_height[i]);
		text_printf(out, "<text class=\"number\" x=\"%d\" y=\"%d\">%zu</text>\n",
			    d->x_left + 3 * CHAR, d->box_y[i] + d->box_height[i] / 2 + 5, i + 1);
		text_printf(out, "<text x=\"%d\" y=\"%d\">", d->x_left + 4 * CHAR,
			    d->box_y[i] + d->box_height[i] / 2 + 5);
		text_xml(out, d->g->listing->line[i]);
		text_add(out, "</text>\n");
	}
}

/* Out of the box, along the lane, into the box; round corners. */
static void draw_edge(const struct drawing *d, const struct placed *p, struct text *out)
{
	const struct depgraph_edge *e = p->edge;
	int side = p->is_left ? -1 : 1, x = p->is_left ? d->x_left : d->x_right;
	int lane = x + side * (d->label[p->is_left] + LANE / 2 + (int)p->lane * LANE);
	int down = p->y_to > p->y_from ? 1 : -1, corner = CORNER;

	if (abs(p->y_to - p->y_from) < 2 * CORNER)
		corner = abs(p->y_to - p->y_from) / 2;
	text_printf(out, "<path class=\"%s\" d=\"M%d %dH%dQ%d %d %d %dV%dQ%d %d %d %dH%d\"",
		    e->is_critical ? "edge critical" : "edge", x, p->y_from, lane - side * corner,
		    lane, p->y_from, lane, p->y_from + down * corner, p->y_to - down * corner, lane,
		    p->y_to, lane - side * corner, p->y_to, x + side * 7);
	text_printf(out, " marker-end=\"url(#%s)\"/>\n", e->is_critical ? "red" : "grey");
	text_printf(out, "<text class=\"%s\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">",
		    e->is_critical ? "label critical" : "label", x + side * 6, p->y_from - 3,
		    p->is_left ? "end" : "start");
	text_xml(out, e->label);
	text_printf(out, " %u</text>\n", e->latency);
}

static void draw_head(const struct drawing *d, struct text *out)
{
	text_printf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		    "viewBox=\"0 0 %d %d\">\n",
		    d->width, d->height, d->width, d->height);
	text_add(out, "<style>\n"
		      "text { font: 13px monospace; fill: #222 }\n"
		      "text.title { font-weight: bold }\n"
		      "text.small { font-size: 11px; fill: #555 }\n"
		      "text.number { fill: #888; text-anchor: end }\n"
		      "text.label { font-size: 11px; fill: #456 }\n"
		      "text.label.critical { fill: #c00; font-weight: bold }\n"
		      "rect.box { fill: #f4f6f8; stroke: #789 }\n"
		      "rect.box.critical { fill: #fff0f0; stroke: #c00; stroke-width: 2 }\n"
		      "path.edge { fill: none; stroke: #789 }\n"
		      "path.edge.critical { stroke: #c00; stroke-width: 2 }\n"
		      "</style>\n<defs>\n");
	for (int i = 0; i < 2; i++)
		text_printf(out,
			    "<marker id=\"%s\" viewBox=\"0 0 8 8\" refX=\"1\" refY=\"4\" "
			    "markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
			    "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"%s\"/></marker>\n",
			    i ? "red" : "grey", i ? "#c00" : "#789");
	text_add(out, "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
	text_printf(out, "<text class=\"title\" x=\"%d\" y=\"22\">", MARGIN);
	text_xml(out, d->g->title);
	text_printf(out,
		    "</text>\n<text class=\"small\" x=\"%d\" y=\"40\">right: within an iteration, "
		    "left: "
		    "into the next; cycles from the slowest input</text>\n",
		    MARGIN);
}

int depgraph_write_svg(const struct depgraph *g, struct text *out)
{
	const size_t n = g->listing->n;
	struct drawing d = {.g = g};
	int status = -TACT_E_NOMEM;

	d.edges = calloc(g->n_edges + 1, sizeof(*d.edges));
	d.box_y = calloc(2 * n + 1, sizeof(*d.box_y));
	d.pins[0] = calloc(2 * n + 1, sizeof(*d.pins[0]));
	if (!d.edges || !d.box_y || !d.pins[0])
		goto out_free;
	d.box_height = d.box_y + n;
	d.pins[1] = d.pins[0] + n;
	place_boxes(&d);
	place_ends(&d);
	place_lanes(&d);
	place_columns(&d);
	draw_head(&d, out);
	for (int critical = 0; critical < 2; critical++) /* these are on top */
		for (size_t i = 0; i < g->n_edges; i++)
			if (d.edges[i].edge->is_critical == critical)
				draw_edge(&d, &d.edges[i], out);
	draw_boxes(&d, out);
	text_add(out, "</svg>\n");
	status = 0;
out_free:
	FREE_ALL(d.edges, d.box_y, d.pins[0]);
	return status;
}

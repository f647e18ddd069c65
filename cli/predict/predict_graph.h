/* SPDX-License-Identifier: MIT
 *
 * A dependence graph that is to be drawn.
 */
#ifndef TACT_PREDICT_GRAPH_H
#define TACT_PREDICT_GRAPH_H

#include "predictor.h"

struct graph_edge {
	uint32_t from, to;
	unsigned latency, iterations;
	bool is_critical;
	char label[40]; /* values that it carries */
};

struct graph {
	const struct listing *listing; /* borrowed: its nodes */
	const char *title;	       /* borrowed */
	struct graph_edge *edges;      /* owned */
	size_t n_edges;
	bool *is_critical; /* owned; a node */
	double cycles;
};

void graph_write_svg(const struct graph *g, struct text *out);

#endif /* TACT_PREDICT_GRAPH_H */

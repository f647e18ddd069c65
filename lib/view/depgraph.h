/* SPDX-License-Identifier: MIT
 *
 * A dependence graph for drawing.
 */
#ifndef TACT_DEPGRAPH_H
#define TACT_DEPGRAPH_H

#include "view/view.h"

struct depgraph_edge {
	uint32_t from, to;
	unsigned latency, iterations;
	bool is_critical;
	char label[40]; /* values that it carries */
};

struct depgraph {
	const struct tact_listing *listing; /* borrowed: its nodes */
	const char *title;		    /* borrowed */
	struct depgraph_edge *edges;	    /* owned */
	size_t n_edges, capacity;
	bool *is_critical; /* owned; one per node */
	double cycles;
};

/* Collects the graph of a block.  Returns 0 or -TACT_E_NOMEM. */
int depgraph_write_svg(const struct depgraph *g, struct text *out);

#endif /* TACT_DEPGRAPH_H */

/* SPDX-License-Identifier: MIT
 *
 * The dependence graph of a block: collects it, and writes it for Graphviz.
 */
#include "view/depgraph.h"

#include <stdlib.h>
#include <string.h>

/* Several values between the same two instructions that take the same time are one edge. */
static struct depgraph_edge *find_edge(struct depgraph *g, const struct tact_edge *e)
{
	for (size_t i = 0; i < g->n_edges; i++) {
		struct depgraph_edge *known = &g->edges[i];

		if (known->from == e->from && known->to == e->to &&
		    known->iterations == e->iterations && known->latency == e->latency)
			return known;
	}
	return NULL;
}

static void add_value(struct depgraph_edge *edge, const char *name)
{
	size_t have = strlen(edge->label), more = strlen(name);

	if (strstr(edge->label, name) || have + more + 2 >= sizeof(edge->label))
		return;
	if (have)
		edge->label[have++] = ',';
	memcpy(edge->label + have, name, more + 1);
}

static int collect_edges(struct depgraph *g, const struct tact_block *block)
{
	struct tact_edge e;

	for (size_t cursor = 0; tact_block_edge(block, &cursor, &e) > 0;) {
		struct depgraph_edge *edge = find_edge(g, &e);

		if (!edge) {
			if (tact_grow(&g->edges, &g->capacity, g->n_edges + 1, sizeof(*g->edges)) <
			    0)
				return -TACT_E_NOMEM;
			edge = &g->edges[g->n_edges++];
			*edge = (struct depgraph_edge){.from = e.from,
						       .to = e.to,
						       .latency = e.latency,
						       .iterations = e.iterations};
		}
		add_value(edge, tact_explain_value(block, e.kind, e.reg));
	}
	return 0;
}

/* A chain's link leads to the instruction of the next one.  Of several edges, the one with the
 * link's latency is meant; an edge shows the slowest path, which may be longer than the chain's.
 */
static void mark_chain(struct depgraph *g, struct tact_block *block)
{
	struct tact_chain chain = TACT_CHAIN_INIT;

	if (tact_explain_chain(block, &chain) < 0)
		return;
	for (size_t i = 0; i < chain.n_links; i++) {
		const struct tact_chain_link *from = &chain.links[i];
		const struct tact_chain_link *to = &chain.links[(i + 1) % chain.n_links];
		struct depgraph_edge *best = NULL;

		g->is_critical[from->insn] = true;
		for (size_t k = 0; k < g->n_edges; k++) {
			struct depgraph_edge *e = &g->edges[k];

			if (e->from != from->insn || e->to != to->insn ||
			    e->iterations != from->iterations ||
			    !strstr(e->label,
				    tact_explain_value(block, to->from_kind, to->from_reg)))
				continue;
			if (!best || e->latency == from->latency)
				best = e;
		}
		if (best) {
			best->is_critical = true;
			best->latency = from->latency;
		}
	}
	g->cycles = chain.cycles_per_iteration;
}

static void add_escaped(struct text *out, const char *string)
{
	for (; *string; string++) {
		if (*string == '"' || *string == '\\')
			text_add(out, "\\");
		text_add_bytes(out, string, 1);
	}
}

static int write_dot(const struct depgraph *g, struct text *out)
{
	text_add(out, "digraph block {\n\tnode [shape=box, fontname=\"monospace\", fontsize=11];\n"
		      "\tedge [fontname=\"monospace\", fontsize=9];\n\tlabel=\"");
	add_escaped(out, g->title);
	text_add(out, "\";\n");
	for (size_t i = 0; i < g->listing->n; i++) {
		text_printf(out, "\ti%zu [label=\"%zu: ", i, i + 1);
		add_escaped(out, g->listing->line[i]);
		text_printf(out, "\"%s];\n", g->is_critical[i] ? ", color=red" : "");
	}
	for (size_t i = 0; i < g->n_edges; i++) {
		const struct depgraph_edge *e = &g->edges[i];

		text_printf(out, "\ti%u -> i%u [label=\"%s %u\"", e->from, e->to, e->label,
			    e->latency);
		if (e->iterations)
			text_add(out, ", style=dashed, constraint=false");
		if (e->is_critical)
			text_add(out, ", color=red, fontcolor=red, penwidth=2");
		text_add(out, "];\n");
	}
	text_add(out, "}\n");
	return 0;
}

static int make(const struct maker *m, int (*write)(const struct depgraph *g, struct text *out))
{
	const struct tact_view *v = m->view;
	struct depgraph g = {.listing = m->listing};
	struct text title = {0};
	int status = -TACT_E_NOMEM;

	g.is_critical = calloc(m->listing->n ? m->listing->n : 1, sizeof(*g.is_critical));
	if (g.is_critical)
		status = collect_edges(&g, v->block);
	if (status >= 0) {
		mark_chain(&g, v->block);
		text_printf(&title, "%s, %s: dependencies allow %.2f cycles per iteration",
			    tact_arch_name(v->arch), view_mode_name(v->prediction->mode), g.cycles);
		g.title = text_string(&title);
		status = g.title ? write(&g, m->out) : -TACT_E_NOMEM;
	}
	text_free(&title);
	FREE_ALL(g.is_critical, g.edges);
	return status;
}

int view_graph_svg(const struct maker *m)
{
	return make(m, depgraph_write_svg);
}

int view_graph_dot(const struct maker *m)
{
	return make(m, write_dot);
}

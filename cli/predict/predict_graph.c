/* SPDX-License-Identifier: MIT
 *
 * The dependence graph of a block: collects it, and writes it for Graphviz.
 */
#include "predict_graph.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

/* Several values between the same two instructions that take the same time are one edge. */
static struct graph_edge *find_edge(struct graph *g, const struct tact_edge *e)
{
	for (size_t i = 0; i < g->n_edges; i++) {
		struct graph_edge *known = &g->edges[i];

		if (known->from == e->from && known->to == e->to &&
		    known->iterations == e->iterations && known->latency == e->latency)
			return known;
	}
	return NULL;
}

static void add_value(struct graph_edge *edge, const char *name)
{
	size_t have = strlen(edge->label), more = strlen(name);

	if (strstr(edge->label, name) || have + more + 2 >= sizeof(edge->label))
		return;
	if (have)
		edge->label[have++] = ',';
	memcpy(edge->label + have, name, more + 1);
}

static void collect_edges(struct graph *g, const struct tact_block *block)
{
	struct tact_edge e;

	for (size_t cursor = 0; tact_block_edge(block, &cursor, &e) > 0;) {
		struct graph_edge *edge = find_edge(g, &e);

		if (!edge) {
			g->edges = cli_realloc(g->edges, (g->n_edges + 1) * sizeof(*g->edges));
			edge = &g->edges[g->n_edges++];
			*edge = (struct graph_edge){.from = e.from,
						    .to = e.to,
						    .latency = e.latency,
						    .iterations = e.iterations};
		}
		add_value(edge, tact_explain_value(block, e.kind, e.reg));
	}
}

/* A chain's link leads to the next one's instruction.  Of several edges the one with the link's
 * latency is meant; an edge shows the slowest path, which may be longer than the chain's.
 */
static void mark_chain(struct graph *g, struct tact_block *block)
{
	struct tact_chain chain;

	if (tact_explain_chain(block, &chain) < 0)
		return;
	for (size_t i = 0; i < chain.n_links; i++) {
		const struct tact_chain_link *from = &chain.links[i];
		const struct tact_chain_link *to = &chain.links[(i + 1) % chain.n_links];
		struct graph_edge *best = NULL;

		g->is_critical[from->insn] = true;
		for (size_t k = 0; k < g->n_edges; k++) {
			struct graph_edge *e = &g->edges[k];

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

static void write_dot(const struct graph *g, struct text *out)
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
		const struct graph_edge *e = &g->edges[i];

		text_printf(out, "\ti%u -> i%u [label=\"%s %u\"", e->from, e->to, e->label,
			    e->latency);
		if (e->iterations)
			text_add(out, ", style=dashed, constraint=false");
		if (e->is_critical)
			text_add(out, ", color=red, fontcolor=red, penwidth=2");
		text_add(out, "];\n");
	}
	text_add(out, "}\n");
}

static int write_file(const char *path, struct text *text)
{
	struct output out;

	if (output_open(&out, path))
		return CLI_FAILED;
	output_write(&out, text);
	return output_close(&out) ? CLI_FAILED : CLI_GOOD;
}

int predict_draw(struct predict_worker *w, const struct source_block *block)
{
	struct tact_prediction x;
	struct listing listing;
	struct graph g = {.listing = &listing};
	struct text title = {0}, text = {0};
	int status;

	if (predict_at(w, 0, predict_alignment(w->p, block, 0), &x) < 0)
		return CLI_FAILED;
	listing_init(&listing, w->block, block->region.address);
	g.is_critical = cli_alloc(listing.n);
	memset(g.is_critical, 0, listing.n);
	collect_edges(&g, w->block);
	mark_chain(&g, w->block);
	text_printf(&title, "%s, %s: dependencies allow %.2f cycles per iteration",
		    tact_arch_name(w->arch), predict_mode_name(x.mode), g.cycles);
	text_add_bytes(&title, "", 1);
	g.title = title.data;
	if (!strcmp(strrchr(w->p->graph, '.'), ".svg"))
		graph_write_svg(&g, &text);
	else
		write_dot(&g, &text);
	status = write_file(w->p->graph, &text);
	text_free(&text);
	text_free(&title);
	free(g.is_critical);
	free(g.edges);
	listing_fini(&listing);
	return status;
}

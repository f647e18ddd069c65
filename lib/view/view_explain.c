/* SPDX-License-Identifier: MIT
 *
 * Why a block takes so long: one paragraph per bottleneck.
 */
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "view/view.h"

/* Longer lists are cut short unless everything was asked for. */
enum { SHORT_LIST = 12 };

static void add_title(const struct maker *e, unsigned bound)
{
	text_printf(e->out, "\n%s%s%s: ", e->view->bold, tact_bound_name((enum tact_bound)bound),
		    e->view->plain);
}

/* Returns whether to print the i-th line of n; says how many are left where it stops. */
static bool add_more(const struct maker *e, size_t i, size_t n)
{
	if (e->view->is_whole || n <= SHORT_LIST + 1 || i < SHORT_LIST)
		return true;
	if (i == SHORT_LIST)
		text_printf(e->out, "       ... and %zu more (-v shows all)\n", n - SHORT_LIST);
	return false;
}

static void add_insn(const struct maker *e, size_t i)
{
	text_printf(e->out, "  %3zu  %s\n", i + 1, e->listing->line[i]);
}

static void add_ratio(const struct maker *e, double total, unsigned by, double result)
{
	text_printf(e->out, "%g / %u = ", total, by);
	text_cycles2(e->out, result, 0);
}

/* ---- back end ---- */

static void add_ports(struct text *out, unsigned ports)
{
	unsigned n = (unsigned)__builtin_popcount(ports), k = 0;

	text_add(out, n == 1 ? "port " : "ports ");
	for (unsigned p = 0; p < TACT_MAX_PORTS; p++) {
		if (!(ports >> p & 1))
			continue;
		text_printf(out, "%s%u", !k ? "" : k + 1 == n ? " and " : ", ", p);
		k++;
	}
}

static void explain_ports(const struct maker *e, unsigned bound)
{
	struct tact_port_contention c = TACT_PORT_CONTENTION_INIT;

	if (tact_explain_ports(e->view->block, &c) < 0 || !c.n_insns || !c.ports)
		return;
	add_title(e, bound);
	text_printf(e->out, "%g uop%s can only go to ", c.uops, c.uops == 1 ? "" : "s");
	add_ports(e->out, c.ports);
	text_add(e->out, " (");
	add_ratio(e, c.uops, (unsigned)__builtin_popcount(c.ports),
		  c.uops / __builtin_popcount(c.ports));
	text_add(e->out, "):\n");
	for (size_t i = 0; i < c.n_insns && add_more(e, i, c.n_insns); i++)
		add_insn(e, c.insns[i]);
}

static void add_way(const struct maker *e, const struct tact_chain_link *link)
{
	const struct tact_block *block = e->view->block;

	text_printf(e->out, "%s%s -> %s",
		    tact_explain_value(block, link->from_kind, link->from_reg),
		    link->from_kind == 1 ? " (address)" : "",
		    tact_explain_value(block, link->to_kind, link->to_reg));
}

/* Columns: number, instruction, how the value comes in and goes out, cycles. */
static void add_links(const struct maker *e, const struct tact_chain *chain)
{
	size_t insn_width = 0, way_width = 0;

	for (size_t i = 0; i < chain->n_links; i++) {
		size_t start = e->out->size,
		       length = strlen(e->listing->line[chain->links[i].insn]);

		add_way(e, &chain->links[i]);
		if (e->out->size - start > way_width)
			way_width = e->out->size - start;
		e->out->size = start;
		if (length > insn_width && length <= 40)
			insn_width = length;
	}
	for (size_t i = 0; i < chain->n_links && add_more(e, i, chain->n_links); i++) {
		const struct tact_chain_link *link = &chain->links[i];
		size_t start = e->out->size;

		text_printf(e->out, "  %3u  %s", link->insn + 1, e->listing->line[link->insn]);
		text_pad(e->out, 9 + insn_width, start);
		add_way(e, link);
		text_pad(e->out, 9 + insn_width + way_width, start);
		text_printf(e->out, "%4u cycle%s%s\n", link->latency, link->latency == 1 ? "" : "s",
			    link->iterations ? ", to the next iteration" : "");
	}
}

static void explain_chain(const struct maker *e, unsigned bound)
{
	struct tact_chain c = TACT_CHAIN_INIT;

	if (tact_explain_chain(e->view->block, &c) < 0 || !c.n_links || !c.iterations)
		return;
	add_title(e, bound);
	text_printf(e->out, "a chain that takes %u cycle%s for %u iteration%s", c.latency,
		    c.latency == 1 ? "" : "s", c.iterations, c.iterations == 1 ? "" : "s");
	if (c.iterations > 1) {
		text_add(e->out, " (");
		add_ratio(e, c.latency, c.iterations, c.cycles_per_iteration);
		text_add(e->out, ")");
	}
	text_add(e->out, ":\n");
	add_links(e, &c);
}

static void explain_divider(const struct maker *e, unsigned bound)
{
	add_title(e, bound);
	text_add(e->out, "these occupy the divider, which takes one at a time:\n");
	for (size_t i = 0; i < e->listing->n; i++) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;
		size_t start = e->out->size;

		cost.size = sizeof(cost);
		if (tact_block_cost(e->view->block, i, &cost) < 0 || !cost.divider)
			continue;
		text_printf(e->out, "  %3zu  %s", i + 1, e->listing->line[i]);
		text_pad(e->out, 9 + e->listing->widest, start);
		text_printf(e->out, "%3u cycle%s\n", cost.divider, cost.divider == 1 ? "" : "s");
	}
}

static void explain_stores(const struct maker *e, unsigned bound)
{
	add_title(e, bound);
	text_add(e->out, "stores to different cache lines leave the store buffer one per cycle:\n");
	for (size_t i = 0; i < e->listing->n; i++) {
		struct tact_insn insn;

		if (tact_block_insn(e->view->block, i, &insn) >= 0 &&
		    insn.attributes & TACT_INSN_STORE)
			add_insn(e, i);
	}
}

/* ---- front end ---- */

/* Adds "3 to 7"; in unrolled code, a group may reach into the next iterations. */
static void add_span(const struct maker *e, const struct tact_front_end_group *g)
{
	size_t n = e->listing->n, first = g->first_insn, end = first + g->n_insns;

	if (!g->n_insns)
		text_add(e->out, "none ends here");
	else if (g->n_insns == 1)
		text_printf(e->out, "%zu", first + 1);
	else if (end <= n)
		text_printf(e->out, "%zu to %zu", first + 1, end);
	else if (end <= 2 * n)
		text_printf(e->out, "%zu to %zu of the next iteration", first + 1,
			    (end - 1) % n + 1);
	else
		text_printf(e->out, "%zu to %zu, %zu iterations later", first + 1,
			    (end - 1) % n + 1, (end - 1) / n);
}

static const char *plural(unsigned n)
{
	return n == 1 ? "" : "s";
}

static void add_blocks(const struct maker *e, const struct tact_front_end_group *groups, size_t n,
		       unsigned bytes)
{
	size_t n_slow = 0, shown = 0;

	for (size_t i = 0; i < n; i++)
		n_slow += groups[i].cycles > 1;
	if (!n_slow)
		return;
	text_printf(e->out, "These %u-byte blocks take more than a cycle:\n", bytes);
	for (size_t i = 0; i < n; i++) {
		if (groups[i].cycles <= 1)
			continue;
		if (!add_more(e, shown++, n_slow))
			break;
		text_printf(e->out, "  %3zu  %u cycles", i + 1, groups[i].cycles);
		if (groups[i].lcp_cycles)
			text_printf(e->out, " (%u for length-changing prefixes)",
				    groups[i].lcp_cycles);
		text_add(e->out, groups[i].n_insns == 1 ? ", instruction " : ", instructions ");
		add_span(e, &groups[i]);
		text_add(e->out, "\n");
	}
}

struct tact_front_end_group *view_groups(const struct maker *m, explain_groups *explain, size_t *n,
					 unsigned *iterations)
{
	struct tact_front_end_group *groups;
	int count;

	*iterations = 1;
	count = explain(m->view->block, NULL, 0, iterations);
	*n = count > 0 ? (size_t)count : 0;
	if (!*n)
		return NULL;
	groups = calloc(*n, sizeof(*groups));
	if (groups)
		explain(m->view->block, groups, *n, iterations);
	else
		m->out->failed = true;
	return groups;
}

static void explain_predecoder(const struct maker *e, unsigned bound)
{
	unsigned iterations, cycles = 0, bytes = e->view->arch->params.predecode_block;
	size_t n;
	struct tact_front_end_group *groups =
		view_groups(e, tact_explain_predecoder, &n, &iterations);

	if (!groups)
		return;
	for (size_t i = 0; i < n; i++)
		cycles += groups[i].cycles;
	add_title(e, bound);
	text_printf(e->out,
		    "%u iteration%s fill%s %zu block%s of %u bytes, which need%s %u cycle%s (",
		    iterations, plural(iterations), iterations == 1 ? "s" : "", n,
		    plural((unsigned)n), bytes, n == 1 ? "s" : "", cycles, plural(cycles));
	add_ratio(e, cycles, iterations, (double)cycles / iterations);
	text_add(e->out, ").\n");
	add_blocks(e, groups, n, bytes);
	free(groups);
}

static void explain_decoder(const struct maker *e, unsigned bound)
{
	unsigned iterations;
	size_t n;
	struct tact_front_end_group *groups = view_groups(e, tact_explain_decoder, &n, &iterations);

	if (!groups)
		return;
	add_title(e, bound);
	text_printf(e->out, "%u iteration%s keep%s the %u decoders busy for %zu cycle%s (",
		    iterations, plural(iterations), iterations == 1 ? "s" : "",
		    e->view->arch->params.decoders, n, plural((unsigned)n));
	add_ratio(e, (double)n, iterations, (double)n / iterations);
	text_add(e->out, "):\n");
	for (size_t i = 0; i < n && add_more(e, i, n); i++) {
		text_printf(e->out, "  %3zu  instruction%s ", i + 1, plural(groups[i].n_insns));
		add_span(e, &groups[i]);
		text_add(e->out, "\n");
	}
	free(groups);
}

/* DSB, LSD, Issue: a number of uops, and how many per cycle. */
static void explain_width(const struct maker *e, unsigned bound)
{
	unsigned uops = 0, width = bound == TACT_BOUND_DSB ? e->view->arch->params.dsb_width
							   : e->view->arch->params.issue_width;

	for (size_t i = 0; i < e->listing->n; i++) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;

		cost.size = sizeof(cost);
		if (tact_block_cost(e->view->block, i, &cost) < 0)
			continue;
		uops += bound == TACT_BOUND_ISSUE ? cost.issued
			: bound == TACT_BOUND_DSB ? cost.mite
						  : cost.mite + cost.ms;
	}
	add_title(e, bound);
	text_printf(e->out, "%u fused uop%s per iteration, at most %u per cycle", uops,
		    plural(uops), width);
	if (bound != TACT_BOUND_ISSUE &&
	    e->view->prediction->bound[bound] > (double)uops / width + 0.005)
		text_add(e->out, ", and a cycle ends with the loop");
	text_add(e->out, ".\n");
}

static void explain_stack_sync(const struct maker *e, unsigned bound)
{
	const struct tact_isa *isa = tact_arch_isa(tact_block_arch(e->view->block));
	const char *pointer = tact_isa_reg_name(isa, tact_isa_stack_pointer(isa));

	add_title(e, bound);
	text_printf(
		e->out,
		"before these, a uop brings %s up to date, which push, pop, call\nand ret leave to "
		"the stack engine; each waits for the previous one, or for\nwhat wrote %s since:\n",
		pointer, pointer);
	for (size_t i = 0; i < e->listing->n; i++) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;

		cost.size = sizeof(cost);
		if (tact_block_cost(e->view->block, i, &cost) >= 0 &&
		    cost.notes & TACT_NOTE_STACK_SYNC)
			add_insn(e, i);
	}
}

static void explain_blocked(const struct maker *e, unsigned bound)
{
	struct tact_blocked_load blocked;

	add_title(e, bound);
	text_printf(e->out,
		    "these loads need bytes that the last store to them does not all hold, and "
		    "wait\nuntil it has left the store buffer, %u cycles:\n",
		    e->view->arch->params.store_blocked);
	for (size_t cursor = 0; tact_explain_blocked(e->view->block, &cursor, &blocked) == 1;) {
		add_insn(e, blocked.load);
		text_printf(e->out, "       after the store of instruction %u%s\n",
			    blocked.store + 1, blocked.iterations ? ", one iteration earlier" : "");
	}
}

/* One row per bound; a bound without one has no explanation. */
static void (*const explainers[TACT_N_BOUNDS])(const struct maker *e, unsigned bound) = {
	[TACT_BOUND_PREDECODE] = explain_predecoder,
	[TACT_BOUND_DECODE] = explain_decoder,
	[TACT_BOUND_DSB] = explain_width,
	[TACT_BOUND_LSD] = explain_width,
	[TACT_BOUND_ISSUE] = explain_width,
	[TACT_BOUND_PORTS] = explain_ports,
	[TACT_BOUND_PRECEDENCE] = explain_chain,
	[TACT_BOUND_DIVIDER] = explain_divider,
	[TACT_BOUND_STORES] = explain_stores,
	[TACT_BOUND_STACK_SYNC] = explain_stack_sync,
	[TACT_BOUND_FORWARDING] = explain_chain,
	[TACT_BOUND_BLOCKED] = explain_blocked,
};

int view_explanation(const struct maker *m)
{
	const uint32_t bottlenecks = m->view->prediction->bottlenecks;

	for (unsigned b = 0; b < TACT_N_BOUNDS; b++)
		if (bottlenecks >> b & 1 && explainers[b])
			explainers[b](m, b);
	return 0;
}

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

static const char *plural(unsigned n)
{
	return n == 1 ? "" : "s";
}

static void add_title(const struct maker *e, unsigned bound)
{
	text_printf(e->out, "\n%s%s%s: ", e->view->bold,
		    tact_bound_name_on(e->view->arch, (enum tact_bound)bound), e->view->plain);
}

/* What a fused uop is called. */
static const char *uop_word(const struct maker *e)
{
	return e->view->arch->params.terms == PARAMS_TERMS_AMD ? "macro-op" : "fused uop";
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

/* Adds "(7 / 4, rounded up = 2.00)": the arithmetic that gives the bound, which every explanation
 * has once.  tests/property/check_explanations.py reads and evaluates it.
 */
static void add_arithmetic(const struct maker *e, const struct tact_derivation *d)
{
	text_add(e->out, "(");
	if (d->rule == TACT_RULE_TABLE)
		text_printf(e->out, "measured for %u", d->amount);
	else if (d->rule == TACT_RULE_COPIES && d->copies > 1)
		text_printf(e->out, "%u * %u / %u, rounded up, / %u", d->amount, d->copies, d->per,
			    d->copies);
	else if (d->each > 1)
		text_printf(e->out, "%u * %u / %u", d->amount, d->each, d->per);
	else
		text_printf(e->out, "%u / %u%s", d->amount, d->per,
			    d->rule == TACT_RULE_RATIO ? "" : ", rounded up");
	text_add(e->out, " = ");
	text_cycles2(e->out, d->cycles_per_iteration, 0);
	text_add(e->out, ")");
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

static void explain_ports(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	struct tact_port_contention c = TACT_PORT_CONTENTION_INIT;

	if (tact_explain_ports_with(e->view->block, e->view->options, &c) < 0 || !c.n_insns ||
	    !c.ports)
		return;
	add_title(e, bound);
	text_printf(e->out, "%g uop%s can only go to ", c.uops, c.uops == 1 ? "" : "s");
	add_ports(e->out, c.ports);
	text_add(e->out, " ");
	add_arithmetic(e, d);
	text_add(e->out, ":\n");
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

static void explain_chain(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	struct tact_chain c = TACT_CHAIN_INIT;

	if (tact_explain_chain_of(e->view->block, (enum tact_bound)bound, &c) < 0 || !c.n_links ||
	    !c.iterations)
		return;
	add_title(e, bound);
	text_printf(e->out, "a chain that takes %u cycle%s for %u iteration%s ", c.latency,
		    plural(c.latency), c.iterations, plural(c.iterations));
	add_arithmetic(e, d);
	text_add(e->out, ":\n");
	add_links(e, &c);
}

/* Lists the instructions that divide, or the others that do not overlap. */
static void add_exclusive(const struct maker *e, bool divides)
{
	for (size_t i = 0; i < e->listing->n; i++) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;
		size_t start = e->out->size;

		if (tact_block_cost(e->view->block, i, &cost) < 0 || !cost.exclusive ||
		    (cost.divider != 0) != divides)
			continue;
		text_printf(e->out, "  %3zu  %s", i + 1, e->listing->line[i]);
		text_pad(e->out, 9 + e->listing->widest, start);
		text_printf(e->out, "%3u cycle%s\n", cost.exclusive, plural(cost.exclusive));
	}
}

static void explain_divider(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	add_title(e, bound);
	text_printf(e->out,
		    "these occupy the divider, which takes one at a time, %u cycle%s in all ",
		    d->amount, plural(d->amount));
	add_arithmetic(e, d);
	text_add(e->out, ":\n");
	add_exclusive(e, true);
}

static void explain_microcode(const struct maker *e, unsigned bound,
			      const struct tact_derivation *d)
{
	add_title(e, bound);
	if (d->counted == TACT_COUNTED_INSNS) {
		text_printf(e->out,
			    "an instruction waits for everything before it, and everything after "
			    "it waits\nfor that: the pipeline is empty in between, and the longest "
			    "chain ends before\nthe next iteration begins, after %u cycles ",
			    d->amount);
		add_arithmetic(e, d);
		text_add(e->out, ".\n");
		return;
	}
	if (d->counted == TACT_COUNTED_UOPS) {
		text_printf(e->out,
			    "%u iteration%s take%s the front end %u cycles with microcode: its "
			    "sequencer\ndelivers four uops per cycle, and switching to it costs "
			    "some ",
			    d->per, plural(d->per), d->per == 1 ? "s" : "", d->amount);
		add_arithmetic(e, d);
		text_add(e->out, ".\n");
		return;
	}
	text_printf(e->out,
		    "these run one after the other, as fences, locked instructions and much\n"
		    "microcode do, %u cycle%s in all ",
		    d->amount, plural(d->amount));
	add_arithmetic(e, d);
	text_add(e->out, ":\n");
	add_exclusive(e, false);
}

static void explain_binding(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	add_title(e, bound);
	text_printf(
		e->out,
		"a uop gets its port when it is issued, before it is known when it can run. An\n"
		"unlucky port delays a chain, or has more to do than others: %u iterations "
		"take\n%u cycles ",
		d->per, d->amount);
	add_arithmetic(e, d);
	text_add(e->out, ". tact simulate --timeline shows them.\n");
}

static void explain_stores(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	const struct arch_params *p = &e->view->arch->params;

	add_title(e, bound);
	text_printf(e->out,
		    "in one cycle, only stores to the same %d bytes leave the store buffer\n"
		    "together, up to %d in a row; %u iteration%s need%s %u cycle%s ",
		    p->store_line_bytes, p->stores_together, d->per, plural(d->per),
		    d->per == 1 ? "s" : "", d->amount, plural(d->amount));
	add_arithmetic(e, d);
	text_add(e->out, ":\n");
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

static void add_blocks(const struct maker *e, const struct tact_front_end_group *groups, size_t n,
		       unsigned bytes)
{
	size_t n_slow = 0, shown = 0;

	for (size_t i = 0; i < n; i++)
		n_slow += groups[i].cycles > 1;
	if (!n_slow)
		return;
	text_printf(e->out,
		    "At most %d instruction%s per cycle; these %u-byte blocks take more than one "
		    "cycle:\n",
		    e->view->arch->params.predecode_width,
		    plural((unsigned)e->view->arch->params.predecode_width), bytes);
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

static void explain_predecoder(const struct maker *e, unsigned bound,
			       const struct tact_derivation *d)
{
	unsigned iterations, bytes = (unsigned)e->view->arch->params.predecode_block;
	size_t n = 0;
	struct tact_front_end_group *groups = NULL;

	add_title(e, bound);
	if (d->counted == TACT_COUNTED_BYTES) {
		text_printf(e->out, "%u bytes, %u per cycle ", d->amount, d->per);
	} else {
		groups = view_groups(e, tact_explain_predecoder, &n, &iterations);
		text_printf(e->out,
			    "%u iteration%s fill%s %zu block%s of %u bytes, which need%s %u "
			    "cycle%s ",
			    d->per, plural(d->per), d->per == 1 ? "s" : "", n, plural((unsigned)n),
			    bytes, n == 1 ? "s" : "", d->amount, plural(d->amount));
	}
	add_arithmetic(e, d);
	text_add(e->out, ".\n");
	if (groups)
		add_blocks(e, groups, n, bytes);
	free(groups);
}

static void add_groups(const struct maker *e)
{
	unsigned iterations;
	size_t n;
	struct tact_front_end_group *groups = view_groups(e, tact_explain_decoder, &n, &iterations);

	for (size_t i = 0; groups && i < n && add_more(e, i, n); i++) {
		text_printf(e->out, "  %3zu  instruction%s ", i + 1, plural(groups[i].n_insns));
		add_span(e, &groups[i]);
		text_add(e->out, "\n");
	}
	free(groups);
}

static void explain_decoder(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	const unsigned decoders = (unsigned)e->view->arch->params.decoders;

	add_title(e, bound);
	if (d->counted == TACT_COUNTED_INSNS)
		text_printf(e->out, "%u instruction%s for %u decoders ", d->amount,
			    plural(d->amount), decoders);
	else if (d->counted == TACT_COUNTED_COMPLEX_INSNS)
		text_printf(e->out,
			    "%u instruction%s for the complex decoder, which takes one per cycle ",
			    d->amount, plural(d->amount));
	else
		text_printf(e->out, "%u iteration%s keep%s the %u decoders busy for %u cycle%s ",
			    d->per, plural(d->per), d->per == 1 ? "s" : "", decoders, d->amount,
			    plural(d->amount));
	add_arithmetic(e, d);
	text_add(e->out, d->counted == TACT_COUNTED_CYCLES ? ":\n" : ".\n");
	if (d->counted == TACT_COUNTED_CYCLES)
		add_groups(e);
}

/* Adds the lines, each with the window that it belongs to. */
static void add_lines(const struct maker *e)
{
	const unsigned bytes = (unsigned)e->view->arch->params.dsb_window;
	const size_t start = e->view->alignment % bytes;
	unsigned iterations;
	size_t n;
	struct tact_front_end_group *groups = view_groups(e, tact_explain_dsb, &n, &iterations);

	for (size_t i = 0; groups && i < n && add_more(e, i, n); i++) {
		const struct tact_front_end_group *g = &groups[i];
		const size_t insn = g->n_insns ? g->first_insn : g->first_insn - 1;
		const size_t byte = tact_block_offset(e->view->block, g->first_insn) - !g->n_insns;

		text_printf(e->out, "  %3zu  window %zu, ", i + 1, (byte + start) / bytes + 1);
		if (g->n_insns) {
			text_printf(e->out, "instruction%s ", plural(g->n_insns));
			add_span(e, g);
		} else {
			text_printf(e->out, "the rest of instruction %zu", insn + 1);
		}
		if (g->cycles > 1)
			text_printf(e->out, ": %u cycles", g->cycles);
		text_add(e->out, "\n");
	}
	free(groups);
}

/* The DSB of cores that read one line per cycle. */
static void explain_lines(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	const struct arch_params *p = &e->view->arch->params;
	const bool is_amd = p->terms == PARAMS_TERMS_AMD;

	add_title(e, bound);
	text_printf(e->out, "an iteration is read from %u line%s of the %s, one per cycle ",
		    d->amount, plural(d->amount), is_amd ? "op cache" : "DSB");
	add_arithmetic(e, d);
	text_printf(e->out, ".\nA line has up to %d %ss from one aligned window of %d bytes:\n",
		    p->dsb_width, uop_word(e), p->dsb_window);
	add_lines(e);
}

/* The DSB of cores that read two lines per cycle. */
static void explain_pairs(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	const struct arch_params *p = &e->view->arch->params;
	const char *cache = p->terms == PARAMS_TERMS_AMD ? "op cache" : "DSB";

	add_title(e, bound);
	if (d->counted == TACT_COUNTED_LINES) {
		text_printf(e->out, "an iteration is read from %u line%s of the %s, two per cycle ",
			    d->amount, plural(d->amount), cache);
		add_arithmetic(e, d);
		text_printf(e->out, ".\nA line has up to %d %ss.\n", p->dsb_line_uops, uop_word(e));
		return;
	}
	text_printf(e->out, "an iteration is read from the %s in %u cycle%s ", cache, d->amount,
		    plural(d->amount));
	add_arithmetic(e, d);
	text_printf(e->out,
		    ".\nA line has up to %d %ss. An aligned window of %d bytes takes a cycle, and "
		    "two more for every\ntwo lines beyond two that begin in it:\n",
		    p->dsb_line_uops, uop_word(e), p->dsb_window);
	add_lines(e);
}

/* What the uops of a loop that come from DSB or LSD count as: some need two slots. */
static unsigned decoded_uops(const struct maker *e)
{
	unsigned n = 0;

	for (size_t i = 0; i < e->listing->n; i++) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;

		if (tact_block_cost(e->view->block, i, &cost) >= 0)
			n += cost.mite;
	}
	return n;
}

static void explain_dsb(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	unsigned uops = decoded_uops(e);

	if (e->view->arch->params.dsb_line_pairs) {
		explain_pairs(e, bound, d);
		return;
	}
	if (d->counted == TACT_COUNTED_LINES) {
		explain_lines(e, bound, d);
		return;
	}
	add_title(e, bound);
	if (d->counted == TACT_COUNTED_WIDE_UOPS)
		text_printf(e->out, "%u uop%s with a large constant, at most %u per cycle ",
			    d->amount, plural(d->amount), d->per);
	else if (d->amount != uops)
		text_printf(e->out,
			    "%u %s%s per iteration take %u slots, as large constants need two; %u "
			    "slots per cycle",
			    uops, uop_word(e), plural(uops), d->amount, d->per);
	else
		text_printf(e->out, "%u %s%s per iteration, at most %u per cycle", uops,
			    uop_word(e), plural(uops), d->per);
	if (d->rule == TACT_RULE_CEILING)
		text_add(e->out,
			 ".\nThe loop begins and ends in the same 32 bytes: a cycle ends with it");
	if (d->rule == TACT_RULE_TABLE)
		text_add(e->out, ".\nFor small loops this core takes what was measured");
	text_add(e->out, " ");
	add_arithmetic(e, d);
	text_add(e->out, ".\n");
}

static void explain_lsd(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	add_title(e, bound);
	text_printf(e->out, "%u %s%s per iteration, at most %u per cycle.\n", d->amount,
		    uop_word(e), plural(d->amount), d->per);
	if (d->copies > 1)
		text_printf(e->out, "The LSD streams %u copies as one, and a cycle ends with them ",
			    d->copies);
	else
		text_add(e->out, "A cycle ends with the loop ");
	add_arithmetic(e, d);
	text_add(e->out, ".\n");
}

static void explain_issue(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	add_title(e, bound);
	text_printf(e->out, "%u %s%s per iteration, at most %u per cycle ", d->amount, uop_word(e),
		    plural(d->amount), d->per);
	add_arithmetic(e, d);
	text_add(e->out, ".\n");
}

static void explain_stack_sync(const struct maker *e, unsigned bound,
			       const struct tact_derivation *d)
{
	const struct tact_isa *isa = tact_arch_isa(tact_block_arch(e->view->block));
	const char *pointer = tact_isa_reg_name(isa, tact_isa_stack_pointer(isa));

	add_title(e, bound);
	if (d->counted == TACT_COUNTED_INSNS) {
		text_printf(e->out,
			    "uops that join a register with its high byte issue alone: an "
			    "iteration takes\n%u cycles ",
			    d->amount);
		add_arithmetic(e, d);
		text_add(e->out, ".\n");
		return;
	}
	text_printf(
		e->out,
		"before these, a uop brings %s up to date, which push, pop, call\nand ret leave "
		"to the stack engine; each waits for the previous one, or for\nwhat wrote %s "
		"since. ",
		pointer, pointer);
	if (d->counted == TACT_COUNTED_UOPS)
		text_printf(e->out, "With them, %u %ss are issued, %u per cycle ", d->amount,
			    uop_word(e), d->per);
	else
		text_printf(e->out, "Together they take %u cycle%s ", d->amount, plural(d->amount));
	add_arithmetic(e, d);
	text_add(e->out, ":\n");
	for (size_t i = 0; i < e->listing->n; i++) {
		struct tact_insn_cost cost = TACT_INSN_COST_INIT;

		if (tact_block_cost(e->view->block, i, &cost) >= 0 &&
		    cost.notes & TACT_NOTE_STACK_SYNC)
			add_insn(e, i);
	}
}

static void explain_blocked(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	struct tact_blocked_load blocked;

	add_title(e, bound);
	text_printf(e->out,
		    "these loads need bytes that the last store to them does not all hold, and "
		    "wait\nuntil it has left the store buffer, %u cycles.\n"
		    "In %u iteration%s there %s %u such wait%s%s ",
		    d->each, d->per, plural(d->per), d->amount == 1 ? "is" : "are", d->amount,
		    plural(d->amount), d->amount == 1 ? "" : ", one after the other");
	add_arithmetic(e, d);
	text_add(e->out, ":\n");
	for (size_t cursor = 0; tact_explain_blocked(e->view->block, &cursor, &blocked) == 1;) {
		add_insn(e, blocked.load);
		text_printf(e->out, "       after the store of instruction %u%s\n",
			    blocked.store + 1, blocked.iterations ? ", one iteration earlier" : "");
	}
}

static void explain_loads(const struct maker *e, unsigned bound, const struct tact_derivation *d)
{
	add_title(e, bound);
	text_printf(e->out,
		    "the loads of an iteration are in flight for %u cycles in all, those in which "
		    "they\nwait for their addresses included; %u loads can be in flight at a time ",
		    d->amount, d->per);
	add_arithmetic(e, d);
	text_add(e->out, ".\n");
}

/* One row per bound. */
static void (*const explainers[TACT_N_BOUNDS])(const struct maker *e, unsigned bound,
					       const struct tact_derivation *d) = {
	[TACT_BOUND_PREDECODE] = explain_predecoder,
	[TACT_BOUND_DECODE] = explain_decoder,
	[TACT_BOUND_DSB] = explain_dsb,
	[TACT_BOUND_LSD] = explain_lsd,
	[TACT_BOUND_ISSUE] = explain_issue,
	[TACT_BOUND_PORTS] = explain_ports,
	[TACT_BOUND_PRECEDENCE] = explain_chain,
	[TACT_BOUND_DIVIDER] = explain_divider,
	[TACT_BOUND_STORES] = explain_stores,
	[TACT_BOUND_STACK_SYNC] = explain_stack_sync,
	[TACT_BOUND_FORWARDING] = explain_chain,
	[TACT_BOUND_BLOCKED] = explain_blocked,
	[TACT_BOUND_MICROCODE] = explain_microcode,
	[TACT_BOUND_BINDING] = explain_binding,
	[TACT_BOUND_LOADS] = explain_loads,
};

int view_explanation(const struct maker *m)
{
	const struct tact_prediction *x = m->view->prediction;
	const uint32_t bounds = m->view->explains_all ? x->applies : x->bottlenecks;

	for (unsigned b = 0; b < TACT_N_BOUNDS; b++) {
		struct tact_derivation d = TACT_DERIVATION_INIT;

		if (!(bounds >> b & 1) || !explainers[b])
			continue;
		if (tact_explain_bound(m->view->block, m->view->options, (enum tact_bound)b, &d) <
		    0)
			return -TACT_E_NOMEM;
		if (d.amount)
			explainers[b](m, b, &d);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * Subgradients of FACILE.  The prediction is a maximum of bounds, each a ratio of sums, so that it
 * depends on few parameters: the latencies of the critical cycle, the uops of the critical set of
 * ports, the issued uops, and cycles that do not overlap.
 */
#include <string.h>

#include <tact/predict.h>

#include "block/block.h"
#include "tune/tune.h"

struct slopes {
	struct tact_tuner *t;
	const struct tune_table *table;
	struct tact_block *block;
	struct tune_slope *list;
	int n;
};

static void add(struct slopes *s, size_t param, double slope)
{
	for (int i = 0; i < s->n; i++) {
		if (s->list[i].param == param) {
			s->list[i].slope += slope;
			return;
		}
	}
	if (s->n < TUNE_MAX_SLOPES)
		s->list[s->n++] = (struct tune_slope){(uint32_t)param, slope};
}

static void add_of(struct slopes *s, const struct tune_site *site, unsigned kind, unsigned index,
		   double slope)
{
	for (uint32_t i = 0; site && i < site->n_params; i++) {
		const struct tune_param *p = &s->t->params[site->first_param + i];

		if (p->kind == kind && p->index == index)
			add(s, site->first_param + i, slope);
	}
}

static void add_core(struct slopes *s, const char *name, double slope)
{
	char text[80];

	for (size_t i = 0; i < s->t->n_globals; i++) {
		tune_param_name(s->table, &s->t->params[i], text, sizeof(text));
		if (!strcmp(text, name))
			add(s, i, slope);
	}
}

/* The situation in which an instruction's uops are issued and, for a move that may be eliminated,
 * the one in which it is executed.
 */
static const struct tune_site *issue_site(struct slopes *s, size_t i)
{
	const struct tact_insn *insn = s->block->insns[i].insn;

	return tune_site_of(s->t, insn->form, tune_situation(s->block->arch, insn));
}

static const struct tune_site *execute_site(struct slopes *s, size_t i)
{
	const struct block_insn *bi = &s->block->insns[i];
	struct arch_view view;

	if (bi->lowered->eliminated &&
	    arch_view_of(s->block->arch, bi->insn->form, ARCH_SAME, &view))
		return tune_site_of(s->t, bi->insn->form, ARCH_SAME);
	return issue_site(s, i);
}

/* Returns the number of a latency in the form's list, or -1. */
static int latency_index(struct slopes *s, const struct tune_site *site, uint8_t from, uint8_t to)
{
	struct arch_view view;

	if (!site ||
	    !arch_view_of(s->block->arch, site->form, (enum arch_situation)site->situation, &view))
		return -1;
	for (int i = 0; view.latency[i].from != ARCH_OP_END; i++)
		if (view.latency[i].from == from && view.latency[i].to == to)
			return i;
	return -1;
}

/* A load from a store that is still in flight takes the forwarding latency, plus what the
 * instruction does after its load (lib/block/lower_memory.c, lower_forward_row).
 */
static void add_forwarded(struct slopes *s, const struct tact_chain_link *link, double slope)
{
	const struct block_insn *bi = &s->block->insns[link->insn];
	const struct lowered_value *out = &bi->lowered->out[link->output];
	bool vector = out->kind == VALUE_REG && !isa_is_general(s->block->arch->isa, out->key);
	uint8_t from, to;
	int index;

	add_core(s, vector ? "store_forward_vec" : "store_forward", slope);
	if (out->kind == VALUE_MEMORY)
		return; /* ends with its operation, or after one cycle */
	block_latency_name(bi->insn, bi->lowered, link->input, link->output, &from, &to);
	index = latency_index(s, issue_site(s, link->insn), ARCH_OP_BASE | (from & 15), to);
	if (index >= 0)
		add_of(s, issue_site(s, link->insn), TUNE_LATENCY, (unsigned)index, slope);
}

static int chain_slopes(struct slopes *s)
{
	struct tact_chain chain = TACT_CHAIN_INIT;
	int status = tact_explain_chain(s->block, &chain);

	if (status < 0 || !chain.iterations)
		return status;
	for (size_t k = 0; k < chain.n_links; k++) {
		const struct tact_chain_link *link = &chain.links[k];
		const struct block_insn *bi = &s->block->insns[link->insn];
		const struct block_lowered *l = bi->lowered;
		unsigned cell = (unsigned)link->input * l->n_out + link->output;
		double slope = 1.0 / chain.iterations;
		uint8_t from, to;
		int index;

		if (!link->latency)
			continue; /* eliminated, or only an address that a store waits for */
		if (l->forwarded[cell] != l->latency[cell]) {
			add_forwarded(s, link, slope);
			continue;
		}
		block_latency_name(bi->insn, l, link->input, link->output, &from, &to);
		index = latency_index(s, execute_site(s, link->insn), from, to);
		if (index >= 0)
			add_of(s, execute_site(s, link->insn), TUNE_LATENCY, (unsigned)index,
			       slope);
		/* The way from an address includes the load. */
		if (l->in[link->input].kind == VALUE_ADDRESS && l->n_loads &&
		    !(l->out[link->output].kind == VALUE_REG &&
		      !isa_is_general(s->block->arch->isa, l->out[link->output].key)))
			add_core(s, "load_latency", slope);
	}
	return 0;
}

static int port_slopes(struct slopes *s)
{
	struct tact_port_contention c = TACT_PORT_CONTENTION_INIT;
	int status = tact_explain_ports(s->block, &c);
	unsigned size;

	if (status < 0)
		return status;
	size = (unsigned)__builtin_popcount(c.ports);
	for (size_t k = 0; k < c.n_insns && size; k++) {
		const struct tune_site *site = execute_site(s, c.insns[k]);
		struct arch_view view;

		if (!site || !arch_view_of(s->block->arch, site->form,
					   (enum arch_situation)site->situation, &view))
			continue;
		for (unsigned i = 0; view.ports[i].count; i++) {
			if (view.ports[i].mask & ~c.ports)
				continue;
			add_of(s, site, TUNE_PORT_COUNT, i, 1.0 / size);
			add_of(s, site, TUNE_PORT_SET, i, 1.0 / size); /* any other set: less */
		}
	}
	return 0;
}

static void issue_slopes(struct slopes *s, double cycles)
{
	double width = s->block->arch->params.issue_width;

	for (size_t i = 0; i < s->block->n_insns; i++)
		if (!s->block->insns[i].fused_prev)
			add_of(s, issue_site(s, i), TUNE_FUSED, 0, 1 / width);
	add_core(s, "issue_width", -cycles / width);
}

static void hold_slopes(struct slopes *s)
{
	for (size_t i = 0; i < s->block->n_insns; i++)
		if (s->block->insns[i].lowered->divider || s->block->insns[i].lowered->cycles)
			add_of(s, issue_site(s, i), TUNE_HOLD, 0, 1);
}

int tune_gradient(struct tune_worker *w, uint32_t row, double *cycles, struct tune_slope *list)
{
	struct slopes s = {.t = w->t, .table = &w->table, .block = w->block, .list = list};
	const struct tune_row *r = &w->t->rows.rows[row];
	struct tact_estimate x = {.size = sizeof(x)};
	int status = tact_block_load(w->block, w->t->rows.code + r->code, r->size, NULL);

	if (status >= 0)
		status = tact_model_estimate(w->estimator, w->block, &x);
	if (status < 0)
		return status;
	*cycles = x.cycles_per_iteration;
	/* One of several equal bounds: any of them gives a subgradient. */
	if (!x.bottlenecks)
		return 0;
	switch (__builtin_ctz(x.bottlenecks)) {
	case TACT_BOUND_PRECEDENCE:
	case TACT_BOUND_FORWARDING:
		status = chain_slopes(&s);
		break;
	case TACT_BOUND_PORTS:
		status = port_slopes(&s);
		break;
	case TACT_BOUND_ISSUE:
	case TACT_BOUND_STACK_SYNC:
		issue_slopes(&s, *cycles);
		break;
	case TACT_BOUND_DIVIDER:
		hold_slopes(&s);
		break;
	default: /* the front end, and stores: what is learned of them is below */
		break;
	}
	return status < 0 ? status : s.n;
}

/* SPDX-License-Identifier: MIT
 *
 * The uops of an instruction that compute.  Results that do not wait for the same inputs, or not
 * for as long, have different uops, as far as there are uops: a pointer that moves on does not wait
 * for what is loaded through it, nor the mask of a gather for its elements.
 */
#include "sim/draft.h"

enum { MAX_GROUPS = LOWERED_MAX_OUT };

/* Outputs that one uop makes. */
struct group {
	uint8_t outputs;
	bool is_loaded;	 /* waits for the loads */
	uint32_t inputs; /* bit k: waits for input k */
	unsigned uop;	 /* that makes it */
};

/* Bits of the outputs that are registers or flags. */
static unsigned made_outputs(const struct draft *d)
{
	unsigned outputs = 0;

	for (unsigned o = 0; o < d->l->n_out; o++)
		outputs |= (unsigned)(d->l->out[o].kind != VALUE_MEMORY) << o;
	return outputs;
}

/* A register that is written whatever is loaded: the tables have longer latencies from the address
 * to other results.
 */
static bool is_unloaded(const struct draft *d, unsigned o)
{
	const struct block_lowered *l = d->l;
	unsigned own = 0, longest = 0;

	if (l->out[o].kind != VALUE_REG)
		return false;
	for (unsigned k = 0; k < l->n_in; k++)
		for (unsigned q = 0; q < l->n_out && l->in[k].kind == VALUE_ADDRESS; q++) {
			unsigned latency = draft_latency(d, k, q);

			longest = latency > longest ? latency : longest;
			own = q == o && latency > own ? latency : own;
		}
	return own <= 1 && longest > 1;
}

/* Tells whether an output waits for an input by itself, not by way of a load. */
static bool waits_for(const struct draft *d, unsigned k, unsigned o, bool is_loaded)
{
	const struct lowered_value *in = &d->l->in[k];

	if (in->kind == VALUE_MEMORY || !draft_latency(d, k, o))
		return false;
	if (d->for_stream && d->l->merged == k + 1)
		return false; /* most code keeps zeros there */
	if (in->kind != VALUE_ADDRESS || (!d->n_load && !d->n_sta))
		return true;
	return !is_loaded && d->l->out[o].kind == VALUE_REG && in->stack != STACK_ENGINE;
}

/* Tells whether two outputs fit one uop: they wait for the same, one of them always by as many
 * cycles more.
 */
static bool is_alike(const struct draft *d, const struct group *a, const struct group *b)
{
	const unsigned o = (unsigned)__builtin_ctz(a->outputs),
		       q = (unsigned)__builtin_ctz(b->outputs);
	int more = INT16_MAX;

	if (a->inputs != b->inputs || a->is_loaded != b->is_loaded)
		return false;
	for (uint32_t left = a->inputs; left; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctz(left);
		int shift = (int)draft_latency(d, k, q) - (int)draft_latency(d, k, o);

		if (more != INT16_MAX && shift != more)
			return false;
		more = shift;
	}
	return true;
}

/* Returns the latency of the slowest of these outputs from an input, at least 1. */
static unsigned level_of(const struct draft *d, unsigned outputs, unsigned in)
{
	unsigned level = 1;

	for (; outputs; outputs &= outputs - 1) {
		unsigned latency = draft_latency(d, in, (unsigned)__builtin_ctz(outputs));

		level = latency > level ? latency : level;
	}
	return level;
}

/* The same from the slowest part of an address. */
static unsigned level_of_addresses(const struct draft *d, unsigned outputs)
{
	unsigned level = 0;

	for (unsigned k = 0; k < d->l->n_in; k++)
		if (d->l->in[k].kind == VALUE_ADDRESS && level_of(d, outputs, k) > level)
			level = level_of(d, outputs, k);
	return level;
}

static void join(struct group *to, const struct group *from)
{
	to->outputs |= from->outputs;
	to->inputs |= from->inputs;
	to->is_loaded |= from->is_loaded;
}

/* A register that is just loaded is ready when its load is: no other uop makes it, if there is one
 * that makes something else.
 */
static unsigned leave_to_loads(struct draft *d, struct group *groups, unsigned n)
{
	struct sim_uop *load = &d->p->uops[d->insn->first_uop + d->n_load - 1];
	unsigned kept = 0;

	for (unsigned g = 0; g < n; g++) {
		unsigned o = (unsigned)__builtin_ctz(groups[g].outputs);

		if (n == 1 || !groups[g].is_loaded || groups[g].inputs ||
		    d->l->out[o].kind != VALUE_REG ||
		    sim_draft_load_latency(d) < level_of_addresses(d, groups[g].outputs)) {
			groups[kept++] = groups[g];
			continue;
		}
		load->makes |= groups[g].outputs;
		for (unsigned left = groups[g].outputs; left; left &= left - 1)
			d->insn->output_latency[__builtin_ctz(left)] = load->latency;
	}
	return kept;
}

/* Sorts the outputs into groups, at most as many as there are uops, and returns their number. */
static unsigned find_groups(struct draft *d, struct group *groups)
{
	unsigned n = 0, g;

	for (unsigned outputs = made_outputs(d); outputs; outputs &= outputs - 1) {
		unsigned o = (unsigned)__builtin_ctz(outputs);
		struct group one = {.outputs = (uint8_t)(1u << o)};

		one.is_loaded = d->n_load && !is_unloaded(d, o);
		for (unsigned k = 0; k < d->l->n_in; k++)
			one.inputs |= (uint32_t)waits_for(d, k, o, one.is_loaded) << k;
		for (g = 0; g < n && !is_alike(d, &groups[g], &one); g++)
			;
		if (g == n)
			groups[n++] = one;
		join(&groups[g], &one);
	}
	if (n > 1 && d->n_load)
		n = leave_to_loads(d, groups, n);
	for (; n > d->n_alu; n--) /* too few uops: the last ones share one */
		join(&groups[n - 2], &groups[n - 1]);
	if (n)
		return n;
	groups[0] = (struct group){.is_loaded = d->n_load != 0};
	for (unsigned k = 0; k < d->l->n_in; k++)
		if (d->l->in[k].kind == VALUE_REG || d->l->in[k].kind == VALUE_FLAGS)
			groups[0].inputs |= 1u << k;
	return 1;
}

/* Fills `levels` with the different latencies from the inputs of a group, ascending, and returns
 * their number.
 */
static unsigned find_levels(const struct draft *d, const struct group *g, unsigned *levels)
{
	unsigned n = 0;

	for (uint32_t left = g->inputs; left; left &= left - 1) {
		unsigned level = level_of(d, g->outputs, (unsigned)__builtin_ctz(left)), i, at;

		for (at = 0; at < n && levels[at] < level; at++)
			;
		if (at < n && levels[at] == level)
			continue;
		for (i = n++; i > at; i--)
			levels[i] = levels[i - 1];
		levels[at] = level;
	}
	return n;
}

/* Results of a group from the inputs that its uop waits for itself, or from the loads. */
static void set_output_latencies(struct draft *d, const struct group *g, unsigned least,
				 unsigned after)
{
	for (unsigned o = 0; o < d->l->n_out; o++) {
		unsigned longest = 0;

		if (!(g->outputs >> o & 1))
			continue;
		for (uint32_t left = g->inputs; left; left &= left - 1) {
			unsigned k = (unsigned)__builtin_ctz(left);

			if (level_of(d, g->outputs, k) == least && draft_latency(d, k, o) > longest)
				longest = draft_latency(d, k, o);
		}
		if (!longest)
			longest = after ? after : 1;
		d->insn->output_latency[o] = (uint16_t)longest;
	}
}

/* The way from loaded data to the results may be longer than from the inputs that the uop waits
 * for.
 */
static unsigned missing_after(const struct draft *d, const struct group *g, unsigned after)
{
	unsigned longest = 0;

	for (unsigned o = 0; o < d->l->n_out; o++)
		if (g->outputs >> o & 1 && d->insn->output_latency[o] > longest)
			longest = d->insn->output_latency[o];
	return longest && after > longest ? after - longest : 0;
}

/* Adds the uop that makes a group.  Those of `helpers` before it take the inputs with longer
 * latency, each those of one level, and pass a value on; what is slower still waits longer.
 */
static void add_group(struct draft *d, struct group *g, params_ports maker,
		      const params_ports *helpers, unsigned *n_helpers)
{
	unsigned levels[LOWERED_MAX_IN], n = find_levels(d, g, levels), first = d->insn->n_uops;
	unsigned after = g->is_loaded ? sim_draft_after_load(d, g->outputs) : 0;
	struct sim_uop *u;

	if (!n)
		levels[n++] = after ? after : 1;
	*n_helpers = n - 1 < *n_helpers ? n - 1 : *n_helpers;
	for (unsigned s = 0; s < *n_helpers; s++) {
		u = sim_draft_uop(d, SIM_ALU, helpers[s]);
		u->latency = (uint16_t)(levels[s + 1] - levels[0]);
		for (uint32_t left = g->inputs; left; left &= left - 1) {
			unsigned k = (unsigned)__builtin_ctz(left),
				 level = level_of(d, g->outputs, k);

			if (level == levels[s + 1] ||
			    (s + 1 == *n_helpers && level > levels[s + 1]))
				draft_wait(d, u, SIM_FROM_INPUT, k, level - levels[s + 1]);
		}
	}
	g->uop = d->insn->n_uops;
	u = sim_draft_uop(d, SIM_ALU, maker);
	u->makes = g->outputs;
	for (uint32_t left = g->inputs; left; left &= left - 1) {
		unsigned k = (unsigned)__builtin_ctz(left), level = level_of(d, g->outputs, k);

		if (level == levels[0] || !*n_helpers)
			draft_wait(d, u, SIM_FROM_INPUT, k, level - levels[0]);
	}
	for (unsigned s = 0; s < *n_helpers; s++)
		draft_wait(d, u, SIM_FROM_UOP, first + s,
			   d->p->uops[d->insn->first_uop + first + s].latency);
	set_output_latencies(d, g, levels[0], after);
	for (unsigned i = 0; i < d->n_load && g->is_loaded; i++)
		draft_wait(d, u, SIM_FROM_UOP, i,
			   d->p->uops[d->insn->first_uop + i].latency + missing_after(d, g, after));
	u->latency = g->outputs ? d->insn->output_latency[__builtin_ctz(g->outputs)] : 1;
}

/* What is stored is the first result that depends on what was loaded or on a register; a pointer
 * that moves on is none.
 */
static void find_stored(struct draft *d, const struct group *groups, unsigned n)
{
	for (unsigned g = n; g-- > 0;) {
		bool is_data = groups[g].is_loaded || (!d->n_load && !groups[g].outputs);

		for (uint32_t left = groups[g].inputs; left && !d->n_load; left &= left - 1)
			is_data |= d->l->in[__builtin_ctz(left)].kind != VALUE_ADDRESS;
		if (is_data) {
			d->computes = (int)groups[g].uop;
			d->computed = groups[g].inputs;
		}
	}
}

void sim_draft_compute(struct draft *d)
{
	struct group groups[MAX_GROUPS];
	unsigned n = find_groups(d, groups), spare = d->n_alu - n, next = 1;

	for (unsigned g = 0; g < n; g++) {
		unsigned helpers = spare;
		/* Its own port comes after those of its helpers, but for the first group. */
		params_ports ports = d->alu[0];

		if (g) {
			unsigned levels[LOWERED_MAX_IN];
			unsigned slow = find_levels(d, &groups[g], levels);

			slow = slow ? slow - 1 : 0;
			ports = d->alu[next + (slow < spare ? slow : spare)];
		}
		add_group(d, &groups[g], ports, d->alu + next, &helpers);
		spare -= helpers;
		next += helpers + (g != 0);
		/* Measured throughput where the divider does not explain it, as in FACILE's bound.
		 */
		if (!g && d->l->divider)
			d->p->uops[d->insn->first_uop + groups[0].uop].divider =
				(uint16_t)block_exclusive(d->l);
	}
	for (; next < d->n_alu; next++) {
		struct sim_uop *u = sim_draft_uop(d, SIM_ALU, d->alu[next]);

		for (uint32_t left = groups[0].inputs; left; left &= left - 1)
			draft_wait(d, u, SIM_FROM_INPUT, (unsigned)__builtin_ctz(left), 0);
	}
	find_stored(d, groups, n);
}

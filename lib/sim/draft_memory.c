/* SPDX-License-Identifier: MIT
 *
 * The uops of an instruction that load and store, and when a load has what a store has made.
 */
#include "sim/draft.h"

static bool is_vector_output(const struct draft *d, unsigned o)
{
	const struct tact_isa *isa = d->block->arch->isa;

	return d->l->out[o].kind == VALUE_REG &&
	       (isa_is_vector(isa, d->l->out[o].key) || isa_is_turning(isa, d->l->out[o].key));
}

/* LLVM says of each result when it is there: the last one is what was loaded. */
static unsigned longest_latency(const struct draft *d)
{
	unsigned longest = 1;

	for (unsigned k = 0; k < d->l->n_in; k++)
		for (unsigned o = 0; o < d->l->n_out; o++)
			if (d->l->out[o].kind != VALUE_MEMORY && draft_latency(d, k, o) > longest)
				longest = draft_latency(d, k, o);
	return longest;
}

unsigned sim_draft_load_latency(const struct draft *d)
{
	const struct arch_params *p = &d->block->arch->params;

	/* A given latency is that of the whole instruction: its last uop has it. */
	if (d->bi->latency)
		return d->n_alu ? 0 : d->bi->latency;
	if (d->l->advances)
		return longest_latency(d);
	for (unsigned o = 0; o < d->l->n_out; o++)
		if (is_vector_output(d, o))
			return (unsigned)p->load_latency_vec;
	return (unsigned)p->load_latency;
}

/* On a CPU of LLVM, one uop may be all of an instruction: it waits for every operand of a result. */
static void add_operands(struct draft *d, struct sim_uop *u)
{
	for (unsigned k = 0; k < d->l->n_in && d->l->advances; k++) {
		bool is_waited_for = false;

		if (d->l->in[k].kind != VALUE_REG && d->l->in[k].kind != VALUE_FLAGS)
			continue;
		for (unsigned o = 0; o < d->l->n_out; o++)
			is_waited_for |= draft_latency(d, k, o) != 0;
		if (is_waited_for)
			draft_wait(d, u, SIM_FROM_INPUT, k, 0);
	}
}

/* An atomic instruction of one uop, which stores a result of what it loads. */
static bool exchanges_memory(const struct draft *d)
{
	return d->l->advances && d->n_load && d->l->n_stores && !d->n_alu && !d->n_sta && !d->n_std;
}

/* What it loads; it does not wait for that. */
static void add_memory(struct draft *d, struct sim_uop *u)
{
	for (unsigned k = 0; k < d->l->n_in; k++)
		if (d->l->in[k].kind == VALUE_MEMORY) {
			d->p->sources[d->p->n_sources++] =
				(struct sim_source){SIM_FROM_INPUT, (uint8_t)k, 0};
			u->n_memory++;
		}
}

/* Where LLVM has no unit that computes, a load takes all that its results depend on: masks, indices. */
static bool load_waits(const struct draft *d, unsigned k)
{
	if (d->l->in[k].kind == VALUE_ADDRESS)
		return true;
	if (d->l->in[k].kind == VALUE_MEMORY || !d->l->advances || d->n_alu)
		return false;
	for (unsigned o = 0; o < d->l->n_out; o++)
		if (draft_latency(d, k, o))
			return true;
	return false;
}

void sim_draft_loads(struct draft *d)
{
	unsigned latency = sim_draft_load_latency(d);

	d->insn->loads_at_once = d->n_load > 1 && d->l->advances;
	for (unsigned i = 0; i < d->n_load; i++) {
		struct sim_uop *u = sim_draft_uop(d, SIM_LOAD, d->load[i]);

		u->in_window = i < d->l->n_loads;
		d->insn->n_window += u->in_window;
		u->latency = (uint16_t)(latency + d->bi->load_extra - d->bi->fast_load);
		for (unsigned k = 0; k < d->l->n_in; k++)
			if (load_waits(d, k))
				draft_wait(d, u, SIM_FROM_INPUT, k, 0);
		add_memory(d, u);
		if (d->n_alu || i + 1 < d->n_load)
			continue;
		/* A plain load: its results come from the table. */
		u->makes = 0xff;
		for (unsigned o = 0; o < d->l->n_out; o++) {
			unsigned longest = latency;

			for (unsigned k = 0; k < d->l->n_in; k++)
				if (d->l->in[k].kind == VALUE_ADDRESS &&
				    draft_latency(d, k, o) > longest)
					longest = draft_latency(d, k, o);
			d->insn->output_latency[o] =
				(uint16_t)(longest + d->bi->load_extra - d->bi->fast_load);
		}
	}
}

unsigned sim_draft_after_load(const struct draft *d, unsigned outputs)
{
	unsigned load = sim_draft_load_latency(d), after = 1;

	for (unsigned k = 0; k < d->l->n_in; k++)
		for (unsigned o = 0; o < d->l->n_out && d->l->in[k].kind == VALUE_ADDRESS; o++)
			if (outputs >> o & 1 && d->l->out[o].kind != VALUE_MEMORY &&
			    draft_latency(d, k, o) > load + after)
				after = draft_latency(d, k, o) - load;
	return after;
}

/* Store-to-load forwarding: the core's latency, or the table's for this instruction if that is
 * longer (read-modify-write on older cores).
 */
static void set_forward(struct draft *d)
{
	const struct arch_params *p = &d->block->arch->params;
	unsigned load = sim_draft_load_latency(d),
		 after = d->n_alu ? sim_draft_after_load(d, ~0u) : 0;
	bool vector = load > (unsigned)p->load_latency;
	unsigned forward = (unsigned)(vector ? p->store_forward_vec : p->store_forward);

	if (d->l->load_operand != TACT_REG_NONE)
		forward += block_wide_forward(p, d->bi->insn->operand[d->l->load_operand].bits);
	for (unsigned k = 0; k < d->l->n_in; k++) {
		if (d->l->in[k].kind != VALUE_MEMORY)
			continue;
		for (unsigned o = 0; o < d->l->n_out; o++) {
			const bool is_known = d->l->advances != NULL,
				   to_memory = d->l->out[o].kind == VALUE_MEMORY;
			unsigned cycles =
				is_known ? draft_forwarded(d, k, o) : draft_latency(d, k, o);
			unsigned behind = !to_memory ? after : is_known && d->computes < 0 ? 0 : 1;

			if (cycles > forward + behind)
				forward = cycles - behind;
		}
	}
	if (d->l->forward_gain < forward)
		forward -= d->l->forward_gain;
	d->insn->forward = (uint16_t)(d->bi->latency ? load : forward);
}

/* What an atomic instruction of one uop stores is there some cycles after its load was executed; see
 * finish_load in schedule.c.
 */
static void exchange_memory(struct draft *d)
{
	struct sim_uop *u = &d->p->uops[d->insn->first_uop + d->n_load - 1];

	d->insn->exchanges_memory = true;
	d->insn->n_window -= u->in_window;
	u->in_window = false;
	for (unsigned o = 0; o < d->l->n_out; o++) {
		unsigned cycles = u->latency;

		if (d->l->out[o].kind != VALUE_MEMORY)
			continue;
		for (unsigned k = 0; k < d->l->n_in; k++)
			if (d->l->in[k].kind == VALUE_MEMORY && draft_forwarded(d, k, o) > cycles)
				cycles = draft_forwarded(d, k, o);
		cycles += u->latency;
		d->insn->output_latency[o] =
			(uint16_t)(cycles > d->insn->forward ? cycles - d->insn->forward : 0);
	}
}

void sim_draft_forward(struct draft *d)
{
	set_forward(d);
	if (exchanges_memory(d))
		exchange_memory(d);
}

/* What a store's data are made of: a computed result, or what was loaded; and inputs that no result
 * waits for.
 */
static void add_stored(struct draft *d, struct sim_uop *u, unsigned o)
{
	if (d->computes >= 0)
		draft_wait(d, u, SIM_FROM_UOP, (unsigned)d->computes,
			   d->l->before_store > 1 ? d->l->before_store : 1);
	else if (d->n_load)
		draft_wait(d, u, SIM_FROM_UOP, d->n_load - 1,
			   d->p->uops[d->insn->first_uop + d->n_load - 1].latency);
	for (unsigned k = 0; k < d->l->n_in; k++)
		if ((d->l->in[k].kind == VALUE_REG || d->l->in[k].kind == VALUE_FLAGS) &&
		    !(d->computed >> k & 1) && (d->computes < 0 || draft_latency(d, k, o)))
			draft_wait(d, u, SIM_FROM_INPUT, k, 0);
}

/* The registers that a store writes, if it has no uop that computes: a pointer that moves on, or
 * whether it has stored.
 */
static void add_results(struct draft *d, struct sim_uop *u, bool is_whole)
{
	u->makes = 0xff;
	for (unsigned o = 0; o < d->l->n_out; o++) {
		unsigned longest = 1;

		for (unsigned k = 0; k < d->l->n_in; k++)
			if (draft_latency(d, k, o) > longest)
				longest = draft_latency(d, k, o);
		d->insn->output_latency[o] = (uint16_t)longest;
		if (d->l->out[o].kind != VALUE_MEMORY && !is_whole) {
			add_operands(d, u);
			is_whole = true;
		}
	}
}

void sim_draft_stores(struct draft *d)
{
	unsigned o = 0;

	for (unsigned k = 0; k < d->l->n_out; k++)
		o = d->l->out[k].kind == VALUE_MEMORY ? k : o;
	for (unsigned i = 0; i < d->n_sta; i++) {
		const bool is_whole = i >= d->n_std && d->l->advances; /* one uop for both */
		struct sim_uop *u =
			sim_draft_uop(d, is_whole ? SIM_STORE_DATA : SIM_STORE_ADDRESS, d->sta[i]);

		for (unsigned k = 0; k < d->l->n_in; k++)
			if (d->l->in[k].kind == VALUE_ADDRESS)
				draft_wait(d, u, SIM_FROM_INPUT, k, 0);
		d->insn->n_store_uops++;
		if (is_whole)
			add_stored(d, u, o);
		if (!i && d->l->advances && !d->n_load && !d->n_alu)
			add_results(d, u, is_whole);
		if (i >= d->n_std)
			continue;
		d->insn->n_store_uops++;
		add_stored(d, sim_draft_uop(d, SIM_STORE_DATA, d->std[i]), o);
	}
}

/* SPDX-License-Identifier: MIT
 *
 * Lowers an instruction of a CPU of which LLVM has a model: its facts come from the instruction's
 * bytes and not from its form.  When an operand is needed depends on who made it (read-advances), so
 * that waits for the dependence graph: block_take_advances.
 */
#include <stdlib.h>
#include <string.h>

#include "arch/arch_llvm.h"
#include "block/lower.h"

/* What LLVM says about a register that is written; NULL: nothing. */
static const struct llvm_write *find_write(const struct llvm_facts *f, unsigned key)
{
	const struct llvm_write *found = NULL;

	for (unsigned i = 0; i < f->n_writes; i++)
		for (unsigned s = 0; s < f->write[i].n_spread; s++)
			if (f->write[i].spread[s] == key &&
			    (!found || f->write[i].latency > found->latency))
				found = &f->write[i];
	return found;
}

static const struct llvm_read *find_read(const struct llvm_facts *f, unsigned key, unsigned nth)
{
	for (unsigned i = 0; i < f->n_reads; i++)
		for (unsigned s = 0; s < f->read[i].n_spread; s++)
			if (f->read[i].spread[s] == key && !nth--)
				return &f->read[i];
	return NULL;
}

static unsigned output_latency(const struct draft *d, const struct llvm_facts *f, unsigned o)
{
	const struct llvm_write *w = find_write(f, d->out[o].key);
	const unsigned cycles = d->out[o].kind == VALUE_MEMORY || !w ? f->latency : w->latency;

	return cycles ? cycles : 1;
}

/* Takes out the inputs that nobody waits for. */
static void drop_independent(struct draft *d, const struct llvm_facts *f)
{
	unsigned kept = 0;

	for (unsigned k = 0; k < d->l->n_in; k++) {
		const struct llvm_read *r =
			d->in[k].kind == VALUE_REG ? find_read(f, d->in[k].key, 0) : NULL;

		if (r && r->is_independent)
			d->l->idiom = true;
		else
			d->in[kept++] = d->in[k];
	}
	d->l->n_in = (uint8_t)kept;
}

/* A register that is added to the pointer of a load is not waited for by what is loaded: a vector, from
 * an address that is written back.
 */
static bool steps_pointer(const struct draft *d, unsigned k, unsigned o)
{
	const struct tact_isa *isa = d->arch->isa;
	bool writes_base = false;

	if (!(d->insn->attributes & TACT_INSN_LOAD) || d->in[k].kind != VALUE_REG ||
	    !isa_is_general(isa, d->in[k].key) || d->out[o].kind != VALUE_REG ||
	    !isa_is_vector(isa, d->out[o].key))
		return false;
	for (unsigned i = 0; i < d->l->n_in; i++)
		for (unsigned q = 0; q < d->l->n_out; q++)
			writes_base |= d->in[i].kind == VALUE_ADDRESS &&
				       d->out[q].kind == VALUE_REG && d->in[i].key == d->out[q].key;
	return writes_base;
}

/* A pointer that a store writes back is a sum of its own: it does not wait for what is stored, which
 * LLVM's description, one time for all operands, says.
 */
static bool stores_beside(const struct draft *d, unsigned k, unsigned o)
{
	bool is_base = false;

	if (!d->insn->base_change || d->insn->attributes & TACT_INSN_LOAD ||
	    d->in[k].kind != VALUE_REG || d->out[o].kind != VALUE_REG)
		return false;
	for (unsigned i = 0; i < d->l->n_in; i++)
		is_base |= d->in[i].kind == VALUE_ADDRESS && d->in[i].key == d->out[o].key;
	return is_base;
}

/* A pointer that is written back does not wait for what is loaded through it. */
static bool is_pointer(const struct draft *d, unsigned o)
{
	bool is_base = false, is_beside = d->insn->base_change != 0;

	for (unsigned k = 0; k < d->insn->n_operands; k++)
		is_base |= d->insn->operand[k].kind == TACT_OPERAND_MEM &&
			   d->insn->operand[k].base == d->out[o].key;
	for (unsigned q = 0; q < d->l->n_out;
	     q++) /* by a register: only where vectors are loaded */
		is_beside |=
			d->out[q].kind == VALUE_REG && isa_is_vector(d->arch->isa, d->out[q].key);
	return is_base && is_beside && d->out[o].kind == VALUE_REG;
}

static void fill_latencies(struct draft *d, const struct llvm_facts *f)
{
	for (unsigned o = 0; o < d->l->n_out; o++) {
		const unsigned cycles = output_latency(d, f, o);

		if (is_pointer(d, o))
			d->out_id[o] = ARCH_OP_END; /* for lower_forward_row */
		for (unsigned k = 0; k < d->l->n_in; k++)
			d->latency[k][o] =
				steps_pointer(d, k, o) || stores_beside(d, k, o) ||
						(is_pointer(d, o) && d->in[k].kind == VALUE_MEMORY)
					? 0
					: (uint16_t)cycles;
	}
	/* Such a copy is renamed and not executed. */
	d->l->eliminated = !f->latency && !f->n_uses && d->l->n_in == 1 && d->l->n_out == 1 &&
			   d->in[0].kind == VALUE_REG && d->out[0].kind == VALUE_REG;
}

static int fill_ports(struct draft *d, const struct llvm_facts *f, struct tact_arena *arena)
{
	const struct arch_llvm *llvm = d->arch->llvm;
	struct arch_port_use *uses =
		tact_arena_take(arena, (f->n_uses + 1u) * sizeof(struct arch_port_use));
	unsigned n = 0;

	if (!uses)
		return -TACT_E_NOMEM;
	for (unsigned i = 0; i < f->n_uses; i++) {
		const uint32_t ports = llvm->ports_of[arch_llvm_index(f->use[i].mask)];

		if (!ports || !f->use[i].cycles || f->use[i].is_reserved)
			continue;
		uses[n++] = (struct arch_port_use){ports, f->use[i].cycles};
		d->l->uops = (uint16_t)(d->l->uops + f->use[i].cycles);
	}
	uses[n] = (struct arch_port_use){0, 0};
	d->l->ports = uses;
	return 0;
}

static unsigned first_write(const struct llvm_facts *f)
{
	unsigned first = f->latency;

	for (unsigned i = 0; i < f->n_writes; i++)
		first = f->write[i].latency < first ? f->write[i].latency : first;
	return first;
}

static int keep_issue(struct draft *d, const struct llvm_facts *f, struct tact_arena *arena,
		      const struct block_issue **out)
{
	struct block_issue *issue =
		tact_arena_take(arena, sizeof(*issue) + f->n_uses * sizeof(f->use[0]));

	if (!issue)
		return -TACT_E_NOMEM;
	*issue = (struct block_issue){.micro_ops = f->micro_ops ? f->micro_ops : 1,
				      .latency = f->latency,
				      .first_write = (uint16_t)first_write(f),
				      .loads = f->loads,
				      .stores = f->stores,
				      .load_barrier = f->load_barrier,
				      .store_barrier = f->store_barrier,
				      .begins_group = f->begins_group,
				      .ends_group = f->ends_group,
				      .retires_early = f->retires_early,
				      .demand = units_demand_of(f)};
	memcpy(issue->uses, f->use, f->n_uses * sizeof(f->use[0]));
	issue->demand.use = issue->uses;
	for (unsigned o = 0; o < d->l->n_out; o++)
		issue->made[o] = (uint16_t)(d->l->eliminated ? 0 : output_latency(d, f, o));
	*out = issue;
	return 0;
}

/* What read-advances and issue in order need later: LLVM's number of each result, and
 * the rules of each input.
 */
static int keep_advances(struct draft *d, const struct llvm_facts *f, struct tact_arena *arena)
{
	struct block_advances *a;
	unsigned n = 0;

	for (unsigned k = 0; k < d->l->n_in; k++) {
		const struct llvm_read *r = find_read(f, d->in[k].key, 0);

		n += r && d->in[k].kind != VALUE_MEMORY ? r->n_advances : 0;
	}
	a = tact_arena_take(arena, sizeof(*a) + n * sizeof(a->rules[0]));
	if (!a)
		return -TACT_E_NOMEM;
	a->n = 0;
	a->issue = NULL;
	if (d->arch->params.in_order && keep_issue(d, f, arena, &a->issue) < 0)
		return -TACT_E_NOMEM;
	for (unsigned o = 0; o < d->l->n_out; o++) {
		const struct llvm_write *w = find_write(f, d->out[o].key);

		a->write_id[o] = w && d->out[o].kind != VALUE_MEMORY ? w->write_id : 0;
	}
	for (unsigned k = 0; k < d->l->n_in; k++) {
		unsigned nth = 0;
		const struct llvm_read *r;

		for (unsigned i = 0; i < k; i++) /* the same register twice: madd x0, x1, x1, x1 */
			nth += d->in[i].key == d->in[k].key && d->in[i].kind == d->in[k].kind;
		r = find_read(f, d->in[k].key, nth);
		if (!r)
			r = find_read(f, d->in[k].key, 0);
		for (unsigned i = 0;
		     r && d->in[k].kind != VALUE_MEMORY && i < r->n_advances && a->n < n; i++) {
			const struct llvm_advance *from = &f->advance[r->first_advance + i];

			a->rules[a->n++] =
				(struct block_advance){(uint8_t)k, from->write_id, from->cycles};
		}
	}
	d->l->advances = a;
	return 0;
}

/* A prefix that is an instruction of its own for LLVM: both together are one here. */
static void add_prefix(struct llvm_facts *f, const struct llvm_facts *prefix)
{
	f->micro_ops = (uint16_t)(f->micro_ops + prefix->micro_ops);
	for (unsigned i = 0; i < prefix->n_uses && f->n_uses < LLVM_MAX_RESOURCES; i++)
		f->use[f->n_uses++] = prefix->use[i];
}

int lower_by_facts(struct draft *d, const uint8_t *code, struct tact_arena *arena)
{
	static const struct arch_latency none[1] = {{.from = ARCH_OP_END}};
	const struct llvm_place place = {.setting = d->insn->setting, .length = d->insn->length};
	struct llvm_facts *f = malloc(2 * sizeof(*f));
	int status = 0, n;

	if (!f)
		return -TACT_E_NOMEM;
	d->list = none;
	n = arch_llvm_facts(d->arch->llvm, code, &place, 1, f);
	if (n == 2 && !f[0].status && !f[1].status)
		add_prefix(&f[1], &f[0]);
	if (n == 2)
		f[0] = f[1];
	d->l->foreign = n > 0 && f->is_foreign;
	if (n < 1 || f->status)
		goto out_free; /* the model does not know it */
	d->l->known = true;
	d->l->fused = d->l->mite = f->micro_ops ? f->micro_ops : 1;
	d->l->simple_beside = (uint8_t)d->arch->params.decoders;
	lower_outputs(d);
	lower_register_inputs(d);
	lower_flag_inputs(d);
	lower_memory_inputs(d);
	drop_independent(d, f);
	fill_latencies(d, f);
	status = fill_ports(d, f, arena);
	if (status >= 0)
		status = keep_advances(d, f, arena);
out_free:
	free(f);
	return status;
}

/* ---- in the dependence graph ---- */

static int advance_of(const struct block_advances *a, unsigned input, unsigned write_id)
{
	for (unsigned i = 0; i < a->n; i++)
		if (a->rules[i].input == input &&
		    (!a->rules[i].write_id || a->rules[i].write_id == write_id))
			return a->rules[i].cycles;
	return 0;
}

/* Returns the cycles from a producer's issue to its result. */
static int latency_of(const struct block_lowered *l, unsigned output)
{
	return l->n_in && !l->eliminated ? l->latency[output] : 0;
}

void block_take_advances(struct tact_block *block)
{
	for (size_t v = 0; v < block->n_nodes; v++) {
		struct block_node *node = &block->nodes[v];
		const struct block_lowered *to = block->insns[node->insn].lowered, *from;
		int sooner, most;

		if (node->producer == BLOCK_NO_PRODUCER || !to->advances ||
		    to->in[node->input].kind == VALUE_MEMORY)
			continue;
		from = block->insns[node->producer].lowered;
		if (!from->advances)
			continue;
		sooner = advance_of(to->advances, node->input,
				    from->advances->write_id[node->output]);
		most = latency_of(from, node->output);
		node->sooner = (int8_t)(sooner > most ? most : sooner < -100 ? -100 : sooner);
	}
}

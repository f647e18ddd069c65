/* SPDX-License-Identifier: MIT
 *
 * What the loads and stores of an instruction take: forwarding, renaming, long addresses.
 */
#include "block/lower.h"

bool lower_has_long_address(const struct tact_insn *insn)
{
	const uint8_t reads = TACT_ACCESS_READ | TACT_ACCESS_COND_READ;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind != TACT_OPERAND_MEM || !(o->access & reads))
			continue;
		if (o->segment != TACT_REG_NONE)
			return true;
		if (o->index != TACT_REG_NONE &&
		    (o->scale > 1 ||
		     (o->base != TACT_REG_NONE && insn->attributes & TACT_INSN_DISPLACED)))
			return true;
	}
	return false;
}

/* Returns whether an output is a vector register or one that takes as long: masks, the x87 stack.
 */
static bool is_not_general(const struct draft *d, unsigned out)
{
	return d->out[out].kind == VALUE_REG && !isa_is_general(d->arch->isa, d->out[out].key);
}

/* Returns the load latency that the tables' latencies to an output include. */
static int table_load(const struct draft *d, unsigned out)
{
	const struct tact_arch *a = d->arch;

	if (!a->table_load)
		return is_not_general(d, out) ? a->params.load_latency_vec : a->params.load_latency;
	return is_not_general(d, out) ? a->table_load_vec : a->table_load;
}

void lower_shift_loads(struct draft *d)
{
	const struct arch_params *p = &d->arch->params;

	if (!d->arch->table_load || !d->l->n_loads)
		return;
	for (unsigned k = 0; k < d->l->n_in; k++)
		for (unsigned o = 0; o < d->l->n_out && d->in[k].kind == VALUE_ADDRESS; o++) {
			int load = is_not_general(d, o) ? p->load_latency_vec : p->load_latency;
			int cycles = d->latency[k][o] + load - table_load(d, o);

			if (d->latency[k][o])
				d->latency[k][o] = (uint16_t)(cycles > 1 ? cycles : 1);
		}
}

/* Returns the cycles that an instruction takes after its load, from the latency of its address. */
static unsigned after_load(const struct draft *d, uint8_t memory_id, unsigned out)
{
	int load = table_load(d, out);
	int whole = lower_find_latency(d->list, (uint8_t)(ARCH_OP_BASE | (memory_id & 15)),
				       d->out_id[out]);

	return whole > load ? (unsigned)(whole - load) : 0;
}

/* uops.info's latencies from memory are those of the best case, a store long before the load, and
 * on recent cores less than what a chain through memory takes.  Fills the row of a memory input
 * with what forwarding takes, plus what follows the load; a read-modify-write ends with its
 * operation.
 */
void lower_forward_row(const struct draft *d, unsigned k, uint16_t *row)
{
	const struct arch_params *p = &d->arch->params;
	uint8_t id = lower_operand_id(&d->insn->operand[d->in[k].operand]);
	unsigned operation = 0;

	for (unsigned o = 0; o < d->l->n_out; o++) {
		bool vector = is_not_general(d, o);
		unsigned after = after_load(d, id, o), cycles;

		if (d->out_id[o] == ARCH_OP_END && d->out[o].kind == VALUE_REG)
			continue; /* a pointer that moves on, whatever is loaded */
		if (d->out[o].kind == VALUE_MEMORY)
			after = operation && !row[o] ? operation : 1;
		else if (after > operation)
			operation = after;
		cycles = after + (unsigned)(vector ? p->store_forward_vec : p->store_forward) +
			 block_wide_forward(p, d->insn->operand[d->in[k].operand].bits);
		if (row[o] < cycles)
			row[o] = (uint16_t)cycles;
	}
}

/* Returns whether an instruction makes more than flags, and without reading them. */
static bool makes_value(const struct draft *d)
{
	bool makes = false;

	for (unsigned k = 0; k < d->l->n_in; k++)
		if (d->in[k].kind == VALUE_FLAGS)
			return false;
	for (unsigned o = 0; o < d->l->n_out; o++)
		makes |= d->out[o].kind != VALUE_FLAGS;
	return makes;
}

/* What a predictor of memory renaming takes (experiments on Golden Cove, each of 15 kinds of stores
 * with each of 23 kinds of loads): not 16 bits, nor cmp, test, cmov, adc, nor instructions with
 * three operands or none (leave), nor what ah holds.
 */
static void lower_prediction(struct draft *d)
{
	struct block_lowered *l = d->l;
	const struct tact_insn *insn = d->insn;
	bool has_register = false, has_high = false;
	unsigned bits = 0, named = 0;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind == TACT_OPERAND_MEM && o->index == TACT_REG_NONE)
			bits = o->bits;
		if (o->kind == TACT_OPERAND_REG && o->explicit_operand &&
		    !isa_is_general(d->arch->isa, o->reg))
			return; /* masks */
		named += o->explicit_operand;
		has_high |= lower_is_data(o) && o->first_byte;
		/* Not xadd, whose load is a uop of its own. */
		has_register |= lower_is_data(o) && o->access == TACT_ACCESS_READ;
	}
	if (bits != 8 && bits != 32 && bits != 64)
		return;
	l->leaves_stored = l->n_stores == 1 && !has_high;
	if (l->n_stores == 1 && !l->n_loads && l->uops > 2)
		l->before_store = (uint8_t)(l->uops - 2); /* movbe */
	l->takes_stored = l->n_loads == 1 && !(l->n_stores && has_register) && named && named < 3 &&
			  makes_value(d) && !(insn->attributes & TACT_INSN_SIGN_EXTEND);
}

/* A read-modify-write of at most two macro-ops hands its data on sooner (experiments on Zen 3 and Zen 4). */
void lower_rmw(struct draft *d)
{
	struct block_lowered *l = d->l;

	if (l->n_loads == 1 && l->n_stores == 1 && l->fused <= 2 &&
	    !(d->insn->attributes & (TACT_INSN_VECTOR | TACT_INSN_LOCKED)))
		l->forward_gain = (uint8_t)d->arch->params.store_forward_gain;
}

/* Loads that take a stored register on cores that also rename operands: of any width, by themselves
 * or with an operation (experiments on Zen 5: mov, add and or of bytes to 64 bits, with memory as
 * source or destination, and movsxd; not movzx of bytes and words).
 */
static bool is_whole_load(const struct tact_insn *insn, unsigned bits)
{
	const struct tact_operand *to = &insn->operand[0];

	return bits >= 32 || to->kind != TACT_OPERAND_REG || to->bits == bits;
}

/* A load of 32 or 64 bits that is a macro-op of its own, and a store of a general register
 * (experiments: mov, pop, cmov and read-modify-write of one or two macro-ops; not add r, m, nor xadd
 * and cmpxchg, nor movsxd, nor bytes).
 */
void lower_renaming(struct draft *d)
{
	struct block_lowered *l = d->l;
	const struct tact_insn *insn = d->insn;
	unsigned bits = 0;

	if (!d->arch->params.store_renamed || insn->attributes & TACT_INSN_VECTOR)
		return;
	if (d->arch->params.store_renamed > 1) {
		lower_prediction(d);
		return;
	}
	for (unsigned i = 0; i < insn->n_operands; i++)
		if (insn->operand[i].kind == TACT_OPERAND_MEM)
			bits = insn->operand[i].bits;
	if (d->arch->params.store_renamed_operands && bits <= 64) {
		l->leaves_stored = l->n_stores == 1;
		l->takes_stored = l->n_loads == 1 && is_whole_load(insn, bits);
		return;
	}
	if (bits != 32 && bits != 64)
		return;
	l->leaves_stored = l->n_stores == 1;
	l->takes_stored = l->n_loads == 1 &&
			  ((l->uops == 1 && insn->value_effect == TACT_VALUE_LOAD) ||
			   l->fused == 2 || (l->fused == 1 && l->n_stores)) &&
			  !(insn->attributes & TACT_INSN_SIGN_EXTEND);
}

unsigned lower_count_granules(const struct draft *d)
{
	unsigned n = 0;

	for (unsigned o = 0; o < d->l->n_out; o++)
		if (d->out[o].kind == VALUE_MEMORY) {
			unsigned bits = d->insn->operand[d->out[o].operand].bits;

			n += (unsigned)stores_granules(
				bits < 8 * STORE_MAX_BYTES ? bits / 8 : STORE_MAX_BYTES);
		}
	return n;
}

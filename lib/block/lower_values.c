/* SPDX-License-Identifier: MIT
 *
 * What an instruction reads and writes, and how long each result takes from each source.
 */
#include "block/lower.h"

static uint8_t stack_of(const struct draft *d, enum value_kind kind, uint8_t key)
{
	return kind <= VALUE_ADDRESS && key == d->arch->isa->registers.stack_pointer ? STACK_NAMED
										     : STACK_NONE;
}

static uint8_t flags_key(const struct draft *d, unsigned group)
{
	return (uint8_t)(d->arch->isa->registers.n + group);
}

static void add_output(struct draft *d, uint8_t id, enum value_kind kind, uint8_t key,
		       unsigned operand)
{
	if (d->l->n_out == LOWERED_MAX_OUT)
		return;
	d->out_id[d->l->n_out] = id;
	d->out[d->l->n_out++] = (struct lowered_value){(uint8_t)kind, key, (uint8_t)operand,
						       stack_of(d, kind, key)};
}

void lower_outputs(struct draft *d)
{
	const uint8_t writes = TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE;
	const struct tact_insn *insn = d->insn;
	uint8_t flags = lower_flags_id(insn);

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (lower_is_data(o) && o->access & writes)
			add_output(d, lower_operand_id(o), VALUE_REG, o->reg, i);
		d->l->writes_high_byte |=
			o->kind == TACT_OPERAND_REG && o->first_byte && o->access & writes;
	}
	for (unsigned g = 0; insn->flags_written >> g; g++)
		if (insn->flags_written >> g & 1)
			add_output(d, flags, VALUE_FLAGS, flags_key(d, g), TACT_REG_NONE);
	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind == TACT_OPERAND_MEM && o->access & writes) {
			add_output(d, lower_operand_id(o), VALUE_MEMORY, 0, i);
			d->l->n_stores++;
		}
	}
}

/* Adds an input with its latency to every output, which is one cycle where the tables do not say.
 * They say nothing of the pointers that string instructions move: these wait for themselves.
 */
static void add_input(struct draft *d, uint8_t id, struct lowered_value value)
{
	if (d->l->n_in == LOWERED_MAX_IN)
		return;
	for (unsigned o = 0; o < d->l->n_out; o++) {
		int cycles = lower_find_latency(d->list, id, d->out_id[o]);

		if ((d->out_id[o] == ARCH_OP_END && d->out[o].kind == VALUE_REG) ||
		    (id == ARCH_OP_END && value.kind == VALUE_REG))
			cycles = d->out[o].kind == VALUE_REG && value.kind <= VALUE_ADDRESS &&
				 value.key == d->out[o].key;
		d->latency[d->l->n_in][o] = (uint16_t)(cycles < 0 ? 1 : cycles);
	}
	d->in[d->l->n_in++] = value;
}

/* A register from which every result takes 0 cycles is not waited for: zero idioms.  Where memory
 * is renamed, 0 cycles to memory are those of a store whose register is loaded at once.
 */
static bool breaks_dependence(const struct draft *d, uint8_t id)
{
	for (unsigned o = 0; o < d->l->n_out; o++)
		if (lower_find_latency(d->list, id, d->out_id[o]) != 0 ||
		    (d->out[o].kind == VALUE_MEMORY && d->arch->params.store_renamed))
			return false;
	return true;
}

void lower_register_inputs(struct draft *d)
{
	for (unsigned i = 0; i < d->insn->n_operands; i++) {
		const struct tact_operand *o = &d->insn->operand[i];
		uint8_t id = lower_operand_id(o);

		if (!lower_is_data(o))
			continue;
		if (!(o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ)) &&
		    !lower_has_latency_from(d->list, id))
			continue;
		/* A jump to what a register says makes nothing, and waits for it. */
		if (d->l->n_out && !d->l->eliminated && breaks_dependence(d, id)) {
			d->l->idiom |= !d->l->n_stores;
			continue;
		}
		add_input(d, id,
			  (struct lowered_value){VALUE_REG, o->reg, (uint8_t)i,
						 stack_of(d, VALUE_REG, o->reg)});
	}
}

void lower_flag_inputs(struct draft *d)
{
	uint8_t id = lower_flags_id(d->insn);

	/* Shifts by cl may leave them as they were; on some cores no result waits for that. */
	if (id != ARCH_OP_END && d->l->n_out && breaks_dependence(d, id))
		return;
	for (unsigned g = 0; d->insn->flags_read >> g; g++)
		if (d->insn->flags_read >> g & 1)
			add_input(d, id,
				  (struct lowered_value){VALUE_FLAGS, flags_key(d, g),
							 TACT_REG_NONE, 0});
}

void lower_memory_inputs(struct draft *d)
{
	/* A masked store does not read what it leaves as it was. */
	const uint8_t reads = TACT_ACCESS_READ | TACT_ACCESS_COND_READ;

	for (unsigned i = 0; i < d->insn->n_operands; i++) {
		const struct tact_operand *o = &d->insn->operand[i];

		if (o->kind == TACT_OPERAND_MEM && o->access & reads) {
			add_input(d, lower_operand_id(o),
				  (struct lowered_value){VALUE_MEMORY, 0, (uint8_t)i, 0});
			d->l->n_loads++;
		}
	}
	for (unsigned i = 0; i < d->insn->n_operands; i++) {
		const struct tact_operand *o = &d->insn->operand[i];
		uint8_t number = o->kind == TACT_OPERAND_AGEN ? ARCH_OP_AGEN : o->number;
		enum value_kind kind = o->kind == TACT_OPERAND_AGEN ? VALUE_REG : VALUE_ADDRESS;

		if (o->kind != TACT_OPERAND_MEM && o->kind != TACT_OPERAND_AGEN)
			continue;
		if (o->base != TACT_REG_NONE)
			add_input(d, ARCH_OP_BASE | number,
				  (struct lowered_value){(uint8_t)kind, o->base, (uint8_t)i,
							 o->implicit_pointer
								 ? STACK_ENGINE
								 : stack_of(d, kind, o->base)});
		if (o->index != TACT_REG_NONE)
			add_input(d, ARCH_OP_INDEX | number,
				  (struct lowered_value){(uint8_t)kind, o->index, (uint8_t)i,
							 stack_of(d, kind, o->index)});
	}
}

/* ---- back to the tables ---- */

static uint8_t source_name(const struct tact_insn *insn, const struct lowered_value *v)
{
	const struct tact_operand *o;
	uint8_t number;

	if (v->kind == VALUE_FLAGS)
		return lower_flags_id(insn);
	o = &insn->operand[v->operand];
	if (v->kind == VALUE_MEMORY || (v->kind == VALUE_REG && o->kind != TACT_OPERAND_AGEN))
		return lower_operand_id(o);
	number = o->kind == TACT_OPERAND_AGEN ? ARCH_OP_AGEN : o->number;
	return (uint8_t)((o->base == v->key ? ARCH_OP_BASE : ARCH_OP_INDEX) | number);
}

void block_latency_name(const struct tact_insn *insn, const struct block_lowered *l, unsigned in,
			unsigned out, uint8_t *from, uint8_t *to)
{
	*from = source_name(insn, &l->in[in]);
	*to = l->out[out].kind == VALUE_FLAGS
		      ? lower_flags_id(insn)
		      : lower_operand_id(&insn->operand[l->out[out].operand]);
}

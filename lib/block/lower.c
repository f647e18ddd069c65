/* SPDX-License-Identifier: MIT
 *
 * An instruction with its form's data: which variant holds, what it reads and writes, how long
 * each result takes from each source.
 */
#include <string.h>

#include "block/block.h"

/* Cycles from `from` to `to` in a list; -1 if the list does not say. */
static int find_latency(const struct arch_latency *list, uint8_t from, uint8_t to)
{
	for (; list->from != ARCH_OP_END; list++)
		if (list->from == from && list->to == to)
			return list->cycles;
	return -1;
}

static bool has_latency_from(const struct arch_latency *list, uint8_t from)
{
	for (; list->from != ARCH_OP_END; list++)
		if (list->from == from)
			return true;
	return false;
}

/* Registers that count as operands: no rip, no flags, not the stack engine's rsp, no k0 that only
 * says "unmasked".
 */
static bool is_data_register(const struct tact_insn *insn, const struct tact_operand *o)
{
	if (o->kind != TACT_OPERAND_REG || o->reg == TACT_REG_RIP || o->reg == TACT_REG_FLAGS)
		return false;
	if (o->implicit_stack)
		return false;
	if (o->reg == TACT_REG_MASK0 && o->access == TACT_ACCESS_READ && insn->operand[0].kind &&
	    insn->attributes & TACT_INSN_VECTOR)
		return false;
	return true;
}

static uint8_t operand_id(const struct tact_operand *o)
{
	if (o->number == TACT_REG_NONE)
		return ARCH_OP_END;
	return (uint8_t)((o->kind == TACT_OPERAND_MEM ? ARCH_OP_MEM : ARCH_OP_REG) | o->number);
}

static uint8_t flags_operand_id(const struct tact_insn *insn)
{
	for (unsigned i = 0; i < insn->n_operands; i++)
		if (insn->operand[i].kind == TACT_OPERAND_REG && insn->operand[i].reg == TACT_REG_FLAGS)
			return operand_id(&insn->operand[i]);
	return ARCH_OP_END;
}

static void add_output(struct block_lowered *l, uint8_t *ids, uint8_t id, enum value_kind kind,
		       uint8_t key, unsigned operand)
{
	if (l->n_out == LOWERED_MAX_OUT)
		return;
	ids[l->n_out] = id;
	l->out[l->n_out++] = (struct lowered_value){ (uint8_t)kind, key, (uint8_t)operand, 0 };
}

static void lower_outputs(struct block_lowered *l, const struct tact_insn *insn, uint8_t *ids)
{
	const uint8_t writes = TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE;
	uint8_t flags = flags_operand_id(insn);

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (is_data_register(insn, o) && o->access & writes)
			add_output(l, ids, operand_id(o), VALUE_REG, o->reg, i);
	}
	if (insn->flags_written & TACT_FLAGS_C)
		add_output(l, ids, flags, VALUE_FLAGS, TACT_FLAGS_C, TACT_REG_NONE);
	if (insn->flags_written & TACT_FLAGS_SPAZO)
		add_output(l, ids, flags, VALUE_FLAGS, TACT_FLAGS_SPAZO, TACT_REG_NONE);
	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind == TACT_OPERAND_MEM && o->access & writes) {
			add_output(l, ids, operand_id(o), VALUE_MEMORY, 0, i);
			l->n_stores++;
		}
	}
}

/* An input with its latency to every output; one cycle where the tables do not say. */
static void add_input(struct block_lowered *l, const struct arch_latency *list, uint8_t id,
		      const uint8_t *out_ids, struct lowered_value value)
{
	if (l->n_in == LOWERED_MAX_IN)
		return;
	for (unsigned o = 0; o < l->n_out; o++) {
		int cycles = find_latency(list, id, out_ids[o]);

		l->latency[l->n_in][o] = (uint16_t)(cycles < 0 ? 1 : cycles);
	}
	l->in[l->n_in++] = value;
}

/* A register from which every result takes 0 cycles is not waited for: zero idioms. */
static bool breaks_dependence(const struct block_lowered *l, const struct arch_latency *list,
			      uint8_t id, const uint8_t *out_ids)
{
	for (unsigned o = 0; o < l->n_out; o++)
		if (find_latency(list, id, out_ids[o]) != 0)
			return false;
	return true;
}

static void lower_register_inputs(struct block_lowered *l, const struct tact_insn *insn,
				  const struct arch_latency *list, const uint8_t *out_ids)
{
	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];
		uint8_t id = operand_id(o);

		if (!is_data_register(insn, o))
			continue;
		if (!(o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ)) &&
		    !has_latency_from(list, id))
			continue;
		if (!l->eliminated && breaks_dependence(l, list, id, out_ids)) {
			l->idiom |= l->n_out && !l->n_stores;
			continue;
		}
		add_input(l, list, id, out_ids,
			  (struct lowered_value){ VALUE_REG, o->reg, (uint8_t)i, 0 });
	}
}

static void lower_flag_inputs(struct block_lowered *l, const struct tact_insn *insn,
			      const struct arch_latency *list, const uint8_t *out_ids)
{
	uint8_t id = flags_operand_id(insn);

	for (uint8_t group = TACT_FLAGS_C; group <= TACT_FLAGS_SPAZO; group <<= 1)
		if (insn->flags_read & group)
			add_input(l, list, id, out_ids,
				  (struct lowered_value){ VALUE_FLAGS, group, TACT_REG_NONE, 0 });
}

static void lower_memory_inputs(struct block_lowered *l, const struct tact_insn *insn,
				const struct arch_latency *list, const uint8_t *out_ids)
{
	const uint8_t reads = TACT_ACCESS_READ | TACT_ACCESS_COND_READ | TACT_ACCESS_COND_WRITE;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind == TACT_OPERAND_MEM && o->access & reads) {
			add_input(l, list, operand_id(o), out_ids,
				  (struct lowered_value){ VALUE_MEMORY, 0, (uint8_t)i, 0 });
			l->n_loads++;
		}
	}
	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];
		uint8_t number = o->kind == TACT_OPERAND_AGEN ? ARCH_OP_AGEN : o->number;
		enum value_kind kind = o->kind == TACT_OPERAND_AGEN ? VALUE_REG : VALUE_ADDRESS;
		uint8_t stack = o->implicit_stack;

		if (o->kind != TACT_OPERAND_MEM && o->kind != TACT_OPERAND_AGEN)
			continue;
		if (o->base != TACT_REG_NONE)
			add_input(l, list, ARCH_OP_BASE | number, out_ids,
				  (struct lowered_value){ (uint8_t)kind, o->base, (uint8_t)i, stack });
		if (o->index != TACT_REG_NONE)
			add_input(l, list, ARCH_OP_INDEX | number, out_ids,
				  (struct lowered_value){ (uint8_t)kind, o->index, (uint8_t)i, 0 });
	}
}

static unsigned count_register_inputs(const struct tact_insn *insn, const struct arch_latency *list)
{
	unsigned n = 0;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (is_data_register(insn, o) &&
		    (o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ) ||
		     has_latency_from(list, operand_id(o))))
			n++;
	}
	return n;
}

static unsigned count_register_outputs(const struct block_lowered *l)
{
	unsigned n = 0;

	for (unsigned i = 0; i < l->n_out; i++)
		n += l->out[i].kind == VALUE_REG;
	return n;
}

/* A move that uops.info saw without a uop is executed by the renamer; the variant with equal
 * registers then shows what it costs when that fails.  movzx from a register whose number is that of
 * ah to bh never is on some cores (uiCA).
 */
static const struct arch_variant *choose_eliminated(struct block_lowered *l,
						    const struct tact_insn *insn,
						    const struct arch_record *r,
						    const struct arch_variant *v)
{
	const struct arch_latency *list = arch_latencies_at(v->latency);
	bool is_move = strstr(tact_form_name(insn->form), "MOV") != NULL;
	bool blocked = insn->attributes & TACT_INSN_HIGH8_ALIAS &&
		       !l->arch->params.movzx_high8_alias_elim;

	if (!is_move || v->uops)
		return v;
	if (!blocked && (count_register_inputs(insn, list) != 1 || count_register_outputs(l) != 1))
		return v;
	l->eliminated = !blocked;
	return r->same ? arch_variant_at(r->same) : v;
}

static void lower_decoding(struct block_lowered *l, const struct tact_insn *insn,
			   const struct arch_variant *v)
{
	const struct arch_params *p = &l->arch->params;

	l->complex_decoder = v->complex_decoder || v->ms || v->mite + v->ms > 1;
	l->simple_beside = v->simple_beside != 0xff ? v->simple_beside : (uint8_t)p->decoders;
	if (insn->attributes & TACT_INSN_POP_REG4) {
		l->complex_decoder |= p->pop_rsp_complex != 0;
		if (p->pop_rsp_ends_group)
			l->simple_beside = 0;
	}
}

/* What the dependence analysis asks again and again. */
static void summarise(struct block_lowered *l)
{
	for (unsigned k = l->n_in; k-- > 0;) {
		if (l->in[k].kind == VALUE_MEMORY)
			l->load_operand = l->in[k].operand;
		if (l->in[k].kind == VALUE_REG)
			l->first_source = l->in[k].key;
		l->names_rsp |= l->in[k].kind <= VALUE_ADDRESS && l->in[k].key == TACT_REG_RSP &&
				!l->in[k].is_stack;
	}
	for (unsigned o = 0; o < l->n_out; o++)
		l->writes_rsp |= l->out[o].kind == VALUE_REG && l->out[o].key == TACT_REG_RSP;
}

void block_lower(struct block_lowered *l, const struct tact_insn *insn, const struct tact_arch *arch,
		 bool paper)
{
	const struct arch_record *r = arch_record_of(arch, insn->form);
	const struct arch_variant *v, *executed;
	const struct arch_latency *list;
	uint8_t out_ids[LOWERED_MAX_OUT];

	memset(l, 0, offsetof(struct block_lowered, latency));
	l->arch = arch;
	l->paper = paper;
	l->fused = l->mite = 1;
	l->first_source = l->load_operand = TACT_REG_NONE;
	l->ports = arch_ports_at(0);
	if (!r)
		return;
	l->known = true;
	l->fuse = r->fuse;
	v = arch_variant_at(r->plain);
	if (insn->attributes & TACT_INSN_SAME_REG && r->same)
		v = arch_variant_at(r->same);
	if (insn->attributes & TACT_INSN_INDEXED && r->indexed)
		v = arch_variant_at(r->indexed);
	lower_outputs(l, insn, out_ids);
	executed = choose_eliminated(l, insn, r, v);
	l->uops = executed->uops;
	l->ports = arch_ports_at(executed->ports);
	l->fused = v->fused;
	l->mite = v->mite;
	l->ms = v->ms;
	l->divider = v->divider;
	l->cycles = v->cycles;
	lower_decoding(l, insn, v);
	list = arch_latencies_at(executed->latency);
	lower_register_inputs(l, insn, list, out_ids);
	lower_flag_inputs(l, insn, list, out_ids);
	lower_memory_inputs(l, insn, list, out_ids);
	summarise(l);
}

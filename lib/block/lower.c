/* SPDX-License-Identifier: MIT
 *
 * Lowers an instruction: which variant of its form holds, and what the models need of it.
 */
#include <string.h>

#include "block/lower.h"

static unsigned count_register_inputs(const struct tact_insn *insn, const struct arch_latency *list)
{
	unsigned n = 0;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (lower_is_data(o) && (o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ) ||
					 lower_has_latency_from(list, lower_operand_id(o))))
			n++;
	}
	return n;
}

static unsigned count_register_outputs(const struct draft *d)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->l->n_out; i++)
		n += d->out[i].kind == VALUE_REG;
	return n;
}

/* A move that uops.info saw without a uop is executed by the renamer; the variant with equal
 * registers then shows what it costs when that fails.  movzx from a register whose number is that
 * of ah to bh never is on some cores (uiCA).
 */
static struct arch_view choose_eliminated(struct draft *d, struct arch_view v)
{
	const struct arch_latency *list = v.latency;
	bool blocked = d->insn->attributes & TACT_INSN_PART_ALIAS &&
		       !d->arch->params.movzx_high8_alias_elim;

	if (v.variant->uops || !(d->insn->attributes & TACT_INSN_MOVE))
		return v;
	if (!blocked &&
	    (count_register_inputs(d->insn, list) != 1 || count_register_outputs(d) != 1))
		return v;
	d->l->eliminated = !blocked;
	arch_view_of(d->arch, d->insn->form, ARCH_SAME, &v);
	return v;
}

static void lower_decoding(struct draft *d, const struct arch_variant *v)
{
	const struct arch_params *p = &d->arch->params;
	struct block_lowered *l = d->l;

	l->complex_decoder =
		p->decoders_alike ? v->ms != 0 : v->complex_decoder || v->ms || v->mite + v->ms > 1;
	l->simple_beside = v->simple_beside != 0xff ? v->simple_beside : (uint8_t)p->decoders;
	l->complex_decoder |= p->long_insn && d->insn->length > p->long_insn;
	if (d->insn->attributes & TACT_INSN_POP_POINTER) {
		l->complex_decoder |= p->pop_rsp_complex != 0;
		if (p->pop_rsp_ends_group)
			l->simple_beside = 0;
	}
}

/* Counts the constants that it takes along in the DSB: not targets of jumps, and not what a nop
 * never reads.
 */
static uint8_t count_constants(const struct tact_insn *insn)
{
	unsigned n = 0;

	if (insn->attributes & TACT_INSN_NOP)
		return 0;
	if (insn->immediate_bits && !(insn->attributes & TACT_INSN_BRANCH))
		n = insn->immediate_bits > 32 ? 2 : 1;
	return (uint8_t)(n + ((insn->attributes & TACT_INSN_DISPLACED) != 0));
}

/* Returns whether the stack engine must write the stack pointer back for this input.  Some cores add
 * what push and pop have changed wherever it is only moved or part of an address (experiments on
 * Zen 3 and Zen 4).
 */
static bool needs_stack(const struct draft *d, const struct lowered_value *in)
{
	if (in->stack != STACK_NAMED)
		return false;
	if (d->arch->params.stack_sync_reads || d->l->writes_stack)
		return true;
	return in->kind == VALUE_REG && !(d->insn->attributes & TACT_INSN_MOVE) &&
	       d->insn->operand[in->operand].kind != TACT_OPERAND_AGEN;
}

/* Finds the input of which it only keeps the upper part. */
static void lower_merging(struct draft *d)
{
	if (!d->arch->params.zero_upper_known || !(d->insn->attributes & TACT_INSN_KEEPS_UPPER))
		return;
	for (unsigned k = d->l->n_in; k-- > 0;)
		if (d->in[k].kind == VALUE_REG && isa_is_vector(d->arch->isa, d->in[k].key))
			d->l->merged = (uint8_t)(k + 1);
}

/* Collects what the dependence analysis asks for repeatedly. */
static void summarise(struct draft *d)
{
	const struct tact_isa *isa = d->arch->isa;
	struct block_lowered *l = d->l;

	for (unsigned k = l->n_in; k-- > 0;) {
		if (d->in[k].kind == VALUE_ADDRESS && isa_is_general(isa, d->in[k].key))
			l->general_in_addresses |= 1u << d->in[k].key;
		if (d->in[k].kind == VALUE_MEMORY)
			l->load_operand = d->in[k].operand;
		if (d->in[k].kind == VALUE_REG)
			l->first_source = d->in[k].key;
	}
	if (d->insn->pointer_change && isa_is_general(isa, d->insn->pointer_reg))
		l->general_written |= 1u << d->insn->pointer_reg;
	for (unsigned o = 0; o < l->n_out; o++) {
		if (d->out[o].kind == VALUE_REG && isa_is_general(isa, d->out[o].key))
			l->general_written |= 1u << d->out[o].key;
		l->writes_stack |= d->out[o].stack == STACK_NAMED;
	}
	for (unsigned k = 0; k < l->n_in; k++)
		l->names_stack |= needs_stack(d, &d->in[k]);
}

/* Adds and subtractions of constants that the renamer can execute: a 64-bit general register, from
 * one register.
 */
static bool is_foldable(const struct draft *d)
{
	const struct tact_insn *insn = d->insn;
	const struct block_lowered *l = d->l;

	if (!d->arch->params.fold_limit || l->eliminated || l->n_in != 1 || l->n_loads ||
	    l->n_stores || !l->n_out || d->in[0].kind != VALUE_REG || d->out[0].kind != VALUE_REG ||
	    insn->operand[d->out[0].operand].bits != 64)
		return false;
	switch ((enum tact_value_effect)l->value_effect) {
	case TACT_VALUE_ADD:
	case TACT_VALUE_SUB:
	case TACT_VALUE_INC:
	case TACT_VALUE_DEC:
	case TACT_VALUE_LEA:
		return true;
	default:
		return false;
	}
}

static int lower_folded(struct draft *d, struct tact_arena *arena)
{
	struct block_lowered *folded;

	if (!is_foldable(d))
		return 0;
	folded = tact_arena_take(arena, sizeof(*folded));
	if (!folded)
		return -TACT_E_NOMEM;
	*folded = *d->l;
	folded->eliminated = true;
	folded->passes = folded->writes;
	d->l->folded = folded;
	return 0;
}

static void add_key(struct block_keys *keys, const struct lowered_value *v)
{
	if (v->kind != VALUE_MEMORY)
		keys->half[v->key / 64] |= 1ull << v->key % 64;
}

/* Outputs of no latency, as the stack engine's, wait for nothing; but eliminated moves pass on what
 * they take.
 */
static void list_keys(struct block_lowered *l)
{
	for (unsigned k = 0; k < l->n_in; k++)
		add_key(&l->reads, &l->in[k]);
	for (unsigned o = 0; o < l->n_out; o++) {
		bool passes = l->eliminated;

		for (unsigned k = 0; k < l->n_in; k++)
			passes |= l->latency[k * l->n_out + o] || l->forwarded[k * l->n_out + o];
		add_key(&l->writes, &l->out[o]);
		if (passes)
			add_key(&l->passes, &l->out[o]);
	}
}

/* Copies the lists to the arena. */
static int finish(struct draft *d, struct tact_arena *arena)
{
	struct block_lowered *l = d->l;
	size_t values = (size_t)(l->n_in + l->n_out) * sizeof(struct lowered_value);
	size_t n_latencies = (size_t)l->n_in * l->n_out;
	struct lowered_value *in = tact_arena_take(
		arena, values + (l->n_loads ? 2 : 1) * n_latencies * sizeof(uint16_t));
	struct lowered_value *out;
	uint16_t *latency, *forwarded;

	if (!in)
		return -TACT_E_NOMEM;
	out = in + l->n_in;
	latency = (uint16_t *)(out + l->n_out);
	memcpy(in, d->in, l->n_in * sizeof(*in));
	memcpy(out, d->out, l->n_out * sizeof(*out));
	for (unsigned k = 0; k < l->n_in; k++)
		memcpy(latency + (size_t)k * l->n_out, d->latency[k], l->n_out * sizeof(*latency));
	forwarded = latency;
	if (l->n_loads) {
		forwarded = latency + n_latencies;
		memcpy(forwarded, latency, n_latencies * sizeof(*latency));
		for (unsigned k = 0; k < l->n_in; k++)
			if (d->in[k].kind == VALUE_MEMORY)
				lower_forward_row(d, k, forwarded + (size_t)k * l->n_out);
	}
	l->in = in;
	l->out = out;
	l->latency = latency;
	l->forwarded = forwarded;
	list_keys(l);
	return 0;
}

static void choose_variant(struct draft *d, const struct arch_record *r)
{
	struct block_lowered *l = d->l;
	unsigned form = d->insn->form;
	struct arch_view view, executed;
	const struct arch_variant *v;

	arch_view_of(d->arch, form, ARCH_PLAIN, &view);
	if (d->insn->attributes & TACT_INSN_SAME_REG)
		arch_view_of(d->arch, form, ARCH_SAME, &view);
	if (d->insn->attributes & TACT_INSN_INDEXED)
		arch_view_of(d->arch, form, ARCH_INDEXED, &view);
	executed = choose_eliminated(d, view);
	v = view.variant;
	l->fuse = r->fuse;
	l->uops = executed.variant->uops;
	l->ports = executed.ports;
	l->fused = v->fused;
	l->mite = v->mite;
	l->ms = v->ms;
	l->divider = v->divider;
	l->cycles = v->cycles;
	lower_decoding(d, v);
	l->is_split =
		d->arch->params.split_decoders && !l->complex_decoder && v->fused > v->mite + v->ms;
	d->list = executed.latency;
}

/* What the instruction does to a stack of registers.  If the renamer exchanges two of them, nothing
 * is read or written; some cores have uops for it nevertheless.
 */
static void lower_turn(struct draft *d)
{
	const struct tact_isa *isa = d->arch->isa;
	struct block_lowered *l = d->l;
	unsigned n = 0;

	if (!isa->turn)
		return;
	l->turn = (int8_t)isa->turn(d->insn);
	l->has_turning = l->turn != 0;
	for (unsigned i = 0; i < d->insn->n_operands; i++) {
		const struct tact_operand *o = &d->insn->operand[i];

		if (o->kind != TACT_OPERAND_REG || !isa_is_turning(isa, o->reg))
			continue;
		l->has_turning = true;
		if (n < 2)
			l->exchanged[n++] = o->reg;
	}
	/* The tables' latency tells whether values move. */
	l->exchanges = n == 2 && isa->exchanges && isa->exchanges(d->insn) &&
		       !lower_find_latency(d->list, ARCH_OP_REG | 0, ARCH_OP_REG | 1);
	if (l->exchanges)
		l->n_in = l->n_out = 0;
}

int block_lower(struct block_lowered *l, const struct tact_insn *insn, const uint8_t *code,
		const struct tact_arch *arch, struct tact_arena *arena)
{
	const struct arch_record *r = arch_record_of(arch, insn->form);
	struct draft d = {.l = l, .arch = arch, .insn = insn};

	memset(l, 0, sizeof(*l));
	l->length = insn->length;
	l->opcode_offset = insn->opcode_offset;
	l->condition = insn->condition;
	l->value_effect = insn->value_effect;
	l->immediate_bits = insn->immediate_bits;
	l->pointer_reg = insn->pointer_reg;
	l->pointer_change = insn->pointer_change;
	l->attributes = insn->attributes;
	l->fused = l->mite = 1;
	l->first_source = l->load_operand = TACT_REG_NONE;
	l->ports = arch_no_ports;
	if (arch->llvm && lower_by_facts(&d, code, arena) < 0)
		return -TACT_E_NOMEM;
	if (r) {
		l->known = true;
		lower_outputs(&d);
		choose_variant(&d, r);
		lower_register_inputs(&d);
		lower_flag_inputs(&d);
		lower_memory_inputs(&d);
		lower_turn(&d);
		lower_shift_loads(&d);
		lower_renaming(&d);
		lower_rmw(&d);
		lower_merging(&d);
	}
	if (l->known) {
		summarise(&d);
		l->granules = (uint16_t)lower_count_granules(&d);
		l->is_nop = insn->attributes & TACT_INSN_NOP;
		/* A displacement of 32 bits follows the opcode and two more bytes at most. */
		l->fuses_nop = l->is_nop && insn->length < insn->opcode_offset + 6;
		l->constants = count_constants(insn);
		if (arch->params.long_address && lower_has_long_address(insn))
			l->load_extra = (uint8_t)arch->params.long_address;
	}
	if (finish(&d, arena) < 0 || lower_folded(&d, arena) < 0)
		return -TACT_E_NOMEM;
	return 0;
}

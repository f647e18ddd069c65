/* SPDX-License-Identifier: MIT
 *
 * Lowers an instruction: which variant of its form holds, what it reads and writes, how long each
 * result takes from each source.
 */
#include <string.h>

#include "block/block.h"

/* An instruction while it is being lowered; the finished lists go to the arena. */
struct draft {
	struct block_lowered *l;
	const struct tact_arch *arch;
	const struct tact_insn *insn;
	const struct arch_latency *list;
	struct lowered_value in[LOWERED_MAX_IN], out[LOWERED_MAX_OUT];
	uint8_t out_id[LOWERED_MAX_OUT]; /* as the latencies name it */
	uint16_t latency[LOWERED_MAX_IN][LOWERED_MAX_OUT];
};

/* Returns the cycles from `from` to `to` in a list; -1 if the list does not say. */
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

/* Returns whether a register counts as an operand: not flags or pointers, and not what the stack
 * engine keeps.
 */
static bool is_data_register(const struct tact_operand *o)
{
	return o->kind == TACT_OPERAND_REG && o->role == TACT_ROLE_NONE && !o->implicit_pointer;
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
		if (insn->operand[i].kind == TACT_OPERAND_REG &&
		    insn->operand[i].role == TACT_ROLE_FLAGS)
			return operand_id(&insn->operand[i]);
	return ARCH_OP_END;
}

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

static void lower_outputs(struct draft *d)
{
	const uint8_t writes = TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE;
	const struct tact_insn *insn = d->insn;
	uint8_t flags = flags_operand_id(insn);

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (is_data_register(o) && o->access & writes)
			add_output(d, operand_id(o), VALUE_REG, o->reg, i);
		d->l->writes_high_byte |=
			o->kind == TACT_OPERAND_REG && o->first_byte && o->access & writes;
	}
	for (unsigned g = 0; insn->flags_written >> g; g++)
		if (insn->flags_written >> g & 1)
			add_output(d, flags, VALUE_FLAGS, flags_key(d, g), TACT_REG_NONE);
	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind == TACT_OPERAND_MEM && o->access & writes) {
			add_output(d, operand_id(o), VALUE_MEMORY, 0, i);
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
		int cycles = find_latency(d->list, id, d->out_id[o]);

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
		if (find_latency(d->list, id, d->out_id[o]) != 0 ||
		    (d->out[o].kind == VALUE_MEMORY && d->arch->params.store_renamed))
			return false;
	return true;
}

static void lower_register_inputs(struct draft *d)
{
	for (unsigned i = 0; i < d->insn->n_operands; i++) {
		const struct tact_operand *o = &d->insn->operand[i];
		uint8_t id = operand_id(o);

		if (!is_data_register(o))
			continue;
		if (!(o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ)) &&
		    !has_latency_from(d->list, id))
			continue;
		if (!d->l->eliminated && breaks_dependence(d, id)) {
			d->l->idiom |= d->l->n_out && !d->l->n_stores;
			continue;
		}
		add_input(d, id,
			  (struct lowered_value){VALUE_REG, o->reg, (uint8_t)i,
						 stack_of(d, VALUE_REG, o->reg)});
	}
}

static void lower_flag_inputs(struct draft *d)
{
	uint8_t id = flags_operand_id(d->insn);

	/* Shifts by cl may leave them as they were; on some cores no result waits for that. */
	if (id != ARCH_OP_END && d->l->n_out && breaks_dependence(d, id))
		return;
	for (unsigned g = 0; d->insn->flags_read >> g; g++)
		if (d->insn->flags_read >> g & 1)
			add_input(d, id,
				  (struct lowered_value){VALUE_FLAGS, flags_key(d, g),
							 TACT_REG_NONE, 0});
}

static void lower_memory_inputs(struct draft *d)
{
	/* A masked store does not read what it leaves as it was. */
	const uint8_t reads = TACT_ACCESS_READ | TACT_ACCESS_COND_READ;

	for (unsigned i = 0; i < d->insn->n_operands; i++) {
		const struct tact_operand *o = &d->insn->operand[i];

		if (o->kind == TACT_OPERAND_MEM && o->access & reads) {
			add_input(d, operand_id(o),
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

static unsigned count_register_inputs(const struct tact_insn *insn, const struct arch_latency *list)
{
	unsigned n = 0;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (is_data_register(o) &&
		    (o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ) ||
		     has_latency_from(list, operand_id(o))))
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

/* Returns whether the address of a load takes longer: a scaled index, three parts, or a segment. */
static bool has_long_address(const struct tact_insn *insn)
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

/* If a parameter file changes the latency of loads, latencies from addresses change by as much. */
static void shift_loads(struct draft *d)
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
	int whole =
		find_latency(d->list, (uint8_t)(ARCH_OP_BASE | (memory_id & 15)), d->out_id[out]);

	return whole > load ? (unsigned)(whole - load) : 0;
}

/* uops.info's latencies from memory are those of the best case, a store long before the load, and
 * on recent cores less than what a chain through memory takes.  Fills the row of a memory input
 * with what forwarding takes, plus what follows the load; a read-modify-write ends with its
 * operation.
 */
static void forward_row(const struct draft *d, unsigned k, uint16_t *row)
{
	const struct arch_params *p = &d->arch->params;
	uint8_t id = operand_id(&d->insn->operand[d->in[k].operand]);
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

/* What a predictor of memory renaming takes (measurements on Golden Cove). */
static void lower_prediction(struct draft *d)
{
	struct block_lowered *l = d->l;
	const struct tact_insn *insn = d->insn;
	bool has_register = false;
	unsigned bits = 0;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind == TACT_OPERAND_MEM && o->index == TACT_REG_NONE)
			bits = o->bits;
		has_register |= is_data_register(o) &&
				o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ);
	}
	if (bits != 8 && bits != 32 && bits != 64)
		return;
	l->leaves_stored = l->n_stores == 1;
	l->takes_stored = l->n_loads == 1 && !(l->n_stores && has_register) &&
			  !(insn->attributes & TACT_INSN_SIGN_EXTEND);
}

/* A read-modify-write of two macro-ops hands its data on sooner (experiments on Zen 3 and Zen 4). */
static void lower_rmw(struct draft *d)
{
	struct block_lowered *l = d->l;

	if (l->n_loads == 1 && l->n_stores == 1 && l->fused == 2 &&
	    !(d->insn->attributes & (TACT_INSN_VECTOR | TACT_INSN_LOCKED)))
		l->forward_gain = (uint8_t)d->arch->params.store_forward_gain;
}

/* A load of 32 or 64 bits that is a macro-op of its own, and a store of a general register
 * (experiments: mov, pop, cmov and read-modify-write of one or two macro-ops; not add r, m, nor xadd
 * and cmpxchg, nor movsxd, nor bytes).
 */
static void lower_renaming(struct draft *d)
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
	if (bits != 32 && bits != 64)
		return;
	l->leaves_stored = l->n_stores == 1;
	l->takes_stored = l->n_loads == 1 &&
			  (l->uops == 1 || l->fused == 2 || (l->fused == 1 && l->n_stores)) &&
			  !(insn->attributes & TACT_INSN_SIGN_EXTEND);
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
	d->l->folded = folded;
	return 0;
}

static unsigned count_granules(const struct draft *d)
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
				forward_row(d, k, forwarded + (size_t)k * l->n_out);
	}
	l->in = in;
	l->out = out;
	l->latency = latency;
	l->forwarded = forwarded;
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
		       !find_latency(d->list, ARCH_OP_REG | 0, ARCH_OP_REG | 1);
	if (l->exchanges)
		l->n_in = l->n_out = 0;
}

int block_lower(struct block_lowered *l, const struct tact_insn *insn, const struct tact_arch *arch,
		struct tact_arena *arena)
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
	if (r) {
		l->known = true;
		lower_outputs(&d);
		choose_variant(&d, r);
		lower_register_inputs(&d);
		lower_flag_inputs(&d);
		lower_memory_inputs(&d);
		lower_turn(&d);
		shift_loads(&d);
		lower_renaming(&d);
		lower_rmw(&d);
		lower_merging(&d);
		summarise(&d);
		l->granules = (uint16_t)count_granules(&d);
		l->is_nop = insn->attributes & TACT_INSN_NOP;
		/* A displacement of 32 bits follows the opcode and two more bytes at most. */
		l->fuses_nop = l->is_nop && insn->length < insn->opcode_offset + 6;
		l->constants = count_constants(insn);
		if (arch->params.long_address && has_long_address(insn))
			l->load_extra = (uint8_t)arch->params.long_address;
	}
	if (finish(&d, arena) < 0 || lower_folded(&d, arena) < 0)
		return -TACT_E_NOMEM;
	return 0;
}

/* ---- back to the tables ---- */

static uint8_t source_name(const struct tact_insn *insn, const struct lowered_value *v)
{
	const struct tact_operand *o;
	uint8_t number;

	if (v->kind == VALUE_FLAGS)
		return flags_operand_id(insn);
	o = &insn->operand[v->operand];
	if (v->kind == VALUE_MEMORY || (v->kind == VALUE_REG && o->kind != TACT_OPERAND_AGEN))
		return operand_id(o);
	number = o->kind == TACT_OPERAND_AGEN ? ARCH_OP_AGEN : o->number;
	return (uint8_t)((o->base == v->key ? ARCH_OP_BASE : ARCH_OP_INDEX) | number);
}

void block_latency_name(const struct tact_insn *insn, const struct block_lowered *l, unsigned in,
			unsigned out, uint8_t *from, uint8_t *to)
{
	*from = source_name(insn, &l->in[in]);
	*to = l->out[out].kind == VALUE_FLAGS ? flags_operand_id(insn)
					      : operand_id(&insn->operand[l->out[out].operand]);
}

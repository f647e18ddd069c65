/* SPDX-License-Identifier: MIT
 *
 * Addresses of code that nobody runs.
 */
#include "trace/listing_values.h"

#include "isa/isa.h"
#include "trace/wire.h"

/* Values that nothing relates are far apart. */
#define ENTRY_VALUE (1ull << 32)
#define STACK_VALUE (7ull << 44)
#define FRAME_VALUE (6ull << 44)
#define FRESH_VALUE (1ull << 45)

enum { FRESH_SHIFT = 24, FRESH_MASK = (1 << 20) - 1, SEGMENT_SHIFT = 44 };

void listing_values_init(struct listing_values *v, const struct tact_isa *isa)
{
	for (unsigned i = 0; i < 256; i++)
		v->value[i] = ENTRY_VALUE;
	v->value[isa->registers.stack_pointer] = STACK_VALUE;
	v->value[isa->registers.frame_pointer] = FRAME_VALUE;
	v->n_fresh = 0;
	v->isa = isa;
}

static uint64_t fresh(struct listing_values *v)
{
	return FRESH_VALUE + ((v->n_fresh++ & FRESH_MASK) << FRESH_SHIFT);
}

static uint64_t address_of(const struct listing_values *v, const struct tact_insn *what,
			   const struct tact_operand *o)
{
	uint64_t at = 0;

	if (o->explicit_operand)
		at = (uint64_t)what->displacement;
	else if (o->implicit_pointer && what->pointer_change < 0)
		at = (uint64_t)what->pointer_change; /* push stores below */
	if (o->base != TACT_REG_NONE)
		at += v->value[o->base];
	if (o->index != TACT_REG_NONE)
		at += v->value[o->index] * o->scale;
	if (o->segment != TACT_REG_NONE)
		at ^= 1ull << SEGMENT_SHIFT;
	return at & WIRE_ADDRESS;
}

static uint64_t word_of(const struct listing_values *v, const struct tact_insn *what,
			const struct tact_operand *o, unsigned insn, bool is_store)
{
	uint64_t log = 0;

	while (log < 6 && 8u << log < o->bits)
		log++;
	if (isa_prefetch_level(v->isa, what))
		return WIRE_PREFETCH |
		       (uint64_t)(insn & (WIRE_PREFETCH_INSNS - 1)) << WIRE_INSN_SHIFT |
		       address_of(v, what, o);
	return (uint64_t)(insn & WIRE_INSN_MASK) << WIRE_INSN_SHIFT | log << WIRE_SIZE_SHIFT |
	       (is_store ? WIRE_STORE : 0) | address_of(v, what, o);
}

/* The value of the first register that is written. */
static uint64_t result_of(struct listing_values *v, const struct tact_insn *what)
{
	const struct tact_operand *source = NULL;

	for (unsigned i = 0; i < what->n_operands && !source; i++)
		if (what->operand[i].kind == TACT_OPERAND_REG &&
		    what->operand[i].role == TACT_ROLE_NONE &&
		    (what->operand[i].access & TACT_ACCESS_READ))
			source = &what->operand[i];
	switch ((enum tact_value_effect)what->value_effect) {
	case TACT_VALUE_LEA:
		if (what->operand[1].base != TACT_REG_NONE)
			return v->value[what->operand[1].base] + (uint64_t)what->displacement;
		break;
	case TACT_VALUE_CONSTANT:
		return (uint64_t)what->immediate;
	case TACT_VALUE_COPY:
		if (source)
			return v->value[source->reg];
		break;
	case TACT_VALUE_ADD:
		if (source)
			return v->value[source->reg] + (uint64_t)what->immediate;
		break;
	case TACT_VALUE_SUB:
		if (source)
			return v->value[source->reg] - (uint64_t)what->immediate;
		break;
	case TACT_VALUE_INC:
		if (source)
			return v->value[source->reg] + 1;
		break;
	case TACT_VALUE_DEC:
		if (source)
			return v->value[source->reg] - 1;
		break;
	case TACT_VALUE_UNKNOWN:
	case TACT_VALUE_LOAD:
		break;
	}
	return fresh(v);
}

static uint8_t base_of(const struct tact_insn *what)
{
	for (unsigned i = 0; i < what->n_operands; i++)
		if (what->operand[i].kind == TACT_OPERAND_MEM && what->operand[i].explicit_operand)
			return what->operand[i].base;
	return TACT_REG_NONE;
}

size_t listing_execute(struct listing_values *v, const struct tact_insn *what, unsigned insn,
		       uint64_t *words)
{
	static const unsigned bits[2] = {TACT_ACCESS_READ, TACT_ACCESS_WRITE};
	const uint64_t result = result_of(v, what);
	bool is_first = true;
	size_t n = 0;

	for (unsigned k = 0; k < 2; k++)
		for (unsigned i = 0; i < what->n_operands && n < LISTING_MOST_ACCESSES; i++)
			if (what->operand[i].kind == TACT_OPERAND_MEM &&
			    (what->operand[i].access & bits[k]))
				words[n++] = word_of(v, what, &what->operand[i], insn, k == 1);
	for (unsigned i = 0; i < what->n_operands; i++) {
		const struct tact_operand *o = &what->operand[i];

		if (o->kind != TACT_OPERAND_REG || o->role != TACT_ROLE_NONE ||
		    o->implicit_pointer ||
		    !(o->access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE)))
			continue;
		if (what->base_change && o->reg == base_of(what)) {
			v->value[o->reg] += (uint64_t)(int64_t)what->base_change;
			continue;
		}
		v->value[o->reg] = is_first ? result : fresh(v);
		is_first = false;
	}
	if (what->pointer_change)
		v->value[what->pointer_reg] += (uint64_t)(int64_t)what->pointer_change;
	return n;
}

/* SPDX-License-Identifier: MIT
 *
 * A machine that executes blocks without knowing the program's data.
 *
 * Copies, constants, sums with constants, addresses, push and pop are computed; loads bring what was
 * stored before.  Every other result is a number that depends on the operands alone: the same
 * operation on the same values gives the same number, so that an address that is computed twice is
 * known to be one address.  Memory that was never written holds numbers that depend on its address.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "mix/values.h"

enum {
	MAX_MEMORY = 2,	  /* operands of an instruction */
	MAX_WRITTEN = 4,  /* registers */
	MEMORY = 1 << 14, /* words that are remembered */
	REGISTERS = 256,  /* TACT_REG_NONE among them: it holds 0 */
	MAX_ACCESS = 64,  /* bytes */
	ALIGNMENT = 64	  /* of numbers: pointers are aligned, as a rule */
};

struct memory_operand {
	uint8_t base, index, scale, segment;
	uint16_t bytes;
	int16_t shift; /* what push adds to the pointer before it stores */
	bool is_load, is_store, is_displaced;
};

struct instruction {
	int64_t displacement, immediate;
	uint64_t place; /* tells it from others */
	int16_t pointer_change;
	uint8_t effect, source, pointer_reg, agen; /* agen: 1 + number of the address it computes */
	uint8_t n_memory, n_written, n_read;
	uint8_t written[MAX_WRITTEN], read[MAX_WRITTEN];
	bool stores_register; /* the store leaves the whole source register */
	struct memory_operand memory[MAX_MEMORY];
};

struct mix_script {
	uint32_t n, n_accesses; /* at most */
	struct instruction instructions[];
};

struct word {
	uint64_t address, value;
	bool is_set;
};

struct mix_values {
	uint8_t stack_pointer;
	uint64_t value[REGISTERS];
	uint64_t stack_before; /* the stack pointer before the last instruction */
	struct word memory[MEMORY];
	struct tact_trace_access *accesses; /* owned */
	size_t capacity;
};

static uint64_t mixed(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdu; /* of MurmurHash3's finaliser */
	return h ^ h >> 29;
}

/* Makes a number that looks like a pointer. */
static uint64_t number_of(uint64_t h)
{
	return h >> 8 & ~(uint64_t)(ALIGNMENT - 1);
}

/* ---- preparing ---- */

static void add_memory(struct instruction *to, const struct tact_insn *insn,
		       const struct tact_operand *o)
{
	const unsigned bytes = o->bits / 8u;

	if (to->n_memory == MAX_MEMORY)
		return;
	if (o->kind == TACT_OPERAND_AGEN)
		to->agen = (uint8_t)(to->n_memory + 1);
	to->memory[to->n_memory++] = (struct memory_operand){
		.base = o->base,
		.index = o->index,
		.scale = o->scale,
		.segment = o->segment,
		.bytes = (uint16_t)(!bytes		 ? 1
				    : bytes < MAX_ACCESS ? bytes
							 : MAX_ACCESS),
		.shift = o->implicit_pointer && insn->pointer_change < 0 ? insn->pointer_change : 0,
		.is_load = o->kind == TACT_OPERAND_MEM &&
			   o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ),
		.is_store = o->kind == TACT_OPERAND_MEM &&
			    o->access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE),
		.is_displaced = o->explicit_operand};
}

static void add_register(struct instruction *to, const struct tact_operand *o)
{
	if (o->implicit_pointer || o->role != TACT_ROLE_NONE || o->reg == TACT_REG_NONE)
		return;
	if (o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ)) {
		if (to->source == TACT_REG_NONE) {
			to->source = o->reg;
			to->stores_register = o->bits == 64;
		}
		if (to->n_read < MAX_WRITTEN)
			to->read[to->n_read++] = o->reg;
	}
	if (o->access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE) && to->n_written < MAX_WRITTEN)
		to->written[to->n_written++] = o->reg;
}

static void prepare(struct instruction *to, const struct tact_insn *insn, uint64_t address)
{
	*to = (struct instruction){.displacement = insn->displacement,
				   .immediate = insn->immediate,
				   .place = address,
				   .pointer_change = insn->pointer_change,
				   .effect = insn->value_effect,
				   .source = TACT_REG_NONE,
				   .pointer_reg = insn->pointer_reg};
	/* A register combined with itself: zero, as a rule. */
	if (insn->attributes & TACT_INSN_SAME_REG && insn->attributes & TACT_INSN_LOGICAL) {
		to->effect = TACT_VALUE_CONSTANT;
		to->immediate = 0;
	}
	if (insn->attributes & TACT_INSN_PC_RELATIVE)
		to->displacement += (int64_t)(address + insn->length);
	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind == TACT_OPERAND_REG)
			add_register(to, o);
		else if (o->kind != TACT_OPERAND_IMM && !(insn->attributes & TACT_INSN_NOP))
			add_memory(to, insn, o);
	}
}

int mix_script_create(struct mix_script **out, const struct tact_isa *isa, const uint8_t *code,
		      size_t size, uint64_t address)
{
	struct mix_script *script;
	struct tact_insn insn;
	uint32_t n = 0;
	int length;

	*out = NULL;
	for (size_t at = 0; at < size; at += (size_t)length, n++) {
		length = tact_isa_decode(isa, &insn, code + at, size - at);
		if (length <= 0)
			return -TACT_E_DECODE;
	}
	script = malloc(sizeof(*script) + n * sizeof(*script->instructions));
	if (!script)
		return -TACT_E_NOMEM;
	script->n = n;
	script->n_accesses = 0;
	n = 0;
	for (size_t at = 0; at < size; at += (size_t)length, n++) {
		length = tact_isa_decode(isa, &insn, code + at, size - at);
		prepare(&script->instructions[n], &insn, address + at);
		if (isa_prefetch_level(isa, &insn)) /* as in struct tact_trace_access */
			script->instructions[n].memory[0].bytes = 0;
		script->n_accesses += 2u * script->instructions[n].n_memory;
	}
	*out = script;
	return 0;
}

void mix_script_destroy(struct mix_script *script)
{
	free(script);
}

/* ---- executing ---- */

int mix_values_create(struct mix_values **out, const struct tact_isa *isa)
{
	struct mix_values *v = calloc(1, sizeof(*v));

	*out = v;
	if (!v)
		return -TACT_E_NOMEM;
	v->stack_pointer = (uint8_t)tact_isa_stack_pointer(isa);
	for (unsigned r = 0; r < TACT_REG_NONE; r++)
		v->value[r] = number_of(mixed(1, r));
	return 0;
}

void mix_values_destroy(struct mix_values *v)
{
	if (v)
		free(v->accesses);
	free(v);
}

uint64_t mix_values_stack(const struct mix_values *v)
{
	return v->stack_before;
}

void mix_values_set_stack(struct mix_values *v, uint64_t pointer)
{
	v->value[v->stack_pointer] = pointer;
}

static uint64_t address_of(const struct mix_values *v, const struct instruction *i,
			   const struct memory_operand *m)
{
	uint64_t address = v->value[m->base] + v->value[m->index] * m->scale + (uint64_t)m->shift;

	if (m->is_displaced)
		address += (uint64_t)i->displacement;
	if (m->segment != TACT_REG_NONE)
		address += number_of(mixed(2, m->segment));
	return address;
}

static struct word *word_at(struct mix_values *v, uint64_t address)
{
	return &v->memory[(hash_number(address >> 3) >> 40) & (MEMORY - 1)];
}

static uint64_t load(struct mix_values *v, uint64_t address)
{
	const struct word *w = word_at(v, address);

	return w->is_set && w->address == address ? w->value : number_of(mixed(3, address));
}

/* Returns what an instruction leaves in the first register that it writes. */
static uint64_t result_of(const struct mix_values *v, const struct instruction *i, uint64_t loaded)
{
	const uint64_t source = v->value[i->source];
	uint64_t h;

	if (i->agen)
		return address_of(v, i, &i->memory[i->agen - 1]);
	switch ((enum tact_value_effect)i->effect) {
	case TACT_VALUE_COPY:
		return i->source == TACT_REG_NONE ? loaded : source;
	case TACT_VALUE_ADD:
		return source + (uint64_t)i->immediate;
	case TACT_VALUE_SUB:
		return source - (uint64_t)i->immediate;
	case TACT_VALUE_INC:
		return source + 1;
	case TACT_VALUE_DEC:
		return source - 1;
	case TACT_VALUE_LOAD:
		return loaded;
	case TACT_VALUE_CONSTANT:
		return (uint64_t)i->immediate;
	default:
		break;
	}
	h = mixed(mixed(4, i->place), loaded);
	for (unsigned k = 0; k < i->n_read; k++)
		h = mixed(h, v->value[i->read[k]]);
	return number_of(h);
}

static void step(struct mix_values *v, const struct instruction *i, uint32_t number, long *n)
{
	uint64_t address[MAX_MEMORY] = {0}, loaded = 0, result;

	v->stack_before = v->value[v->stack_pointer];
	for (unsigned k = 0; k < i->n_memory; k++) {
		address[k] = address_of(v, i, &i->memory[k]);
		if (!i->memory[k].is_load)
			continue;
		loaded = load(v, address[k]);
		v->accesses[(*n)++] = (struct tact_trace_access){.address = address[k],
								 .insn = (uint16_t)number,
								 .size = i->memory[k].bytes};
	}
	result = result_of(v, i, loaded);
	for (unsigned k = 0; k < i->n_memory; k++) {
		const bool is_whole = i->stores_register && i->memory[k].bytes == 8 &&
				      (i->effect == TACT_VALUE_COPY || i->pointer_change);

		if (!i->memory[k].is_store)
			continue;
		*word_at(v, address[k]) = (struct word){
			address[k], is_whole ? v->value[i->source] : mixed(result, 5), true};
		v->accesses[(*n)++] = (struct tact_trace_access){.address = address[k],
								 .insn = (uint16_t)number,
								 .is_store = true,
								 .size = i->memory[k].bytes};
	}
	for (unsigned k = 0; k < i->n_written; k++)
		v->value[i->written[k]] = k ? number_of(mixed(result, k)) : result;
	if (i->pointer_change)
		v->value[i->pointer_reg] += (uint64_t)(int64_t)i->pointer_change;
}

long mix_values_run(struct mix_values *v, const struct mix_script *script,
		    const struct tact_trace_access **accesses)
{
	long n = 0;

	if (tact_grow(&v->accesses, &v->capacity, script->n_accesses + 1, sizeof(*v->accesses)) < 0)
		return -TACT_E_NOMEM;
	for (uint32_t i = 0; i < script->n; i++)
		step(v, &script->instructions[i], i, &n);
	*accesses = v->accesses;
	return n;
}

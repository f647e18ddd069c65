/* SPDX-License-Identifier: MIT
 *
 * Addresses of memory accesses, from the registers before an instruction.
 */
#include "trace/native_blocks.h"

enum { LARGEST = 64, LARGEST_SHIFT = 6, MOST_BYTES = 8192 }; /* of a word; of an access */

static uint64_t general(const struct tact_isa *isa, const struct isa_state *state, unsigned reg)
{
	return isa_is_general(isa, reg) ? state->general[reg] : 0;
}

/* Returns false if the address is unknown. */
static bool address_of(const struct tact_isa *isa, const struct tact_insn *insn,
		       const struct tact_operand *o, const struct isa_state *state, uint64_t *out)
{
	uint64_t address = general(isa, state, o->base);

	if (isa_is_vector(isa, o->index) || isa_is_vector(isa, o->base))
		return false;
	address += general(isa, state, o->index) * o->scale;
	if (o->explicit_operand)
		address += (uint64_t)insn->displacement;
	if (o->explicit_operand && insn->attributes & TACT_INSN_PC_RELATIVE)
		address += state->pc + insn->length;
	/* What is pushed goes below the pointer. */
	if (o->implicit_pointer && insn->pointer_change < 0 && o->access & TACT_ACCESS_WRITE)
		address += (uint64_t)(int64_t)insn->pointer_change;
	if (o->segment != TACT_REG_NONE)
		address += isa->native->tracing->segment_base(state, o->segment);
	*out = address;
	return true;
}

/* Writes an access as words whose sizes are powers of two. */
static size_t put(uint64_t address, uint64_t bytes, bool is_store, unsigned number, uint64_t *to,
		  size_t capacity)
{
	size_t n = 0;

	while (bytes && n < capacity) {
		unsigned shift = LARGEST_SHIFT;

		while (1u << shift > bytes)
			shift--;
		to[n++] = (uint64_t)number << WIRE_INSN_SHIFT | (uint64_t)shift << WIRE_SIZE_SHIFT |
			  (is_store ? WIRE_STORE : 0) | (address & WIRE_ADDRESS);
		address += 1u << shift;
		bytes -= 1u << shift;
	}
	return n;
}

static bool reads(const struct tact_operand *o)
{
	return o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ);
}

static bool writes(const struct tact_operand *o)
{
	return o->access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE);
}

size_t native_accesses(const struct tact_isa *isa, const struct tact_insn *insn,
		       const struct isa_state *state, unsigned number, uint64_t *to,
		       size_t capacity)
{
	const bool is_prefetch = isa_prefetch_level(isa, insn) != 0;
	size_t n = 0;

	for (int store = 0; store < 2; store++) { /* loads come first */
		for (unsigned i = 0; i < insn->n_operands; i++) {
			const struct tact_operand *o = &insn->operand[i];
			const uint64_t bytes = o->bits / 8 < MOST_BYTES ? o->bits / 8 : MOST_BYTES;
			uint64_t address;

			if (o->kind != TACT_OPERAND_MEM || !(store ? writes(o) : reads(o)) ||
			    !address_of(isa, insn, o, state, &address))
				continue;
			if (!is_prefetch)
				n += put(address, bytes, store, number, to + n, capacity - n);
			else if (n < capacity && number < WIRE_PREFETCH_INSNS)
				to[n++] = WIRE_PREFETCH | (uint64_t)number << WIRE_INSN_SHIFT |
					  (address & WIRE_ADDRESS);
		}
	}
	return n;
}

size_t native_repetitions(const struct tact_isa *isa, const struct tact_insn *insn,
			  const struct isa_state *state, uint64_t times, uint64_t *to,
			  size_t capacity)
{
	const bool is_descending = isa->native->tracing->is_descending(state);
	const size_t half = capacity / 2;
	size_t n = 0;

	for (unsigned i = 0; i < insn->n_operands && times > 1; i++) {
		const struct tact_operand *o = &insn->operand[i];
		const uint64_t bytes = (times - 1) * (o->bits / 8);
		uint64_t address;

		if (o->kind != TACT_OPERAND_MEM || !o->access ||
		    !address_of(isa, insn, o, state, &address))
			continue;
		address += is_descending ? -bytes : o->bits / 8;
		n += put(address, bytes, writes(o), 0, to + n,
			 capacity - n < half ? capacity - n : half);
	}
	return n;
}

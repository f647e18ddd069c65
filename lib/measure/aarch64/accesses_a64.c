/* SPDX-License-Identifier: MIT
 *
 * The addresses that an instruction accesses, computed from the registers before it.
 */
#include "measure/aarch64/measure_a64.h"

static uint64_t value_of(const struct measure_step *step, unsigned reg)
{
	return isa_is_general(&isa_aarch64, reg) ? step->reg[reg] : 0;
}

/* An index of 32 bits is extended: option (bits 15 to 13) 2 with zeros, 6 with its sign. */
static uint64_t index_of(const struct measure_step *step, const struct tact_operand *o,
			 uint32_t word)
{
	const uint64_t value = value_of(step, o->index);
	const uint32_t option = a64_field(word, 13, 3);

	if (o->index == TACT_REG_NONE || option & 1)
		return value;
	return option == 6 ? (uint64_t)(int64_t)(int32_t)value : (uint32_t)value;
}

unsigned measure_a64_accesses(struct measure_access *out, const uint8_t *code, size_t size,
			      const struct measure_step *step)
{
	struct tact_insn insn;
	unsigned n = 0;

	if (size < 4 || tact_isa_decode(&isa_aarch64, &insn, code, size) < 0 ||
	    insn.attributes & TACT_INSN_PC_RELATIVE)
		return 0;
	for (unsigned i = 0; i < insn.n_operands && n < MEASURE_MAX_ACCESSES; i++) {
		const struct tact_operand *o = &insn.operand[i];

		if (o->kind != TACT_OPERAND_MEM)
			continue;
		out[n++] = (struct measure_access){.address = value_of(step, o->base) +
							      index_of(step, o, a64_word(code)) *
								      o->scale +
							      (uint64_t)insn.displacement,
						   .size = o->bits / 8u,
						   .is_load = o->access & TACT_ACCESS_READ,
						   .is_store = o->access & TACT_ACCESS_WRITE};
	}
	return n;
}

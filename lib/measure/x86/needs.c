/* SPDX-License-Identifier: MIT
 *
 * What a block needs of the vector registers that it starts with; entry_state.c loads them.
 */
#include "measure/x86/measure_x86.h"

static bool is_vector(ZydisRegister reg)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(reg);

	return class == ZYDIS_REGCLASS_XMM || class == ZYDIS_REGCLASS_YMM ||
	       class == ZYDIS_REGCLASS_ZMM;
}

/* Returns the operand that masks an access by the signs of its elements; -1: none does. */
static int mask_operand(const ZydisDecodedInstruction *zi)
{
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return 1;
	default:
		break;
	}
	/* A gather by VEX: destination, memory, mask. */
	return zi->meta.category == ZYDIS_CATEGORY_AVX2GATHER ? 2 : -1;
}

void measure_x86_note_vectors(struct measure_screen *s, const ZydisDecodedInstruction *zi,
			      const ZydisDecodedOperand *ops)
{
	struct measure_needs *needs = &s->needs;
	int mask = mask_operand(zi);

	for (int i = 0; i < zi->operand_count_visible; i++) {
		const ZydisDecodedOperand *op = &ops[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER && is_vector(op->reg.value)) {
			unsigned bytes =
				ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value) /
				8u;

			if (bytes > needs->vector_bytes)
				needs->vector_bytes = bytes;
			if (zi->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY)
				needs->has_short_vectors = true;
			if (i == mask)
				needs->mask_vectors |= 1u << ZydisRegisterGetId(op->reg.value);
		} else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && is_vector(op->mem.index)) {
			needs->index_vectors |= 1u << ZydisRegisterGetId(op->mem.index);
		}
	}
	if (needs->has_short_vectors)
		needs->vector_bytes = 16;
}

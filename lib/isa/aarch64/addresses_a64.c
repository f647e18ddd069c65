/* SPDX-License-Identifier: MIT
 *
 * What LLVM's description of an instruction leaves out, from its word: addresses (C4.1.94, loads and
 * stores; C4.1.30 to 37 for SVE), calls of the kernel, values that are constants apart.
 */
#include "isa/aarch64/aarch64.h"

/* Register number 31 is the stack pointer in an address. */
static uint8_t base_of(uint32_t w)
{
	return (uint8_t)a64_field(w, 5, 5);
}

/* Number 31 is zero as an index. */
static uint8_t index_of(uint32_t w)
{
	const uint8_t reg = (uint8_t)a64_field(w, 16, 5);

	return reg == 31 ? TACT_REG_NONE : reg;
}

/* log2 of the bytes of one register: size, and for vectors a bit of opc. */
static unsigned scale_of(uint32_t w)
{
	const unsigned size = a64_field(w, 30, 2);

	return a64_field(w, 26, 1) && !size && a64_field(w, 23, 1) ? 4 : size;
}

static void one_register(struct mc_address *out, uint32_t w)
{
	const unsigned scale = scale_of(w);

	out->bits = (uint16_t)(8u << scale);
	if (a64_field(w, 24, 1)) {
		out->displacement = (int64_t)a64_field(w, 10, 12) << scale;
	} else if (!a64_field(w, 21, 1)) {
		/* 1: the constant is added to the base after the access, 3: before it */
		if (a64_field(w, 10, 2) != 1)
			out->displacement = a64_signed(w, 12, 9);
		if (a64_field(w, 10, 2) & 1)
			out->base_change = (int16_t)a64_signed(w, 12, 9);
	} else if (a64_field(w, 10, 2) == 2) {
		out->index = index_of(w);
		out->scale = (uint8_t)(a64_field(w, 12, 1) ? 1u << scale : 1u);
	} else if (a64_field(w, 10, 2) & 1) { /* with pointer authentication */
		out->displacement = (int64_t)((uint64_t)(a64_signed(w, 12, 9) |
							 (a64_field(w, 22, 1) ? -512 : 0)) *
					      8);
	}
}

static void pair(struct mc_address *out, uint32_t w)
{
	const unsigned opc = a64_field(w, 30, 2);
	const unsigned scale = a64_field(w, 26, 1) ? 2 + opc : opc & 2 ? 3 : 2;

	out->bits = (uint16_t)(16u << scale);
	if (a64_field(w, 23, 2) != 1)
		out->displacement = a64_signed(w, 15, 7) * (1 << scale);
	if (a64_field(w, 23, 1))
		out->base_change = (int16_t)(a64_signed(w, 15, 7) * (1 << scale));
}

bool a64_find_address(struct mc_address *out, const uint8_t *code, unsigned length)
{
	const uint32_t w = a64_word(code);

	(void)length;
	out->base = base_of(w);
	if (a64_field(w, 25, 4) == 2) /* SVE: a scalar base, if it is not a vector of them */
		return true;
	if ((w & 0x0a000000) != 0x08000000)
		return false;
	switch (a64_field(w, 27, 3)) {
	case 7:
		one_register(out, w);
		return true;
	case 5:
		pair(out, w);
		return true;
	case 3:
		if (a64_field(w, 24, 1)) { /* tags, and RCpc accesses without a scale */
			out->displacement = a64_signed(w, 12, 9);
			return true;
		}
		out->base = TACT_REG_NONE;
		out->is_pc_relative = true;
		out->bits = a64_field(w, 30, 2) == 2   ? (a64_field(w, 26, 1) ? 128 : 32)
			    : a64_field(w, 30, 2) == 1 ? 64
						       : 32;
		return true;
	default: /* exclusive accesses; structures of vectors */
		if (!a64_field(w, 26, 1)) {
			/* stxr and ldxr, but not swaps */
			out->only_stores = !a64_field(w, 21, 3);
			out->only_loads = a64_field(w, 21, 3) == 2;
			out->bits = (uint16_t)(8u << a64_field(w, 30, 2));
		}
		return true;
	}
}

/* A copy of a whole register; sums with constants. */
static void find_value(struct tact_insn *insn, uint32_t w)
{
	if ((w & 0xffe0ffe0) == 0xaa0003e0) { /* orr x, xzr, x */
		insn->value_effect = TACT_VALUE_COPY;
		insn->attributes |= TACT_INSN_MOVE;
	} else if ((w & 0xbf800000) == 0x91000000) { /* add, sub x, x, # */
		insn->value_effect = w >> 30 & 1 ? TACT_VALUE_SUB : TACT_VALUE_ADD;
		insn->immediate = (int64_t)a64_field(w, 10, 12) << (w >> 22 & 1 ? 12 : 0);
	} else if ((w & 0xffc00000) == 0xf9400000 || (w & 0xffc00000) == 0xb9400000) {
		insn->value_effect = TACT_VALUE_LOAD; /* ldr of 64 and 32 bits */
	}
}

void a64_refine(struct tact_insn *insn, const uint8_t *code)
{
	const uint32_t w = a64_word(code);

	if ((w & 0xffe0001f) == 0xd4000001) /* svc */
		insn->flow = TACT_FLOW_KERNEL;
	else if ((w & 0xffe0001f) == 0xd4200000 || (w & 0xffe0001f) == 0xd4400000 || !(w >> 16))
		insn->flow = TACT_FLOW_STOP; /* brk, hlt, udf */
	if (w == 0xd503201f)
		insn->attributes |= TACT_INSN_NOP;
	find_value(insn, w);
}

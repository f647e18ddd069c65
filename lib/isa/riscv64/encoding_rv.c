/* SPDX-License-Identifier: MIT
 *
 * What LLVM's description of an instruction leaves out, from its bits: addresses, calls of the
 * kernel, values that are constants apart; and distances of branches.
 */
#include <elf.h>

#include "isa/riscv64/riscv64.h"

static int64_t sign(uint32_t value, unsigned bits)
{
	const int64_t top = 1ll << (bits - 1);

	return ((int64_t)value ^ top) - top;
}

static uint8_t reg(uint32_t number)
{
	return number ? (uint8_t)number : TACT_REG_NONE;
}

/* ---- addresses ---- */

/* Loads and stores of the compressed set; those of other quadrants access no memory. */
static bool find_compressed(struct mc_address *out, uint32_t w)
{
	const unsigned quadrant = w & 3, kind = rv_field(w, 13, 3);
	const bool is_wide = kind != 2 && kind != 6; /* c.lw, c.sw */

	out->bits = is_wide ? 64 : 32;
	if (quadrant == 0 && kind && kind != 4) {
		out->base = (uint8_t)(8 + rv_field(w, 7, 3));
		out->displacement = (int64_t)(rv_field(w, 10, 3) << 3);
		out->displacement += is_wide ? rv_field(w, 5, 2) << 6
					     : rv_field(w, 6, 1) << 2 | rv_field(w, 5, 1) << 6;
		return true;
	}
	if (quadrant == 2 && (kind & 3)) {
		out->base = RV_REG_SP;
		if (kind & 4)
			out->displacement =
				is_wide ? rv_field(w, 10, 3) << 3 | rv_field(w, 7, 3) << 6
					: rv_field(w, 9, 4) << 2 | rv_field(w, 7, 2) << 6;
		else
			out->displacement =
				rv_field(w, 12, 1) << 5 |
				(is_wide ? rv_field(w, 5, 2) << 3 | rv_field(w, 2, 3) << 6
					 : rv_field(w, 4, 3) << 2 | rv_field(w, 2, 2) << 6);
		return true;
	}
	return false;
}

bool rv_find_address(struct mc_address *out, const uint8_t *code, unsigned length)
{
	const uint32_t w = rv_word(code, length);
	const unsigned width = rv_field(w, 12, 3);

	if (length == 2)
		return find_compressed(out, w);
	out->base = reg(rv_field(w, 15, 5));
	switch (w & 0x7f) {
	case 0x07: /* floating point, or vectors: widths 0, 5, 6 and 7 */
	case 0x27:
		if (!width || width > 4)
			return true;
		out->bits = (uint16_t)(8u << width);
		break;
	case 0x03:
	case 0x23:
		out->bits = (uint16_t)(8u << (width & 3));
		break;
	case 0x2f: /* atomic ones have no displacement */
		out->bits = (uint16_t)(8u << (width & 3));
		return true;
	default: /* fence, system */
		return false;
	}
	out->displacement = (w & 0x20) ? sign(rv_field(w, 25, 7) << 5 | rv_field(w, 7, 5), 12)
				       : sign(w >> 20, 12);
	return true;
}

/* ---- transfers ---- */

/* The registers that calls and returns are known by (unprivileged manual, 2.5.1). */
static bool is_link(unsigned number)
{
	return number == 1 || number == 5;
}

/* A jump that keeps its address elsewhere is none: the stubs that calls of libraries go through
 * (jalr t1, t3) begin nothing that returns to them.
 */
static void find_jump(struct tact_insn *insn, uint32_t w)
{
	const unsigned opcode = w & 0x7f;

	if (insn->flow != TACT_FLOW_CALL || insn->length != 4 ||
	    (opcode != 0x67 && opcode != 0x6f) || is_link(rv_field(w, 7, 5)))
		return;
	insn->flow = TACT_FLOW_JUMP;
	insn->attributes &= ~(uint32_t)TACT_INSN_CALL;
}

/* ---- values ---- */

void rv_refine(struct tact_insn *insn, const uint8_t *code)
{
	const uint32_t w = rv_word(code, insn->length);

	if (w == 0x00000073) /* ecall */
		insn->flow = TACT_FLOW_KERNEL;
	else if (w == 0x00100073 || w == 0x9002 || !w) /* ebreak, c.ebreak, the illegal one */
		insn->flow = TACT_FLOW_STOP;
	find_jump(insn, w);
	if (w == 0x00000013 || w == 0x0001)
		insn->attributes |= TACT_INSN_NOP;
	if (insn->length == 4 && (w & 0x707f) == 0x13 && rv_field(w, 15, 5)) { /* addi */
		insn->value_effect = TACT_VALUE_ADD;
		insn->immediate = sign(w >> 20, 12);
	} else if (insn->length == 2 && (w & 0xe003) == 0x0001 && rv_field(w, 7, 5)) { /* c.addi */
		insn->value_effect = TACT_VALUE_ADD;
		insn->immediate = sign(rv_field(w, 12, 1) << 5 | rv_field(w, 2, 5), 6);
	} else if (insn->length == 2 && (w & 0xf003) == 0x8002 && rv_field(w, 2, 5)) { /* c.mv */
		insn->value_effect = TACT_VALUE_COPY;
		insn->attributes |= TACT_INSN_MOVE;
	} else if (insn->length == 4 && (w & 0x707f) == 0x3003) { /* ld */
		insn->value_effect = TACT_VALUE_LOAD;
	}
}

/* ---- distances: their bits are scattered ---- */

struct piece {
	uint8_t from, n, to; /* bits of the distance, and where they go */
};

struct form {
	uint32_t mask, value;
	unsigned type; /* of the relocation */
	uint8_t length, bits;
	struct piece pieces[9];
};

static const struct form forms[] = {
	{0x7f, 0x63, R_RISCV_BRANCH, 4, 13, {{11, 1, 7}, {1, 4, 8}, {5, 6, 25}, {12, 1, 31}}},
	{0x7f, 0x6f, R_RISCV_JAL, 4, 21, {{12, 8, 12}, {11, 1, 20}, {1, 10, 21}, {20, 1, 31}}},
	{0xc003,
	 0xc001,
	 R_RISCV_RVC_BRANCH,
	 2,
	 9,
	 {{5, 1, 2}, {1, 2, 3}, {6, 2, 5}, {3, 2, 10}, {8, 1, 12}}},
	{0xe003,
	 0xa001,
	 R_RISCV_RVC_JUMP,
	 2,
	 12,
	 {{5, 1, 2},
	  {1, 3, 3},
	  {7, 1, 6},
	  {6, 1, 7},
	  {10, 1, 8},
	  {8, 2, 9},
	  {4, 1, 11},
	  {11, 1, 12}}},
};

bool rv_retarget(uint8_t *insn, size_t length, int64_t distance)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct form *f = &forms[i];
		uint32_t w = rv_word(insn, (unsigned)length);

		if (f->length != length || (w & f->mask) != f->value)
			continue;
		if (distance & 1 || distance < -(1ll << (f->bits - 1)) ||
		    distance >= 1ll << (f->bits - 1))
			return false;
		for (const struct piece *p = f->pieces; p->n; p++) {
			const uint32_t mask = (1u << p->n) - 1;

			w = (w & ~(mask << p->to)) | ((uint32_t)(distance >> p->from) & mask)
							     << p->to;
		}
		memcpy(insn, &w, length);
		return true;
	}
	return false;
}

unsigned rv_relocated_bytes(unsigned type)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		if (forms[i].type == type)
			return forms[i].length;
	return 0;
}

void rv_relocate(uint8_t *place, unsigned type, int64_t distance)
{
	rv_retarget(place, rv_relocated_bytes(type), distance);
}

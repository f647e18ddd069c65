/* SPDX-License-Identifier: MIT
 *
 * Instructions that others replace, for advice: one function per kind.
 */
#include "isa/x86/rewrite_x86.h"

static bool add_code(struct isa_replacement *out, const ZydisEncoderRequest *request)
{
	const size_t size = x86_rewrite_encode(request, out->code + out->size);

	out->size = (uint8_t)(out->size + size);
	return size > 0;
}

/* What merges into its destination although nothing asks for that: the counts of bits on cores of
 * Intel before Cannon Lake (errata HSD146, SKL029), and scalar conversions and roots always.
 */
static bool merges_scalar(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_CVTSI2SS:
	case ZYDIS_MNEMONIC_CVTSI2SD:
	case ZYDIS_MNEMONIC_CVTSS2SD:
	case ZYDIS_MNEMONIC_CVTSD2SS:
	case ZYDIS_MNEMONIC_SQRTSS:
	case ZYDIS_MNEMONIC_SQRTSD:
	case ZYDIS_MNEMONIC_RCPSS:
	case ZYDIS_MNEMONIC_RSQRTSS:
	case ZYDIS_MNEMONIC_ROUNDSS:
	case ZYDIS_MNEMONIC_ROUNDSD:
	case ZYDIS_MNEMONIC_VCVTSI2SS:
	case ZYDIS_MNEMONIC_VCVTSI2SD:
	case ZYDIS_MNEMONIC_VCVTSS2SD:
	case ZYDIS_MNEMONIC_VCVTSD2SS:
	case ZYDIS_MNEMONIC_VSQRTSS:
	case ZYDIS_MNEMONIC_VSQRTSD:
	case ZYDIS_MNEMONIC_VROUNDSS:
	case ZYDIS_MNEMONIC_VROUNDSD:
		return true;
	default:
		return false;
	}
}

/* Whether operand i or an address uses a register that the instruction writes first. */
static bool is_source(const struct x86_decoded *d, unsigned i, uint8_t reg)
{
	const ZydisDecodedOperand *o = &d->ops[i];

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return x86_number_of(o->mem.base) == reg || x86_number_of(o->mem.index) == reg;
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER && x86_number_of(o->reg.value) == reg;
}

static bool zero_first(const uint8_t *code, size_t size, uint8_t free_general,
		       struct isa_replacement *out)
{
	ZydisEncoderRequest zero;
	struct x86_decoded d;
	bool is_vex;
	uint8_t reg;

	(void)free_general;
	if (!x86_rewrite_decode(&d, code, size) ||
	    d.zi.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ||
	    d.ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	reg = x86_number_of(d.ops[0].reg.value);
	is_vex = d.zi.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
	if (reg == TACT_REG_NONE)
		return false;
	/* Of three operands, the second is what is merged. */
	for (unsigned i = is_vex ? 2 : 1; i < d.zi.operand_count_visible; i++)
		if (is_source(&d, i, reg))
			return false;
	if (merges_scalar(d.zi.mnemonic)) {
		if (is_vex && !is_source(&d, 1, reg))
			return false;
		out->assumes = ISA_ASSUMES_UPPER_BITS;
		zero = x86_request(is_vex ? ZYDIS_MNEMONIC_VXORPS : ZYDIS_MNEMONIC_XORPS,
				   is_vex ? 3 : 2);
	} else if (d.ops[0].size >= 32 && (d.zi.mnemonic == ZYDIS_MNEMONIC_POPCNT ||
					   d.zi.mnemonic == ZYDIS_MNEMONIC_LZCNT ||
					   d.zi.mnemonic == ZYDIS_MNEMONIC_TZCNT)) {
		/* They write the flags, too: zeroing before them harms nothing. */
		zero = x86_request(ZYDIS_MNEMONIC_XOR, 2);
	} else {
		return false;
	}
	for (unsigned i = 0; i < zero.operand_count; i++)
		x86_request_register(&zero.operands[i],
				     reg < 16 ? x86_general(reg, 32)
					      : ZydisRegisterEncode(ZYDIS_REGCLASS_XMM,
								    (ZyanU8)(reg - X86_REG_VEC0)));
	if (!add_code(out, &zero))
		return false;
	memcpy(out->code + out->size, code, size);
	out->size = (uint8_t)(out->size + size);
	return true;
}

/* 66h and a constant of 16 bits: the same on 32 bits. */
static bool widen_constant(const uint8_t *code, size_t size, uint8_t free_general,
			   struct isa_replacement *out)
{
	ZydisEncoderRequest r;
	struct x86_decoded d;

	if (!x86_rewrite_decode(&d, code, size) || d.zi.raw.imm[0].size != 16 ||
	    d.zi.operand_width != 16 || d.zi.operand_count_visible != 2 ||
	    d.zi.attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return false;
	r = d.request;
	if (d.ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		/* Comparisons see the other half of the register. */
		if (x86_number_of(d.ops[0].reg.value) == TACT_REG_NONE)
			return false;
		r.operands[0].reg.value = x86_general(x86_number_of(d.ops[0].reg.value), 32);
		r.operands[1].imm.u = (uint16_t)r.operands[1].imm.u;
		out->assumes = ISA_ASSUMES_UPPER_BITS | ISA_ASSUMES_FLAGS;
		return add_code(out, &r);
	}
	if (d.ops[0].type != ZYDIS_OPERAND_TYPE_MEMORY || free_general >= 16)
		return false;
	out->assumes = ISA_USES_GENERAL;
	if (d.zi.mnemonic == ZYDIS_MNEMONIC_MOV) {
		/* mov r32, constant; mov [m], r16 */
		ZydisEncoderRequest load = x86_request(ZYDIS_MNEMONIC_MOV, 2);

		x86_request_register(&load.operands[0], x86_general(free_general, 32));
		load.operands[1] = (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_IMMEDIATE};
		load.operands[1].imm.u = (uint16_t)r.operands[1].imm.u;
		x86_request_register(&r.operands[1], x86_general(free_general, 16));
		return add_code(out, &load) && add_code(out, &r);
	}
	if (d.zi.mnemonic == ZYDIS_MNEMONIC_CMP || d.zi.mnemonic == ZYDIS_MNEMONIC_TEST) {
		/* movsx r32, [m]; cmp r32, the constant, extended too: all conditions are the same
		 * but those that ask for the sign or for an overflow alone
		 */
		if (d.zi.mnemonic == ZYDIS_MNEMONIC_CMP)
			out->assumes |= ISA_ASSUMES_CONDITION;
		ZydisEncoderRequest load = x86_request(ZYDIS_MNEMONIC_MOVSX, 2);

		x86_request_register(&load.operands[0], x86_general(free_general, 32));
		load.operands[1] = r.operands[0];
		x86_request_register(&r.operands[0], x86_general(free_general, 32));
		r.operands[1].imm.s = (int16_t)r.operands[1].imm.u;
		return add_code(out, &load) && add_code(out, &r);
	}
	return false;
}

/* mov r8 or r16, x keeps the rest of the register. */
static bool extend_part(const uint8_t *code, size_t size, uint8_t free_general,
			struct isa_replacement *out)
{
	ZydisEncoderRequest r;
	struct x86_decoded d;

	(void)free_general;
	if (!x86_rewrite_decode(&d, code, size) || d.zi.mnemonic != ZYDIS_MNEMONIC_MOV ||
	    d.ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER || d.ops[0].size > 16 ||
	    d.ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    x86_number_of(d.ops[0].reg.value) == TACT_REG_NONE ||
	    x86_number_of(d.ops[0].reg.value) >= 16)
		return false;
	if (d.ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    x86_number_of(d.ops[1].reg.value) >= 16) /* a segment, or ah */
		return false;
	r = d.request;
	r.mnemonic = ZYDIS_MNEMONIC_MOVZX;
	r.operands[0].reg.value = x86_general(x86_number_of(d.ops[0].reg.value), 32);
	out->assumes = ISA_ASSUMES_UPPER_BITS;
	return add_code(out, &r);
}

/* lea r, [base + index * scale + constant]: three parts are slow on some cores. */
static bool split_address(const uint8_t *code, size_t size, uint8_t free_general,
			  struct isa_replacement *out)
{
	ZydisEncoderRequest first, second;
	ZydisEncoderOperand *mem;
	struct x86_decoded d;

	(void)free_general;
	if (!x86_rewrite_decode(&d, code, size) || d.zi.mnemonic != ZYDIS_MNEMONIC_LEA ||
	    d.zi.address_width != 64 || d.ops[0].size < 32 || !d.ops[1].mem.disp.value ||
	    d.ops[1].mem.base == ZYDIS_REGISTER_NONE || d.ops[1].mem.index == ZYDIS_REGISTER_NONE)
		return false;
	first = second = d.request;
	first.operands[1].mem.displacement = 0;
	mem = &second.operands[1];
	mem->mem.base = x86_general(x86_number_of(d.ops[0].reg.value), 64);
	mem->mem.index = ZYDIS_REGISTER_NONE;
	mem->mem.scale = 0;
	return add_code(out, &first) && add_code(out, &second);
}

static bool count_down(const uint8_t *code, size_t size, uint8_t free_general,
		       struct isa_replacement *out)
{
	ZydisEncoderRequest count = x86_request(ZYDIS_MNEMONIC_DEC, 1), jump;
	struct x86_decoded d;

	(void)free_general;
	if (!x86_rewrite_decode(&d, code, size) || d.zi.mnemonic != ZYDIS_MNEMONIC_LOOP ||
	    d.zi.address_width != 64)
		return false;
	x86_request_register(&count.operands[0], ZYDIS_REGISTER_RCX);
	jump = x86_request(ZYDIS_MNEMONIC_JNZ, 1);
	jump.operands[0] = d.request.operands[0];
	out->assumes = ISA_ASSUMES_FLAGS;
	return add_code(out, &count) && add_code(out, &jump);
}

static bool narrow_division(const uint8_t *code, size_t size, uint8_t free_general,
			    struct isa_replacement *out)
{
	struct x86_decoded d;

	(void)free_general;
	if (!x86_rewrite_decode(&d, code, size) || d.zi.operand_width != 64 ||
	    (d.zi.mnemonic != ZYDIS_MNEMONIC_DIV && d.zi.mnemonic != ZYDIS_MNEMONIC_IDIV))
		return false;
	if (d.ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		d.request.operands[0].reg.value =
			x86_general(x86_number_of(d.ops[0].reg.value), 32);
	else if (d.ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
		d.request.operands[0].mem.size = 4;
	out->assumes = ISA_ASSUMES_SMALL;
	return add_code(out, &d.request);
}

/* The same instruction in fewer bytes.  Zydis' encoder takes the shortest encoding, except that it
 * does not know that 32 bits zero the rest.
 */
static bool shorten(const uint8_t *code, size_t size, uint8_t free_general,
		    struct isa_replacement *out)
{
	struct x86_decoded d;

	(void)free_general;
	/* Branches and addresses relative to the instruction keep their bytes. */
	if (!x86_rewrite_decode(&d, code, size) || d.zi.attributes & ZYDIS_ATTRIB_IS_RELATIVE ||
	    d.zi.attributes & ZYDIS_ATTRIB_HAS_SEGMENT)
		return false;
	if (d.zi.mnemonic == ZYDIS_MNEMONIC_NOP)
		return false;
	if (d.zi.mnemonic == ZYDIS_MNEMONIC_MOV && d.ops[0].size == 64 &&
	    d.ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    d.ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && d.ops[1].imm.value.u <= UINT32_MAX &&
	    (!d.ops[1].imm.is_signed || d.ops[1].imm.value.s >= 0))
		d.request.operands[0].reg.value =
			x86_general(x86_number_of(d.ops[0].reg.value), 32);
	return add_code(out, &d.request) && out->size < size;
}

/* A comparison of memory with a constant fuses with no jump. */
static bool load_first(const uint8_t *code, size_t size, uint8_t free_general,
		       struct isa_replacement *out)
{
	ZydisEncoderRequest load = x86_request(ZYDIS_MNEMONIC_MOV, 2);
	struct x86_decoded d;

	if (!x86_rewrite_decode(&d, code, size) || free_general >= 16 ||
	    (d.zi.mnemonic != ZYDIS_MNEMONIC_CMP && d.zi.mnemonic != ZYDIS_MNEMONIC_TEST) ||
	    d.ops[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    d.ops[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || d.ops[0].size < 32)
		return false;
	x86_request_register(&load.operands[0], x86_general(free_general, d.ops[0].size));
	load.operands[1] = d.request.operands[0];
	x86_request_register(&d.request.operands[0], x86_general(free_general, d.ops[0].size));
	out->assumes = ISA_USES_GENERAL;
	return add_code(out, &load) && add_code(out, &d.request);
}

/* or r, r; and r, r; cmp r, 0: test r, r sets the same flags and fuses with more jumps. */
static bool test_instead(const uint8_t *code, size_t size, uint8_t free_general,
			 struct isa_replacement *out)
{
	ZydisEncoderRequest test = x86_request(ZYDIS_MNEMONIC_TEST, 2);
	struct x86_decoded d;
	bool is_same;

	(void)free_general;
	if (!x86_rewrite_decode(&d, code, size) || d.zi.operand_count_visible != 2 ||
	    d.ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	is_same = d.ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		  d.ops[0].reg.value == d.ops[1].reg.value;
	if (d.zi.mnemonic == ZYDIS_MNEMONIC_CMP
		    ? d.ops[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || d.ops[1].imm.value.u
		    : (d.zi.mnemonic != ZYDIS_MNEMONIC_OR && d.zi.mnemonic != ZYDIS_MNEMONIC_AND) ||
			      !is_same)
		return false;
	/* 32 bits also zero the rest of the register. */
	if (d.zi.mnemonic != ZYDIS_MNEMONIC_CMP && d.ops[0].size == 32)
		out->assumes = ISA_ASSUMES_UPPER_BITS;
	x86_request_register(&test.operands[0], d.ops[0].reg.value);
	x86_request_register(&test.operands[1], d.ops[0].reg.value);
	return add_code(out, &test);
}

const struct isa_replacement_kind x86_replacements[] = {
	{"false-dependence",
	 "the result waits for the old value of its register without need; zero that register "
	 "first",
	 zero_first},
	{"length-changing-prefix",
	 "a 16-bit constant with an operand-size prefix stalls the predecoder; use 32 bits",
	 widen_constant},
	{"partial-register",
	 "a write to part of a register waits for the rest of it; write all of it", extend_part},
	{"three-part-address", "an address of three parts is slow to compute; use two instructions",
	 split_address},
	{"slow-branch", "loop is microcoded; count and branch with two instructions", count_down},
	{"wide-division", "a 64-bit division is slow; divide 32-bit numbers", narrow_division},
	{"unfused-compare",
	 "a comparison of memory with a constant does not fuse with the branch; load first",
	 load_first},
	{"unfused-test", "the branch does not fuse with this comparison with zero; use test",
	 test_instead},
	{"shorter-encoding", "shorter encodings of the same instructions exist", shorten},
	{NULL, NULL, NULL},
};

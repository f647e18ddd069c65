/* SPDX-License-Identifier: MIT
 *
 * Changed instructions, through Zydis' encoder.  Whatever the encoder writes is decoded again by
 * those who use it; an instruction that it cannot write is left alone.
 */
#include <string.h>

#include "isa/rewrite.h"
#include "isa/x86/x86.h"

struct decoded {
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisEncoderRequest request;
};

static bool decode(struct decoded *d, const uint8_t *code, size_t size)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &d->zi, d->ops)) &&
	       d->zi.length == size &&
	       ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(
		       &d->zi, d->ops, d->zi.operand_count_visible, &d->request));
}

static size_t encode(const ZydisEncoderRequest *request, uint8_t *out)
{
	uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH];
	ZyanUSize size = sizeof(code);

	if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(request, code, &size)))
		return 0;
	memcpy(out, code, size);
	return size;
}

static ZydisRegister general(uint8_t reg, ZyanU16 bits)
{
	const ZydisRegisterClass classes[] = {ZYDIS_REGCLASS_GPR8, ZYDIS_REGCLASS_GPR16,
					      ZYDIS_REGCLASS_GPR32, ZYDIS_REGCLASS_GPR64};
	const unsigned k = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;

	if (reg >= 16)
		return ZYDIS_REGISTER_NONE;
	/* Zydis has ah to bh before spl. */
	return ZydisRegisterEncode(classes[k], (ZyanU8)(k || reg < 4 ? reg : reg + 4));
}

/* The number of tact's registers, for those that can be renamed. */
static uint8_t number_of(ZydisRegister reg)
{
	const ZyanI8 id = ZydisRegisterGetId(reg);

	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
		if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
			return TACT_REG_NONE;
		return (uint8_t)(reg >= ZYDIS_REGISTER_SPL ? reg - ZYDIS_REGISTER_SPL + 4
							   : reg - ZYDIS_REGISTER_AL);
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return (uint8_t)id;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return (uint8_t)(X86_REG_VEC0 + id);
	default:
		return TACT_REG_NONE;
	}
}

static ZydisRegister renamed(ZydisRegister reg, uint8_t to)
{
	const ZydisRegisterClass class = ZydisRegisterGetClass(reg);

	if (to < 16)
		return general(to, ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg));
	if (class != ZYDIS_REGCLASS_XMM && class != ZYDIS_REGCLASS_YMM &&
	    class != ZYDIS_REGCLASS_ZMM)
		return ZYDIS_REGISTER_NONE;
	return ZydisRegisterEncode(class, (ZyanU8)(to - X86_REG_VEC0));
}

/* Whether an operand that is not written in the text is this register. */
static bool is_hidden_in(const struct decoded *d, uint8_t reg)
{
	for (unsigned i = 0; i < d->zi.operand_count; i++)
		if (d->ops[i].visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
		    d->ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    number_of(d->ops[i].reg.value) == reg)
			return true;
	return false;
}

static size_t rename_register(const uint8_t *code, size_t size, uint8_t from, uint8_t to,
			      uint8_t *out)
{
	struct decoded d;
	bool any = false;

	if (!decode(&d, code, size) || is_hidden_in(&d, from))
		return 0;
	for (unsigned i = 0; i < d.request.operand_count; i++) {
		ZydisEncoderOperand *o = &d.request.operands[i];
		ZydisRegister *regs[] = {&o->reg.value, &o->mem.base, &o->mem.index};

		for (unsigned k = 0; k < 3; k++) {
			const bool is_memory = o->type == ZYDIS_OPERAND_TYPE_MEMORY;

			if (k ? !is_memory : o->type != ZYDIS_OPERAND_TYPE_REGISTER)
				continue;
			if (*regs[k] == ZYDIS_REGISTER_NONE || number_of(*regs[k]) != from)
				continue;
			*regs[k] = renamed(*regs[k], to);
			any = true;
		}
	}
	return any ? encode(&d.request, out) : 0;
}

/* Operations whose operands may be combined in any order, on the register that is their first
 * operand.  Subtraction counts: each accumulator is subtracted from.
 */
enum order { FIXED_ORDER, ANY_ORDER, ANY_BUT_ROUNDED };

static enum order order_of(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_PADDB:
	case ZYDIS_MNEMONIC_PADDW:
	case ZYDIS_MNEMONIC_PADDD:
	case ZYDIS_MNEMONIC_PADDQ:
	case ZYDIS_MNEMONIC_PSUBD:
	case ZYDIS_MNEMONIC_PSUBQ:
	case ZYDIS_MNEMONIC_PAND:
	case ZYDIS_MNEMONIC_POR:
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_PMULLW:
	case ZYDIS_MNEMONIC_PMULLD:
	case ZYDIS_MNEMONIC_PMINSD:
	case ZYDIS_MNEMONIC_PMAXSD:
	case ZYDIS_MNEMONIC_PMINUB:
	case ZYDIS_MNEMONIC_PMAXUB:
	case ZYDIS_MNEMONIC_VPADDB:
	case ZYDIS_MNEMONIC_VPADDW:
	case ZYDIS_MNEMONIC_VPADDD:
	case ZYDIS_MNEMONIC_VPADDQ:
	case ZYDIS_MNEMONIC_VPSUBD:
	case ZYDIS_MNEMONIC_VPSUBQ:
	case ZYDIS_MNEMONIC_VPAND:
	case ZYDIS_MNEMONIC_VPOR:
	case ZYDIS_MNEMONIC_VPXOR:
	case ZYDIS_MNEMONIC_VPMULLW:
	case ZYDIS_MNEMONIC_VPMULLD:
	case ZYDIS_MNEMONIC_VPMINSD:
	case ZYDIS_MNEMONIC_VPMAXSD:
	case ZYDIS_MNEMONIC_VPMINUB:
	case ZYDIS_MNEMONIC_VPMAXUB:
		return ANY_ORDER;
	case ZYDIS_MNEMONIC_ADDSS:
	case ZYDIS_MNEMONIC_ADDSD:
	case ZYDIS_MNEMONIC_ADDPS:
	case ZYDIS_MNEMONIC_ADDPD:
	case ZYDIS_MNEMONIC_SUBSS:
	case ZYDIS_MNEMONIC_SUBSD:
	case ZYDIS_MNEMONIC_SUBPS:
	case ZYDIS_MNEMONIC_SUBPD:
	case ZYDIS_MNEMONIC_MULSS:
	case ZYDIS_MNEMONIC_MULSD:
	case ZYDIS_MNEMONIC_MULPS:
	case ZYDIS_MNEMONIC_MULPD:
	case ZYDIS_MNEMONIC_VADDSS:
	case ZYDIS_MNEMONIC_VADDSD:
	case ZYDIS_MNEMONIC_VADDPS:
	case ZYDIS_MNEMONIC_VADDPD:
	case ZYDIS_MNEMONIC_VSUBSS:
	case ZYDIS_MNEMONIC_VSUBSD:
	case ZYDIS_MNEMONIC_VSUBPS:
	case ZYDIS_MNEMONIC_VSUBPD:
	case ZYDIS_MNEMONIC_VMULSS:
	case ZYDIS_MNEMONIC_VMULSD:
	case ZYDIS_MNEMONIC_VMULPS:
	case ZYDIS_MNEMONIC_VMULPD:
	case ZYDIS_MNEMONIC_VFMADD231SS:
	case ZYDIS_MNEMONIC_VFMADD231SD:
	case ZYDIS_MNEMONIC_VFMADD231PS:
	case ZYDIS_MNEMONIC_VFMADD231PD:
	case ZYDIS_MNEMONIC_VFNMADD231SS:
	case ZYDIS_MNEMONIC_VFNMADD231SD:
	case ZYDIS_MNEMONIC_VFNMADD231PS:
	case ZYDIS_MNEMONIC_VFNMADD231PD:
		return ANY_BUT_ROUNDED;
	default:
		return FIXED_ORDER;
	}
}

static bool is_difference(ZydisMnemonic m)
{
	return m == ZYDIS_MNEMONIC_VSUBSS || m == ZYDIS_MNEMONIC_VSUBSD ||
	       m == ZYDIS_MNEMONIC_VSUBPS || m == ZYDIS_MNEMONIC_VSUBPD ||
	       m == ZYDIS_MNEMONIC_VPSUBD || m == ZYDIS_MNEMONIC_VPSUBQ;
}

/* The operand that is combined with the first one: it must not be the same register. */
static uint8_t accumulator(const uint8_t *code, size_t size, bool *is_rounded)
{
	struct decoded d;
	enum order order;
	uint8_t reg;
	unsigned uses = 0;
	bool is_read;

	if (!decode(&d, code, size) || d.zi.operand_count_visible < 2 ||
	    d.ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return TACT_REG_NONE;
	order = order_of(d.zi.mnemonic);
	reg = number_of(d.ops[0].reg.value);
	/* Masks and parts of registers keep what is beside the result. */
	if (order == FIXED_ORDER || reg == TACT_REG_NONE || reg == X86_REG_RSP ||
	    d.zi.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED || (reg < 16 && d.ops[0].size < 32))
		return TACT_REG_NONE;
	/* imul r, x, constant multiplies once; two operands or none of the constant kind do. */
	if (d.zi.mnemonic == ZYDIS_MNEMONIC_IMUL && d.zi.operand_count_visible != 2)
		return TACT_REG_NONE;
	/* add r, constant counts: that is an index, not a sum. */
	if (d.ops[d.zi.operand_count_visible - 1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return TACT_REG_NONE;
	is_read = d.ops[0].actions & ZYDIS_OPERAND_ACTION_READ;
	for (unsigned i = 1; i < d.zi.operand_count_visible; i++) {
		const ZydisDecodedOperand *o = &d.ops[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
			uses += number_of(o->reg.value) == reg;
		else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			 (number_of(o->mem.base) == reg || number_of(o->mem.index) == reg))
			return TACT_REG_NONE;
	}
	/* r = x - r is no sum. */
	if (is_difference(d.zi.mnemonic) &&
	    (d.ops[1].type != ZYDIS_OPERAND_TYPE_REGISTER || number_of(d.ops[1].reg.value) != reg))
		return TACT_REG_NONE;
	if (uses != (is_read ? 0u : 1u))
		return TACT_REG_NONE;
	*is_rounded = order == ANY_BUT_ROUNDED;
	return reg;
}

static size_t without_index(const uint8_t *code, size_t size, uint8_t base, uint8_t *out)
{
	struct decoded d;

	if (!decode(&d, code, size) || d.zi.mnemonic == ZYDIS_MNEMONIC_LEA)
		return 0;
	for (unsigned i = 0; i < d.request.operand_count; i++) {
		ZydisEncoderOperand *o = &d.request.operands[i];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.index == ZYDIS_REGISTER_NONE ||
		    number_of(o->mem.index) >= 16)
			continue;
		o->mem.base = general(base, 64);
		o->mem.index = ZYDIS_REGISTER_NONE;
		o->mem.scale = 0;
		return encode(&d.request, out);
	}
	return 0;
}

static size_t in_register(const uint8_t *code, size_t size, uint8_t reg, uint8_t *out)
{
	struct decoded d;

	if (!decode(&d, code, size) || d.zi.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
	    d.zi.mnemonic == ZYDIS_MNEMONIC_XCHG)
		return 0;
	for (unsigned i = 0; i < d.request.operand_count; i++) {
		ZydisEncoderOperand *o = &d.request.operands[i];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		o->type = ZYDIS_OPERAND_TYPE_REGISTER;
		o->reg.is4 = ZYAN_FALSE;
		o->reg.value = reg < 16 ? general(reg, (ZyanU16)(o->mem.size * 8))
					: ZydisRegisterEncode(ZYDIS_REGCLASS_XMM,
							      (ZyanU8)(reg - X86_REG_VEC0));
		memset(&o->mem, 0, sizeof(o->mem));
		return encode(&d.request, out);
	}
	return 0;
}

/* ---- from nothing ---- */

static ZydisEncoderRequest plain(ZydisMnemonic mnemonic, unsigned n)
{
	return (ZydisEncoderRequest){.machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
				     .mnemonic = mnemonic,
				     .operand_count = (ZyanU8)n};
}

static void set_register(ZydisEncoderOperand *o, ZydisRegister reg)
{
	*o = (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_REGISTER, .reg = {.value = reg}};
}

static size_t advance(uint8_t reg, int64_t bytes, uint8_t *out)
{
	ZydisEncoderRequest r = plain(ZYDIS_MNEMONIC_LEA, 2);

	if (bytes != (int32_t)bytes || reg >= 16)
		return 0;
	set_register(&r.operands[0], general(reg, 64));
	r.operands[1] = (ZydisEncoderOperand){
		.type = ZYDIS_OPERAND_TYPE_MEMORY,
		.mem = {.base = general(reg, 64), .displacement = bytes, .size = 8}};
	return encode(&r, out);
}

/* The distance counts from the end of a relative branch. */
static size_t branch(const uint8_t *code, size_t size, int64_t distance, size_t least, uint8_t *out)
{
	static const ZydisBranchWidth widths[] = {ZYDIS_BRANCH_WIDTH_8, ZYDIS_BRANCH_WIDTH_32};
	struct decoded d;

	if (!decode(&d, code, size) || d.request.operand_count != 1 ||
	    d.request.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return 0;
	for (unsigned k = 0; k < ARRAY_SIZE(widths); k++) {
		ZydisEncoderRequest r = d.request;
		size_t length;

		r.branch_type = ZYDIS_BRANCH_TYPE_NONE;
		r.branch_width = widths[k];
		r.operands[0].imm.s = -2;
		length = encode(&r, out);
		if (!length || length < least)
			continue;
		r.operands[0].imm.s = distance - (int64_t)length;
		if (encode(&r, out) == length)
			return length;
	}
	return 0;
}

static void fill(uint8_t *out, size_t n)
{
	ZydisEncoderNopFill(out, n);
}

/* ---- one instruction as others ---- */

static bool add_code(struct isa_replacement *out, const ZydisEncoderRequest *request)
{
	const size_t size = encode(request, out->code + out->size);

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
static bool is_source(const struct decoded *d, unsigned i, uint8_t reg)
{
	const ZydisDecodedOperand *o = &d->ops[i];

	if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return number_of(o->mem.base) == reg || number_of(o->mem.index) == reg;
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER && number_of(o->reg.value) == reg;
}

static bool zero_first(const uint8_t *code, size_t size, uint8_t free_general,
		       struct isa_replacement *out)
{
	ZydisEncoderRequest zero;
	struct decoded d;
	bool is_vex;
	uint8_t reg;

	(void)free_general;
	if (!decode(&d, code, size) || d.zi.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ||
	    d.ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	reg = number_of(d.ops[0].reg.value);
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
		zero = plain(is_vex ? ZYDIS_MNEMONIC_VXORPS : ZYDIS_MNEMONIC_XORPS, is_vex ? 3 : 2);
	} else if (d.ops[0].size >= 32 && (d.zi.mnemonic == ZYDIS_MNEMONIC_POPCNT ||
					   d.zi.mnemonic == ZYDIS_MNEMONIC_LZCNT ||
					   d.zi.mnemonic == ZYDIS_MNEMONIC_TZCNT)) {
		/* They write the flags, too: zeroing before them harms nothing. */
		zero = plain(ZYDIS_MNEMONIC_XOR, 2);
	} else {
		return false;
	}
	for (unsigned i = 0; i < zero.operand_count; i++)
		set_register(&zero.operands[i],
			     reg < 16 ? general(reg, 32)
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
	struct decoded d;

	if (!decode(&d, code, size) || d.zi.raw.imm[0].size != 16 || d.zi.operand_width != 16 ||
	    d.zi.operand_count_visible != 2 || d.zi.attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return false;
	r = d.request;
	if (d.ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		/* Comparisons see the other half of the register. */
		if (number_of(d.ops[0].reg.value) == TACT_REG_NONE)
			return false;
		r.operands[0].reg.value = general(number_of(d.ops[0].reg.value), 32);
		r.operands[1].imm.u = (uint16_t)r.operands[1].imm.u;
		out->assumes = ISA_ASSUMES_UPPER_BITS | ISA_ASSUMES_FLAGS;
		return add_code(out, &r);
	}
	if (d.ops[0].type != ZYDIS_OPERAND_TYPE_MEMORY || free_general >= 16)
		return false;
	out->assumes = ISA_USES_GENERAL;
	if (d.zi.mnemonic == ZYDIS_MNEMONIC_MOV) {
		/* mov r32, constant; mov [m], r16 */
		ZydisEncoderRequest load = plain(ZYDIS_MNEMONIC_MOV, 2);

		set_register(&load.operands[0], general(free_general, 32));
		load.operands[1] = (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_IMMEDIATE};
		load.operands[1].imm.u = (uint16_t)r.operands[1].imm.u;
		set_register(&r.operands[1], general(free_general, 16));
		return add_code(out, &load) && add_code(out, &r);
	}
	if (d.zi.mnemonic == ZYDIS_MNEMONIC_CMP || d.zi.mnemonic == ZYDIS_MNEMONIC_TEST) {
		/* movsx r32, [m]; cmp r32, the constant, extended too: all conditions are the same
		 * but those that ask for the sign or for an overflow alone
		 */
		if (d.zi.mnemonic == ZYDIS_MNEMONIC_CMP)
			out->assumes |= ISA_ASSUMES_CONDITION;
		ZydisEncoderRequest load = plain(ZYDIS_MNEMONIC_MOVSX, 2);

		set_register(&load.operands[0], general(free_general, 32));
		load.operands[1] = r.operands[0];
		set_register(&r.operands[0], general(free_general, 32));
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
	struct decoded d;

	(void)free_general;
	if (!decode(&d, code, size) || d.zi.mnemonic != ZYDIS_MNEMONIC_MOV ||
	    d.ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER || d.ops[0].size > 16 ||
	    d.ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    number_of(d.ops[0].reg.value) == TACT_REG_NONE || number_of(d.ops[0].reg.value) >= 16)
		return false;
	if (d.ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    number_of(d.ops[1].reg.value) >= 16) /* a segment, or ah */
		return false;
	r = d.request;
	r.mnemonic = ZYDIS_MNEMONIC_MOVZX;
	r.operands[0].reg.value = general(number_of(d.ops[0].reg.value), 32);
	out->assumes = ISA_ASSUMES_UPPER_BITS;
	return add_code(out, &r);
}

/* lea r, [base + index * scale + constant]: three parts are slow on some cores. */
static bool split_address(const uint8_t *code, size_t size, uint8_t free_general,
			  struct isa_replacement *out)
{
	ZydisEncoderRequest first, second;
	ZydisEncoderOperand *mem;
	struct decoded d;

	(void)free_general;
	if (!decode(&d, code, size) || d.zi.mnemonic != ZYDIS_MNEMONIC_LEA ||
	    d.zi.address_width != 64 || d.ops[0].size < 32 || !d.ops[1].mem.disp.value ||
	    d.ops[1].mem.base == ZYDIS_REGISTER_NONE || d.ops[1].mem.index == ZYDIS_REGISTER_NONE)
		return false;
	first = second = d.request;
	first.operands[1].mem.displacement = 0;
	mem = &second.operands[1];
	mem->mem.base = general(number_of(d.ops[0].reg.value), 64);
	mem->mem.index = ZYDIS_REGISTER_NONE;
	mem->mem.scale = 0;
	return add_code(out, &first) && add_code(out, &second);
}

static bool count_down(const uint8_t *code, size_t size, uint8_t free_general,
		       struct isa_replacement *out)
{
	ZydisEncoderRequest count = plain(ZYDIS_MNEMONIC_DEC, 1), jump;
	struct decoded d;

	(void)free_general;
	if (!decode(&d, code, size) || d.zi.mnemonic != ZYDIS_MNEMONIC_LOOP ||
	    d.zi.address_width != 64)
		return false;
	set_register(&count.operands[0], ZYDIS_REGISTER_RCX);
	jump = plain(ZYDIS_MNEMONIC_JNZ, 1);
	jump.operands[0] = d.request.operands[0];
	out->assumes = ISA_ASSUMES_FLAGS;
	return add_code(out, &count) && add_code(out, &jump);
}

static bool narrow_division(const uint8_t *code, size_t size, uint8_t free_general,
			    struct isa_replacement *out)
{
	struct decoded d;

	(void)free_general;
	if (!decode(&d, code, size) || d.zi.operand_width != 64 ||
	    (d.zi.mnemonic != ZYDIS_MNEMONIC_DIV && d.zi.mnemonic != ZYDIS_MNEMONIC_IDIV))
		return false;
	if (d.ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		d.request.operands[0].reg.value = general(number_of(d.ops[0].reg.value), 32);
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
	struct decoded d;

	(void)free_general;
	/* Branches and addresses relative to the instruction keep their bytes. */
	if (!decode(&d, code, size) || d.zi.attributes & ZYDIS_ATTRIB_IS_RELATIVE ||
	    d.zi.attributes & ZYDIS_ATTRIB_HAS_SEGMENT)
		return false;
	if (d.zi.mnemonic == ZYDIS_MNEMONIC_NOP)
		return false;
	if (d.zi.mnemonic == ZYDIS_MNEMONIC_MOV && d.ops[0].size == 64 &&
	    d.ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    d.ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && d.ops[1].imm.value.u <= UINT32_MAX &&
	    (!d.ops[1].imm.is_signed || d.ops[1].imm.value.s >= 0))
		d.request.operands[0].reg.value = general(number_of(d.ops[0].reg.value), 32);
	return add_code(out, &d.request) && out->size < size;
}

/* A comparison of memory with a constant fuses with no jump. */
static bool load_first(const uint8_t *code, size_t size, uint8_t free_general,
		       struct isa_replacement *out)
{
	ZydisEncoderRequest load = plain(ZYDIS_MNEMONIC_MOV, 2);
	struct decoded d;

	if (!decode(&d, code, size) || free_general >= 16 ||
	    (d.zi.mnemonic != ZYDIS_MNEMONIC_CMP && d.zi.mnemonic != ZYDIS_MNEMONIC_TEST) ||
	    d.ops[0].type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    d.ops[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || d.ops[0].size < 32)
		return false;
	set_register(&load.operands[0], general(free_general, d.ops[0].size));
	load.operands[1] = d.request.operands[0];
	set_register(&d.request.operands[0], general(free_general, d.ops[0].size));
	out->assumes = ISA_USES_GENERAL;
	return add_code(out, &load) && add_code(out, &d.request);
}

/* or r, r; and r, r; cmp r, 0: test r, r sets the same flags and fuses with more jumps. */
static bool test_instead(const uint8_t *code, size_t size, uint8_t free_general,
			 struct isa_replacement *out)
{
	ZydisEncoderRequest test = plain(ZYDIS_MNEMONIC_TEST, 2);
	struct decoded d;
	bool is_same;

	(void)free_general;
	if (!decode(&d, code, size) || d.zi.operand_count_visible != 2 ||
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
	set_register(&test.operands[0], d.ops[0].reg.value);
	set_register(&test.operands[1], d.ops[0].reg.value);
	return add_code(out, &test);
}

static const struct isa_replacement_kind kinds[] = {
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
};

const struct isa_rewriter x86_rewriter = {
	.kinds = kinds,
	.n_kinds = ARRAY_SIZE(kinds),
	.accumulator = accumulator,
	.rename = rename_register,
	.without_index = without_index,
	.in_register = in_register,
	.advance = advance,
	.branch = branch,
	.fill = fill,
};

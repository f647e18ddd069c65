/* SPDX-License-Identifier: MIT
 *
 * Changed instructions, through Zydis' encoder.  Whatever the encoder writes is decoded again by
 * those who use it; an instruction that it cannot write is left alone.
 */
#include "isa/x86/rewrite_x86.h"

bool x86_rewrite_decode(struct x86_decoded *d, const uint8_t *code, size_t size)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &d->zi, d->ops)) &&
	       d->zi.length == size &&
	       ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(
		       &d->zi, d->ops, d->zi.operand_count_visible, &d->request));
}

size_t x86_rewrite_encode(const ZydisEncoderRequest *request, uint8_t *out)
{
	uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH];
	ZyanUSize size = sizeof(code);

	if (!ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(request, code, &size)))
		return 0;
	memcpy(out, code, size);
	return size;
}

ZydisRegister x86_general(uint8_t reg, ZyanU16 bits)
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
uint8_t x86_number_of(ZydisRegister reg)
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
		return x86_general(to, ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg));
	if (class != ZYDIS_REGCLASS_XMM && class != ZYDIS_REGCLASS_YMM &&
	    class != ZYDIS_REGCLASS_ZMM)
		return ZYDIS_REGISTER_NONE;
	return ZydisRegisterEncode(class, (ZyanU8)(to - X86_REG_VEC0));
}

/* Whether an operand that is not written in the text is this register. */
static bool is_hidden_in(const struct x86_decoded *d, uint8_t reg)
{
	for (unsigned i = 0; i < d->zi.operand_count; i++)
		if (d->ops[i].visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
		    d->ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    x86_number_of(d->ops[i].reg.value) == reg)
			return true;
	return false;
}

static size_t rename_register(const uint8_t *code, size_t size, uint8_t from, uint8_t to,
			      uint8_t *out)
{
	struct x86_decoded d;
	bool any = false;

	if (!x86_rewrite_decode(&d, code, size) || is_hidden_in(&d, from))
		return 0;
	for (unsigned i = 0; i < d.request.operand_count; i++) {
		ZydisEncoderOperand *o = &d.request.operands[i];
		ZydisRegister *regs[] = {&o->reg.value, &o->mem.base, &o->mem.index};

		for (unsigned k = 0; k < 3; k++) {
			const bool is_memory = o->type == ZYDIS_OPERAND_TYPE_MEMORY;

			if (k ? !is_memory : o->type != ZYDIS_OPERAND_TYPE_REGISTER)
				continue;
			if (*regs[k] == ZYDIS_REGISTER_NONE || x86_number_of(*regs[k]) != from)
				continue;
			*regs[k] = renamed(*regs[k], to);
			any = true;
		}
	}
	return any ? x86_rewrite_encode(&d.request, out) : 0;
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

/* Differences and fused products change places with sums of the same type. */
static ZydisMnemonic sum_of(ZydisMnemonic m)
{
	static const struct {
		ZydisMnemonic is, sum;
	} table[] = {
		{ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_ADD},
		{ZYDIS_MNEMONIC_PSUBD, ZYDIS_MNEMONIC_PADDD},
		{ZYDIS_MNEMONIC_PSUBQ, ZYDIS_MNEMONIC_PADDQ},
		{ZYDIS_MNEMONIC_VPSUBD, ZYDIS_MNEMONIC_VPADDD},
		{ZYDIS_MNEMONIC_VPSUBQ, ZYDIS_MNEMONIC_VPADDQ},
		{ZYDIS_MNEMONIC_SUBSS, ZYDIS_MNEMONIC_ADDSS},
		{ZYDIS_MNEMONIC_SUBSD, ZYDIS_MNEMONIC_ADDSD},
		{ZYDIS_MNEMONIC_SUBPS, ZYDIS_MNEMONIC_ADDPS},
		{ZYDIS_MNEMONIC_SUBPD, ZYDIS_MNEMONIC_ADDPD},
		{ZYDIS_MNEMONIC_VSUBSS, ZYDIS_MNEMONIC_VADDSS},
		{ZYDIS_MNEMONIC_VSUBSD, ZYDIS_MNEMONIC_VADDSD},
		{ZYDIS_MNEMONIC_VSUBPS, ZYDIS_MNEMONIC_VADDPS},
		{ZYDIS_MNEMONIC_VSUBPD, ZYDIS_MNEMONIC_VADDPD},
		{ZYDIS_MNEMONIC_VFMADD231SS, ZYDIS_MNEMONIC_VADDSS},
		{ZYDIS_MNEMONIC_VFMADD231SD, ZYDIS_MNEMONIC_VADDSD},
		{ZYDIS_MNEMONIC_VFMADD231PS, ZYDIS_MNEMONIC_VADDPS},
		{ZYDIS_MNEMONIC_VFMADD231PD, ZYDIS_MNEMONIC_VADDPD},
		{ZYDIS_MNEMONIC_VFNMADD231SS, ZYDIS_MNEMONIC_VADDSS},
		{ZYDIS_MNEMONIC_VFNMADD231SD, ZYDIS_MNEMONIC_VADDSD},
		{ZYDIS_MNEMONIC_VFNMADD231PS, ZYDIS_MNEMONIC_VADDPS},
		{ZYDIS_MNEMONIC_VFNMADD231PD, ZYDIS_MNEMONIC_VADDPD},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].is == m)
			return table[i].sum;
	return m;
}

/* The operand that is combined with the first one: it must not be the same register. */
static uint8_t accumulator(const uint8_t *code, size_t size, bool *is_rounded, unsigned *operation)
{
	struct x86_decoded d;
	enum order order;
	uint8_t reg;
	unsigned uses = 0;
	bool is_read;

	if (!x86_rewrite_decode(&d, code, size) || d.zi.operand_count_visible < 2 ||
	    d.ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return TACT_REG_NONE;
	order = order_of(d.zi.mnemonic);
	reg = x86_number_of(d.ops[0].reg.value);
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
			uses += x86_number_of(o->reg.value) == reg;
		else if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			 (x86_number_of(o->mem.base) == reg || x86_number_of(o->mem.index) == reg))
			return TACT_REG_NONE;
	}
	/* r = x - r is no sum. */
	if (is_difference(d.zi.mnemonic) && (d.ops[1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
					     x86_number_of(d.ops[1].reg.value) != reg))
		return TACT_REG_NONE;
	if (uses != (is_read ? 0u : 1u))
		return TACT_REG_NONE;
	*is_rounded = order == ANY_BUT_ROUNDED;
	*operation = (unsigned)sum_of(d.zi.mnemonic) << 12 | d.ops[0].size;
	return reg;
}

static size_t without_index(const uint8_t *code, size_t size, uint8_t base, uint8_t *out)
{
	struct x86_decoded d;

	if (!x86_rewrite_decode(&d, code, size) || d.zi.mnemonic == ZYDIS_MNEMONIC_LEA)
		return 0;
	for (unsigned i = 0; i < d.request.operand_count; i++) {
		ZydisEncoderOperand *o = &d.request.operands[i];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.index == ZYDIS_REGISTER_NONE ||
		    x86_number_of(o->mem.index) >= 16)
			continue;
		o->mem.base = x86_general(base, 64);
		o->mem.index = ZYDIS_REGISTER_NONE;
		o->mem.scale = 0;
		return x86_rewrite_encode(&d.request, out);
	}
	return 0;
}

static size_t in_register(const uint8_t *code, size_t size, uint8_t reg, uint8_t *out)
{
	struct x86_decoded d;

	if (!x86_rewrite_decode(&d, code, size) || d.zi.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
	    d.zi.mnemonic == ZYDIS_MNEMONIC_XCHG)
		return 0;
	for (unsigned i = 0; i < d.request.operand_count; i++) {
		ZydisEncoderOperand *o = &d.request.operands[i];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		o->type = ZYDIS_OPERAND_TYPE_REGISTER;
		o->reg.is4 = ZYAN_FALSE;
		o->reg.value = reg < 16 ? x86_general(reg, (ZyanU16)(o->mem.size * 8))
					: ZydisRegisterEncode(ZYDIS_REGCLASS_XMM,
							      (ZyanU8)(reg - X86_REG_VEC0));
		memset(&o->mem, 0, sizeof(o->mem));
		return x86_rewrite_encode(&d.request, out);
	}
	return 0;
}

/* ---- from nothing ---- */

ZydisEncoderRequest x86_request(ZydisMnemonic mnemonic, unsigned n)
{
	return (ZydisEncoderRequest){.machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
				     .mnemonic = mnemonic,
				     .operand_count = (ZyanU8)n};
}

void x86_request_register(ZydisEncoderOperand *o, ZydisRegister reg)
{
	*o = (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_REGISTER, .reg = {.value = reg}};
}

static size_t advance(uint8_t reg, int64_t bytes, uint8_t *out)
{
	ZydisEncoderRequest r = x86_request(ZYDIS_MNEMONIC_LEA, 2);

	if (bytes != (int32_t)bytes || reg >= 16)
		return 0;
	x86_request_register(&r.operands[0], x86_general(reg, 64));
	r.operands[1] = (ZydisEncoderOperand){
		.type = ZYDIS_OPERAND_TYPE_MEMORY,
		.mem = {.base = x86_general(reg, 64), .displacement = bytes, .size = 8}};
	return x86_rewrite_encode(&r, out);
}

/* The distance counts from the end of a relative branch. */
static size_t branch(const uint8_t *code, size_t size, int64_t distance, size_t least, uint8_t *out)
{
	static const ZydisBranchWidth widths[] = {ZYDIS_BRANCH_WIDTH_8, ZYDIS_BRANCH_WIDTH_32};
	struct x86_decoded d;

	if (!x86_rewrite_decode(&d, code, size) || d.request.operand_count != 1 ||
	    d.request.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return 0;
	for (unsigned k = 0; k < ARRAY_SIZE(widths); k++) {
		ZydisEncoderRequest r = d.request;
		size_t length;

		r.branch_type = ZYDIS_BRANCH_TYPE_NONE;
		r.branch_width = widths[k];
		r.operands[0].imm.s = -2;
		length = x86_rewrite_encode(&r, out);
		if (!length || length < least)
			continue;
		r.operands[0].imm.s = distance - (int64_t)length;
		if (x86_rewrite_encode(&r, out) == length)
			return length;
	}
	return 0;
}

static void fill(uint8_t *out, size_t n)
{
	ZydisEncoderNopFill(out, n);
}

const struct isa_rewriter x86_rewriter = {
	.kinds = x86_replacements,
	.accumulator = accumulator,
	.rename = rename_register,
	.without_index = without_index,
	.in_register = in_register,
	.advance = advance,
	.branch = branch,
	.fill = fill,
};

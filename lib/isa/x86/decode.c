/* SPDX-License-Identifier: MIT
 *
 * One instruction through Zydis into struct tact_insn.
 */
#include <string.h>

#include "isa/x86/x86.h"

static uint8_t canonical_reg(ZydisRegister reg)
{
	ZyanI8 id = ZydisRegisterGetId(reg);

	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8:
		/* Zydis numbers ah to bh 4 to 7, and spl to dil too, in that order. */
		if (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH)
			return (uint8_t)(reg - ZYDIS_REGISTER_AH);
		if (reg >= ZYDIS_REGISTER_SPL)
			return (uint8_t)(reg - ZYDIS_REGISTER_SPL + 4);
		return (uint8_t)(reg - ZYDIS_REGISTER_AL);
	case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32:
	case ZYDIS_REGCLASS_GPR64:
		return (uint8_t)id;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return (uint8_t)(X86_REG_VEC0 + id);
	case ZYDIS_REGCLASS_MASK:
		return (uint8_t)(X86_REG_MASK0 + id);
	case ZYDIS_REGCLASS_MMX:
		return (uint8_t)(X86_REG_MMX0 + id);
	case ZYDIS_REGCLASS_X87:
		return (uint8_t)(X86_REG_X87 + id);
	case ZYDIS_REGCLASS_SEGMENT:
		return (uint8_t)(X86_REG_SEGMENT0 + id);
	case ZYDIS_REGCLASS_IP:
		return X86_REG_RIP;
	case ZYDIS_REGCLASS_FLAGS:
		return X86_REG_FLAGS;
	default:
		/* mxcsr and a few others have no class */
		return reg == ZYDIS_REGISTER_NONE ? TACT_REG_NONE : X86_REG_OTHER;
	}
}

/* Converts the register of an address: rip is not a dependence. */
static uint8_t address_reg(ZydisRegister reg)
{
	uint8_t r = canonical_reg(reg);

	return r == X86_REG_RIP ? TACT_REG_NONE : r;
}

static uint8_t access_of(const ZydisDecodedOperand *op)
{
	uint8_t access = 0;

	if (op->actions & ZYDIS_OPERAND_ACTION_READ)
		access |= TACT_ACCESS_READ;
	if (op->actions & ZYDIS_OPERAND_ACTION_WRITE)
		access |= TACT_ACCESS_WRITE;
	if (op->actions & ZYDIS_OPERAND_ACTION_CONDREAD)
		access |= TACT_ACCESS_COND_READ;
	if (op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
		access |= TACT_ACCESS_COND_WRITE;
	return access;
}

static bool is_stack_insn(const ZydisDecodedInstruction *zi)
{
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_RET:
		return true;
	default:
		return false;
	}
}

static int16_t stack_change_of(const ZydisDecodedInstruction *zi)
{
	int bytes = zi->operand_width == 16 ? 2 : 8;

	if (!is_stack_insn(zi))
		return 0;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_CALL:
		return (int16_t)-bytes;
	default:
		return (int16_t)bytes;
	}
}

/* Registers that the tables do not number: base registers of string instructions. */
static bool is_unnumbered(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	bool string = zi->meta.category == ZYDIS_CATEGORY_STRINGOP ||
		      zi->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
	uint8_t reg = canonical_reg(op->reg.value);

	return string && op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       (reg == X86_REG_RDI || reg == X86_REG_RSI);
}

static void fill_register(struct tact_insn *insn, struct tact_operand *o,
			  const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op,
			  uint8_t *next_reg)
{
	o->kind = TACT_OPERAND_REG;
	o->reg = canonical_reg(op->reg.value);
	if (op->reg.value == ZYDIS_REGISTER_X87STATUS)
		o->access =
			0; /* nearly every instruction of x87 sets bits there, and none waits for it */
	o->number = is_unnumbered(zi, op) ? TACT_REG_NONE : (*next_reg)++;
	o->first_byte = op->reg.value >= ZYDIS_REGISTER_AH && op->reg.value <= ZYDIS_REGISTER_BH;
	o->role = o->reg == X86_REG_RIP	    ? TACT_ROLE_POINTER
		  : o->reg == X86_REG_FLAGS ? TACT_ROLE_FLAGS
					    : TACT_ROLE_NONE;
	o->implicit_pointer = o->reg == X86_REG_RSP && is_stack_insn(zi) &&
			      op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	if (o->reg == X86_REG_RIP && o->access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE))
		insn->attributes |= TACT_INSN_BRANCH;
	switch (ZydisRegisterGetClass(op->reg.value)) {
	case ZYDIS_REGCLASS_ZMM:
		insn->attributes |= TACT_INSN_WIDEST | TACT_INSN_VECTOR;
		break;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_MMX:
	case ZYDIS_REGCLASS_X87: /* the same registers as those of MMX */
		insn->attributes |= TACT_INSN_VECTOR;
		break;
	default:
		break;
	}
}

static void fill_memory(struct tact_insn *insn, struct tact_operand *o,
			const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op,
			uint8_t *next_mem)
{
	bool agen = op->mem.type == ZYDIS_MEMOP_TYPE_AGEN || zi->mnemonic == ZYDIS_MNEMONIC_NOP ||
		    op->mem.type == ZYDIS_MEMOP_TYPE_MIB;

	o->kind = agen ? TACT_OPERAND_AGEN : TACT_OPERAND_MEM;
	o->number = agen ? TACT_REG_NONE : (*next_mem)++;
	o->base = address_reg(op->mem.base);
	o->index = address_reg(op->mem.index);
	if (zi->mnemonic == ZYDIS_MNEMONIC_XLAT)
		o->index = X86_REG_RAX; /* al, which Zydis does not tell */
	o->scale = op->mem.scale;
	if (zi->mnemonic == ZYDIS_MNEMONIC_XLAT)
		o->index = X86_REG_RAX; /* al, which Zydis has only as what is written */
	/* The others begin at 0 (Intel SDM vol. 1, 3.4.2.1). */
	if (op->mem.segment == ZYDIS_REGISTER_FS || op->mem.segment == ZYDIS_REGISTER_GS)
		o->segment = canonical_reg(op->mem.segment);
	o->implicit_pointer =
		op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && is_stack_insn(zi);
	if (o->index != TACT_REG_NONE && zi->mnemonic != ZYDIS_MNEMONIC_XLAT)
		insn->attributes |= TACT_INSN_INDEXED;
	if (op->mem.base == ZYDIS_REGISTER_RIP || op->mem.base == ZYDIS_REGISTER_EIP)
		insn->attributes |= TACT_INSN_PC_RELATIVE;
	if (op->mem.disp.has_displacement) {
		insn->attributes |= TACT_INSN_DISPLACED;
		insn->displacement = op->mem.disp.value;
	}
	if (agen)
		return;
	if (o->access & (TACT_ACCESS_READ | TACT_ACCESS_COND_READ))
		insn->attributes |= TACT_INSN_LOAD;
	if (o->access & (TACT_ACCESS_WRITE | TACT_ACCESS_COND_WRITE))
		insn->attributes |= TACT_INSN_STORE;
}

static void fill_operands(struct tact_insn *insn, const ZydisDecodedInstruction *zi,
			  const ZydisDecodedOperand *ops)
{
	uint8_t next_reg = 0, next_mem = 0;

	for (unsigned i = 0; i < zi->operand_count && i < TACT_MAX_OPERANDS; i++) {
		struct tact_operand *o = &insn->operand[insn->n_operands++];
		const ZydisDecodedOperand *op = &ops[i];

		memset(o, 0, sizeof(*o));
		o->access = access_of(op);
		o->bits = op->size;
		o->explicit_operand = op->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN;
		o->reg = o->base = o->index = o->segment = o->number = TACT_REG_NONE;
		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			fill_register(insn, o, zi, op, &next_reg);
		} else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			fill_memory(insn, o, zi, op, &next_mem);
		} else {
			o->kind = TACT_OPERAND_IMM;
			if (!insn->immediate_bits && op->encoding != ZYDIS_OPERAND_ENCODING_NONE)
				insn->immediate_bits = zi->raw.imm[0].size;
		}
	}
}

/* k0 as the mask of a vector instruction stands for "no mask". */
static void mark_unmasked(struct tact_insn *insn)
{
	for (unsigned i = 0; i < insn->n_operands; i++) {
		struct tact_operand *o = &insn->operand[i];

		if (o->kind == TACT_OPERAND_REG && o->reg == X86_REG_MASK0 &&
		    o->access == TACT_ACCESS_READ && insn->attributes & TACT_INSN_VECTOR)
			o->role = TACT_ROLE_UNMASKED;
	}
}

/* Whether there are two or more general or vector registers among the operands, all the same. */
static bool is_same_reg(const struct tact_insn *insn)
{
	uint8_t first = TACT_REG_NONE;
	unsigned n = 0;

	for (unsigned i = 0; i < insn->n_operands; i++) {
		const struct tact_operand *o = &insn->operand[i];

		if (o->kind != TACT_OPERAND_REG || o->implicit_pointer ||
		    o->number == TACT_REG_NONE)
			continue;
		if (o->reg >= X86_REG_MASK0 && (o->reg < X86_REG_MMX0 || o->reg >= X86_REG_X87))
			continue;
		if (n++ && o->reg != first)
			return false;
		first = o->reg;
	}
	return n > 1;
}

/* What computes flags from bits of its result alone. */
static bool is_logical(const ZydisDecodedInstruction *zi)
{
	return zi->mnemonic == ZYDIS_MNEMONIC_AND || zi->mnemonic == ZYDIS_MNEMONIC_OR ||
	       zi->mnemonic == ZYDIS_MNEMONIC_XOR || zi->mnemonic == ZYDIS_MNEMONIC_TEST ||
	       zi->mnemonic == ZYDIS_MNEMONIC_ANDN;
}

/* What moves bits within a general register; shld and shrd, which have two, do not count. */
static bool is_shift(const ZydisDecodedInstruction *zi)
{
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_SHLX:
	case ZYDIS_MNEMONIC_SHRX:
	case ZYDIS_MNEMONIC_SARX:
	case ZYDIS_MNEMONIC_RORX:
	case ZYDIS_MNEMONIC_BSWAP:
	case ZYDIS_MNEMONIC_BEXTR:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTC:
		return true;
	default:
		return false;
	}
}

/* Additions on vectors of 128 and 256 bits and on scalars, without a mask. */
static bool is_float_add(const ZydisDecodedInstruction *zi)
{
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_ADDPS:
	case ZYDIS_MNEMONIC_ADDPD:
	case ZYDIS_MNEMONIC_ADDSS:
	case ZYDIS_MNEMONIC_ADDSD:
	case ZYDIS_MNEMONIC_SUBPS:
	case ZYDIS_MNEMONIC_SUBPD:
	case ZYDIS_MNEMONIC_SUBSS:
	case ZYDIS_MNEMONIC_SUBSD:
	case ZYDIS_MNEMONIC_ADDSUBPS:
	case ZYDIS_MNEMONIC_ADDSUBPD:
		return true;
	case ZYDIS_MNEMONIC_VADDPS:
	case ZYDIS_MNEMONIC_VADDPD:
	case ZYDIS_MNEMONIC_VADDSS:
	case ZYDIS_MNEMONIC_VADDSD:
	case ZYDIS_MNEMONIC_VSUBPS:
	case ZYDIS_MNEMONIC_VSUBPD:
	case ZYDIS_MNEMONIC_VSUBSS:
	case ZYDIS_MNEMONIC_VSUBSD:
	case ZYDIS_MNEMONIC_VADDSUBPS:
	case ZYDIS_MNEMONIC_VADDSUBPD:
		return zi->avx.vector_length < 512 && zi->avx.mask.reg <= ZYDIS_REGISTER_K0;
	default:
		return false;
	}
}

static bool has_xmm(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops)
{
	for (unsigned i = 0; i < zi->operand_count; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(ops[i].reg.value) == ZYDIS_REGCLASS_XMM)
			return true;
	return false;
}

static uint32_t general_attributes(const struct tact_insn *insn, const ZydisDecodedInstruction *zi,
				   const ZydisDecodedOperand *ops)
{
	uint32_t a = 0;

	/* only jcc: jrcxz and loop read no flags and have no condition code */
	if (zi->meta.category == ZYDIS_CATEGORY_COND_BR &&
	    (zi->opcode_map == ZYDIS_OPCODE_MAP_0F ? (zi->opcode & 0xf0) == 0x80
						   : (zi->opcode & 0xf0) == 0x70))
		a |= TACT_INSN_COND_BRANCH;
	if (zi->meta.category == ZYDIS_CATEGORY_CALL)
		a |= TACT_INSN_CALL;
	if (zi->meta.category == ZYDIS_CATEGORY_RET)
		a |= TACT_INSN_RET;
	if (zi->attributes & ZYDIS_ATTRIB_HAS_LOCK ||
	    (zi->mnemonic == ZYDIS_MNEMONIC_XCHG && insn->attributes & TACT_INSN_STORE))
		a |= TACT_INSN_LOCKED;
	if (zi->attributes &
	    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		a |= TACT_INSN_REP;
	/* 66h with a 16-bit immediate (Intel optimization manual, 3.4.2.3) */
	if (zi->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE && insn->immediate_bits == 16)
		a |= TACT_INSN_LCP;
	if (is_same_reg(insn))
		a |= TACT_INSN_SAME_REG;
	if (zi->mnemonic == ZYDIS_MNEMONIC_POP && (zi->opcode & 0xff) == 0x5c)
		a |= TACT_INSN_POP_POINTER;
	/* The instructions that have "fast pointer chasing": uiCA, from experiments. */
	if ((zi->mnemonic == ZYDIS_MNEMONIC_MOV || zi->mnemonic == ZYDIS_MNEMONIC_MOVSXD ||
	     zi->mnemonic == ZYDIS_MNEMONIC_POP) &&
	    insn->attributes & TACT_INSN_LOAD && ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    ops[0].size >= 32)
		a |= TACT_INSN_PAIR_SHORT;
	if (is_float_add(zi))
		a |= TACT_INSN_FLOAT_ADD;
	if (is_logical(zi))
		a |= TACT_INSN_LOGICAL;
	if (is_shift(zi))
		a |= TACT_INSN_SHIFT;
	if (zi->mnemonic == ZYDIS_MNEMONIC_MOVZX && ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    ops[1].size == 8 && zi->raw.modrm.rm >= 4 && !insn->operand[1].first_byte)
		a |= TACT_INSN_PART_ALIAS;
	if (zi->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && has_xmm(zi, ops))
		a |= TACT_INSN_OLD_VECTOR;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_VZEROUPPER:
	case ZYDIS_MNEMONIC_VZEROALL:
		a |= TACT_INSN_CLEARS_UPPER;
		break;
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_SERIALIZE:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_WBINVD:
	case ZYDIS_MNEMONIC_WRMSR:
		a |= TACT_INSN_SERIALIZING;
		break;
	case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_MOVNTQ:
	case ZYDIS_MNEMONIC_MOVNTSD:
	case ZYDIS_MNEMONIC_MOVNTSS:
	case ZYDIS_MNEMONIC_MOVNTPD:
	case ZYDIS_MNEMONIC_MOVNTPS:
	case ZYDIS_MNEMONIC_MOVNTDQ:
	case ZYDIS_MNEMONIC_VMOVNTPD:
	case ZYDIS_MNEMONIC_VMOVNTPS:
	case ZYDIS_MNEMONIC_VMOVNTDQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
		a |= TACT_INSN_NON_TEMPORAL;
		break;
	default:
		break;
	}
	return a;
}

/* Attributes that the name of the form tells: MOV, CMOVB, MOVZX, VPMOVSXBW, ... */
static uint32_t name_attributes(const struct tact_insn *insn)
{
	const char *name = insn->form < isa_forms.n ? isa_forms.name(insn->form) : "";
	uint32_t a = 0;

	if (strstr(name, "MOV"))
		a |= TACT_INSN_MOVE;
	if (strstr(name, "MOVSX"))
		a |= TACT_INSN_SIGN_EXTEND;
	if (insn->mnemonic == ZYDIS_MNEMONIC_NOP)
		a |= TACT_INSN_NOP;
	return a | x86_upper_attributes(name);
}

static bool is_base_only(const struct tact_operand *o)
{
	return o->kind == TACT_OPERAND_AGEN && o->base != TACT_REG_NONE &&
	       o->index == TACT_REG_NONE;
}

/* Moves keep a symbolic value, additions of a constant shift it. */
static void fill_value_effect(struct tact_insn *insn, const ZydisDecodedInstruction *zi)
{
	bool constant = insn->immediate_bits != 0;

	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
		if (is_base_only(&insn->operand[1]) && insn->operand[0].bits == 64)
			insn->value_effect = TACT_VALUE_LEA;
		break;
	case ZYDIS_MNEMONIC_MOV:
		insn->value_effect = TACT_VALUE_COPY;
		if (insn->operand[0].kind != TACT_OPERAND_REG || insn->operand[0].bits < 32)
			break;
		if (insn->attributes & TACT_INSN_LOAD)
			insn->value_effect = TACT_VALUE_LOAD;
		else if (constant)
			insn->value_effect = TACT_VALUE_CONSTANT;
		break;
	case ZYDIS_MNEMONIC_POP:
		if (insn->operand[0].kind == TACT_OPERAND_REG && insn->operand[0].bits == 64)
			insn->value_effect = TACT_VALUE_LOAD;
		break;
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		insn->value_effect = TACT_VALUE_COPY;
		break;
	case ZYDIS_MNEMONIC_ADD:
		insn->value_effect = constant ? TACT_VALUE_ADD : TACT_VALUE_UNKNOWN;
		break;
	case ZYDIS_MNEMONIC_SUB:
		insn->value_effect = constant ? TACT_VALUE_SUB : TACT_VALUE_UNKNOWN;
		break;
	case ZYDIS_MNEMONIC_INC:
		insn->value_effect = TACT_VALUE_INC;
		break;
	case ZYDIS_MNEMONIC_DEC:
		insn->value_effect = TACT_VALUE_DEC;
		break;
	default:
		insn->value_effect = TACT_VALUE_UNKNOWN;
	}
}

/* Finds the position of the opcode byte itself, after prefixes and the escapes 0F, 0F38 and 0F3A:
 * the "nominal opcode" of FACILE's predecoder (XED's term).
 */
static uint8_t opcode_offset_of(const ZydisDecodedInstruction *zi)
{
	unsigned offset = zi->raw.prefix_count;

	switch (zi->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		return (uint8_t)(zi->raw.vex.offset + zi->raw.vex.size);
	case ZYDIS_INSTRUCTION_ENCODING_EVEX:
		return (uint8_t)(zi->raw.evex.offset + 4u);
	case ZYDIS_INSTRUCTION_ENCODING_XOP:
		return (uint8_t)(zi->raw.xop.offset + 3u);
	default:
		break;
	}
	if (zi->opcode_map == ZYDIS_OPCODE_MAP_0F)
		offset += 1;
	else if (zi->opcode_map == ZYDIS_OPCODE_MAP_0F38 || zi->opcode_map == ZYDIS_OPCODE_MAP_0F3A)
		offset += 2;
	return (uint8_t)offset;
}

static void fill_flags(struct tact_insn *insn, const ZydisDecodedInstruction *zi)
{
	const ZydisAccessedFlags *f = zi->cpu_flags;
	ZydisAccessedFlagsMask written;

	if (insn->form != TACT_FORM_NONE) {
		isa_form_flags(insn->form, &insn->flags_read, &insn->flags_written);
		return;
	}
	if (!f)
		return;
	written = f->modified | f->set_0 | f->set_1 | f->undefined;
	if (f->tested & ZYDIS_CPUFLAG_CF)
		insn->flags_read |= X86_FLAGS_C;
	if (f->tested & (ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |
			 ZYDIS_CPUFLAG_OF))
		insn->flags_read |= X86_FLAGS_SPAZO;
	if (written & ZYDIS_CPUFLAG_CF)
		insn->flags_written |= X86_FLAGS_C;
	if (written & (ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |
		       ZYDIS_CPUFLAG_OF))
		insn->flags_written |= X86_FLAGS_SPAZO;
}

static int64_t sign_extend(uint64_t value, unsigned bits)
{
	unsigned unused = 64 - bits;

	return (int64_t)(value << unused) >> unused;
}

int x86_decode(struct tact_insn *insn, const uint8_t *code, size_t size)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &zi, ops)))
		return -TACT_E_DECODE;
	memset(insn, 0, offsetof(struct tact_insn, operand));
	insn->mnemonic = (uint16_t)zi.mnemonic;
	insn->length = zi.length;
	insn->opcode_offset = opcode_offset_of(&zi);
	insn->condition = zi.opcode & 15;
	insn->pointer_reg = X86_REG_RSP;
	insn->pointer_change = stack_change_of(&zi);
	fill_operands(insn, &zi, ops);
	if (insn->immediate_bits)
		insn->immediate = sign_extend(zi.raw.imm[0].value.u, insn->immediate_bits);
	mark_unmasked(insn);
	insn->attributes |= general_attributes(insn, &zi, ops);
	insn->form = (uint16_t)x86_form_of(&zi, ops);
	insn->attributes |= name_attributes(insn);
	fill_flags(insn, &zi);
	fill_value_effect(insn, &zi);
	insn->flow = (uint8_t)x86_flow_of(&zi);
	return insn->length;
}

static int format_as(ZydisFormatterStyle style, const uint8_t *code, size_t code_size,
		     uint64_t address, char *text, size_t size)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisFormatter formatter;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisFormatterInit(&formatter, style);
	if (style == ZYDIS_FORMATTER_STYLE_INTEL)
		ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
				  ZYDIS_PADDING_DISABLED);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, code_size, &zi, ops)))
		return -TACT_E_DECODE;
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &zi, ops,
							  zi.operand_count_visible, text, size,
							  address, ZYAN_NULL)))
		return -TACT_E_LIMIT;
	return (int)strlen(text);
}

int x86_format(const uint8_t *code, size_t code_size, uint64_t address, char *text, size_t size)
{
	return format_as(ZYDIS_FORMATTER_STYLE_INTEL, code, code_size, address, text, size);
}

int x86_format_att(const uint8_t *code, size_t code_size, uint64_t address, char *text, size_t size)
{
	return format_as(ZYDIS_FORMATTER_STYLE_ATT, code, code_size, address, text, size);
}

/* "lock xadd [rdi], eax" -> "lock xadd" */
void x86_cut_mnemonic(char *out, size_t size, const char *text)
{
	static const char *const prefixes[] = {"lock",	"rep", "repe",	  "repne", "repz",
					       "repnz", "bnd", "notrack", "data16"};
	size_t n = strcspn(text, " ");

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strlen(prefixes[i]) == n && !strncmp(text, prefixes[i], n) && text[n])
			n += 1 + strcspn(text + n + 1, " ");
	if (n >= size)
		n = size - 1;
	memcpy(out, text, n);
	out[n] = '\0';
}

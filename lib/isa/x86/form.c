/* SPDX-License-Identifier: MIT
 *
 * From what Zydis says about an instruction to the name of its form in data/insn.
 *
 * Names are those of uops.info: a mnemonic, suffixes that tell encodings apart, and the explicit
 * operands.  The suffixes are irregular, so a few candidates are tried in order until the tables
 * know one.  This runs once for each encoding that the decode cache has not seen.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "isa/x86/x86.h"

/* A bounded string under construction; `full` stays set once something did not fit. */
struct text {
	char s[96];
	size_t n;
	bool full;
	bool has_zero; /* the form for an immediate of zero */
};

static void append(struct text *t, const char *s)
{
	size_t n = strlen(s);

	if (t->n + n >= sizeof(t->s)) {
		t->full = true;
		return;
	}
	memcpy(t->s + t->n, s, n + 1);
	t->n += n;
}

static void append_number(struct text *t, const char *prefix, unsigned n)
{
	char digits[12], *p = digits + sizeof(digits);

	*--p = 0;
	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	append(t, prefix);
	append(t, p);
}

static bool is_evex(const ZydisDecodedInstruction *zi)
{
	return zi->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
}

static bool is_vex(const ZydisDecodedInstruction *zi)
{
	return zi->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
}

static bool is_string_insn(const ZydisDecodedInstruction *zi)
{
	return zi->meta.category == ZYDIS_CATEGORY_STRINGOP ||
	       zi->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

static bool is_high_byte(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

static void append_vector(struct text *t, ZydisRegisterClass class)
{
	append(t, class == ZYDIS_REGCLASS_XMM	? "XMM"
		  : class == ZYDIS_REGCLASS_YMM ? "YMM"
						: "ZMM");
}

static void append_register(struct text *t, const ZydisDecodedOperand *op)
{
	/* A register that the opcode implies is named; one that is encoded is shown by its class.
	 */
	bool implied = op->encoding == ZYDIS_OPERAND_ENCODING_NONE;
	char name[16];
	const char *s;

	if (implied) {
		s = ZydisRegisterGetString(op->reg.value);
		for (size_t i = 0; i < sizeof(name); i++)
			if (!(name[i] = (char)toupper((unsigned char)s[i])))
				break;
		name[sizeof(name) - 1] = 0;
		append(t, name);
		return;
	}
	switch (ZydisRegisterGetClass(op->reg.value)) {
	case ZYDIS_REGCLASS_GPR8:
		append(t, is_high_byte(op->reg.value) ? "R8h" : "R8l");
		break;
	case ZYDIS_REGCLASS_GPR16:
		append(t, "R16");
		break;
	case ZYDIS_REGCLASS_GPR32:
		append(t, "R32");
		break;
	case ZYDIS_REGCLASS_GPR64:
		append(t, "R64");
		break;
	case ZYDIS_REGCLASS_MMX:
		append(t, "MM");
		break;
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		append_vector(t, ZydisRegisterGetClass(op->reg.value));
		break;
	case ZYDIS_REGCLASS_MASK:
		append(t, "K");
		break;
	case ZYDIS_REGCLASS_X87:
		append(t, "STi");
		break;
	case ZYDIS_REGCLASS_SEGMENT:
		append(t, "SEG");
		break;
	case ZYDIS_REGCLASS_BOUND:
		append(t, "BND");
		break;
	case ZYDIS_REGCLASS_CONTROL:
		append(t, "CR");
		break;
	case ZYDIS_REGCLASS_DEBUG:
		append(t, "DR");
		break;
	default:
		append(t, "?");
	}
}

/* Memory operands to which Zydis gives another width than uops.info does. */
static unsigned memory_bits(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_PREFETCH:
		return 512;
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		return op->size >= 4096 || !op->size ? 4608 : op->size;
	default:
		break;
	}
	if (zi->mnemonic == ZYDIS_MNEMONIC_CLDEMOTE || zi->mnemonic == ZYDIS_MNEMONIC_INVLPG)
		return 8;
	return op->size;
}

static void append_memory(struct text *t, const ZydisDecodedInstruction *zi,
			  const ZydisDecodedOperand *op)
{
	unsigned broadcast = is_evex(zi) && zi->avx.broadcast.mode && !zi->avx.broadcast.is_static
				     ? (unsigned)zi->avx.broadcast.mode
				     : 0;

	if (op->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
		append(t, "VSIB_");
		append_vector(t, ZydisRegisterGetClass(op->mem.index));
		return;
	}
	if (op->encoding >= ZYDIS_OPERAND_ENCODING_DISP8 &&
	    op->encoding <= ZYDIS_OPERAND_ENCODING_DISP16_32_64) {
		append_number(t, "Moffs", op->size);
		return;
	}
	if (broadcast) {
		static const unsigned copies[] = {
			[ZYDIS_BROADCAST_MODE_1_TO_2] = 2,   [ZYDIS_BROADCAST_MODE_1_TO_4] = 4,
			[ZYDIS_BROADCAST_MODE_1_TO_8] = 8,   [ZYDIS_BROADCAST_MODE_1_TO_16] = 16,
			[ZYDIS_BROADCAST_MODE_1_TO_32] = 32, [ZYDIS_BROADCAST_MODE_1_TO_64] = 64,
		};

		append_number(t, "M", op->element_size);
		append_number(t, "_1to", broadcast < ARRAY_SIZE(copies) ? copies[broadcast] : 0);
		return;
	}
	append_number(t, "M", memory_bits(zi, op));
}

static void append_immediate(struct text *t, const ZydisDecodedInstruction *zi,
			     const ZydisDecodedOperand *op, bool zero_form)
{
	bool implied = op->encoding == ZYDIS_OPERAND_ENCODING_NONE;
	bool second = op->encoding == ZYDIS_OPERAND_ENCODING_UIMM8 && zi->raw.imm[1].size &&
		      op->imm.value.u == zi->raw.imm[1].value.u &&
		      zi->mnemonic == ZYDIS_MNEMONIC_ENTER;
	unsigned bits = zi->raw.imm[second ? 1 : 0].size;

	if (implied)
		append_number(t, "", (unsigned)op->imm.value.u);
	else if (op->imm.is_relative)
		append_number(t, "Rel", bits);
	else if (zero_form && bits == 8 && !op->imm.value.u) {
		append(t, "0");
		t->has_zero = true;
	} else {
		append_number(t, "I", bits);
	}
}

static bool shown(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op)
{
	if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN || is_string_insn(zi))
		return false;
	/* k0 as the mask means "no mask" */
	if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK && op->reg.value == ZYDIS_REGISTER_K0)
		return false;
	return true;
}

static void append_operands(struct text *t, const ZydisDecodedInstruction *zi,
			    const ZydisDecodedOperand *ops, bool zero_form)
{
	const char *separator = " (";
	unsigned limit = zi->operand_count_visible;

	/* The register of a long nop and the address of lea and of the bound checks are not named.
	 */
	if (zi->mnemonic == ZYDIS_MNEMONIC_NOP)
		limit = limit ? 1 : 0;
	for (unsigned i = 0; i < limit; i++) {
		if (!shown(zi, &ops[i]))
			continue;
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ops[i].mem.type == ZYDIS_MEMOP_TYPE_AGEN && zi->mnemonic != ZYDIS_MNEMONIC_NOP)
			continue;
		append(t, separator);
		separator = ", ";
		/* uops.info's names for an address in a register and for a pair of masks */
		if (zi->mnemonic == ZYDIS_MNEMONIC_MOVDIR64B && !i)
			append(t, "R");
		else if ((zi->mnemonic == ZYDIS_MNEMONIC_VP2INTERSECTD ||
			  zi->mnemonic == ZYDIS_MNEMONIC_VP2INTERSECTQ) &&
			 !i)
			append(t, "R64");
		else if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			append_register(t, &ops[i]);
		else if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			append_memory(t, zi, &ops[i]);
		else
			append_immediate(t, zi, &ops[i], zero_form);
	}
	if (separator[0] == ',')
		append(t, ")");
}

/* _B_IS_D8: the parts that the address has */
static void append_address_parts(struct text *t, const ZydisDecodedInstruction *zi,
				 const ZydisDecodedOperand *ops)
{
	for (unsigned i = 0; i < zi->operand_count_visible; i++) {
		const ZydisDecodedOperandMem *mem = &ops[i].mem;

		if (ops[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (mem->base == ZYDIS_REGISTER_RIP || mem->base == ZYDIS_REGISTER_EIP)
			append(t, "_R");
		else if (mem->base != ZYDIS_REGISTER_NONE)
			append(t, "_B");
		if (mem->index != ZYDIS_REGISTER_NONE)
			append(t, mem->scale > 1 ? "_IS" : "_I");
		if (zi->raw.disp.size)
			append(t, zi->raw.disp.size == 8 ? "_D8" : "_D32");
	}
}

static void append_mnemonic(struct text *t, const ZydisDecodedInstruction *zi)
{
	const char *s = ZydisMnemonicGetString(zi->mnemonic);
	char name[32];
	size_t i;

	for (i = 0; i + 1 < sizeof(name) && s[i]; i++)
		name[i] = (char)toupper((unsigned char)s[i]);
	name[i] = 0;
	append(t, name);
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_CALL:
		append(t, "_NEAR");
		break;
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_CMPSD:
		if (!is_string_insn(zi))
			append(t, "_XMM");
		break;
	case ZYDIS_MNEMONIC_PCMPESTRI:
	case ZYDIS_MNEMONIC_PCMPESTRM:
	case ZYDIS_MNEMONIC_VPCMPESTRI:
	case ZYDIS_MNEMONIC_VPCMPESTRM:
		if (is_vex(zi) ? zi->raw.vex.W : zi->raw.rex.W)
			append(t, "64");
		break;
	case ZYDIS_MNEMONIC_PREFETCH:
		append(t, "_EXCLUSIVE"); /* 0F 0D /0 */
		break;
	default:
		break;
	}
}

/* Most instructions have such a suffix, so it is made without printf. */
static void put_opcode(char *suffix, const char *prefix, unsigned opcode)
{
	static const char digits[] = "0123456789ABCDEF";
	const size_t n = strlen(prefix);

	memcpy(suffix, prefix, n);
	suffix[n] = digits[opcode >> 4 & 15];
	suffix[n + 1] = digits[opcode & 15];
	suffix[n + 2] = '\0';
}

/* Lists the suffixes that may tell two encodings of the same operands apart; NULL-terminated. */
static void encoding_suffix(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
			    char *suffix, size_t size)
{
	bool byte_register = zi->operand_count_visible &&
			     ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER && ops[0].size == 8 &&
			     ops[0].encoding == ZYDIS_OPERAND_ENCODING_MODRM_RM &&
			     !is_high_byte(ops[0].reg.value);
	bool has_immediate =
		zi->operand_count_visible > 1 &&
		ops[zi->operand_count_visible - 1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	suffix[0] = 0;
	if (zi->attributes & ZYDIS_ATTRIB_HAS_LOCK)
		snprintf(suffix, size, "_LOCK");
	else if (is_string_insn(zi) &&
		 zi->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE))
		snprintf(suffix, size, "_REPE");
	else if (is_string_insn(zi) && zi->attributes & ZYDIS_ATTRIB_HAS_REPNE)
		snprintf(suffix, size, "_REPNE");
	else if (byte_register && has_immediate)
		snprintf(suffix, size, zi->raw.modrm.rm < 4 ? "_R0" : "_R4");
	else if (zi->mnemonic == ZYDIS_MNEMONIC_IMUL && has_immediate)
		snprintf(suffix, size, zi->raw.imm[0].size == 8 ? "_IMMB" : "_IMMZ");
	else if (zi->mnemonic == ZYDIS_MNEMONIC_SHLD || zi->mnemonic == ZYDIS_MNEMONIC_SHRD)
		snprintf(suffix, size, has_immediate ? "_IMMB" : "_CL");
	else if (zi->mnemonic == ZYDIS_MNEMONIC_PEXTRW && zi->opcode_map == ZYDIS_OPCODE_MAP_0F3A)
		snprintf(suffix, size, "_SSE4");
	else if (zi->mnemonic == ZYDIS_MNEMONIC_MOV && zi->opcode_map == ZYDIS_OPCODE_MAP_0F)
		snprintf(suffix, size, zi->opcode & 1 ? "_DR" : "_CR");
	else if (zi->operand_width == 16 &&
		 (zi->mnemonic == ZYDIS_MNEMONIC_PUSH || zi->mnemonic == ZYDIS_MNEMONIC_ENTER ||
		  zi->mnemonic == ZYDIS_MNEMONIC_LEAVE))
		snprintf(suffix, size, "_W");
	else if (is_vex(zi) || is_evex(zi) || zi->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		put_opcode(suffix, "_", zi->opcode);
	else if (zi->opcode_map == ZYDIS_OPCODE_MAP_0F)
		put_opcode(suffix, "_0F", zi->opcode);
}

static unsigned try_name(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
			 const char *suffix, bool *zero_form)
{
	struct text t;

	t.n = 0;
	t.full = t.has_zero = false;
	append_mnemonic(&t, zi);
	append(&t, suffix);
	append_operands(&t, zi, ops, *zero_form);
	*zero_form = t.has_zero;
	return t.full ? TACT_FORM_NONE : isa_form_find(t.s, t.n);
}

/* Tries names with and without the form for an immediate of zero. */
static unsigned try_suffix(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
			   const char *suffix)
{
	bool zero_form = true;
	unsigned form = try_name(zi, ops, suffix, &zero_form);

	if (form != TACT_FORM_NONE || !zero_form)
		return form;
	zero_form = false;
	return try_name(zi, ops, suffix, &zero_form);
}

static unsigned evex_form(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
			  const char *opcode_suffix)
{
	/* Zydis calls a compare into a mask "zeroing" and a blend "control": the bit itself tells.
	 */
	bool zeroing = zi->raw.evex.z != 0;
	bool rounding = zi->avx.rounding.mode != ZYDIS_ROUNDING_MODE_INVALID;
	bool sae = zi->avx.has_sae;
	const char *r = rounding ? "_ER" : sae ? "_SAE" : "", *z = zeroing ? "_Z" : "";
	char names[6][48];
	unsigned form = TACT_FORM_NONE;

	/* First the names that say EVEX: those without it would be those of the VEX form where both
	 * exist.
	 */
	snprintf(names[0], sizeof(names[0]), "_EVEX%s%s", r, z);
	snprintf(names[1], sizeof(names[1]), "%s_EVEX%s%s", opcode_suffix, r, z);
	snprintf(names[2], sizeof(names[2]), "%s%s", r, z);
	snprintf(names[3], sizeof(names[3]), "%s%s%s", opcode_suffix, r, z);
	snprintf(names[4], sizeof(names[4]), "%s", z);
	snprintf(names[5], sizeof(names[5]), "%s", "");
	for (size_t i = 0; i < ARRAY_SIZE(names) && form == TACT_FORM_NONE; i++)
		form = try_suffix(zi, ops, names[i]);
	return form;
}

unsigned x86_form_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops)
{
	struct text parts = {.n = 0};
	char suffix[24];
	unsigned form;

	if (zi->mnemonic == ZYDIS_MNEMONIC_LEA || zi->meta.isa_ext == ZYDIS_ISA_EXT_MPX) {
		append_address_parts(&parts, zi, ops);
		form = try_suffix(zi, ops, parts.s);
		if (form != TACT_FORM_NONE)
			return form;
	}
	encoding_suffix(zi, ops, suffix, sizeof(suffix));
	if (is_evex(zi))
		return evex_form(zi, ops, suffix);
	form = try_suffix(zi, ops, suffix);
	/* xchg locks even without the prefix: the prefix does not make another form. */
	if (form == TACT_FORM_NONE &&
	    (!(zi->attributes & ZYDIS_ATTRIB_HAS_LOCK) || zi->mnemonic == ZYDIS_MNEMONIC_XCHG))
		form = try_suffix(zi, ops, "");
	return form;
}

/* SPDX-License-Identifier: MIT
 *
 * What an instruction is: the static properties that tables are grouped by (HBBP paper, section
 * V.B).
 */
#include <string.h>

#include "isa/x86/x86.h"

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool ends(const char *text, const char *suffix)
{
	size_t n = strlen(text), m = strlen(suffix);

	return n >= m && !strcmp(text + n - m, suffix);
}

static bool is_float(ZydisElementType type)
{
	return type == ZYDIS_ELEMENT_TYPE_FLOAT16 || type == ZYDIS_ELEMENT_TYPE_FLOAT32 ||
	       type == ZYDIS_ELEMENT_TYPE_FLOAT64 || type == ZYDIS_ELEMENT_TYPE_FLOAT80;
}

static bool is_vector(const ZydisDecodedOperand *op)
{
	ZydisRegisterClass c;

	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	c = ZydisRegisterGetClass(op->reg.value);
	return c == ZYDIS_REGCLASS_XMM || c == ZYDIS_REGCLASS_YMM || c == ZYDIS_REGCLASS_ZMM ||
	       c == ZYDIS_REGCLASS_MMX;
}

/* Scalar forms of vector instructions say so in their names: addss, vfmadd213sd, vcvttss2si; moves
 * of a single element, too.  x87 works on one number at a time.
 */
static enum isa_packing packing_of(const ZydisDecodedInstruction *zi,
				   const ZydisDecodedOperand *ops, const char *name)
{
	bool vector = false;

	if (zi->meta.isa_ext == ZYDIS_ISA_EXT_X87)
		return ISA_PACKING_SCALAR;
	for (unsigned i = 0; i < zi->operand_count_visible; i++)
		vector |= is_vector(&ops[i]);
	if (!vector)
		return ISA_PACKING_NONE;
	if (ends(name, "SS") || ends(name, "SD") || ends(name, "SH") || begins(name, "CVTSI2S") ||
	    begins(name, "VCVTSI2S") || begins(name, "VCVTUSI2S") || strstr(name, "SS2SI") ||
	    strstr(name, "SD2SI") || !strcmp(name, "MOVD") || !strcmp(name, "MOVQ") ||
	    !strcmp(name, "VMOVD") || !strcmp(name, "VMOVQ"))
		return ISA_PACKING_SCALAR;
	return ISA_PACKING_PACKED;
}

/* Counts floating-point operations: additions, multiplications, divisions, roots; two for a fused
 * one.  Moves, shuffles, comparisons and conversions do not count.
 */
static unsigned operations(const char *name)
{
	const char *n = name[0] == 'V' ? name + 1 : name;

	if (begins(n, "FMADD") || begins(n, "FMSUB") || begins(n, "FNMADD") || begins(n, "FNMSUB"))
		return 2;
	if (begins(n, "ADDSUB") || begins(n, "ADD") || begins(n, "SUB") || begins(n, "MUL") ||
	    begins(n, "DIV") || begins(n, "SQRT") || begins(n, "HADD") || begins(n, "HSUB"))
		return 1;
	return 0;
}

static unsigned x87_operations(const char *name)
{
	return begins(name, "FADD") || begins(name, "FSUB") || begins(name, "FMUL") ||
	       begins(name, "FDIV") || begins(name, "FSQRT") || begins(name, "FIADD") ||
	       begins(name, "FISUB") || begins(name, "FIMUL") || begins(name, "FIDIV");
}

static unsigned flops_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
			 const char *name, enum isa_packing packing)
{
	unsigned lanes = 1, n;

	if (zi->meta.isa_ext == ZYDIS_ISA_EXT_X87)
		return x87_operations(name);
	if (packing == ISA_PACKING_NONE ||
	    !(ends(name, "SS") || ends(name, "SD") || ends(name, "PS") || ends(name, "PD")))
		return 0;
	n = operations(name);
	if (!n)
		return 0;
	if (packing == ISA_PACKING_PACKED && zi->operand_count_visible &&
	    is_float(ops[0].element_type))
		lanes = ops[0].element_count;
	return n * lanes;
}

static unsigned width_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops)
{
	unsigned width = 0;

	for (unsigned i = 0; i < zi->operand_count_visible; i++) {
		if (ops[i].type != ZYDIS_OPERAND_TYPE_REGISTER &&
		    ops[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ops[i].mem.type != ZYDIS_MEMOP_TYPE_MEM)
			continue;
		if (ops[i].size > width && ops[i].size <= 512)
			width = ops[i].size;
	}
	return width;
}

/* Instructions of more than some ten cycles on every CPU of uops.info: divisions, square roots, and
 * those that lock the bus or serialize.
 */
static bool is_long(const ZydisDecodedInstruction *zi, const char *name, bool is_locked)
{
	return is_locked || strstr(name, "DIV") || strstr(name, "SQRT") || begins(name, "FSIN") ||
	       begins(name, "FCOS") || begins(name, "FPATAN") || begins(name, "FPTAN") ||
	       begins(name, "F2XM1") || begins(name, "FYL2X") || begins(name, "FPREM") ||
	       zi->mnemonic == ZYDIS_MNEMONIC_CPUID || zi->mnemonic == ZYDIS_MNEMONIC_MFENCE ||
	       zi->mnemonic == ZYDIS_MNEMONIC_RDTSC;
}

static enum isa_masking masking_of(const ZydisDecodedInstruction *zi)
{
	switch (zi->avx.mask.mode) {
	case ZYDIS_MASK_MODE_MERGING:
	case ZYDIS_MASK_MODE_CONTROL:
		return ISA_MASKING_KEEPS;
	case ZYDIS_MASK_MODE_ZEROING:
	case ZYDIS_MASK_MODE_CONTROL_ZEROING:
		return ISA_MASKING_ZEROES;
	default:
		return ISA_MASKING_NONE;
	}
}

/* Properties that the name tells; Zydis writes it in lower case. */
static void name_properties(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
			    struct isa_properties *out)
{
	char name[40];
	size_t n = strnlen(out->mnemonic_name, sizeof(name) - 1);

	for (size_t i = 0; i < n; i++) {
		char c = out->mnemonic_name[i];

		name[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
	}
	name[n] = '\0';
	out->packing = (uint8_t)packing_of(zi, ops, name);
	out->flops = (uint16_t)flops_of(zi, ops, name, (enum isa_packing)out->packing);
	out->is_long_latency = is_long(zi, name, out->is_locked);
}

void x86_describe(struct isa_properties *out, const uint8_t *code, size_t size)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;

	*out = (struct isa_properties){.form = TACT_FORM_NONE,
				       .mnemonic_name = "(bad)",
				       .extension = "(none)",
				       .category = "(none)",
				       .form_name = "unknown"};
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &zi, ops)))
		return;
	out->length = zi.length;
	out->mnemonic = (uint16_t)zi.mnemonic;
	out->form = (uint16_t)x86_form_of(&zi, ops);
	out->form_name = tact_isa_form_name(&isa_x86, out->form);
	out->mnemonic_name = ZydisMnemonicGetString(zi.mnemonic);
	out->extension = ZydisISAExtGetString(zi.meta.isa_ext);
	out->category = ZydisCategoryGetString(zi.meta.category);
	out->n_operands = zi.operand_count_visible;
	for (unsigned i = 0; i < zi.operand_count_visible; i++)
		out->has_immediate |=
			ops[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !ops[i].imm.is_relative;
	for (unsigned i = 0; i < zi.operand_count; i++) {
		if (ops[i].type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    ops[i].mem.type != ZYDIS_MEMOP_TYPE_MEM)
			continue;
		out->loads |= !!(ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ);
		out->stores |= !!(ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
	}
	out->is_branch = zi.meta.category == ZYDIS_CATEGORY_COND_BR ||
			 zi.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
			 zi.meta.category == ZYDIS_CATEGORY_CALL ||
			 zi.meta.category == ZYDIS_CATEGORY_RET;
	out->is_locked = (zi.attributes & ZYDIS_ATTRIB_HAS_LOCK) ||
			 (zi.mnemonic == ZYDIS_MNEMONIC_XCHG && out->loads);
	out->width = (uint16_t)width_of(&zi, ops);
	out->masking = (uint8_t)masking_of(&zi);
	name_properties(&zi, ops, out);
}

/* Intel's optimization reference manual, "Software data prefetch": T1 and T2 bring a line to the second
 * level, the others to the first one as well.
 */
unsigned x86_prefetch_level(const struct tact_insn *insn)
{
	switch ((ZydisMnemonic)insn->mnemonic) {
	case ZYDIS_MNEMONIC_PREFETCH:
	case ZYDIS_MNEMONIC_PREFETCHW:
	case ZYDIS_MNEMONIC_PREFETCHNTA:
	case ZYDIS_MNEMONIC_PREFETCHT0:
		return 1;
	case ZYDIS_MNEMONIC_PREFETCHT1:
	case ZYDIS_MNEMONIC_PREFETCHT2:
	case ZYDIS_MNEMONIC_PREFETCHWT1:
		return 2;
	default:
		return 0;
	}
}

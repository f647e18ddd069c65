/* SPDX-License-Identifier: MIT
 *
 * Where execution goes behind an instruction: of decoded ones, and of code that is only walked
 * over.
 */
#include "isa/x86/x86.h"

enum tact_flow x86_flow_of(const struct tact_insn *insn)
{
	if (insn->attributes & TACT_INSN_RET)
		return TACT_FLOW_RETURN;
	if (insn->attributes & TACT_INSN_CALL)
		return TACT_FLOW_CALL;
	if (insn->attributes & TACT_INSN_COND_BRANCH)
		return TACT_FLOW_BRANCH;
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_INT:
		return TACT_FLOW_KERNEL;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		return TACT_FLOW_STOP;
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_XBEGIN:
		return TACT_FLOW_BRANCH;
	default:
		return insn->attributes & TACT_INSN_BRANCH ? TACT_FLOW_JUMP : TACT_FLOW_NEXT;
	}
}

/* The minimal mode of Zydis gives length, prefixes and raw parts only; so opcodes are told apart
 * here, by the opcode maps of the Intel SDM, volume 2, appendix A.
 */
static enum tact_flow flow_of_one_byte(const ZydisDecodedInstruction *zi)
{
	switch (zi->opcode) {
	case 0xe0: /* loop, jrcxz */
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return TACT_FLOW_BRANCH;
	case 0xe9:
	case 0xeb:
		return TACT_FLOW_JUMP;
	case 0xe8:
		return TACT_FLOW_CALL;
	case 0xc7: /* xbegin */
		return zi->raw.modrm.mod == 3 && zi->raw.modrm.reg == 7 ? TACT_FLOW_BRANCH
									: TACT_FLOW_NEXT;
	case 0xff: /* through a register or memory */
		return zi->raw.modrm.reg == 4 || zi->raw.modrm.reg == 5	  ? TACT_FLOW_JUMP
		       : zi->raw.modrm.reg == 2 || zi->raw.modrm.reg == 3 ? TACT_FLOW_CALL
									  : TACT_FLOW_NEXT;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
		return TACT_FLOW_RETURN;
	case 0xcd:
		return TACT_FLOW_KERNEL;
	case 0xcc: /* int3, iret, hlt */
	case 0xcf:
	case 0xf4:
		return TACT_FLOW_STOP;
	default:
		return (zi->opcode & 0xf0) == 0x70 ? TACT_FLOW_BRANCH : TACT_FLOW_NEXT;
	}
}

static enum tact_flow flow_of_two_bytes(const ZydisDecodedInstruction *zi)
{
	switch (zi->opcode) {
	case 0x05: /* syscall, sysenter */
	case 0x34:
		return TACT_FLOW_KERNEL;
	case 0x07: /* sysret, ud2, sysexit, ud1, ud0 */
	case 0x0b:
	case 0x35:
	case 0xb9:
	case 0xff:
		return TACT_FLOW_STOP;
	default:
		return (zi->opcode & 0xf0) == 0x80 ? TACT_FLOW_BRANCH : TACT_FLOW_NEXT;
	}
}

static void fill_step(struct isa_step *step, const ZydisDecodedInstruction *zi)
{
	*step = (struct isa_step){.length = zi->length, .is_valid = true};
	if (zi->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return;
	if (zi->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		step->flow = (uint8_t)flow_of_one_byte(zi);
	else if (zi->opcode_map == ZYDIS_OPCODE_MAP_0F)
		step->flow = (uint8_t)flow_of_two_bytes(zi);
	if (step->flow != TACT_FLOW_BRANCH && step->flow != TACT_FLOW_JUMP &&
	    step->flow != TACT_FLOW_CALL)
		return;
	step->is_direct = zi->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT || zi->opcode != 0xff;
	if (!step->is_direct)
		return;
	step->may_be_relocated = zi->raw.imm[0].size == 32 && !zi->raw.imm[0].value.s;
	step->target = zi->length + zi->raw.imm[0].value.s;
}

size_t x86_scan(struct isa_step *steps, size_t max, const uint8_t *code, size_t size)
{
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;
	size_t n = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	for (size_t at = 0; at < size && n < max; at += steps[n++].length) {
		steps[n] = (struct isa_step){.length = 1, .flow = TACT_FLOW_STOP};
		if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, size - at,
							       &zi)))
			fill_step(&steps[n], &zi);
	}
	return n;
}

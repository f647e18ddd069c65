/* SPDX-License-Identifier: MIT
 *
 * Where execution goes after an instruction: for decoded instructions, and for code that is only
 * walked over.
 */
#include "isa/x86/x86.h"

#include <string.h>

/* Follows the opcode maps of the Intel SDM, volume 2, appendix A: the minimal mode of Zydis, which
 * is enough for a walk over code, gives only length, prefixes and raw parts.
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
	case 0xcf:
		return TACT_FLOW_RETURN;
	case 0xcd:
		return TACT_FLOW_KERNEL;
	case 0xcc: /* int3, int1, hlt */
	case 0xf1:
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

enum tact_flow x86_flow_of(const ZydisDecodedInstruction *zi)
{
	if (zi->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY) /* jkzd, jknzd: Knights Corner */
		return zi->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX &&
				       zi->opcode_map == ZYDIS_OPCODE_MAP_0F &&
				       (zi->opcode & 0xfe) == 0x84
			       ? TACT_FLOW_BRANCH
			       : TACT_FLOW_NEXT;
	if (zi->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		return flow_of_one_byte(zi);
	return zi->opcode_map == ZYDIS_OPCODE_MAP_0F ? flow_of_two_bytes(zi) : TACT_FLOW_NEXT;
}

static void fill_step(struct isa_step *step, const ZydisDecodedInstruction *zi)
{
	*step = (struct isa_step){.length = zi->length,
				  .flow = (uint8_t)x86_flow_of(zi),
				  .is_valid = true,
				  .is_padding =
					  zi->mnemonic == ZYDIS_MNEMONIC_NOP ||
					  (zi->mnemonic == ZYDIS_MNEMONIC_INT3 && zi->length == 1)};
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

/* A displacement that equals the length of the code is hardly an accident. */
bool x86_may_lead_back(const uint8_t *code, size_t size)
{
	int32_t distance;

	if (size >= 2 && size <= 128 && (int8_t)code[size - 1] == -(int)size) {
		const uint8_t opcode = code[size - 2];

		if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0 || opcode == 0xeb)
			return true;
	}
	if (size < 5 || size > INT32_MAX)
		return false;
	memcpy(&distance, code + size - 4, sizeof(distance));
	return distance == -(int32_t)size &&
	       (code[size - 5] == 0xe9 || (code[size - 5] & 0xf0) == 0x80 ||
		code[size - 5] == 0xf8); /* jmp, jcc, xbegin */
}

/* call rel32; call and lcall r/m; int; syscall and sysenter. */
static bool is_call(const uint8_t *p, size_t size)
{
	if (size < 2)
		return false;
	return (p[0] == 0xe8 && size >= 5) || (p[0] == 0xff && (p[1] >> 4 & 3) == 1) ||
	       p[0] == 0xcd || (p[0] == 0x0f && (p[1] == 0x05 || p[1] == 0x34));
}

/* Skips prefixes of an instruction; those of calls are segments, 66, f2 and f3, and REX. */
static size_t skip_prefixes(const uint8_t *p, size_t size)
{
	size_t n = 0;

	while (n + 1 < size && (p[n] == 0x66 || p[n] == 0x67 || p[n] == 0xf2 || p[n] == 0xf3 ||
				p[n] == 0x2e || p[n] == 0x36 || p[n] == 0x3e || p[n] == 0x26 ||
				p[n] == 0x64 || p[n] == 0x65 || (p[n] & 0xf0) == 0x40))
		n++;
	return n;
}

/* Most blocks have no such byte at all; in others it is mostly part of a constant, which lengths
 * tell.  What has no length here is left to the decoder.
 */
bool x86_may_call(const uint8_t *code, size_t size)
{
	static const bool may_begin[256] = {
		[0xe8] = true, [0xff] = true, [0xcd] = true, [0x0f] = true};
	size_t first = 0, at = 0, n;

	while (first < size && (!may_begin[code[first]] || !is_call(code + first, size - first)))
		first++;
	if (first == size)
		return false;
	while (at < size) {
		struct isa_layout layout;

		n = skip_prefixes(code + at, size - at);
		if (is_call(code + at + n, size - at - n) ||
		    !x86_layout_of(&layout, code + at, size - at) || !layout.length)
			return true;
		at += layout.length;
	}
	return false;
}

/* The displacement counts from the end of the instruction and is its last part. */
bool x86_retarget(uint8_t *insn, size_t length, int64_t distance)
{
	const int64_t displacement = distance - (int64_t)length;
	const int32_t value = (int32_t)displacement;
	ZydisDecodedInstruction zi;
	struct isa_step step;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, insn, length, &zi)))
		return false;
	fill_step(&step, &zi);
	if (!step.is_direct || zi.length != length)
		return false;
	if (zi.raw.imm[0].size == 8 && displacement == (int8_t)displacement)
		insn[length - 1] = (uint8_t)displacement;
	else if (zi.raw.imm[0].size == 32 && displacement == value)
		memcpy(insn + length - sizeof(value), &value, sizeof(value));
	else
		return false;
	return true;
}

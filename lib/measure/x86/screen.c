/* SPDX-License-Identifier: MIT
 *
 * Decides what is refused before it runs, and finds out what must be known to run a block.
 */
#include <stdio.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "measure/x86/measure_x86.h"

/* Returns why an instruction is not run; NULL if it may run. */
static const char *refusal_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops)
{
	if (zi->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED)
		return "is privileged";
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDPMC:
	case ZYDIS_MNEMONIC_RDPID:
	case ZYDIS_MNEMONIC_RDPRU:
	case ZYDIS_MNEMONIC_XGETBV:
		return "is not deterministic";
	case ZYDIS_MNEMONIC_CLI:
	case ZYDIS_MNEMONIC_STI:
		return "is privileged";
	case ZYDIS_MNEMONIC_UMWAIT:
	case ZYDIS_MNEMONIC_TPAUSE:
	case ZYDIS_MNEMONIC_UMONITOR:
	case ZYDIS_MNEMONIC_MONITOR:
	case ZYDIS_MNEMONIC_MWAIT:
	case ZYDIS_MNEMONIC_MONITORX:
	case ZYDIS_MNEMONIC_MWAITX:
		return "waits for events";
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XEND:
	case ZYDIS_MNEMONIC_XABORT:
		return "is transactional";
	case ZYDIS_MNEMONIC_WRPKRU:
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_XRSTOR64:
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
		return "restores processor state from memory";
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		return "is undefined on purpose";
	default:
		break;
	}
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
		return "enters the kernel";
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
		return "accesses ports of devices";
	case ZYDIS_CATEGORY_RDRAND:
	case ZYDIS_CATEGORY_RDSEED:
		return "is not deterministic";
	case ZYDIS_CATEGORY_RDWRFSGS:
	case ZYDIS_CATEGORY_SEGOP:
		return "changes segments";
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
		return "leaves the block";
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_SGX:
	case ZYDIS_CATEGORY_UINTR:
	case ZYDIS_CATEGORY_ENQCMD:
		return "is a system instruction";
	default:
		break;
	}
	for (unsigned i = 0; i < zi->operand_count; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(ops[i].reg.value) == ZYDIS_REGCLASS_SEGMENT &&
		    ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			return "changes segments";
	return NULL;
}

static void note_register(struct measure_screen *s, ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64)
		s->used |= 1u << ZydisRegisterGetId(whole);
}

enum { GS_PREFIX = 0x65 };

static void note_operands(struct measure_screen *s, const ZydisDecodedInstruction *zi,
			  const ZydisDecodedOperand *ops)
{
	if (zi->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		s->flags |= TACT_MFLAG_VEX;
	for (unsigned i = 0; i < zi->raw.prefix_count; i++)
		s->uses_kept |= zi->raw.prefixes[i].value == GS_PREFIX;
	for (unsigned i = 0; i < zi->operand_count; i++) {
		const ZydisDecodedOperand *op = &ops[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			ZydisRegisterClass class = ZydisRegisterGetClass(op->reg.value);

			note_register(s, op->reg.value);
			if (class == ZYDIS_REGCLASS_X87 || class == ZYDIS_REGCLASS_MMX)
				s->flags |= TACT_MFLAG_X87;
		} else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			note_register(s, op->mem.base);
			note_register(s, op->mem.index);
			if (op->mem.base == ZYDIS_REGISTER_RIP)
				s->flags |= TACT_MFLAG_RIP;
		}
	}
}

/* Whether it is a conditional or unconditional jump to the first byte of the block.  With a prefix
 * for 16-bit operands, AMD's CPUs jump elsewhere, and find another length.
 */
static bool is_back_edge(const ZydisDecodedInstruction *zi, size_t end)
{
	return !(zi->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) &&
	       (zi->meta.category == ZYDIS_CATEGORY_COND_BR ||
		zi->meta.category == ZYDIS_CATEGORY_UNCOND_BR) &&
	       zi->raw.imm[0].is_relative && (int64_t)end + zi->raw.imm[0].value.s == 0;
}

/* Finds the register of a dec r or sub r, 1 (of a whole register) right before jnz: it counts the
 * iterations if nothing else writes it.  rsp cannot: the way into a run needs it.
 */
static int counter_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops)
{
	if (ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    ZydisRegisterGetClass(ops[0].reg.value) != ZYDIS_REGCLASS_GPR64 ||
	    ops[0].reg.value == ZYDIS_REGISTER_RSP)
		return -1;
	if (zi->mnemonic == ZYDIS_MNEMONIC_DEC ||
	    (zi->mnemonic == ZYDIS_MNEMONIC_SUB && ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	     ops[1].imm.value.s == 1))
		return ZydisRegisterGetId(ops[0].reg.value);
	return -1;
}

static unsigned count_writes(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops,
			     int reg)
{
	unsigned n = 0;

	for (unsigned i = 0; i < zi->operand_count; i++) {
		ZydisRegister whole;

		if (ops[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
							 ops[i].reg.value);
		n += ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 &&
		     ZydisRegisterGetId(whole) == reg;
	}
	return n;
}

/* Whether anything but its decrement writes the counter. */
static bool is_written_elsewhere(const uint8_t *code, size_t size, int reg)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;
	unsigned n = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < size; at += zi.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size - at, &zi, ops)))
			return true;
		n += count_writes(&zi, ops, reg);
	}
	return n != 1;
}

static void refuse(struct measure_screen *s, const uint8_t *code, size_t size, size_t at,
		   const char *why, char *reason, size_t reason_size)
{
	char text[96] = "an instruction";

	tact_isa_format(&isa_x86, code + at, size - at, at, text, sizeof(text));
	s->status = TACT_MEASURE_REFUSED;
	snprintf(reason, reason_size, "%s %s", text, why);
}

void measure_x86_screen(struct measure_screen *s, const uint8_t *code, size_t size, bool loop,
			char *reason, size_t reason_size)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;
	int candidate = -1;

	memset(s, 0, sizeof(*s));
	s->own_counter = -1;
	reason[0] = 0;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < size; at += zi.length, s->n_insns++) {
		const char *why;

		if (!ZYAN_SUCCESS(
			    ZydisDecoderDecodeFull(&decoder, code + at, size - at, &zi, ops))) {
			s->status = TACT_MEASURE_DECODE;
			snprintf(reason, reason_size,
				 "no instruction, or one that is cut short, at byte %zu", at);
			return;
		}
		if (at + zi.length == size && is_back_edge(&zi, size)) {
			s->is_loop = true;
			s->branch_size = zi.length;
			if (zi.mnemonic == ZYDIS_MNEMONIC_JNZ && candidate >= 0 &&
			    !is_written_elsewhere(code, size, candidate))
				s->own_counter = candidate;
			if (loop)
				continue;
		}
		why = refusal_of(&zi, ops);
		if (why) {
			refuse(s, code, size, at, why, reason, reason_size);
			return;
		}
		note_operands(s, &zi, ops);
		measure_x86_note_vectors(s, &zi, ops);
		candidate = counter_of(&zi, ops);
	}
	if (s->flags & TACT_MFLAG_X87)
		measure_x86_level_stack(s, code, size);
	if (!s->n_insns) {
		s->status = TACT_MEASURE_DECODE;
		snprintf(reason, reason_size, "no code");
	}
}

/* SPDX-License-Identifier: MIT
 *
 * The addresses that an instruction accesses, computed from the registers before it.
 */
#include "measure/x86/measure_x86.h"

static uint64_t register_value(const uint64_t *values, ZydisRegister reg, uint64_t next_rip)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	uint64_t value;

	if (reg == ZYDIS_REGISTER_NONE)
		return 0;
	if (reg == ZYDIS_REGISTER_RIP || reg == ZYDIS_REGISTER_EIP)
		return next_rip;
	if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
		return 0;
	value = values[ZydisRegisterGetId(whole)];
	return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR32 ? (uint32_t)value : value;
}

static uint64_t address_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *op,
			   const struct measure_step *step)
{
	const ZydisDecodedOperandMem *mem = &op->mem;
	uint64_t address = register_value(step->reg, mem->base, step->pc + zi->length) +
			   register_value(step->reg, mem->index, 0) * mem->scale +
			   (mem->disp.has_displacement ? (uint64_t)mem->disp.value : 0);

	if (mem->segment == ZYDIS_REGISTER_FS || mem->segment == ZYDIS_REGISTER_GS)
		address += MEASURE_THREAD_BASE;
	/* push stores below rsp */
	if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && mem->base == ZYDIS_REGISTER_RSP &&
	    op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		address -= op->size / 8u;
	return address;
}

unsigned measure_x86_accesses(struct measure_access *out, const uint8_t *code, size_t size,
			      const struct measure_step *step)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;
	unsigned n = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &zi, ops)))
		return 0;
	/* Nops do not access their operands, and nothing waits for a prefetch. */
	if (zi.meta.category == ZYDIS_CATEGORY_NOP || zi.meta.category == ZYDIS_CATEGORY_WIDENOP ||
	    zi.meta.category == ZYDIS_CATEGORY_PREFETCH)
		return 0;
	for (unsigned i = 0; i < zi.operand_count && n < MEASURE_MAX_ACCESSES; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    ops[i].mem.type == ZYDIS_MEMOP_TYPE_MEM)
			out[n++] = (struct measure_access){
				.address = address_of(&zi, &ops[i], step),
				.size = ops[i].size / 8u,
				.is_load = ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ,
				.is_store = ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE};
	return n;
}

/* SPDX-License-Identifier: MIT */
#include "isa/isa.h"

enum isa_flow isa_flow_of(const struct tact_insn *insn)
{
	if (insn->attributes & TACT_INSN_RET)
		return ISA_FLOW_RETURN;
	if (insn->attributes & TACT_INSN_CALL)
		return ISA_FLOW_CALL;
	if (insn->attributes & TACT_INSN_COND_BRANCH)
		return ISA_FLOW_BRANCH;
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_INT:
		return ISA_FLOW_KERNEL;
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
		return ISA_FLOW_STOP;
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
	case ZYDIS_MNEMONIC_JCXZ:
	case ZYDIS_MNEMONIC_JECXZ:
	case ZYDIS_MNEMONIC_JRCXZ:
	case ZYDIS_MNEMONIC_XBEGIN:
		return ISA_FLOW_BRANCH;
	default:
		return insn->attributes & TACT_INSN_BRANCH ? ISA_FLOW_JUMP : ISA_FLOW_NEXT;
	}
}

bool isa_flow_target(const struct tact_insn *insn, int64_t *offset)
{
	const enum isa_flow flow = isa_flow_of(insn);

	if (flow != ISA_FLOW_BRANCH && flow != ISA_FLOW_JUMP && flow != ISA_FLOW_CALL)
		return false;
	/* Indirect ones have a register or memory, and no immediate. */
	if (!insn->immediate_bits)
		return false;
	*offset = insn->length + insn->immediate;
	return true;
}

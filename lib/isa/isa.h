/* SPDX-License-Identifier: MIT
 *
 * Layer 1: bytes to instructions, on Zydis.
 */
#ifndef TACT_ISA_H
#define TACT_ISA_H

#include <Zydis/Zydis.h>

#include <tact/insn.h>

#include "base/base.h"

/* Number of the table's form for a decoded instruction, or TACT_FORM_NONE. */
unsigned isa_form_of(const ZydisDecodedInstruction *zi, const ZydisDecodedOperand *ops);

/* Flag groups of a form: what uops.info says, which counts flags that may be left as they were
 * (shifts by cl) as read.
 */
void isa_form_flags(unsigned form, uint8_t *flags_read, uint8_t *flags_written);

/* The parts of an instruction that are found without tables of mnemonics: the head (prefixes,
 * opcode, ModRM, SIB), a displacement and immediates.
 */
struct isa_layout {
	uint8_t length;
	uint8_t head; /* bytes of prefixes, opcode, ModRM and SIB (and EVEX's 8-bit displacement) */
	uint8_t disp_size; /* 0, 1, 4, 8 bytes behind the head */
	uint8_t imm_size;  /* all immediates together, behind the displacement */
	bool disp_in_head;
	bool imm_is_register; /* the immediate's high half names a register (vblendvps, ...) */
};

/* Returns the length, or 0 if the bytes are cut short or the encoding is not one of the regular
 * ones (3DNow!, XOP, ...), which the caller then leaves to Zydis.
 */
int isa_layout_of(struct isa_layout *layout, const uint8_t *code, size_t size);

/* Where execution goes behind an instruction. */
enum isa_flow {
	ISA_FLOW_NEXT,
	ISA_FLOW_BRANCH, /* to the target or on; loop, jrcxz and xbegin, too */
	ISA_FLOW_JUMP,
	ISA_FLOW_CALL,
	ISA_FLOW_RETURN,
	ISA_FLOW_KERNEL, /* syscall, int: comes back behind it, as a rule */
	ISA_FLOW_STOP	 /* ud2, hlt, int3, iret: does not go on */
};

enum isa_flow isa_flow_of(const struct tact_insn *insn);

/* Target of a direct branch or call, relative to the instruction's first byte.  False if there is
 * none.
 */
bool isa_flow_target(const struct tact_insn *insn, int64_t *offset);

#endif /* TACT_ISA_H */

/* SPDX-License-Identifier: MIT
 *
 * What changed instructions are made with: Zydis' decoder and encoder.
 */
#ifndef TACT_ISA_X86_REWRITE_H
#define TACT_ISA_X86_REWRITE_H

#include <string.h>

#include "isa/rewrite.h"
#include "isa/x86/x86.h"

struct x86_decoded {
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisEncoderRequest request;
};

/* Decodes one instruction and asks for the same again.  Returns false for anything else. */
bool x86_rewrite_decode(struct x86_decoded *d, const uint8_t *code, size_t size);

/* Writes what is asked for.  Returns its length; 0: it cannot be encoded. */
size_t x86_rewrite_encode(const ZydisEncoderRequest *request, uint8_t *out);

/* A general register by its number and width; ZYDIS_REGISTER_NONE: there is none. */
ZydisRegister x86_general(uint8_t reg, ZyanU16 bits);

/* The number of a register that can be renamed; TACT_REG_NONE for others, ah to bh among them. */
uint8_t x86_number_of(ZydisRegister reg);

/* A request for an instruction of n operands, and a register as one of them. */
ZydisEncoderRequest x86_request(ZydisMnemonic mnemonic, unsigned n);
void x86_request_register(ZydisEncoderOperand *o, ZydisRegister reg);

/* Instructions that others replace: replace_x86.c. */
extern const struct isa_replacement_kind x86_replacements[];

#endif /* TACT_ISA_X86_REWRITE_H */

/* SPDX-License-Identifier: MIT
 *
 * RISC-V of 64 bits, decoded by LLVM.  Encodings: The RISC-V Instruction Set Manual, volume I,
 * chapters 34 (listings) and 27 (compressed instructions).
 */
#ifndef TACT_ISA_RISCV64_H
#define TACT_ISA_RISCV64_H

#include <string.h>

#include "isa/mc.h"

extern const struct tact_isa isa_riscv64;

enum {
	RV_REG_X0 = 0, /* never an operand: it is zero */
	RV_REG_SP = 2,
	RV_REG_FP = 8,
	RV_REG_F0 = 32,
	RV_REG_V0 = 64,
	RV_REG_VL = 96, /* vl, vtype, vxrm, vxsat, fflags, frm */
	RV_N_REGS = 102
};

/* Instructions of 16 bits have other low bits than 11. */
static inline unsigned rv_length(const uint8_t *code)
{
	return (code[0] & 3) == 3 ? 4 : 2;
}

static inline uint32_t rv_word(const uint8_t *code, unsigned length)
{
	uint32_t word = 0;

	memcpy(&word, code, length == 2 ? 2 : 4);
	return word;
}

static inline uint32_t rv_field(uint32_t word, unsigned low, unsigned n)
{
	return word >> low & ((1u << n) - 1);
}

bool rv_find_address(struct mc_address *out, const uint8_t *code, unsigned length);
void rv_refine(struct tact_insn *insn, const uint8_t *code);

/* The type of vectors, as a setting; see vtype_rv.c. */
unsigned rv_hints(uint16_t setting, struct llvm_hint *out);
uint16_t rv_read_setting(const char *p, const char *end);
uint16_t rv_follow(uint16_t before, const uint8_t *code, size_t size, uint16_t *of, size_t max);

/* Make a branch or jump lead so far from its first byte; false: its encoding cannot. */
bool rv_retarget(uint8_t *insn, size_t length, int64_t distance);
unsigned rv_relocated_bytes(unsigned type);
void rv_relocate(uint8_t *place, unsigned type, int64_t distance);

enum mc_category rv_categorize(const struct llvm_form *form);
const char *rv_extension(const struct llvm_form *form, const char *feature);
unsigned rv_count_flops(const struct llvm_form *form);
bool rv_is_scalar(const struct llvm_form *form);

#endif /* TACT_ISA_RISCV64_H */

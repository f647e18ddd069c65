/* SPDX-License-Identifier: MIT
 *
 * AArch64, decoded by LLVM.  Encodings: Arm Architecture Reference Manual for A-profile, C4.1.
 */
#ifndef TACT_ISA_AARCH64_H
#define TACT_ISA_AARCH64_H

#include <string.h>

#include "isa/mc.h"

extern const struct tact_isa isa_aarch64;

enum {
	A64_REG_X0 = 0, /* x0 to x30 */
	A64_REG_SP = 31,
	A64_REG_V0 = 32, /* v0, z0; 32 of them */
	A64_REG_P0 = 64, /* predicates, 16 of them */
	A64_REG_FFR = 80,
	A64_REG_ZA = 81,
	A64_N_REGS
};

static inline uint32_t a64_word(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

static inline uint32_t a64_field(uint32_t word, unsigned low, unsigned n)
{
	return word >> low & ((1u << n) - 1);
}

static inline int64_t a64_signed(uint32_t word, unsigned low, unsigned n)
{
	const int64_t sign = 1ll << (n - 1);

	return ((int64_t)a64_field(word, low, n) ^ sign) - sign;
}

extern const struct isa_native a64_native;

/* What is known of a core by the numbers in its main ID register; NULL: nothing. */
struct a64_core {
	uint8_t implementer;
	uint16_t part;
	const char *name; /* as its vendor writes it */
	const char *llvm; /* LLVM's name of its model; NULL: there is none */
};
const struct a64_core *a64_core_of(unsigned implementer, unsigned part);
const char *a64_vendor_of(unsigned implementer);

bool a64_find_address(struct mc_address *out, const uint8_t *code, unsigned length);
void a64_refine(struct tact_insn *insn, const uint8_t *code);

enum mc_category a64_categorize(const struct llvm_form *form);
const char *a64_extension(const struct llvm_form *form, const char *feature);
unsigned a64_count_flops(const struct llvm_form *form);
bool a64_is_scalar(const struct llvm_form *form);

#endif /* TACT_ISA_AARCH64_H */

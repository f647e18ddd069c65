/* SPDX-License-Identifier: MIT
 *
 * What the sets that LLVM decodes have in common (mc: its name for this layer).  A set brings its
 * registers by LLVM's names, and reads what LLVM does not say from the encoding: addresses, calls of
 * the kernel, what becomes of constants.
 */
#ifndef TACT_ISA_MC_H
#define TACT_ISA_MC_H

#include "isa/isa.h"
#include "llvm/llvm_wire.h"

/* An address that an instruction loads from or stores to. */
struct mc_address {
	uint8_t base, index; /* TACT_REG_NONE: none */
	uint8_t scale;
	uint16_t bits; /* accessed there; 0: a vector's, or not known */
	int64_t displacement;
	int16_t base_change; /* the base is written back, so much larger; 0: it stays */
	bool is_pc_relative;
	bool only_loads, only_stores; /* though LLVM says that it does both, for the order */
};

struct mc_set {
	const struct tact_isa *isa;
	const struct llvm_set_spec *spec;
	/* Finds the address of a load or store.  False: there is none (a barrier). */
	bool (*find_address)(struct mc_address *out, const uint8_t *code, unsigned length);
	/* Fills in flow and values where LLVM is silent. */
	void (*refine)(struct tact_insn *insn, const uint8_t *code);
	bool (*is_padding)(const uint8_t *code, unsigned length);
};

int mc_decode(const struct mc_set *set, struct tact_insn *insn, const uint8_t *code, size_t size);
int mc_format(const struct mc_set *set, const uint8_t *code, size_t code_size, uint64_t address,
	      char *text, size_t size);
size_t mc_scan(const struct mc_set *set, unsigned step, struct isa_step *steps, size_t max,
	       const uint8_t *code, size_t size);
void mc_describe(const struct mc_set *set, struct isa_properties *out, const uint8_t *code,
		 size_t size);
void mc_cut_mnemonic(char *out, size_t size, const char *text);
int mc_assemble(const struct mc_set *set, const char *text, size_t text_size, uint8_t **image,
		size_t *size, struct tact_diag *diag);

/* Without names: costs are asked for by instruction. */
extern const struct isa_forms mc_forms;

#endif /* TACT_ISA_MC_H */

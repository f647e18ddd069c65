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

/* What an instruction is: the first that fits. */
enum mc_category {
	MC_INTEGER,
	MC_FLOAT,
	MC_VECTOR,
	MC_LOAD,
	MC_STORE,
	MC_UPDATE, /* loads and stores, without being atomic */
	MC_BRANCH,
	MC_CALL,
	MC_RETURN,
	MC_ATOMIC,
	MC_CRYPTO,
	MC_PREFETCH,
	MC_BARRIER,
	MC_SYSTEM,
	MC_NOP,
	MC_N_CATEGORIES
};

struct mc_set {
	const struct tact_isa *isa;
	const struct llvm_set_spec *spec;
	/* Finds the address of a load or store.  False: there is none (a barrier). */
	bool (*find_address)(struct mc_address *out, const uint8_t *code, unsigned length);
	/* Fills in flow and values where LLVM is silent. */
	void (*refine)(struct tact_insn *insn, const uint8_t *code);
	bool (*is_padding)(const uint8_t *code, unsigned length);
	enum mc_category (*categorize)(const struct llvm_form *form);
	/* Returns by what other name than LLVM's feature an extension goes; NULL: by that.  NULL: all
	 * do.
	 */
	const char *(*extension)(const struct llvm_form *form, const char *feature);
	/* Tells whether a form with a vector register uses one element of it. */
	bool (*is_scalar)(const struct llvm_form *form);
	/* Operations on floating-point numbers of the whole instruction; 0: none, or not known. */
	unsigned (*count_flops)(const struct llvm_form *form);
};

int mc_check(const struct mc_set *set, struct tact_diag *diag);
int mc_decode(const struct mc_set *set, struct tact_insn *insn, const uint8_t *code, size_t size);
int mc_format(const struct mc_set *set, const uint8_t *code, size_t code_size, uint64_t address,
	      char *text, size_t size);
size_t mc_scan(const struct mc_set *set, unsigned step, struct isa_step *steps, size_t max,
	       const uint8_t *code, size_t size);
void mc_describe(const struct mc_set *set, struct isa_properties *out, const uint8_t *code,
		 size_t size);
void mc_cut_mnemonic(char *out, size_t size, const char *text);

/* Forms are LLVM's opcodes, with its names.  They differ between versions of LLVM: nothing that is
 * kept may have their numbers.
 */
unsigned mc_form_count(const struct mc_set *set);
const char *mc_form_name(const struct mc_set *set, unsigned form);
unsigned mc_form_find(const struct mc_set *set, const char *name);
int mc_form_tell(const struct mc_set *set, unsigned form, struct tact_form *out);
const char *mc_form_extension(const struct mc_set *set, unsigned form);
size_t mc_form_encode(const struct mc_set *set, const char *name, bool is_indexed, uint8_t *code);

/* Tells whether a name begins with one of some words, which have blanks between them. */
bool mc_begins(const char *name, const char *words);
/* Tells whether an operand's class of registers begins with such a word. */
bool mc_has_class(const struct llvm_form *form, const char *words);
/* What does not depend on the set: where execution goes, and memory.  MC_INTEGER: something else. */
enum mc_category mc_common_category(const struct llvm_form *form);

#endif /* TACT_ISA_MC_H */

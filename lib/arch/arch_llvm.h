/* SPDX-License-Identifier: MIT
 *
 * CPUs of which LLVM has a model: parameters from it, and facts of each instruction from its bytes.
 */
#ifndef TACT_ARCH_LLVM_H
#define TACT_ARCH_LLVM_H

#include "arch/arch.h"
#include "llvm/llvm_wire.h"

/* What LLVM says of a CPU, and how to ask for more. */
struct arch_llvm {
	const struct llvm_api *api;
	struct llvm_set *set;
	struct llvm_cpu *cpu;
	const struct llvm_cpu_info *info;
	/* Each unit is a port: those of resource r begin with first_port[r]; a unit beyond the last port
	 * has none.
	 */
	uint8_t first_port[LLVM_MAX_KINDS];
	uint32_t ports_of[LLVM_MAX_KINDS]; /* of a resource, or of all members of a group */
};

/* Finds a CPU by LLVM's name of it, as "llvm:znver4" if the set has CPUs of its own; it lives as long
 * as the program.  NULL: LLVM does not know it, or the module is not there.
 */
const struct tact_arch *arch_llvm_find(const char *name);

/* Fills the facts of n instructions that follow each other; see struct llvm_api. */
static inline int arch_llvm_facts(const struct arch_llvm *llvm, const uint8_t *code,
				  const struct llvm_place *places, size_t n, struct llvm_facts *out)
{
	return llvm->api->facts(llvm->cpu, code, places, n, out);
}

/* Whether the CPU's model knows an instruction. */
bool arch_llvm_knows(const struct arch_llvm *llvm, const struct isa_example_code *code);

/* Fills in the figures of an instruction of the form, as tact_arch_form does. */
int arch_llvm_form(const struct tact_arch *arch, unsigned form, struct tact_form_info *out);

/* The number of a resource, from its mask. */
static inline unsigned arch_llvm_index(uint64_t mask)
{
	return 63u - (unsigned)__builtin_clzll(mask);
}

#endif /* TACT_ARCH_LLVM_H */

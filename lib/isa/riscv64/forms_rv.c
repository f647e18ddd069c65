/* SPDX-License-Identifier: MIT
 *
 * What a form is, from LLVM's name of its opcode and its classes of registers.
 */
#include <string.h>

#include "isa/riscv64/riscv64.h"

bool rv_is_scalar(const struct llvm_form *form)
{
	return !mc_has_class(form, "VR VM");
}

enum mc_category rv_categorize(const struct llvm_form *form)
{
	static const char crypto[] = "AES SHA SM3 SM4 VAES VSHA VSM3 VSM4 VGHSH VGMUL";
	static const char system[] = "ECALL EBREAK C_EBREAK CSR CBO_ WFI WRS MRET SRET MNRET DRET "
				     "HLV HSV UNIMP C_UNIMP";
	const enum mc_category common = mc_common_category(form);
	const char *name = form->name;

	if (common == MC_BRANCH || common == MC_CALL || common == MC_RETURN)
		return common;
	if (!strcmp(name, "C_NOP"))
		return MC_NOP;
	if (mc_begins(name, "PREFETCH"))
		return MC_PREFETCH;
	if (mc_begins(name, "FENCE SFENCE HFENCE SINVAL HINVAL"))
		return MC_BARRIER;
	if (mc_begins(name, system))
		return MC_SYSTEM;
	if (mc_begins(name, "AMO LR_ SC_"))
		return MC_ATOMIC;
	if (mc_begins(name, crypto))
		return MC_CRYPTO;
	if (common != MC_INTEGER)
		return common;
	if (mc_has_class(form, "VR VM") || mc_begins(name, "VSET"))
		return MC_VECTOR;
	return mc_has_class(form, "FPR") ? MC_FLOAT : MC_INTEGER;
}

/* LLVM 19 knows two features that each have the compressed instructions. */
const char *rv_extension(const struct llvm_form *form, const char *feature)
{
	return !*feature && mc_begins(form->name, "C_") ? "zca" : NULL;
}

/* The length of vectors is not known. */
unsigned rv_count_flops(const struct llvm_form *form)
{
	if (mc_begins(form->name, "FMADD_ FMSUB_ FNMADD_ FNMSUB_"))
		return 2;
	return mc_begins(form->name, "FADD_ FSUB_ FMUL_ FDIV_ FSQRT_ FMAX_ FMIN_");
}

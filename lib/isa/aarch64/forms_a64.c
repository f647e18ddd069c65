/* SPDX-License-Identifier: MIT
 *
 * What a form is, from LLVM's name of its opcode and its classes of registers.
 */
#include <stdlib.h>
#include <string.h>

#include "isa/aarch64/aarch64.h"

/* "FADDv4f32", "ADDv2i64": the shape of a vector follows a small v.  NULL: there is none. */
static const char *find_shape(const char *name)
{
	for (const char *at = strchr(name, 'v'); at; at = strchr(at + 1, 'v')) {
		const char *element = at + 1 + strspn(at + 1, "0123456789");

		if (*element && strchr("ifbhsd", *element))
			return at + 1;
	}
	return NULL;
}

static bool is_wide(const struct llvm_form *form)
{
	return find_shape(form->name) || mc_has_class(form, "ZPR PPR PNR MPR DD QQ FPR128 V128");
}

bool a64_is_scalar(const struct llvm_form *form)
{
	const char *shape = find_shape(form->name);

	return shape ? !strncmp(shape, "1", 1) : !is_wide(form);
}

enum mc_category a64_categorize(const struct llvm_form *form)
{
	static const char atomic[] = "LDADD LDCLR LDEOR LDSET LDSMAX LDSMIN LDUMAX LDUMIN LDTADD "
				     "LDTCLR LDTSET LDBF LDFADD "
				     "LDFMAX LDFMIN LDXR LDXP LDAXR LDAXP LDATXR LDTXR STXR STXP "
				     "STLXR STLXP STTXR STLTXR "
				     "STBF STFADD STFMAX STFMIN CAS SWP RCW";
	static const char crypto[] = "AES SHA1 SHA256 SHA512 SM3 SM4 EOR3 BCAX RAX1 XAR PMULLv1i64 "
				     "PMULLv2i64 PMULL_2ZZZ_Q";
	static const char barrier[] = "DMB DSB ISB CLREX TSB PSB";
	static const char system[] =
		"MSR MRS SYS SVC HVC SMC BRK HLT UDF DCPS TSTART TCOMMIT TCANCEL WFET WFIT GCS";
	const enum mc_category common = mc_common_category(form);
	const char *name = form->name;

	if (common == MC_BRANCH || common == MC_CALL || common == MC_RETURN)
		return common;
	if (mc_begins(name, "HINT"))
		return MC_NOP;
	if (mc_begins(name, "PRF RPRFM"))
		return MC_PREFETCH;
	if (mc_begins(name, barrier) || !strcmp(name, "SB"))
		return MC_BARRIER;
	if (mc_begins(name, system))
		return MC_SYSTEM;
	if (mc_begins(name, atomic))
		return MC_ATOMIC;
	if (mc_begins(name, crypto))
		return MC_CRYPTO;
	/* LLVM keeps loads that acquire and stores that release in order by both. */
	if (common == MC_UPDATE && mc_begins(name, "LD"))
		return MC_LOAD;
	if (common == MC_UPDATE && mc_begins(name, "ST"))
		return MC_STORE;
	if (common != MC_INTEGER)
		return common;
	if (find_shape(name) || mc_has_class(form, "ZPR PPR PNR MPR DD QQ"))
		return MC_VECTOR;
	return mc_has_class(form, "FPR V128") ? MC_FLOAT : MC_INTEGER;
}

/* LLVM knows several features that have the same registers: SVE's instructions are in streaming mode,
 * too, so that lacking one of SVE and SME alone forbids none of them.
 */
const char *a64_extension(const struct llvm_form *form, const char *feature)
{
	static const char general[] = "fullfp16 fp-armv8 neon bf16";

	if (mc_has_class(form, "ZPR PPR PNR") && (!*feature || mc_begins(feature, general)))
		return "sve";
	return !strcmp(feature, "fp-armv8") ? "fp" : NULL;
}

unsigned a64_count_flops(const struct llvm_form *form)
{
	static const char one[] = "FADD FSUB FMUL FNMUL FDIV FSQRT FABD FMAX FMIN FRECP FRSQRT";
	static const char two[] = "FMADD FMSUB FNMADD FNMSUB FMLA FMLS FRECPS FRSQRTS";
	const char *shape = find_shape(form->name);
	unsigned lanes = 1;

	if (mc_has_class(form, "ZPR"))
		return 0; /* the length of vectors is not known */
	if (shape && *shape >= '1' && *shape <= '9')
		lanes = (unsigned)strtoul(shape, NULL, 10);
	return mc_begins(form->name, two) ? 2 * lanes : mc_begins(form->name, one) ? lanes : 0;
}

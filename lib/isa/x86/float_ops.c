/* SPDX-License-Identifier: MIT
 *
 * What instructions do to the x87 stack (Intel SDM vol. 1, 8.1.2).
 */
#include "isa/x86/x86.h"

unsigned x86_float_pops(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_FADDP:
	case ZYDIS_MNEMONIC_FBSTP:
	case ZYDIS_MNEMONIC_FCOMIP:
	case ZYDIS_MNEMONIC_FCOMP:
	case ZYDIS_MNEMONIC_FDIVP:
	case ZYDIS_MNEMONIC_FDIVRP:
	case ZYDIS_MNEMONIC_FFREEP:
	case ZYDIS_MNEMONIC_FICOMP:
	case ZYDIS_MNEMONIC_FISTP:
	case ZYDIS_MNEMONIC_FISTTP:
	case ZYDIS_MNEMONIC_FMULP:
	case ZYDIS_MNEMONIC_FPATAN:
	case ZYDIS_MNEMONIC_FSTP:
	case ZYDIS_MNEMONIC_FSTPNCE:
	case ZYDIS_MNEMONIC_FSUBP:
	case ZYDIS_MNEMONIC_FSUBRP:
	case ZYDIS_MNEMONIC_FUCOMIP:
	case ZYDIS_MNEMONIC_FUCOMP:
	case ZYDIS_MNEMONIC_FYL2X:
	case ZYDIS_MNEMONIC_FYL2XP1:
		return 1;
	case ZYDIS_MNEMONIC_FCOMPP:
	case ZYDIS_MNEMONIC_FUCOMPP:
		return 2;
	default:
		return 0;
	}
}

bool x86_float_pushes(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_FBLD:
	case ZYDIS_MNEMONIC_FILD:
	case ZYDIS_MNEMONIC_FLD:
	case ZYDIS_MNEMONIC_FLD1:
	case ZYDIS_MNEMONIC_FLDL2E:
	case ZYDIS_MNEMONIC_FLDL2T:
	case ZYDIS_MNEMONIC_FLDLG2:
	case ZYDIS_MNEMONIC_FLDLN2:
	case ZYDIS_MNEMONIC_FLDPI:
	case ZYDIS_MNEMONIC_FLDZ:
	case ZYDIS_MNEMONIC_FPTAN:
	case ZYDIS_MNEMONIC_FSINCOS:
	case ZYDIS_MNEMONIC_FXTRACT:
		return true;
	default:
		return false;
	}
}

int x86_turn(const struct tact_insn *insn)
{
	const ZydisMnemonic mnemonic = (ZydisMnemonic)insn->mnemonic;

	if (mnemonic == ZYDIS_MNEMONIC_FINCSTP)
		return 1;
	if (mnemonic == ZYDIS_MNEMONIC_FDECSTP || x86_float_pushes(mnemonic))
		return -1;
	return (int)x86_float_pops(mnemonic);
}

bool x86_exchanges(const struct tact_insn *insn)
{
	return insn->mnemonic == ZYDIS_MNEMONIC_FXCH;
}

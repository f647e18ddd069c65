// SPDX-License-Identifier: MIT
//
// Lets an llvm-mca that is installed work with tables that llvm-tblgen has made of its x86 target and one more model: they
// take the place of those in libLLVM.  bench/llvm_export.py builds it and has it loaded first (LD_PRELOAD).
#include <dlfcn.h>

#include "MCTargetDesc/X86BaseInfo.h"
#include "MCTargetDesc/X86MCTargetDesc.h"
#include "llvm/ADT/APInt.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSchedule.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"
#include <cstdio>
#include <unistd.h>

using namespace llvm;

#define GET_INSTRINFO_MC_DESC
#define GET_INSTRINFO_MC_HELPERS
#include "X86GenInstrInfo.inc"
#define GET_SUBTARGETINFO_MC_DESC
#include "X86GenSubtargetInfo.inc"

namespace
{
Target original;

class analysis : public MCInstrAnalysis
{
	std::unique_ptr<MCInstrAnalysis> real;

      public:
	analysis(const MCInstrInfo *info)
	    : MCInstrAnalysis(info), real(original.createMCInstrAnalysis(info))
	{
	}
#define GET_STIPREDICATE_DECLS_FOR_MC_ANALYSIS
#include "X86GenSubtargetInfo.inc"
	bool clearsSuperRegisters(const MCRegisterInfo &registers, const MCInst &inst,
				  APInt &writes) const override
	{
		return real->clearsSuperRegisters(registers, inst, writes);
	}
};
#define X86MCInstrAnalysis analysis
#define GET_STIPREDICATE_DEFS_FOR_MC_ANALYSIS
#include "X86GenSubtargetInfo.inc"

MCInstrInfo *make_infos()
{
	auto *infos = new MCInstrInfo;

	InitX86MCInstrInfo(infos);
	return infos;
}

MCSubtargetInfo *make_subtarget(const Triple &triple, StringRef cpu, StringRef features)
{
	const std::string all = "+64bit-mode,-32bit-mode,-16bit-mode,+sse2" +
				(features.empty() ? "" : "," + features.str());

	return createX86MCSubtargetInfoImpl(triple, cpu, cpu, all);
}

MCInstrAnalysis *make_analysis(const MCInstrInfo *info)
{
	return new analysis(info);
}
} // namespace

extern "C" void LLVMInitializeX86TargetMC()
{
	std::string why;
	((void (*)())dlsym(RTLD_NEXT, "LLVMInitializeX86TargetMC"))();
	auto *target =
		const_cast<Target *>(TargetRegistry::lookupTarget("x86_64-unknown-linux-gnu", why));

	original = *target;
	std::unique_ptr<MCInstrInfo> theirs(original.createMCInstrInfo()), ours(make_infos());
	bool same = theirs->getNumOpcodes() == ours->getNumOpcodes();
	for (unsigned i = 0; same && i < ours->getNumOpcodes(); i++)
		same = theirs->getName(i) == ours->getName(i);
	if (!same) {
		fprintf(stderr, "the tables are of another version of LLVM\n");
		_exit(1);
	}
	TargetRegistry::RegisterMCInstrInfo(*target, make_infos);
	TargetRegistry::RegisterMCSubtargetInfo(*target, make_subtarget);
	TargetRegistry::RegisterMCInstrAnalysis(*target, make_analysis);
}

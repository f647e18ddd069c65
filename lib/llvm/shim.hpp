// SPDX-License-Identifier: MIT
//
// What the files of the module tact_llvm.so and the program tact_llvm_as share.  Built and tried with
// LLVM 22 and 19; what differs between them is in the first section.
#ifndef TACT_LLVM_SHIM_HPP
#define TACT_LLVM_SHIM_HPP

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "llvm/Config/llvm-config.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/MCA/CustomBehaviour.h"
#include "llvm/MCA/InstrBuilder.h"
#include "llvm/MCA/Instruction.h"
#include "llvm/MCA/Support.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/AArch64TargetParser.h"

#include "tact/status.h"
#include "llvm/llvm_wire.h"

using namespace llvm;

// ---- versions ----

#if LLVM_VERSION_MAJOR >= 22
#define TRIPLE(text) Triple(text)
inline const Target *look_up(const std::string &triple, std::string &why)
{
	return TargetRegistry::lookupTarget(Triple(triple), why);
}
inline bool is_artificial(const MCRegisterInfo &registers, MCRegister reg)
{
	return registers.isArtificial(reg);
}
inline void post_process(mca::InstrPostProcess &post, std::unique_ptr<mca::Instruction> &insn,
			 const MCInst &inst)
{
	post.postProcessInstruction(*insn, inst);
}
inline int register_class(const MCInstrInfo &infos, const MCSubtargetInfo &subtarget,
			  const MCOperandInfo &operand)
{
	return operand.RegClass < 0
		       ? -1
		       : infos.getOpRegClassID(
				 operand, subtarget.getHwMode(MCSubtargetInfo::HwMode_RegInfo));
}
#else
#define TRIPLE(text) (text)
inline const Target *look_up(const std::string &triple, std::string &why)
{
	return TargetRegistry::lookupTarget(triple, why);
}
inline bool is_artificial(const MCRegisterInfo &, MCRegister)
{
	return false;
}
inline void post_process(mca::InstrPostProcess &post, std::unique_ptr<mca::Instruction> &insn,
			 const MCInst &inst)
{
	post.postProcessInstruction(insn, inst);
}
inline int register_class(const MCInstrInfo &, const MCSubtargetInfo &,
			  const MCOperandInfo &operand)
{
	return operand.isLookupPtrRegClass() ? -1 : operand.RegClass;
}
#endif

inline unsigned number_of(MCRegister reg)
{
	return reg.id();
}

namespace shim
{

// ---- features ----

// LLVM says on stderr which features it does not know: leaves these out.
inline std::string known_features(const MCSubtargetInfo &subtarget, StringRef wanted)
{
	std::string known;

	while (!wanted.empty()) {
		const auto parts = wanted.split(',');

		for (const SubtargetFeatureKV &feature : subtarget.getAllProcessorFeatures())
			if (parts.first.drop_front() == feature.Key)
				known += (known.empty() ? "" : ",") + parts.first.str();
		wanted = parts.second;
	}
	return known;
}

// ---- errors ----

struct fatal : std::runtime_error {
	using std::runtime_error::runtime_error;
};

// One lock for all: LLVM's contexts are for one thread.  Recursive, because an attachment is made
// with the functions of this module.
extern std::recursive_mutex lock;

[[noreturn]] void throw_fatal(void *, const char *reason, bool);

// Within it, LLVM's fatal errors are exceptions and not the end of the process.
class guard
{
	std::lock_guard<std::recursive_mutex> held;
	static unsigned depth;

      public:
	guard() : held(lock)
	{
		if (!depth++)
			install_fatal_error_handler(throw_fatal);
	}
	~guard()
	{
		if (!--depth)
			remove_fatal_error_handler();
	}
};
// Fills *why, which may be NULL, and returns -status.
int fail(llvm_message *why, int status, const std::string &text, uint64_t line = 0);

// Runs code of LLVM; whatever it throws becomes a status.
template <typename F> int guarded(llvm_message *why, int status, F run)
{
	try {
		guard g;
		return run();
	} catch (const std::bad_alloc &) {
		return fail(why, TACT_E_NOMEM, "out of memory");
	} catch (const std::exception &e) {
		return fail(why, status, e.what());
	} catch (...) {
		return fail(why, status, "LLVM failed");
	}
}

// ---- sets ----

// llvm-mca says on stderr that it assumes something of calls and returns; so they are no calls here,
// and facts say of what they are.
class quiet_analysis : public MCInstrAnalysis
{
	const MCInstrAnalysis &real;

      public:
	quiet_analysis(const MCInstrInfo *info, const MCInstrAnalysis &of)
	    : MCInstrAnalysis(info), real(of)
	{
	}
	bool isCall(const MCInst &) const override
	{
		return false;
	}
	bool isReturn(const MCInst &) const override
	{
		return false;
	}
	bool clearsSuperRegisters(const MCRegisterInfo &registers, const MCInst &inst,
				  APInt &writes) const override
	{
		return real.clearsSuperRegisters(registers, inst, writes);
	}
	bool isZeroIdiom(const MCInst &inst, APInt &mask, unsigned cpu) const override
	{
		return real.isZeroIdiom(inst, mask, cpu);
	}
	bool isDependencyBreaking(const MCInst &inst, APInt &mask, unsigned cpu) const override
	{
		return real.isDependencyBreaking(inst, mask, cpu);
	}
	bool isOptimizableRegisterMove(const MCInst &inst, unsigned cpu) const override
	{
		return real.isOptimizableRegisterMove(inst, cpu);
	}
};

// ---- forms ----

// What the module keeps of an opcode; made when somebody asks for it.
struct form_record {
	llvm_form form;
	std::string mnemonic, feature;
	bool has_feature;
};

// A decoder that lacks one feature, and all that imply it.
struct feature_probe {
	const SubtargetFeatureKV *feature;
	std::unique_ptr<MCSubtargetInfo> subtarget;
	std::unique_ptr<MCDisassembler> disassembler;
};

} // namespace shim

struct llvm_set {
	std::string triple, features, known_features;
	const Target *target;
	MCTargetOptions options;
	std::unique_ptr<MCRegisterInfo> registers;
	std::unique_ptr<MCAsmInfo> syntax;
	std::unique_ptr<MCInstrInfo> infos;
	std::unique_ptr<MCSubtargetInfo> subtarget;
	std::unique_ptr<MCInstrAnalysis> analysis;
	std::unique_ptr<MCContext> context;
	std::unique_ptr<MCDisassembler> disassembler;
	std::unique_ptr<MCInstPrinter> printer;
	std::vector<std::vector<uint8_t>> spread; // by LLVM's register: those of the set
	std::vector<uint16_t> bits;		  // by LLVM's register
	std::vector<uint16_t> usual; // by opcode: another encoding of it, which assemblers choose
	unsigned (*hints)(uint16_t setting, llvm_hint *out);
	std::vector<const SubtargetSubTypeKV *> cpus;
	std::vector<std::unique_ptr<llvm_cpu>> opened;
	std::string foreign;
	std::unique_ptr<MCCodeEmitter> emitter;
	std::vector<std::shared_ptr<shim::form_record>> forms; // by opcode, as far as asked for
	std::vector<std::shared_ptr<shim::feature_probe>> probes;
	std::unordered_map<std::string, unsigned> opcodes; // by name
};

struct llvm_cpu {
	llvm_set *set;
	std::string name;
	std::unique_ptr<MCSubtargetInfo> subtarget;
	std::unique_ptr<shim::quiet_analysis> analysis;
	std::unique_ptr<mca::InstrumentManager> instruments;
	std::unique_ptr<mca::InstrPostProcess> post;
	std::unique_ptr<mca::InstrBuilder> builder;
	std::map<uint16_t, std::vector<mca::UniqueInstrument>> hints; // by setting
	std::unique_ptr<MCDisassembler> disassembler;		      // of what the CPU has
	std::vector<llvm_renaming> renaming;			      // by LLVM's register
	llvm_cpu_info info;
	void *attachment;
};

namespace shim
{

bool read_inst(llvm_set &set, MCInst &inst, uint64_t &length, const uint8_t *code, size_t size,
	       uint64_t address);

uint8_t flow_of(const MCInstrAnalysis &analysis, const MCInst &inst);

// The functions of struct llvm_api that are about forms.
unsigned form_count(llvm_set *set);
unsigned find_form(llvm_set *set, const char *name);
const llvm_form *form(llvm_set *set, unsigned opcode);
const llvm_form *form_of(llvm_set *set, const uint8_t *code, size_t size);
const char *form_feature(llvm_set *set, unsigned opcode);

// The functions of struct llvm_api that are about CPUs.
bool lists_cpu(llvm_set *set, const char *name);
const char *cpu_name(llvm_set *set, size_t i);
bool is_same_model(llvm_set *set, const char *a, const char *b);
int open_cpu(llvm_cpu **out, llvm_set *set, const char *name, llvm_message *why);
const llvm_cpu_info *cpu_info(llvm_cpu *cpu);
void *attachment(llvm_cpu *cpu, void *(*make)(void *arg), void *arg);
int facts(llvm_cpu *cpu, const uint8_t *code, const llvm_place *places, size_t n, llvm_facts *out);

} // namespace shim

#endif // TACT_LLVM_SHIM_HPP

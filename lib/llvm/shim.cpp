// SPDX-License-Identifier: MIT
//
// The module tact_llvm.so: LLVM's decoders, assembler and machine models behind llvm_wire.h.  Built
// and tried with LLVM 22 and 19; what differs between them is in the first section.
#include <algorithm>
#include <cstdlib>
#include <cstring>
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
static const Target *look_up(const std::string &triple, std::string &why)
{
	return TargetRegistry::lookupTarget(Triple(triple), why);
}
static bool is_artificial(const MCRegisterInfo &registers, MCRegister reg)
{
	return registers.isArtificial(reg);
}
static void post_process(mca::InstrPostProcess &post, std::unique_ptr<mca::Instruction> &insn,
			 const MCInst &inst)
{
	post.postProcessInstruction(*insn, inst);
}
static int register_class(const MCInstrInfo &infos, const MCSubtargetInfo &subtarget,
			  const MCOperandInfo &operand)
{
	return operand.RegClass < 0
		       ? -1
		       : infos.getOpRegClassID(
				 operand, subtarget.getHwMode(MCSubtargetInfo::HwMode_RegInfo));
}
#else
#define TRIPLE(text) (text)
static const Target *look_up(const std::string &triple, std::string &why)
{
	return TargetRegistry::lookupTarget(triple, why);
}
static bool is_artificial(const MCRegisterInfo &, MCRegister)
{
	return false;
}
static void post_process(mca::InstrPostProcess &post, std::unique_ptr<mca::Instruction> &insn,
			 const MCInst &inst)
{
	post.postProcessInstruction(insn, inst);
}
static int register_class(const MCInstrInfo &, const MCSubtargetInfo &,
			  const MCOperandInfo &operand)
{
	return operand.isLookupPtrRegClass() ? -1 : operand.RegClass;
}
#endif

static unsigned number_of(MCRegister reg)
{
	return reg.id();
}

// ---- errors ----

namespace
{

struct fatal : std::runtime_error {
	using std::runtime_error::runtime_error;
};

// One lock for all: LLVM's contexts are for one thread.  Recursive, because an attachment is made
// with the functions of this module.
std::recursive_mutex lock;

[[noreturn]] void throw_fatal(void *, const char *reason, bool)
{
	throw fatal(reason ? reason : "LLVM gave up");
}

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
unsigned guard::depth;

int fail(llvm_message *why, int status, const std::string &text, uint64_t line = 0)
{
	if (why) {
		why->line = line;
		snprintf(why->text, sizeof(why->text), "%s", text.c_str());
	}
	return -status;
}

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

struct form_record;
struct feature_probe;

} // namespace

struct llvm_set {
	std::string triple, features, foreign;
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
	std::vector<const SubtargetSubTypeKV *> cpus;
	std::vector<std::unique_ptr<llvm_cpu>> opened;
	std::unique_ptr<MCCodeEmitter> emitter;
	std::vector<std::shared_ptr<form_record>> forms; // by opcode, as far as they were asked for
	std::vector<std::shared_ptr<feature_probe>> probes;
	std::unordered_map<std::string, unsigned> opcodes; // by name
};

struct llvm_cpu {
	llvm_set *set;
	std::string name;
	std::unique_ptr<MCSubtargetInfo> subtarget;
	std::unique_ptr<quiet_analysis> analysis;
	std::unique_ptr<mca::InstrumentManager> instruments;
	std::unique_ptr<mca::InstrPostProcess> post;
	std::unique_ptr<mca::InstrBuilder> builder;
	llvm_cpu_info info;
	void *attachment;
};

namespace
{

// Never destroyed: what callers keep with a CPU is reached through it, and other threads may still ask
// while the process exits.
std::vector<std::unique_ptr<llvm_set>> &sets = *new std::vector<std::unique_ptr<llvm_set>>;

unsigned find_register(const MCRegisterInfo &registers, const char *names)
{
	StringRef rest(names);

	while (!rest.empty()) {
		auto parts = rest.split('/');

		for (unsigned r = 1; r < registers.getNumRegs(); r++)
			if (parts.first == registers.getName(r))
				return r;
		rest = parts.second;
	}
	return 0;
}

// For each register of LLVM's, those of the set that it is a part of or that are parts of it.
void spread_registers(llvm_set &set, const llvm_set_spec &spec)
{
	const MCRegisterInfo &registers = *set.registers;

	set.spread.resize(registers.getNumRegs());
	set.bits.resize(registers.getNumRegs());
	for (unsigned i = 0; i < spec.n_registers + spec.n_flags; i++) {
		const char *names =
			i < spec.n_registers ? spec.registers[i] : spec.flags[i - spec.n_registers];
		const unsigned own = find_register(registers, names);

		for (unsigned r = 1; own && r < registers.getNumRegs(); r++)
			if (!registers.isConstant(r) && registers.regsOverlap(own, r) &&
			    set.spread[r].size() < LLVM_MAX_SPREAD)
				set.spread[r].push_back((uint8_t)i);
	}
	for (unsigned c = 0; c < registers.getNumRegClasses(); c++)
		for (MCPhysReg r : registers.getRegClass(c))
			set.bits[r] = std::max<uint16_t>(
				set.bits[r], (uint16_t)registers.getRegClass(c).getSizeInBits());
}

int make_set(llvm_set &set, const llvm_set_spec &spec, llvm_message *why)
{
	static std::once_flag once;
	std::string reason;

	std::call_once(once, [] {
		InitializeAllTargetInfos();
		InitializeAllTargetMCs();
		InitializeAllAsmParsers();
		InitializeAllDisassemblers();
		InitializeAllTargetMCAs();
	});
	set.triple = spec.triple;
	set.features = spec.features;
	set.foreign = spec.foreign ? spec.foreign : "";
	set.target = look_up(set.triple, reason);
	if (!set.target)
		return fail(why, TACT_E_NO_TOOL, reason);
	set.registers.reset(set.target->createMCRegInfo(TRIPLE(set.triple)));
	set.syntax.reset(
		set.target->createMCAsmInfo(*set.registers, TRIPLE(set.triple), set.options));
	set.infos.reset(set.target->createMCInstrInfo());
	set.subtarget.reset(
		set.target->createMCSubtargetInfo(TRIPLE(set.triple), "", set.features));
	set.analysis.reset(set.target->createMCInstrAnalysis(set.infos.get()));
	set.context = std::make_unique<MCContext>(Triple(set.triple), set.syntax.get(),
						  set.registers.get(), set.subtarget.get());
	set.disassembler.reset(set.target->createMCDisassembler(*set.subtarget, *set.context));
	set.printer.reset(set.target->createMCInstPrinter(Triple(set.triple),
							  set.syntax->getAssemblerDialect(),
							  *set.syntax, *set.infos, *set.registers));
	if (!set.disassembler || !set.printer || !set.analysis)
		return fail(why, TACT_E_NO_TOOL, "LLVM has no decoder for " + set.triple);
	set.printer->setPrintBranchImmAsAddress(true);
	spread_registers(set, spec);
	FeatureBitset other; // CPUs of the set's form of 32 bits
	for (const SubtargetFeatureKV &feature : set.subtarget->getAllProcessorFeatures())
		if (StringRef(feature.Key) == "32bit")
			other.set(feature.Value);
	for (const SubtargetSubTypeKV &cpu : set.subtarget->getAllProcessorDescriptions())
		if (cpu.SchedModel && cpu.SchedModel->hasInstrSchedModel() &&
		    !(cpu.Implies.getAsBitset() & other).any())
			set.cpus.push_back(&cpu);
	return 0;
}

int open_set(llvm_set **out, const llvm_set_spec *spec, llvm_message *why)
{
	return guarded(why, TACT_E_NO_TOOL, [&] {
		for (auto &set : sets)
			if (set->triple == spec->triple && set->features == spec->features) {
				*out = set.get();
				return 0;
			}
		auto set = std::make_unique<llvm_set>();
		const int status = make_set(*set, *spec, why);

		if (status < 0)
			return status;
		*out = set.get();
		sets.push_back(std::move(set));
		return 0;
	});
}

// ---- decoding ----

bool read_inst(llvm_set &set, MCInst &inst, uint64_t &length, const uint8_t *code, size_t size,
	       uint64_t address)
{
	return set.disassembler->getInstruction(inst, length, ArrayRef<uint8_t>(code, size),
						address, nulls()) == MCDisassembler::Success &&
	       length && length <= size;
}

void add_register(llvm_set &set, llvm_insn &out, unsigned reg, uint8_t access, bool is_explicit)
{
	if (reg >= set.spread.size())
		return;
	for (uint8_t own : set.spread[reg]) {
		if (out.n_operands == LLVM_MAX_OPERANDS)
			return;
		// A flag or an implicit register that is read and written is one operand.
		for (unsigned i = 0; i < out.n_operands && !is_explicit; i++)
			if (out.operand[i].reg == own) {
				out.operand[i].access |= access;
				goto next;
			}
		out.operand[out.n_operands++] = {own, access, is_explicit, set.bits[reg]};
	next:;
	}
}

void fill_operands(llvm_set &set, const MCInst &inst, llvm_insn &out)
{
	const MCInstrDesc &desc = set.infos->get(inst.getOpcode());
	const bool variadic_defs = desc.variadicOpsAreDefs();
	unsigned n_defs = desc.getNumDefs();

	for (unsigned i = 0; i < inst.getNumOperands(); i++) {
		const MCOperand &operand = inst.getOperand(i);

		if (operand.isImm()) {
			out.immediate = operand.getImm();
			out.has_immediate = true;
		}
		if (!operand.isReg())
			continue;
		const bool writes =
			n_defs ? n_defs-- > 0 : i >= desc.getNumOperands() && variadic_defs;

		add_register(set, out, number_of(operand.getReg()), writes ? LLVM_WRITE : LLVM_READ,
			     true);
	}
	for (MCPhysReg reg : desc.implicit_defs())
		add_register(set, out, reg, LLVM_WRITE, false);
	for (MCPhysReg reg : desc.implicit_uses())
		add_register(set, out, reg, LLVM_READ, false);
}

uint8_t flow_of(const MCInstrAnalysis &analysis, const MCInst &inst)
{
	if (analysis.isReturn(inst))
		return LLVM_RETURN;
	if (analysis.isCall(inst))
		return LLVM_CALL;
	if (analysis.isConditionalBranch(inst))
		return LLVM_BRANCH;
	if (analysis.isUnconditionalBranch(inst) || analysis.isIndirectBranch(inst) ||
	    analysis.isBranch(inst))
		return LLVM_JUMP;
	return LLVM_NEXT;
}

int decode(llvm_set *set, const uint8_t *code, size_t size, llvm_insn *out)
{
	return guarded(nullptr, TACT_E_DECODE, [&] {
		MCInst inst;
		uint64_t length = 0, target;

		if (!read_inst(*set, inst, length, code, size, 0))
			return -(int)TACT_E_DECODE;
		const MCInstrDesc &desc = set->infos->get(inst.getOpcode());

		*out = {};
		out->size = sizeof(*out);
		out->opcode = (uint16_t)inst.getOpcode();
		out->length = (uint8_t)length;
		out->flow = flow_of(*set->analysis, inst);
		out->is_conditional = out->flow == LLVM_BRANCH;
		out->loads = desc.mayLoad();
		out->stores = desc.mayStore();
		out->has_side_effects = desc.hasUnmodeledSideEffects();
		out->is_move = desc.isMoveReg();
		if (out->flow != LLVM_NEXT && out->flow != LLVM_RETURN &&
		    set->analysis->evaluateBranch(inst, 0, length, target)) {
			out->has_target = true;
			out->target = (int64_t)target;
		}
		out->is_indirect = out->flow != LLVM_NEXT && !out->has_target;
		fill_operands(*set, inst, *out);
		return (int)length;
	});
}

int format(llvm_set *set, const uint8_t *code, size_t code_size, uint64_t address, char *text,
	   size_t size)
{
	return guarded(nullptr, TACT_E_DECODE, [&] {
		std::string line;
		raw_string_ostream stream(line);
		uint64_t length = 0;
		MCInst inst;

		if (!read_inst(*set, inst, length, code, code_size, address))
			return -(int)TACT_E_DECODE;
		set->printer->printInst(&inst, address, "", *set->subtarget, stream);
		stream.flush();
		std::replace(line.begin(), line.end(), '\t', ' ');
		StringRef trimmed = StringRef(line).trim();

		if (trimmed.size() >= size)
			return -(int)TACT_E_LIMIT;
		memcpy(text, trimmed.data(), trimmed.size());
		text[trimmed.size()] = '\0';
		return (int)trimmed.size();
	});
}

const char *opcode_name(llvm_set *set, unsigned opcode)
{
	return opcode < set->infos->getNumOpcodes() ? set->infos->getName(opcode).data() : nullptr;
}

size_t parts(llvm_set *set, uint16_t reg, bool whole, uint16_t *out, size_t max)
{
	const MCRegisterInfo &registers = *set->registers;
	size_t n = 0;

	if (!reg || reg >= registers.getNumRegs())
		return 0;
	auto add = [&](MCPhysReg r) {
		if (n < max)
			out[n] = r;
		n++;
	};
	add(reg);
	for (MCPhysReg r : registers.subregs(reg))
		if (!is_artificial(registers, r))
			add(r);
	if (whole)
		for (MCPhysReg r : registers.superregs(reg))
			add(r);
	return n;
}

} // namespace

#include "llvm/shim_forms.hpp"

namespace
{

// ---- assembling ----

void keep_message(const SMDiagnostic &diagnostic, void *context)
{
	auto *why = static_cast<llvm_message *>(context);

	if (diagnostic.getKind() == SourceMgr::DK_Error && !why->text[0])
		fail(why, TACT_E_FORMAT, diagnostic.getMessage().str(),
		     (uint64_t)std::max(diagnostic.getLineNo(), 0));
}

int assemble(llvm_set *set, const char *text, size_t text_size, uint8_t **out, size_t *size,
	     llvm_message *why)
{
	llvm_message message = {};
	const int status = guarded(&message, TACT_E_FORMAT, [&] {
		SmallVector<char, 0> object;
		SourceMgr sources;
		raw_svector_ostream stream(object);
		Triple triple(set->triple);

		sources.AddNewSourceBuffer(
			MemoryBuffer::getMemBufferCopy(StringRef(text, text_size), "text"),
			SMLoc());
		sources.setDiagHandler(keep_message, &message);
		MCContext context(triple, set->syntax.get(), set->registers.get(),
				  set->subtarget.get(), &sources, &set->options);
		std::unique_ptr<MCObjectFileInfo> files(
			set->target->createMCObjectFileInfo(context, false));
		context.setObjectFileInfo(files.get());
		context.setDiagnosticHandler(
			[&](const SMDiagnostic &diagnostic, bool, const SourceMgr &,
			    std::vector<const MDNode *> &) { keep_message(diagnostic, &message); });
		// A line table of the text itself, unless it brings one.
		context.setGenDwarfForAssembly(true);
		context.setDwarfVersion(5);
		std::unique_ptr<MCSubtargetInfo> subtarget(
			set->target->createMCSubtargetInfo(TRIPLE(set->triple), "", set->features));
		std::unique_ptr<MCAsmBackend> backend(
			set->target->createMCAsmBackend(*subtarget, *set->registers, set->options));
		std::unique_ptr<MCCodeEmitter> emitter(
			set->target->createMCCodeEmitter(*set->infos, context));
		auto writer = backend->createObjectWriter(stream);
		std::unique_ptr<MCStreamer> streamer(set->target->createMCObjectStreamer(
			triple, context, std::move(backend), std::move(writer), std::move(emitter),
			*subtarget));
		std::unique_ptr<MCAsmParser> parser(
			createMCAsmParser(sources, context, *streamer, *set->syntax));
		std::unique_ptr<MCTargetAsmParser> target(set->target->createMCAsmParser(
			*subtarget, *parser, *set->infos, set->options));

		if (!target)
			return fail(&message, TACT_E_NO_TOOL, "LLVM has no assembler for it");
		parser->setTargetParser(*target);
		if (parser->Run(false) || message.text[0])
			return -(int)TACT_E_FORMAT;
		*out = static_cast<uint8_t *>(malloc(object.size() + 1));
		if (!*out)
			throw std::bad_alloc();
		memcpy(*out, object.data(), object.size());
		*size = object.size();
		return 0;
	});

	if (why)
		*why = message;
	return status;
}

void give_back(void *object)
{
	free(object);
}

// ---- CPUs ----

// Apple's M1 is an A14: only compilers know such names, and LLVM's parser of targets.
const SubtargetSubTypeKV *find_cpu(llvm_set *set, const char *alias)
{
	const StringRef name = Triple(set->triple).isAArch64() ? AArch64::resolveCPUAlias(alias)
							       : StringRef(alias);

	for (const SubtargetSubTypeKV *cpu : set->cpus)
		if (StringRef(cpu->Key) == name)
			return cpu;
	return nullptr;
}

const char *cpu_name(llvm_set *set, size_t i)
{
	return i < set->cpus.size() ? set->cpus[i]->Key : nullptr;
}

bool lists_cpu(llvm_set *set, const char *name)
{
	for (const SubtargetSubTypeKV &cpu : set->subtarget->getAllProcessorDescriptions())
		if (StringRef(cpu.Key) == name)
			return true;
	return false;
}

bool is_same_model(llvm_set *set, const char *a, const char *b)
{
	const SubtargetSubTypeKV *first = find_cpu(set, a), *second = find_cpu(set, b);

	return first && second && first->SchedModel == second->SchedModel;
}

unsigned queue_size(const MCSchedModel &model, unsigned resource)
{
	return resource ? (unsigned)std::max(0, model.getProcResource(resource)->BufferSize) : 0;
}

int fill_info(llvm_cpu &cpu, llvm_message *why)
{
	const MCSchedModel &model = cpu.subtarget->getSchedModel();
	const unsigned n_kinds = model.getNumProcResourceKinds();
	SmallVector<uint64_t, 64> masks(n_kinds);
	llvm_cpu_info &info = cpu.info;

	if (n_kinds - 1 > LLVM_MAX_KINDS)
		return fail(why, TACT_E_LIMIT, "more resources than a mask can name");
	mca::computeProcResourceMasks(model, masks);
	info.name = cpu.name.c_str();
	info.issue_width = model.IssueWidth;
	info.is_out_of_order = model.isOutOfOrder();
	info.reorder_buffer = info.is_out_of_order ? model.MicroOpBufferSize : 0;
	info.load_latency = model.LoadLatency;
	info.branch_penalty = model.MispredictPenalty;
	if (model.hasExtraProcessorInfo()) {
		const MCExtraProcessorInfo &extra = model.getExtraProcessorInfo();

		if (extra.ReorderBufferSize && info.is_out_of_order)
			info.reorder_buffer = extra.ReorderBufferSize;
		info.retire_width = extra.MaxRetirePerCycle;
		info.load_queue = queue_size(model, extra.LoadQueueID);
		info.store_queue = queue_size(model, extra.StoreQueueID);
		info.n_register_files = extra.NumRegisterFiles ? extra.NumRegisterFiles - 1 : 0;
	}
	info.n_resources = n_kinds - 1;
	for (unsigned i = 1; i < n_kinds; i++) {
		const MCProcResourceDesc &kind = *model.getProcResource(i);

		info.resource[i - 1] = {kind.Name, masks[i], kind.NumUnits, kind.BufferSize,
					(masks[i] & (masks[i] - 1)) != 0};
	}
	return 0;
}

int make_cpu(llvm_cpu &cpu, llvm_message *why)
{
	llvm_set &set = *cpu.set;

	cpu.subtarget.reset(set.target->createMCSubtargetInfo(
		TRIPLE(set.triple), find_cpu(&set, cpu.name.c_str())->Key, ""));
	cpu.analysis = std::make_unique<quiet_analysis>(set.infos.get(), *set.analysis);
	cpu.instruments.reset(set.target->createInstrumentManager(*cpu.subtarget, *set.infos));
	if (!cpu.instruments)
		cpu.instruments =
			std::make_unique<mca::InstrumentManager>(*cpu.subtarget, *set.infos);
	cpu.post.reset(set.target->createInstrPostProcess(*cpu.subtarget, *set.infos));
	if (!cpu.post)
		cpu.post = std::make_unique<mca::InstrPostProcess>(*cpu.subtarget, *set.infos);
	cpu.builder =
		std::make_unique<mca::InstrBuilder>(*cpu.subtarget, *set.infos, *set.registers,
						    cpu.analysis.get(), *cpu.instruments, 100);
	return fill_info(cpu, why);
}

int open_cpu(llvm_cpu **out, llvm_set *set, const char *name, llvm_message *why)
{
	return guarded(why, TACT_E_NO_ARCH, [&] {
		for (auto &cpu : set->opened)
			if (cpu->name == name) {
				*out = cpu.get();
				return 0;
			}
		if (!find_cpu(set, name))
			return fail(why, TACT_E_NO_ARCH, "LLVM has no model of it");
		auto cpu = std::make_unique<llvm_cpu>();

		cpu->set = set;
		cpu->name = name;
		const int status = make_cpu(*cpu, why);

		if (status < 0)
			return status;
		*out = cpu.get();
		set->opened.push_back(std::move(cpu));
		return 0;
	});
}

const llvm_cpu_info *cpu_info(llvm_cpu *cpu)
{
	return &cpu->info;
}

void *attachment(llvm_cpu *cpu, void *(*make)(void *arg), void *arg)
{
	std::lock_guard<std::recursive_mutex> held(lock);

	if (!cpu->attachment)
		cpu->attachment = make(arg);
	return cpu->attachment;
}

// ---- facts ----

uint8_t copy_spread(const llvm_set &set, unsigned reg, uint8_t *to)
{
	const std::vector<uint8_t> &from = set.spread[reg];

	std::copy(from.begin(), from.end(), to);
	return (uint8_t)from.size();
}

uint16_t clamp(unsigned value)
{
	return (uint16_t)std::min(value, 0xffffu);
}

bool fill_reads(const llvm_cpu &cpu, const mca::Instruction &inst, llvm_facts &out)
{
	const MCSchedModel &model = cpu.subtarget->getSchedModel();

	for (const mca::ReadState &from : inst.getUses()) {
		const MCSchedClassDesc &kind = *model.getSchedClassDesc(from.getSchedClass());

		if (out.n_reads == LLVM_MAX_OPERANDS)
			return false;
		llvm_read &read = out.read[out.n_reads++];

		read.reg = (uint16_t)number_of(from.getRegisterID());
		read.is_independent = from.isIndependentFromDef();
		read.n_spread = copy_spread(*cpu.set, read.reg, read.spread);
		read.first_advance = out.n_advances;
		for (const MCReadAdvanceEntry &entry : cpu.subtarget->getReadAdvanceEntries(kind)) {
			if (entry.UseIdx != from.getDescriptor().UseIndex)
				continue;
			if (out.n_advances == LLVM_MAX_ADVANCES)
				return false;
			out.advance[out.n_advances++] = {(uint16_t)entry.WriteResourceID,
							 (int16_t)entry.Cycles};
		}
		read.n_advances = (uint16_t)(out.n_advances - read.first_advance);
	}
	return true;
}

bool fill_writes(const llvm_cpu &cpu, const mca::Instruction &inst, llvm_facts &out)
{
	for (const mca::WriteState &from : inst.getDefs()) {
		if (out.n_writes == LLVM_MAX_OPERANDS)
			return false;
		llvm_write &write = out.write[out.n_writes++];

		write.reg = (uint16_t)number_of(from.getRegisterID());
		write.latency = clamp(from.getLatency());
		write.write_id = (uint16_t)from.getWriteResourceID();
		write.clears_whole = from.clearsSuperRegisters();
		write.n_spread = copy_spread(*cpu.set, write.reg, write.spread);
	}
	return true;
}

bool fill_uses(const mca::InstrDesc &desc, llvm_facts &out)
{
	for (const auto &from : desc.Resources) {
		if (out.n_uses == LLVM_MAX_RESOURCES)
			return false;
		out.use[out.n_uses++] = {from.first, clamp(from.second.size()),
					 clamp(from.second.NumUnits), from.second.isReserved()};
	}
	return true;
}

int fill_facts(llvm_cpu &cpu, const MCInst &inst, llvm_facts &out)
{
	auto built = cpu.builder->createInstruction(inst, SmallVector<mca::Instrument *>());

	if (!built) {
		consumeError(built.takeError());
		return -(int)TACT_E_NO_DATA;
	}
	mca::Instruction &insn = **built;
	const mca::InstrDesc &desc = insn.getDesc();

	post_process(*cpu.post, *built, inst);
	out.micro_ops = clamp(insn.getNumMicroOps());
	out.latency = clamp(insn.getLatency());
	out.loads = insn.getMayLoad();
	out.stores = insn.getMayStore();
	out.load_barrier = insn.isALoadBarrier();
	out.store_barrier = insn.isAStoreBarrier();
	out.begins_group = insn.getBeginGroup();
	out.ends_group = insn.getEndGroup();
	out.retires_early = insn.getRetireOOO();
	out.is_call = cpu.set->analysis->isCall(inst);
	out.must_issue = desc.isZeroLatency() || desc.MustIssueImmediately;
	out.has_overlapping_groups = desc.HasPartiallyOverlappingGroups;
	out.is_move = insn.isOptimizableMove();
	out.buffers = desc.UsedBuffers;
	out.groups = desc.UsedProcResGroups;
	if (!fill_reads(cpu, insn, out) || !fill_writes(cpu, insn, out) || !fill_uses(desc, out))
		return -(int)TACT_E_NO_DATA;
	return 0;
}

int facts(llvm_cpu *cpu, const uint8_t *code, size_t size, llvm_facts *out, size_t max)
{
	return guarded(nullptr, TACT_E_DECODE, [&] {
		size_t n = 0;

		// LLVM remembers what an opcode reads from its first instruction, which may name the
		// zero register where others do not: as llvm-mca, each region begins anew.
		cpu->builder->clear();
		cpu->post->resetState();
		for (size_t at = 0; at < size && n < max; n++) {
			uint64_t length = 0;
			MCInst inst;

			if (!read_inst(*cpu->set, inst, length, code + at, size - at, 0))
				return -(int)TACT_E_DECODE;
			out[n] = {};
			out[n].size = sizeof(*out);
			out[n].status = fill_facts(*cpu, inst, out[n]);
			at += length;
		}
		return (int)n;
	});
}

const llvm_api api = {
	sizeof(llvm_api),
	LLVM_WIRE_VERSION,
	LLVM_VERSION_STRING,
	open_set,
	decode,
	format,
	assemble,
	give_back,
	opcode_name,
	parts,
	cpu_name,
	lists_cpu,
	is_same_model,
	open_cpu,
	cpu_info,
	facts,
	attachment,
	form_count,
	find_form,
	form,
	form_of,
	form_feature,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const llvm_api *tact_llvm_api(void)
{
	return &api;
}

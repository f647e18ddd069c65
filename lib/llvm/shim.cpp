// SPDX-License-Identifier: MIT
//
// The module tact_llvm.so: LLVM's decoders and machine models behind llvm_wire.h.  This file has sets
// and their instructions, shim_cpu.cpp what they cost.
#include "llvm/shim.hpp"

namespace shim
{

std::recursive_mutex lock;
unsigned guard::depth;

void throw_fatal(void *, const char *reason, bool)
{
	throw fatal(reason ? reason : "LLVM gave up");
}

int fail(llvm_message *why, int status, const std::string &text, uint64_t line)
{
	if (why) {
		why->line = line;
		snprintf(why->text, sizeof(why->text), "%s", text.c_str());
	}
	return -status;
}

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

// Of two encodings of the same (x86's XOR32rr_REV), models know more about the one that assemblers choose.
void find_usual(llvm_set &set)
{
	static const char suffix[] = "_REV";
	std::map<std::string, uint16_t> numbers;
	const unsigned n = set.infos->getNumOpcodes();

	for (unsigned i = 0; i < n; i++)
		numbers[set.infos->getName(i).str()] = (uint16_t)i;
	set.usual.resize(n);
	for (unsigned i = 0; i < n; i++) {
		const StringRef name = set.infos->getName(i);
		const auto found = name.ends_with(suffix)
					   ? numbers.find(name.drop_back(strlen(suffix)).str())
					   : numbers.end();

		set.usual[i] = found != numbers.end() ? found->second : (uint16_t)i;
	}
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
	set.hints = spec.hints;
	set.foreign = spec.foreign ? spec.foreign : "";
	set.target = look_up(set.triple, reason);
	if (!set.target)
		return fail(why, TACT_E_NO_TOOL, reason);
	set.registers.reset(set.target->createMCRegInfo(TRIPLE(set.triple)));
	set.syntax.reset(
		set.target->createMCAsmInfo(*set.registers, TRIPLE(set.triple), set.options));
	set.infos.reset(set.target->createMCInstrInfo());
	set.subtarget.reset(set.target->createMCSubtargetInfo(TRIPLE(set.triple), "", ""));
	set.known_features = known_features(*set.subtarget, set.features);
	set.subtarget.reset(
		set.target->createMCSubtargetInfo(TRIPLE(set.triple), "", set.known_features));
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
	find_usual(set);
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

// What an instruction does with a register; where LLVM's tables have it.
struct place {
	uint8_t access;
	bool is_explicit;
	unsigned number;
};

void note_place(llvm_operand &to, const place &p)
{
	uint8_t &number = p.access == LLVM_WRITE ? to.def : to.use;

	if (number == LLVM_NO_PLACE && p.number < LLVM_NO_PLACE)
		number = (uint8_t)p.number;
}

void add_register(llvm_set &set, llvm_insn &out, unsigned reg, const place &p)
{
	if (reg >= set.spread.size())
		return;
	for (uint8_t own : set.spread[reg]) {
		if (out.n_operands == LLVM_MAX_OPERANDS)
			return;
		// A flag or an implicit register that is read and written is one operand.
		for (unsigned i = 0; i < out.n_operands && !p.is_explicit; i++)
			if (out.operand[i].reg == own) {
				out.operand[i].access |= p.access;
				note_place(out.operand[i], p);
				goto next;
			}
		out.operand[out.n_operands] = {own,	      p.access,	     p.is_explicit,
					       set.bits[reg], LLVM_NO_PLACE, LLVM_NO_PLACE};
		note_place(out.operand[out.n_operands++], p);
	next:;
	}
}

void fill_operands(llvm_set &set, const MCInst &inst, llvm_insn &out)
{
	const MCInstrDesc &desc = set.infos->get(inst.getOpcode());
	const bool variadic_defs = desc.variadicOpsAreDefs();
	const unsigned n_defs = desc.getNumDefs();
	// Variable operands have no fixed number.
	unsigned def = n_defs, use = desc.getNumOperands() - n_defs, left = n_defs;

	for (unsigned i = 0; i < inst.getNumOperands(); i++) {
		const MCOperand &operand = inst.getOperand(i);

		if (operand.isImm()) {
			out.immediate = operand.getImm();
			out.has_immediate = true;
		}
		if (!operand.isReg())
			continue;
		const bool writes = left ? left-- > 0 : i >= desc.getNumOperands() && variadic_defs;
		const unsigned number = i >= desc.getNumOperands() ? (unsigned)LLVM_NO_PLACE
					: writes		   ? i
								   : i - n_defs;

		add_register(set, out, number_of(operand.getReg()),
			     {(uint8_t)(writes ? LLVM_WRITE : LLVM_READ), true, number});
	}
	for (MCPhysReg reg : desc.implicit_defs())
		add_register(set, out, reg, {LLVM_WRITE, false, def++});
	for (MCPhysReg reg : desc.implicit_uses())
		add_register(set, out, reg, {LLVM_READ, false, use++});
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
		out->usual = set->usual[inst.getOpcode()];
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

const llvm_api api = {
	sizeof(llvm_api),
	LLVM_WIRE_VERSION,
	LLVM_VERSION_STRING,
	open_set,
	decode,
	format,
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

} // namespace shim

extern "C" __attribute__((visibility("default"))) const llvm_api *tact_llvm_api(void)
{
	return &shim::api;
}

// SPDX-License-Identifier: MIT
//
// The part of the module about forms: what each opcode of a set is, with an instruction of it.
#include "llvm/shim.hpp"

namespace shim
{

// LLVM 19 takes a pointer.
template <typename P>
auto mnemonic_of(P &printer, const MCInst &inst, int) -> decltype(printer.getMnemonic(inst).first)
{
	return printer.getMnemonic(inst).first;
}

template <typename P>
auto mnemonic_of(P &printer, const MCInst &inst, long) -> decltype(printer.getMnemonic(&inst).first)
{
	return printer.getMnemonic(&inst).first;
}

// The registers that an operand may be; null if it is none.
const MCRegisterClass *class_of(const llvm_set &set, const MCOperandInfo &operand)
{
	const int id = register_class(*set.infos, *set.subtarget, operand);

	return id >= 0 && (unsigned)id < set.registers->getNumRegClasses()
		       ? &set.registers->getRegClass((unsigned)id)
		       : nullptr;
}

// Registers differ from each other where their class has that many; bases of addresses are far from
// the others.
MCRegister choose_register(const MCRegisterClass &from, unsigned nth, bool is_base)
{
	const unsigned n = from.getNumRegs();

	return from.getRegister((is_base ? 19 : 3 * nth) % n);
}

// Fills in operands; `first` and `rest` are the constants.
void choose_operands(const llvm_set &set, unsigned opcode, MCInst &inst, int64_t first,
		     int64_t rest)
{
	const MCInstrDesc &desc = set.infos->get(opcode);
	const bool is_access = desc.mayLoad() || desc.mayStore();
	bool has_constant = false;

	inst.clear();
	inst.setOpcode(opcode);
	for (unsigned i = 0; i < desc.getNumOperands(); i++) {
		const MCOperandInfo &operand = desc.operands()[i];
		const MCRegisterClass *from = class_of(set, operand);
		const int tied = desc.getOperandConstraint(i, MCOI::TIED_TO);

		if (tied >= 0 && (unsigned)tied < i) {
			inst.addOperand(inst.getOperand((unsigned)tied));
		} else if (from && from->getNumRegs()) {
			const bool is_base =
				is_access && (operand.OperandType == MCOI::OPERAND_MEMORY ||
					      StringRef(set.registers->getRegClassName(from))
						      .starts_with("GPR64sp"));

			inst.addOperand(MCOperand::createReg(choose_register(*from, i, is_base)));
		} else {
			inst.addOperand(MCOperand::createImm(has_constant ? rest : first));
			has_constant = true;
		}
	}
}

bool is_code_of(llvm_set &set, const MCInst &inst, llvm_form &out)
{
	SmallVector<char, 16> code;
	SmallVector<MCFixup, 4> fixups;
	uint64_t length = 0;
	MCInst back;

	set.emitter->encodeInstruction(inst, code, fixups, *set.subtarget);
	if (code.empty() || code.size() > LLVM_FORM_CODE || !fixups.empty())
		return false;
	const auto *bytes = reinterpret_cast<const uint8_t *>(code.data());

	if (!read_inst(set, back, length, bytes, code.size(), 0) || length != code.size() ||
	    back.getOpcode() != inst.getOpcode())
		return false;
	out.length = (uint8_t)length;
	memcpy(out.code, bytes, code.size());
	return true;
}

// An instruction of the opcode that LLVM decodes as one: constants are tried, since their coding
// differs (sizes, shifts, masks).
void find_code(llvm_set &set, unsigned opcode, llvm_form &out)
{
	static const int64_t constants[] = {1,	0,  2,	 3, 4, 8,  16, 7, 32,
					    63, 64, 128, 5, 9, 12, -1, -8};
	MCInst inst;

	for (int64_t rest : {0, 1, 2, 8})
		for (int64_t first : constants) {
			try {
				choose_operands(set, opcode, inst, first, rest);
				if (is_code_of(set, inst, out))
					return;
			} catch (const fatal &) { // no encoding: an opcode of the compiler's
				return;
			}
		}
}

void fill_form_operands(const llvm_set &set, const MCInstrDesc &desc, llvm_form &out)
{
	for (unsigned i = 0; i < desc.getNumOperands() && out.n_operands < LLVM_MAX_OPERANDS; i++) {
		const MCRegisterClass *from = class_of(set, desc.operands()[i]);

		if (i >= desc.getNumDefs() && desc.getOperandConstraint(i, MCOI::TIED_TO) >= 0)
			continue; // written, too
		out.operand[out.n_operands++] = {from ? set.registers->getRegClassName(from) : "",
						 i < desc.getNumDefs()};
	}
}

const char *intern_mnemonic(llvm_set &set, const MCInst &inst, std::string &to)
{
	const char *text = mnemonic_of(*set.printer, inst, 0);

	to = text ? StringRef(text).trim().split('\t').first.split(' ').first.str() : "";
	if (!to.empty() && to.back() == '.') // "b.", which a condition follows
		to += "cond";
	return to.c_str();
}

bool is_foreign(const llvm_set &set, StringRef name)
{
	SmallVector<StringRef, 16> prefixes;

	StringRef(set.foreign).split(prefixes, ' ', -1, false);
	return std::any_of(prefixes.begin(), prefixes.end(),
			   [&](StringRef prefix) { return name.starts_with(prefix); });
}

// What is to be said of a form whose code is known.
void describe_form(llvm_set &set, const MCInst &inst, form_record &record)
{
	const MCInstrDesc &desc = set.infos->get(inst.getOpcode());
	llvm_form &out = record.form;

	out.mnemonic = intern_mnemonic(set, inst, record.mnemonic);
	out.flow = flow_of(*set.analysis, inst);
	out.loads = desc.mayLoad();
	out.stores = desc.mayStore();
	out.is_move = desc.isMoveReg();
	out.has_side_effects = desc.hasUnmodeledSideEffects();
	fill_form_operands(set, desc, out);
}

void make_form(llvm_set &set, unsigned opcode, form_record &record)
{
	llvm_form &out = record.form;
	uint64_t length = 0;
	MCInst inst;

	out.name = set.infos->getName(opcode).data();
	if (set.infos->get(opcode).isPseudo() || is_foreign(set, out.name))
		return;
	find_code(set, opcode, out);
	if (out.length && read_inst(set, inst, length, out.code, out.length, 0))
		describe_form(set, inst, record);
}

form_record &make_record(llvm_set &set, unsigned opcode)
{
	if (set.forms.empty())
		set.forms.resize(set.infos->getNumOpcodes());
	if (!set.emitter)
		set.emitter.reset(set.target->createMCCodeEmitter(*set.infos, *set.context));
	if (!set.forms[opcode]) {
		auto record = std::make_shared<form_record>();

		make_form(set, opcode, *record);
		set.forms[opcode] = record;
	}
	return *set.forms[opcode];
}

form_record *find_record(llvm_set &set, unsigned opcode)
{
	if (opcode >= set.infos->getNumOpcodes())
		return nullptr;
	form_record &record = make_record(set, opcode);

	return record.form.length ? &record : nullptr;
}

unsigned form_count(llvm_set *set)
{
	return set->infos->getNumOpcodes();
}

unsigned find_form(llvm_set *set, const char *name)
{
	unsigned found = form_count(set);

	guarded(nullptr, TACT_E_NOMEM, [&] {
		for (unsigned i = (unsigned)set->opcodes.size(); i < form_count(set); i++)
			set->opcodes.emplace(set->infos->getName(i).str(), i);
		auto at = set->opcodes.find(name);

		if (at != set->opcodes.end())
			found = at->second;
		return 0;
	});
	return found;
}

const llvm_form *form(llvm_set *set, unsigned opcode)
{
	const llvm_form *found = nullptr;

	guarded(nullptr, TACT_E_NO_DATA, [&] {
		const form_record *record = find_record(*set, opcode);

		found = record ? &record->form : nullptr;
		return 0;
	});
	return found;
}

const llvm_form *form_of(llvm_set *set, const uint8_t *code, size_t size)
{
	const llvm_form *found = nullptr;

	guarded(nullptr, TACT_E_DECODE, [&] {
		uint64_t length = 0;
		MCInst inst;

		if (!read_inst(*set, inst, length, code, size, 0) || length > LLVM_FORM_CODE)
			return -(int)TACT_E_DECODE;
		form_record &record = make_record(*set, inst.getOpcode());

		if (!record.form.length) {
			memcpy(record.form.code, code, length);
			describe_form(*set, inst, record);
			record.form.length = (uint8_t)length;
		}
		found = &record.form;
		return 0;
	});
	return found;
}

// ---- features ----

// The features of the set by name; with "+all", all of them, since nothing else would be asked for.
std::string list_features(const llvm_set &set)
{
	const bool is_all = set.features == "+all";
	std::string all;

	for (const SubtargetFeatureKV &feature : set.subtarget->getAllProcessorFeatures())
		if (is_all ? StringRef(feature.Key) != "all"
			   : set.subtarget->hasFeature(feature.Value))
			all += (all.empty() ? "+" : ",+") + std::string(feature.Key);
	return all;
}

// Decoders that lack one feature each.
void make_probes(llvm_set &set)
{
	const std::string all = list_features(set);
	std::unique_ptr<MCSubtargetInfo> with_all(
		set.target->createMCSubtargetInfo(TRIPLE(set.triple), "", all));

	for (const SubtargetFeatureKV &feature : set.subtarget->getAllProcessorFeatures()) {
		auto probe = std::make_shared<feature_probe>();
		const std::string features = all + ",-" + feature.Key;

		// RISC-V's of 64 bits: the set itself.
		if (!with_all->hasFeature(feature.Value) || StringRef(feature.Key) == "64bit")
			continue;
		probe->feature = &feature;
		probe->subtarget.reset(
			set.target->createMCSubtargetInfo(TRIPLE(set.triple), "", features));
		probe->disassembler.reset(
			set.target->createMCDisassembler(*probe->subtarget, *set.context));
		if (probe->disassembler)
			set.probes.push_back(std::move(probe));
	}
}

// Without the feature, the same bytes are something else.
bool needs(const feature_probe &probe, const llvm_form &form, unsigned opcode)
{
	uint64_t length = 0;
	MCInst inst;

	return probe.disassembler->getInstruction(inst, length,
						  ArrayRef<uint8_t>(form.code, form.length), 0,
						  nulls()) != MCDisassembler::Success ||
	       inst.getOpcode() != opcode;
}

// Of the features that the opcode needs, one that no other of them implies.
std::string find_feature(llvm_set &set, const llvm_form &form, unsigned opcode)
{
	const feature_probe *found = nullptr;

	if (set.probes.empty())
		make_probes(set);
	for (const auto &probe : set.probes)
		if (needs(*probe, form, opcode) &&
		    (!found || !found->subtarget->getFeatureBits().test(probe->feature->Value)))
			found = probe.get();
	return found ? found->feature->Key : "";
}

const char *form_feature(llvm_set *set, unsigned opcode)
{
	const char *found = "";

	guarded(nullptr, TACT_E_NO_DATA, [&] {
		form_record *record = find_record(*set, opcode);

		if (record && !record->has_feature) {
			record->feature = find_feature(*set, record->form, opcode);
			record->has_feature = true;
		}
		if (record)
			found = record->feature.c_str();
		return 0;
	});
	return found;
}

} // namespace shim

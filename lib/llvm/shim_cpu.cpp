// SPDX-License-Identifier: MIT
//
// CPUs by LLVM's models, and what an instruction costs on them.
#include "llvm/shim.hpp"

#if LLVM_VERSION_MAJOR < 22
// These versions warn on stderr of the first call and the first return, whatever MCInstrAnalysis says,
// and only private members of the builder stop it.  An explicit instantiation may name them.
template <typename Tag, bool mca::InstrBuilder::*member> struct exposed {
	friend bool &member_of(Tag, mca::InstrBuilder &builder)
	{
		return builder.*member;
	}
};
struct first_call {
	friend bool &member_of(first_call, mca::InstrBuilder &builder);
};
struct first_return {
	friend bool &member_of(first_return, mca::InstrBuilder &builder);
};
template struct exposed<first_call, &mca::InstrBuilder::FirstCallInst>;
template struct exposed<first_return, &mca::InstrBuilder::FirstReturnInst>;

static void silence(mca::InstrBuilder &builder)
{
	member_of(first_call(), builder) = false;
	member_of(first_return(), builder) = false;
}
#else
static void silence(mca::InstrBuilder &)
{
}
#endif

namespace shim
{

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
		if (extra.NumRegisterFiles > LLVM_MAX_FILES)
			return fail(why, TACT_E_LIMIT, "more register files than are followed");
	}
	info.n_resources = n_kinds - 1;
	for (unsigned i = 1; i < n_kinds; i++) {
		const MCProcResourceDesc &kind = *model.getProcResource(i);

		info.resource[i - 1] = {kind.Name, masks[i], kind.NumUnits, kind.BufferSize,
					(masks[i] & (masks[i] - 1)) != 0};
	}
	return 0;
}

// Notes where the registers of a class are renamed, and with them their parts, unless these have a place
// of their own or are parts of a smaller register that has one.
void rename_class(llvm_cpu &cpu, uint8_t file, const MCRegisterCostEntry &entry)
{
	const MCRegisterInfo &registers = *cpu.set->registers;

	for (MCPhysReg reg : registers.getRegClass(entry.RegisterClassID)) {
		cpu.renaming[reg] = {reg, (uint16_t)entry.Cost, file, entry.AllowMoveElimination};
		for (MCPhysReg part : registers.subregs(reg)) {
			llvm_renaming &to = cpu.renaming[part];

			if (to.file || (to.as && !registers.isSuperRegister(part, to.as)))
				continue;
			to.as = reg;
			to.cost = (uint16_t)entry.Cost;
			to.file = file;
		}
	}
}

void fill_files(llvm_cpu &cpu)
{
	const MCSchedModel &model = cpu.subtarget->getSchedModel();
	llvm_cpu_info &info = cpu.info;

	cpu.renaming.assign(cpu.set->registers->getNumRegs(), {0, 1, 0, false});
	info.n_register_files = 1;
	if (!model.hasExtraProcessorInfo())
		return;
	const MCExtraProcessorInfo &extra = model.getExtraProcessorInfo();
	for (unsigned i = 1; i < extra.NumRegisterFiles; i++) {
		const MCRegisterFileDesc &file = extra.RegisterFiles[i];

		info.register_file[i] = {file.Name, file.NumPhysRegs,
					 file.MaxMovesEliminatedPerCycle,
					 file.AllowZeroMoveEliminationOnly};
		info.n_register_files = i + 1;
		for (unsigned k = 0; k < file.NumRegisterCostEntries; k++)
			rename_class(cpu, (uint8_t)i,
				     extra.RegisterCostTable[file.RegisterCostEntryIdx + k]);
	}
	// Whether moves are eliminated is told by what a register is renamed as.
	for (llvm_renaming &r : cpu.renaming)
		r.allows_moves = r.as && cpu.renaming[r.as].allows_moves;
}

int make_cpu(llvm_cpu &cpu, llvm_message *why)
{
	llvm_set &set = *cpu.set;

	cpu.subtarget.reset(set.target->createMCSubtargetInfo(
		TRIPLE(set.triple), find_cpu(&set, cpu.name.c_str())->Key, ""));
	cpu.disassembler.reset(set.target->createMCDisassembler(*cpu.subtarget, *set.context));
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
	const int status = fill_info(cpu, why);

	if (status >= 0)
		fill_files(cpu);
	return status;
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
		read.renaming = cpu.renaming[read.reg];
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
		write.renaming = cpu.renaming[write.reg];
		write.is_zero = from.isWriteZero();
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

// Returns LLVM's objects for what a setting says.
SmallVector<mca::Instrument *> hints_of(llvm_cpu &cpu, uint16_t setting)
{
	SmallVector<mca::Instrument *> list;
	llvm_hint hints[LLVM_MAX_HINTS];

	if (!setting || !cpu.set->hints)
		return list;
	auto [place, is_new] = cpu.hints.try_emplace(setting);
	if (is_new)
		for (unsigned i = 0, n = cpu.set->hints(setting, hints); i < n; i++)
			if (auto made = cpu.instruments->createInstrument(hints[i].kind,
									  hints[i].value))
				place->second.push_back(std::move(made));
	for (auto &hint : place->second)
		list.push_back(hint.get());
	return list;
}

int fill_facts(llvm_cpu &cpu, MCInst &inst, uint16_t setting, llvm_facts &out)
{
	inst.setOpcode(cpu.set->usual[inst.getOpcode()]);
	// Some decoders leave operands out, which the builder reads all the same.
	if (inst.getNumOperands() < cpu.set->infos->get(inst.getOpcode()).getNumOperands())
		return -(int)TACT_E_NO_DATA;
	auto built = cpu.builder->createInstruction(inst, hints_of(cpu, setting));

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

bool is_foreign(const llvm_cpu &cpu, const uint8_t *code, size_t size)
{
	uint64_t length = 0;
	MCInst inst;

	return cpu.disassembler->getInstruction(inst, length, ArrayRef<uint8_t>(code, size), 0,
						nulls()) != MCDisassembler::Success;
}

// Fills facts of an instruction of the caller's; of bytes that LLVM does not know, none.
size_t fill_place(llvm_cpu &cpu, const uint8_t *code, const llvm_place &place, uint32_t number,
		  llvm_facts *out, size_t room)
{
	uint64_t length = 0;
	size_t n = 0;

	for (size_t at = 0; at < place.length && n < room; at += length, n++) {
		MCInst inst;

		out[n] = {};
		out[n].size = sizeof(*out);
		out[n].place = number;
		if (!read_inst(*cpu.set, inst, length, code + at, place.length - at, 0)) {
			out[n].status = -(int)TACT_E_NO_DATA;
			return n + 1;
		}
		out[n].status = fill_facts(cpu, inst, place.setting, out[n]);
		out[n].is_foreign = is_foreign(cpu, code + at, place.length - at);
	}
	return n;
}

int facts(llvm_cpu *cpu, const uint8_t *code, const llvm_place *places, size_t n, llvm_facts *out)
{
	return guarded(nullptr, TACT_E_DECODE, [&] {
		size_t filled = 0;

		// LLVM remembers what an opcode reads from its first instruction, which may name the
		// zero register where others do not: as llvm-mca, each region begins anew.
		cpu->builder->clear();
		silence(*cpu->builder);
		cpu->post->resetState();
		for (size_t i = 0; i < n; code += places[i++].length) {
			if (filled == 2 * n)
				return -(int)TACT_E_LIMIT;
			filled += fill_place(*cpu, code, places[i], (uint32_t)i, out + filled,
					     2 * n - filled);
		}
		return (int)filled;
	});
}

} // namespace shim

// SPDX-License-Identifier: MIT
//
// CPUs by LLVM's models, and what an instruction costs on them.
#include "llvm/shim.hpp"

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

int fill_facts(llvm_cpu &cpu, const MCInst &inst, uint16_t setting, llvm_facts &out)
{
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

int facts(llvm_cpu *cpu, const uint8_t *code, size_t size, const uint16_t *settings,
	  llvm_facts *out, size_t max)
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
			out[n].status = fill_facts(*cpu, inst, settings ? settings[n] : 0, out[n]);
			at += length;
		}
		return (int)n;
	});
}


} // namespace shim

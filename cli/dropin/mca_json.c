/* SPDX-License-Identifier: MIT
 *
 * llvm-mca's JSON, with its keys.
 */
#include <math.h>

#include "base/json.h"
#include "common/cli.h"
#include "mca_front.h"

/* The critical sequence.  Instructions are numbered on through iterations; values are tact's. */
static void put_edges(const struct mca_view *v, struct json *json)
{
	enum { REGISTER = 1, MEMORY = 2 }; /* llvm-mca's */
	struct tact_chain chain = TACT_CHAIN_INIT;
	uint64_t iteration = 0;

	json_begin_array(json, "DependencyEdge");
	if (tact_explain_chain(v->run->block, &chain) < 0)
		chain.n_links = 0;
	for (size_t k = 0; k < chain.n_links; k++) {
		const struct tact_chain_link *from = &chain.links[k];
		const struct tact_chain_link *to = &chain.links[(k + 1) % chain.n_links];

		json_begin_object(json, NULL);
		json_put_count(json, "FromID", from->insn + iteration * v->run->n);
		iteration += from->iterations;
		json_put_count(json, "ResourceOrRegID", from->to_reg);
		json_put_count(json, "ToID", to->insn + iteration * v->run->n);
		json_put_count(json, "Type", from->to_kind == 3 ? MEMORY : REGISTER);
		json_end(json);
	}
	json_end(json);
}

static void put_bottlenecks(const struct mca_view *v, struct json *json)
{
	const struct mca_pressures p = mca_pressures(v);
	char name[64];

	json_begin_object(json, "BottleneckAnalysis");
	json_put_count(json, "DataDependencyCycles", p.operand);
	put_edges(v, json);
	json_put_count(json, "MemoryDependencyCycles", p.is_memory ? p.operand : 0);
	json_put_count(json, "PressureIncreaseCycles", p.either);
	json_put_count(json, "RegisterDependencyCycles", p.is_memory ? 0 : p.operand);
	json_begin_array(json, "ResourcePressure");
	for (unsigned k = 0; k < TACT_MAX_PORTS; k++) {
		if (!(p.ports >> k & 1))
			continue;
		json_begin_object(json, NULL);
		json_put_count(json, dropin_port_name(v->run->arch, k, name, sizeof(name)), p.port);
		json_end(json);
	}
	json_end(json);
	json_put_count(json, "ResourcePressureCycles", p.port);
	json_put_count(json, "TotalCycles", v->run->cycles);
	json_end(json);
}

static void put_dispatch(const struct mca_view *v, struct json *json)
{
	const uint64_t *stalls = v->run->stats.stalls;

	json_begin_object(json, "DispatchStatistics");
	json_put_count(json, "GROUP", stalls[DROPIN_STALL_SERIAL]);
	json_put_count(json, "LQ", 0);
	json_put_count(json, "RAT", stalls[DROPIN_STALL_OPERANDS]);
	json_put_count(json, "RCU", stalls[DROPIN_STALL_ROB]);
	json_put_count(json, "SCHEDQ", stalls[DROPIN_STALL_RS]);
	json_put_count(json, "SQ", 0);
	json_put_count(json, "USH", stalls[DROPIN_STALL_OTHER]);
	json_end(json);
}

static void put_info(const struct mca_view *v, struct json *json)
{
	json_begin_object(json, "InstructionInfoView");
	json_begin_array(json, "InstructionList");
	for (size_t i = 0; i < v->run->n; i++) {
		struct tact_insn insn = {0};

		tact_block_insn(v->run->block, i, &insn);
		json_begin_object(json, NULL);
		json_put_count(json, "Instruction", i);
		json_put_count(json, "Latency", dropin_latency(v->run, i));
		json_put_count(json, "NumMicroOpcodes", v->run->costs[i].issued);
		json_put_exact(json, "RThroughput", dropin_reciprocal(v->run, i));
		json_put_bool(json, "hasUnmodeledSideEffects",
			      insn.attributes & TACT_INSN_SERIALIZING);
		json_put_bool(json, "mayLoad", insn.attributes & TACT_INSN_LOAD);
		json_put_bool(json, "mayStore", insn.attributes & TACT_INSN_STORE);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static void put_usage(struct json *json, size_t i, unsigned k, double usage)
{
	if (usage < 0.0001)
		return;
	json_begin_object(json, NULL);
	json_put_count(json, "InstructionIndex", i);
	json_put_count(json, "ResourceIndex", k);
	json_put_exact(json, "ResourceUsage", usage);
	json_end(json);
}

/* The entry after the last instruction has the sums. */
static void put_pressure(const struct mca_view *v, struct json *json)
{
	double sum[MCA_MOST_RESOURCES] = {0};
	struct mca_resources r;

	mca_resources_init(&r, v->run->arch);
	json_begin_object(json, "ResourcePressureView");
	json_begin_array(json, "ResourcePressureInfo");
	for (size_t i = 0; i < v->run->n; i++)
		for (unsigned k = 0; k < r.n; k++) {
			const double usage = mca_pressure(v, &r, k, i);

			sum[k] += usage;
			put_usage(json, i, k, usage);
		}
	for (unsigned k = 0; k < r.n; k++)
		put_usage(json, v->run->n, k, sum[k]);
	json_end(json);
	json_end(json);
}

static void put_summary(const struct mca_view *v, struct json *json)
{
	const struct dropin_run *run = v->run;
	const double n = (double)run->n * run->iterations;

	json_begin_object(json, "SummaryView");
	json_put_exact(json, "BlockRThroughput", dropin_throughput(&run->bounds));
	json_put_count(json, "DispatchWidth", v->width);
	json_put_exact(json, "IPC", n / (double)run->cycles);
	json_put_count(json, "Instructions", run->n * run->iterations);
	json_put_count(json, "Iterations", run->iterations);
	json_put_count(json, "TotalCycles", run->cycles);
	json_put_count(json, "TotaluOps", run->uops);
	json_put_exact(json, "uOpsPerCycle", (double)run->uops / (double)run->cycles);
	json_end(json);
}

static void put_timeline(const struct mca_view *v, struct json *json)
{
	const int64_t limit = v->f->timeline_cycles ? v->f->timeline_cycles : INT64_MAX;

	json_begin_object(json, "TimelineView");
	json_begin_array(json, "TimelineInfo");
	for (size_t i = 0; i < v->run->kept * v->run->n; i++) {
		const struct dropin_event *e = &v->run->events[i];

		if (e->retired >= limit)
			break;
		json_begin_object(json, NULL);
		json_put_integer(json, "CycleDispatched", e->dispatched);
		json_put_integer(json, "CycleExecuted", e->executed);
		json_put_integer(json, "CycleIssued", e->issued);
		json_put_integer(json, "CycleReady", e->ready);
		json_put_integer(json, "CycleRetired", e->retired);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

void mca_json_region(const struct mca_view *v, struct json *json)
{
	const struct mca_front *f = v->f;

	json_begin_object(json, NULL);
	if (f->bottleneck.on)
		put_bottlenecks(v, json);
	if (f->dispatch_stats.on)
		put_dispatch(v, json);
	if (f->info.on)
		put_info(v, json);
	json_begin_array(json, "Instructions");
	for (size_t i = 0; i < v->run->n && i < v->region->n_insns; i++) {
		struct text text = {0};

		dropin_tab(&text, v->region->insns[i].text);
		json_put_string(json, NULL, cli_string(&text));
		text_free(&text);
	}
	json_end(json);
	json_put_string(json, "Name", v->region->name);
	if (f->pressure.on)
		put_pressure(v, json);
	if (f->summary.on)
		put_summary(v, json);
	if (f->timeline.on)
		put_timeline(v, json);
	json_end(json);
}

void mca_json_target(const struct mca_front *f, struct json *json)
{
	struct mca_resources r;

	json_begin_object(json, "SimulationParameters");
	json_put_string(json, "-march", f->march);
	json_put_string(json, "-mcpu", f->cpu);
	json_put_string(json, "-mtriple", f->triple);
	json_end(json);
	json_begin_object(json, "TargetInfo");
	json_put_string(json, "CPUName", f->cpu);
	json_begin_array(json, "Resources");
	mca_resources_init(&r, f->arch);
	for (unsigned k = 0; k < r.n; k++) {
		if (r.units[k] > 1)
			json_printf_string(json, NULL, "%s.%u", r.name[k], r.unit[k]);
		else
			json_put_string(json, NULL, r.name[k]);
	}
	json_end(json);
	json_end(json);
}

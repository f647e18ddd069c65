/* SPDX-License-Identifier: MIT
 *
 * The checks: one row each.
 */
#include "pmu/pmu.h"

#include <stdio.h>

#include "base/base.h"
#include "isa/isa.h"

struct row {
	const char *name, *title;
	pmu_probe *probe;
	bool is_vital;
	const char *effect, *fix;
};

/* clang-format off: a check stays together */
static const struct row rows[TACT_N_CHECKS] = {
	[TACT_CHECK_HYPERVISOR] =
		{"hypervisor", "hypervisor", pmu_probe_hypervisor, false,
		 "other tenants disturb samples, and counters are often hidden: more "
		 "samples are dropped, and it takes longer",
		 "ask for a virtual PMU (KVM: -cpu host,pmu=on; clouds: a metal or "
		 "dedicated instance)"},
	[TACT_CHECK_SMT] =
		{"smt", "CPUs", pmu_probe_smt, false,
		 "a busy sibling halves the front end and takes ports: samples are dropped",
		 "turn SMT off (echo off > /sys/devices/system/cpu/smt/control; for a virtual "
		 "machine on its host), or keep the siblings idle"},
	[TACT_CHECK_TSC] = {"tsc", "time stamps", pmu_probe_tsc, true,
			    "time stamps that change their rate are a poor clock for the rung tsc",
			    ""},
	[TACT_CHECK_FREQUENCY] =
		{"frequency", "frequency scaling", pmu_probe_frequency, false,
		 "the core's clock may change between samples: no matter for counters of "
		 "core cycles, but the rung tsc drops more samples",
		 "cpupower frequency-set -g performance, and boost off: "
		 "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo or "
		 "echo 0 > /sys/devices/system/cpu/cpufreq/boost; for a virtual machine on its "
		 "host"},
	[TACT_CHECK_VECTOR] = {"vector", "vector instructions", pmu_probe_vector, false,
			       "blocks with the missing ones have the status illegal", ""},
	[TACT_CHECK_PARANOID] = {"perf_event_paranoid", "perf_event_paranoid", pmu_probe_paranoid,
				 false, "counters are refused: measuring falls back to time stamps",
				 "sysctl kernel.perf_event_paranoid=1 (in containers also: allow "
				 "perf_event_open in the seccomp profile)"},
	[TACT_CHECK_CYCLES] =
		{"cycles", "hardware cycles", pmu_probe_cycles, false,
		 "no counter of core cycles: the rungs rdpmc and perf are not there, time "
		 "stamps take their place",
		 "bare metal, or a virtual machine with a PMU; see perf_event_paranoid and "
		 "hypervisor"},
	[TACT_CHECK_RDPMC] =
		{"rdpmc", "counters in user mode", pmu_probe_rdpmc, false,
		 "counters are read by system calls or not at all: more noise in short samples",
		 "" /* differs between machines */},
	[TACT_CHECK_LBR] =
		{"lbr", "branch stacks (LBR)", pmu_probe_lbr, false,
		 "block counts of whole programs come from plain samples or from a trace",
		 "bare metal; for virtual machines a hypervisor that passes LBR on"},
	[TACT_CHECK_APERF] = {"aperf", "APERF", pmu_probe_aperf, false,
			      "the rung aperf is not there",
			      "bare metal, or a hypervisor that passes APERF on; sysctl "
			      "kernel.perf_event_paranoid=1"},
	[TACT_CHECK_SECCOMP] =
		{"seccomp", "seccomp filters", pmu_probe_seccomp, true,
		 "measured code could not be kept from system calls: nothing is measured without",
		 "a kernel with CONFIG_SECCOMP_FILTER; in a container allow "
		 "prctl(PR_SET_SECCOMP)"},
	[TACT_CHECK_PTRACE] =
		{"ptrace", "tracing of children", pmu_probe_ptrace, false,
		 "--native and --attach cannot step through programs; nothing else needs it",
		 "sysctl kernel.yama.ptrace_scope=1; in a container allow ptrace in the "
		 "seccomp profile"},
	[TACT_CHECK_MEMFD] =
		{"memfd", "executable shared memory", pmu_probe_memfd, true,
		 "there is no place to put measured code",
		 "a kernel from 3.17 on; sysctl vm.memfd_noexec=0; a security module may "
		 "forbid it"},
	[TACT_CHECK_FIXED_MAP] = {"map_fixed_noreplace", "MAP_FIXED_NOREPLACE", pmu_probe_fixed_map,
				  false,
				  "a block's page may hit one of the harness: such blocks fail",
				  "a kernel from 4.17 on"},
	[TACT_CHECK_MMAP_MIN] = {"mmap_min_addr", "lowest page (mmap_min_addr)", pmu_probe_mmap_min,
				 false,
				 "blocks that use addresses below that have the status unmappable",
				 "sysctl vm.mmap_min_addr=65536"},
	[TACT_CHECK_HUGE_PAGES] = {"huge_pages", "huge pages", pmu_probe_huge_pages, false, "", ""},
	[TACT_CHECK_QEMU] = {"qemu", "QEMU user mode", pmu_probe_qemu, false,
			     "whole programs cannot be traced", "apt-get install qemu-user"},
	[TACT_CHECK_QEMU_PLUGIN] =
		{"qemu_plugin", "QEMU's plugin interface", pmu_probe_qemu_plugin, false,
		 "whole programs cannot be traced",
		 "a QEMU that was configured with --enable-plugins (Debian's is)"},
	[TACT_CHECK_LLVM_MCA] = {"llvm_mca", "llvm-mca", pmu_probe_llvm_mca, false,
				 "there is no peer to compare predictions with",
				 "apt-get install llvm"},
	[TACT_CHECK_AS] = {"as", "GNU as", pmu_probe_as, false,
			   "assembly text cannot be read; hex and object files can",
			   "apt-get install binutils"},
	[TACT_CHECK_LLVM] = {"llvm", "models of LLVM", pmu_probe_llvm, false,
			     "no AArch64, no RISC-V, and no CPU by LLVM's model",
			     "apt-get install g++ llvm-22-dev (or llvm-19-dev), then make"},
};
/* clang-format on */

const char *tact_check_state_name(enum tact_check_state state)
{
	static const char *const names[] = {[TACT_CHECK_GOOD] = "good",
					    [TACT_CHECK_DEGRADED] = "degraded",
					    [TACT_CHECK_MISSING] = "missing"};

	return NAME_OF(names, state, "unknown");
}

int tact_check_run(enum tact_check_id id, struct tact_check *out)
{
	struct tact_check check = {.size = sizeof(check), .effect = "", .fix = ""};
	const struct row *row;

	if (!tact_can_fill(out) || (unsigned)id >= TACT_N_CHECKS)
		return -TACT_E_INVAL;
	row = &rows[id];
	check.is_vital = row->is_vital;
	check.name = row->name;
	check.title = row->title;
	check.state = row->probe(check.found, sizeof(check.found));
	if (check.state != TACT_CHECK_GOOD) {
		check.effect = row->effect;
		check.fix = row->fix;
		if (id == TACT_CHECK_RDPMC && isa_native())
			check.fix = isa_native()->native->user_counter;
	}
	return tact_fill(out, &check, sizeof(check));
}

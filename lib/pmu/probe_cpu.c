/* SPDX-License-Identifier: MIT
 *
 * Looks at the processor: hypervisor, SMT, clocks, vector instructions.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "pmu/pmu.h"

enum tact_check_state pmu_probe_hypervisor(char *found, size_t size)
{
	char emulator[TACT_EMULATOR_SIZE];
	struct tact_host host;

	if (tact_host_emulator(emulator, sizeof(emulator))) {
		snprintf(found, size, "this program runs under an emulator, %.100s", emulator);
		return TACT_CHECK_DEGRADED;
	}
	pmu_host_identify(&host);
	if (!host.is_virtual) {
		snprintf(found, size, "none");
		return TACT_CHECK_GOOD;
	}
	snprintf(found, size, "yes%s%s", host.hypervisor[0] ? ", " : "", host.hypervisor);
	return TACT_CHECK_DEGRADED;
}

enum tact_check_state pmu_probe_smt(char *found, size_t size)
{
	struct tact_host host;
	char active[16];

	pmu_host_identify(&host);
	if (!pmu_read_line("/sys/devices/system/cpu/smt/active", active, sizeof(active)))
		active[0] = '\0';
	snprintf(found, size, "%u CPUs online, %u for this process, on %u cores; %s", host.n_online,
		 host.n_allowed, host.n_cores,
		 host.threads_per_core > 1 ? "two or more a core"
		 : host.is_virtual	   ? "siblings are not visible in a virtual machine"
		 : host.threads_per_core   ? "one a core"
					   : "siblings are unknown");
	if (host.threads_per_core > 1 || active[0] == '1')
		return TACT_CHECK_DEGRADED;
	return host.is_virtual || !host.threads_per_core ? TACT_CHECK_DEGRADED : TACT_CHECK_GOOD;
}

enum tact_check_state pmu_probe_tsc(char *found, size_t size)
{
	const struct tact_isa *isa = isa_native();
	struct isa_cpu cpu = {.has_clock = false};
	struct tact_host host = TACT_HOST_INIT;

	if (isa)
		isa->native->identify(&cpu);
	if (!cpu.has_clock) {
		snprintf(found, size, "none");
		return TACT_CHECK_MISSING;
	}
	tact_host_probe(&host);
	snprintf(found, size, "%s, %.0f MHz",
		 host.has_invariant_tsc ? "invariant" : "not invariant", host.tsc_hz / 1e6);
	return host.has_invariant_tsc ? TACT_CHECK_GOOD : TACT_CHECK_DEGRADED;
}

/* Returns whether turbo is on, as one of the two drivers says; -1 if neither says anything. */
static int read_boost(void)
{
	char line[32];

	if (pmu_read_line("/sys/devices/system/cpu/intel_pstate/no_turbo", line, sizeof(line)))
		return line[0] == '0';
	if (pmu_read_line("/sys/devices/system/cpu/cpufreq/boost", line, sizeof(line)))
		return line[0] == '1';
	return -1;
}

enum tact_check_state pmu_probe_frequency(char *found, size_t size)
{
	char governor[64];
	int boost = read_boost();
	bool is_known = pmu_read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
				      governor, sizeof(governor));

	if (!is_known && boost < 0) {
		snprintf(found, size, "not visible: no governor, no boost file");
		return TACT_CHECK_DEGRADED;
	}
	snprintf(found, size, "governor %s, boost %s", is_known ? governor : "unknown",
		 boost < 0 ? "unknown"
		 : boost   ? "on"
			   : "off");
	return is_known && !strcmp(governor, "performance") && boost == 0 ? TACT_CHECK_GOOD
									  : TACT_CHECK_DEGRADED;
}

enum tact_check_state pmu_probe_vector(char *found, size_t size)
{
	const struct tact_isa *isa = isa_native();

	snprintf(found, size, "none");
	return isa && isa->native->list_vectors(found, size) ? TACT_CHECK_GOOD
							     : TACT_CHECK_DEGRADED;
}

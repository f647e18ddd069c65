/* SPDX-License-Identifier: MIT
 *
 * Layer 1: what the processor and the kernel offer.
 */
#ifndef PMU_PMU_H
#define PMU_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/doctor.h>

/* Does what tact_host_probe does, except for what takes time: the frequency of the TSC stays 0. */
void pmu_host_identify(struct tact_host *host);

/* Reads the first line of a file, without its newline; "" if it cannot be read.  Returns whether it
 * could be read.
 */
bool pmu_read_line(const char *path, char *line, size_t size);

/* An event that a device of perf's names in sysfs. */
struct pmu_event {
	uint32_t type;
	uint64_t config;
};

#define PMU_DEVICES "/sys/bus/event_source/devices"

/* Finds the type of a device in DEVICES/device/type.  Returns whether it is there; *type is 0 if
 * not.
 */
bool pmu_find_device(uint32_t *type, const char *devices, const char *device);

/* Finds an event in DEVICES/device/type and DEVICES/device/events/name.  Returns whether it is
 * there and is no more than a number of the field "event", as those of the msr device are.
 */
bool pmu_find_event(struct pmu_event *out, const char *devices, const char *device,
		    const char *name);

/* Writes what a probe has found.  The other texts of struct tact_check come from the table. */
typedef enum tact_check_state pmu_probe(char *found, size_t size);

pmu_probe pmu_probe_paranoid, pmu_probe_cycles, pmu_probe_rdpmc, pmu_probe_lbr, pmu_probe_aperf;
pmu_probe pmu_probe_hypervisor, pmu_probe_smt, pmu_probe_tsc, pmu_probe_frequency, pmu_probe_vector;
pmu_probe pmu_probe_seccomp, pmu_probe_ptrace, pmu_probe_memfd, pmu_probe_fixed_map,
	pmu_probe_mmap_min, pmu_probe_huge_pages;
pmu_probe pmu_probe_qemu, pmu_probe_qemu_plugin, pmu_probe_llvm_mca, pmu_probe_as, pmu_probe_llvm;

#endif /* PMU_PMU_H */

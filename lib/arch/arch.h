/* SPDX-License-Identifier: MIT
 *
 * Layer 2: parameters and instruction data of a CPU.
 */
#ifndef TACT_ARCH_PRIVATE_H
#define TACT_ARCH_PRIVATE_H

#include <tact/arch.h>

#include "arch/params.h"
#include "arch/table.h"
#include "base/base.h"

struct tact_arch {
	const char *name, *full_name, *llvm_name;
	const char *cpuid; /* "6-85:5-7 6-106": family-model:first stepping-last stepping */
	struct arch_params params;
	const uint16_t *record_of_form; /* static; indexed by form */
};

/* Data of a form: NULL if there is none. */
const struct arch_record *arch_record_of(const struct tact_arch *arch, unsigned form);
const struct arch_variant *arch_variant_at(unsigned index);
const struct arch_port_use *arch_ports_at(unsigned index);
const struct arch_latency *arch_latencies_at(unsigned index);

#endif /* TACT_ARCH_PRIVATE_H */

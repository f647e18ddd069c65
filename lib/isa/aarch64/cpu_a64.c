/* SPDX-License-Identifier: MIT
 *
 * CPUs by the numbers that they give in MIDR_EL1 (Linux: arch/arm64/include/asm/cputype.h; vendors'
 * manuals), with LLVM's names of them; and the CPU that this program runs on.
 *
 * Programs may not read MIDR_EL1; Linux reads it for them, and says so (HWCAP_CPUID, since 4.11).
 * Cores of another kind in the same machine have other values: that of the moment counts.
 */
#include "isa/aarch64/aarch64.h"

static const struct {
	uint8_t implementer;
	const char *name;
} vendors[] = {
	{0x41, "Arm"},	     {0x42, "Broadcom"},  {0x43, "Cavium"},   {0x46, "Fujitsu"},
	{0x48, "HiSilicon"}, {0x4e, "NVIDIA"},	  {0x51, "Qualcomm"}, {0x53, "Samsung"},
	{0x61, "Apple"},     {0x6d, "Microsoft"}, {0xc0, "Ampere"},
};

static const struct a64_core cores[] = {
	{0x41, 0xd02, "Cortex-A34", "cortex-a34"},
	{0x41, 0xd03, "Cortex-A53", "cortex-a53"},
	{0x41, 0xd04, "Cortex-A35", "cortex-a35"},
	{0x41, 0xd05, "Cortex-A55", "cortex-a55"},
	{0x41, 0xd06, "Cortex-A65", "cortex-a65"},
	{0x41, 0xd07, "Cortex-A57", "cortex-a57"},
	{0x41, 0xd08, "Cortex-A72", "cortex-a72"},
	{0x41, 0xd09, "Cortex-A73", "cortex-a73"},
	{0x41, 0xd0a, "Cortex-A75", "cortex-a75"},
	{0x41, 0xd0b, "Cortex-A76", "cortex-a76"},
	{0x41, 0xd0c, "Neoverse N1", "neoverse-n1"},
	{0x41, 0xd0d, "Cortex-A77", "cortex-a77"},
	{0x41, 0xd0e, "Cortex-A76AE", "cortex-a76ae"},
	{0x41, 0xd40, "Neoverse V1", "neoverse-v1"},
	{0x41, 0xd41, "Cortex-A78", "cortex-a78"},
	{0x41, 0xd42, "Cortex-A78AE", "cortex-a78ae"},
	{0x41, 0xd43, "Cortex-A65AE", "cortex-a65ae"},
	{0x41, 0xd44, "Cortex-X1", "cortex-x1"},
	{0x41, 0xd46, "Cortex-A510", "cortex-a510"},
	{0x41, 0xd47, "Cortex-A710", "cortex-a710"},
	{0x41, 0xd48, "Cortex-X2", "cortex-x2"},
	{0x41, 0xd49, "Neoverse N2", "neoverse-n2"},
	{0x41, 0xd4a, "Neoverse E1", "neoverse-e1"},
	{0x41, 0xd4b, "Cortex-A78C", "cortex-a78c"},
	{0x41, 0xd4c, "Cortex-X1C", "cortex-x1c"},
	{0x41, 0xd4d, "Cortex-A715", "cortex-a715"},
	{0x41, 0xd4e, "Cortex-X3", "cortex-x3"},
	{0x41, 0xd4f, "Neoverse V2", "neoverse-v2"},
	{0x41, 0xd80, "Cortex-A520", "cortex-a520"},
	{0x41, 0xd81, "Cortex-A720", "cortex-a720"},
	{0x41, 0xd82, "Cortex-X4", "cortex-x4"},
	{0x41, 0xd83, "Neoverse V3AE", "neoverse-v3ae"},
	{0x41, 0xd84, "Neoverse V3", "neoverse-v3"},
	{0x41, 0xd85, "Cortex-X925", "cortex-x925"},
	{0x41, 0xd87, "Cortex-A725", "cortex-a725"},
	{0x41, 0xd8e, "Neoverse N3", "neoverse-n3"},
	{0x42, 0x516, "ThunderX2", "thunderx2t99"},
	{0x43, 0x0a1, "ThunderX", "thunderxt88"},
	{0x43, 0x0af, "ThunderX2", "thunderx2t99"},
	{0x43, 0x0b8, "ThunderX3", "thunderx3t110"},
	{0x46, 0x001, "A64FX", "a64fx"},
	{0x48, 0xd01, "TaiShan v110", "tsv110"},
	{0x4e, 0x004, "Carmel", NULL},
	{0x51, 0x001, "Oryon", "oryon-1"},
	{0x51, 0xc00, "Falkor", "falkor"},
	{0x51, 0xc01, "Saphira", "saphira"},
	{0x61, 0x022, "M1 (Icestorm)", "apple-m1"},
	{0x61, 0x023, "M1 (Firestorm)", "apple-m1"},
	{0x61, 0x032, "M2 (Blizzard)", "apple-m2"},
	{0x61, 0x033, "M2 (Avalanche)", "apple-m2"},
	{0x6d, 0xd49, "Azure Cobalt 100", "neoverse-n2"},
	{0xc0, 0xac3, "Ampere-1", "ampere1"},
	{0xc0, 0xac4, "Ampere-1A", "ampere1a"},
	{0xc0, 0xac5, "Ampere-1B", "ampere1b"},
};

const struct a64_core *a64_core_of(unsigned implementer, unsigned part)
{
	for (size_t i = 0; i < ARRAY_SIZE(cores); i++)
		if (cores[i].implementer == implementer && cores[i].part == part)
			return &cores[i];
	return NULL;
}

const char *a64_vendor_of(unsigned implementer)
{
	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		if (vendors[i].implementer == implementer)
			return vendors[i].name;
	return NULL;
}

#ifdef __aarch64__

#include <stdio.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include "base/emulator.h"

/* Bits of AT_HWCAP and AT_HWCAP2 (arch/arm64/include/uapi/asm/hwcap.h). */
enum { HWCAP_ASIMD_BIT = 1, HWCAP_CPUID_BIT = 11, HWCAP_SVE_BIT = 22, HWCAP2_SVE2_BIT = 1 };

#ifndef PR_SVE_GET_VL
#define PR_SVE_GET_VL 51
#endif

static uint64_t read_midr(void)
{
	uint64_t midr = 0;

	if (getauxval(AT_HWCAP) >> HWCAP_CPUID_BIT & 1)
		__asm__("mrs %0, midr_el1" : "=r"(midr));
	return midr;
}

/* There are no models of our own, so that no list has it. */
static bool is_one_of(const char *cpus)
{
	(void)cpus;
	return false;
}

/* The family is the implementer, the model the part, the stepping variant and revision. */
static void identify(struct isa_cpu *out)
{
	const uint64_t midr = read_midr();
	const struct a64_core *core;
	const char *vendor;
	char emulator[256];

	*out = (struct isa_cpu){.family = midr >> 24 & 0xff,
				.model = midr >> 4 & 0xfff,
				.stepping = (midr >> 16 & 0xf0) | (midr & 15),
				.has_clock = true,
				.has_steady_clock = true};
	core = a64_core_of(out->family, out->model);
	vendor = a64_vendor_of(out->family);
	snprintf(out->vendor, sizeof(out->vendor), "%s", vendor ? vendor : "unknown");
	if (core) {
		snprintf(out->brand, sizeof(out->brand), "%s %s", vendor, core->name);
		out->llvm_name = core->llvm;
	}
	if (emulator_find(emulator, sizeof(emulator))) {
		out->is_virtual = true;
		snprintf(out->hypervisor, sizeof(out->hypervisor), "emulator");
	}
}

static bool list_vectors(char *text, size_t size)
{
	const bool has_sve = getauxval(AT_HWCAP) >> HWCAP_SVE_BIT & 1;
	const bool has_sve2 = getauxval(AT_HWCAP2) >> HWCAP2_SVE2_BIT & 1;
	const int length = has_sve ? prctl(PR_SVE_GET_VL) : -1;

	snprintf(text, size, "%s%s",
		 getauxval(AT_HWCAP) >> HWCAP_ASIMD_BIT & 1 ? "Advanced SIMD" : "none",
		 has_sve2  ? ", SVE2"
		 : has_sve ? ", SVE"
			   : "");
	if (length > 0) {
		const size_t n = strlen(text);

		snprintf(text + n, size - n, " with %d bits (which is not measured)",
			 (length & 0xffff) * 8);
	}
	return true;
}

static uint64_t read_clock(void)
{
	uint64_t count;

	__asm__ volatile("isb\n	mrs %0, cntvct_el0" : "=r"(count)::"memory");
	return count;
}

/* Three dependent additions of a cycle each. */
static void run_chain(uint64_t n)
{
	uint64_t value = 3, rounds = n / 16;

	__asm__ volatile("1:	.rept 48\n	add %0, %0, %2\n	.endr\n"
			 "	sub %1, %1, #1\n	cbnz %1, 1b"
			 : "+r"(value), "+r"(rounds)
			 : "r"(n));
}

const struct isa_native a64_native = {
	.is_one_of = is_one_of,
	.identify = identify,
	.list_vectors = list_vectors,
	.read_clock = read_clock,
	.run_chain = run_chain,
	.link = "three additions",
	.user_access = 2,
	.user_counter = "sysctl kernel.perf_user_access=1 (from Linux 5.17 on)"};

#endif /* __aarch64__ */

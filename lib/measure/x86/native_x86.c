/* SPDX-License-Identifier: MIT
 *
 * The instruction set's constant, and what measuring needs of such a machine.
 */
#include "measure/x86/measure_x86.h"

const struct measure_set measure_x86 = {
	.isa = &isa_x86,
	.keeps_way = X86_HAS_GS_BASE,
	.chain_cycles = 3, /* imul r32, r32 */
	.unaligned = "general protection: a misaligned vector access or a non-canonical "
		     "address",
	.screen = measure_x86_screen,
	.emit = measure_x86_emit,
	.emit_clocks = measure_x86_emit_clocks,
	.canaries = measure_x86_canaries,
	.core_of = measure_x86_core_of,
	.put_counter = measure_x86_put_counter,
	.put_move = measure_x86_put_move,
	.known = &measure_x86_known,
	.accesses = measure_x86_accesses,
	.sweep = measure_x86_sweep,
};

#ifdef __x86_64__

#include <cpuid.h>
#include <sys/auxv.h>
#include <x86intrin.h>

#include "measure/native.h"

const struct measure_set *const measure_native = &measure_x86;
uint64_t native_clock(void)
{
	return __rdtsc();
}

uint32_t native_features(void)
{
	enum { HWCAP2_FSGSBASE_BIT = 2 }; /* asm/hwcap2.h */
	unsigned eax, ebx, ecx, edx, xcr0 = 0;
	uint32_t features = 0;

	if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx >> 27 & 1) {
		unsigned high;

		__asm__("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
		if (ecx >> 28 & 1 && (xcr0 & 6) == 6)
			features |= X86_HAS_AVX;
	}
	if (features && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ebx >> 16 & 1 &&
	    (xcr0 & 0xe6) == 0xe6) {
		features |= X86_HAS_AVX512;
		if ((ebx >> 30 & 3) == 3)
			features |= X86_HAS_AVX512_VL_BW;
	}
	/* Instructions for the base of gs, if kernel and CPU have them (since Linux 5.9). */
	if (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT)
		features |= X86_HAS_GS_BASE;
	return features;
}

#endif /* __x86_64__ */

/* SPDX-License-Identifier: MIT
 *
 * The CPU that this program runs on, if it belongs to this set.
 */
#include <stdio.h>
#include <string.h>

#include "isa/x86/x86.h"

/* Entries are "6-85", "6-85:5-7" (family, model, steppings) and "23-48..79" (a range of models). */
bool x86_is_in(const char *cpus, unsigned family, unsigned model, unsigned stepping)
{
	while (*cpus) {
		unsigned f, m, end, first = 0, last = 15;
		int used = 0;

		if (sscanf(cpus, "%u-%u%n", &f, &m, &used) != 2)
			return false;
		cpus += used;
		end = m;
		if (*cpus == '.' && sscanf(cpus, "..%u%n", &end, &used) == 1)
			cpus += used;
		if (*cpus == ':' && sscanf(cpus, ":%u-%u%n", &first, &last, &used) == 2)
			cpus += used;
		if (f == family && m <= model && model <= end && stepping >= first &&
		    stepping <= last)
			return true;
		cpus += strcspn(cpus, " ");
		cpus += strspn(cpus, " ");
	}
	return false;
}

#ifdef __x86_64__

#include <cpuid.h>
#include <x86intrin.h>

static bool is_one_of(const char *cpus)
{
	unsigned eax, ebx, ecx, edx, family, model;

	/* "GenuineIntel" or "AuthenticAMD" in ebx, edx, ecx: other vendors use the same numbers,
	 * while these two share none of our families and models.
	 */
	if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) ||
	    !((ebx == 0x756e6547 && edx == 0x49656e69) || (ebx == 0x68747541 && edx == 0x69746e65)))
		return false;
	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx))
		return false;
	family = eax >> 8 & 15;
	model = (eax >> 4 & 15) | (eax >> 12 & 0xf0);
	if (family == 15)
		family += eax >> 20 & 255;
	return x86_is_in(cpus, family, model, eax & 15);
}

/* Registers as a string, in the order in which cpuid spreads it. */
static void put_registers(char *text, unsigned a, unsigned b, unsigned c)
{
	const unsigned words[3] = {a, b, c};

	memcpy(text, words, sizeof(words));
	text[sizeof(words)] = '\0';
}

static void read_brand(char *brand)
{
	unsigned words[12] = {0};
	size_t start, n;

	brand[0] = '\0';
	for (unsigned i = 0; i < 3; i++)
		if (!__get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1],
				 &words[4 * i + 2], &words[4 * i + 3]))
			return;
	memcpy(brand, words, sizeof(words));
	brand[sizeof(words)] = '\0';
	start = strspn(brand, " "); /* Intel's are right-aligned */
	n = strlen(brand + start);
	memmove(brand, brand + start, n + 1);
	while (n && brand[n - 1] == ' ')
		brand[--n] = '\0';
}

static void identify(struct isa_cpu *out)
{
	unsigned a, b, c, d;

	*out = (struct isa_cpu){0};
	if (__get_cpuid(0, &a, &b, &c, &d))
		put_registers(out->vendor, b, d, c);
	if (__get_cpuid(1, &a, &b, &c, &d)) {
		out->family = a >> 8 & 15;
		out->model = (a >> 4 & 15) | (a >> 12 & 0xf0);
		out->stepping = a & 15;
		if (out->family == 15)
			out->family += a >> 20 & 255;
		else if (out->family != 6)
			out->model &= 15; /* the extended part only counts for 6 and 15 */
		out->is_virtual = c >> 31;
		out->has_clock = d >> 4 & 1;
	}
	if (out->is_virtual) {
		/* Leaf 0x40000000 belongs to the hypervisor by convention; no CPU manual has it. */
		__cpuid(0x40000000, a, b, c, d);
		put_registers(out->hypervisor, b, c, d);
	}
	if (__get_cpuid(0x80000007, &a, &b, &c, &d))
		out->has_steady_clock = d >> 8 & 1;
	read_brand(out->brand);
}

static bool list_vectors(char *text, size_t size)
{
	bool avx, avx2, avx512;

	/* These ask the operating system as well: cpuid and xgetbv. */
	__builtin_cpu_init();
	avx = __builtin_cpu_supports("avx");
	avx2 = __builtin_cpu_supports("avx2");
	avx512 = __builtin_cpu_supports("avx512f");
	snprintf(text, size, "SSE2%s%s%s%s%s%s", __builtin_cpu_supports("sse4.2") ? " SSE4.2" : "",
		 avx ? " AVX" : "", __builtin_cpu_supports("fma") ? " FMA" : "",
		 avx2 ? " AVX2" : "", avx512 ? " AVX-512F" : "",
		 __builtin_cpu_supports("avx512vl") ? " AVX-512VL" : "");
	return avx && avx2 && avx512;
}

static uint64_t read_clock(void)
{
	return __rdtsc();
}

/* Three cycles each on every CPU since 2008, with a surrounding loop that runs in parallel. */
static void run_chain(uint64_t n)
{
	uint64_t value = 3, rounds = n / 16;

	__asm__ volatile("1:\n\t"
			 ".rept 16\n\t"
			 "imul %0, %0\n\t"
			 ".endr\n\t"
			 "dec %1\n\t"
			 "jnz 1b"
			 : "+r"(value), "+r"(rounds)
			 :
			 : "cc");
}

const struct isa_native x86_native = {.is_one_of = is_one_of,
				      .identify = identify,
				      .list_vectors = list_vectors,
				      .read_clock = read_clock,
				      .run_chain = run_chain,
				      .link = "a multiplication",
				      .user_counter =
					      "echo 1 > /sys/bus/event_source/devices/cpu/rdpmc",
				      .tracing = &x86_tracing};

#endif /* __x86_64__ */

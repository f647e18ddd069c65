/* SPDX-License-Identifier: MIT
 *
 * The CPU that this program runs on.
 */
#include "isa/x86/x86.h"

#include <stdio.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

/* "6-85:5-7 6-106": does one of the entries hold this CPU? */
static bool cpuid_matches(const char *list, unsigned family, unsigned model, unsigned stepping)
{
	while (*list) {
		unsigned f, m, first = 0, last = 15;
		int used = 0;

		if (sscanf(list, "%u-%u%n", &f, &m, &used) != 2)
			return false;
		list += used;
		if (*list == ':' && sscanf(list, ":%u-%u%n", &first, &last, &used) == 2)
			list += used;
		if (f == family && m == model && stepping >= first && stepping <= last)
			return true;
		list += strspn(list, " ");
	}
	return false;
}

bool x86_is_host(const char *cpus)
{
#ifdef __x86_64__
	unsigned eax, ebx, ecx, edx, family, model;

	/* "GenuineIntel" or "AuthenticAMD" in ebx, edx, ecx: other vendors use the same numbers,
	 * and these two have none of our families and models in common.
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
	return cpuid_matches(cpus, family, model, eax & 15);
#else
	return cpuid_matches(cpus, 0, 0, 0);
#endif
}

/* SPDX-License-Identifier: MIT
 *
 * What scalar instructions do to the upper part of a vector register, which the name of the form
 * tells.
 */
#include <string.h>

#include "isa/x86/x86.h"

static bool begins(const char *name, const char *start)
{
	return !strncmp(name, start, strlen(start));
}

/* Those that read the register whose upper part they keep for nothing else. */
static bool only_keeps(const char *name)
{
	static const char *const starts[] = {"CVTSI2S", "CVTSS2SD", "CVTSD2SS", "SQRTSS",
					     "SQRTSD",	"ROUNDSS",  "ROUNDSD",	"RCPSS",
					     "RSQRTSS", "MOVLPS",   "MOVLPD"};

	if (begins(name, "MOVSS") || begins(name, "MOVSD"))
		return strstr(name, "(XMM, XMM") != NULL;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (begins(name, starts[i]))
			return true;
	return false;
}

/* Moves of 32 or 64 bits that leave zeros above. */
static bool zeroes(const char *name)
{
	if (begins(name, "MOVSS") || begins(name, "MOVSD"))
		return strstr(name, "(XMM, M") != NULL;
	return begins(name, "MOVD ") || begins(name, "MOVD_") || begins(name, "MOVQ ") ||
	       begins(name, "MOVQ_");
}

/* ADDSS, MULSD, FMADD231SD, ... */
static bool is_scalar(const char *name)
{
	size_t n = strcspn(name, " _");

	return n > 3 && name[0] != 'P' && name[n - 2] == 'S' &&
	       (name[n - 1] == 'S' || name[n - 1] == 'D');
}

uint32_t x86_upper_attributes(const char *name)
{
	name += name[0] == 'V';
	if (!strstr(name, " (XMM") || strstr(name, ", K"))
		return 0;
	if (only_keeps(name))
		return TACT_INSN_KEEPS_UPPER | TACT_INSN_PASSES_UPPER;
	if (zeroes(name))
		return TACT_INSN_ZEROES_UPPER;
	return is_scalar(name) ? TACT_INSN_PASSES_UPPER : 0;
}

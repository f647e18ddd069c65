/* SPDX-License-Identifier: MIT
 *
 * What assembly text of this set looks like, in its two syntaxes, and how GNU as reads it.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "isa/assemble.h"
#include "isa/x86/x86.h"

/* Whether the rest of a register name is a number below `limit`: xmm12, r9. */
static bool is_number(const char *p, const char *end, int limit)
{
	int value = 0;

	if (p == end || end - p > 2)
		return false;
	for (; p < end; p++) {
		if (!isdigit((unsigned char)*p))
			return false;
		value = value * 10 + (*p - '0');
	}
	return value < limit;
}

static bool is_register(const char *p, const char *end)
{
	static const char *const names[] = {
		"al",  "bl",  "cl",  "dl",  "ah",  "bh",  "ch",	 "dh",	"ax",  "bx",
		"cx",  "dx",  "si",  "di",  "bp",  "sp",  "sil", "dil", "bpl", "spl",
		"eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp", "rax", "rbx",
		"rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "rip", "st",
	};
	const size_t size = (size_t)(end - p);
	size_t i;

	if (size < 2 || size > 5)
		return false;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (asm_word_is(p, end, names[i]))
			return true;
	if (size > 3 && strchr("xyzXYZ", p[0]) && !strncasecmp(p + 1, "mm", 2))
		return is_number(p + 3, end, 32);
	if (!strncasecmp(p, "mm", 2) || p[0] == 'k' || p[0] == 'K')
		return is_number(p + (p[0] == 'k' || p[0] == 'K' ? 1 : 2), end, 8);
	if (p[0] != 'r' && p[0] != 'R')
		return false;
	return is_number(p + 1, end, 32) ||
	       (strchr("bwdBWD", end[-1]) && is_number(p + 1, end - 1, 32));
}

/* Counts what only one of the syntaxes writes: % and $ against plain registers, [ and ptr. */
static void weigh(const char *p, const char *end, long *att, long *intel)
{
	while (p < end) {
		const char *word = p;

		if (*p == '%' || *p == '$') {
			*att += 2;
			p = asm_skip_word(p + 1, end);
		} else if (*p == '[') {
			*intel += 2;
			p++;
		} else if (asm_is_word(*p)) {
			p = asm_skip_word(p, end);
			if (asm_word_is(word, p, "ptr"))
				*intel += 2;
			else if (is_register(word, p))
				++*intel;
		} else {
			p++;
		}
	}
}

static const char *const options[] = {"--64", NULL};
static const char *const intel_options[] = {"-msyntax=intel", "-mnaked-reg", NULL};

const struct isa_assembler x86_assembler = {
	.program = "as",
	.package = "binutils",
	.options = options,
	.intel_options = intel_options,
	.comments = "#",
	.directive = {[TACT_SYNTAX_ATT] = ".att_syntax", [TACT_SYNTAX_INTEL] = ".intel_syntax"},
	/* Without an argument, as expects % before registers and LLVM does not; with noprefix, as
	 * takes both.
	 */
	.intel_argument = " noprefix",
	.weigh = weigh,
};

/* SPDX-License-Identifier: MIT
 *
 * What assembly text of this set looks like, in its two syntaxes, and how GNU as reads it.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
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
			else if (is_register(word, p) && (p == end || *p != '('))
				++*intel; /* a variable may be called si: si(%rip) */
		} else {
			p++;
		}
	}
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

/* Finds the mnemonic after prefixes, and its end. */
static const char *find_mnemonic(const char *p, const char *end, const char **stop)
{
	static const char *const prefixes[] = {"bnd",	 "notrack", "lock", "rep", "repz",  "repnz",
					       "data16", "cs",	    "ds",   "es",  "addr32"};
	size_t i;

	for (;;) {
		p = skip_blanks(p, end);
		*stop = asm_skip_word(p, end);
		for (i = 0; i < ARRAY_SIZE(prefixes); i++)
			if (asm_word_is(p, *stop, prefixes[i]))
				break;
		if (i == ARRAY_SIZE(prefixes) || *stop == end)
			return p;
		p = *stop;
	}
}

static bool begins_with(const char *p, const char *end, const char *word)
{
	return (size_t)(end - p) >= strlen(word) && !strncasecmp(p, word, strlen(word));
}

static bool is_call(const char *p, const char *end)
{
	return asm_word_is(p, end, "call") || asm_word_is(p, end, "callq");
}

static const char *find_target(const char *p, const char *end)
{
	const char *stop;

	p = find_mnemonic(p, end, &stop);
	if (!begins_with(p, stop, "j") && !is_call(p, stop) && !begins_with(p, stop, "loop") &&
	    !asm_word_is(p, stop, "xbegin"))
		return NULL;
	if (stop < end && *stop == ',') /* jne,pt */
		stop = asm_skip_word(stop + 1, end);
	return skip_blanks(stop, end);
}

/* Padding of n bytes as one instruction, as compilers write it; as makes at most 11. */
static void write_nop(struct text *out, unsigned length)
{
	const unsigned most = 11;

	for (; length > most; length--)
		text_add(out, ".byte 0x66;");
	text_printf(out, ".nops %u", length);
}

static void respell(struct text *out, const char *p, const char *end, unsigned length)
{
	const char *stop, *mnemonic = find_mnemonic(p, end, &stop);
	const bool is_plain = mnemonic == skip_blanks(p, end);

	if (begins_with(mnemonic, stop, "nop") && length > 1 && length <= 15) {
		write_nop(out, length);
		return;
	}
	/* A near jump where a short one would do. */
	if (is_plain && begins_with(mnemonic, stop, "j") && length >= 5)
		text_add(out, "{disp32} ");
	text_add_bytes(out, p, (size_t)(end - p));
}

static const char *const options[] = {"--64", NULL};

static const char *mnemonic(size_t i)
{
	return i < ZYDIS_MNEMONIC_MAX_VALUE ? ZydisMnemonicGetString((ZydisMnemonic)(i + 1)) : NULL;
}

/* Debian's names have a version. */
#define LLVM_MC(name)                                                                              \
	{                                                                                          \
		name, "--filetype=obj", "--triple=x86_64", "-g", "-o", NULL                        \
	}
static const char *const llvm_mc[] = LLVM_MC("llvm-mc");
static const char *const llvm_mc_22[] = LLVM_MC("llvm-mc-22");
static const char *const llvm_mc_19[] = LLVM_MC("llvm-mc-19");
static const char *const clang[] = {
	"clang", "--target=x86_64", "-c", "-g", "-x", "assembler", "-", "-o", NULL};
static const char *const *const others[] = {llvm_mc, llvm_mc_22, llvm_mc_19, clang};

/* That of another machine has a name of its own, in Debian too. */
#ifdef __x86_64__
#define PROGRAM "as"
#define PACKAGE "binutils"
#else
#define PROGRAM "x86_64-linux-gnu-as"
#define PACKAGE "binutils-x86-64-linux-gnu"
#endif

const struct isa_assembler x86_assembler = {
	.program = PROGRAM,
	.package = PACKAGE,
	.options = options,
	.comments = "#",
	.directive = {[TACT_SYNTAX_ATT] = ".att_syntax", [TACT_SYNTAX_INTEL] = ".intel_syntax"},
	/* Without an argument, as expects % before registers and LLVM does not; with noprefix, as
	 * takes both.
	 */
	.intel_argument = " noprefix",
	.weigh = weigh,
	.find_target = find_target,
	.respell = respell,
	.mnemonic = mnemonic,
	.others = others,
	.n_others = ARRAY_SIZE(others),
	.processor_directives = ".686p .xmm",
	.address_insns = "lea",
};

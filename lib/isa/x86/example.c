/* SPDX-License-Identifier: MIT
 *
 * Instructions of a form as text: what a form's name says of its operands (data/insn: "ADD (R64,
 * M64)", "VADDPD_Z (ZMM, K, ZMM, M64_1to8)"), with registers chosen.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "isa/x86/x86.h"

/* Registers by width; the last one is a source that no copy writes.  Neither the stack pointer nor
 * rsi and rdi, which addresses use, are among them.
 */
enum { N_GENERAL = 8, SOURCE = N_GENERAL, N_VECTOR = 8 };
static const char *const general[][N_GENERAL + 1] = {
	{"al", "cl", "dl", "bl", "r8b", "r9b", "r10b", "r11b", "r12b"},
	{"ax", "cx", "dx", "bx", "r8w", "r9w", "r10w", "r11w", "r12w"},
	{"eax", "ecx", "edx", "ebx", "r8d", "r9d", "r10d", "r11d", "r12d"},
	{"rax", "rcx", "rdx", "rbx", "r8", "r9", "r10", "r11", "r12"},
};
static const char *const high[] = {"ah", "ch", "dh", "bh"};

struct example {
	const char *base; /* the form's name up to the operands */
	size_t base_size;
	unsigned copy;
	int chain;	    /* operand that takes the register of the first one; -1: none */
	unsigned n, n_regs; /* operands so far; registers among them */
	char *text;
	size_t size, used;
};

static void put(struct example *e, const char *text)
{
	const size_t n = strlen(text);

	if (e->used + n < e->size)
		memcpy(e->text + e->used, text, n + 1);
	e->used += n;
}

/* The number of the register of this operand: the first one differs from copy to copy. */
static unsigned number_of(const struct example *e, unsigned n_registers)
{
	if (!e->n || (int)e->n == e->chain)
		return e->copy % n_registers;
	return n_registers + e->n_regs - 1;
}

static void put_general(struct example *e, unsigned width)
{
	unsigned i = number_of(e, N_GENERAL);

	put(e, general[width][i > SOURCE ? SOURCE : i]);
}

static void put_vector(struct example *e, const char *prefix)
{
	char name[16];

	snprintf(name, sizeof(name), "%s%u", prefix, number_of(e, N_VECTOR));
	put(e, name);
}

/* A memory operand: the bits of what is accessed, or of an element that is spread. */
static bool put_memory(struct example *e, const char *operand, const char *index)
{
	static const struct {
		unsigned bits;
		const char *words;
	} widths[] = {{8, "byte"},   {16, "word"},     {32, "dword"},	 {64, "qword"},
		      {80, "tbyte"}, {128, "xmmword"}, {256, "ymmword"}, {512, "zmmword"}};
	const unsigned bits = (unsigned)strtoul(operand + 1, NULL, 10);
	const char *spread = strstr(operand, "_1to");
	/* A chain goes through the address: its base is the register that is written. */
	const char *base = (int)e->n == e->chain ? general[3][e->copy % N_GENERAL] : "rsi";
	char text[64];
	size_t i = 0;

	while (i < ARRAY_SIZE(widths) && widths[i].bits != bits)
		i++;
	if (!index && i == ARRAY_SIZE(widths))
		return false;
	if (index)
		snprintf(text, sizeof(text), "[%s+%s7]", base, index);
	else if (e->n) /* loads of all copies share an address */
		snprintf(text, sizeof(text), "%s ptr [%s]", widths[i].words, base);
	else
		snprintf(text, sizeof(text), "%s ptr [%s+%u]", widths[i].words, base,
			 64 * (e->copy % 8));
	put(e, text);
	if (spread) {
		snprintf(text, sizeof(text), "{%.8s}", spread + 1);
		put(e, text);
	}
	return true;
}

static bool is_fixed(const char *operand)
{
	static const char *const fixed[] = {"AL", "AX", "EAX", "RAX", "CL", "DX", "0", "1"};

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (!strcmp(operand, fixed[i]))
			return true;
	return false;
}

static bool put_operand(struct example *e, const char *operand)
{
	static const struct {
		const char *name, *text;
	} constants[] = {{"I8", "5"},	    {"I16", "1000"},
			 {"I32", "100000"}, {"I64", "0x123456789ab"},
			 {"Rel8", ".+2"},   {"Rel32", ".+1024"}};

	for (size_t i = 0; i < ARRAY_SIZE(constants); i++)
		if (!strcmp(operand, constants[i].name)) {
			put(e, constants[i].text);
			return true;
		}
	if (is_fixed(operand)) {
		char lower[8] = "";

		for (size_t i = 0; operand[i] && i + 1 < sizeof(lower); i++)
			lower[i] = (char)tolower((unsigned char)operand[i]);
		put(e, lower);
		return true;
	}
	if (!strncmp(operand, "VSIB_", 5)) {
		const char index[] = {(char)tolower((unsigned char)operand[5]), 'm', 'm', '\0'};

		return put_memory(e, operand, index);
	}
	if (operand[0] == 'M' && isdigit((unsigned char)operand[1]))
		return put_memory(e, operand, NULL);
	e->n_regs++;
	if (!strcmp(operand, "R8l"))
		put_general(e, 0);
	else if (!strcmp(operand, "R8h"))
		put(e, high[e->n ? 3 : e->copy % 3]);
	else if (!strcmp(operand, "R16"))
		put_general(e, 1);
	else if (!strcmp(operand, "R32"))
		put_general(e, 2);
	else if (!strcmp(operand, "R64"))
		put_general(e, 3);
	else if (!strcmp(operand, "XMM") || !strcmp(operand, "YMM") || !strcmp(operand, "ZMM"))
		put_vector(e, operand[0] == 'X' ? "xmm" : operand[0] == 'Y' ? "ymm" : "zmm");
	else if (!strcmp(operand, "MM"))
		put(e, e->n && (int)e->n != e->chain
			       ? "mm7"
			       : (const char *const[]){"mm0", "mm1", "mm2", "mm3", "mm4",
						       "mm5"}[e->copy % 6]);
	else if (!strcmp(operand, "K"))
		put(e, e->n && (int)e->n != e->chain
			       ? "k7"
			       : (const char *const[]){"k1", "k2", "k3", "k4", "k5",
						       "k6"}[e->copy % 6]);
	else
		return false;
	return true;
}

/* A mask that stands after the destination is written behind it in braces. */
static bool is_mask(const struct example *e, const char *operand)
{
	return e->n == 1 && !strcmp(operand, "K") && e->base[0] == 'V';
}

/* "A", "B" of "A, B)"; false after the last one. */
static bool next_operand(const char **rest, char *operand, size_t size)
{
	size_t n;

	*rest += strspn(*rest, " ,");
	n = strcspn(*rest, ",)");
	if (!n)
		return false;
	snprintf(operand, size, "%.*s", (int)n, *rest);
	*rest += n;
	return true;
}

static bool has_suffix(const struct example *e, const char *suffix)
{
	const size_t n = strlen(suffix);

	for (size_t i = 0; i + n <= e->base_size; i++)
		if (!memcmp(e->base + i, suffix, n) &&
		    (i + n == e->base_size || e->base[i + n] == '_'))
			return true;
	return false;
}

static void put_mnemonic(struct example *e)
{
	char mnemonic[32] = "";

	if (has_suffix(e, "_LOCK"))
		put(e, "lock ");
	if (has_suffix(e, "_EVEX"))
		put(e, "{evex} ");
	for (size_t i = 0; i < e->base_size && e->base[i] != '_' && i + 1 < sizeof(mnemonic); i++)
		mnemonic[i] = (char)tolower((unsigned char)e->base[i]);
	put(e, mnemonic);
}

/* LEA_B_IS_D8: the name says which parts the address has. */
static void put_address(struct example *e)
{
	const bool is_scaled = has_suffix(e, "_IS"), is_indexed = has_suffix(e, "_I") || is_scaled;

	put(e, ", [");
	if (has_suffix(e, "_B"))
		put(e, e->chain == 1 ? general[3][e->copy % N_GENERAL] : "rsi");
	if (has_suffix(e, "_R"))
		put(e, "rip");
	if (is_indexed)
		put(e, has_suffix(e, "_B") ? "+rdi" : "rdi");
	if (is_scaled)
		put(e, "*4");
	if (has_suffix(e, "_D8"))
		put(e, "+8");
	else if (has_suffix(e, "_D32"))
		put(e, "+100000");
	put(e, "]");
}

int x86_form_example(const char *form, unsigned copy, int chain, char *text, size_t size)
{
	const char *rest = strstr(form, " (");
	struct example e = {.base = form, .copy = copy, .chain = chain, .text = text, .size = size};
	char operand[24];

	e.base_size = rest ? (size_t)(rest - form) : strlen(form);
	put_mnemonic(&e);
	for (rest = rest ? rest + 2 : ""; next_operand(&rest, operand, sizeof(operand)); e.n++) {
		if (is_mask(&e, operand)) {
			put(&e, has_suffix(&e, "_Z") ? "{k7}{z}" : "{k7}");
			continue;
		}
		put(&e, e.n ? ", " : " ");
		if (!put_operand(&e, operand))
			return -TACT_E_NO_DATA;
	}
	if (!strncmp(form, "LEA_", 4))
		put_address(&e);
	if (has_suffix(&e, "_ER"))
		put(&e, ", {rn-sae}");
	else if (has_suffix(&e, "_SAE"))
		put(&e, ", {sae}");
	return e.used < size ? (int)e.used : -TACT_E_LIMIT;
}

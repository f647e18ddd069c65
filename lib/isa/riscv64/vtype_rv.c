/* SPDX-License-Identifier: MIT
 *
 * The type of vectors as instructions set it: a setting whose first byte is 1 + vlmul and whose second
 * one is 1 + vsew (The RISC-V Instruction Set Manual, volume I, "V" Standard Extension, 3.4).
 */
#include "isa/riscv64/riscv64.h"

enum { LMUL_RESERVED = 4, SEW_LAST = 3 };

/* By vlmul and by vsew. */
static const char *const lmul_names[] = {"M1", "M2", "M4", "M8", NULL, "MF8", "MF4", "MF2"};
static const char *const sew_names[] = {"E8", "E16", "E32", "E64"};

unsigned rv_hints(uint16_t setting, struct llvm_hint *out)
{
	const unsigned vlmul = (setting & 0xff) - 1u, vsew = (setting >> 8) - 1u;
	unsigned n = 0;

	if (vlmul < ARRAY_SIZE(lmul_names) && lmul_names[vlmul])
		out[n++] = (struct llvm_hint){"RISCV-LMUL", lmul_names[vlmul]};
	if (vsew < ARRAY_SIZE(sew_names))
		out[n++] = (struct llvm_hint){"RISCV-SEW", sew_names[vsew]};
	return n;
}

/* Finds a name among n; -1: it is none of them. */
static int find_name(const char *const *names, size_t n, const char *p, const char *end)
{
	for (size_t i = 0; i < n; i++)
		if (names[i] && strlen(names[i]) == (size_t)(end - p) &&
		    !memcmp(names[i], p, (size_t)(end - p)))
			return (int)i;
	return -1;
}

/* As llvm-mca: LLVM-MCA-RISCV-LMUL M2, LLVM-MCA-RISCV-SEW E32. */
uint16_t rv_read_setting(const char *p, const char *end)
{
	static const char start[] = "LLVM-MCA-RISCV-";
	const char *word = p + sizeof(start) - 1, *stop, *value;
	int found;

	if ((size_t)(end - p) < sizeof(start) || memcmp(p, start, sizeof(start) - 1))
		return 0;
	for (stop = word; stop < end && *stop != ' ' && *stop != '\t';)
		stop++;
	for (value = stop; value < end && (*value == ' ' || *value == '\t');)
		value++;
	while (end > value && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	if (stop - word == 4 && !memcmp(word, "LMUL", 4)) {
		found = find_name(lmul_names, ARRAY_SIZE(lmul_names), value, end);
		return found < 0 ? ISA_SETTING_UNKNOWN : (uint16_t)(found + 1);
	}
	if (stop - word == 3 && !memcmp(word, "SEW", 3)) {
		found = find_name(sew_names, ARRAY_SIZE(sew_names), value, end);
		return found < 0 ? ISA_SETTING_UNKNOWN : (uint16_t)((found + 1) << 8);
	}
	return ISA_SETTING_UNKNOWN;
}

static uint16_t setting_of(uint32_t vtype)
{
	const unsigned vlmul = vtype & 7, vsew = vtype >> 3 & 7;

	if (vtype >> 8 || vlmul == LMUL_RESERVED || vsew > SEW_LAST)
		return 0;
	return (uint16_t)((vlmul + 1) | (vsew + 1) << 8);
}

static bool is_link(uint32_t reg)
{
	return reg == 1 || reg == 5;
}

/* Returns the setting after an instruction.  Calls keep none (RISC-V calling convention). */
static uint16_t set_by(uint16_t before, uint32_t w, unsigned length)
{
	if (length == 2) /* c.jalr */
		return (w & 0xf07f) == 0x9002 && rv_field(w, 7, 5) ? 0 : before;
	switch (w & 0x7f) {
	case 0x57:
		if (rv_field(w, 12, 3) != 7)
			return before;
		if (!(w >> 31)) /* vsetvli */
			return setting_of(rv_field(w, 20, 11));
		return w >> 30 == 3 ? setting_of(rv_field(w, 20, 10)) : 0; /* vsetivli, vsetvl */
	case 0x6f:
	case 0x67:
		return is_link(rv_field(w, 7, 5)) ? 0 : before;
	case 0x73: /* ecall */
		return w == 0x00000073 ? 0 : before;
	default:
		return before;
	}
}

/* Tells whether a setting allows a load or store whose elements have a width of their own: its group
 * of registers is between an eighth and eight.  LLVM fails for others.
 */
static bool fits(uint16_t setting, unsigned width)
{
	static const int8_t log2_of[] = {0, 1, 2, 3, 0, -3, -2, -1};
	const unsigned vlmul = ((setting & 0xff) - 1u) & 7, vsew = (setting >> 8) - 1u;
	const int eew = width ? (int)width - 4 : 0, group = log2_of[vlmul] + eew - (int)vsew;

	return setting & 0xff && setting >> 8 && group >= -3 && group <= 3;
}

/* Returns what the costs of a vector load or store depend on. */
static uint16_t of_access(uint16_t setting, uint32_t w)
{
	const unsigned width = rv_field(w, 12, 3), kind = rv_field(w, 26, 2);

	if (width && width < 5)
		return 0; /* of floating-point registers */
	if (!kind && rv_field(w, 20, 5) == 8)
		return 0; /* of whole registers */
	if (!setting || (!(kind & 1) && !fits(setting, width)))
		return ISA_SETTING_UNKNOWN;
	return setting;
}

/* Moves of whole registers take the same whatever the setting. */
static bool is_fixed(uint32_t w)
{
	return (w & 0xfc00707f) == 0x9c003057; /* vmv<n>r.v */
}

static uint16_t of_insn(uint16_t setting, uint32_t w, unsigned length)
{
	if (length == 2)
		return 0;
	switch (w & 0x7f) {
	case 0x07:
	case 0x27:
		return of_access(setting, w);
	case 0x57:
		if (rv_field(w, 12, 3) == 7 || is_fixed(w))
			return 0;
		return setting ? setting : ISA_SETTING_UNKNOWN;
	case 0x77: /* of Zvk */
		return setting ? setting : ISA_SETTING_UNKNOWN;
	default:
		return 0;
	}
}

uint16_t rv_follow(uint16_t before, const uint8_t *code, size_t size, uint16_t *of, size_t max)
{
	uint16_t setting = before;
	size_t n = 0;

	for (size_t at = 0; at + 2 <= size; n++) {
		const unsigned length = rv_length(code + at);
		uint32_t w;

		if (at + length > size)
			break;
		w = rv_word(code + at, length);
		if (n < max)
			of[n] = of_insn(setting, w, length);
		setting = set_by(setting, w, length);
		at += length;
	}
	return setting;
}

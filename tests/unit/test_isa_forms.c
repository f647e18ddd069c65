/* SPDX-License-Identifier: MIT
 *
 * Forms of the sets that LLVM decodes: LLVM's opcodes, what they are, and what one costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tact/arch.h>

#include "isa/isa.h"
#include "llvm_module.h"
#include "support.h"

static const struct tact_isa *set(const char *name)
{
	need_llvm();
	return tact_isa_find(name);
}

/* Whatever the module makes of an opcode is an instruction of it. */
static unsigned check_all(const struct tact_isa *isa)
{
	unsigned n = 0;

	for (unsigned form = 0; form < tact_isa_form_count(isa); form++) {
		struct tact_form f = TACT_FORM_INIT;
		struct isa_properties q;
		struct tact_insn insn;

		if (tact_isa_form(isa, form, &f) < 0)
			continue;
		n++;
		assert_int_equal(tact_isa_decode(isa, &insn, f.code, f.code_size), f.code_size);
		assert_int_equal(insn.form, form);
		assert_string_equal(tact_isa_form_name(isa, form), f.name);
		assert_true(f.mnemonic[0] && f.category[0]);
		isa->describe(&q, f.code, f.code_size);
		assert_string_equal(q.mnemonic_name, f.mnemonic);
		assert_string_equal(q.category, f.category);
		assert_string_equal(q.extension, tact_isa_form_extension(isa, form));
	}
	return n;
}

static void all_forms_have_an_instruction(void **state)
{
	(void)state;
	assert_true(check_all(set("aarch64")) > 5000);
	assert_true(check_all(set("riscv64")) > 900);
}

struct known {
	const char *name, *mnemonic, *category;
	const char *extension; /* NULL: versions of LLVM differ */
};

static void check_known(const struct tact_isa *isa, const struct known *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned form = tact_isa_form_find(isa, list[i].name);
		struct tact_form f = TACT_FORM_INIT;

		assert_int_not_equal(form, TACT_FORM_NONE);
		assert_int_equal(tact_isa_form(isa, form, &f), 0);
		assert_string_equal(f.mnemonic, list[i].mnemonic);
		assert_string_equal(f.category, list[i].category);
		if (list[i].extension)
			assert_string_equal(tact_isa_form_extension(isa, form), list[i].extension);
	}
}

static void forms_of_aarch64(void **state)
{
	static const struct known list[] = {
		{"ADDXrs", "add", "INTEGER", "BASE"},
		{"SUBSXri", "subs", "INTEGER", "BASE"},
		{"FADDDrr", "fadd", "FLOAT", "fp"},
		{"FADDv4f32", "fadd", "VECTOR", "neon"},
		{"ADD_ZZZ_D", "add", "VECTOR", "sve"},
		{"LDRXui", "ldr", "LOAD", "BASE"},
		{"LDRQpost", "ldr", "LOAD", "fp"},
		{"STPXpre", "stp", "STORE", "BASE"},
		{"LDARX", "ldar", "LOAD", "BASE"},
		{"STLRX", "stlr", "STORE", "BASE"},
		{"LDADDX", "ldadd", "ATOMIC", "lse"},
		{"LDAXRX", "ldaxr", "ATOMIC", "BASE"},
		{"CASALX", "casal", "ATOMIC", "lse"},
		{"AESErr", "aese", "CRYPTO", "aes"},
		{"Bcc", "b.cond", "BRANCH", "BASE"},
		{"CBZX", "cbz", "BRANCH", "BASE"},
		{"BL", "bl", "CALL", "BASE"},
		{"RET", "ret", "RETURN", "BASE"},
		{"DMB", "dmb", "BARRIER", "BASE"},
		{"SB", "sb", "BARRIER", "sb"},
		{"SBCXr", "sbc", "INTEGER", "BASE"},
		{"SBFMXri", "sbfm", "INTEGER", "BASE"},
		{"CPYFP", "cpyfp", "UPDATE", "mops"},
		{"PRFMui", "prfm", "PREFETCH", "BASE"},
		{"MRS", "mrs", "SYSTEM", "BASE"},
		{"HINT", "hint", "NOP", "BASE"},
		{"CRC32Xrr", "crc32x", "INTEGER", "crc"},
	};

	(void)state;
	check_known(set("aarch64"), list, ARRAY_SIZE(list));
}

static void forms_of_riscv(void **state)
{
	static const struct known list[] = {
		{"ADD", "add", "INTEGER", "BASE"},
		{"C_ADD", "c.add", "INTEGER", "zca"},
		{"SH1ADD", "sh1add", "INTEGER", "zba"},
		{"FADD_D", "fadd.d", "FLOAT", "d"},
		{"LD", "ld", "LOAD", "BASE"},
		{"FSW", "fsw", "STORE", "f"},
		{"AMOADD_D", "amoadd.d", "ATOMIC", NULL},
		{"LR_W", "lr.w", "ATOMIC", NULL},
		{"BEQ", "beq", "BRANCH", "BASE"},
		{"FENCE", "fence", "BARRIER", "BASE"},
		{"ECALL", "ecall", "SYSTEM", "BASE"},
		{"VADD_VV", "vadd.vv", "VECTOR", "zve32x"},
		{"AES64ES", "aes64es", "CRYPTO", "zkne"},
	};

	(void)state;
	check_known(set("riscv64"), list, ARRAY_SIZE(list));
}

static void wrong_forms_are_refused(void **state)
{
	const struct tact_isa *isa = set("aarch64");
	struct tact_form f = TACT_FORM_INIT;
	unsigned pseudo = tact_isa_form_find(isa, "ADDXrr"); /* of the compiler */

	(void)state;
	assert_int_equal(tact_isa_form(isa, tact_isa_form_count(isa), &f), -TACT_E_INVAL);
	assert_int_equal(tact_isa_form(isa, TACT_FORM_NONE, &f), -TACT_E_INVAL);
	assert_int_equal(tact_isa_form(NULL, 0, &f), -TACT_E_INVAL);
	assert_int_equal(tact_isa_form(isa, 0, NULL), -TACT_E_INVAL);
	assert_int_equal(tact_isa_form(isa, pseudo, &f), -TACT_E_NO_DATA);
	assert_string_equal(tact_isa_form_extension(isa, pseudo), "");
	assert_int_equal(tact_isa_form_find(isa, "addxrs"), TACT_FORM_NONE);
	assert_string_equal(tact_isa_form_name(isa, TACT_FORM_NONE), "unknown");
	assert_int_equal(tact_isa_form(tact_isa_find("x86"), 0, &f), -TACT_E_NO_DATA);
}

static const struct tact_latency *find_latency(const struct tact_form_info *info, unsigned from,
					       unsigned to)
{
	for (uint32_t i = 0; i < info->n_latencies; i++)
		if (info->latencies[i].from == from && info->latencies[i].to == to)
			return &info->latencies[i];
	return NULL;
}

/* llvm-mca of cortex-a57: an addition takes a cycle on either of two units, with a shift two on the
 * unit for multiplications; a load four.
 */
static void instructions_have_figures(void **state)
{
	static const uint8_t add[] = {0x20, 0, 0x02, 0x8b}, shifted[] = {0x20, 0x0c, 0x02, 0x8b},
			     load[] = {0x20, 0x04, 0x40, 0xf9}, compare[] = {0x1f, 0, 0x01, 0xeb};
	const struct tact_arch *a57;
	struct tact_form_info info = TACT_FORM_INFO_INIT;

	(void)state;
	need_llvm();
	a57 = tact_arch_find("cortex-a57");
	assert_int_equal(tact_arch_insn(a57, add, 4, &info), 0);
	assert_int_equal(info.uops, 1);
	assert_int_equal(info.issued, 1);
	assert_int_equal(info.n_latencies, 2);
	assert_int_equal(info.latencies[0].cycles, 1);
	assert_int_equal(__builtin_popcount(info.port_uses[0].ports), 2);
	assert_int_equal(tact_arch_insn(a57, shifted, 4, &info), 0);
	assert_int_equal(info.latencies[0].cycles, 2);
	assert_int_equal(__builtin_popcount(info.port_uses[0].ports), 1);
	assert_int_equal(tact_arch_insn(a57, load, 4, &info), 0);
	assert_int_equal(find_latency(&info, TACT_LATENCY_BASE, TACT_LATENCY_REG)->cycles, 4);
	assert_int_equal(tact_arch_insn(a57, compare, 4, &info), 0);
	assert_int_equal(find_latency(&info, TACT_LATENCY_REG, TACT_LATENCY_FLAGS)->cycles, 1);
	assert_int_equal(tact_arch_insn(a57, add, 3, &info), -TACT_E_DECODE);
	assert_int_equal(tact_arch_insn(a57, NULL, 4, &info), -TACT_E_INVAL);
	assert_int_equal(tact_arch_insn(NULL, add, 4, &info), -TACT_E_INVAL);
	assert_true(tact_arch_has_form(a57, tact_isa_form_find(tact_arch_isa(a57), "ADDXrs")));
	assert_false(tact_arch_has_form(a57, TACT_FORM_NONE));
}

static void figures_of_tables_are_the_same(void **state)
{
	static const uint8_t add[] = {0x48, 0x01, 0xd8};
	const struct tact_arch *skl = tact_arch_find("SKL");
	struct tact_form_info a = TACT_FORM_INFO_INIT, b = TACT_FORM_INFO_INIT;
	struct tact_insn insn;

	(void)state;
	assert_int_equal(tact_isa_decode(tact_arch_isa(skl), &insn, add, 3), 3);
	assert_int_equal(tact_arch_form(skl, insn.form, TACT_SITUATION_PLAIN, &a), 0);
	assert_int_equal(tact_arch_insn(skl, add, 3, &b), 0);
	assert_memory_equal(&a, &b, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_forms_have_an_instruction),
		cmocka_unit_test(forms_of_aarch64),
		cmocka_unit_test(forms_of_riscv),
		cmocka_unit_test(wrong_forms_are_refused),
		cmocka_unit_test(instructions_have_figures),
		cmocka_unit_test(figures_of_tables_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

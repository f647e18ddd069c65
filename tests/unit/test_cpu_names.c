/* SPDX-License-Identifier: MIT
 *
 * Names of CPUs: what each means, with a model or without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"

static struct tact_cpu cpu_of(const char *name)
{
	struct tact_cpu cpu = TACT_CPU_INIT;

	if (tact_cpu_find(name, &cpu) < 0)
		fail_msg("'%s' is not known", name);
	return cpu;
}

/* The line of products of a name; where there is a model, its name, too. */
static void test_lines(void **state)
{
	static const struct {
		const char *name, *line, *model;
	} rows[] = {
		/* compilers */
		{"skylake", "Skylake", "SKL"},
		{"skylake-avx512", "Skylake server", "SKX"},
		{"Icelake_Server", "Ice Lake server", "ICX"},
		{"ice lake", "Ice Lake client", "ICL"},
		{"sapphirerapids", "Sapphire Rapids", "GLC"},
		{"alderlake", "Alder Lake", "GLC"},
		{"znver3", "Zen 3", ""},
		{"znver4", "Zen 4", "ZEN4"},
		{"nehalem", "Nehalem and Westmere", ""},
		/* abbreviations and code names */
		{"SPR", "Sapphire Rapids", "GLC"},
		{"emr", "Emerald Rapids", "GLC"},
		{"ADL", "Alder Lake", "GLC"},
		{"milan", "Zen 3", ""},
		{"Zen 5", "Zen 5", ""},
		{"Comet Lake", "Comet Lake", "CFL"},
		/* products */
		{"i7-920", "Nehalem and Westmere", ""},
		{"i7-2600K", "Sandy Bridge", "SNB"},
		{"i7-3930K", "Sandy Bridge", "SNB"},
		{"i7-3770", "Ivy Bridge", "IVB"},
		{"i7-4930K", "Ivy Bridge", "IVB"},
		{"i7-4790K", "Haswell", "HSW"},
		{"i7-5960X", "Haswell", "HSW"},
		{"i7-5600U", "Broadwell", "BDW"},
		{"i7-6950X", "Broadwell", "BDW"},
		{"i7 6700K", "Skylake", "SKL"},
		{"i9-7980XE", "Skylake server", "SKX"},
		{"i5-7600K", "Kaby Lake", "KBL"},
		{"i7-8650U", "Kaby Lake", "KBL"},
		{"i3-8121U", "Cannon Lake", ""},
		{"i7-8700K", "Coffee Lake", "CFL"},
		{"i9-9900K", "Coffee Lake", "CFL"},
		{"i9-10980XE", "Cascade Lake", "CLX"},
		{"i9-10900K", "Comet Lake", "CFL"},
		{"i7-1065G7", "Ice Lake client", "ICL"},
		{"i7-1165G7", "Tiger Lake", "TGL"},
		{"i7-11800H", "Tiger Lake", "TGL"},
		{"i9-11900K", "Rocket Lake", "RKL"},
		{"i7-12700", "Alder Lake", "GLC"},
		{"i7-1265U", "Alder Lake", "GLC"},
		{"i9-14900K", "Raptor Lake", "GLC"},
		{"i3-N305", "Gracemont", ""},
		{"N100", "Gracemont", ""},
		{"i5-L16G7", "Lakefield", ""},
		{"Core Ultra 7 155H", "Meteor Lake", ""},
		{"Core Ultra 9 285K", "Arrow Lake", ""},
		{"Core Ultra 7 258V", "Lunar Lake", ""},
		{"Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "Kaby Lake", "KBL"},
		{"Intel(R) Core(TM)2 Duo CPU     E8400  @ 3.00GHz", "Core 2", ""},
		{"Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "Broadwell", "BDW"},
		{"E5-2680", "Sandy Bridge", "SNB"},
		{"Xeon E3-1230 v5", "Skylake", "SKL"},
		{"Xeon E-2288G", "Coffee Lake", "CFL"},
		{"Xeon D-1541", "Broadwell", "BDW"},
		{"Xeon W-2145", "Skylake server", "SKX"},
		{"Xeon w9-3495X", "Sapphire Rapids", "GLC"},
		{"Xeon Gold 6148", "Skylake server", "SKX"},
		{"Xeon Gold 6248", "Cascade Lake", "CLX"},
		{"Xeon Platinum 8380H", "Cooper Lake", ""},
		{"Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", "Ice Lake server", "ICX"},
		{"Intel(R) Xeon(R) Platinum 8480+", "Sapphire Rapids", "GLC"},
		{"Xeon Platinum 8592+", "Emerald Rapids", "GLC"},
		{"Xeon 6980P", "Granite Rapids", ""},
		{"Xeon 6780E", "Sierra Forest", ""},
		{"EPYC 7601", "Zen", ""},
		{"AMD EPYC 7742 64-Core Processor", "Zen 2", ""},
		{"EPYC 7H12", "Zen 2", ""},
		{"EPYC 7763", "Zen 3", ""},
		{"EPYC 9654", "Zen 4", "ZEN4"},
		{"EPYC 9755", "Zen 5", ""},
		{"Ryzen 7 1800X", "Zen", ""},
		{"Ryzen 5 3400G", "Zen+", ""},
		{"Ryzen 9 3950X", "Zen 2", ""},
		{"AMD Ryzen 7 PRO 4750U with Radeon Graphics", "Zen 2", ""},
		{"Ryzen 7 5700U", "Zen 2", ""},
		{"Ryzen 7 5800X3D", "Zen 3", ""},
		{"Ryzen 9 7950X", "Zen 4", "ZEN4"},
		{"Ryzen 5 7520U", "Zen 2", ""},
		{"Ryzen 7 7735HS", "Zen 3", ""},
		{"Ryzen 7 7840U", "Zen 4", "ZEN4"},
		{"Ryzen 9 9950X", "Zen 5", ""},
		{"Ryzen AI 9 HX 370", "Zen 5", ""},
		{"Threadripper 3990X", "Zen 2", ""},
		/* family and model */
		{"25-1", "Zen 3", ""},
		{"25-17", "Zen 4", "ZEN4"},
		{"23-8", "Zen+", ""},
		{"6-143", "Sapphire Rapids", "GLC"},
		{"6-85-4", "Skylake server", "SKX"},
		{"6-85-7", "Cascade Lake", "CLX"},
		{"6-158-13", "Coffee Lake", "CFL"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tact_cpu cpu = cpu_of(rows[i].name);

		if (strcmp(cpu.line, rows[i].line) != 0)
			fail_msg("'%s' is taken for %s", rows[i].name, cpu.line);
		/* Cores get models with time; those that have one keep it. */
		if (*rows[i].model) {
			assert_string_equal(tact_arch_name(cpu.arch), rows[i].model);
			assert_ptr_equal(tact_arch_find(rows[i].name), cpu.arch);
		}
		assert_ptr_equal(cpu.arch ? cpu.nearest : NULL, cpu.arch);
		assert_int_equal(cpu.relation[0] != 0, !cpu.arch && cpu.nearest);
	}
}

static void test_nearest(void **state)
{
	struct tact_cpu spr = cpu_of("SPR"), gracemont = cpu_of("gracemont");

	(void)state;
	assert_string_equal(spr.vendor, "Intel");
	assert_string_equal(spr.core, "Golden Cove");
	if (!spr.arch) {
		assert_string_equal(tact_arch_name(spr.nearest), "ICX");
		assert_string_equal(spr.relation, "a predecessor");
		assert_null(tact_arch_find("SPR"));
	}
	if (!gracemont.arch)
		assert_null(gracemont.nearest);
}

static void test_levels(void **state)
{
	struct tact_cpu cpu = cpu_of("generic");

	(void)state;
	assert_true(cpu.is_level);
	assert_string_equal(tact_arch_name(cpu.arch), "SKL");
	assert_string_equal(tact_arch_name(cpu_of("x86-64-v3").arch), "SKL");
	assert_string_equal(tact_arch_name(cpu_of("x86-64-v4").arch), "SKX");
	assert_null(tact_arch_find("generic")); /* nobody asked for Skylake */
	assert_null(tact_arch_find("native"));
}

static void test_unknown(void **state)
{
	static const char *const names[] = {
		"",	 " ",	     "-",	 "Z80",	     "i7",
		"i7-",	 "i7-12",    "xeon",	 "EPYC",     "Ryzen 9",
		"6-",	 "6-1-",     "6-85-7-1", "999-1",    "EPYC 7",
		"i7-2",	 "Core",     "Ultra 7",	 "core-avx", "neoverse-v2",
		"6-85x", "\xff\xfe", "Gold",	 "w9-",	     "Xeon E5-2680 v9"};
	char noise[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tact_cpu cpu = TACT_CPU_INIT;

		if (tact_cpu_find(names[i], &cpu) != -TACT_E_NO_ARCH)
			fail_msg("'%s' is taken for %s", names[i], cpu.line);
		assert_null(cpu.arch);
		assert_null(tact_arch_find(names[i]));
	}
	for (unsigned c = 1; c < 256; c++) { /* longer than any name, and of any byte */
		struct tact_cpu cpu = TACT_CPU_INIT;

		memset(noise, (int)c, sizeof(noise));
		noise[sizeof(noise) - 1] = '\0';
		tact_cpu_find(noise, &cpu);
		memcpy(noise, "ryzen ", 6);
		tact_cpu_find(noise, &cpu);
	}
}

/* Every name that is listed is understood, and those of a model lead to it. */
static void test_lists(void **state)
{
	char text[512], name[40], *rest, *word;
	size_t n = 0;

	(void)state;
	for (; tact_cpu_name(n, name, sizeof(name)); n++)
		cpu_of(tact_cpu_name(n, name, sizeof(name)));
	assert_true(n > 100);
	assert_null(tact_cpu_name(SIZE_MAX, name, sizeof(name)));
	assert_null(tact_cpu_name(0, NULL, 0));
	for (const struct tact_arch *a = NULL; (a = tact_arch_next(a));) {
		const size_t length = tact_arch_aliases(a, text, sizeof(text));

		assert_int_equal(length, strlen(text));
		assert_int_equal(tact_arch_aliases(a, NULL, 0), length);
		assert_int_equal(tact_arch_aliases(a, text, 3), length);
		assert_true(strlen(text) < 3);
		tact_arch_aliases(a, text, sizeof(text));
		for (rest = text; (word = strsep(&rest, " "));)
			if (*word)
				assert_ptr_equal(tact_arch_find(word), a);
		assert_true(tact_arch_port_names(a)[0]);
	}
	assert_int_equal(tact_arch_aliases(NULL, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_string_equal(tact_arch_port_names(NULL), "");
}

static void test_native(void **state)
{
	struct tact_cpu cpu = TACT_CPU_INIT;
	int status = tact_cpu_find("native", &cpu);

	(void)state;
	assert_true(status == 0 || status == -TACT_E_NO_ARCH);
	assert_ptr_equal(cpu.arch, tact_arch_host());
	if (isa_native()) {
		assert_true(cpu.family > 0);
		assert_true(cpu.vendor[0]);
	}
}

static void test_misuse(void **state)
{
	struct tact_cpu cpu = {.size = 0};

	(void)state;
	assert_int_equal(tact_cpu_find("SKL", &cpu), -TACT_E_INVAL);
	assert_int_equal(tact_cpu_find("SKL", NULL), -TACT_E_INVAL);
	cpu.size = sizeof(cpu);
	assert_int_equal(tact_cpu_find(NULL, &cpu), -TACT_E_INVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),  cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_levels), cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_lists),  cmocka_unit_test(test_native),
		cmocka_unit_test(test_misuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

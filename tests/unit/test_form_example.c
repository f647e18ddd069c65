/* SPDX-License-Identifier: MIT
 *
 * Forms as text, and where their figures come from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <tact/arch.h>
#include <tact/insn.h>

static void test_texts(void **state)
{
	static const struct {
		const char *form;
		unsigned copy;
		int chain;
		const char *text;
	} rows[] = {
		{"IMUL (R64, R64)", 0, -1, "imul rax, r12"},
		{"IMUL (R64, R64)", 3, -1, "imul rbx, r12"},
		{"IMUL (R64, R64)", 0, 1, "imul rax, rax"},
		{"ADD (R64, M64)", 1, -1, "add rcx, qword ptr [rsi]"},
		{"MOV (R64, M64)", 0, 1, "mov rax, qword ptr [rax]"},
		{"MOV (M64, R64)", 2, -1, "mov qword ptr [rsi+128], r12"},
		{"VADDPD (YMM, YMM, YMM)", 1, -1, "vaddpd ymm1, ymm9, ymm10"},
		{"VADDPD (YMM, YMM, YMM)", 1, 2, "vaddpd ymm1, ymm9, ymm1"},
		{"VADDPD (ZMM, K, ZMM, M64_1to8)", 0, -1,
		 "vaddpd zmm0{k7}, zmm9, qword ptr [rsi]{1to8}"},
		{"VADDPD_Z (XMM, K, XMM, XMM)", 0, -1, "vaddpd xmm0{k7}{z}, xmm9, xmm10"},
		{"LEA_B_IS_D8 (R64)", 0, -1, "lea rax, [rsi+rdi*4+8]"},
		{"ADD_LOCK (M64, R64)", 0, -1, "lock add qword ptr [rsi+0], r12"},
		{"SHL (R64, CL)", 0, -1, "shl rax, cl"},
		{"CQO", 0, -1, "cqo"},
	};
	const struct tact_isa *isa = tact_isa_find("x86");
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned form = tact_isa_form_find(isa, rows[i].form);
		int length;

		if (form == TACT_FORM_NONE) /* its name has a suffix on all CPUs */
			continue;
		length = tact_isa_form_example(isa, form, rows[i].copy, rows[i].chain, text,
					       sizeof(text));
		assert_string_equal(text, rows[i].text);
		assert_int_equal(length, strlen(text));
		assert_int_equal(tact_isa_form_example(isa, form, rows[i].copy, rows[i].chain, text,
						       (size_t)length),
				 -TACT_E_LIMIT);
	}
}

static void test_all_forms(void **state)
{
	const struct tact_isa *isa = tact_isa_find("x86");
	unsigned n = tact_isa_form_count(isa), made = 0;
	char text[128], tiny[1];

	(void)state;
	for (unsigned i = 0; i < n; i++)
		for (int chain = -1; chain < 5; chain++) {
			int status = tact_isa_form_example(isa, i, i, chain, text, sizeof(text));

			assert_true(status > 0 || status == -TACT_E_NO_DATA);
			made += chain < 0 && status > 0;
			tact_isa_form_example(isa, i, 0, chain, tiny, sizeof(tiny));
		}
	assert_true(made > n * 9 / 10);
	assert_int_equal(tact_isa_form_example(isa, n, 0, -1, text, sizeof(text)), -TACT_E_INVAL);
	assert_int_equal(tact_isa_form_example(NULL, 0, 0, -1, text, sizeof(text)), -TACT_E_INVAL);
	assert_int_equal(tact_isa_form_example(isa, 0, 0, -1, NULL, 9), -TACT_E_INVAL);
	assert_int_equal(tact_isa_form_example(isa, 0, 0, -1, text, 0), -TACT_E_INVAL);
}

/* Each form of each CPU says where it comes from. */
static void test_sources(void **state)
{
	(void)state;
	for (const struct tact_arch *a = NULL; (a = tact_arch_next(a));) {
		const unsigned n = tact_isa_form_count(tact_arch_isa(a));

		for (unsigned i = 0; i < n; i++) {
			struct tact_form_info info = TACT_FORM_INFO_INIT;

			if (tact_arch_form(a, i, TACT_SITUATION_PLAIN, &info) < 0)
				continue;
			assert_true(strstr(info.source, "uops.info") ||
				    strstr(info.source, "by us") ||
				    strstr(info.source, "never measured"));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_all_forms),
		cmocka_unit_test(test_sources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

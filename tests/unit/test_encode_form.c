/* SPDX-License-Identifier: MIT
 *
 * Instructions of a form as bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include <tact/arch.h>

#include "isa/isa.h"

static void check_with(const char *form, bool is_indexed, const char *text)
{
	const struct tact_isa *isa = tact_isa_find("x86");
	uint8_t code[TACT_MAX_INSN_BYTES];
	size_t size = isa->encode_form(form, is_indexed, code);
	char got[96] = "nothing";

	if (size)
		assert_true(tact_isa_format(isa, code, size, 0, got, sizeof(got)) > 0);
	assert_string_equal(got, text);
}

static void check(const char *form, const char *text)
{
	check_with(form, false, text);
}

TEST(operands_of_every_kind)
{
	check("ADD_01 (R64, R64)", "add rdx, rbx");
	check("ADD (M32, I8)", "add dword ptr [r14], 0x5");
	check("ADD (R8h, M8)", "add ah, byte ptr [rsi]");
	check("SHL (R64, CL)", "shl rdx, cl");
	check("VADDPD (YMM, YMM, M256)", "vaddpd ymm0, ymm1, ymmword ptr [r14]");
	check("VADDPD (ZMM, K, ZMM, ZMM)", "vaddpd zmm0 {k7}, zmm1, zmm2");
	check("VPCOMPRESSD_Z (ZMM, K, ZMM)", "vpcompressd zmm0 {k7} {z}, zmm1");
	check("VPADDD (ZMM, ZMM, M32_1to16)", "vpaddd zmm0, zmm1, dword ptr [r14] {1to16}");
	check("LEA_B_IS_D8 (R64)", "lea rdx, [r14+r15*4+0x8]");
	check("ADD_LOCK (M64, R64)", "lock add qword ptr [r14], rdx");
	check("KANDW (K, K, K)", "kandw k1, k2, k3");
	check("CQO", "cqo");
	check_with("ADD (R64, M64)", true, "add rdx, qword ptr [r14+r15*1]");
	check_with("ADD_01 (R64, R64)", true, "nothing");
	check("NO_SUCH_FORM (R64)", "nothing");
	check("ADD (R64, R64, NOTHING)", "nothing");
}

/* What it writes is of the form that was asked for, and most forms can be written. */
TEST(most_forms_can_be_encoded)
{
	const struct tact_isa *isa = tact_isa_find("x86");
	const struct tact_arch *arch = tact_arch_find("ICX");
	unsigned n = 0, n_written = 0;

	for (unsigned form = 0; form < tact_isa_form_count(isa); form++) {
		uint8_t code[TACT_MAX_INSN_BYTES];
		struct tact_insn insn;
		size_t size;

		if (!tact_arch_has_form(arch, form))
			continue;
		n++;
		size = isa->encode_form(tact_isa_form_name(isa, form), false, code);
		if (!size)
			continue;
		n_written++;
		assert_int_equal(tact_isa_decode(isa, &insn, code, size), size);
		assert_int_equal(insn.form, form);
	}
	assert_true(n_written > n * 19 / 20);
}

RUN_TESTS(NULL, NULL)

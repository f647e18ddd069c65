/* SPDX-License-Identifier: MIT
 *
 * The type of vectors on RISC-V, without LLVM: what sets it, what depends on it, what comments say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "isa/riscv64/riscv64.h"
#include "support.h"

enum { M1 = 1, M2 = 2, M4 = 3, M8 = 4, MF8 = 6, E8 = 0x100, E32 = 0x300, E64 = 0x400 };
#define UNKNOWN ISA_SETTING_UNKNOWN

#define VADD   0x02a40457u /* vadd.vv v8, v10, v8 */
#define VLE32  0x02056407u /* vle32.v v8, (a0) */
#define VLE64  0x02057407u
#define VLUXEI 0x06056407u /* vluxei32.v v8, (a0), v0 */
#define VL1RE  0x02855407u /* vl1re16.v v8, (a0) */
#define FLW    0x00052507u /* flw fa0, 0(a0) */
#define VMV1R  0x9ea03457u /* vmv1r.v v8, v10 */

static uint16_t after(uint16_t before, uint32_t word)
{
	return rv_follow(before, (const uint8_t *)&word, 4, NULL, 0);
}

static uint16_t of(uint16_t setting, uint32_t word)
{
	uint16_t out = 0x5555;

	rv_follow(setting, (const uint8_t *)&word, 4, &out, 1);
	return out;
}

static void instructions_set_it(void **state)
{
	(void)state;
	assert_int_equal(after(0, 0x0c16f857), M2 | E8);	/* vsetvli a6, a3, e8, m2, ta, ma */
	assert_int_equal(after(M2 | E8, 0xcd02f057), M1 | E32); /* vsetivli zero, 5, e32, m1 */
	assert_int_equal(after(M2 | E8, 0x80c5f557), 0);	/* vsetvl a0, a1, a2 */
	assert_int_equal(after(M2 | E8, 0x0046f857), 0);	/* vlmul is reserved */
	assert_int_equal(after(M2 | E8, 0x0206f857), 0);	/* vsew is */
	assert_int_equal(after(M2 | E8, 0x4006f857), 0);	/* a bit above them */
	assert_int_equal(after(M2 | E8, VADD), M2 | E8);
	assert_int_equal(after(M2 | E8, 0x000000ef), 0);       /* jal ra, . */
	assert_int_equal(after(M2 | E8, 0x000500e7), 0);       /* jalr ra, a0 */
	assert_int_equal(after(M2 | E8, 0x0000006f), M2 | E8); /* j . */
	assert_int_equal(after(M2 | E8, 0x00000073), 0);       /* ecall */
	assert_int_equal(rv_follow(M2 | E8, (const uint8_t[]){0x02, 0x95}, 2, NULL, 0), 0);
	assert_int_equal(rv_follow(M2 | E8, (const uint8_t[]){0x57, 0xf8}, 2, NULL, 0), M2 | E8);
}

static void costs_depend_on_it(void **state)
{
	(void)state;
	assert_int_equal(of(M2 | E8, VADD), M2 | E8);
	assert_int_equal(of(0, VADD), UNKNOWN);
	assert_int_equal(of(M2, VADD), M2);
	assert_int_equal(of(M2, VLE32), UNKNOWN);      /* the width of elements is not known */
	assert_int_equal(of(M2 | E8, VLE32), M2 | E8); /* a group of eight */
	assert_int_equal(of(M4 | E8, VLE32), UNKNOWN); /* one of 16: there is none */
	assert_int_equal(of(MF8 | E64, VLE32), UNKNOWN);
	assert_int_equal(of(M8 | E64, VLE64), M8 | E64);
	assert_int_equal(of(M8 | E8, VLUXEI), M8 | E8);
	assert_int_equal(of(M2 | E8, VL1RE), 0);
	assert_int_equal(of(M2 | E8, FLW), 0);
	assert_int_equal(of(M2 | E8, VMV1R), 0);
	assert_int_equal(of(M2 | E8, 0x0c16f857), 0);
	assert_int_equal(of(M2 | E8, 0x00b50533), 0); /* add a0, a0, a1 */
}

static uint16_t read_setting(const char *text)
{
	return rv_read_setting(text, text + strlen(text));
}

static void comments_set_it(void **state)
{
	(void)state;
	assert_int_equal(read_setting("LLVM-MCA-RISCV-LMUL M2"), M2);
	assert_int_equal(read_setting("LLVM-MCA-RISCV-LMUL\tMF8 \r"), MF8);
	assert_int_equal(read_setting("LLVM-MCA-RISCV-SEW E64"), E64);
	assert_int_equal(read_setting("LLVM-MCA-RISCV-LMUL M3"), UNKNOWN);
	assert_int_equal(read_setting("LLVM-MCA-RISCV-LMUL"), UNKNOWN);
	assert_int_equal(read_setting("LLVM-MCA-RISCV-SEW M2"), UNKNOWN);
	assert_int_equal(read_setting("LLVM-MCA-RISCV-LMULM2"), UNKNOWN);
	assert_int_equal(read_setting("LLVM-MCA-BEGIN"), 0);
	assert_int_equal(read_setting("LLVM-MCA-RISCV-"), 0);
	assert_int_equal(read_setting(""), 0);
	assert_int_equal(isa_merge_settings(M2 | E8, E64), M2 | E64);
	assert_int_equal(isa_merge_settings(0, M4), M4);
}

/* Every setting has a name for LLVM, and nothing else has. */
static void hints_are_names(void **state)
{
	struct llvm_hint hints[LLVM_MAX_HINTS];

	(void)state;
	for (unsigned s = 0; s <= 0xffff; s++) {
		const unsigned n = rv_hints((uint16_t)s, hints);

		assert_true(n <= LLVM_MAX_HINTS);
		for (unsigned i = 0; i < n; i++)
			assert_non_null(hints[i].value);
	}
	assert_int_equal(rv_hints(M2 | E8, hints), 2);
	assert_string_equal(hints[0].value, "M2");
	assert_string_equal(hints[1].value, "E8");
	assert_int_equal(rv_hints(5, hints), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_set_it),
		cmocka_unit_test(costs_depend_on_it),
		cmocka_unit_test(comments_set_it),
		cmocka_unit_test(hints_are_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

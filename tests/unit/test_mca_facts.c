/* SPDX-License-Identifier: MIT
 *
 * The machine of llvm-mca on LLVM's facts: cycles of 100 iterations as llvm-mca 22 prints them, in
 * order and out of order.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <tact/mca.h>

#include "block/block.h"
#include "llvm_module.h"
#include "support.h"
#include "llvm/llvm.h"

static double cycles_of(const char *cpu, const struct tact_mca_options *opt, const void *code,
			size_t size)
{
	const struct tact_arch *arch = tact_arch_find(cpu);
	struct tact_mca_result r = TACT_MCA_RESULT_INIT;
	struct tact_block *block;
	struct tact_mca *machine;

	assert_non_null(arch);
	assert_int_equal(tact_block_create(&block, arch, NULL, NULL), 0);
	assert_int_equal(tact_block_load(block, code, size, NULL), 0);
	assert_int_equal(tact_mca_create(&machine, opt, NULL), 0);
	assert_int_equal(tact_mca_estimate(machine, block, &r), 0);
	assert_true(r.coverage == 1);
	tact_mca_destroy(machine);
	tact_block_destroy(block);
	return r.cycles_per_iteration;
}

static const uint32_t multiply[] = {0x9b107c73,
				    0x9b054df2}; /* mul x19, x3, x16; madd x18, x15, x5, x19 */
static const uint32_t load_store[] = {0xf9400420, 0x8b020000,
				      0xf9000420}; /* ldr, add, str [x1, #8] */

static void cycles_are_those_of_llvm(void **state)
{
	static const uint32_t pointer[] = {0xf8408420,
					   0x8b000042}; /* ldr x0, [x1], #8; add x2, x2, x0 */
	static const uint32_t divide[] = {0x9ac20820};	/* udiv x0, x1, x2 */
	static const uint32_t loop[] = {0x02050533};	/* mul a0, a0, zero */

	(void)state;
	need_llvm();
	if (strncmp(llvm_module(NULL)->llvm_version, "22.", 3))
		skip();
	assert_float_equal(cycles_of("cortex-a57", NULL, multiply, sizeof(multiply)), 2.07, 1e-9);
	assert_float_equal(cycles_of("cortex-a55", NULL, multiply, sizeof(multiply)), 2.04, 1e-9);
	assert_float_equal(cycles_of("cortex-a57", NULL, pointer, sizeof(pointer)), 1.07, 1e-9);
	assert_float_equal(cycles_of("cortex-a55", NULL, pointer, sizeof(pointer)), 6.01, 1e-9);
	assert_float_equal(cycles_of("neoverse-v2", NULL, divide, sizeof(divide)), 20.03, 1e-9);
	assert_float_equal(cycles_of("sifive-u74", NULL, loop, sizeof(loop)), 3.01, 1e-9);
}

/* With aliases, a load waits for the store of the iteration before; at a steady pace, start and end
 * do not count.
 */
static void options_are_followed(void **state)
{
	struct tact_mca_options opt = {.size = sizeof(opt), .memory = TACT_MCA_ALIAS};
	double alone, met;

	(void)state;
	need_llvm();
	alone = cycles_of("neoverse-n1", NULL, load_store, sizeof(load_store));
	met = cycles_of("neoverse-n1", &opt, load_store, sizeof(load_store));
	assert_true(alone < 2);
	assert_true(met > alone + 3);
	opt = (struct tact_mca_options){.size = sizeof(opt), .steady = true};
	assert_true(cycles_of("cortex-a57", &opt, multiply, sizeof(multiply)) <= 2.0);
	opt = (struct tact_mca_options){.size = sizeof(opt), .iterations = 1};
	assert_true(cycles_of("cortex-a57", &opt, multiply, sizeof(multiply)) > 5);
}

/* One machine for blocks of different CPUs: nothing of one is left for the next. */
static void estimates_are_independent(void **state)
{
	double first;

	(void)state;
	need_llvm();
	first = cycles_of("cortex-a57", NULL, multiply, sizeof(multiply));
	cycles_of("sifive-u74", NULL, "\x05\x05", 2);
	cycles_of("cortex-a57", NULL, load_store, sizeof(load_store));
	assert_true(cycles_of("cortex-a57", NULL, multiply, sizeof(multiply)) == first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycles_are_those_of_llvm),
		cmocka_unit_test(options_are_followed),
		cmocka_unit_test(estimates_are_independent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

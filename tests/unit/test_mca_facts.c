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

/* Moves that are eliminated, registers that are zero, parts of registers, a register file that is full,
 * and what is two instructions for LLVM.
 */
static void register_files_are_those_of_llvm(void **state)
{
	static const struct {
		const char *hex;
		double btver2, znver4;
	} rows[] = {
		{"4889c34801d8480fafd8", 4.08, 1.06}, {"c5f828c8c5f058c1", 4.03, 3.03},
		{"31c04801c3", 1.03, 1.03},	      {"33c04801c3", 1.03, 1.03},
		{"48934801d8", 2.03, 0.53},	      {"b0014801d8", 2.03, 2.03},
		{"f0480fb11a4839c1", 13.40, 35.02},
	};
	uint8_t code[32], full[4 * 31];

	(void)state;
	need_llvm();
	if (strncmp(llvm_module(NULL)->llvm_version, "22.", 3))
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const size_t n = bytes_of(code, sizeof(code), rows[i].hex);

		assert_float_equal(cycles_of("llvm:btver2", NULL, code, n), rows[i].btver2, 1e-9);
		assert_float_equal(cycles_of("llvm:znver4", NULL, code, n), rows[i].znver4, 1e-9);
	}
	/* vsqrtps ymm0, ymm0, which waits for itself; vaddps ymm3, ymm1, ymm1 */
	bytes_of(full, 4, "c5fc51c0");
	for (size_t i = 1; i < 31; i++)
		bytes_of(full + 4 * i, 4, "c5f458d9");
	assert_float_equal(cycles_of("llvm:btver2", NULL, full, sizeof(full)), 60.05, 1e-9);
	assert_float_equal(cycles_of("llvm:znver2", NULL, full, sizeof(full)), 18.55, 1e-9);
}

/* The type of vectors changes costs: by vsetvli, from code before, by comments. */
static void vector_types_are_followed(void **state)
{
	/* vsetvli a6, a3, e8, m2, ta, ma; vadd.vv v8, v10, v8; then e8, m8 */
	static const uint8_t two[] = {0x57, 0xf8, 0x16, 0x0c, 0x57, 0x04, 0xa4, 0x02},
			     eight[] = {0x57, 0xf8, 0x36, 0x0c, 0x57, 0x04, 0xa4, 0x02};
	double small, large;

	(void)state;
	need_llvm();
	small = cycles_of("sifive-p670", NULL, two, sizeof(two));
	large = cycles_of("sifive-p670", NULL, eight, sizeof(eight));
	assert_true(large > small + 1);
	/* The addition comes first: its type is that of the iteration before. */
	assert_true(cycles_of("sifive-p670", NULL,
			      (const uint8_t[]){0x57, 0x04, 0xa4, 0x02, 0x57, 0xf8, 0x36, 0x0c},
			      8) > small + 1);
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
struct seen {
	unsigned n;
	struct tact_mca_event last;
};

static void see(void *arg, const struct tact_mca_event *event)
{
	struct seen *seen = arg;

	assert_true(event->dispatched <= event->ready && event->ready <= event->issued &&
		    event->issued <= event->executed && event->executed <= event->retired);
	seen->last = *event;
	seen->n++;
}

static void instructions_are_told(void **state)
{
	struct seen seen = {0};
	struct tact_mca_options opt = {
		.size = sizeof(opt), .iterations = 10, .on_insn = see, .arg = &seen};
	double cycles;

	(void)state;
	need_llvm();
	cycles = cycles_of("cortex-a57", &opt, multiply, sizeof(multiply));
	assert_int_equal(seen.n, 20);
	assert_int_equal(seen.last.iteration, 9);
	assert_int_equal(seen.last.insn, 1);
	assert_float_equal((double)(seen.last.retired + 1) / 10, cycles, 1e-9);
}

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
		cmocka_unit_test(register_files_are_those_of_llvm),
		cmocka_unit_test(vector_types_are_followed),
		cmocka_unit_test(options_are_followed),
		cmocka_unit_test(instructions_are_told),
		cmocka_unit_test(estimates_are_independent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
